"""Questions on chapters 11 and 12: language models, counting, tokens, and longer text."""

import math
from random import Random

import torch

from attnbook.attention import causal_mask, window_mask
from attnbook.attention.blocked import Running
from attnbook.data.texts.byte_pairs import count_pairs, merge_most_frequent_pair
from attnbook.measure.path_lengths import reach
from attnbook.measure.text import perplexity
from attnbook.models.ngram import KneserNey
from coursekit.exams.numbers import distinct, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind


@kind(11, SHORT, "Perplexity and bits")
def perplexities(draw: Random) -> Question:
    """Perplexity per token and bits per character of a short text."""
    while True:
        powers = [draw.randint(1, 5) for _ in range(4)]
        if sum(powers) % 4 == 0:
            break
    characters = sum(powers) * draw.choice([1, 2, 4])
    probabilities = tensor([2.0**-power for power in powers])
    logits = torch.stack([torch.zeros(4).double(), (probabilities / (1 - probabilities)).log()], dim=-1)[None]
    found = round(perplexity(logits, torch.ones(1, 4, dtype=torch.long)), 6)
    bits = sum(powers) / characters
    text = (
        f"A model cuts a text of {characters} characters into four tokens and gives them the probabilities "
        f"{', '.join(f'1/{2**power}' for power in powers)}.",
        "(a) How many bits does the whole text cost? (b) What is the perplexity per token? (c) How many bits per "
        "character "
        "are these? Another model reads single characters and has a lower perplexity. Is it better?",
    )
    steps = (
        Step(f"(a) {' + '.join(map(str, powers))} = {sum(powers)} bits.", 1),
        Step(f"(b) 2 to the power of {show(sum(powers) / 4)} = {show(found)}.", 1),
        Step(f"(c) {show(bits)}. Perplexities of different tokens cannot be compared; bits per character can.", 1),
    )
    given = {"powers": powers, "characters": characters}
    return Question(text, given, {"perplexity": found, "bits": bits}, steps)


@kind(11, LONG, "Kneser–Ney smoothing")
def kneser_ney(draw: Random) -> Question:
    """A bigram model with the discount 1/2 on four short sentences, from its counts."""
    while True:
        sentences = [[draw.choice([3, 4, 5]) for _ in range(draw.randint(2, 4))] for _ in range(4)]
        model = KneserNey(sentences, 10, order=2, discount=0.5).double()
        words, counts = model.tables[1].get((3,), (torch.zeros(0), torch.zeros(0)))
        after, types = model.tables[0][()]
        if len(words) < 2 or 4 not in words.tolist() or sum(counts) not in (2, 5) or sum(types) not in (5, 10):
            continue
        lower, upper = (round(model.probabilities(context)[4].item(), 9) for context in ((), (3,)))
        if "≈" not in show(lower) + show(upper):
            break
    times = dict(zip(words.tolist(), map(int, counts.tolist()), strict=True))
    kinds = dict(zip(after.tolist(), map(int, types.tolist()), strict=True))
    total, different, names = sum(times.values()), len(times), {2: "end", 3: "a", 4: "b", 5: "c"}
    free = 0.5 * different / total
    text = (
        f"These tokens follow the word a in a text: "
        f"{'; '.join(f'{names[w]}, count {n}' for w, n in sorted(times.items()))}. The word b "
        f"occurs after {kinds[4]} different words, out of {sum(kinds.values())} different pairs of neighbours, in "
        f"which "
        f"{len(kinds)} different second words occur. The vocabulary has 10 entries, and the discount is d = 1/2 "
        f"at both "
        "orders.",
        "(a) How much probability do the discounts after a set free? (b) Compute the lower-order probability of b, "
        "whose own freed share is spread evenly over the vocabulary. (c) Compute p(b | a). (d) Why does the "
        "lower order "
        "count after how many different words b occurs, and not how often?",
    )
    steps = (
        Step(f"(a) d · N / c(a) = 0.5 · {different} / {total} = {show(free)}.", 1),
        Step(f"(b) ({kinds[4]} − 0.5) / {sum(kinds.values())} + 0.5 · {len(kinds)} / {sum(kinds.values())} · 1/10 = "
             f"{show(lower)}.", 2),
        Step(f"(c) ({times[4]} − 0.5) / {total} + {show(free)} · {show(lower)} = {show(upper)}.", 2),
        Step("(d) A word that follows only one other word is improbable in new contexts, however frequent it is.", 1),
    )  # fmt: skip
    return Question(text, {"sentences": sentences}, {"lower": lower, "upper": upper, "free": free}, steps)


WORDS = ("cat", "cats", "hat", "hats", "that", "rat", "at", "chat", "hot", "hut", "cut", "cot", "tot", "rot")


