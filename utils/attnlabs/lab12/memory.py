"""Lab 12: what a layer keeps of the segments it has read."""

import torch

from misread.exercise import About

from .frugal import Detached


def segment_memory(states, memory, length):
    """The last length states of memory and segment, detached: (B, T, D), (B, M, D) or None ->
    (B, at most length, D)."""
    known = states if memory is None else torch.cat([memory, states], dim=1)  # (B, M + T, D)
    return known[:, max(known.shape[1] - length, 0) :].detach()  # (B, min(length, M + T), D)


def _segments(draw):
    batch, words, dim, kept = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 2, 1), draw.normal(1, 2, 1), 3
        yield draw.normal(1, 2, 1), None, 1
    states = draw.normal(batch, words, dim)
    yield states, draw.normal(batch, kept, dim), words + kept - 1  # the oldest state is dropped
    yield states, draw.normal(batch, kept, dim), words + kept + 2  # there is room for more
    yield states, draw.normal(batch, kept + 2, dim), max(words - 1, 1)  # less than one segment
    yield states, None, words + 3  # the first segment
    yield states, None, words - 1
    yield states, draw.normal(batch, kept, dim), words
    yield states, draw.normal(batch, kept, dim), 0  # no memory is wanted
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), 4  # all sizes the same
    yield draw.normal(2, 1, 3), draw.normal(2, 2, 3), 2  # one word


SEGMENT_MEMORY = Detached(
    segment_memory,
    cases=_segments,
    about=About(
        points=2,
        minutes=10,
        difficulty=2,
        read_again=("12_longer_text_evidence", "Segments with a memory: Transformer-XL"),
    ),
)

must = SEGMENT_MEMORY.properties
must(
    "the latest state is kept",
    lambda result, states, memory, length: length == 0 or torch.equal(result[:, -1], states[:, -1]),
).says("""
    The last state of the memory must be the last state of the segment, because it is the most recent one.""")

_KNOWN, _CAT = "states if memory is None else torch.cat([memory, states], dim=1)", "torch.cat([memory, states], dim=1)"
_LAST = "known[:, max(known.shape[1] - length, 0) :]"

LATER = f"known = {_CAT}\nreturn {_LAST}.detach()"

wrong = SEGMENT_MEMORY.mistakes
wrong("not detached", {".detach()": ""}).says("""
    Your memory still belongs to a graph of gradients, so a gradient would flow through all earlier segments, and
    their graphs would be kept. Detach the whole result, also where `memory` is None.""")
_ONE = "states if memory is None else"
wrong("the first segment not detached", {".detach()": "", _CAT: f"{_CAT}.detach()"}).says("""
    Where `memory` is None, your result still belongs to the graph of the gradients. The states of the first segment
    are the next memory, so they must be detached as well.""")
wrong("only the first segment detached", {".detach()": "", _ONE: "states.detach() if memory is None else"}).says("""
    Your result is detached only where `memory` is None. No gradient may flow into the memory in later segments either,
    so detach what you return in both cases.""")
wrong("the first segment not cut", f"if memory is None:\n    return states.detach()\n{LATER}").says("""
    Where `memory` is None you kept the whole segment. The first segment may be longer than `length` as well, so cut
    in both cases.""")
wrong("length 0 keeps everything", {_LAST: "known[:, -length:]"}).says("""
    For length 0 you kept all states. `[:, -0:]` is the same as `[:, 0:]`, so start the slice at max(number of states −
    length, 0).""")
wrong("negative start", {"max(known.shape[1] - length, 0)": "known.shape[1] - length"}).says("""
    Your slice starts at (number of states − length), which is negative where there are fewer states than `length`. A
    negative start counts from the end, so states are lost: use max(…, 0).""")
wrong("the old memory dropped", {_KNOWN: "states"}).says("""
    You kept states of the new segment only. The memory holds the last `length` states of the old memory and the
    segment together, so join them before you cut.""")
wrong("the oldest kept", {_LAST: "known[:, :length]"}).says("""
    You kept the first `length` states, which are the oldest. What comes next needs the most recent ones, so take the
    last `length` states.""")
wrong("segment before memory", {_CAT: "torch.cat([states, memory], dim=1)"}).says("""
    You put the segment before the old memory. The memory is older, so it comes first, and the order of the states is
    the order of the text.""")
wrong("joined along the batch", {_CAT: "torch.cat([memory, states], dim=0)"}).says("""
    You joined memory and segment along the batch, which is what `torch.cat` does when `dim` is left out. Time is axis
    1 of (B, T, D), so use dim=1.""")
wrong("joined along the features", {_CAT: "torch.cat([memory, states], dim=-1)"}).says("""
    You joined memory and segment along the features. Time is axis 1 of (B, T, D), so use dim=1.""")
wrong("cut along the batch", {_LAST: "known[max(known.shape[0] - length, 0) :]"}).says("""
    You cut along the batch, because the first axis of (B, T, D) is B. The states of a text lie along axis 1, so the
    slice begins with a colon: known[:, start:].""")
CUT_TOO_EARLY = {_CAT: "torch.cat([memory[:, max(memory.shape[1] - length, 0) :], states], dim=1)", _LAST: "known"}
wrong("cut the old memory, keep the whole segment", CUT_TOO_EARLY).says("""
    You cut the old memory to `length` and then added the whole segment, so the memory is too long. Join both first,
    and keep the last `length` states of the result.""")
NONE = """
if length == 0:
    return None
known = states if memory is None else torch.cat([memory, states], dim=1)
return known[:, -length:].detach()"""
wrong("None for length 0", NONE).says("""
    For length 0 you returned None. Here the memory is then a tensor without states, of the shape (B, 0, D), so that the
    caller needs no special case.""")
wrong("the first segment forgotten", {_KNOWN: _CAT}).says("""
    Your function stops at the first segment, where `memory` is None and cannot be joined to anything. In this case the
    states alone are all that is known.""")
