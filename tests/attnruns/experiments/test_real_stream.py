"""The experiment on a real model's residual stream, with a tiny one in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_stream
from attnruns.experiments.real_agreement import Reader
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def reader(monkeypatch):
    """Two layers of two heads with fixed weights, normalised as in Llama."""
    torch.manual_seed(0)
    config = TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24, normalisation="rms")
    pretrained = Pretrained(LanguageModel(60, config).eval().requires_grad_(False), Words(), ())
    monkeypatch.setattr(real_stream, "smollm2", lambda: pretrained)
    monkeypatch.setattr(real_stream, "text_tokens", lambda _: torch.arange(40) % 60)
    monkeypatch.setattr(real_stream, "APART", 10)
    return Reader(pretrained)


def test_a_run_measures_each_block_on_a_passage_of_its_own(tmp_path):
    figures = checked_run(real_stream, Job("blocks", 0, 8), tmp_path, "cpu")
    assert len(figures["more"]) == 2
    assert real_stream.blocks(Job("blocks", 1, 8))["nats"] != figures["nats"]


def test_the_terms_of_a_run_sum_to_the_margin_of_the_right_verb(tmp_path):
    figures = checked_run(real_stream, Job("verb", 0, 4), tmp_path, "cpu")
    assert len(figures["attention"]) == len(figures["feed_forward"]) == 2
    total = figures["word"] + sum(figures["attention"]) + sum(figures["feed_forward"])
    assert total == pytest.approx(figures["margin"], abs=1e-3)
    assert figures["sum"] == pytest.approx(figures["margin"], abs=1e-3)


def test_terms_have_the_names_of_the_sublayers_in_their_order():
    found = real_stream.terms(torch.tensor([1.0, 2, 3, 4, 5]))
    assert found == {"word": 1.0, "attention": [2.0, 4.0], "feed_forward": [3.0, 5.0], "sum": 15.0}


def test_the_terms_of_a_sentence_are_for_are_and_against_is(reader):
    is_, are = reader.verbs("the keys near the cabinet").tolist()
    assert real_stream.towards_are(reader, "the keys near the cabinet").sum().item() == pytest.approx(
        are - is_, abs=1e-5
    )
