"""Lab 8: many heads, and positions. Cutting the features into heads, and joining them again."""

import torch

from misread.exercise import About, Exercise


def split_heads(x, heads):
    """Cut the features of each position into equal parts: (B, T, D) -> (B, H, T, D/H)."""
    batch, length, dim = x.shape
    parts = x.reshape(batch, length, heads, dim // heads)  # (B, T, D) -> (B, T, H, D/H)
    return parts.transpose(1, 2)  # (B, H, T, D/H)


def _whole(draw):
    batch, length, heads, size = draw.sizes(4)
    yield draw.normal(batch, length, heads * size), heads
    yield draw.normal(2, 2, 4), 2  # as many heads as features per head, as positions, as sentences
    yield draw.normal(1, 3, 4), 2  # one sentence: its axis stays
    yield draw.normal(3, 1, 6), 2  # one position
    yield draw.normal(2, 3, 4), 1  # one head
    yield draw.normal(2, 4, 3), 3  # one feature per head
    yield draw.normal(2, 3, 1), 1  # one feature in all
    yield draw.normal(2, 6, 6), 2  # the positions could be divided among the heads as well


SPLIT_HEADS = Exercise(
    split_heads, cases=_whole, about=About(points=2, minutes=13, difficulty=2, read_again="Many heads, by hand")
)

must = SPLIT_HEADS.properties
must(
    "head 0 has the first features", lambda result, x, heads: torch.equal(result[:, 0], x[..., : result.shape[-1]])
).says("""
    Head 0 must hold the first D/H features of every position, in their order, and in your result it holds something
    else.""")
must(
    "the last head has the last features",
    lambda result, x, heads: torch.equal(result[:, -1], x[..., -result.shape[-1] :]),
).says("""
    The last head must hold the last D/H features of every position, in their order, and in your result it holds
    something else.""")

wrong = SPLIT_HEADS.mistakes
wrong("reshape alone", {"parts.transpose(1, 2)": "parts.reshape(batch, heads, length, -1)"}).says("""
    You made (B, H, T, D/H) with reshape or view alone, which keeps the order of the numbers in memory, so that a
    head gets a few whole *positions*. Cut the features first, (B, T, H, D/H), and then exchange two axes.""")
wrong("every H-th feature", "return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)").says("""
    You gave head 0 the features 0, H, 2H, … Each head gets a block of *neighbouring* features, so cut D into (H,
    D/H), in this order.""")
wrong("heads taken for their size", {"length, heads, dim // heads": "length, dim // heads, heads"}).says("""
    You made heads of `heads` features each. The argument `heads` says *how many* heads there are, and each of
    them has D / heads features.""")
wrong("always two heads", {"heads, dim // heads": "2, dim // 2"}).says("""
    You always made two heads, as in the example. The argument `heads` says how many there are, and each of them has
    D / heads features.""")
wrong("heads one under another", {"parts.transpose(1, 2)": "parts.permute(2, 0, 1, 3).flatten(0, 1)"}).says("""
    You joined the heads along the batch, so that the result has the shape (H·B, T, D/H). The heads need a *new*
    axis, which torch.stack(…, dim=1) makes and torch.cat does not.""")
wrong("positions cut, not features", "return x.reshape(len(x), heads, x.shape[1] // heads, x.shape[2])").says("""
    You divided the *positions* among the heads, (B, H, T/H, D). Every head must have all positions, because it is
    the features that are divided.""")
wrong("all features for every head", "return x.unsqueeze(1).expand(-1, heads, -1, -1)").says("""
    Every head got a copy of all D features. A head gets only D/H of them, which is why many heads cost no more
    than one.""")


def merge_heads(x):
    """Put the features of the heads side by side: (B, H, T, D/H) -> (B, T, D)."""
    batch, heads, length, size = x.shape
    parts = x.transpose(1, 2)  # (B, H, T, D/H) -> (B, T, H, D/H)
    return parts.reshape(batch, length, heads * size)  # (B, T, D)


def _in_heads(draw):
    batch, heads, length, size = draw.sizes(4)
    yield (draw.normal(batch, heads, length, size),)
    yield (draw.normal(2, 2, 2, 2),)
    yield (draw.normal(1, 2, 3, 2),)  # one sentence
    yield (draw.normal(3, 2, 1, 2),)  # one position
    yield (draw.normal(2, 1, 3, 2),)  # one head
    yield (draw.normal(2, 3, 2, 1),)  # one feature per head
    yield (draw.normal(3, 3, 3, 3),)
    yield (draw.normal(2, 5, 3, 4).transpose(1, 2),)  # as split_heads gives it: not in one piece in memory


MERGE_HEADS = Exercise(
    merge_heads, cases=_in_heads, about=About(points=2, minutes=8, difficulty=2, read_again="Many heads, by hand")
)

must = MERGE_HEADS.properties
must(
    "a position keeps its own numbers",
    lambda result, x: torch.equal(result[:, -1], torch.cat(x[:, :, -1].unbind(1), dim=-1)),
).says("""
    Row t of your result must hold the features that the heads have at position t, head 0 first, and nothing from other
    positions.""")

wrong = MERGE_HEADS.mistakes
wrong("reshape alone", {"x.transpose(1, 2)": "x"}).says("""
    You made (B, T, D) with reshape or view alone, which reads the memory head by head, so that a row mixes
    several *positions*. Move the axis T in front of H first, and then join the last two axes.""")
wrong("view after transpose", {"parts.reshape(": "parts.view("}).says("""
    After transpose the numbers no longer lie in memory in the order of the axes, and `view` never copies. Use
    reshape or flatten, which copy when it is necessary.""")
wrong("features interleaved", {"x.transpose(1, 2)": "x.permute(0, 2, 3, 1)"}).says("""
    You joined the heads in alternation: feature 0 of each head, then feature 1 of each head, and so on. The whole
    of head 0 comes first, then head 1, so the last two axes must be (H, D/H) when you join them.""")
wrong("heads laid along the positions", "return x.flatten(1, 2)").says("""
    You joined heads and positions, (B, H·T, D/H), so that the positions of one head follow those of another. The
    *features* of the heads must stand side by side, (B, T, H·D/H).""")
wrong("an axis of length 1 lost", {"heads * size)": "heads * size).squeeze()"}).says("""
    You squeezed the result, so that with one sentence or one position an axis is lost. All three axes must stay,
    (B, T, D).""")
