"""Lab 8: many heads, and positions. Cutting the features into heads, and laying them end to end again."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def split_heads(x, heads):
    batch, length, dim = x.shape
    parts = x.reshape(batch, length, heads, dim // heads)  # (B, T, D) -> (B, T, H, D/H)
    return parts.transpose(1, 2)  # (B, H, T, D/H)


def _whole(draw):
    batch, length, heads, size = draw.sizes(4)
    yield draw.normal(batch, length, heads * size), heads
    yield draw.normal(2, 2, 4), 2  # as many heads as features a head, as places, as sentences
    yield draw.normal(1, 3, 4), 2  # one sentence: its axis stays
    yield draw.normal(3, 1, 6), 2  # one place
    yield draw.normal(2, 3, 4), 1  # one head
    yield draw.normal(2, 4, 3), 3  # one feature a head
    yield draw.normal(2, 6, 6), 2  # the places could be shared among the heads as well


SPLIT_HEADS = Exercise(
    split_heads,
    cases=_whole,
    tolerance=1e-9,
    properties=[
        Property(
            "head 0 has the first features",
            "Head 0 must hold the first D/H features of every place, in their order.",
            lambda result, x, heads: torch.equal(result[:, 0], x[..., : result.shape[-1]]),
        ),
        Property(
            "the last head has the last features",
            "The last head must hold the last D/H features of every place, in their order.",
            lambda result, x, heads: torch.equal(result[:, -1], x[..., -result.shape[-1] :]),
        ),
    ],
)

wrong = SPLIT_HEADS.mistakes
wrong("reshape alone", {"parts.transpose(1, 2)": "parts.reshape(batch, heads, length, -1)"}).says("""
    You went to (B, H, T, D/H) with reshape or view alone. That keeps the order in memory, so a head gets a few whole
    *places*, not its features of every place. Cut the features first, (B, T, H, D/H), then let two axes change
    places.""")
wrong("turned, then cut anew", "return x.transpose(1, 2).reshape(len(x), heads, x.shape[1], -1)").says("""
    You let T and D change places, and then cut the numbers anew with reshape. Each head mixes features and places
    now. Cut the last axis into (H, D/H) first; turn axes only after that.""")
wrong("heads still behind the places", {"parts.transpose(1, 2)": "parts"}).says("""
    You stopped at (B, T, H, D/H). Matrix products work on the last two axes, and these must be places and features:
    bring the heads forward.""")
wrong("every H-th feature", "return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)").says("""
    You dealt the features out like cards: head 0 has features 0, H, 2H, … Each head gets a block of *neighbours*: cut
    D into (H, D/H), in this order.""")
wrong("heads taken for their size", {"length, heads, dim // heads": "length, dim // heads, heads"}).says("""
    You made heads of `heads` features each. `heads` says *how many* there are; each has D / heads features.""")
wrong("places and features swapped", {"parts.transpose(1, 2)": "parts.permute(0, 2, 3, 1)"}).says("""
    You ended at (B, H, D/H, T). The features come last, as everywhere in this book: (B, H, T, D/H).""")
wrong("features before the places", {"parts.transpose(1, 2)": "parts.transpose(2, 3)"}).says("""
    You let the last two axes change places, (B, T, D/H, H). The heads stand at axis 2 after the cut, and belong
    behind the batch: axes 1 and 2 change places.""")
wrong("features in front, places last", {"parts.transpose(1, 2)": "parts.transpose(1, 3)"}).says("""
    You let axes 1 and 3 change places, (B, D/H, H, T). Only heads and places change: axes 1 and 2. The features stay
    last.""")
wrong("heads before the batch", {"parts.transpose(1, 2)": "parts.permute(2, 0, 1, 3)"}).says("""
    Your heads come first, (H, B, T, D/H). The batch comes first in this book: if you stack the heads, stack them at
    axis 1.""")
wrong("heads folded into the batch", {"parts.transpose(1, 2)": "parts.transpose(1, 2).flatten(0, 1)"}).says("""
    You folded heads and sentences into one axis, (B·H, T, D/H). That is an old trick for bmm; here the heads keep an
    axis of their own.""")
wrong("heads one under another", {"parts.transpose(1, 2)": "parts.permute(2, 0, 1, 3).flatten(0, 1)"}).says("""
    You joined the heads along the batch with cat, (H·B, T, D/H). They need a *new* axis: torch.stack(…, dim=1).""")
wrong("places cut, not features", "return x.reshape(len(x), heads, x.shape[1] // heads, x.shape[2])").says("""
    You shared the *places* among the heads: (B, H, T/H, D). Every head must see every place; it is the features that
    are shared out.""")
wrong("all features for every head", "return x.unsqueeze(1).expand(-1, heads, -1, -1)").says("""
    Every head got a copy of all D features. A head has D/H of them, which is why many heads cost no more than one.""")
wrong("a tuple of heads", "return x.chunk(heads, dim=-1)").says("""
    You returned the heads as a tuple of tensors. Put them into one tensor, with a new axis for the heads:
    torch.stack(…, dim=1).""")
wrong("split into parts of that size", "return x.split(heads, dim=-1)").says("""
    torch.split takes the *size* of a part, not how many there are, and it returns a tuple. A head has D // heads
    features; stack the heads at axis 1.""")
wrong("an axis of length 1 lost", {"parts.transpose(1, 2)": "parts.transpose(1, 2).squeeze()"}).says("""
    You squeezed, and with one sentence (or place, or head) its axis is gone. Keep all four axes, however short.""")


def merge_heads(x):
    batch, heads, length, size = x.shape
    parts = x.transpose(1, 2)  # (B, H, T, D/H) -> (B, T, H, D/H)
    return parts.reshape(batch, length, heads * size)  # (B, T, D)


def _in_heads(draw):
    batch, heads, length, size = draw.sizes(4)
    yield (draw.normal(batch, heads, length, size),)
    yield (draw.normal(2, 2, 2, 2),)
    yield (draw.normal(1, 2, 3, 2),)  # one sentence
    yield (draw.normal(3, 2, 1, 2),)  # one place
    yield (draw.normal(2, 1, 3, 2),)  # one head
    yield (draw.normal(2, 3, 2, 1),)  # one feature a head
    yield (draw.normal(3, 3, 3, 3),)
    yield (draw.normal(2, 5, 3, 4).transpose(1, 2),)  # as split_heads gives it: not in one piece in memory


MERGE_HEADS = Exercise(
    merge_heads,
    cases=_in_heads,
    tolerance=1e-9,
    properties=[
        Property(
            "a place keeps its own numbers",
            "Row t of your result must hold what the heads have at place t, head 0 first, and nothing from other "
            "places.",
            lambda result, x: torch.equal(result[:, -1], torch.cat(x[:, :, -1].unbind(1), dim=-1)),
        )
    ],
)

wrong = MERGE_HEADS.mistakes
wrong("reshape alone", {"x.transpose(1, 2)": "x"}).says("""
    You went to (B, T, D) with reshape or view alone. It reads memory head by head, so a row mixes several *places*.
    Bring T in front of H first, then join.""")
wrong("view after transpose", {"parts.reshape(": "parts.view("}).says("""
    After transpose the numbers no longer lie in memory in the order that you see, and view refuses to copy. Take
    reshape or flatten, which copy when they must, or .contiguous() in between.""")
wrong("features interleaved", {"x.transpose(1, 2)": "x.permute(0, 2, 3, 1)"}).says("""
    You laid the heads' features in alternation: feature 0 of each head, then feature 1, … The heads go end to end,
    head 0 whole, then head 1: the last two axes must be (H, D/H) when you join them.""")
wrong("transposed, not joined", "return x.transpose(1, 2)").says("""
    You stopped at (B, T, H, D/H). Join the last two axes into one of D features.""")
wrong("heads averaged", "return x.mean(dim=1)").says("""
    You took the mean over the heads. They have different things to say: lay them end to end, and let W_o do the
    mixing.""")
wrong("heads added", "return x.sum(dim=1)").says("""
    You summed over the heads, and D/H features are left. Lay them end to end: D features again.""")
wrong("one head kept", "return x[:, 0]").says("""
    You kept a single head and dropped the others. All of them go into the row, end to end.""")
wrong("heads laid along the places", "return x.flatten(1, 2)").says("""
    You joined heads and places, (B, H·T, D/H): each head's sentence behind the other. It is the *features* that go
    end to end, (B, T, H·D/H).""")
wrong("wrong two axes joined", "return x.transpose(1, 2).flatten(1, 2)").says("""
    You joined T and H after the transpose, (B, T·H, D/H). Join the last two axes, H and D/H: flatten(2), not
    flatten(1, 2).""")
wrong("everything flattened", "return x.transpose(1, 2).flatten(1)").says("""
    flatten(1) joins *all* axes from 1 on, (B, T·D). Begin at axis 2: flatten(2).""")
wrong("last two axes turned", {"x.transpose(1, 2)": "x.transpose(2, 3)"}).says("""
    You let places and features change places, (B, H, D/H, T), before you joined. Bring T in front of H: axes 1 and 2.""")
wrong("places joined with features", "return x.transpose(2, 3).flatten(2)").says("""
    You let places and features change places, (B, H, D/H, T), and joined these. Bring T in front of H, axes 1 and 2,
    so that heads and features come last.""")
wrong("features brought to the front", "return x.transpose(1, 3).flatten(2)").says("""
    You let heads and features change places, (B, D/H, T, H). Bring T in front of H, axes 1 and 2, so that the rows
    are places, and heads and features come last.""")
wrong(
    "places before the batch",
    {
        "return parts.reshape(batch, length, heads * size)": "return parts.reshape(batch, length, heads * size).transpose(0, 1)"
    },
).says("""
    Your result is (T, B, D). The batch comes first in this book: (B, T, D).""")
wrong("heads in reverse", {"x.transpose(1, 2)": "x.flip(1).transpose(1, 2)"}).says("""
    The last head stands first in your rows. Head 0 goes first: merge_heads must undo split_heads.""")
wrong("an axis of length 1 lost", {"heads * size)": "heads * size).squeeze()"}).says("""
    You squeezed, and with one sentence or one place its axis is gone. Keep all three axes.""")
