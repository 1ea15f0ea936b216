"""The right numbers in the wrong positions: axes exchanged, folded, rolled, cut, repeated."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

import torch
from torch import Tensor

from .changes import ALONG, RECUT, recut
from .claims import NUMBERS, Case, Claim, becomes, equals, restores


def constants(case: Case) -> Iterator[Claim]:
    """Zeros, or one number everywhere."""
    yield Claim("nothing but zeros", "Your result holds nothing but zeros.", lambda case: not case.tensors[0].any())
    yield Claim(
        "the same number everywhere",
        "All numbers of your result are the same; the right ones are not.",
        lambda case: _level(case.tensors[0]) if case.tensors[0].numel() > 1 else None,
    )


def _level(tensor: Tensor) -> bool:
    return _close(tensor, tensor.flatten()[:1])


def _close(first: Tensor, second: Tensor) -> bool:
    return torch.allclose(first, second, rtol=1e-6, atol=1e-9, equal_nan=True)


FOUND = (
    ("mean", lambda x, a: x.mean(a)), ("sum", lambda x, a: x.sum(a)), ("maximum", lambda x, a: x.amax(a)),
    ("softmax", lambda x, a: x.softmax(a)), ("log-softmax", lambda x, a: x.log_softmax(a)),
    ("first entry", lambda x, a: x.select(a, 0)), ("last entry", lambda x, a: x.select(a, -1)),
)  # fmt: skip


HALVES = (
    ("exchanged", lambda two, a: torch.cat([two[1], two[0]], a)),
    ("added", lambda two, a: two[0] + two[1]),
    ("averaged", lambda two, a: (two[0] + two[1]) / 2),
    ("mixed, one number of each by turns,", lambda two, a: torch.stack(two, a + 1).flatten(a, a + 1)),
)


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


def folded(case: Case) -> Iterator[Claim]:
    """The right numbers in the right order, in another shape."""
    got, expected = case.tensors
    if got.shape == expected.shape:
        return
    many = got.dim() > expected.dim()
    if got.dim() == expected.dim():
        kind = "axes of other lengths"
        what = "axes of other lengths. Is the order of the sizes right where you give the shape (`reshape`, `view`)?"
    elif [size for size in got.shape if size != 1] != [size for size in expected.shape if size != 1]:
        kind = "axes folded"
        what = "axes apart that belong together" if many else "axes in one that should stay apart"
    elif many:
        kind, what = "an axis of size 1", "an axis of size 1 too many: take it away with indexing or `squeeze(dim)`"
    else:
        kind = "an axis of size 1"
        what = (
            "an axis of size 1 too few. A `squeeze()` without an axis takes away each axis of size 1, a batch of one "
            "sentence too; `keepdim=True` keeps an axis, and `None` in an index puts one in"
        )
    text = f"Your result holds the right numbers in the right order, but it has {what}"
    yield Claim(kind, text if text.endswith("?") else f"{text}.", _refolded)


def _refolded(case: Case) -> bool:
    got, expected = case.tensors
    return got.shape != expected.shape and got.numel() == expected.numel() and case.is_(expected.reshape(got.shape))


def permuted(case: Case) -> Iterator[Claim]:
    """The axes in another order."""
    rank = case.tensors[1].dim()
    for order in permutations(range(rank)) if 2 <= rank <= 4 else ():
        moved = [axis for axis in range(rank) if order[axis] != axis]
        what = f"axes {moved[0]} and {moved[1]} are exchanged" if len(moved) == 2 else f"its axes stand as {order}"
        if moved:
            text = f"Your result holds the right numbers, but {what}. Exchange them back (`transpose`, `permute`)."
            exchanged = becomes("axes permuted", text, lambda right, order=order: right.permute(order))
            yield replace(exchanged, fits=lambda case, order=order: _symmetric(case.tensors[1], order))
            text = (
                f"Your result holds the right numbers, read off while {what}, and then cut into the shape that "
                "it has. `reshape` and `view` don't exchange axes: `transpose` or `permute` does."
            )
            poured = Claim("reshaped, not transposed", text, lambda case, order=order: _poured(case, order))
            yield replace(poured, fits=lambda case, order=order: _symmetric(case.tensors[1], order))
    for axis in range(rank - 1):
        text = (
            f"Your result holds the right numbers, {RECUT.format(axis, axis + 1)}. The sizes that you give `reshape` "
            "or `view` must stand in the order of the axes."
        )
        claim = becomes("axes cut in the wrong order", text, lambda right, a=axis: recut(right, a))
        yield replace(claim, fits=lambda case, a=axis: _close(recut(case.tensors[1], a), case.tensors[1]))


def _symmetric(right: Tensor, order: tuple[int, ...]) -> bool:
    """Whether nobody could see that the axes were exchanged."""
    return _close(right.permute(order).reshape(right.shape), right)


def _poured(case: Case, order: tuple[int, ...]) -> bool:
    got, expected = case.tensors
    return got.numel() == expected.numel() and case.is_(expected.permute(order).reshape(got.shape))


def poured(case: Case) -> Iterator[Claim]:
    """The numbers of one argument, cut into another shape."""
    for i, name, arg in case.named():
        rank = arg.dim() if isinstance(arg, Tensor) and arg.is_floating_point() else 0
        for order in permutations(range(rank)) if 2 <= rank <= 4 else ():
            read = "in their own order" if order == (*range(rank),) else f"read with its axes in the order {order}"
            text = (
                f"Your result holds the numbers of `{name}`, {read}, and cut into the shape of your result. "
                "`reshape`, `view` and `flatten` join axes or cut them, but they never exchange them."
            )
            wanted = lambda case, i=i, o=order: case.args[i].permute(o).reshape(case.got.shape)  # noqa: E731
            yield equals("an argument reshaped", text, wanted)


def halves(case: Case) -> Iterator[Claim]:
    """What is laid side by side along an axis: added, in the other order, by turns, along another axis."""
    rank = case.tensors[1].dim()
    for axis in reversed(range(rank)):
        for words, change in HALVES:
            text = f"The two halves of the right result along axis {axis} are {words} in yours."
            yield becomes(
                "halves joined otherwise", text, lambda right, a=axis, change=change: change(_cut(right, a), a)
            )
        for other in (other for other in range(rank) if other != axis):
            text = f"The two halves of your result stand side by side along axis {other}; wanted is axis {axis}."
            yield becomes(
                "halves joined otherwise", text, lambda right, a=axis, o=other: torch.cat(list(_cut(right, a)), o)
            )


def _cut(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Two halves. Raises ValueError where there are none."""
    first, second = tensor.tensor_split(2, axis)
    if first.shape != second.shape:
        raise ValueError("no halves")
    return first, second


