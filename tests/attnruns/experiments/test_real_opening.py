"""The experiment on the book's first sentence, with a tiny model in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_opening
from attnruns.experiments.real_agreement import Reader
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def reader(monkeypatch):
    """Two layers of two heads with fixed weights; one of them stands for the finder."""
    torch.manual_seed(0)
    model = LanguageModel(60, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    pretrained = Pretrained(model, Words(), ())
    monkeypatch.setattr(real_opening, "smollm2", lambda: pretrained)
    monkeypatch.setattr(real_opening, "FINDER", (1, 0))
    return Reader(pretrained)


def test_weights_are_those_of_the_last_word_at_the_subject_and_at_the_first(reader):
    found, text = real_opening.read(reader, "keys"), real_opening.OPENING.format("keys")
    rows = torch.stack([weights[0, :, -1] for weights in reader.pretrained.model.maps(reader.tokens(text))])
    assert torch.tensor(found["finder"]) == pytest.approx(rows[1, 0], abs=1e-4)
    assert torch.tensor(found["on_subject"]).flatten() == pytest.approx(rows[..., 1].flatten(), abs=1e-4)
    assert torch.tensor(found["on_first"]).flatten() == pytest.approx(rows[..., 0].flatten(), abs=1e-4)
    assert sum(found["mean"]) == pytest.approx(1, abs=1e-3)


def test_each_head_is_taken_out_by_itself_and_the_finder_is_one_of_them(reader):
    found = real_opening.read(reader, "keys")
    assert torch.tensor(found["without_each"]).shape == (2, 2)
    assert found["without"] == found["without_each"][1][0]
    alone = real_opening.without(reader, (0, 1), [(real_opening.OPENING.format("keys"), True)])["margin"]
    assert found["without_each"][0][1] == pytest.approx(alone, abs=1e-3)


def test_the_sentence_has_ten_words_up_to_its_verb_and_the_subject_is_the_second(reader):
    found = real_opening.read(reader, "keys")
    assert len(found["pieces"]) == len(found["finder"]) == len(real_opening.OPENING.split()) == 10
    assert real_opening.OPENING.split()[real_opening.SUBJECT] == "{}"


def test_a_run_reads_both_subjects(tmp_path):
    figures = checked_run(real_opening, Job("opening", 0, 2), tmp_path, "cpu")
    assert all(0 < figures[subject][verb] < 1 for subject in ("keys", "key") for verb in ("is", "are"))
