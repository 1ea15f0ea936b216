"""Lab 17: beyond the trained lengths. First, which examples may be trained on, and which are held out."""

import torch
from torch import Tensor

from misread.exercise import About, Exercise


def length_split(lengths, longest):
    """Indices of the examples to train on and of those beyond: lengths (N,) -> two tensors of whole numbers."""
    short = lengths <= longest  # (N,)
    return short.nonzero()[:, 0], (~short).nonzero()[:, 0]


def _data_sets(draw):
    count, longest = draw.sizes(2, low=4)
    if draw.compact:
        yield draw.integers(longest - 1, longest + 2, 3), longest
    both = torch.tensor([longest - 2, longest - 1, longest, longest, longest + 1, longest + 2, 3 * longest])
    yield both[draw.order(len(both))], longest  # the limit itself occurs twice, both neighbours of it as well
    yield 10 + draw.integers(1, 30, count + 4), 10 + 3 * longest  # lengths that are larger than all indices
    yield torch.cat([draw.integers(2, longest, count), torch.tensor([longest + 1])]).flip(0), longest  # one is long
    yield draw.integers(2, longest, count), longest  # none is
    yield draw.integers(longest + 1, 2 * longest, count), longest  # all are
    yield torch.tensor([longest]), longest  # one example
    yield torch.tensor([longest + 3, longest + 1, longest, 2, 1]), longest  # the longest first
    yield torch.tensor([longest - 1, longest + 1, longest + 3]), longest  # the limit doesn't occur
    yield draw.integers(1, 80, 60), 20


def _in_any_order(result, *args):
    """Indices in ascending order, int32 as int64; anything else as it came."""
    if not isinstance(result, (tuple, list)):
        return result
    return tuple(_sorted(part) if isinstance(part, Tensor) else part for part in result)


def _sorted(part):
    part = part.long() if part.dtype == torch.int32 else part  # torch takes both as indices
    return part.sort().values if part.dim() == 1 and part.dtype != torch.bool else part


def _indices(parts, lengths):
    """Both parts in one row, where they can be indices."""
    return torch.cat([part.flatten().long() for part in parts]).sort().values


LENGTH_SPLIT = Exercise(
    length_split,
    cases=_data_sets,
    returns=("inside", "beyond"),
    canonical=_in_any_order,
    gradients=False,
    about=About(
        points=1, minutes=6, difficulty=1, read_again=("17_beyond_lengths_evidence", "Ten models with an encoder")
    ),
)

must = LENGTH_SPLIT.properties
must(
    "each example is in one of the two parts",
    lambda result, lengths, longest: torch.equal(_indices(result, lengths), torch.arange(len(lengths))),
).says("""
    Each index from 0 to N − 1 must stand in one of the two parts, and in one only.""")
must(
    "no long example is trained on", lambda result, lengths, longest: (lengths[result[0].long()] <= longest).all()
).says("""
    `inside` must hold only examples whose length is at most `longest`.""")

wrong = LENGTH_SPLIT.mistakes
wrong("the longest trained length held out", {"<=": "<"}).says("""
    You put examples of exactly the length `longest` into `beyond`. The limit itself is trained on: a length n belongs
    to `inside` if n ≤ longest.""")
OVERLAP = "return (lengths <= longest).nonzero()[:, 0], (lengths >= longest).nonzero()[:, 0]"
wrong("the limit in both parts", OVERLAP).says("""
    Examples of exactly the length `longest` stand in both of your parts: they would be trained on and then counted as
    evidence for longer ones. Use ≤ for `inside` and > for `beyond`.""")
GAP = "return (lengths < longest).nonzero()[:, 0], (lengths > longest).nonzero()[:, 0]"
wrong("the limit in neither part", GAP).says("""
    Examples of exactly the length `longest` stand in neither of your parts. Nothing may be dropped: use ≤ for `inside`
    and > for `beyond`.""")
wrong("masks, not indices", "return lengths <= longest, lengths > longest").says("""
    You returned two boolean masks. The right examples are marked, but wanted are their *indices*:
    mask.nonzero().flatten().""")
wrong("lengths, not indices", "return lengths[lengths <= longest], lengths[lengths > longest]").says("""
    You returned the lengths of the examples. Wanted is where these examples stand, their indices:
    (lengths <= longest).nonzero().flatten().""")
wrong("torch.where's tuple", "return torch.where(lengths <= longest), torch.where(lengths > longest)").says("""
    `torch.where` with one argument returns a tuple with one tensor per axis, so you returned a tuple of tuples. Take
    the first of each: torch.where(…)[0].""")
SORTED = "short = lengths.sort().values <= longest\nreturn short.nonzero()[:, 0], (~short).nonzero()[:, 0]"
wrong("indices into the sorted lengths", SORTED).says("""
    Your indices count as if the examples stood in the order of their lengths, the short ones first. Either you sorted
    the lengths, or you only counted the short ones. Compare the lengths as they come, or look the order up with
    argsort.""")
BY_CHANCE = """
order, count = torch.randperm(len(lengths)), int((lengths <= longest).sum())
return order[:count], order[count:]"""
wrong("split by chance", BY_CHANCE).says("""
    Your parts have the right sizes, but chance decides which examples stand in them. Each example's own length decides:
    at most `longest` is `inside`, and all others are `beyond`.""")
wrong(
    "the first `longest` examples", "return torch.arange(len(lengths))[:longest], torch.arange(len(lengths))[longest:]"
).says("""
    You took the first `longest` examples, whatever their length. `longest` is a length: compare it with `lengths`.""")
EMPTY_FLOAT = """
inside = torch.tensor([i for i, n in enumerate(lengths.tolist()) if n <= longest])
return inside, torch.tensor([i for i, n in enumerate(lengths.tolist()) if n > longest])"""
wrong("floats instead of indices", EMPTY_FLOAT).says("""
    The numbers are right, but at least one of your tensors holds floats, which cannot index anything. An empty list
    gives floats, too: `torch.tensor([])`. Say dtype=torch.long.""")
