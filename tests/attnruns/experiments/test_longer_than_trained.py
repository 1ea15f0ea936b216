"""The experiment with texts longer than those of training, here with a tiny model in the place of SmolLM2."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.attention import Rotary
from attnbook.device import best_device
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import longer_than_trained
from attnruns.shared.runner import Job

SIZE = 130


def tiny() -> Pretrained:
    torch.manual_seed(0)
    model = LanguageModel(SIZE, TransformerConfig(d_model=16, heads=2, layers=1, max_length=20)).eval()
    return Pretrained(model.to(best_device()), None, ())


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(longer_than_trained, "pretrained", tiny)
    monkeypatch.setattr(longer_than_trained, "common_words", lambda found: list(range(90, SIZE)))
    monkeypatch.setattr(longer_than_trained, "text_tokens", lambda found: torch.arange(90))
    for name, value in {"LISTS": 2, "WORDS": 5, "CHUNK": 8, "PART": 10, "GAPS": (0, 16, 40, 80)}.items():
        monkeypatch.setattr(longer_than_trained, name, value)


@pytest.mark.parametrize("name, best", once_on_the_card(longer_than_trained.WAYS), indirect=["best"])
def test_a_run_measures_text_and_copies(name, best, tmp_path):
    figures = checked_run(longer_than_trained, Job(name, 0, 40), tmp_path, best)
    assert len(figures["nats"]) == 4
    assert set(figures["copied"]) == {"0", "16", "40"}  # no gap is longer than what is read


def test_surprise_in_chunks_is_that_of_the_whole_whatever_is_asked_meanwhile():
    model, lists, text = tiny().model.cpu(), longer_than_trained.lists_of(tiny(), 0), torch.arange(30)
    nats, _ = longer_than_trained.read_and_copy(model, lists, text)
    with torch.no_grad():
        logits = model(torch.cat([lists.flatten(), text])[None])[0][0, lists.numel() : -1]
    torch.testing.assert_close(nats, torch.nn.functional.cross_entropy(logits, text[1:], reduction="none"))


def test_a_list_is_asked_for_after_all_that_was_read_and_the_other_lists_are_not_among_it():
    model, lists, text = tiny().model.cpu(), longer_than_trained.lists_of(tiny(), 0), torch.arange(30)
    hits = {}
    for gap in (0, 16):
        read = torch.cat([lists.flatten(), text[:gap]])
        with torch.no_grad():
            logits = torch.cat([model(torch.cat([read, words])[None])[0][:, -5:-1] for words in lists])  # (2, 4, V)
        hits[gap] = (logits.argmax(dim=-1) == lists[:, 1:]).double().mean().item()
    assert longer_than_trained.read_and_copy(model, lists, text)[1] == hits


def test_the_model_of_training_turns_as_it_did_and_the_others_do_not():
    lists, text = torch.arange(10).view(2, 5), torch.arange(30)
    wanted, _ = longer_than_trained.read_and_copy(tiny().model.cpu(), lists, text)
    found = {}
    for name in longer_than_trained.WAYS:
        model = tiny()
        model.model.cpu()
        assert isinstance(model.model.blocks.layers[0].self_attention.positions, Rotary)
        longer_than_trained.turn_as(model, name)
        found[name], _ = longer_than_trained.read_and_copy(model.model, lists, text)
    torch.testing.assert_close(found["trained"], wanted, rtol=1e-5, atol=1e-5)
    assert all((found[name] - wanted).abs().max() > 1e-4 for name in found if name != "trained")


class Copying(torch.nn.Module):
    """Names the word that came after the present one the first time, as long as that is not too far back."""

    def __init__(self, reach: int):
        super().__init__()
        self.reach, self.there = reach, torch.nn.Parameter(torch.zeros(1))

    def start(self):
        return []

    def prefill(self, words, state):
        return None, self.read(words, state)[1], None

    def read(self, words, state):
        logits = torch.zeros(1, words.shape[1], SIZE)
        for t, word in enumerate(words[0].tolist()):
            before = [place + 1 for place, other in enumerate(state) if other == word]
            if before and before[0] < len(state) and len(state) - before[0] < self.reach:
                logits[0, t, state[before[0]]] = 1.0
            state = [*state, word]
        return logits, state, None


def test_who_reaches_back_far_enough_copies_everything():
    lists, text = torch.arange(30, 40).view(2, 5), torch.arange(41) % 30
    shares = {reach: longer_than_trained.read_and_copy(Copying(reach).eval(), lists, text)[1] for reach in (1000, 30)}
    assert shares == {1000: {0: 1.0, 16: 1.0, 40: 1.0}, 30: {0: 1.0, 16: 1.0, 40: 0.0}}


def test_lists_are_different_words_and_each_seed_has_its_own():
    first, again, other = (longer_than_trained.lists_of(tiny(), seed).flatten().tolist() for seed in (0, 0, 1))
    assert len(set(first)) == 10
    assert first == again != other


def test_each_seed_begins_at_another_third_of_the_text():
    begins = [longer_than_trained.text_of(tiny(), seed, 40) for seed in range(3)]
    assert [text[0].item() for text in begins] == [0, 30, 60]
    assert [len(text) for text in begins] == [40, 40, 40]


def test_lists_are_asked_for_between_two_chunks(monkeypatch):
    monkeypatch.undo()
    assert all(gap % longer_than_trained.CHUNK == 0 for gap in longer_than_trained.GAPS)
    assert max(longer_than_trained.GAPS) <= longer_than_trained.LONGEST


def test_it_reads_smollm2_with_fused_attention(monkeypatch):
    monkeypatch.undo()
    asked = {}
    monkeypatch.setattr(longer_than_trained, "fetch", lambda name: name)
    monkeypatch.setattr(longer_than_trained, "load", lambda *args, **kwargs: asked.update(of=(args, kwargs)) or tiny())
    longer_than_trained.pretrained()
    assert asked["of"] == (("smollm2", torch.bfloat16), {"fused": True})
