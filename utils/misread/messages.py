"""What a student reads: the misunderstanding, why, and the smallest input with expected beside got."""

import dis
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from torch import Tensor

from . import sandbox, values
from .compare import misbuilt, structure
from .details import DETAILS
from .printing import beside, block, differing, inputs, listing, opened, shapes
from .raw_errors import meaning
from .sandbox import Failure, Run

# What the engine recognises for every exercise: short name -> message. A bare `{}` takes the detail.
GENERAL = {
    "not a function": "The check wants the function itself: write {}, without calling it.",
    "other parameters": "Your function cannot be called with {}. Keep the parameters as the exercise gives them.",
    "forgot return": "Your function gave back None. Does its last line begin with `return`, at the right indent?",
    "runs without end": "Your function was stopped after {} seconds. Does each loop get nearer to its end?",
    "wrong type": "Your function returned {}.",
    "too few results": "Your function returned {}.",
    "too many results": "Your function returned {}.",
    "not a number": (
        "Your result holds NaN or infinity, but all the numbers that are wanted are finite. Typical causes are 0 / 0, "
        "∞ / ∞ (the exponential of a large number is infinite), 0 · ∞, the logarithm of 0 or of a negative number, a "
        "softmax over nothing but −∞, the mean of a tensor without entries, and memory that was never written "
        "(torch.empty)."
    ),
    "changes its input": (
        "Your function writes into `{}`, which belongs to the caller. Build something new, or work on a copy{}."
    ),
    "number instead of tensor": (
        "Your function returned {}, not a tensor. `.item()` and `float()` cut the tie to the parameters, so that "
        "nothing could learn from it."
    ),
    "keeps something between calls": (
        "The same input gave another result the second time, or an earlier result changed later. Use only the "
        "arguments: nothing random, nothing kept outside."
    ),
    "another dtype": (
        "The numbers are right but their type is not: {}. Let the type follow the input, for example with "
        "`torch.zeros_like(x)`, `x.new_zeros(…)` or `dtype=x.dtype`; masks are bool."
    ),
    "loses the gradient": (
        "The numbers are right, but no gradient flows back through {}. `.item()`, `.detach()`, `.data`, "
        "`.numpy()`, `torch.tensor(x)` and `torch.no_grad()` cut it off."
    ),
    "gradient does not arrive": (
        "The numbers are right, but no gradient arrives at `{}`. Somewhere it was copied as plain numbers: "
        "`.item()`, `.detach()`, `.data`, `.numpy()`, `torch.tensor(x)`."
    ),
    "gradient is not a number": (
        "The numbers are right, but the gradient at `{}` is NaN. Either a NaN or an infinity arises and is masked away "
        "afterwards, which still spoils the way back, or a slope is infinite, as those of the square root and of the "
        "logarithm are at 0. Keep it from arising: mask, or raise to a tiny number, *before*."
    ),
    "wrong gradient": (
        "The numbers are right, but the gradient at `{}` is not: part of the way back is cut, or rounding stands in it."
    ),
    "not by hand": (
        "Your function lets torch's autograd find the gradients ({}). By hand means: the formula itself, written "
        "with sums and products, as autograd would have to know it."
    ),
    "another device": (
        "This would fail on a GPU: {}. Make new tensors where the input lives: `device=x.device`, "
        "`torch.zeros_like(x)`, `x.new_zeros(…)`."
    ),
}