def mislaid(case: Case) -> Iterator[Claim]:
    """Right entries along an axis, but elsewhere."""
    for axis in range(case.tensors[1].dim()):
        for kind, what in (
            ("entries in other positions", "not all stand in their own positions"),
            ("entries missing", "there are fewer than there should be"),
            ("too many entries", "there are more than there should be"),
        ):
            text = f"Each entry of your result along axis {axis} is a right one (or nothing but zeros), but {what}."
            sign = ("entries in other positions", "too many entries", "entries missing").index(kind)
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


def _right_or_zero(case: Case) -> bool:
    got, expected = case.tensors
    return got.shape == expected.shape and bool((torch.isclose(got, expected, rtol=1e-6, atol=1e-9) | (got == 0)).all())


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
    return _close(left, wanted)


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
    for name, change in (("sum", torch.sum), ("mean", torch.mean)) if not case.tensors[1].dim() else ():
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
    return [_close(x, x.narrow(axis, 0, 1).expand_as(x)) for x in (got, expected)] == [True, False]


def reordered(case: Case) -> Iterator[Claim]:
    """The right numbers anywhere."""
    text = "Your result holds exactly the right numbers, but they stand in other positions."
    yield Claim("in another order", text, lambda case: len(case.different()) > 2 and _sorted_alike(case))


def _sorted_alike(case: Case) -> bool:
    left, right = (tensor.flatten().sort().values for tensor in case.tensors)
    return left.shape == right.shape and _close(left, right)
