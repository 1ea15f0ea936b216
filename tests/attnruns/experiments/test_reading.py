"""The experiment that watches readers at the verb: it counts what is right, and weight where the subject stands."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.symbols.agreement import agreement_sentences, attractors, number_of, other_number, subject_and_verb
from attnbook.models import LSTMN, LSTMLanguageModel
from attnruns.experiments import reading
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def sentences():
    """Sentences with 0, or 3 to 5 words between subject and verb, and with 8 beyond."""
    return agreement_sentences(train=80, validation=12, test_per_size=10, longest=5, longer=(8,), longer_per_size=10)


def number_or_none(word):
    """0 or 1 for a noun, ``None`` for another word."""
    try:
        return number_of(word)
    except ValueError:
        return None


class Knowing(nn.Module):
    """Reads one sentence; finds its verb likely in the right number, or in the last noun's, and looks at one place."""

    def __init__(self, task, by="subject", look="subject") -> None:
        super().__init__()
        self.vocabulary, self.by, self.look = task.target_vocabulary, by, look
        self.nothing = nn.Parameter(torch.zeros(1))

    def forward(self, words):
        B, T = words.shape
        logits, weights = torch.zeros(B, T, len(self.vocabulary)), torch.zeros(B, T, T)
        for row, numbers in enumerate(words.tolist()):
            nouns = [place for place, number in enumerate(numbers) if self.number(number) is not None]
            for t in range(T):
                past = [place for place in nouns if place <= t] or [0]
                self.guess(logits[row, t], numbers[past[0 if self.by == "subject" else -1]])
                if t:
                    weights[row, t, min(past[0], t - 1) if self.look == "subject" else 0] = 1
        return logits + self.nothing, weights

    def number(self, word):
        return number_or_none(self.vocabulary.words[word])

    def guess(self, scores, noun):
        plural = self.number(noun) == 1
        for verb in ("is", "was", "seems", "stands", "falls", "stays"):
            form = other_number(verb) if plural else verb
            scores[self.vocabulary.encode([form])[0]] = 1


def test_who_follows_the_subject_is_always_right_and_looks_there(sentences):
    found = reading.measure_by_size(Knowing(sentences), sentences)
    assert list(found) == ["0", "3", "4", "5", "8"]
    assert found["0"] == {"right": 1.0}  # no attractor, and the subject is the word just read
    for size in ("3", "4", "5", "8"):
        assert found[size]["right"] == found[size]["attracted"] == 1
        assert found[size]["share"] == found[size]["top"] == 1


def test_who_follows_the_nearest_noun_is_right_as_often_as_it_happens_to_agree(sentences):
    examples = sentences.longer[8]
    seen = reading.at_the_verb(Knowing(sentences, by="nearest"), sentences, examples)
    for example, right in zip(examples, seen.right.tolist(), strict=True):
        subject, verb = subject_and_verb(example)
        numbers = [number for word in example.source[subject:verb] if (number := number_or_none(word)) is not None]
        assert right == (numbers[-1] == numbers[0])


def test_attracted_counts_only_sentences_with_an_attractor(sentences):
    examples = sentences.longer[8]
    model = Knowing(sentences, by="nearest")
    hard = [example for example in examples if attractors(example)]
    assert 0 < len(hard) < len(examples)
    assert reading.measure(model, sentences, examples)["attracted"] == reading.measure(model, sentences, hard)["right"]


def test_who_looks_elsewhere_has_no_share(sentences):
    figures = reading.measure(Knowing(sentences, look="start"), sentences, sentences.longer[8])
    assert figures["share"] == figures["top"] == 0


def test_an_even_share_is_one_over_the_places_that_are_past(sentences):
    examples = sentences.longer[8]
    torch.manual_seed(0)
    model = LSTMN(len(sentences.source_vocabulary), embedding=4, hidden=6)
    nn.init.zeros_(model.score.hidden_to_score.weight)  # all scores are equal
    seen = reading.at_the_verb(model, sentences, examples)
    torch.testing.assert_close(seen.share, seen.even)
    verbs = [subject_and_verb(example)[1] for example in examples]
    torch.testing.assert_close(seen.even, torch.tensor([1 / verb for verb in verbs]))  # the start and verb - 1 words


def test_a_reader_without_attention_looks_nowhere(sentences):
    model = LSTMLanguageModel(len(sentences.source_vocabulary), embedding=4, hidden=6)
    assert reading.at_the_verb(model, sentences, sentences.test)[1:] == (None, None, None)
    assert reading.measure(model, sentences, sentences.longer[8]).keys() == {"right", "attracted"}


def test_where_the_subject_is_the_word_just_read_it_has_no_share(sentences):
    model = LSTMN(len(sentences.source_vocabulary), embedding=4, hidden=6)
    seen = reading.at_the_verb(model, sentences, sentences.test)
    near = torch.tensor([example.size == 0 for example in sentences.test])
    assert seen.share[near].isnan().all()
    assert (seen.share[~near] > 0).all()


@pytest.mark.parametrize("name, best", once_on_the_card(reading.STEPS), indirect=["best"])
def test_a_run_trains_the_reader_of_its_name(name, sentences, monkeypatch, best, tmp_path):
    monkeypatch.setattr(reading, "task", lambda: sentences)
    monkeypatch.setattr(reading, "VALIDATE_EVERY", 2)
    figures = checked_run(reading, Job(name, 0, 3), tmp_path, best, kept=name in reading.KEEP)
    model = reading.build(name, sentences)
    assert type(model) is {"lstm": LSTMLanguageModel, "lstmn": LSTMN}[name]
    assert figures["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert figures["loss"] > 0
    assert [step for step, _ in figures["attracted_while_training"]] == [2, 3]
    assert list(figures["by_size"]) == ["0", "3", "4", "5", "8"]


def test_weights_are_kept_only_of_models_that_exist():
    assert reading.KEEP <= reading.STEPS.keys() == reading.KINDS.keys()
    assert reading.EXPERIMENT.steps is reading.STEPS


def test_the_task_is_made_once_a_process(monkeypatch):
    reading.task.cache_clear()
    made = []
    monkeypatch.setattr(reading, "agreement_sentences", lambda: made.append("task") or "the task")
    assert reading.task() == reading.task() == "the task"
    reading.task.cache_clear()
    assert made == ["task"]
