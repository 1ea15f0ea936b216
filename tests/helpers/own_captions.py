"""The book's own sentences in place of the captions of chapter 2's translator, and one that has learned nothing."""

from attnbook.data.texts.translation import own_translation_task
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments import verb_elsewhere


def own_captions(monkeypatch):
    """The data that ``verb_elsewhere`` then trains on, and whoever trains as it does."""
    data = own_translation_task()
    monkeypatch.setattr(verb_elsewhere, "task", lambda words, pieces: data)
    return data


def untrained(data):
    """A small translator of these data."""
    seed_everything(0)
    return AttentionSeq2Seq(*data.sizes(), embedding=8, hidden=8).eval()
