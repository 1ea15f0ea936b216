"""Lab 11: which tokens a masked language model reads, and which it must find."""

import torch

from misread.exercise import About, Exercise

PAD, SPECIALS = 0, 3  # padding, begin and end are 0, 1 and 2


def mask_for_bert(tokens, chosen, mask_id, vocabulary, draw):
    """Mask, random word or unchanged, as draw decides: inputs (B, T), and targets (B, T), 0 where not chosen."""
    word = 3 + (draw[1] * (vocabulary - 3)).long()  # (B, T): from 3 to V - 1
    hidden = torch.where(draw[0] < 0.8, mask_id, word)  # (B, T): what stands there if the token is replaced
    inputs = torch.where(chosen & (draw[0] < 0.9), hidden, tokens)  # (B, T)
    return inputs, tokens.masked_fill(~chosen, 0)


def _sentences(draw):
    batch, length = draw.sizes(2, low=4, never_one={1})  # one token: the last case
    for B, T in ((batch, length), (3, 3), (1, length)):
        vocabulary = draw.integer(20, 40)
        tokens = draw.integers(SPECIALS, vocabulary, B, T)
        real = torch.arange(T) < draw.lengths(B, T, shortest=2)[:, None]  # (B, T)
        tokens = tokens.where(real, PAD)
        tokens[:, 0] = 1
        chosen = (draw.uniform(B, T) < 0.7) & (tokens >= SPECIALS)
        chosen[-1, 1] = True
        numbers = draw.uniform(2, B, T)
        numbers[0] = torch.tensor([0.4, 0.85, 0.95])[draw.integers(0, 3, B, T)] + 0.04 * numbers[0]
        yield tokens, chosen, vocabulary + draw.integer(0, 3), vocabulary, numbers
    tokens = draw.integers(SPECIALS, 30, 2, 40)
    yield tokens, draw.uniform(2, 40) < 0.5, 30, 30, draw.uniform(2, 2, 40)  # long enough for each case
    yield tokens[:, :2], torch.zeros(2, 2, dtype=torch.bool), 31, 30, draw.uniform(2, 2, 2)  # nothing is chosen
    yield tokens[:, 2:3], torch.tensor([[True], [False]]), 31, 30, draw.uniform(2, 2, 1)
    bounds = draw.uniform(2, 2, 3)  # 0.8 and 0.9 belong to what begins with them
    bounds[0] = torch.tensor([[0.8, 0.4, 0.9], [0.9, 0.8, 0.4]], dtype=torch.float64)
    yield tokens[:, :3], torch.tensor([[True, False, True], [True, True, True]]), 31, 30, bounds


def _where(low, high):
    return lambda tokens, chosen, draw: chosen & (draw[0] >= low) & (draw[0] < high)


_MASKED, _RANDOM, _KEPT = _where(0.0, 0.8), _where(0.8, 0.9), _where(0.9, 1.0)

MASK_FOR_BERT = Exercise(
    mask_for_bert,
    cases=_sentences,
    returns=("inputs", "targets"),
    gradients=False,
    about=About(points=3, minutes=20, difficulty=3, read_again="The other mask: restoring hidden words"),
)

must = MASK_FOR_BERT.properties
must("what is not chosen stays", lambda result, tokens, chosen, *others: (result[0] == tokens)[~chosen].all()).says("""
    Where `chosen` is False, the input must be the token itself, whatever the random numbers are.""")
must(
    "below 0.8 the mask",
    lambda result, tokens, chosen, mask_id, V, draw: (result[0] == mask_id)[_MASKED(tokens, chosen, draw)].all(),
).says("""
    Where a token is chosen and draw[0] is below 0.8, the input must be `mask_id`.""")
must(
    "from 0.9 on the token itself",
    lambda result, tokens, chosen, mask_id, V, draw: (result[0] == tokens)[_KEPT(tokens, chosen, draw)].all(),
).says("""
    Where a token is chosen and draw[0] is 0.9 or more, the input must be the token itself.""")
