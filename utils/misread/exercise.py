'''What an exercise is: a reference, inputs, properties, and the mistakes people make.

How to write a lab
------------------
A lab is a folder `attnlabs/labNN/`. Its `__init__.py` lists `EXERCISES`, in the notebook's order; its modules are
named after what they hold, and a long list of mistakes stands in a module of its own beside its exercise. What
several labs share lives in `attnlabs/families/`, models to be tried on in `attnlabs/fakes/`, and what a notebook
imports too in `attnlabs/material/`. One exercise in full:

    def shift_right(target, bos):                     # the reference: its name and parameters count
        """The decoder's input: target (B, T) one place later, bos in front."""
        start = torch.full_like(target[:, :1], bos)   # (B, 1)
        return torch.cat([start, target[:, :-1]], 1)  # (B, T)

    def targets(draw):                                # called with several draws of each variant
        batch, length = draw.sizes(2)                 # all different, at least 2; smallest in the first draw
        yield draw.integers(3, 20, batch, length), 1  # a tuple of arguments for each input

    SHIFT_RIGHT = Exercise(
        shift_right,
        cases=targets,
        about=About(points=1, minutes=8, difficulty=1, read_again="Training: teacher forcing"),
    )

    must = SHIFT_RIGHT.properties
    must("every row starts with bos", lambda result, target, bos: (result[:, 0] == bos).all()).says("""
        The decoder's first input is `bos`.""")

    wrong = SHIFT_RIGHT.mistakes
    wrong("shifted to the left", {"[:, :-1]": "[:, 1:]"}).says("""
        You dropped the first word ...""")
    wrong("rolled", "return target.roll(1, dims=1)").says("""
        ...""")

*Reference.* It is right for every input, on any device, in any dtype, and finite, its gradient too.
*Cases.* Draw float64 (`draw.normal`), several lengths, masks with whole rows closed (`draw.mask`), so that
every mistake gives something else. The sizes of the first case come from `draw.sizes`: the engine draws it again
with each of them 1. What the text allows at its edges belongs to the cases (`tests/helpers/edges.py` demands it).
A student sees the input that is easiest to read (few numbers, none of three digits, a difference in the first
decimals); `if draw.compact:` yields inputs only to be shown.
Functions may be arguments; one that carries tensors is a `Fake` (see `misread/fakes.py`).
*Mistake code* is a body (text, with the reference's parameters), or edits of the reference's source (a
dict; each old text stands exactly once in the code below the docstring), or a function. torch, F, nn, math, np
and the names of the lab's module are at hand.
*Matching.* An answer has a mistake when it gives the same as the mistake on every input. When all its
values are right, side effects are compared instead: an input changed in place, a lost gradient, another
dtype or device. So a mistake may be about those too ("return ....detach()"). The first mistake that matches
wins: narrower ones first.
*Message*: say what they did, then what is wanted and why; two or three short sentences. The engine adds the
smallest input, expected beside got. No need for the mistakes in `messages.GENERAL`: no return, a loop
without end, NaN, and so on.
*Properties* give unlisted wrong answers their words, tried in order on the failing inputs, smallest first;
`holds(result, *args)`, with `result` of the reference's structure and shapes.
*Unasked* the engine checks that inputs are left alone, dtype is kept and gradients flow (`gradients=False`
switches that off: numpy answers welcome; `canonical_gradients(gradients, *args)` brings finite gradients that
are equally right to one form, one for each argument, None for a number). Nothing is sent back
through an infinite result. `by_hand=True`: autograd is a fault, and the first to be named. New tensors on the
CPU whatever the input's device earn a right answer a remark (see `elsewhere`); it is a fault where an exercise
lists it as a mistake (`device=False`: not asked).
*Canonical.* Where several results are equally right, `canonical(result, *args)` brings them to one form.
*Tests* of a lab are a folder too, `tests/attnlabs/labNN/`. `right.py` holds right answers: functions named
like the exercise with two underscores and a style, `def shift_right__loops(target, bos)`; at least two for each
exercise. `adversarial.py` may hold answers that are wrong on rare inputs only. `test_labNN.py` names the lab, and
`tests/helpers/catalogue.py` does the rest: each mistake is caught under its own name, for several variants, and
no two of them look alike.
'''

import ast
import contextlib
import inspect
import linecache
import math
import textwrap
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import values
from .by_hand import watched
from .draw import Draw
from .sandbox import Run, run

DRAWS = 4  # how often an exercise's cases are drawn for one check
COMPACT = 6  # and how often again, in search of a smaller input to show
_AT_HAND: dict[str, Any] = {"torch": torch, "Tensor": Tensor, "nn": nn, "F": F, "math": math, "np": np}


@dataclass(frozen=True)
class Mistake:
    """A known misunderstanding: a short name, what to tell the student, and a wrong implementation that has
    it."""

    name: str
    message: str
    code: str | dict[str, str] | Callable


@dataclass(frozen=True)
class Property:
    """Something true of every right result: `holds(result, *args)`; `message` says so to a student."""

    name: str
    message: str
    holds: Callable[..., Any]


@dataclass(frozen=True)
class Unsaid:
    """A mistake or a property that has no words yet; `complete(message)` puts it into its list."""

    complete: Callable[[str], None]

    def says(self, message: str) -> None:
        """Complete it; lines may be broken anywhere."""
        self.complete(" ".join(message.split()))


class Mistakes(list[Mistake]):
    """An exercise's known mistakes, in the order in which they are tried: narrower ones first."""

    def __call__(self, name: str, code: str | dict[str, str] | Callable) -> Unsaid:
        """Begin a mistake: its name and how it is made; what the student is told follows in `.says(message)`."""
        return Unsaid(lambda message: self.append(Mistake(name, message, code)))


