"""What holds for each kind of question, whatever numbers are drawn."""

import re
from random import Random

import pytest
from exam_answers import SEEDS, drawn

from coursekit.exams.kinds import KINDS
from coursekit.exams.question import LONG, SHORT, Question, Table, kind

UNFILLED = re.compile(r"[{}]|\bnan\b|\bNone\b(?!:)|\binf\b|tensor|\[|\]|= ≈|--")


def words_of(question: Question) -> str:
    """Everything that is printed of a question and its solution."""
    cells = [" ".join([*block.header, *sum(block.rows, ())]) if isinstance(block, Table) else block
             for block in question.text]  # fmt: skip
    return " ".join([*cells, *(step.text for step in question.steps)])


def test_there_are_enough_kinds_and_each_chapter_has_one():
    early = [one for one in KINDS.values() if one.chapter <= 10]
    assert len(early) >= 24
    assert {one.chapter for one in KINDS.values()} == set(range(1, 21)) - {18}  # 18 repeats the comparisons of others


@pytest.mark.parametrize("name", KINDS)
class TestEachKind:
    def test_its_steps_add_up_to_its_points(self, name):
        points = {sum(step.points for step in question.steps) for question in drawn(name)}
        assert points == {KINDS[name].level.points}
        assert KINDS[name].level in (SHORT, LONG)

    def test_no_place_is_left_unfilled(self, name):
        found = {hit for question in drawn(name) for hit in UNFILLED.findall(words_of(question))}
        assert found == set()

    def test_the_only_tags_are_indices(self, name):
        tags = {tag for question in drawn(name) for tag in re.findall(r"<[^>]*>", words_of(question))}
        assert tags <= {"<sub>", "</sub>", "<sup>", "</sup>"}

    def test_each_part_of_the_question_has_its_step(self, name):
        for question in drawn(name):
            asked = set(re.findall(r"(?<!to )(?<!of )\(([a-d])\)", words_of(question).split("(a)", 1)[1]))
            answered = {step.text[1] for step in question.steps}
            assert answered == {"a"} | asked

    def test_a_seed_gives_the_same_question_again(self, name):
        assert KINDS[name].question("3") == KINDS[name].question("3") == drawn(name)[3]

    def test_other_seeds_give_other_numbers(self, name):
        assert len({str(question.given) for question in drawn(name)}) >= min(10, len(SEEDS))

    def test_its_numbers_need_no_calculator(self, name):
        assert not [words for words in map(words_of, drawn(name)) if "≈" in words and name != "three_scores"]


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="two kinds of question are called soft_context"):

        @kind(2, SHORT, "Twice")
        def soft_context(draw: Random) -> Question:
            raise NotImplementedError
