"""What stands at the positions of a result: entries moved, cut off or repeated; zeros or an argument in their place."""

from collections.abc import Iterator
from itertools import combinations, product

import torch
from torch import Tensor

from .changes import ALONG
from .claims import NUMBERS, Case, Claim, becomes, close, equals, restores


def constants(case: Case) -> Iterator[Claim]:
    """Zeros, or one number everywhere."""
    yield Claim("nothing but zeros", "Your result holds nothing but zeros.", lambda case: not case.tensors[0].any())
    yield Claim(
        "the same number everywhere",
        "All numbers of your result are the same; the right ones are not.",
        lambda case: _level(case.tensors[0]) if case.tensors[0].numel() > 1 else None,
    )


def _level(tensor: Tensor) -> bool:
    return close(tensor, tensor.flatten()[:1])


FOUND = (
    ("mean", lambda x, a: x.mean(a)), ("sum", lambda x, a: x.sum(a)), ("maximum", lambda x, a: x.amax(a)),
    ("softmax", lambda x, a: x.softmax(a)), ("log-softmax", lambda x, a: x.log_softmax(a)),
    ("first entry", lambda x, a: x.select(a, 0)), ("last entry", lambda x, a: x.select(a, -1)),
)  # fmt: skip


def arguments(case: Case) -> Iterator[Claim]:
    """An argument given back as it came, or what one finds in it at once."""
    for i, name, arg in case.named():
        if isinstance(arg, (Tensor, int, float)):
            text = f"Your result is `{name}`, just as it was given to your function."
            yield equals("an argument given back", text, lambda case, i=i: case.args[i])
        axes = range(arg.dim()) if isinstance(arg, Tensor) and arg.is_floating_point() else ()
        for axis, (what, change) in product(axes, FOUND):
            yield equals(
                "found in one argument",
                f"Your result is the {what} of `{name}` along axis {axis}.",
                lambda case, i=i, a=axis, change=change: change(case.args[i], a),
            )


def moved(case: Case) -> Iterator[Claim]:
    """Rolled, flipped, sorted or summed up along one axis."""
    for axis, (kind, words, change) in product(range(case.tensors[1].dim()), ALONG):
        text = f"Your result is the right one, {words.format(axis)}."
        yield becomes(kind, text, lambda right, a=axis, change=change: change(right, a))


def slid(case: Case) -> Iterator[Claim]:
    """Moved by one along an axis, and something else put in at the end."""
    for axis in range(case.tensors[1].dim()):
        for ours, right, where in ((1, 0, "late"), (0, 1, "early")):
            text = f"Your result holds the right numbers one position too {where} along axis {axis}."
            yield Claim("shifted by one", text, lambda case, a=axis, o=ours, r=right: _overlap(case, a, o, r))


def _overlap(case: Case, axis: int, ours: int, right: int) -> bool | None:
    got, expected = case.tensors
    length = expected.shape[axis] - 1
    if got.shape != expected.shape or length < 2:
        return None
    left, wanted = got.narrow(axis, ours, length), expected.narrow(axis, right, length)
    if _level(wanted):
        return None if torch.equal(left, wanted) else False
    return close(left, wanted)


def cut(case: Case) -> Iterator[Claim]:
    """One entry too few or too many along an axis; an axis summed away; two batches crossed."""
    for axis in range(case.tensors[1].dim()):
        for start, which, where in ((1, "first", "before the first"), (0, "last", "after the last")):
            narrow = lambda x, a=axis, s=start: x.narrow(a, s, x.shape[a] - 1)  # noqa: E731
            text = f"Your result is right, but without the {which} entry along axis {axis}."
            yield becomes("one too few", text, narrow)
            text = f"Your result is right, but has one entry more {where} along axis {axis}."
            yield restores("one too many", text, narrow)
        for name, change in (("sum", torch.sum), ("mean", torch.mean), ("largest number", torch.amax)):
            text = f"Your result is the {name} of the right one over axis {axis}, which should stay."
            yield becomes("summed over an axis", text, lambda right, a=axis, change=change: change(right, dim=a))
    several = case.tensors[0].dim() > case.tensors[1].dim() == 0  # numbers, where one is wanted
    for name, change in (("sum", torch.sum), ("mean", torch.mean)) if several else ():
        text = f"The right result is the {name} of all numbers in yours: a single number is wanted."
        yield restores("one number is wanted", text, change, NUMBERS)
    for first, second in combinations(range(case.tensors[0].dim()), 2):
        text = (
            f"Your result has an axis too many: axes {first} and {second} both count the same thing, and the right "
            "numbers stand on their diagonal. Each row met every other row, where each should meet its own."
        )
        yield restores("each with every other", text, lambda got, pair=(first, second): _diagonal(got, *pair))


