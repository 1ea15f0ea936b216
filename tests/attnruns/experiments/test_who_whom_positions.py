"""Five kinds of positions in the chapter's task: what is added, and what is measured."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import who_whom_positions
from attnruns.experiments.who_whom import sentences
from attnruns.experiments.who_whom_positions import KINDS, REACH, build
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name", KINDS)
def test_a_model_is_trained_and_measured(name, monkeypatch, tmp_path):
    monkeypatch.setattr(who_whom_positions, "LENGTHS", {3: 2, 6: 1})
    figures = checked_run(who_whom_positions, Job(name, 0, 2), tmp_path, "cpu")
    assert list(figures["both"]) == ["23", "47"]
    assert [len(head) for head in figures.get("numbers", [])] == (4 * [41] if name == "relative_bias" else [])
    assert all(0 <= share <= 1 for share in figures["both"].values())


@pytest.mark.parametrize("name", KINDS)
@torch.no_grad()
def test_only_positions_in_the_score_are_the_same_wherever_the_sentence_stands(name):
    torch.manual_seed(0)
    model, scores = build(name), torch.randn(1, 4, 6, 6)
    if name == "relative_bias":
        model.numbers.normal_()
    near, far = torch.arange(6), torch.arange(6) + 9
    same = torch.allclose(model.biased(scores, near), model.biased(scores, far))
    x = torch.randn(1, 6, 64)
    added = torch.equal(model.placed(x, near), x)
    assert (same, added) == (True, name not in ("learned", "sinusoids"))


def test_far_words_share_a_number_and_the_linear_bias_treats_both_sides_alike():
    at = torch.arange(50)
    bias = build("relative_bias")
    bias.numbers.data.copy_(torch.arange(41.0).expand(4, -1))
    row = bias.biased(torch.zeros(1, 4, 50, 50), at)[0, 0, 0]
    assert row[REACH:].unique().numel() == 1
    assert row[REACH - 1] != row[REACH]
    both = build("linear_bias").biased(torch.zeros(1, 4, 50, 50), at)
    assert torch.equal(both, both.mT)


def test_every_model_names_two_nouns_of_each_verb():
    words, verbs, nouns = sentences(3, 2)
    assert all(build(name)(words, verbs).shape == (*nouns.shape, 10) for name in KINDS)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no model is called"):
        build("none")
