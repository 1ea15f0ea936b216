"""What holds in every lab, written once: `tests/attnlabs/labNN/test_labNN.py` only names its lab.

Beside that file lie `right.py` (right answers, `def exercise__style`) and perhaps modules `adversarial….py`: answers
that are wrong on rare inputs only. There `WRONG` has a list for each exercise, or a dict with names where answers
share one; `NAMED` says as which mistake some are known; `RIGHT`, what wrong answers are made of, passes.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations, count
from pathlib import Path
from types import ModuleType

import pytest
import torch
from duration import at_most
from edges import BY_PROCESSOR, EXCUSED, missing
from loaded import loaded

import attnlabs as checks
from attnlabs import Exercise, Mistake, evaluate
from misread.compare import same_run, telling
from misread.judge import mistake_pattern
from misread.messages import GENERAL
from misread.side_effects import load_meta
from misread.values import clone, transform

FOLDER = Path(__file__).parents[1] / "attnlabs"
VARIANTS = (0, 2, 3)  # what a notebook shows, what it grades with, and what it grades with in hiding


@cache
def _modules(lab: str, names: str) -> list[ModuleType]:
    return [loaded(path, f"{path.parent.name}_{path.stem}") for path in sorted((FOLDER / lab).glob(names))]


def right_answers(lab: str) -> dict[str, Callable]:
    """The functions of `right.py` by name: exercise, two underscores, style."""
    (module,) = _modules(lab, "right.py")
    return {name: answer for name, answer in vars(module).items() if "__" in name.strip("_")}


def _styles(lab: str, exercise: str) -> list[Callable]:
    return [answer for name, answer in right_answers(lab).items() if name.split("__")[0] == exercise]


def _adversarial(lab: str) -> list:
    """Exercise, answer, its mistake's name where it is known as one, and whether an explanation is worked out too."""
    found = []
    for module in _modules(lab, "adversarial*.py"):
        named = getattr(module, "NAMED", {})
        for exercise, answers in module.WRONG.items():
            pairs = answers.items() if isinstance(answers, dict) else [(answer.__name__, answer) for answer in answers]
            found += [
                pytest.param(exercise, answer, named.get(answer), number == 0, id=f"{exercise}-{how}")
                for number, (how, answer) in enumerate(pairs)
            ]
    return found


def _ingredients(lab: str, exercise: str) -> list[Callable]:
    """What the adversarial answers are made of."""
    found = [getattr(module, "RIGHT", {}) for module in _modules(lab, "adversarial*.py")]
    return [right[exercise] for right in found if exercise in right]


