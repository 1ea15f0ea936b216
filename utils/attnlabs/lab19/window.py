"""Lab 19: a causal window that keeps the first positions open."""

import torch

from misread.exercise import About, Exercise


def window_with_sinks(length, window, sinks):
    """Attend to the last `window` positions, itself included, and to the first `sinks`: -> bool (T, T)."""
    positions = torch.arange(length)  # (T,)
    back = positions[:, None] - positions  # (T, T): query − key
    near = back < window
    first = positions < sinks  # (T,)
    return (near | first) & (back >= 0)


def _masks(draw):
    length = draw.integer(6, 9)
    yield 6, 2, 1
    yield length, 3, 2
    yield length, 2, 0  # no sinks: a window alone
    yield length, 1, 1  # itself and the first
    yield 5, 1, 0  # itself alone
    yield 5, 9, 1  # a window wider than the text
    yield 6, 2, 8  # more sinks than positions: everything earlier is open
    yield 4, 2, 4
    yield 6, 2, 4  # more sinks than the window is wide: few enough to be written out
    yield 9, 2, 5
    yield 7, 3, 3
    yield 1, 1, 1
    yield 1, 3, 0
    yield 12 + draw.number, 2, draw.integer(1, 4)  # a window that is wider by some positions still ends
    yield 20, 3, 1
    yield 60 + draw.number, draw.integer(4, 9), 4
    if draw.number == 1:
        yield 300, 20, 4  # more positions than a byte counts


WINDOW_WITH_SINKS = Exercise(
    window_with_sinks,
    cases=_masks,
    about=About(points=2, minutes=12, difficulty=2, read_again=("19_real_model_evidence", "Attention sinks")),
)


def _in_window(length, window):
    return torch.ones(length, length).tril().triu(1 - window).bool()


must = WINDOW_WITH_SINKS.properties
must("nothing of the future", lambda result, *args: not result.triu(1).any()).says("""
    No position may attend to a later one, not even to a sink. Everything above the diagonal must be False.""")
must("each position attends to itself", lambda result, *args: bool(result.diagonal().all())).says("""
    Each position belongs to its own window, so the diagonal must be True.""")
must(
    "every position attends to the sinks before it",
    lambda result, length, window, sinks: bool(
        (result[:, :sinks] | ~torch.ones(length, length).tril().bool()[:, :sinks]).all()
    ),
).says("""
    Each position may attend to all of the first `sinks` positions that are not later than itself.""")
must(
    "every position attends to its whole window",
    lambda result, length, window, sinks: bool(result[_in_window(length, window)].all()),
).says("""
    Each position may attend to all positions of its window: itself and the window − 1 positions before it, as far
    as there are so many. The window moves by one with each position.""")
must(
    "nothing else is open",
    lambda result, length, window, sinks: not result[:, sinks:][~_in_window(length, window)[:, sinks:]].any(),
).says("""
    A position that lies before the window and is none of the first `sinks` must be closed.""")

_NEAR, _FIRST, _PAST = "back < window", "positions < sinks", "& (back >= 0)"
_ALL = "(near | first) & (back >= 0)"

wrong = WINDOW_WITH_SINKS.mistakes
wrong("a window of one more", {_NEAR: "back <= window"}).says("""
    Your window has one position too many. It holds `window` positions *with* the position itself, so the distance
    back is at most window − 1.""")
wrong("a window of one less", {_NEAR: "(back < window - 1) | (back == 0)"}).says("""
    Your window has one position too few. It holds `window` positions, and the position itself is one of them, so
    the distance back is at most window − 1.""")
wrong("a window of one less, even without itself", {_NEAR: "back < window - 1"}).says("""
    Your window has one position too few, so that a window of 1 leaves not even the position itself open. It holds
    `window` positions, and the position itself is one of them: back < window.""")
wrong("itself not counted or open", {_NEAR: "(back <= window) & (back > 0)"}).says("""
    In your mask a position cannot attend to itself, and the window lies before it. The position itself is the
    last of the `window` positions.""")
wrong("later sinks open", {_ALL: "near & (back >= 0) | first"}).says("""
    In your mask early positions attend to sinks that come after them. The mask must stay causal: no key may be
    later than its query, not even a sink. Let back >= 0 hold for both, the window and the sinks.""")
wrong(
    "a window to both sides, with causal sinks", {_NEAR: "back.abs() < window", _ALL: "near | first & (back >= 0)"}
).says("""
    Your sinks are causal, but your window opens positions on both sides. No key may be later than its query, so
    back >= 0 must hold for the window as well.""")
wrong("a window to both sides", {_NEAR: "back.abs() < window", f" {_PAST}": ""}).says("""
    Your mask opens positions of the future. A language model predicts them, so no key may be later than its
    query.""")
wrong("a window that begins behind the end", "\n".join([
    "mask = torch.zeros(length, length).bool()",
    "for i in range(length):",
    "    for j in range(i - window + 1, i + 1):",
    "        mask[i, j] = True",
    "    mask[i, : min(sinks, i + 1)] = True",
    "return mask",
])).says("""
    The window of an early position begins before position 0 in your loop. Python counts a negative index from
    the end, so these rows open the *last* positions of the text. Begin at max(0, i − window + 1).""")  # fmt: skip
wrong("an empty window for early positions", "\n".join([
    "mask = torch.zeros(length, length).bool()",
    "for i in range(length):",
    "    mask[i, i - window + 1 : i + 1] = True",
    "    mask[i, : min(sinks, i + 1)] = True",
    "return mask",
])).says("""
    The slice of an early position's window begins before position 0. Python counts a negative begin from the end,
    so the slice is empty or too short, and these positions do not even attend to themselves. Begin at
    max(0, i − window + 1).""")  # fmt: skip
