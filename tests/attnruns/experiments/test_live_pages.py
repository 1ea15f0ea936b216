"""What pages show of SmolLM2, with a tiny model in its place; nothing is fetched."""

import base64
import json
from types import SimpleNamespace

import pytest
import torch
from experiment_runs import checked_run

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import live_pages
from attnruns.shared.runner import Job

SIZE = 60


class Letters:
    """A tokenizer of letters."""

    def encode(self, text):
        return SimpleNamespace(ids=[ord(letter) % SIZE for letter in text])

    def decode(self, numbers):
        return "".join(chr(65 + number) for number in numbers)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Two layers of two heads, and sentences of a few letters."""
    torch.manual_seed(0)
    model = LanguageModel(SIZE, TransformerConfig(d_model=16, heads=2, layers=2, d_ff=24)).eval().requires_grad_(False)
    pretrained = Pretrained(model, Letters(), (2,))
    monkeypatch.setattr(live_pages, "smollm2", lambda: pretrained)
    monkeypatch.setattr(live_pages, "SENTENCES", ("abc", "hello"))
    monkeypatch.setattr(live_pages, "BEGINNINGS", ("ab",))
    monkeypatch.setattr(live_pages, "NAMED", 10)
    return pretrained


def written(name, steps):
    """What a part leaves for the page."""
    outcome = live_pages.run(Job(name, 0, steps))
    text = outcome.texts[f"weights/smollm2_{name}.json"]
    assert outcome.figures["bytes"] == len(text.encode())
    return json.loads(text)


@pytest.mark.parametrize("name", ["heads", "next_words"])
def test_a_run_leaves_its_text(name, tmp_path):
    assert checked_run(live_pages, Job(name, 0, 1), tmp_path, "cpu")["bytes"] > 0


def test_weights_of_all_heads_come_back_from_the_bytes(tiny):
    one, two = written("heads", 2)
    assert (one["pieces"], one["layers"], one["heads"], len(two["pieces"])) == (["f", "g", "h"], 2, 2, 5)
    ids = torch.tensor([[ord(letter) % SIZE for letter in "abc"]])
    wanted = torch.cat(tiny.model.maps(ids))[..., *torch.tril_indices(3, 3)]  # (layers, H, 6)
    found = torch.tensor(list(base64.b64decode(one["weights"]))).view(2, 2, 6) / 255
    assert (found - wanted).abs().max() <= 0.5 / 255 + 1e-6


def test_between_the_ranks_that_are_kept_logits_are_nearly_straight(tiny):
    (one,) = written("next_words", 1)
    logits = tiny.model(torch.tensor([[ord("a") % SIZE, ord("b") % SIZE]]))[0][0, -1].sort(descending=True).values
    assert [value for _, value in one["named"]] == pytest.approx(logits[:10].tolist(), abs=1e-3)
    ranks = [rank for rank, _ in one["others"]]
    assert ranks == live_pages.sparse_ranks(10, SIZE)
    assert [value for _, value in one["others"]] == pytest.approx(logits[ranks].tolist(), abs=1e-3)
    assert one["size"] == SIZE


def test_stored_logits_become_probabilities_of_the_whole_vocabulary(tmp_path, monkeypatch, tiny):
    (stored,) = live_pages.next_words(Job("next_words", 0, 1))
    (tmp_path / "weights").mkdir()
    (tmp_path / live_pages.STORED).write_text(json.dumps([stored]), encoding="utf-8")
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    logits = tiny.model(torch.tensor([tiny.tokenizer.encode("ab").ids]))[0][0, -1].double()
    right = logits.softmax(dim=-1).sort(descending=True).values
    torch.testing.assert_close(live_pages.stored_probabilities("ab"), right, atol=2e-3, rtol=0.05)
    with pytest.raises(ValueError, match="no next words are stored of 'xy'; there are: 'ab'"):
        live_pages.stored_probabilities("xy")


def test_a_story_keeps_what_was_written_and_what_else_could_have_been(monkeypatch, tiny):
    monkeypatch.setattr(live_pages, "STORY", "ab")
    monkeypatch.setattr(live_pages, "STORY_LENGTH", 3)
    told = written("stories", 2)
    assert [(one["rule"], one["seed"]) for one in told["stories"]] == [(way, 0) for way in live_pages.TOLD] + [
        (way, 1) for way in live_pages.TOLD[1:]
    ]
    first, *_ = told["stories"][0]["steps"]
    chosen, above, kept, *rows = first
    assert (above, kept, rows[0][0], rows[0][2]) == (0, 1, chosen, 10_000)  # greedy decoding writes the first choice
    assert [p for _, p, _ in rows] == sorted((p for _, p, _ in rows), reverse=True)
