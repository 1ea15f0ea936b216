"""Lab 9, third part: to what a decoder's words may attend."""

import torch

from misread.exercise import About, Exercise


def decoder_mask(target, pad):
    """True where a position may attend: to no later one, and to no padding. target (B, T) -> bool (B, T, T)."""
    length = target.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()  # (T, T)
    real = target != pad  # (B, T)
    return causal & real[:, None, :]  # (B, T, T)


def _sentences(draw):
    batch, length = draw.sizes(2, low=3)
    for B, T in ((batch, length), (3, 3), (1, length)):
        pad = 0 if B == 1 else draw.integer(0, 4)
        target = pad + draw.integers(1, 9, B, T)  # no padding
        target[-1, -1] = pad  # behind
        if B > 1 and T > 1:
            target[0, :2] = pad  # in front: the first words may attend to nothing
            target[-1, 0] = 0 if pad else 1  # another word with a small number
            target[1, 1] = pad  # and between
        yield target, pad
    yield torch.full((2, 3), 5), 5  # padding throughout
    yield draw.integers(1, 9, batch, 1), 0  # one word each
    large = 2 ** draw.integers(8, 17, batch, length + 2)  # large numbers of words, not padding
    large[0, -1] = 0
    yield large, 0
    if draw.number == 1:
        long = draw.integers(1, 9, 2, 80)
        long[1, -5:] = 0
        yield long, 0


DECODER_MASK = Exercise(
    decoder_mask, cases=_sentences, about=About(points=3, minutes=14, difficulty=3, read_again="Masks")
)

must = DECODER_MASK.properties
must("nothing later", lambda result, target, pad: not torch.as_tensor(result).bool().triu(1).any()).says("""
    No position may attend to a later one, so everything above the diagonal must be False. In your mask something there
    is True.""")
must("no padding", lambda result, target, pad: not (result.bool() & (target == pad)[:, None, :]).any()).says("""
    No position may attend to padding, so the columns of all positions that hold `pad` must be False. In your mask one
    of them is open somewhere.""")
must(
    "real words see themselves", lambda result, target, pad: result.bool().diagonal(dim1=1, dim2=2)[target != pad].all()
).says("""
    Each real word may attend to itself, so the diagonal must be True wherever the target is not padding. In your mask
    it is False for some real word.""")

_MASK = "mask = causal & real[:, None, :]\n    "
_OPENED = _MASK + "return mask | ~mask.any(-1, keepdim=True)"
_ADDED = _MASK + "return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)"

wrong = DECODER_MASK.mistakes
wrong("a triangle of numbers", {"dtype=torch.bool, ": ""}).says("""
    Your triangle holds the numbers 0 and 1, and `&` doesn't combine these with True and False. Make the triangle
    boolean: `dtype=torch.bool`.""")
wrong("looks ahead", {".tril()": ".triu()"}).says("""
    In your mask each position attends to itself and to everything *after* it, which includes the word to be
    predicted. Rows are queries and columns are keys, so the lower triangle is wanted: `tril`.""")
wrong("one word too far", {".tril()": ".tril(1)"}).says("""
    In your mask each position also attends to the next one. The decoder's input is shifted by one position, so
    the next position holds exactly the word to be predicted, and the model would only learn to copy it. The mask
    must end at the diagonal.""")
wrong("causal only", {"causal & real[:, None, :]": "causal.expand(len(target), -1, -1)"}).says("""
    Your mask closes all later positions, but not the padding. The columns in which `target` equals `pad` must be
    closed, too, because padding may also stand in front of real words.""")
wrong("padding closed as query", {"real[:, None, :]": "real[:, :, None]"}).says("""
    You closed the *rows* of padding. Its columns must be closed instead, because no position may attend to it:
    `real[:, None, :]` runs along the keys.""")
wrong("padding closed as query too", {"real[:, None, :]": "real[:, None, :] & real[:, :, None]"}).says("""
    You closed both the rows and the columns of padding. Only the columns must be closed, because the loss ignores
    whatever is predicted in the rows of padding.""")
wrong("lengths counted", {"target != pad": "torch.arange(length) < (target != pad).sum(1, keepdim=True)"}).says("""
    You counted the real words and opened as many positions from the left. Padding may also stand in front of the
    words or between them, so compare at each position: `target != pad`.""")
wrong("diagonal always open", {"& real[:, None, :]": "& (real[:, None, :] | torch.eye(length).bool())"}).says("""
    You opened the diagonal for padding, too, so that no row is empty. This is not needed, because our attention
    returns zeros for an empty row, and no position may attend to padding.""")
wrong("empty rows opened", {"return causal & real[:, None, :]": _OPENED}).says("""
    You opened those rows again in which a position may attend to nothing, in order to avoid NaN. This is not
    needed, because our attention returns zeros for an empty row, and no position may attend to padding.""")
wrong("0 and −∞ instead of True and False", {"return causal & real[:, None, :]": _ADDED}).says("""
    You returned numbers to be added to the scores, 0 and −∞. In this book a mask is boolean, and True means *may
    attend*.""")
_LOW = _MASK + "return torch.zeros(mask.shape).masked_fill(~mask, -1e9)"
wrong("0 and −1e9 instead of True and False", {"return causal & real[:, None, :]": _LOW}).says("""
    You returned numbers to be added to the scores, 0 and −1e9. In this book a mask is boolean, and True means *may
    attend*.""")
wrong("torch's mask of numbers", "return nn.Transformer.generate_square_subsequent_mask(target.shape[1])").says("""
    You returned torch's causal mask, whose numbers 0 and −∞ are added to the scores, and which knows nothing of
    padding. Wanted is a boolean mask (B, T, T), in which the columns of padding are closed, too.""")
wrong("not causal", {"causal & real[:, None, :]": "real[:, None, :].expand(-1, length, -1)"}).says("""
    Your mask closes the padding, but no later position. A decoder must not attend to the words that it has yet to
    predict, so combine the columns of real words with the lower triangle, with `&`.""")
_PAIRS = "real[:, None, :] & real[:, :, None]"
wrong("pairs of real words, not causal", {"causal & real[:, None, :]": _PAIRS}).says("""
    You opened each pair of real words, the later ones too, and closed the rows of padding. Wanted is the lower
    triangle, in which only the *columns* of padding are closed.""")
wrong("causal only, no axis for the sentences", {"causal & real[:, None, :]": "causal"}).says("""
    You returned the triangle (T, T) alone. The mask has one such table for each sentence, (B, T, T), because the
    columns of the sentence's own padding are closed in it.""")
wrong("padding without a new axis", {"real[:, None, :]": "real"}).says("""
    You combined the triangle (T, T) with the real words (B, T), so that sentences are taken for queries. The real words
    need a new axis for the queries, (B, 1, T): `real[:, None, :]`.""")
wrong("or instead of and", {"causal & real": "causal | real"}).says("""
    You opened a position if *one* of the two conditions holds. Both must hold, that it isn't later and that it isn't
    padding, so combine them with `&`.""")
wrong("words below pad closed", {"target != pad": "target > pad"}).says("""
    You opened only words whose number is larger than `pad`. Padding needn't have the smallest number, so compare with
    `!=`.""")
_SHARED = "real, causal = target != pad, torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()\n"
_SHARED += "masks = []\nfor row in real:\n    causal[:, ~row] = False\n    masks.append(causal)\n"
wrong("one triangle for all sentences", _SHARED + "return torch.stack(masks)").says("""
    You wrote the padding of each sentence into the same triangle, so that in the end all sentences have the padding of
    all. Each sentence needs a triangle of its own; `causal & real[:, None, :]` makes them without a loop.""")