wrong("a window that is rolled round", "\n".join([
    "row = torch.arange(length) < window",
    "mask = torch.stack([row.roll(i - window + 1) for i in range(length)])",
    "return mask | (torch.arange(length) < sinks) & torch.ones(length, length).tril().bool()",
])).says("""
    You made the windows by rolling one row. `roll` brings in again at the end what it pushes out in front, so
    early positions attend to the last positions of the text. Nothing of the future may be open: ask in addition
    for query − key >= 0.""")  # fmt: skip
wrong("future instead of past", {"positions[:, None] - positions ": "positions - positions[:, None] "}).says("""
    You subtracted the query from the key, so that your mask opens later positions. Rows are queries, columns are
    keys, and the distance back is query − key.""")
wrong("sinks ignored", {"near | first": "near"}).says("""
    Your mask is a window alone. The first `sinks` positions must stay open for all later positions as well.""")
wrong("window ignored", {"near | first": "near | True"}).says("""
    Your mask is causal and has no window. A position between the sinks and the window must be closed.""")
wrong("and, not or", {"near | first": "near & first"}).says("""
    Your mask asks for both, in the window *and* among the sinks. One of the two is enough: use `|`.""")
wrong("either, but not both", {"near | first": "near ^ first"}).says("""
    In your mask a sink within the window is closed, because ^ asks for exactly one of the two conditions. One of
    them is enough, and both are as good: use `|`.""")
wrong("blocks instead of a window", {_NEAR: "positions[:, None] // window == positions // window"}).says("""
    You cut the text into blocks of `window` positions, and each position attends within its own block. The window
    moves by one with each position: it always holds the last `window` positions.""")
wrong("at least one sink", {_FIRST: "positions < max(sinks, 1)"}).says("""
    You opened position 0 also where `sinks` is 0. Then there is no sink, and the mask is a window alone.""")
wrong(
    "sinks only behind their own window", {"near | first": "near | first & (positions[:, None] >= window + sinks)"}
).says("""
    In your mask the sinks open only from position window + sinks on. The positions before need them, too: a sink
    is open for every position from its own on.""")
wrong("more sinks than positions stop it", "\n".join([
    "mask = torch.ones(length, length).tril().triu(1 - window).bool()",
    "for sink in range(sinks):",
    "    mask[sink:, sink] = True",
    "return mask",
])).says("""
    Your function stops where `sinks` is larger than the number of positions. Then all positions are sinks: a
    comparison such as positions < sinks, or a slice, works for any number.""")  # fmt: skip
wrong("one sink more", {_FIRST: "positions <= sinks"}).says("""
    You opened one sink too many. Positions are counted from 0, so the first `sinks` positions are those below
    `sinks`.""")
wrong("one sink less", {_FIRST: "positions < sinks - 1"}).says("""
    You opened one sink too few. Positions are counted from 0, so the first `sinks` positions are those below
    `sinks`.""")
wrong("only one sink", {_FIRST: "(positions < 1) & (sinks > 0)"}).says("""
    You opened the first position alone. The number of sinks is an argument.""")
wrong("sinks among the queries", {_FIRST: "positions[:, None] < sinks"}).says("""
    You opened the *rows* of the first positions. Sinks are keys, so their columns are open.""")
wrong("the last positions as sinks", {_FIRST: "positions >= length - sinks"}).says("""
    You opened the last `sinks` positions. Sinks are the first positions of the text.""")
wrong("sinks taken from the window", {_NEAR: "(back < window - sinks) | (back == 0)"}).says("""
    You made the window smaller by the number of sinks, as some implementations with a fixed cache do. Here the
    window has `window` positions, and the sinks come in addition.""")
wrong("sinks added to the window", {_NEAR: "back < window + sinks", "near | first": "near"}).says("""
    You made the window wider by the number of sinks. The sinks are the first positions of the text, however far
    back they are.""")
wrong("True is closed", {_ALL: "~((near | first) & (back >= 0))"}).says("""
    Your mask is True where attention is *not* allowed. In this book True means *may attend*.""")
wrong(
    "numbers to add", {_ALL: "torch.zeros(length, length).masked_fill(~((near | first) & (back >= 0)), -torch.inf)"}
).says("""
    You made a mask of 0 and −∞ to be added to the scores, as some libraries do. Here a mask is boolean, and True
    means *may attend*.""")
wrong("nothing keeps the future closed", {f" {_PAST}": ""}).says("""
    Your mask opens all later positions, because their distance back is negative and so smaller than the window.
    Ask in addition for back >= 0.""")
wrong("sinks closed", {"near | first": "near & ~first"}).says("""
    You closed the sinks. They are the positions that must stay open for all later ones.""")
wrong("sinks taken from the window, itself too", {_NEAR: "back < window - sinks"}).says("""
    You made the window smaller by the number of sinks. Here the window has `window` positions, its own included,
    and the sinks come in addition.""")
wrong("the first position always", {_FIRST: "positions < 1"}).says("""
    You opened the first position whatever `sinks` is. Its number is an argument: with 0 there is none, and with 4
    the positions 0 to 3 are open.""")
wrong("only the last sink", {_FIRST: "positions == sinks - 1"}).says("""
    You opened one position, number sinks − 1. All of the first `sinks` positions are sinks.""")
wrong("itself closed", {_PAST: "& (back > 0)"}).says("""
    In your mask no position attends to itself. Its own position belongs to the window.""")
