"""Lab 10: decoding. The same model, better sentences, many times faster. First, a word that is drawn."""

import torch

from misread.exercise import About, Exercise


def sample_with_temperature(logits, temperature, chance):
    """The word in whose piece chance falls: logits (B, V), temperature >= 0, chance (B,) -> (B,)."""
    if temperature == 0:
        return logits.argmax(-1)  # (B,)
    ends = (logits / temperature).softmax(-1).cumsum(-1)  # (B, V): where each word's piece of [0, 1] ends
    return (chance[:, None] >= ends).sum(-1).clamp(max=logits.shape[1] - 1)  # (B,): pieces that end before chance


def _throws(draw, logits, temperature):
    """Chances that fall well inside the piece of a word, each word as likely as another."""
    pieces = (logits / temperature).softmax(-1)  # (B, V)
    word = draw.integers(0, logits.shape[1], len(logits), 1)  # (B, 1)
    share = draw.uniform(len(logits), low=0.15, high=0.85)
    return (pieces.cumsum(-1).gather(1, word) - pieces.gather(1, word))[:, 0] + share * pieces.gather(1, word)[:, 0]


def _end_short(draw):
    """A row whose last piece ends a hair below 1 by rounding, at temperature 2 only; and a throw that gets through."""
    throw = torch.ones(1, dtype=torch.float64).nextafter(torch.zeros(1, dtype=torch.float64))  # below 1, the next one
    for _ in range(1000):
        logits = draw.normal(1, 6)
        short = [bool((logits / by).softmax(-1).cumsum(-1)[0, -1] <= throw) for by in (2.0, 1.0, 0.5, 2.0**0.5)]
        if short == [True, False, False, False]:
            break
    return logits, 2.0, throw


def _logits_and_chance(draw):
    for temperature in (1.0, 2.0, 0.5):
        batch, words = draw.sizes(2, low=3)
        logits = draw.normal(batch + 4, words)
        yield logits, temperature, _throws(draw, logits, temperature)
    logits = draw.normal(4, 4)  # square: a softmax over the wrong axis gives values here too
    yield logits, 3.0, _throws(draw, logits, 3.0)
    yield draw.normal(3, 5), 0.0, draw.uniform(3)  # no chance left
    logits = draw.normal(1, 3)
    yield logits, 1.5, _throws(draw, logits, 1.5)
    yield 400 * draw.normal(2, 4), 0.5, draw.uniform(2, low=0.1, high=0.9)  # exp of these is infinite
    forbidden = draw.normal(2, 4)
    forbidden[:, 0] = -torch.inf
    yield forbidden, 1.5, torch.zeros(2, dtype=torch.float64)  # chance 0, and the first word's piece is empty
    yield torch.zeros(2, 4, dtype=torch.float64), 2.0, torch.tensor([0.25, 0.75], dtype=torch.float64)  # at an end
    yield _end_short(draw)
    for temperature in (0.2, 0.1, 0.001, 1e-5):  # cold, and logits so near each other that chance still decides
        logits = temperature * draw.uniform(5, 5, low=-1.0)
        yield logits, temperature, _throws(draw, logits, temperature)
    yield draw.normal(4, 5), 0, draw.uniform(4)  # a whole number
    equal = torch.tensor([[0.0, 1.0, 1.0]], dtype=torch.float64).expand(2, -1).clone()
    yield equal, 0.0, torch.tensor([0.25, 0.75], dtype=torch.float64)  # two words are the likeliest: chance has no part
    logits = draw.normal(4, 4) - 900  # exp of these is 0
    yield logits, 1.0, _throws(draw, logits, 1.0)


def _any_of_equals(result, logits, temperature, chance):
    """Temperature 0 may take any of several equal words, but the same one whatever chance is."""
    if temperature != 0 or getattr(result, "shape", None) != chance.shape or (logits != logits[0]).any():
        return result
    likeliest = (logits[0] == logits[0].max()).nonzero()[:, 0]
    taken = result.unique()
    return torch.full_like(result, likeliest[0]) if len(taken) == 1 and taken in likeliest else result


