"""Lab 10: a training that is prepared for mistakes of its own."""

import torch

from misread.exercise import About, Exercise


def mix_with_own_output(target_input, logits, keep, chance):
    """Right words where chance < keep, else the model's own, one position later: (B, T), (B, T, V) -> (B, T)."""
    own = torch.cat([target_input[:, :1], logits.argmax(-1)[:, :-1]], dim=1)  # (B, T): written at t − 1, read at t
    return torch.where(chance < keep, target_input, own)  # (B, T)


def _pass_one(draw):
    for keep in (0.5, 0.25, 0.75):
        batch, length, words = draw.sizes(3, low=3)
        chance = draw.integers(0, 20, batch, length) / 20.0  # ties with keep: kept only if really below
        yield draw.integers(0, words + 3, batch, length), draw.normal(batch, length, words + 3), keep, chance
    target = draw.integers(0, 9, 3, 4)
    chance = draw.uniform(3, 4)
    chance[0, 2] = 0.0
    yield target, draw.normal(3, 4, 9), 0.0, chance  # alone; a chance of exactly 0
    yield draw.integers(0, 9, 2, 4), draw.normal(2, 4, 9), 1.0, draw.uniform(2, 4)  # teacher forcing
    yield draw.integers(0, 4, 4, 4), draw.normal(4, 4, 4), 0.4, draw.uniform(4, 4)  # square
    yield draw.integers(0, 9, 2, 1), draw.normal(2, 1, 9), 0.0, draw.uniform(2, 1)  # the start symbol alone
    yield draw.integers(0, 6, 1, 4), draw.normal(1, 4, 6), 0.3, draw.uniform(1, 4)
    for keep in (0.1, 0.9):  # hardly any word is kept; nearly all are
        yield draw.integers(0, 9, 6, 6), draw.normal(6, 6, 9), keep, draw.uniform(6, 6)
    if draw.number == 1:  # numbers of words that half precision does not know
        yield 2 * draw.integers(1500, 2400, 2, 4) + 1, draw.normal(2, 4, 5000), 0.5, draw.uniform(2, 4)


MIX_WITH_OWN_OUTPUT = Exercise(
    mix_with_own_output,
    cases=_pass_one,
    gradients=False,
    about=About(
        points=3,
        minutes=10,
        difficulty=3,
        read_again=("10_decoding_evidence", "Scheduled sampling: training on the model's own words"),
    ),
)

must = MIX_WITH_OWN_OUTPUT.properties
must(
    "the start symbol stays", lambda result, target_input, *others: (result[:, 0] == target_input[:, 0]).all()
).says("""
    The first column is the start symbol, which must stay as it is. In your result it is another word.""")
must(
    "a right word stays where chance is below keep",
    lambda result, target_input, logits, keep, chance: (result == target_input)[chance < keep].all(),
).says("""
    Where chance < keep the word of `target_input` must stay, and in your result some of these words have changed.""")
must(
    "own words come one position later",
    lambda result, target_input, logits, keep, chance: (result[:, 1:] == logits.argmax(-1)[:, :-1])[
        chance[:, 1:] >= keep
    ].all(),
).says("""
    The word that the model writes at position t − 1 is the one that it would read at position t. Your result has other
    words there.""")

_OWN = "torch.cat([target_input[:, :1], logits.argmax(-1)[:, :-1]], dim=1)"
_CHOICE = "torch.where(chance < keep, target_input, own)"

wrong = MIX_WITH_OWN_OUTPUT.mistakes
wrong("own words one position early", {_OWN: _OWN.replace(":-1", "1:")}).says("""
    You put the word written at position t to position t. This word is the model's prediction of what comes next,
    so it is read one position later: move the own words one position to the right.""")
wrong("not shifted, start symbol replaced", {_OWN: "logits.argmax(-1)"}).says("""
    You put the word written at position t to position t, including the start symbol. It is read one position
    later, and the start symbol stays.""")
wrong("max instead of argmax", {"logits.argmax(-1)": "logits.max(-1).values"}).says("""
    You took the largest logits themselves as words. Wanted are the numbers of these words, which are the positions of
    the largest logits: `argmax`.""")
wrong("start symbol 0", {"target_input[:, :1]": "torch.zeros_like(target_input[:, :1])"}).says("""
    You put a 0 in front. The start symbol stands in `target_input` already, as its first column.""")
wrong("kept above, own words below", {"chance < keep": "chance > keep"}).says("""
    You kept the right word where chance is *above* keep (>). It must stay where chance is below keep: chance <
    keep.""")
wrong("right and own words exchanged", {"target_input, own)": "own, target_input)"}).says("""
    You exchanged the two words: where chance < keep you took the model's own word. There the *right* word stays.
    torch.where(condition, a, b) takes a where the condition is True.""")
_MIXED_FIRST = """
mixed = torch.where(chance < keep, target_input, logits.argmax(-1))
return torch.cat([target_input[:, :1], mixed[:, :-1]], dim=1)"""
wrong("mixed first, then shifted", _MIXED_FIRST).says("""
    You mixed first and moved the mixture one position to the right afterwards. The right words in `target_input` stand
    where they are read already, so move only the model's own words, and then choose.""")
_BELOW = "torch.cat([target_input[:1], logits.argmax(-1)[:-1]])"
wrong("moved along the batch", {_OWN: _BELOW}).says("""
    You moved the own words along axis 0, from one sentence to the next. They move along the positions, axis 1, within
    each sentence: take the first column in front, and leave out the last one.""")
wrong("own words rolled around", {_OWN: "logits.argmax(-1).roll(1, 1)"}).says("""
    You moved the own words with `roll`, so that the last one comes round to position 0 and may replace the start
    symbol. Put the first column of `target_input` in front of the own words without their last one.""")
wrong("kept when equal", {"chance < keep": "chance <= keep"}).says("""
    You kept the right word where chance equals keep. torch.rand may return exactly 0, and with keep = 0 no word
    may be kept, so compare with chance < keep.""")
wrong("one draw per sentence", {"chance < keep": "chance[:, :1] < keep"}).says("""
    You made one choice for a whole sentence. Each position has its own chance, so that right words and own words
    are mixed.""")
_STAYS_OWN = "(chance < keep).index_fill(1, torch.tensor(0), True).cumprod(1) > 0"
wrong("own words from the first one on", {"chance < keep": _STAYS_OWN}).says("""
    From the first own word on, you read only own words. Each position has its own chance, so that a right word may
    follow an own one: compare chance with keep at each position by itself.""")
wrong(
    "own words from the first one on, even the start symbol", {"chance < keep": "(chance < keep).cumprod(1) > 0"}
).says("""
    As soon as one chance of a sentence is not below keep, even that of the start symbol, you read only own words. Each
    position has its own chance: compare it with keep at each position by itself.""")
wrong("numbers mixed, not words", {_CHOICE: "(keep * target_input + (1 - keep) * own).long()"}).says("""
    You averaged the numbers of two words, but the mean of word 4 and word 8 is not word 6. Choose one of the two:
    torch.where.""")
