"""The experiment on a second core: every figure where it belongs; what is tested is not the machine."""

import pytest
import torch

from attnruns.experiments import parallel_layers
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", parallel_layers.LAYERS)
def test_a_run_has_words_per_second_by_batch_and_threads(name, monkeypatch):
    monkeypatch.setattr(parallel_layers, "LENGTH", 8)
    monkeypatch.setattr(parallel_layers, "BATCHES", (1, 2))
    monkeypatch.setattr(parallel_layers.os, "cpu_count", lambda: 2)
    found = parallel_layers.run(Job(name, 0, 1)).figures["words_per_second"]
    assert found.keys() == {"1", "2"}
    for speeds in found.values():
        assert speeds.keys() == {"1", "2"}
        assert min(speeds.values()) > 0


def test_threads_are_as_before_after_an_error():
    before, inside = torch.get_num_threads(), []

    def stops():
        with parallel_layers.threads(before + 1):
            inside.append(torch.get_num_threads())
            raise KeyError

    with pytest.raises(KeyError):
        stops()
    assert inside == [before + 1]
    assert torch.get_num_threads() == before


def test_a_step_asks_for_the_gradients_of_all_parameters(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.autograd, "grad", lambda total, inputs: asked.extend(inputs))
    layer, x = parallel_layers.LAYERS["self_attention"](4), torch.randn(1, 3, 4, requires_grad=True)
    parallel_layers.training_step(layer, x)
    assert asked[0] is x
    assert len(asked) == 1 + len(list(layer.parameters()))
