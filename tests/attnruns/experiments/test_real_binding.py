"""Heads that bind a colour to its word, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_binding, real_labels
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def pretrained(monkeypatch):
    """Three layers of three heads with fixed weights."""
    torch.manual_seed(0)
    config = TransformerConfig(d_model=24, heads=3, layers=3, d_ff=24)
    model = LanguageModel(60, config).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    for name, value in {"smollm2": lambda: found, "FINDERS": 1, "BINDERS": 1, "CONTROLS": 2, "FOR_MEANS": 2}.items():
        monkeypatch.setattr(real_binding, name, value)
    words = torch.randint(60, (2, 8), generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr(real_binding, "segments", lambda *_: words)
    return found


TABLE = {"induction": [[0.0, 0.3], [0.1, 0.9], [0.2, 0.2]], "previous": [[0.6, 0.1], [0.7, 0.8], [0.1, 0.9]]}


def test_those_that_bind_stand_in_layers_before_those_that_find():
    assert real_binding.chosen(TABLE) == ([(1, 1)], [(0, 0)])


def test_others_are_of_the_same_layers_and_do_not_attend_to_the_token_before():
    assert real_binding.others_beside(TABLE, [(0, 0)], draw=3) == [(0, 1)]
    table = {"previous": [[0.9, 0.8, 0.1, 0.1]]}
    assert sorted(real_binding.others_beside(table, [(0, 0), (0, 1)], draw=0)) == [(0, 2), (0, 3)]


def test_others_beside_those_that_find_do_not_find():
    table = {"induction": [[0.9, 0.1, 0.4, 0.1]]}
    assert [real_binding.others_beside(table, [(0, 1)], draw, "induction") for draw in (0, 1)] == [[(0, 3)]] * 2


def test_means_are_taken_at_words_colours_and_ends_of_lines(pretrained):
    these = real_labels.prompts(pretrained, 2, seed=0)
    assert real_binding.roles(these[0])[:6].tolist() == [0, 1, 2, 0, 1, 2]
    found = real_binding.means_by_role(pretrained, these)
    seen = torch.cat([real_binding.contexts_of(pretrained.model, lines.tokens[None])[1][0] for lines in these])
    assert found[1].shape == (3, 3, 8)
    assert torch.allclose(found[1][1], seen[1::3].mean(dim=0), atol=1e-6)


def test_without_a_head_its_mean_is_written(pretrained):
    these = real_labels.prompts(pretrained, 1, seed=0)
    contexts = real_binding.contexts_of(pretrained.model, these[0].tokens[None])
    own = [torch.stack([layer[0][number::3].mean(dim=0) for number in range(3)]) for layer in contexts]
    usual = real_binding.measure(pretrained, these, [(1, 0)], [], own)
    large = [torch.full_like(of, 100.0) for of in own]
    assert real_binding.measure(pretrained, these, [(1, 0)], [(0, 1)], large) != usual


@pytest.mark.parametrize("name", list(real_binding.PARTS))
def test_a_run_measures_its_part(name, tmp_path, monkeypatch):
    monkeypatch.setattr(real_binding, "LOW", 2.0)
    monkeypatch.setattr(real_binding, "chosen", lambda found: ([(2, 0)], [(0, 1)]))
    figures = checked_run(real_binding, Job(name, 0, 2), tmp_path, "cpu")
    if name == "binding":
        assert figures["heads"] == {"binders": [[1, 2]], "finders": [[3, 1]]}
        assert len(figures["controls"]) == len(figures["control_heads"]) == 2
        assert 0 <= figures["all"]["right"] <= 1
    elif name == "beside_finders":
        assert all(layer == 3 and head > 1 for ((layer, head),) in figures["control_heads"])
        assert [sorted(one) for one in figures["controls"]] == [["colour", "found", "right"]] * 2
    else:
        assert len(figures["tokens"]) == len(figures["all"]["maps"]["1.2"]) == 10
        assert figures["all"]["probabilities"] != figures["without binders"]["probabilities"]
