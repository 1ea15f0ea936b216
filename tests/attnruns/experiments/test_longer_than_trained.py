"""The experiment with texts longer than those of training, here with a tiny model in the place of SmolLM2."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from attnbook.attention import Rotary
from attnbook.device import best_device
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import longer_than_trained
from attnruns.shared.runner import Job

WORDS = [f"Ġ{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"]


def tiny() -> Pretrained:
    torch.manual_seed(0)
    model = LanguageModel(len(WORDS) + 1, TransformerConfig(d_model=16, heads=2, layers=1, max_length=20)).eval()
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate([*WORDS, "[UNK]"])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return Pretrained(model.to(best_device()), tokenizer, ())


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(longer_than_trained, "pretrained", tiny)
    monkeypatch.setattr(longer_than_trained, "long_text", lambda: " ".join(WORDS * 3))
    monkeypatch.setattr(longer_than_trained, "CHUNK", 8)
    monkeypatch.setattr(longer_than_trained, "PART", 10)
    monkeypatch.setattr(longer_than_trained, "GAPS", (5, 30, 90))


@pytest.mark.parametrize("name, best", once_on_the_card(longer_than_trained.WAYS), indirect=["best"])
def test_a_run_measures_text_and_copies(name, best, tmp_path):
    figures = checked_run(longer_than_trained, Job(name, 0, 40), tmp_path, best)
    assert len(figures["nats"]) == 4
    assert set(figures["copied"]) == {"5", "30"}  # no gap is longer than what is read


def test_surprise_in_chunks_is_that_of_the_whole():
    model, words = tiny().model.cpu(), torch.arange(30)[None]
    nats, hits = longer_than_trained.surprises(model, words)
    with torch.no_grad():
        logits = model(words)[0][0, :-1]
    torch.testing.assert_close(nats, torch.nn.functional.cross_entropy(logits, words[0, 1:], reduction="none"))
    assert hits.tolist() == (logits.argmax(dim=-1) == words[0, 1:]).tolist()


def test_the_model_of_training_turns_as_it_did_and_the_others_do_not():
    words = torch.arange(30)[None]
    wanted, _ = longer_than_trained.surprises(tiny().model.cpu(), words)
    found = {}
    for name in longer_than_trained.WAYS:
        model = tiny()
        model.model.cpu()
        assert isinstance(model.model.blocks.layers[0].self_attention.positions, Rotary)
        longer_than_trained.turn_as(model, name)
        found[name], _ = longer_than_trained.surprises(model.model, words)
    torch.testing.assert_close(found["trained"], wanted, rtol=1e-5, atol=1e-5)
    assert all((found[name] - wanted).abs().max() > 1e-4 for name in found if name != "trained")


class Copying(torch.nn.Module):
    """Names the word that came after the present one the first time, as long as that is not too far back."""

    def __init__(self, reach: int):
        super().__init__()
        self.reach, self.there = reach, torch.nn.Parameter(torch.zeros(1))

    def start(self):
        return []

    def read(self, words, state):
        logits = torch.zeros(1, words.shape[1], 100)
        for t, word in enumerate(words[0].tolist()):
            before = [place + 1 for place, other in enumerate(state) if other == word]
            if before and before[0] < len(state) and len(state) - before[0] < self.reach:
                logits[0, t, state[before[0]]] = 1.0
            state = [*state, word]
        return logits, state, None


@pytest.mark.parametrize("reach, share", [(1000, 1.0), (40, 0.0)])
def test_who_reaches_back_far_enough_copies_everything(reach, share, monkeypatch):
    found = Pretrained(Copying(reach), tiny().tokenizer, ())
    monkeypatch.setattr(longer_than_trained, "words_of", lambda found, seed, count: torch.full((1, count), 99))
    assert longer_than_trained.copied(found, 30, seed=0) == share


def test_lists_are_different_words_and_each_seed_has_its_own():
    first, again, other = (longer_than_trained.common_words(tiny(), seed)[0].tolist() for seed in (0, 0, 1))
    assert len(set(first)) == 32
    assert first == again != other


def test_the_text_is_what_the_chapters_say(monkeypatch):
    monkeypatch.undo()
    text = longer_than_trained.long_text()
    assert len(text) > 4 * longer_than_trained.LONGEST
    assert "attention" in text


def test_without_the_weights_it_says_how_to_get_them(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(longer_than_trained, "kept", lambda name: None)
    with pytest.raises(ValueError, match=r"SmolLM2 is not here: python -m attnbook\.pretrained smollm2"):
        longer_than_trained.pretrained()
