"""The exams that a seed makes."""

import pytest

from coursekit import CourseError
from coursekit.exams.kinds import KINDS
from coursekit.exams.paper import SLOTS, compose

SEEDS = [f"autumn {n}" for n in range(20)]


@pytest.mark.parametrize(
    "name, points, minutes, last", [("midterm", 45, 90, 8), ("final", 66, 120, 17), ("models", 9, 30, 20)]
)
def test_each_seed_gives_the_same_points_and_minutes(name, points, minutes, last):
    papers = [compose(name, seed) for seed in SEEDS]
    assert {(paper.points, paper.minutes) for paper in papers} == {(points, minutes)}
    assert {len(paper.items) for paper in papers} == {len(SLOTS[name])}
    for paper in papers:
        chapters = [item.kind.chapter for item in paper.items]
        assert chapters == sorted(chapters)
        assert chapters[-1] <= last
        assert len({item.kind.name for item in paper.items}) == len(paper.items)
        assert [item.number for item in paper.items] == list(range(1, len(paper.items) + 1))


def test_every_slot_can_be_filled_whatever_the_others_took():
    for slots in SLOTS.values():
        for slot in slots:
            fitting = {kind.name for kind in KINDS.values() if slot.fits(kind)}
            others = sum(1 for other in slots if other != slot and any(
                other.fits(KINDS[name]) for name in fitting))  # fmt: skip
            assert len(fitting) > min(others, 1)
            assert len(fitting) >= 2


def test_a_seed_gives_the_same_exam_and_another_one_another():
    assert compose("midterm", "x") == compose("midterm", "x")
    questions = {str([item.question.given for item in compose("midterm", seed).items]) for seed in SEEDS}
    assert len(questions) == len(SEEDS)


def test_a_seed_gives_the_same_exam_in_both_spellings_of_its_accents():
    assert compose("midterm", "pru\u0308fung") == compose("midterm", "pr\u00fcfung")


def test_the_two_exams_of_a_seed_have_other_numbers():
    both = [{item.kind.name: item.question.given for item in compose(name, "x").items} for name in SLOTS]
    shared = both[0].keys() & both[1].keys()
    assert sum(both[0][name] == both[1][name] for name in shared) < len(shared) / 2  # by chance, some may agree


def test_every_kind_comes_up_in_some_exam():
    asked = {kind.name for kind in KINDS.values() if any(slot.fits(kind) for slots in SLOTS.values() for slot in slots)}
    assert asked == set(KINDS)


@pytest.mark.parametrize(
    "name, seed, words", [("quiz", "x", "there is no exam 'quiz'"), ("final", " ", "seed is empty")]
)
def test_what_cannot_be_made_is_said(name, seed, words):
    with pytest.raises(CourseError, match=words):
        compose(name, seed)
