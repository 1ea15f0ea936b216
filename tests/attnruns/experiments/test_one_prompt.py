"""The experiment on one prompt, with a tiny model in the place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.decoding import greedy
from attnruns.experiments import one_prompt
from attnruns.experiments.written_texts import NEVER, Endless
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A tiny model, and texts of six tokens in two parts."""
    pretrained = tiny_pretrained(monkeypatch, one_prompt, ends=(2,))
    for name, value in {"PROMPT": "4 5 6", "LENGTH": 6, "PARTS_OF_TEXT": 2, "WIDTH": 2}.items():
        monkeypatch.setattr(one_prompt, name, value)
    return pretrained


def test_a_run_searches_and_draws(tmp_path, tiny):
    found = checked_run(one_prompt, Job("texts", 0, 3), tmp_path, "cpu")["by_way"]
    sizes = {name: len(of["nats"]) for name, of in found.items()}
    assert sizes == {"greedy": 1, "beam of 2": 1} | dict.fromkeys(one_prompt.DRAWN, 3)
    for of in found.values():
        assert [sum(row) / 2 for row in of["by_part"]] == pytest.approx(of["nats"], abs=1e-3)
    one = greedy(Endless(tiny), max_length=6, prompt=torch.tensor([[4, 5, 6]]), eos=NEVER).tokens
    assert found["greedy"]["tokens"] == one[0].tolist()


def test_the_nats_are_those_of_reading_the_texts_again(tiny):
    endless, prompt = Endless(tiny), torch.tensor([[4, 5, 6]])
    tokens, nats = one_prompt.drawn(endless, prompt, 2, seed=0)
    again = endless.surprises(torch.cat([prompt.expand(len(tokens), -1), tokens], dim=1))[:, -6:]
    assert tokens.shape == (1 + 2 * len(one_prompt.DRAWN), 6)
    assert torch.allclose(nats, again, atol=1e-4)


def test_a_pair_that_stood_before_counts(tiny):
    texts = torch.tensor([[4, 5, 4, 5, 4, 5], [4, 5, 6, 7, 8, 9]])
    found = one_prompt.figures_of(tiny, texts, torch.ones(2, 6))
    assert found["repeated"] == pytest.approx([0.6, 0.0])
    assert "text" not in found


def test_what_a_search_wrote_is_kept(tiny):
    found = one_prompt.figures_of(tiny, torch.tensor([[4, 5, 4, 5, 4, 5]]), torch.ones(1, 6))
    assert found["text"] == tiny.tokenizer.decode([4, 5, 4, 5, 4, 5])
    assert found["tokens"] == [4, 5, 4, 5, 4, 5]
