"""What goes wrong around the loop over layers in `path_length` (lab 7)."""

from __future__ import annotations

from ..engine.exercise import Mistakes

_START = "looks, reached = mask.float(), mask\nlengths = torch.full_like(looks, float('inf'))\n"
_LOOK = "    reached = (reached.float() @ looks) > 0\n"
_WRITE = "    lengths = lengths.masked_fill(reached & lengths.isinf(), layers)\n"

wrong = NEXT_TO_THE_LOOP = Mistakes()
wrong(
    "looked once more before you wrote",
    f"{_START}for layers in range(1, len(mask) + 1):\n{_LOOK}{_WRITE}return lengths",
).says("""
    You let `reached` make one look more before you wrote the number down. In round 1 it then holds chains of two
    looks. Write first, then look on.""")
wrong(
    "looked once more before you wrote, and kept the old",
    f"{_START}for layers in range(1, len(mask) + 1):\n{_LOOK.replace('= (', '= reached | (')}{_WRITE}return lengths",
).says("""
    You let `reached` grow by one look before you wrote the number down. In round 1 it then holds chains of one and of
    two looks, and all of them get 1. Write first, then look on.""")
wrong(
    "direct looks never written", f"{_START}for layers in range(2, len(mask) + 2):\n{_LOOK}{_WRITE}return lengths"
).says("""
    You began to write with chains of two looks. A direct look is a chain of one: where the mask is open the number is
    1.""")
wrong("nothing written", "return torch.full_like(mask.float(), float('inf'))").says("""
    Your table is inf everywhere: no number was ever kept. masked_fill changes nothing by itself, it *returns* a new
    table: lengths = lengths.masked_fill(…).""")
