"""What the live figure of chapter 10 shows of a story is what SmolLM2 gives."""

import pytest
import torch

from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import fetch, kept
from attnruns.experiments.live_pages import stored_stories
from attnruns.experiments.written_texts import Endless
from attnruns.results import load_result


def stored(rule: str, seed: int) -> tuple[str, str, list[list]]:
    """The beginning, the story behind it, and its steps."""
    told = stored_stories()
    (steps,) = (one["steps"] for one in told["stories"] if (one["rule"], one["seed"]) == (rule, seed))
    return told["beginning"], "".join(told["pieces"][step[0]] for step in steps), steps


@pytest.mark.parametrize("rule", ["greedy", "nucleus 0.95"])
def test_the_live_figure_tells_the_story_of_the_record(rule):
    recorded = {run["seed"]: run["by_way"] for run in load_result("written_texts")["runs"]}
    assert stored(rule, 0)[1] == recorded[0][rule]["story"]


@pytest.mark.skipif(kept("smollm2") is None, reason="SmolLM2 is not here: python -m attnbook.pretrained smollm2")
def test_the_greedy_story_has_the_tokens_and_probabilities_that_the_model_gives():
    smollm2 = load(fetch("smollm2"))
    beginning, story, steps = stored("greedy", 0)
    prompt, ids = (torch.tensor([smollm2.tokenizer.encode(text).ids]) for text in (beginning, story))  # (1, t)
    assert ids.shape[1] == len(steps)
    with torch.no_grad():
        logits = Endless(smollm2).logits(torch.cat([prompt, ids], dim=1))[0, prompt.shape[1] - 1 : -1]  # (T, V)
    most, token = logits.softmax(dim=-1).max(dim=-1)
    assert (token == ids[0]).float().mean() > 0.98  # a tie may be rounded in another way
    written = [next(p for number, p, _ in rows if number == chosen) for chosen, _, _, *rows in steps]
    assert torch.tensor(written) / 10_000 == pytest.approx(most, abs=5e-3)