def _inside(result, logits, temperature, chance):
    pieces = (logits / temperature).softmax(-1)
    end = pieces.cumsum(-1).gather(1, result[:, None])[:, 0]
    begin = end - pieces.gather(1, result[:, None])[:, 0]
    return ((chance <= end + 1e-9) & (chance >= begin - 1e-9)).all()


SAMPLE_WITH_TEMPERATURE = Exercise(
    sample_with_temperature,
    cases=_logits_and_chance,
    gradients=False,
    canonical=_any_of_equals,
    about=About(points=2, minutes=12, difficulty=2, read_again="Drawing the next token"),
)

must = SAMPLE_WITH_TEMPERATURE.properties
must(
    "temperature 0 takes the likeliest",
    lambda result, logits, temperature, chance: temperature > 0 or (result == logits.argmax(-1)).all(),
).says("""
    At temperature 0 nothing is left to chance, so the word with the largest logit must be taken in every sentence.""")
must(
    "chance falls into the word's piece",
    lambda result, logits, temperature, chance: temperature == 0 or _inside(result, logits, temperature, chance),
).says("""
    Put the probabilities side by side on the line from 0 to 1, in the order of the words. The word that you return must
    be the one in whose piece `chance` falls, and it is another one.""")

_COUNT, _CLAMP = "(chance[:, None] >= ends).sum(-1)", ".clamp(max=logits.shape[1] - 1)"
_FIRST_TRUE = "(chance[:, None] < ends).long().argmax(-1)"

_ONE_FOR_ALL = "(logits / temperature).flatten().softmax(0).view_as(logits)"
_POWERS = "(logits.softmax(-1) ** (1 / temperature))"
_ZERO = "if temperature == 0:\n        return logits.argmax(-1)  # (B,)"

wrong = SAMPLE_WITH_TEMPERATURE.mistakes
wrong("temperature 0 not treated", {_ZERO: "pass"}).says("""
    At temperature 0 you divided the logits by 0, so that the probabilities are NaN. Treat this case first and take the
    word with the largest logit: `argmax`.""")
wrong("temperature 0 not exact", {_ZERO: "temperature = max(temperature, 0.01)"}).says("""
    You replaced temperature 0 by a small number such as 0.01. Then chance still decides between words whose logits are
    nearly alike, and temperatures below that number are changed, too. Treat 0 by itself: `argmax`.""")
wrong("small temperatures taken for 0", {"temperature == 0": "temperature < 0.01"}).says("""
    You treat every temperature below some small number as 0. Divided by a small temperature, logits that are nearly
    alike still differ little, so that chance decides between them. Only 0 itself is a case of its own.""")
wrong("chance decides between equal words", {_ZERO: "temperature = max(temperature, 1e-6)"}).says("""
    At temperature 0 chance still decides between words that have exactly the same logit, as it does where 0 is replaced
    by a tiny number. At 0 chance has no part, so treat this case by itself: `argmax`.""")
wrong("softmax over the batch", {".softmax(-1)": ".softmax(0)"}).says("""
    You took the softmax over axis 0, so that the sentences of the batch share the probability of a word. The words of
    *each* sentence share it: the last axis, `dim=-1`.""")
wrong("max instead of argmax", {"return logits.argmax(-1)": "return logits.max(-1)"}).says("""
    With an axis, `max` returns a pair, the largest values and their positions. Wanted are the numbers of the words,
    which are the positions alone: `argmax`.""")
wrong("not cut off at the last word", {_CLAMP: ""}).says("""
    You returned V, which is not the number of any word. Because of rounding the last piece may end slightly below
    1, and a chance beyond that end must give the last word, V − 1, which `clamp` achieves. (If a chance of 1 is
    shown below, it is slightly less.)""")
