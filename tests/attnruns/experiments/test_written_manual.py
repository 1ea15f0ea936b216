"""The measures on Python's manual, with a tiny model in the place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnruns.experiments import written_manual, written_texts
from attnruns.experiments.written_texts import Begun, Endless
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """A tiny model, six paragraphs of twelve tokens each, and texts of five."""
    pretrained = tiny_pretrained(monkeypatch, written_manual, ends=(2,))
    of_book, of_manual = torch.randint(3, 100, (2, 6, 12), generator=torch.Generator().manual_seed(3)).tolist()
    monkeypatch.setattr(written_texts, "paragraphs", lambda: [" ".join(map(str, row)) for row in of_book])
    monkeypatch.setattr(written_manual, "manual", lambda: [" ".join(map(str, row)) for row in of_manual])
    for module in (written_texts, written_manual):
        monkeypatch.setattr(module, "BEGINNING", 3)
        monkeypatch.setattr(module, "LENGTH", 5)
    return pretrained


def test_a_run_draws_one_text_of_each_paragraph_in_each_way(tmp_path, tiny):
    found = checked_run(written_manual, Job("texts", 0, 2), tmp_path, "cpu")["by_way"]
    assert found.keys() == written_manual.WAYS.keys() | {"the manual"}
    assert [len(of["repeated"]) for of in found.values()] == [2] * (len(written_manual.WAYS) + 1)


def test_a_search_writes_one_text_of_each_paragraph(tmp_path, tiny):
    found = checked_run(written_manual, Job("searched", 0, 2), tmp_path, "cpu")["by_way"]
    assert {way: len(of["repeated"]) for way, of in found.items()} == {"greedy": 2, "beam of 4": 2}


def test_the_tail_is_what_the_nucleus_leaves_out(tmp_path, tiny):
    assert checked_run(written_manual, Job("tails", 0, 2), tmp_path, "cpu")["by_text"].keys() == {
        "the book",
        "the manual",
    }
    words = torch.randint(3, 100, (2, 8), generator=torch.Generator().manual_seed(0))
    found = written_manual.tail(Endless(tiny), Begun(words[:, :3], words[:, 3:]))
    logits = tiny.model(words)[0][:, 2:-1].index_fill(-1, torch.tensor([2]), float("-inf"))
    outside = []
    for p in logits.softmax(dim=-1).flatten(0, 1):
        falling = p.sort(descending=True).values.tolist()
        total, kept = 0.0, 0
        while total < 0.95:
            total, kept = total + falling[kept], kept + 1
        outside.append(1 - total)
    assert found["1"] == pytest.approx(sum(outside) / len(outside), abs=1e-4)
    assert found["0.7"] < found["0.95"] < found["1"]


def test_the_manual_has_enough_long_paragraphs_and_no_code():
    long = [text for text in written_manual.manual() if len(text) > 500]
    assert len(long) > 18
    assert not any(sign in text for text in long for sign in ("::", "<", "="))