must(
    "in between a random word",
    lambda result, tokens, chosen, mask_id, V, draw: (result[0] == 3 + (draw[1] * (V - 3)).long())[
        _RANDOM(tokens, chosen, draw)
    ].all(),
).says("""
    Where a token is chosen and draw[0] is from 0.8 to below 0.9, the input must be 3 + the whole part of draw[1] · (V −
    3), and in your result another number stands there.""")
must("targets where chosen", lambda result, tokens, chosen, *others: (result[1] == tokens * chosen).all()).says("""
    The targets must be the original tokens where `chosen` is True, and padding (0) everywhere else.""")

_HIDDEN, _INPUTS = "torch.where(draw[0] < 0.8, mask_id, word)", "chosen & (draw[0] < 0.9)"
_TARGETS, _WORD = "tokens.masked_fill(~chosen, 0)", "3 + (draw[1] * (vocabulary - 3)).long()"

wrong = MASK_FOR_BERT.mistakes
wrong("every chosen token masked", {_INPUTS: "chosen", _HIDDEN: "mask_id"}).says("""
    You replaced every chosen token by the mask. Then the model never has to predict a token that it can see,
    although later its input has only visible tokens: 10 % become a random word, and 10 % stay.""")
wrong("masked up to 0.9", {_INPUTS: "chosen", _HIDDEN: "torch.where(draw[0] < 0.9, mask_id, word)"}).says("""
    You masked up to 0.9 and put random words above it, so that no chosen token stays. The mask ends at 0.8, random
    words at 0.9, and from there on the token stays as it is.""")
wrong("the mask overwritten", {_HIDDEN: "word"}).says("""
    No mask is left in your inputs: below 0.9 all chosen tokens are random words. If you set the masks first, the random
    words must not replace them, so these belong to 0.8 up to 0.9 only.""")
wrong("nothing replaced", {_INPUTS: "chosen & False"}).says("""
    Your inputs are the tokens as they were. Did you write into `inputs[chosen][…]`? This is a copy, so nothing arrives
    in `inputs`. Index once, as in `inputs[chosen & (draw[0] < 0.8)]`, or use `torch.where`.""")
_CLOSED = {"(draw[0] < 0.9)": "(draw[0] <= 0.9)", "torch.where(draw[0] < 0.8,": "torch.where(draw[0] <= 0.8,"}
wrong("0.8 and 0.9 taken to what ends there", _CLOSED).says("""
    You compared with `<=` where `<` is wanted. Exactly 0.8 belongs to the random words, and exactly 0.9 to the tokens
    that stay.""")
wrong("exactly 0.8 left out", {_INPUTS: "chosen & (draw[0] < 0.9) & (draw[0] != 0.8)"}).says("""
    At exactly 0.8 you kept the token. The random words begin at 0.8, so compare with `>=` there, and
    with `<` at 0.9.""")
wrong("the rest all random", {_INPUTS: "chosen"}).says("""
    You replaced all chosen tokens that were not masked by random words. From 0.9 on, the token must stay as it is,
    so that the model cannot assume that a token which it sees is wrong.""")
wrong("the rest all kept", {_INPUTS: "chosen & (draw[0] < 0.8)"}).says("""
    You kept all chosen tokens that were not masked. From 0.8 to below 0.9 a random word must stand there, because
    otherwise the model learns that every token which it sees is right.""")
wrong("random and kept exchanged", {"(draw[0] < 0.9)": "((draw[0] < 0.8) | (draw[0] >= 0.9))"}).says("""
    You kept the tokens from 0.8 to below 0.9 and replaced those from 0.9 on. The shares are right, but the
    exercise fixes the order, so that your numbers can be compared: first the mask, then the random words, then
    what stays.""")
wrong("mask and random word exchanged", {_HIDDEN: "torch.where(draw[0] < 0.8, word, mask_id)"}).says("""
    You put random words where draw[0] is below 0.8 and the mask from there to below 0.9. Eight of ten chosen
    tokens become the mask, and one of ten a random word.""")
wrong("not only the chosen ones", {_INPUTS: "(draw[0] < 0.9)"}).says("""
    You replaced tokens that are not chosen, too, so that the model has hardly anything to read. Only where
    `chosen` is True may the input differ from the token.""")
