"""Drawing training, validation and test examples so that none is in two of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import torch

Draw = Callable[[int, int], Iterable[Any]]  # (size, how many) -> that many things of that size


class MadeWhenRead(Sequence):
    """Things made of others when the first is asked for, all at once; how many there are is known before.

    A notebook that only tests a trained model never makes the 40,000 training examples of its task.
    """

    def __init__(self, make: Callable[[Any], Any], of: Sequence) -> None:
        self.make, self.of = make, of

    @cached_property
    def made(self) -> list:
        """All of them."""
        return [self.make(thing) for thing in self.of]

    def __len__(self) -> int:
        return len(self.of)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list: ...
    def __getitem__(self, index):
        return self.made[index]

    def __iter__(self) -> Iterator:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, MadeWhenRead) else other)


class Splits(NamedTuple):
    """What was drawn, still as raw things (lists of numbers, strings): {size: things} in `longer`."""

    train: list
    validation: list
    test: list
    longer: dict[int, list]

    def examples(self, make: Callable[[Any], Any]) -> tuple[Sequence, list, list, dict[int, list]]:
        """The same with an example made of each thing; those for training only when they are read."""
        validation, test = ([make(thing) for thing in part] for part in (self.validation, self.test))
        longer = {size: [make(thing) for thing in things] for size, things in self.longer.items()}
        return MadeWhenRead(make, self.train), validation, test, longer


def share(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide a total among the sizes as evenly as it goes.

    >>> share(500, [1, 2, 3])
    [167, 167, 166]
    """
    each, rest = divmod(total, len(sizes))
    return [each + (place < rest) for place in range(len(sizes))]


def draw_apart(draw: Draw, size: int, count: int, taken: Collection, repeat: bool = False) -> list:
    """Draw `count` things of a size, none of them in `taken`, and no two the same unless `repeat`."""
    found: list = []
    seen = set(taken)
    while len(found) < count:
        for thing in draw(size, count - len(found)):
            if thing not in seen:
                found.append(thing)
                if not repeat:
                    seen.add(thing)
    return found


def split_by_size(
    draw: Draw,
    space: Callable[[int], int],
    sizes: Sequence[int],
    longer: Sequence[int],
    counts: tuple[int, int, int, int],
    generator: torch.Generator,
) -> Splits:
    """Draw every size equally often. `counts`: train in all, validation in all, test a size, longer a size.

    `space(size)` says how many different things of a size there are. Where they are few, at most a tenth is
    kept for the test and a twentieth for validation, and training meets the others again and again.
    Raises ValueError if a size of `longer` is among the trained ones, or a count is negative.
    """
    _check(sizes, longer, counts)
    parts: tuple[list, list, list] = ([], [], [])
    shares = zip(sizes, share(counts[0], sizes), share(counts[1], sizes), strict=True)
    for size, train, validation in shares:
        test = draw_apart(draw, size, min(counts[2], space(size) // 10), ())
        held = draw_apart(draw, size, min(validation, space(size) // 20), test)
        shown = draw_apart(draw, size, train, {*test, *held}, repeat=True)
        for part, things in zip(parts, (shown, held, test), strict=True):
            part.extend(things)
    shuffled = [[part[i] for i in torch.randperm(len(part), generator=generator).tolist()] for part in parts]
    held_out = {size: draw_apart(draw, size, min(counts[3], space(size)), ()) for size in longer}
    return Splits(shuffled[0], shuffled[1], shuffled[2], held_out)


def _check(sizes: Sequence[int], longer: Sequence[int], counts: Sequence[int]) -> None:
    if not sizes:
        raise ValueError("there is no size to train on; longest must be at least as large as shortest")
    both = sorted({*sizes} & {*longer})
    if both:
        raise ValueError(f"longer holds {both}; sizes {min(sizes)} to {max(sizes)} are trained, take others")
    if min(counts) < 0:
        raise ValueError(f"counts of examples are {tuple(counts)}; none may be negative")