# Where nothing is learned through the result.
NO_GRADIENTS = (
    "`.item()` and `float()` cut the tie to the parameters, so that nothing could learn from it.",
    "`.item()`, `float()` and numpy make a number of a tensor: leave the tensor as it is.",
)
# Where an exercise wants infinity, too, and its canonical form has none.
INFINITY_TOO = (
    "NaN or infinity, but all the numbers that are wanted are finite.",
    "NaN, or infinity with the wrong sign. Infinity itself is wanted in some positions.",
)
MASKS = (
    "True and False stand in the right positions, but your mask holds numbers. Masks are bool: a comparison "
    "such as `a < b` gives one for nothing, and `~mask` then means *not*."
)
WHOLE = (
    "The numbers are right but their type is not: {}. Wanted are whole numbers in torch's usual type for them, which "
    "`argmax`, `nonzero` and `torch.arange` give: convert yours with `.long()`."
)
COPIES = ((Tensor, "`.clone()`"), (set, "`set(…)`, `a & b`, `a | b`"), (list, "`list(…)`"), (dict, "`dict(…)`"))
READABLE = 60  # numbers and words of an input; where a function stops, of a larger one only the types are shown
SHOWN = ("changes its input", "wrong gradient", "gradient is not a number")  # the input tells something


def message(exercise: Any, title: str, text: str, *more: str) -> str:
    """A whole message: the head, the text wrapped, and what follows it."""
    paragraphs = [wrap(part) for part in text.split("\n")]
    return "\n".join([f"✗ {exercise.name}: {title}", *paragraphs, *(part for part in more if part)])


def wrap(text: str) -> str:
    """A paragraph, indented."""
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent="  ")


def passed(exercise: Any, inputs: list[tuple], remarks: list) -> str:
    """The one line for a right answer, and a remark on what would fail on a GPU."""
    verified = ["values and shapes", *(prop.name for prop in exercise.properties), "inputs left alone"]
    if exercise.gradients and any(tensor.is_floating_point() for tensor in values.tensors(inputs)):
        verified.append("gradients and dtype")
    if exercise.by_hand:
        verified.append("by hand")
    line = f"✓ {exercise.name} is right ({len(inputs)} inputs: {', '.join(verified)})."
    return "\n".join([line, *(wrap(f"Remark: {_complaint_text(exercise, remark)}") for remark in remarks)])


def not_callable(exercise: Any, answer: Any) -> str:
    text = GENERAL["not a function"].format(f"`check.{exercise.name}({exercise.name})`")
    return message(exercise, "not a function", f"{text} It was given: {values.kind(values.plain(answer))}.")


def other_parameters(exercise: Any, signature: inspect.Signature) -> str:
    text = GENERAL["other parameters"].format(f"({', '.join(exercise.parameters)})")
    return message(exercise, "other parameters", f"{text} Yours: {signature}.")


def unwritten(exercise: Any, failure: Failure | None) -> str:
    """For an exercise (or a function that it calls) that still raises NotImplementedError or is empty."""
    if failure is None:
        text = f"`{exercise.name}` does nothing yet and gives back None. Write it, down to its `return`"
    else:
        text = f"`{failure.function or exercise.name}` is not written yet. Write it"
    return message(exercise, "not written yet", f"{text}; run its cell, then run this cell again.")