wrong("the same number for both", {"draw[1]": "draw[0]"}).says("""
    You used draw[0] twice. Between 0.8 and 0.9 it always gives words from the same tenth of the vocabulary,
    so the random word needs a number of its own, draw[1].""")
_EXCHANGED = {"draw[1] *": "draw[0] *", "draw[0] < 0.8": "draw[1] < 0.8", "draw[0] < 0.9": "draw[1] < 0.9"}
wrong("draw[0] and draw[1] exchanged", _EXCHANGED).says("""
    You exchanged the two halves of `draw`. draw[0] decides between mask, random word and token, and draw[1] decides
    which random word it is.""")
wrong("words from 0", {_WORD: "(draw[1] * (vocabulary - 3)).long()"}).says("""
    You left out the 3, so that padding, begin or end may come out, and the last three words never do. The words begin
    at 3: add 3 to the whole part.""")
wrong("cut off before the product", {_WORD: "3 + draw[1].long() * (vocabulary - 3)"}).says("""
    You cut off draw[1] itself, which is always 0, so that each random word is 3. Multiply first:
    `(draw[1] * (vocabulary - 3)).long()`.""")
wrong("not cut off", {")).long()": "))"}).says("""
    Your random words are not whole numbers. Take the whole part of the product: `.long()` cuts off what follows the
    point.""")
wrong("special symbols drawn", {_WORD: "(draw[1] * vocabulary).long()"}).says("""
    You drew from all V numbers, so that padding, begin or end may come out as a random word. The words begin at 3:
    draw one of V − 3 and add 3.""")
wrong("words beyond the vocabulary", {"(draw[1] * (vocabulary - 3))": "(draw[1] * vocabulary)"}).says("""
    You multiplied by V and added 3, so that some of your words are V or more, which no word has as its number.
    There are V − 3 words: multiply by V − 3.""")
wrong("the last word never drawn", {"vocabulary - 3)": "vocabulary - 3 - 1)"}).says("""
    You multiplied by V − 4, so that the last word is never drawn. The words are 3 to V − 1, which are V − 3 in
    all.""")
wrong("rounded to the nearest", {")).long()": ")).round().long()"}).says("""
    You rounded to the nearest whole number. Then the first word comes half as often as the others, and the number
    V may come out, which no word has. Take the whole part: `.long()` cuts off what follows the point.""")
wrong("rounded up", {")).long()": ")).ceil().long()"}).says("""
    You rounded up. Then the first word is hardly ever drawn, and the number V may come out, which no word has. Take the
    whole part: `.long()` cuts off what follows the point.""")
wrong("targets only where something changed", {"~chosen, 0": "~(chosen & (draw[0] < 0.9)), 0"}).says("""
    Your targets leave out the chosen tokens that stayed as they are. The model must predict those as well, and
    this is why they were chosen: it cannot know which of the tokens that it sees are right.""")
wrong("targets only behind the mask", {"~chosen, 0": "~(chosen & (draw[0] < 0.8)), 0"}).says("""
    Your targets hold only the tokens behind a mask. All chosen positions count in the loss, those with a random
    word and those that stayed, too.""")
wrong("targets everywhere", {_TARGETS: "tokens"}).says("""
    Your targets are all tokens. Where nothing was chosen the model sees the answer, and would only learn to copy
    it, so the target there is padding, which does not count.""")
wrong("targets where not chosen", {"~chosen, 0": "chosen, 0"}).says("""
    You kept the targets where nothing was chosen, and left out those that are asked for. The target is the token
    where `chosen` is True.""")
wrong("targets from the inputs", {_TARGETS: "inputs.masked_fill(~chosen, 0)"}).says("""
    Your targets were taken from the inputs, after the masking, so that the model would have to predict the mask.
    They must be the original tokens.""")
wrong("−100 instead of padding", {"~chosen, 0": "~chosen, -100"}).says("""
    You marked what does not count with −100, which is the default of `ignore_index` in `cross_entropy`. In this
    lab the mark is padding, the number 0, because our loss leaves padding out.""")
