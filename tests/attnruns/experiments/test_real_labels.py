"""Random pairs of words and labels, with a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_labels
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights."""
    torch.manual_seed(0)
    model = LanguageModel(60, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    for name, value in {"smollm2": lambda: found, "FINDERS": 1, "CONTROLS": 2, "SEQUENCES": 2}.items():
        monkeypatch.setattr(real_labels, name, value)
    words = torch.randint(60, (2, 8), generator=torch.Generator().manual_seed(1))
    monkeypatch.setattr("attnruns.experiments.real_controls.segments", lambda *_: words)
    return found


def test_a_prompt_holds_each_word_with_its_label(pretrained):
    lines = real_labels.prompt(pretrained, ["cat", "shoe"], [0, 1, 0], [2, 0])
    ids = {number: word for word, number in pretrained.tokenizer.known.items()}
    assert "".join(f"{ids[token]} " for token in lines.tokens.tolist()) == "cat green \n shoe red \n cat green \n "
    assert lines.asked.tolist() == [0, 3, 6]
    assert lines.answers.tolist() == [1, 4, 7]
    assert lines.wanted.tolist() == [2, 0, 2]


def test_prompts_are_drawn_anew_and_fixed_by_their_seed(pretrained):
    one, same, other = (real_labels.prompts(pretrained, 2, seed) for seed in (0, 0, 1))
    assert all(torch.equal(a.tokens, b.tokens) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one[0].tokens, one[1].tokens)
    assert not torch.equal(one[0].tokens, other[0].tokens)


def test_a_model_that_knows_the_labels_is_always_right(pretrained):
    these = real_labels.prompts(pretrained, 3, seed=0)

    def knows(tokens):
        logits = torch.zeros(*tokens.shape, 60)
        return logits.scatter_(2, tokens.roll(-1, dims=1)[..., None], 1.0), None

    of_four, of_all = real_labels.answers(Pretrained(knows, pretrained.tokenizer, ()), these)
    assert of_four.all()
    assert of_all.all()


def test_shares_tell_apart_how_often_a_word_came_before():
    before = torch.stack([real_labels.lines_before(torch.tensor([0, 1, 0, 0, 1, 0, 1, 0]))])
    assert before.tolist() == [[0, 0, 1, -1, 1, 3, 2, 4]]
    right = torch.tensor([[False, False, True, False, True, True, False, False]])
    found = real_labels.shares(right, before)
    assert found == {"line before": 0.0, "0": 0.0, "1": 1.0, "2": 0.0, "3": 0.5}


def test_the_weight_on_the_same_word_by_hand():
    weights = torch.tensor([[0.5, 0, 0], [0.2, 0.1, 0], [0.6, 0.3, 0.1]])
    assert real_labels.on_same_word(weights, torch.tensor([0, 1, 0])).item() == pytest.approx(0.6)
    assert real_labels.on_same_word(weights, torch.tensor([0, 0, 0])).item() == pytest.approx((0.2 + 0.9) / 2)


def test_line_weights_lead_from_words_to_labels(pretrained):
    (lines,) = real_labels.prompts(pretrained, 1, seed=0)
    found = real_labels.line_weights(pretrained, lines, lambda weights: weights[1, 0])
    maps = pretrained.model.maps(lines.tokens[None])[1][0, 0]
    assert found.shape == (real_labels.LINES, real_labels.LINES)
    assert found[5, 3] == maps[lines.asked[5], lines.answers[3]]
    assert not found.triu().any()


@pytest.mark.parametrize("name", list(real_labels.PARTS))
def test_a_run_measures_its_part(name, tmp_path):
    figures = checked_run(real_labels, Job(name, 0, 2), tmp_path, "cpu")
    if name == "recall":
        assert figures["right"].keys() <= {"line before", "0", "1", "2", "3"}
        assert figures["example"].keys() == set(real_labels.LABELS)
    else:
        assert len(figures["map"]) == len(figures["which"]) == real_labels.LINES
        assert len(figures["right"]["controls"]) == 2
