"""What experiments with language models share: the curve leaves its own time out, memory is counted in bytes."""

import pytest
import torch

from attnbook.data.texts.language import text_task
from attnbook.models import KneserNey, LanguageModel, LSTMLanguageModel, TransformerConfig
from attnruns.shared import language

TRAIN = ["a dog runs on a road.", "a cat sits on a mat.", "two dogs run on a mat.", "a cat runs."] * 2
CONFIG = TransformerConfig(d_model=8, heads=2, layers=3, d_ff=12)


@pytest.fixture(scope="module")
def small():
    return text_task("small", TRAIN, ["a dog sits."], ["two cats sit on a road.", "a dog sits on a mat."], 44)


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    """The vocabulary has fewer than 50 pieces."""
    monkeypatch.setitem(language.WAYS, "top_k_50", {"top_k": 40})


@pytest.fixture
def model(small):
    return LanguageModel(len(small.task.target_vocabulary), CONFIG).eval()


def test_a_transformer_keeps_a_key_and_a_value_of_each_word_in_each_layer(model):
    assert language.bytes_per_word(model) == 3 * 2 * 8 * 4  # layers, key and value, features, bytes
    assert language.state_bytes(model, 5) == 5 * language.bytes_per_word(model)


def test_the_state_of_an_lstm_does_not_grow_and_counts_need_the_last_words_only():
    lstm = LSTMLanguageModel(9, 4, 6, layers=2)
    assert (language.bytes_per_word(lstm), language.state_bytes(lstm, 7)) == (0, 2 * 2 * 6 * 4)
    assert language.state_bytes(KneserNey([[3, 4]], 9), 7) == 2 * 8
    assert language.tensor_bytes(None) == 0
    with pytest.raises(ValueError, match="words must be at least 1, got 0"):
        language.state_bytes(lstm, 0)


def test_a_curve_notes_each_step_and_its_own_time_apart(model, small):
    curve = language.Curve(small, small.task.test, every=5)
    first, second = curve(model), curve(model)
    assert first == second < 0
    assert [point[0] for point in curve.seen] == [5, 10]
    assert curve.seen[0][1] == curve.seen[1][1] > 1
    assert curve.seen[1][2] <= curve.seen[0][2] + curve.apart
    assert curve.apart > 0


def test_the_words_before_the_end_are_a_text():
    assert language.until_end([5, 6, 2, 2]) == [5, 6]
    assert language.until_end([5, 6]) == [5, 6]


def test_a_model_goes_on_from_each_beginning_in_every_way(model, small, monkeypatch):
    monkeypatch.setattr(language, "LONGEST", 5)
    found = language.samples(model, small)
    assert found.keys() == {"people", *language.WAYS}
    assert found["people"]["texts"] == ["two cats sit on a road.", "a dog sits on a mat."]
    assert found["people"]["new"] == found["people"]["different"] == 1
    for name in language.WAYS:
        assert found[name]["pieces"] <= 5
        assert found[name]["perplexity"] > 0
        assert 0 <= found[name]["repetition_2"] < 1
        assert 0 < found[name]["distinct_2"] <= 1
    again = language.samples(model, small)
    assert found == again


def test_the_perplexity_of_a_text_is_that_of_what_was_written_after_its_beginning(model, small):
    rows = [small.task.target_vocabulary.encode(example.target) for example in small.task.test]
    begins, written = [row[:3] for row in rows], [row[3:] for row in rows]
    got = language.describe(model, small, begins, written)["perplexity"]
    nats = 0.0
    for row in rows:
        log_p = model(torch.tensor([[1, *row]]))[0][0].log_softmax(dim=-1)
        nats -= sum(log_p[t, word].item() for t, word in enumerate(row) if t >= 3)
    count = sum(map(len, written))
    assert got == pytest.approx(torch.tensor(nats / count).exp().item(), rel=1e-3)


def test_what_writes_nothing_has_no_perplexity(model, small):
    begins = [small.task.target_vocabulary.encode(example.target) for example in small.task.test]
    found = language.describe(model, small, begins, [[] for _ in begins])
    assert (found["pieces"], found["perplexity"]) == (0, None)


def test_the_likeliest_words_are_likelier_than_those_drawn(small):
    model = KneserNey((small.task.target_vocabulary.encode(e.target) for e in small.task.train), 44)
    found = language.samples(model, small)
    assert found["greedy"]["perplexity"] <= found["temperature_1.5"]["perplexity"]