def _diagonal(got: Tensor, first: int, second: int) -> Tensor:
    if got.shape[first] != got.shape[second]:
        raise ValueError("no diagonal")
    return got.diagonal(dim1=first, dim2=second).movedim(-1, first)


MISLAID = (
    ("entries in other positions", "not all stand in their own positions"),
    ("too many entries", "there are more than there should be"),
    ("entries missing", "there are fewer than there should be"),
)


def mislaid(case: Case) -> Iterator[Claim]:
    """Right entries along an axis, but elsewhere."""
    for axis, (sign, (kind, what)) in product(range(case.tensors[1].dim()), enumerate(MISLAID)):
        text = f"Each entry of your result along axis {axis} is a right one (or nothing but zeros), but {what}."
        yield Claim(kind, text, lambda case, a=axis, s=sign: _elsewhere(case, a, s))


def _elsewhere(case: Case, axis: int, sign: int) -> bool | None:
    """As many entries as wanted (`sign` 0), more (1) or fewer (2), all of them right ones or zeros."""
    got, right = (tensor.movedim(axis, 0).flatten(1) for tensor in case.tensors)
    if (len(got) > len(right)) + 2 * (len(got) < len(right)) != sign:
        return False
    if right.shape[1] < 2 or len(right) < 2:
        return None
    alike = torch.isclose(got[:, None], right, rtol=1e-6, atol=1e-9).all(-1)  # (got's entries, right ones)
    if not sign and alike.diagonal().all():  # all stand where they should, and another axis is cut otherwise
        return False
    zeros = (got == 0).all(-1)
    return bool((alike.any(-1) | zeros).all()) and not zeros.all() and not (right == right[:1]).all()


def zeros(case: Case) -> Iterator[Claim]:
    """Nothing wrong but zeros, and numbers are wanted, not True."""
    if case.is_mask:
        return
    yield Claim(
        "0 where a number is wanted",
        "Wherever your result is wrong it is 0, and a number other than 0 is wanted there. Is a mask closed for too "
        "many positions, is something divided with `//`, is a power or an exponential so small that it is rounded to "
        "0, or does something stay unwritten?",
        _right_or_zero,
    )


def _right_or_zero(case: Case) -> bool:
    got, expected = case.tensors
    if got.shape != expected.shape:
        return False
    right = torch.isclose(got, expected, rtol=1e-6, atol=1e-9)
    return bool((right | (got == 0)).all()) and not right.all()  # errors below these digits are no zeros


def one_number(case: Case) -> Iterator[Claim]:
    """Another number in place of one, wherever this one is right: always the same, or an argument."""
    if case.is_mask:
        return
    got, expected = case.tensors
    wrong = got != expected
    (ours,), (right,) = got[wrong].unique().tolist(), expected[wrong].unique().tolist()
    same = [(f"{ours:g}", lambda case: ours)] if got.numel() > 1 else []
    given = [(f"`{name}`", lambda case, i=i: case.args[i]) for i, name, arg in case.named() if type(arg) is int]
    for words, number in (*given, *same):
        text = f"Your result is {words} wherever {right:g} is right; everywhere else it is right."
        yield Claim("one number for another", text, lambda case, n=number: _replaced(case, n(case), right))


def _replaced(case: Case, ours: float, right: float) -> bool:
    got, expected = case.tensors
    here = expected == right
    return bool(here.any() and (got[here] == ours).all()) and torch.equal(got[~here], expected[~here])


def repeated(case: Case) -> Iterator[Claim]:
    """One entry of an axis used for all. A few True or False are the same by chance."""
    for axis in range(case.tensors[1].dim()) if not case.is_mask else ():
        text = (
            f"All entries of your result along axis {axis} are the same; the right ones differ. "
            "One of them, or what they have in common, is used for all."
        )
        yield Claim("one row for all", text, lambda case, a=axis: _uniform(case, a))


def _uniform(case: Case, axis: int) -> bool | None:
    got, expected = case.tensors
    if got.shape != expected.shape or got.shape[axis] < 2:
        return None
    return [close(x, x.narrow(axis, 0, 1).expand_as(x)) for x in (got, expected)] == [True, False]


def reordered(case: Case) -> Iterator[Claim]:
    """The right numbers anywhere."""
    text = "Your result holds exactly the right numbers, but they stand in other positions."
    yield Claim("in another order", text, lambda case: len(case.different()) > 2 and _sorted_alike(case))


def _sorted_alike(case: Case) -> bool:
    left, right = (tensor.flatten().sort().values for tensor in case.tensors)
    return left.shape == right.shape and close(left, right)
