"""What goes wrong around the loop over layers in `path_length` (lab 7)."""

from __future__ import annotations

from ..engine.exercise import Mistake

_START = "looks, reached = mask.float(), mask\nlengths = torch.full_like(looks, float('inf'))\n"
_LOOK = "    reached = (reached.float() @ looks) > 0\n"
_WRITE = "    lengths = lengths.masked_fill(reached & lengths.isinf(), layers)\n"

NEXT_TO_THE_LOOP = [
    Mistake(
        "looked once more before you wrote",
        "You let `reached` make one look more before you wrote the number down. In round 1 it then holds chains of two "
        "looks. Write first, then look on.",
        f"{_START}for layers in range(1, len(mask) + 1):\n{_LOOK}{_WRITE}return lengths",
    ),
    Mistake(
        "looked once more before you wrote, and kept the old",
        "You let `reached` grow by one look before you wrote the number down. In round 1 it then holds chains of one "
        "and of two looks, and all of them get 1. Write first, then look on.",
        f"{_START}for layers in range(1, len(mask) + 1):\n{_LOOK.replace('= (', '= reached | (')}{_WRITE}"
        "return lengths",
    ),
    Mistake(
        "direct looks never written",
        "You began to write with chains of two looks. A direct look is a chain of one: where the mask is open the "
        "number is 1.",
        f"{_START}for layers in range(2, len(mask) + 2):\n{_LOOK}{_WRITE}return lengths",
    ),
    Mistake(
        "nothing written",
        "Your table is inf everywhere: no number was ever kept. masked_fill changes nothing by itself, it *returns* a "
        "new table: lengths = lengths.masked_fill(…).",
        "return torch.full_like(mask.float(), float('inf'))",
    ),
]
