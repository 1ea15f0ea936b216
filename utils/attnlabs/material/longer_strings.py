"""Lab 17: strings to copy, short ones to train on and longer ones held out; in a small edition and in the record's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnbook.data.batching import Example, Task
from attnbook.data.symbols.algorithmic import copied_strings


@dataclass(frozen=True)
class Edition:
    """One task with its rules.

    Fields:
        trained: letters of the longest string that may be trained on.
        choosing: held-out lengths on which models may be compared while one is chosen.
        judged: held-out lengths that count, 1.5, 2, 3 and 4 times ``trained``.
        steps, batch: the budget of a training, and how many strings each step sees.
        data: further arguments of :func:`~attnbook.data.symbols.algorithmic.copied_strings`.
    """

    trained: int
    choosing: tuple[int, ...]
    judged: tuple[int, ...]
    steps: int
    batch: int
    data: dict = field(default_factory=dict)

    def task(self) -> Task:
        """The whole task, as the package makes and splits it."""
        first, *further = self.choosing  # in this order the strings of FULL are those of the record
        return copied_strings(longest=self.trained, longer=(first, *self.judged, *further), **self.data)


SMALL = Edition(
    trained=10,
    choosing=(12, 35),
    judged=(15, 20, 30, 40),
    steps=500,
    batch=32,
    data={"train": 8000, "validation": 50, "longer_per_size": 50, "seed": 17},
)
FULL = Edition(trained=20, choosing=(24, 70), judged=(30, 40, 60, 80), steps=2000, batch=64)


def string_pool(edition: Edition, seed: int = 0) -> tuple[list[Example], Tensor]:
    """All examples of an edition that are not kept for the test of trained lengths, short and long ones mixed.

    Returns:
        the examples, and how many letters each of them has, ``(N,)``.
    """
    task = edition.task()
    examples = [*task.train, *(example for group in task.longer.values() for example in group)]
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(seed)).tolist()
    mixed = [examples[i] for i in order]
    return mixed, torch.tensor([example.size for example in mixed])


def task_from_split(edition: Edition, pool: Sequence[Example], inside: Tensor, beyond: Tensor) -> Task:
    """The task in which the examples of the pool with indices ``inside`` are trained on, and ``beyond`` held out.

    Raises:
        ValueError: if something longer than ``edition.trained`` would be trained on, or part of the pool is missing.
    """
    train = [pool[i] for i in inside.tolist()]
    longest = max((example.size for example in train), default=0)
    if longest > edition.trained:
        raise ValueError(f"a string of {longest} letters is among those to train on; at most {edition.trained} may be")
    if len(train) + len(beyond) != len(pool):
        raise ValueError(f"{len(train)} and {len(beyond)} examples are not the {len(pool)} of the pool")
    longer: dict[int, list[Example]] = {}
    for i in beyond.tolist():
        longer.setdefault(pool[i].size, []).append(pool[i])
    return replace(edition.task(), train=train, longer={size: longer[size] for size in sorted(longer)})