wrong("the first word for what rounding leaves over", {_COUNT + _CLAMP: _FIRST_TRUE}).says("""
    Because of rounding the last piece may end slightly below 1. If chance lies beyond it, no comparison is True,
    and the argmax of such a row is 0, but the *last* word is wanted. (If a chance of 1 is shown below, it is
    slightly less.)""")
wrong("an end belongs to the piece before", {">= ends": "> ends"}).says("""
    You counted only the pieces that end *below* chance (<). A piece that ends exactly at chance counts, too (<=),
    because otherwise a chance of 0 would draw word 0 even if its probability is 0.""")
wrong("an end belongs to the piece before, nothing cut off", {">= ends": "> ends", _CLAMP: ""}).says("""
    A piece that ends exactly at chance counts, too, so compare with <=. Otherwise a chance of 0 would draw word 0
    even if its probability is 0. (Because of rounding the result must also be cut off at the last word, V − 1.)""")
wrong("chance beside the words", {"chance[:, None]": "chance"}).says("""
    You compared chance (B,) with the ends (B, V) as they are, so that chance runs along the *words*. Each
    sentence has one chance for all its ends, so make it a column: chance[:, None].""")
wrong("a softmax for the whole batch", {"(logits / temperature).softmax(-1)": _ONE_FOR_ALL}).says("""
    You divided by the sum over the whole batch, so that the sentences share the probability of 1. The pieces of *each*
    sentence must reach from 0 to 1, so sum along its words only, or use `.softmax(-1)`.""")
wrong("powers that do not sum to 1", {"(logits / temperature).softmax(-1)": _POWERS}).says("""
    You raised the probabilities to the power 1 / τ, but you did not divide them by their sum afterwards, so that the
    pieces no longer reach from 0 to 1. Divide the logits by τ before the softmax, which divides by the sum itself.""")
wrong("exponentials that do not sum to 1", {".softmax(-1)": ".exp()"}).says("""
    You took the running sum of the exponentials, which do not sum to 1, so that the pieces do not reach from 0 to 1.
    Divide them by their sum over the words, as `.softmax(-1)` does.""")
wrong("the logarithms of the probabilities", {".softmax(-1)": ".log_softmax(-1)"}).says("""
    You took the running sum of the *logarithms* of the probabilities (log_softmax). They are negative, so that every
    piece seems to end before chance. The pieces of the line are the probabilities themselves: `.softmax(-1)`.""")
wrong("the later pieces counted", {">= ends": "< ends"}).says("""
    You counted the pieces that end *behind* chance, which are those of the drawn word and of all words after it. The
    number of the drawn word is the number of pieces that end before chance or exactly at it: chance[:, None] >= ends.
    """)
wrong("divided after the softmax", {" / temperature).softmax(-1)": ".softmax(-1) / temperature)"}).says("""
    You divided the probabilities by the temperature, so that they no longer sum to 1. The temperature divides the
    logits, before the softmax.""")
wrong("one word too far", {".sum(-1).clamp": ".sum(-1).add(1).clamp"}).says("""
    You returned the word after the one in whose piece chance falls. The number of the right word is the number of
    pieces that *end* before chance or exactly at it.""")
wrong("pieces ordered by size", {".softmax(-1)": ".softmax(-1).sort(-1, descending=True).values"}).says("""
    You sorted the probabilities and returned a position in the sorted list, which is not the number of a word.
    Keep the words in their own order, 0 to V − 1.""")
_SORTED = "order = logits.argsort(-1, descending=True)\n    ends = (logits.gather(1, order)"
_PLACE = "order.gather(1, (chance[:, None] >= ends).sum(-1, True)"
wrong("the likeliest piece first", {"ends = (logits": _SORTED, _COUNT: _PLACE, _CLAMP: _CLAMP + ")[:, 0]"}).says("""
    You laid out the pieces by size, the most probable word first. Each word then keeps its probability, but the same
    chance draws another word. Wanted is the order of the words, 0 to V − 1: take the running sum without sorting.""")
