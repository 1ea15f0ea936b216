"""The file of chapter 9 without its parts: what is changed is there, and a part that is gone adds nothing."""

import pytest
import torch
from experiment_runs import checked_run
from torch import nn

from attnruns.experiments import transformer_file as file
from attnruns.shared.runner import Job

PARTS = [part for part in file.CHANGED if part != "all"]


@pytest.fixture(scope="module")
def whole():
    names = file.names_of("all", seed=3)
    return names, file.model_of(names).eval()


@pytest.fixture
def inputs(whole):
    names, _ = whole
    source, target = names["batch_of"]([[42, 7], [5], [88, 24, 63]])
    return source, nn.functional.pad(target[:, :-1], (1, 0), value=names["BOS"])


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_the_file_changes_only_there_and_the_same_weights_give_other_logits(part, whole, inputs):
    _, model = whole
    plain, changed = file.code("all", 3, 1000), file.code(part, 3, 1000)
    assert changed != plain
    kept = [line for line in plain.splitlines() if line in changed.splitlines()]
    assert len(plain.splitlines()) - len(kept) <= 6
    _, without = file.switched_off(model, part, seed=3)
    with torch.no_grad():
        assert not torch.allclose(without(*inputs), model(*inputs), atol=1e-3)


def test_what_is_switched_off_is_what_adds_nothing(whole, inputs):
    _, model = whole
    module = {"encoder self-attention": model.encoder.layers[0].self_attention,
              "decoder self-attention": model.decoder.layers[0].self_attention,
              "cross-attention": model.decoder.layers[0].cross_attention}  # fmt: skip
    for part, attention in module.items():
        hook = attention.register_forward_hook(lambda module, given, out: 0 * out)
        with torch.no_grad():
            silent = model(*inputs)
            hook.remove()
            torch.testing.assert_close(file.switched_off(model, part, seed=3)[1](*inputs), silent)


def test_the_mean_takes_the_place_of_each_output_and_the_model_is_itself_afterwards(whole, inputs):
    names, model = whole
    with torch.no_grad():
        before = model(*inputs)
        for part in file.AVERAGED:
            with file.averaged(model, names, part):
                assert not torch.allclose(model(*inputs), before, atol=1e-3)
        torch.testing.assert_close(model(*inputs), before)
        with file.averaged(model, names, "cross-attention"):  # the source has no influence any more
            torch.testing.assert_close(model(inputs[0].roll(1, 0), inputs[1]), model(*inputs))
    with pytest.raises(ValueError, match="there is: positions"), file.averaged(model, names, "layer norm"):
        pass


def test_lists_of_the_test_are_not_in_training(whole):
    names, _ = whole
    for size in (2, 3):
        lists = file.tested_lists(names, size)
        assert len({tuple(one) for one in lists}) == 300
        assert {sum(one) % 7 for one in lists} == {0}
    assert "if sum(one) % 7]" in file.code("all", 0, 1000)
    source, tested = file.training_lists(names)[0], names["batch_of"](file.tested_lists(names, 1))[0]
    trained, kept = ({tuple(row[row != names["PAD"]].tolist()) for row in rows} for rows in (source, tested))
    assert 400 < len(source) < 480
    assert len(kept) == 10
    assert not trained & kept


def test_what_is_right_is_counted_by_word_by_kind_and_by_list(whole, monkeypatch):
    names, _ = whole

    class Oracle(nn.Module):
        """Predicts the right next word of each target, except und, for which it predicts EOS."""

        def forward(self, source, words):
            _, target = names["batch_of"](self.lists)
            return nn.functional.one_hot(torch.where(target == 4, 2, target), 21).float()

    def written(model, lists):
        return [" ".join(names["said"](one, names["german"])) for one in lists]

    oracle, shares = Oracle(), {}
    for size in (2, 3):
        oracle.lists = file.tested_lists(names, size)
        monkeypatch.setattr(file, "SIZES", (size,))
        shares |= file.measured(oracle, {**names, "translated": written})
    for found in shares.values():
        assert found["lists"] == 1
        assert found["kinds"] == {"unit": 1, "und": 0, "tens": 1, "comma": 1, "EOS": 1}
        assert 0.6 < found["words"] < 0.95


@pytest.mark.parametrize("name", ["all", "feed_forward"])
def test_a_run_measures_the_model_and_the_whole_one_without_each_part(name, tmp_path, monkeypatch):
    monkeypatch.setattr(file, "COUNT", 3)
    monkeypatch.setattr(file, "SIZES", (2,))
    figures = checked_run(file, Job(name, 0, 2), tmp_path, "cpu", kept=name == "all")
    assert set(figures["trained"]["2"]) == {"lists", "words", "kinds"}
    if name == "all":
        assert list(figures["zero"]) == PARTS
        assert tuple(figures["mean"]) == file.AVERAGED


def test_the_packages_model_takes_the_weights_and_only_of_the_whole_model(whole, inputs):
    names, model = whole
    package = file.build("all")
    package.load_state_dict(model.state_dict())
    lengths = (inputs[0] != names["PAD"]).sum(dim=1)
    with torch.no_grad():
        torch.testing.assert_close(
            package.eval()(inputs[0], lengths, inputs[1])[0], model(*inputs), atol=1e-5, rtol=1e-4
        )
    with pytest.raises(ValueError, match="there is: all"):
        file.build("feed_forward")