class ChecksOfALab:
    """Subclass it, and name the `lab`."""

    lab: str

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test runs for all the exercises, mistakes or answers that its arguments ask for."""
        exercises, asked = checks.checks_of(self.lab).exercises().values(), metafunc.fixturenames
        if "known" in asked:
            pairs = [(exercise, known) for exercise in exercises for known in exercise.mistakes]
            ids = [f"{exercise.name}-{known.name}" for exercise, known in pairs]
            metafunc.parametrize("exercise, known", pairs, ids=ids)
        elif "style" in asked:
            pairs = [
                (exercise, style)
                for exercise in exercises
                for find in (_styles, _ingredients)
                for style in find(self.lab, exercise.name)
            ]
            metafunc.parametrize("exercise, style", pairs, ids=[style.__name__ for _, style in pairs])
        elif "odd" in asked:
            metafunc.parametrize("name, odd, mistake, explains", _adversarial(self.lab))
        elif "exercise" in asked:
            metafunc.parametrize("exercise", exercises, ids=[exercise.name for exercise in exercises])

    def test_an_exercise_knows_at_least_five_mistakes_with_words_of_their_own(self, exercise):
        mistakes = exercise.mistakes
        assert len(mistakes) >= 5
        assert len({known.name for known in mistakes}) == len(mistakes)
        assert len({known.message for known in mistakes}) == len(mistakes)
        assert all(len(known.message) > 40 for known in mistakes)
        assert not {known.name for known in mistakes} & set(GENERAL)

    def test_a_known_mistake_is_caught_under_its_own_name(self, exercise, known):
        """On the inputs that a student sees, where it is neither right nor taken for a mistake that comes before it.

        The next test proves the same for graded and hidden inputs, and the one after it looks at the whole message.
        """
        verdict = evaluate(self.lab, exercise.name, exercise.function(known), explains=False)
        assert not verdict.passed
        assert verdict.mistake == known.name
        runs = [exercise.wrong_run(known, 0, index) for index in range(len(exercise.expected()))]
        assert all(
            run.failure is None or type(run.failure.error) is not NameError for run in runs
        )  # or nothing is made

    def test_no_mistake_looks_like_another_or_like_the_reference(self, exercise):
        """On graded and hidden inputs two mistakes differ somewhere, in a value or else in a side effect.

        So an answer that does what a mistake does is rejected under its name, wherever it stands in the list.
        """
        for variant in VARIANTS[1:]:
            for one, other in combinations([None, *exercise.mistakes], 2):
                if _alike(exercise, one, other, variant):
                    seen = mistake_pattern(exercise, one, variant) if one else frozenset()
                    name = one.name if one else "the reference"
                    assert seen != mistake_pattern(exercise, other, variant), f"{other.name!r} looks like {name!r}"

    def test_a_student_reads_the_words_of_their_mistake_and_an_input(self, exercise):
        """For the first mistake of each exercise; the engine's own tests prove the rest of a message."""
        known = exercise.mistakes[0]
        first, *rest = evaluate(self.lab, exercise.name, exercise.function(known)).message.splitlines()
        assert first == f"✗ {exercise.name}: {known.name}"
        assert " ".join(known.message.split()) in " ".join(" ".join(rest).split())

    def test_a_right_answer_in_another_style_passes(self, exercise, style):
        """Values, side effects and optional arguments, on every input that a notebook uses."""
        for variant in VARIANTS:
            verdict = evaluate(self.lab, exercise.name, style, variant)
            assert verdict.passed, verdict.message

    def test_there_is_a_right_answer_besides_the_reference(self, exercise):
        assert _styles(self.lab, exercise.name)

    def test_every_right_answer_belongs_to_an_exercise(self):
        names = [name.split("__")[0] for name in right_answers(self.lab)]
        assert [name for name in names if name not in checks.checks_of(self.lab).exercises()] == []

    def test_the_reference_passes_and_has_its_own_properties(self, exercise):
        for variant in VARIANTS:
            assert evaluate(self.lab, exercise.name, exercise.reference, variant).passed
            for run in exercise.expected(variant):
                assert run.failure is None, run.failure.text
                for prop in exercise.properties:
                    assert prop.holds(run.value, *clone(run.args)), f"variant {variant}: {prop.name}"

    def test_variants_have_other_inputs(self, exercise):
        drawn = [_written_out(exercise.inputs(variant)) for variant in VARIANTS]
        assert len(set(drawn)) == len(drawn)
        assert drawn[0] == _written_out(exercise.inputs(0))

    def test_its_cases_reach_the_edges_of_what_its_text_allows(self, exercise):
        """On each variant, or `edges.EXCUSED` says why not; no excuse outlives its reason."""
        missed = {edge for variant in VARIANTS for edge in missing(exercise, variant)}
        by_processor = BY_PROCESSOR.get(exercise.name, set())
        assert missed - by_processor == set(EXCUSED.get(exercise.name, {}))

    def test_a_check_takes_a_second_at_most(self, exercise):
        """Of a right answer and of a wrong one, which is compared with every mistake; nothing was worked out before."""

        def upside_down(*args):
            result = exercise.reference(*args)
            return -result if isinstance(result, torch.Tensor) and result.dtype != torch.bool else [result, 7]

        load_meta()  # imports modules, once in a session
        variants = count(start=5)
        for answer in (exercise.reference, upside_down):
            at_most(1, lambda answer=answer: evaluate(self.lab, exercise.name, answer, next(variants)))

    def test_an_answer_that_is_right_on_tame_inputs_only_is_caught(self, name, odd, mistake, explains):
        """Under its name, where it has one. What else a student is told is worked out for the first of an exercise.

        That takes most of a check's time, and neither the verdict nor the name depends on it."""
        for variant in VARIANTS:
            verdict = evaluate(self.lab, name, odd, variant, explains=explains and variant == 0)
            assert not verdict.passed
            assert mistake is None or verdict.mistake == mistake, verdict.message


def _written_out(inputs: list[tuple]) -> str:
    """All numbers, those inside of fakes too; to print the tensors themselves would take seconds."""
    numbers = []
    transform(inputs, lambda tensor: numbers.append(tensor.tolist()) or tensor)
    return repr((numbers, [arg for args in inputs for arg in args if not isinstance(arg, torch.Tensor)]))


def _alike(exercise: Exercise, one: Mistake | None, other: Mistake, variant: int) -> bool:
    """Whether two mistakes, or the reference (None) and one, end alike on every input; stops where they don't.

    As for the judge, errors alone are no evidence, unless they tell the same somewhere; nor are right results, unless
    all are right.
    """
    evidence = failing = False
    for index, right in enumerate(exercise.expected(variant)):
        run, wrong = (
            exercise.wrong_run(one, variant, index) if one else right,
            exercise.wrong_run(other, variant, index),
        )
        if not same_run(run, wrong, exercise.tolerance):
            return False
        fails = not same_run(run, right, exercise.tolerance)
        failing, evidence = failing or fails, evidence or (fails and telling(run, wrong))
    return evidence or not failing
