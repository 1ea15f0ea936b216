"""The experiment about a subject and a verb that move."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import moving_subject
from attnruns.experiments.moving_subject import BLANK, NEAR, THAT, THINGS, WORDS
from attnruns.shared.runner import Job


def test_subject_and_verb_move_and_the_numbers_are_those_of_the_nouns():
    torch.manual_seed(0)
    subjects, verbs = set(), set()
    for _ in range(60):
        words, numbers = moving_subject.sentences(2, 8)
        nouns = words[words < NEAR].view(8, 3)
        assert torch.equal(nouns // len(THINGS), numbers)
        assert (words[:, -1] == BLANK).all()
        subjects.add(int((words[0] < NEAR).nonzero()[0]))
        verbs.add(words.shape[1])
    assert subjects == {0, 1, 2, 3, 4}
    assert min(verbs) >= 6
    assert max(verbs) <= 14
    assert len(verbs) > 5


def test_in_hard_sentences_all_later_nouns_have_the_other_number():
    torch.manual_seed(0)
    _, numbers = moving_subject.sentences(3, 50, hard=True)
    assert (numbers[:, 1:] != numbers[:, :1]).all()
    assert 0 < numbers[:, 0].float().mean() < 1


def test_a_verb_needs_the_first_noun_and_that_the_last():
    torch.manual_seed(0)
    batch = moving_subject.asked(2, 40, that=True)
    last = batch.words[:, -1] == THAT
    assert 0 < last.sum() < 40
    for row, number, at, ends in zip(*(of.tolist() for of in (*batch, last)), strict=True):
        nouns = [i for i, word in enumerate(row) if word < NEAR]
        assert at == nouns[-1 if ends else 0]
        assert number == row[at] // len(THINGS)
    assert (moving_subject.asked(2, 40).words[:, -1] == BLANK).all()


def test_scores_of_positions_are_the_same_for_other_words_and_scores_of_words_for_another_order():
    torch.manual_seed(0)
    words = torch.tensor([[WORDS.index(word) for word in ["now", "keys", "near", "cabinet", "?"]]])
    other = torch.tensor([[WORDS.index(word) for word in ["old", "farmer", "of", "trees", "?"]]])
    turned = words[:, [3, 1, 2, 0, 4]]
    with torch.no_grad():
        by_positions, by_words = (moving_subject.build(name) for name in ("positions", "words"))
        assert torch.equal(by_positions(words)[1], by_positions(other)[1])
        assert not torch.allclose(by_positions(words)[0], by_positions(other)[0])
        assert torch.allclose(by_words(words)[0], by_words(turned)[0], atol=1e-6)
        both = moving_subject.build("both")
        assert not torch.allclose(both(words)[0], both(turned)[0])
        assert torch.allclose(both(words)[1], both(words, torch.arange(5))[1])
        assert not torch.allclose(both(words)[1], both(words, torch.tensor([3, 1, 2, 0, 4]))[1])


def test_a_model_of_words_and_positions_learns_one_phrase(monkeypatch):
    monkeypatch.setattr(moving_subject, "PHRASES", (1,))
    monkeypatch.setattr(moving_subject, "PATTERNS", 20)
    torch.manual_seed(0)
    model = moving_subject.build("both")
    losses = moving_subject.train(model, 250)
    assert losses[-1] < losses[0]
    right, seen = moving_subject.measure(model, 1)
    assert right > 0.9
    assert {noun for noun, _, _ in seen} == {1, 2, 3, 4, 5}
    assert moving_subject.measure(model, 1, shuffled=True)[0] < 0.8


@pytest.mark.parametrize("name, best", once_on_the_card(moving_subject.STEPS), indirect=["best"])
def test_a_run_trains_a_model_and_tests_it_at_all_sizes(name, monkeypatch, best, tmp_path):
    monkeypatch.setattr(moving_subject, "PATTERNS", 3)
    figures = checked_run(moving_subject, Job(name, 0, 3), tmp_path, best, kept=True)
    assert figures["right"].keys() == {"1", "2", "3", "5", "8"}
    assert ("weight_on_noun" in figures) == (name != "lstm")
    assert ("right_shuffled" in figures) == ("both" in name or "positions" in name)