class Properties(list[Property]):
    """An exercise's properties, in the order in which they are tried."""

    def __call__(self, name: str, holds: Callable[..., Any]) -> Unsaid:
        """Begin a property: its name and `holds(result, *args)`; what a student is told follows in `.says(message)`."""
        return Unsaid(lambda message: self.append(Property(name, message, holds)))


@dataclass(frozen=True)
class About:
    """What a course tells its students of an exercise; the engine does not look at it.

    Args:
        difficulty: from 1 to 5.
        read_again: the section that explains what is asked for, or a chapter and its section.
    """

    points: float = 1
    minutes: int = 0
    difficulty: int = 1
    read_again: str | tuple[str, str] = ""


@dataclass(frozen=True, eq=False)
class Exercise:
    """One function to write. `cases(draw)` yields argument tuples; `returns` names the parts of a returned
    tuple, `parts` the entries of a tuple among arguments or results; `canonical(result, *args)` brings results
    that are equally right to one form before they are compared. Inputs for which `telling(*args)` is False are
    judged by, and shown only where no other shows the mistake."""

    reference: Callable
    cases: Callable[[Draw], Iterable[tuple]]
    mistakes: Mistakes = field(default_factory=Mistakes)
    properties: Properties = field(default_factory=Properties)
    returns: Sequence[str] = ()
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tolerance: float = 1e-9
    gradients: bool = True
    canonical_gradients: Callable[..., Sequence[Tensor | None]] | None = None
    by_hand: bool = False
    device: bool = True
    canonical: Callable[..., Any] | None = None
    telling: Callable[..., bool] | None = None
    about: About = About()
    _kept: dict = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.reference.__name__

    @property
    def parameters(self) -> list[str]:
        return list(inspect.signature(self.reference).parameters)

    def inputs(self, variant: int = 0) -> list[tuple]:
        """The argument tuples of one variant, the easiest to read first."""
        drawn = [args for number in range(DRAWS) for args in self.cases(Draw(variant, number))]
        return sorted([*drawn, *self._with_a_one(variant)], key=values.reading)

    def _with_a_one(self, variant: int) -> Iterator[tuple]:
        """The first case of further draws: in each of them another one of its sizes is 1."""
        for which in count():
            draw = Draw(variant, 0, one=which)
            args = next(iter(self.cases(draw)), None)
            if args is None or which >= draw.drawn:
                return
            if draw.has_one:
                yield args

    def compact_inputs(self, variant: int, below: float) -> list[tuple]:
        """More argument tuples, the easiest to read first, all easier than `below`: to show, not to judge by."""
        drawn = self.once(("compact", variant), lambda: self._compact(variant))
        return [args for reading, args in drawn if reading < below]

    def _compact(self, variant: int) -> list[tuple[int, tuple]]:
        drawn = []
        for number in range(COMPACT):
            with contextlib.suppress(Exception):  # made for sizes that differ: then there are none
                drawn += list(self.cases(Draw(variant, number, compact=True)))
        return sorted(((values.reading(args), args) for args in drawn), key=lambda pair: pair[0])

    def expected(self, variant: int = 0) -> list[Run]:
        """The reference's runs on the inputs of one variant, worked out once; whoever reads them leaves them alone."""
        inputs = self.inputs
        return self.once(("expected", variant), lambda: [self.run(self.reference, args) for args in inputs(variant)])

    def wrong_run(self, mistake: Mistake, variant: int, index: int) -> Run:
        """A known mistake's run on one of the inputs of one variant, worked out once."""
        args = self.expected(variant)[index].args
        return self.once((mistake.name, variant, index), lambda: self.run(self.function(mistake), args))

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` gives, worked out the first time and kept."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def run(self, function: Callable, args: tuple) -> Run:
        """One call of an answer, on a copy of the arguments."""
        if not self.by_hand:
            return run(function, args, self.canonical)
        with watched() as ways:
            done = run(function, args, self.canonical)
        return replace(done, autograd=ways[0] if ways else "")

    def source(self, mistake: Mistake) -> str:
        """A mistake's source: a complete function with the exercise's name and parameters."""
        if callable(mistake.code):
            return textwrap.dedent(inspect.getsource(mistake.code))
        if isinstance(mistake.code, str):
            body = textwrap.indent(textwrap.dedent(mistake.code).strip(), "    ")
            return f"def {self.name}{inspect.signature(self.reference)}:\n{body}\n"
        return self._edited(mistake.name, mistake.code)

    def _edited(self, name: str, edits: dict[str, str]) -> str:
        text = _code(self.reference)
        for old, new in edits.items():
            if text.count(old) != 1:
                raise ValueError(
                    f"{self.name}, {name!r}: {old!r} stands {text.count(old)} times in "
                    "the reference's source; an edit needs a text that stands there once"
                )
            text = text.replace(old, new)
        return text

    def function(self, mistake: Mistake) -> Callable:
        """The wrong implementation of a mistake."""
        if callable(mistake.code):
            return mistake.code
        return self.once(mistake.name, lambda: _compile(self, self.source(mistake), mistake.name))


def _code(function: Callable) -> str:
    """A function's source without its docstring, whose words nobody means to edit."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    definition = next(node for node in ast.walk(ast.parse("".join(lines))) if isinstance(node, ast.FunctionDef))
    if ast.get_docstring(definition) is not None:
        del lines[definition.body[0].lineno - 1 : definition.body[0].end_lineno]
    return "".join(lines)


def _compile(exercise: Exercise, source: str, title: str) -> Callable:
    filename = f"<{exercise.name}: {title}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = _AT_HAND | exercise.reference.__globals__
    exec(compile(source, filename, "exec"), namespace)
    return namespace[exercise.name]
