"""Tokens from the tail, with a tiny model in the place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.measure.text import repetition
from attnruns.experiments import written_manual, written_settings, written_tails, written_texts
from attnruns.experiments.written_texts import Endless
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """A tiny model, six paragraphs of twelve tokens each, and texts of five."""
    pretrained = tiny_pretrained(monkeypatch, written_tails, written_settings, written_texts, ends=(2,))
    of_book, of_manual = torch.randint(3, 100, (2, 6, 12), generator=torch.Generator().manual_seed(3)).tolist()
    monkeypatch.setattr(written_texts, "paragraphs", lambda: [" ".join(map(str, row)) for row in of_book])
    monkeypatch.setattr(written_manual, "manual", lambda: [" ".join(map(str, row)) for row in of_manual])
    for module in (written_texts, written_settings, written_tails):
        monkeypatch.setattr(module, "BEGINNING", 3)
        monkeypatch.setattr(module, "LENGTH", 5)
    return pretrained


def test_the_counted_texts_are_those_of_the_other_record(tmp_path, tiny):
    found = checked_run(written_tails, Job("book", 0, 2), tmp_path, "cpu")["by_way"]
    near = checked_run(written_settings, Job("near", 0, 2), tmp_path, "cpu")["by_way"]
    assert len(found["nucleus 0.95"]["tail"]) == 2 * written_settings.DRAWS
    for way, of in near.items():
        assert found[way]["repeated"] == of["repeated"]
        assert found[way]["nats"] == pytest.approx(of["nats"], abs=2e-4)


def test_a_nucleus_of_this_size_draws_nothing_from_the_tail(tmp_path, tiny):
    found = checked_run(written_tails, Job("manual", 0, 2), tmp_path, "cpu")["by_way"]
    assert found.keys() == written_manual.WAYS.keys() | {"beam of 4", "greedy", "greedy, no pair twice", "the author"}
    assert found["nucleus 0.95"]["tail"] == [0, 0]


def test_the_tail_is_all_behind_the_token_that_fills_the_nucleus():
    logits = torch.tensor([0.6, 0.36, 0.03, 0.01]).log().expand(1, 4, 4)
    assert written_tails.in_tail(logits, torch.arange(4)[None]).tolist() == [[False, False, True, True]]


def test_no_pair_stands_twice_and_else_the_choice_is_greedy(tiny):
    prompts = torch.randint(3, 100, (3, 4), generator=torch.Generator().manual_seed(0))
    rows = written_tails.greedy_without_pairs(Endless(tiny), prompts, 30)
    assert [repetition([row]) for row in rows.tolist()] == [0, 0, 0]
    first = Endless(tiny).logits(prompts)[:, -1].argmax(dim=-1)
    assert torch.equal(rows[:, 0], first)


def test_only_the_token_that_would_repeat_a_pair_is_forbidden():
    choose = written_tails.NoPairTwice()
    for wanted in (1, 2, 1):
        choose(torch.eye(4)[wanted][None])
    assert choose(torch.tensor([[0.0, 0.1, 0.9, 0.5]])).tolist() == [3]
