"""One labelled task by a prompt and by a linear layer, with a tiny model in place of the real one."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import labels_or_prompt
from attnruns.shared.runner import Job


@pytest.fixture
def pretrained(monkeypatch):
    """Two layers of two heads with fixed weights."""
    torch.manual_seed(0)
    model = LanguageModel(90, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    monkeypatch.setattr(labels_or_prompt, "smollm2", lambda: found)
    monkeypatch.setattr(labels_or_prompt, "LABELS", (2, 4))
    return found


def test_both_labels_are_equally_frequent_and_no_pair_of_nouns_is_in_both_parts():
    draw = torch.Generator().manual_seed(0)
    known, asked = (labels_or_prompt.phrases(40, draw, new) for new in (False, True))
    assert sum(plural for _, plural in known) == sum(plural for _, plural in asked) == 40

    def pairs(of):
        return {(text.split()[1], text.split()[-1]) for text, _ in of}

    assert not pairs(known) & pairs(asked)
    assert all((text.split()[1] in labels_or_prompt.NOUNS[10:]) == plural for text, plural in known + asked)
    few = labels_or_prompt._balanced(known, 6)
    assert len(few) == 6
    assert sum(plural for _, plural in few) == 3


def test_the_odds_are_those_of_the_whole_prompt(pretrained):
    found = labels_or_prompt.log_odds(pretrained, "the key -> one\n", ["the books ->"], ("one", "many"))
    whole = torch.cat([labels_or_prompt._ids(pretrained, text) for text in ("the key -> one\n", "the books ->")], dim=1)
    logits = pretrained.model(whole)[0][0, -1]
    one, many = (labels_or_prompt._ids(pretrained, f" {name}")[0, 0] for name in ("one", "many"))
    torch.testing.assert_close(found[0], logits[many] - logits[one], atol=1e-4, rtol=1e-4)


def test_a_biased_answer_is_mended_by_the_median():
    asked = [("", 0), ("", 0), ("", 1), ("", 1)]
    found = labels_or_prompt.judged(torch.tensor([1.0, 2.0, 3.0, 4.0]), asked)
    assert found == {"right": 0.5, "by_median": 1.0, "second": 1.0}


def test_a_linear_layer_learns_a_label_that_one_feature_holds():
    known = torch.tensor([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.5], [-2.0, 0.2]])
    odds = labels_or_prompt.layer_odds(known, torch.tensor([1, 1, 0, 0]), torch.tensor([[3.0, 0.5], [-3.0, 0.5]]), 0)
    assert odds[0] > 0 > odds[1]


@pytest.mark.usefixtures("pretrained")
def test_a_run_measures_every_way(tmp_path):
    found = checked_run(labels_or_prompt, Job("ways", 0, 3), tmp_path, "cpu")
    assert found["verb"].keys() == {"right", "by_median", "second"}
    for way in ("one/many", "singular/plural", "layer"):
        assert found[way].keys() == {"2", "4"}