@kind(11, LONG, "Byte-pair encoding")
def byte_pairs(draw: Random) -> Question:
    """Two merges of a small vocabulary, and how a new word is cut."""
    while True:
        counts = {word: draw.randint(1, 6) for word in draw.sample(WORDS, 5)}
        symbols = {tuple(word): count for word, count in counts.items()}
        merges, pairs, tied = [], [], False
        for _ in range(2):
            found = count_pairs(symbols).most_common(2)
            tied |= found[0][1] == found[1][1]
            pair, symbols = merge_most_frequent_pair(symbols)
            merges.append("".join(pair))
            pairs.append(found[0][1])
        if not tied:
            break
    text = (
        "A text has these words, with the number of times that each occurs:",
        Table(tuple(counts), (tuple(map(str, counts.values())),)),
        "(a) Which pair of neighbouring letters is most frequent, and how often does it occur? (b) It becomes "
        "one symbol. "
        "Which pair of neighbouring symbols is merged next, and how often does it occur? (c) Write the five words as "
        "symbols after both merges. (d) Why can such a vocabulary write every new word of the same letters?",
    )
    steps = (
        Step(f"(a) “{merges[0]}”, {pairs[0]} times.", 2),
        Step(f"(b) “{merges[1]}”, {pairs[1]} times.", 2),
        Step(f"(c) {', '.join('·'.join(word) for word in symbols)}.", 1),
        Step("(d) The single letters stay in the vocabulary.", 1),
    )
    answers = {"merges": merges, "counts": pairs, "words": ["·".join(word) for word in symbols]}
    return Question(text, {"counts": counts}, answers, steps)


@kind(12, LONG, "A softmax in two blocks")
def online_softmax(draw: Random) -> Question:
    """The three running numbers with powers of two, and the context."""
    first, second = sorted(distinct(draw, 0, 3, 2)), [draw.randint(2, 4), 5]
    draw.shuffle(first)
    draw.shuffle(second)
    values = [distinct(draw, 0, 8, 2), distinct(draw, 0, 8, 2)]
    state = Running(tensor([[-math.inf]]), tensor([[0.0]]), tensor([[0.0]]))
    track = []
    for scores, row in zip((first, second), values, strict=True):
        state = state.add(tensor([scores]) * math.log(2), tensor(row)[:, None])
        track.append([round(part.item(), 9) for part in (state.largest / math.log(2), state.total, state.summed)])
    context = track[1][2] / track[1][1]
    text = (
        f"A query has the scores {vector(first)} with a first block of keys and {vector(second)} with a second "
        f"one. The "
        f"values are {vector(values[0])} and {vector(values[1])}. Take powers of 2 in place of powers of e.",
        "(a) Compute the largest score, the total and the weighted sum after the first block. (b) By which "
        "factor are both "
        "sums multiplied when the second block arrives? (c) Compute the three numbers after the second block, and the "
        "context. (d) Somebody takes the mean of the two blocks’ own contexts. Why is this wrong?",
    )
    steps = (
        Step(f"(a) {vector(track[0])}.", 2),
        Step(f"(b) 2 to the power of {show(track[0][0] - track[1][0])} = {show(2 ** (track[0][0] - track[1][0]))}.", 1),
        Step(f"(c) {vector(track[1])}; context {show(context)}.", 2),
        Step("(d) Both blocks would count equally, but the block with the larger scores must count more.", 1),
    )
    given = {"scores": [first, second], "values": values}
    return Question(text, given, {"track": track, "context": round(context, 9)}, steps)


@kind(12, SHORT, "Windows upon windows")
def stacked_windows(draw: Random) -> Question:
    """How far a stack of causal windows reaches, and what it computes."""
    r, layers = draw.choice([2, 3, 4]), draw.choice([2, 3, 5])
    length = r * layers + draw.randint(5, 9)
    causal = causal_mask(length)
    known = int(reach(causal & window_mask(length, r), layers)[-1].sum())
    needed = math.ceil((length - 1) / r)
    pairs = int((causal & window_mask(length, r)).sum())
    text = (
        f"A language model has {layers} layers of causal attention. Each position attends to itself and to the "
        f"{r} positions "
        f"before it. A text has {length} positions.",
        "(a) Of how many positions, itself included, can the last one know at the output? (b) How many layers "
        "are needed "
        "until it can know of the first position? (c) How many scores does one layer compute if only allowed pairs are "
        "computed?",
    )
    steps = (
        Step(f"(a) {layers} · {r} + 1 = {known}.", 1),
        Step(f"(b) {length - 1} positions, {r} per layer: {needed}.", 1),
        Step(f"(c) {length} · {r + 1} − {r * (r + 1) // 2} = {pairs}.", 1),
    )
    given = {"r": r, "layers": layers, "length": length}
    return Question(text, given, {"known": known, "needed": needed, "pairs": pairs}, steps)
