"""The last two tasks of the neural Turing machine's paper: sort by priority, and learn a table by counting."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.data.symbols.algorithmic import BitBatch
from attnbook.seeding import generator


def priority_sort_batch(length: int, count: int, seed: int = 0, wanted: int | None = None, bits: int = 8) -> BitBatch:
    """Random vectors, each with a priority; those of the highest priorities are wanted, the highest first.

    Args:
        length: vectors, L; count: sequences, B; seed; bits: of a vector.
        wanted: how many are to be answered, W; ``None``: four of five, as in the paper, and at least 1.

    Returns:
        inputs ``(B, L + 1 + W, bits + 2)``: vector, priority from −1 to 1, and a delimiter after the last vector;
        target ``(B, L + 1 + W, bits)``, of which the last W steps are asked.

    Raises:
        ValueError: if ``length``, ``count`` or ``bits`` is below 1, or ``wanted`` not from 1 to ``length``.

    Source: Graves et al. 2014, section 4.5 (20 vectors, of which 16 are wanted).
    """
    if min(length, count, bits) < 1:
        raise ValueError(f"length, count and bits must be at least 1, got {length}, {count} and {bits}")
    wanted = max(1, length * 4 // 5) if wanted is None else wanted
    if not 1 <= wanted <= length:
        raise ValueError(f"wanted must be from 1 to length, {length}, got {wanted}")
    source = generator(seed)
    vectors = torch.randint(2, (count, length, bits), generator=source).float()
    priority = 2 * torch.rand(count, length, generator=source) - 1  # (B, L)
    first = priority.argsort(dim=1, descending=True)[:, :wanted]  # (B, W)
    inputs = torch.zeros(count, length + 1 + wanted, bits + 2)
    inputs[:, :length] = torch.cat([vectors, priority[..., None], torch.zeros(count, length, 1)], dim=-1)
    inputs[:, length, bits + 1] = 1.0
    answer = vectors.gather(1, first[..., None].expand(-1, -1, bits))  # (B, W, bits)
    mask = (torch.arange(inputs.shape[1]) > length).expand(count, -1)  # (T,) -> (B, T)
    return BitBatch(inputs, F.pad(answer, (0, 0, length + 1, 0)), mask)


def dynamic_ngram_batch(count: int, seed: int = 0, length: int = 200, order: int = 6) -> BitBatch:
    """Bits that follow a table of probabilities, another one for each sequence; each time the next bit is wanted.

    The table says for each context, the ``order − 1`` bits before, how probable a 1 is; these probabilities come from
    Beta(½, ½), so that many are near 0 or 1. The first ``order − 1`` bits are tossed with a fair coin.

    Args:
        count: sequences, B; seed; length: bits of a sequence, L; order: of the n-grams.

    Returns:
        inputs ``(B, L − 1, 1)``, the bits but the last; target ``(B, L − 1, 1)``, the bit that follows each; asked are
        the bits that follow a whole context.

    Raises:
        ValueError: if ``count`` is below 1, ``order`` below 2, or ``length`` not above ``order``.

    Source: Graves et al. 2014, section 4.4 (200 bits, 6-grams).
    """
    if count < 1 or not 2 <= order < length:
        raise ValueError(f"want count ≥ 1 and 2 ≤ order < length, got count {count}, order {order}, length {length}")
    source, context = generator(seed), order - 1
    uniform = torch.rand(count, 2**context, generator=source)
    table = (uniform * math.pi / 2).sin().square()  # Beta(1/2, 1/2), whose distribution function is 2/π · arcsin √p
    said = torch.zeros(count, length, dtype=torch.long)
    said[:, :context] = torch.randint(2, (count, context), generator=source)
    coins = torch.rand(count, length, generator=source)
    for t in range(context, length):
        probability = table.gather(1, _number(said[:, t - context : t])[:, None])  # (B, 1)
        said[:, t] = (coins[:, t] < probability[:, 0]).long()
    sequence = said.float()[..., None]  # (B, L, 1)
    mask = (torch.arange(length - 1) >= context - 1).expand(count, -1)
    return BitBatch(sequence[:, :-1], sequence[:, 1:], mask)


def best_ngram_guess(batch: BitBatch, order: int = 6) -> Tensor:
    """How probable a 1 is next, for one who knows how the sequences came about but not their tables: ``(B, L − 1, 1)``.

    It counts, N₁ ones and N₀ zeros that came after the same context so far, and says (N₁ + ½) / (N₁ + N₀ + 1). Before
    there is a whole context it says ½. No one can have a smaller cross-entropy in the long run.

    Source: Graves et al. 2014, equation 10.
    """
    bits = torch.cat([batch.inputs[:, :1, 0], batch.target[..., 0]], dim=1).long()  # (B, L)
    context = order - 1
    counts = torch.zeros(len(bits), 2**context, 2)
    guesses = torch.full(batch.target.shape, 0.5)
    rows = torch.arange(len(bits))
    for t in range(context, bits.shape[1]):
        now = _number(bits[:, t - context : t])
        zeros, ones = counts[rows, now].unbind(dim=1)
        guesses[:, t - 1, 0] = (ones + 0.5) / (ones + zeros + 1)
        counts[rows, now, bits[:, t]] += 1
    return guesses


def _number(context: Tensor) -> Tensor:
    """The number ``(B,)`` whose binary digits are ``context (B, order − 1)``."""
    return (context * 2 ** torch.arange(context.shape[1])).sum(dim=1)
