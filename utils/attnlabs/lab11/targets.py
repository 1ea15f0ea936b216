"""Lab 11: what a language model must predict at each position."""

import torch

from misread.exercise import About, Exercise


def language_model_targets(tokens, pad):
    """The next token at each position, and pad at the last: (B, T) -> (B, T)."""
    last = torch.full_like(tokens[:, :1], pad)  # (B, 1): nothing follows the last position
    return torch.cat([tokens[:, 1:], last], dim=1)  # (B, T)


def _texts(draw):
    batch, length = draw.sizes(2)
    pad = 0 if draw.number < 2 else draw.integer(3, 9)
    tokens = draw.integers(9, 30, batch, length)
    yield tokens, pad
    yield tokens.where(torch.arange(length) < draw.lengths(batch, length)[:, None], pad), pad
    ends = tokens.where(torch.arange(length) != draw.integers(1, length, batch, 1), 2)
    yield ends, pad  # an end symbol, which is a target like any other token
    yield draw.integers(9, 30, 3, 3), pad  # square
    yield draw.integers(9, 30, 2, 1), pad  # one token per row: nothing to predict
    if draw.number == 1:
        yield torch.tensor([[1, 11, 12, 2, 0], [1, 13, 14, 15, 2]]), 0


LANGUAGE_MODEL_TARGETS = Exercise(
    language_model_targets,
    cases=_texts,
    about=About(points=1, minutes=7, difficulty=1, read_again="What GPT is trained to do"),
)

must = LANGUAGE_MODEL_TARGETS.properties
must("target t is token t + 1", lambda result, tokens, pad: (result[:, :-1] == tokens[:, 1:]).all()).says("""
    The target of each position must be the token that stands one position later in the same row.""")
must("nothing after the last", lambda result, tokens, pad: (result[:, -1] == pad).all()).says("""
    Nothing follows the last position, so its target must be `pad`, which does not count in the loss.""")

_CAT = "torch.cat([tokens[:, 1:], last], dim=1)"

wrong = LANGUAGE_MODEL_TARGETS.mistakes
wrong("not shifted", {_CAT: "tokens"}).says("""
    You returned the tokens as they are. Each position reads its own token, so the model would only have to copy it, and
    the loss would fall to 0 without anything learned. The target is the *next* token.""")
wrong("not shifted, and the last one left out", {_CAT: "torch.cat([tokens[:, :-1], last], dim=1)"}).says("""
    You replaced the last token by `pad` and left the others where they were, so that the target of each position is the
    token which it reads. All tokens must move one position to the left.""")
wrong("shifted to the right", {_CAT: "torch.cat([last, tokens[:, :-1]], dim=1)"}).says("""
    You moved the tokens to the right, so that each position must predict the token *before* it, which it has already
    read. Move them to the left: the target of position t is token t + 1.""")
wrong(
    "shifted to the right, with the begin in front", {_CAT: "torch.cat([0 * last + 1, tokens[:, :-1]], dim=1)"}
).says("""
    You moved the tokens to the right and put the begin, 1, in front, as `shift_right` does in Lab 01. That makes inputs
    from targets; here the targets are wanted, so move the tokens to the left.""")
wrong("padding in front", {_CAT: "torch.cat([last, tokens[:, 1:]], dim=1)"}).says("""
    You put the column of padding in front, so that the other tokens stay where they were. Padding belongs behind the
    last of the others: then each of them moves one position to the left.""")
wrong("rolled", {_CAT: "tokens.roll(-1, dims=1)"}).says("""
    You rolled each row, so that the last position must predict the first token of the row. Nothing follows the last
    position: its target is `pad`.""")
wrong("one column short", {_CAT: "tokens[:, 1:]"}).says("""
    Your targets are one column shorter than the tokens. The model gives logits at all T positions, so append a column
    of `pad` for the last one.""")
wrong("the first T − 1 tokens", {_CAT: "tokens[:, :-1]"}).says("""
    You left out the last token and not the first. These are the inputs of the positions that have a target; the targets
    are the tokens from the second one on, and `pad` behind them.""")
wrong("the last token repeated", {_CAT: "torch.cat([tokens[:, 1:], tokens[:, -1:]], dim=1)"}).says("""
    At the last position you repeated the last token. Nothing follows it in this row, so that the target must be
    `pad`, which does not count in the loss.""")
wrong("pad taken to be 0", {"tokens[:, :1], pad": "tokens[:, :1], 0"}).says("""
    You filled the last column with 0. The number that stands for padding is given by the argument `pad`, and here it is
    another one.""")
wrong("−100 in the last column", {"tokens[:, :1], pad": "tokens[:, :1], -100"}).says("""
    You filled the last column with −100, which is the default of `ignore_index` in `cross_entropy`. In this lab `pad`
    is the number that does not count in the loss.""")
wrong("−100 for all padding", {_CAT: f"{_CAT}.where({_CAT} != pad, -100)"}).says("""
    You replaced all padding by −100, which is the default of `ignore_index` in `cross_entropy`. In this lab padding
    stays `pad`, the number that does not count in the loss.""")
wrong("shifted along the batch", {_CAT: "torch.cat([tokens[1:], torch.full_like(tokens[:1], pad)], dim=0)"}).says("""
    You shifted the rows, so that each sentence has another sentence as its target. Axis 0 is the batch and axis 1
    contains the positions: shift the columns.""")
_PAIR = "tokens[:, :-1], tokens[:, 1:]"
wrong("inputs and targets", {_CAT: _PAIR}).says("""
    You returned a pair of inputs and targets, each one column shorter. Wanted is one tensor (B, T), the targets for
    the tokens as they are, with `pad` at the last position.""")