def empty_body(answer: Callable) -> bool:
    """Whether a function's body is only `pass`, `...` or a docstring."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return getattr(answer, "empty", False)  # in another process, where it was looked at
    idle = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    instructions = list(dis.get_instructions(code))
    return (
        all(step.opname in idle for step in instructions)
        and instructions[-1].argval is None
        and all(step.argval is None for step in instructions if step.opname == "LOAD_CONST")
    )


def shown(exercise: Any, title: str, text: str, got: Run, expected: Run) -> str:
    """What is wrong with the values, with the smallest input that shows it."""
    return message(exercise, title, text, example(exercise, got, expected))


def side_effect(exercise: Any, first: Any, known: Any = None) -> str:
    """What is wrong beside the values: a known mistake, or what nobody listed for this exercise."""
    title, text = (known.name, known.message) if known else (first.kind, _complaint_text(exercise, first))
    return message(exercise, title, text, _seen(exercise, first))


def _complaint_text(exercise: Any, first: Any) -> str:
    where = f" ({first.note})" if first.note and first.kind == "another device" else ""
    general = DETAILS.get(first.detail, GENERAL[first.kind])
    general = general if exercise.gradients else general.replace(*NO_GRADIENTS)
    wanted = first.detail.split()[-1] if first.kind == "another dtype" and first.detail else ""
    text = {"bool": MASKS, "int64": WHOLE}.get(wanted, general)
    return text.format((first.detail or "the result") + where, _copy(exercise, first.got))


def _copy(exercise: Any, got: Run) -> str:
    """How to copy what was written into."""
    arg = got.args[got.changed[0]] if got.changed else None
    how = next((how for kind, how in COPIES if isinstance(arg, kind)), "")
    return f": {how}" if how else ""


def _seen(exercise: Any, first: Any) -> str:
    if first.kind in SHOWN:
        seen = inputs(exercise.parameters, first.got.args, exercise.parts)
        return f"\n  Seen with this input:\n{seen}{_afterwards(exercise, first.got)}"
    if first.note and first.kind != "another device":
        return wrap(f"torch says: {first.note}")
    return ""


def _afterwards(exercise: Any, got: Run) -> str:
    """What was written into, as it is now; of a tuple only the entries that changed."""
    names = [exercise.parameters[i] for i in got.changed]
    before = dict(opened(names, [got.args[i] for i in got.changed], exercise.parts))
    now = opened(names, [got.after[i] for i in got.changed], exercise.parts)
    new = [(name, item) for name, item in now if not values.same(*map(values.plain, (before.get(name), item)))]
    return "\n  and afterwards\n" + listing(*zip(*new, strict=True)) if new else ""


def general(exercise: Any, got: Run, expected: Run) -> tuple[str | None, str] | None:
    """Name and message of what is wrong before any number is compared; None when nothing is."""
    if got.failure is not None:
        return _failed(exercise, got, got.failure)
    name, detail = _elsewhere(got) or _misshapen(exercise, got.value, expected.value)
    if name is None and got.changed:
        name, detail = "changes its input", ", ".join(exercise.parameters[i] for i in got.changed)
    if name is None and values.finite(expected.value) and not values.finite(got.value):
        name, detail = "not a number", ""
    if name is None:
        return None
    text = GENERAL[name].format(detail, _copy(exercise, got))
    if name == "not a number" and not values.finite(expected.result):
        text = text.replace(*INFINITY_TOO)
    return name, shown(exercise, name, text, got, expected)


def _failed(exercise: Any, got: Run, failure: Failure) -> tuple[str | None, str]:
    if failure.timed_out:
        name = "runs without end"
        text = GENERAL[name].format(f"{sandbox.SECONDS:g}")
        return name, message(exercise, name, text, _where(failure), _called(exercise, got))
    name = type(failure.error).__name__
    error = f"{name}: {failure.text}"
    text = f"Your function stopped with {error}\n{meaning(error, failure.code or '')}".strip()
    return None, message(exercise, f"stopped with {name}", text, _where(failure), _inputs(exercise, got))


def _where(failure: Failure) -> str:
    if failure.line is None:
        return ""
    return f"  in {failure.function}, line {failure.line}" + (f": {failure.code}" if failure.code else "")


def _inputs(exercise: Any, got: Run) -> str:
    pairs = opened(exercise.parameters, got.args, exercise.parts)
    kinds = "\n".join(f"    {name}: {_kind_of(arg)}" for name, arg in pairs)
    return f"  It was called with\n{kinds}{_printed(got)}"


def _called(exercise: Any, got: Run) -> str:
    """What a function without end was called with: the numbers, where they are few."""
    if values.size(got.args) > READABLE:
        return _inputs(exercise, got)
    return f"  It was called with\n{inputs(exercise.parameters, got.args, exercise.parts)}{_printed(got)}"


def _kind_of(arg: Any) -> str:
    if isinstance(arg, (bool, int, float, str)):
        return repr(arg)
    if callable(arg):
        return repr(arg) if hasattr(arg, "transformed") else "a function"
    return values.kind(values.plain(arg))


def _elsewhere(got: Run) -> tuple[str, str] | None:
    found, _ = sandbox.guarded(lambda raw: {str(tensor.device) for tensor in values.tensors(raw)}, (got.raw,))
    places = sorted((found or set()) - {"cpu"})
    detail = f"the input is on the CPU, the result on {', '.join(places)}"
    return ("another device", detail) if places else None


def _misshapen(exercise: Any, got: Any, expected: Any) -> tuple[str | None, str]:
    if got is None:
        return "forgot return", ""
    if isinstance(expected, tuple):
        names = f": {', '.join(exercise.returns)}" if exercise.returns else ""
        wanted = f"the exercise wants {len(expected)}{names}"
        if isinstance(got, (dict, frozenset)):
            return "wrong type", f"{values.kind(got)}; {wanted}, side by side in a tuple"
        count = len(got) if isinstance(got, (tuple, list)) else 1
        if count != len(expected):
            name = "too few results" if count < len(expected) else "too many results"
            beside = "" if isinstance(got, (tuple, list)) else ", side by side in a tuple"
            return name, f"{values.kind(got)}; {wanted}{beside}"
    found = misbuilt(got, expected, exercise.returns)
    if found is None or found.kind == "shape":
        return None, ""
    return "wrong type", f"{found.text} (as `{found.part}`)" if found.part else found.text


def another_default(exercise: Any, name: str, got: Run, expected: Run) -> str:
    """A right answer, but for the value of an argument that was left out."""
    text = (
        f"Called without `{name}`, your function gives another result. Keep the default that the exercise gives, "
        f"`{name}={inspect.signature(exercise.reference).parameters[name].default!r}`."
    )
    return shown(exercise, "another default", text, got, expected)


def example(exercise: Any, got: Run, expected: Run) -> str:
    """The input, and expected beside got."""
    error = f"{type(got.failure.error).__name__}: {got.failure.text}" if got.failure is not None else ""
    if got.failure is not None and values.size(got.args) > READABLE:
        return f"\n  It stopped with {error}\n{_where(got.failure)}\n{_inputs(exercise, got)}"
    head = "\n  The smallest input that shows it:\n" + inputs(exercise.parameters, got.args, exercise.parts)
    if got.failure is not None:
        wanted = block("expected", expected.result, exercise.returns)
        return f"{head}\n\n{wanted}\n  got\n    {error}\n{_where(got.failure)}"
    return f"{head}\n\n{_results(exercise, got, expected)}{_printed(got)}"


def _results(exercise: Any, got: Run, expected: Run) -> str:
    """Expected beside got; where a result has parts with names, only those that differ."""
    if not exercise.parts:
        return beside(expected.result, got.result, exercise.returns)
    wanted = list(opened(exercise.returns, expected.result, exercise.parts))
    if structure(got.result, expected.result) is not None:
        mine = opened([f"[{i}]" for i in range(len(got.result))], got.result, {}) if _several(got.result) else ()
        return f"  expected\n{shapes(wanted)}\n  got\n{shapes(mine) or '    ' + values.kind(got.result)}"
    pairs = zip(wanted, opened(exercise.returns, got.result, exercise.parts), strict=True)
    named = [(name, part, mine) for (name, part), (_, mine) in pairs]
    wrong = [entry for entry in named if not values.same(entry[2], entry[1], exercise.tolerance)]
    return differing(wrong or named, [entry[0] for entry in named if entry not in wrong] if wrong else [])


def _several(value: Any) -> bool:
    return isinstance(value, (tuple, list))


def _printed(got: Run) -> str:
    lines = got.printed.strip().splitlines()
    shown = "\n".join(f"    {line}" for line in lines[:5]) + ("\n    …" if len(lines) > 5 else "")
    return f"\n  Your function printed\n{shown}" if lines else ""
