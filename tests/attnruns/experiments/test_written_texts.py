"""The experiment on texts that a real model writes, with a tiny one in its place; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.decoding import greedy
from attnruns.experiments import written_texts
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A tiny model, six paragraphs of twelve tokens, and texts of five."""
    pretrained = tiny_pretrained(monkeypatch, written_texts, ends=(2,))
    text = torch.randint(3, 100, (6, 12), generator=torch.Generator().manual_seed(3)).tolist()
    monkeypatch.setattr(written_texts, "paragraphs", lambda: [" ".join(map(str, row)) for row in text])
    for name, value in {"STORY": "4 5 6", "STORY_LENGTH": 7, "BEGINNING": 3, "LENGTH": 5, "WIDTH": 2}.items():
        monkeypatch.setattr(written_texts, name, value)
    return pretrained


def test_a_run_writes_in_all_ways(tmp_path):
    found = checked_run(written_texts, Job("texts", 0, 3), tmp_path, "cpu")["by_way"]
    assert found.keys() == {*written_texts.WAYS, "beam of 2", "the book"}
    assert all(len(of["by_position"]) == 5 for of in found.values())
    assert len(found["greedy"]["repeated"]) == 3
    assert len(found["the book"]["repeated"]) == 3
    assert all("story" in found[way] for way in written_texts.WAYS)
    assert found["greedy"]["nats"] == pytest.approx(sum(found["greedy"]["by_position"]) / 5, abs=1e-3)


def test_the_end_is_never_written_and_all_else_is_as_before(tiny):
    endless, prompt = written_texts.Endless(tiny), torch.tensor([[4, 5, 6]])
    logits, _, _ = endless.prefill(prompt, endless.start())
    usual, _, _ = tiny.model.prefill(prompt, tiny.model.start())
    assert logits[0, 2] == float("-inf")
    assert torch.equal(logits[0, 3:], usual[0, 3:])
    written = greedy(endless, max_length=5, prompt=prompt, eos=written_texts.NEVER).tokens
    assert written.shape == (1, 5)
    assert 2 not in written.tolist()[0]


def test_the_nats_of_what_is_chosen_are_those_of_reading_it_again(tiny):
    endless, choose = (
        written_texts.Endless(tiny),
        written_texts.Chooser(torch.Generator().manual_seed(0), written_texts.WAYS),
    )
    prompt = torch.tensor([[4, 5, 6]]).repeat(len(written_texts.WAYS), 1)
    steps = written_texts.stream(endless, max_length=5, choose=choose, prompt=prompt, eos=written_texts.NEVER)
    tokens = torch.stack([token for token, _ in steps], dim=1)
    again = endless.surprises(torch.cat([prompt, tokens], dim=1))[:, -5:]
    assert torch.allclose(torch.stack(choose.nats, dim=1), again, atol=1e-4)


def test_paragraphs_go_on_as_they_do_and_no_two_seeds_share_one(tiny):
    prompts, real = written_texts.beginnings(tiny, 3, seed=0)
    assert prompts.shape == (3, 3)
    assert real.shape == (3, 5)
    whole = [[int(word) for word in text.split()][:8] for text in written_texts.paragraphs()]
    first, second = (torch.cat(written_texts.beginnings(tiny, 3, seed), dim=1).tolist() for seed in (0, 1))
    assert sorted(first + second) == sorted(whole)


def test_the_most_repetitive_text_is_kept(tiny):
    tokens = torch.tensor([[4, 5, 6, 7, 8], [4, 5, 4, 5, 4]])
    found = written_texts.figures_of(tiny, tokens, torch.ones(2, 5))
    assert found["most_repetitive"] == tiny.tokenizer.decode([4, 5, 4, 5, 4])
    assert found["nats"] == 1
