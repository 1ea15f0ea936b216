"""The experiment about segments, memory and long contexts."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.models import LanguageModel
from attnbook.models.transformer_xl import TransformerXL
from attnruns.experiments import longer_text
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few and short streams."""
    monkeypatch.setattr(longer_text, "TESTS", 2)
    monkeypatch.setattr(longer_text, "TEST_MEMORIES", (0, 16))
    monkeypatch.setattr(longer_text, "LENGTHS", {"copy": 16, "recall": 64, "context": 64})
    monkeypatch.setattr(longer_text, "TEST_LENGTHS", {"copy": 16, "recall": 96, "context": 96})
    monkeypatch.setattr(longer_text, "CONTEXTS", (8,))


NAMES = ("copy_16_memory_0", "copy_32_memory_16_through", "copy_32_memory_16_deep", "recall_memory_0", "context_rotary")


@pytest.mark.parametrize("name, best", once_on_the_card(NAMES), indirect=["best"])
def test_a_run_trains_and_measures_a_model_of_its_name(name, best, tmp_path):
    figures = checked_run(longer_text, Job(name, 0, 2), tmp_path, best, kept=longer_text.RECIPES[name].kept)
    assert 0 <= figures["right"] <= 1
    assert figures["parameters"] > 10_000
    if name.startswith("context"):
        assert list(figures["by_position"]["8"]) == [str(eighth) for eighth in range(8)]
    else:
        assert figures["by_test_memory"].keys() == {"0", "16"}


def test_every_lag_is_tried_with_every_memory():
    for lag in longer_text.LAGS:
        for memory in longer_text.MEMORIES:
            recipe = longer_text.RECIPES[f"copy_{lag}_memory_{memory}"]
            assert (recipe.lag, recipe.memory, recipe.layers) == (lag, memory, 2)
            assert recipe.build().memory_length == memory


def test_segments_side_by_side_are_segments_one_after_the_other():
    torch.manual_seed(0)
    model = longer_text.build("copy_16_memory_0").eval()
    words = longer_text.RECIPES["copy_16_memory_0"].draw(3, 1, 16).words
    torch.testing.assert_close(longer_text.read_stream(model, words, 16), model(words, 16)[0])


def read_and_watch(name, words):
    """Logits of all segments, and whether the loss of the last one has a gradient at each segment's word vectors."""
    torch.manual_seed(0)
    model, states = longer_text.build(name), []

    def watch(module, given, out):
        out.retain_grad()
        states.append(out)

    model.embed.register_forward_hook(watch)
    logits, _ = model(words, longer_text.SEGMENT)
    logits[:, -longer_text.SEGMENT :].square().sum().backward()
    return logits, [bool(state.grad.abs().sum() > 0) for state in states]


def test_gradients_flow_through_the_memory_only_where_that_is_asked_for():
    words = longer_text.RECIPES["copy_32_memory_16"].draw(2, 1, 16).words[:, :48]  # three segments
    detached, reached = read_and_watch("copy_32_memory_16", words)
    through, reached_through = read_and_watch("copy_32_memory_16_through", words)
    assert reached == [False, False, True]
    assert reached_through == [True, True, True]
    assert torch.equal(detached, through)  # forwards they are the same


def test_a_memory_given_at_test_is_taken_back():
    torch.manual_seed(0)
    model = longer_text.build("recall_memory_0").eval()
    assert isinstance(model, TransformerXL)
    figures = longer_text.measure_memories(model, longer_text.RECIPES["recall_memory_0"])
    assert model.memory_length == 0
    assert figures["right"] == figures["by_test_memory"]["0"]["right"]
    assert list(figures["by_test_memory"]["16"]["by_age"]) == [str(age) for age in longer_text.AGES]


def test_a_memory_given_at_test_is_taken_back_after_an_error(monkeypatch):
    model = longer_text.build("recall_memory_0").eval()

    def answered(model, *_):
        assert model.memory_length == 0, "so it goes"
        return torch.ones(1)

    monkeypatch.setattr(longer_text, "answered", answered)
    monkeypatch.setattr(longer_text, "by_age", lambda *_: {})
    with pytest.raises(AssertionError, match="so it goes"):
        longer_text.measure_memories(model, longer_text.RECIPES["recall_memory_0"])
    assert model.memory_length == 0


def test_answers_are_counted_by_how_far_back_they_stand():
    right, age = torch.tensor([True, False, True, True]), torch.tensor([1, 15, 17, 127])
    assert longer_text.by_age(right, age) == {"15": 0.5, "31": 1.0, "63": None, "127": 1.0, "191": None}


def test_recall_without_memory_is_trained_on_single_segments_of_as_many_words():
    without, with_memory = (longer_text.Recipe("recall", memory=m).lesson(5) for m in (0, 64))
    assert without.words.shape[1] == longer_text.RECALL_SEGMENT
    assert without.words.numel() == with_memory.words.numel()
    assert longer_text.RECIPES["recall_memory_0"].test().words.shape == (2, 96)


def test_a_context_is_read_all_at_once():
    assert isinstance(longer_text.build("context_linear_bias"), LanguageModel)


def test_answers_are_compared_wherever_the_stream_lies(device):
    model = longer_text.build("recall_memory_0").to(device)
    stream = longer_text.RECIPES["recall_memory_0"].test()
    here, there = (longer_text.answered(model, one, segment=32) for one in (stream, stream.to(device)))
    assert torch.equal(here, there)
    assert len(here) == stream.asked.sum()
