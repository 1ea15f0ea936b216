"""The experiment on a real model's verbs, with a tiny one in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_agreement
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def reader(monkeypatch):
    """Two layers of two heads with fixed weights."""
    torch.manual_seed(0)
    model = LanguageModel(60, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    pretrained = Pretrained(model, Words(), ())
    monkeypatch.setattr(real_agreement, "smollm2", lambda: pretrained)
    for name, value in {"BEST": 2, "CONTROLS": 2}.items():
        monkeypatch.setattr(real_agreement, name, value)
    return real_agreement.Reader(pretrained)


def test_all_nouns_behind_the_subject_have_the_other_number():
    for text, plural in real_agreement.sentences(3, 20, seed=1):
        subject, *others = [word for word in text.split() if word.rstrip("s") in real_agreement.THINGS]
        assert len(others) == 3
        assert subject.endswith("s") == plural
        assert all(other.endswith("s") != plural for other in others)


def test_the_margin_is_that_of_the_right_verb(reader):
    texts = [("The keys near the cabinet", True), ("The key near the cabinets", False)]
    is_, are = zip(*(reader.verbs(text).tolist() for text, _ in texts), strict=True)
    assert reader.margins(texts).tolist() == pytest.approx([are[0] - is_[0], is_[1] - are[1]], abs=1e-6)
    assert real_agreement.shares(torch.tensor([1.0, -1.0, 3.0])) == {"right": 0.6667, "margin": 1.0}


def test_weights_are_those_from_the_last_word(reader):
    on_subject, on_first = reader.from_the_last_word([("The keys near", True)])
    maps = reader.pretrained.model.maps(reader.tokens("The keys near"))
    for layer, weights in enumerate(maps):
        assert torch.allclose(on_subject[layer], weights[0, :, 2, 1])
        assert torch.allclose(on_first[layer], weights[0, :, 2, 0])


def test_the_strongest_heads_come_first():
    assert real_agreement.ordered([[0.1, 0.9], [0.5, 0.2]])[:2] == [(0, 1), (1, 0)]


def test_one_head_is_taken_out_and_put_back(reader):
    texts = real_agreement.sentences(1, 4, seed=0)
    before = reader.margins(texts)
    assert real_agreement.without(reader, (1, 0), texts)["margin"] != pytest.approx(before.mean().item(), abs=1e-4)
    assert torch.allclose(reader.margins(texts), before)
    assert (1, 0) not in real_agreement.others_than((1, 0), reader, seed=0)


def test_a_noun_of_the_other_number_stands_in_front_of_the_subject(reader):
    for text, plural in real_agreement.fronted(20, seed=1):
        words = text.split()
        first, subject, last = (words[i].endswith("s") for i in (2, 4, 7))
        assert (subject, first, last) == (plural, not plural, not plural)
    weights = reader.from_the_last_word([("Near the keys the book of", False)], (4, 2))
    maps = reader.pretrained.model.maps(reader.tokens("Near the keys the book of"))
    assert torch.allclose(weights[0][1], maps[1][0, :, 5, 4])
    assert torch.allclose(weights[1][1], maps[1][0, :, 5, 2])


def test_a_run_of_these_sentences_takes_out_each_of_three_heads(tmp_path, monkeypatch):
    monkeypatch.setattr(real_agreement, "FINDERS", ((0, 1), (1, 0)))
    figures = checked_run(real_agreement, Job("fronted", 0, 4), tmp_path, "cpu")
    assert figures["without"].keys() == {"1.2", "2.1"}
    assert all(0 <= found["subject"] + found["first"] <= 1 for found in figures["without"].values())


def test_a_run_measures_all_sizes(tmp_path):
    figures = checked_run(real_agreement, Job("smollm2", 0, 4), tmp_path, "cpu")
    assert figures["by_phrases"].keys() == figures["without"].keys() == {"1", "2", "3", "5"}
    assert len(figures["controls"]) == 2
    length = len(figures["example"]["pieces"])
    assert torch.tensor(figures["example"]["weights"]).shape == (length, length)
