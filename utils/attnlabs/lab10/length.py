"""Lab 10: scores that do not favour short sentences."""

import torch

from misread.exercise import About, Exercise


def length_normalised(scores, tokens, eos, alpha):
    """Scores over ((5 + n) / 6) ** alpha, for n words with the end symbol: (B, W), (B, W, L) -> (B, W)."""
    length = (tokens != eos).sum(-1) + (tokens == eos).any(-1)  # (B, W): words, and one end symbol if there is one
    return scores / ((5 + length) / 6) ** alpha  # (B, W)


def _beams(draw):
    for alpha in (1.0, 0.6, 0.0):
        batch, width, length = draw.sizes(3, low=3)
        eos = 2 if draw.number == 0 else 4
        yield -5 * draw.uniform(batch, width, low=0.2), _ended(draw, batch, width, length, eos), eos, alpha
    yield -4 * draw.uniform(3, 3, low=0.2), _ended(draw, 3, 3, 3, 5), 5, 0.8  # square
    yield -4 * draw.uniform(1, 2, low=0.2), _ended(draw, 1, 2, 4, 3), 3, 2.0
    yield -9 * draw.uniform(2, 3, low=0.2), _ended(draw, 2, 3, 14, 5), 5, 1.0  # longer than 6 words
    tokens = _ended(draw, 2, 3, 4, 5)
    tokens[..., -2:] = 5  # all ended long ago
    yield -4 * draw.uniform(2, 3, low=0.2), tokens, 5, 1.0


def _ended(draw, batch, width, length, eos):
    """The first sentence goes on to the edge, the second is only an end symbol, the others end anywhere."""
    others = torch.tensor([word for word in range(8) if word != eos])
    tokens = others[draw.integers(0, len(others), batch, width, length)]
    words = draw.integers(1, max(length, 2), batch, width)
    words[0, 0], words[0, 1:2] = length, 0
    return tokens.masked_fill(torch.arange(length) >= words[..., None], eos)


LENGTH_NORMALISED = Exercise(
    length_normalised,
    cases=_beams,
    tolerance=1e-6,  # a penalty that is made of whole numbers is float32
    about=About(points=2, minutes=8, difficulty=2, read_again="The most probable text is not the best one"),
)

must = LENGTH_NORMALISED.properties
must(
    "alpha 0 changes nothing", lambda result, scores, tokens, eos, alpha: alpha != 0 or torch.allclose(result, scores)
).says("""
    With alpha = 0 the penalty is 1, so that the scores must stay as they are.""")
must(
    "a sentence of one word keeps its score",
    lambda result, scores, tokens, *others: torch.allclose(result.where(tokens[..., 0] == others[0], scores), scores),
).says("""
    For a sentence of one word, counting its end symbol, the penalty is ((5 + 1) / 6)ᵅ = 1, whatever alpha is, because
    alpha is an exponent. So it must keep its score.""")

_LENGTH = "(tokens != eos).sum(-1) + (tokens == eos).any(-1)"

wrong = LENGTH_NORMALISED.mistakes
wrong("end symbol not counted", {" + (tokens == eos).any(-1)": ""}).says("""
    You counted the words without the end symbol. Its log-probability is part of the score like that of any other
    word, so it counts, once.""")
wrong("repeated end symbols counted", {_LENGTH: "tokens.shape[-1]"}).says("""
    You counted all L positions. After the first end symbol there are only repetitions, which added nothing to the
    score, so count up to and including the first one.""")
wrong("position of the first end symbol", {_LENGTH: "(tokens == eos).long().argmax(-1) + 1"}).says("""
    You took the position of the first `eos` and added 1. This is right if there is one, but the argmax of nothing
    but False is 0, so that a sentence without an end symbol counts as one word instead of L.""")
wrong("the first end symbol's number as the length", {_LENGTH: "(tokens == eos).long().argmax(-1)"}).says("""
    You took the position of the first `eos` as the length. Positions count from 0, so that the words up to and
    including `eos` are one more. And where there is no `eos`, the argmax of nothing but False is 0, not L.""")
wrong("end symbol always counted", {"(tokens == eos).any(-1)": "1"}).says("""
    You added one for the end symbol in every sentence. A sentence that was cut off at `max_length` has none, so add one
    only where there is an `eos`.""")
wrong("divided with //", {") / 6)": ") // 6)"}).says("""
    You divided 5 + n by 6 with `//`, which drops all decimals, so that all sentences of at most six words have the
    penalty 1. A fraction is divided with `/`.""")
wrong("multiplied by the penalty", {"scores / (": "scores * ("}).says("""
    You multiplied by the penalty. Scores are negative, so this makes long sentences worse: divide by it.""")
wrong("divided by the length itself", {"((5 + length) / 6)": "length"}).says("""
    You divided by lengthᵅ. This is a length penalty, too, but another one, and here it is ((5 + length) / 6)ᵅ.""")
wrong("only the length divided by 6", {"((5 + length) / 6)": "(5 + length / 6)"}).says("""
    You computed 5 + length / 6. The sum belongs in parentheses: (5 + length) / 6.""")
wrong("power of the length only", {"((5 + length) / 6) ** alpha": "((5 + length ** alpha) / 6)"}).says("""
    You raised only n to the power, as in (5 + nᵅ) / 6. The whole fraction is raised to the power alpha: ((5 + n)
    / 6)ᵅ.""")
wrong("times alpha", {" ** alpha": " * max(alpha, 1e-300)"}).says("""
    You multiplied by alpha. It is an exponent, so that with alpha = 0 the penalty is 1.""")
wrong("only the 6 to the power", {"((5 + length) / 6) ** alpha": "((5 + length) / 6**alpha)"}).says("""
    You raised only the 6 to the power, because `**` binds more tightly than `/`: (5 + n) / 6ᵅ. The whole fraction is
    raised to the power, so it needs parentheses: ((5 + n) / 6)ᵅ.""")
