"""Questions on chapters 9 and 10: the Transformer and its decoding."""

import math
from random import Random

import torch
from torch import Tensor, nn

from attnbook.attention import causal_mask
from attnbook.decoding import beam, select
from attnbook.decoding.penalties import length_penalty
from attnbook.decoding.sampling import sampling_probabilities
from attnbook.measure.path_lengths import reach
from attnbook.models.block import TransformerConfig
from attnbook.models.transformer import Transformer
from coursekit.exams.numbers import cells, floats, parts, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, Table, kind


@kind(9, LONG, "Parameters of a Transformer")
def transformer_parameters(draw: Random) -> Question:
    """Matrices of encoder and decoder layers, without biases, norms and embeddings."""
    dim, layers, heads = draw.choice([10, 20, 30, 40, 50]), draw.choice([2, 3]), 2
    wide = dim * draw.choice([2, 4])
    with torch.device("meta"):  # only the shapes are needed
        model = Transformer(5, 5, TransformerConfig(d_model=dim, heads=heads, layers=layers, d_ff=wide))
    counts = [sum(p.numel() for p in stack.parameters() if p.ndim == 2) for stack in (model.encoder, model.decoder)]
    encoder, decoder = counts[0] // layers, counts[1] // layers
    text = (
        f"A Transformer has D = {dim} features, F = {wide} features inside feed-forward, {heads} heads and "
        f"{layers} layers "
        "in encoder and decoder each. Count the parameters of the matrices only, without biases, norms and embeddings.",
        "(a) How many does one attention have? (b) How many does feed-forward have? (c) How many does an encoder layer "
        "have, and how many a decoder layer? (d) How many do all layers have together? Does the number change if the "
        "sentences become twice as long, or with twice as many heads?",
    )
    steps = (
        Step(f"(a) Four matrices of D × D: {4 * dim * dim:,}.", 1),
        Step(f"(b) 2 D F = {2 * dim * wide:,}.", 1),
        Step(f"(c) {encoder:,} and, with cross-attention as a second attention, {decoder:,}.", 2),
        Step(f"(d) {sum(counts):,}. It does not change in either case.", 2),
    )
    given = {"dim": dim, "wide": wide, "layers": layers}
    return Question(text, given, {"encoder": encoder, "decoder": decoder, "all": sum(counts)}, steps)


@kind(9, SHORT, "Before or after the sum")
def norm_orders(draw: Random) -> Question:
    """A layer norm, and what pre-norm leaves in the stream."""
    mean, spread, factor = draw.randint(3, 9), draw.choice([1, 2, 3]), draw.choice([2, 3, 5])
    signs = draw.sample([-1, -1, 1, 1], 4)
    x = [mean + spread * sign for sign in signs]
    normed = [round(number, 3) + 0.0 for number in nn.LayerNorm(4).double()(tensor(x)).tolist()]
    stream = [x[0] + factor * normed[0], *map(float, x[1:])]
    text = (
        f"A word has the features x = {vector(x)}. A sublayer f returns {factor} times the first feature of its "
        f"input, and 0 "
        "for the other features. The layer norm has gain 1 and bias 0; leave out its ε.",
        "(a) Compute the mean, the variance and norm(x). (b) Compute the output of the sublayer with its "
        "residual connection "
        "in pre-norm. (c) Which mean and which variance has the output in post-norm, whatever f returns?",
    )
    steps = (
        Step(f"(a) Mean {mean}, variance {spread**2}, norm(x) = {vector(normed)}.", 1),
        Step(f"(b) x + f(norm(x)) = {vector(stream)}.", 1),
        Step("(c) Mean 0 and variance 1, because the norm is applied to the sum.", 1),
    )
    return Question(text, {"x": x, "factor": factor}, {"normed": normed, "stream": stream}, steps)


@kind(9, SHORT, "Label smoothing")
def smoothed_targets(draw: Random) -> Question:
    """The wanted distribution, and the ratio at which the loss is smallest."""
    size, epsilon = draw.choice([4, 5, 8, 10, 20, 25]), draw.choice([0.1, 0.2, 0.4])
    right, wrong = 1 - epsilon + epsilon / size, epsilon / size
    logits = torch.zeros(1, size, dtype=torch.float64, requires_grad=True)
    loss = nn.functional.cross_entropy(logits, torch.tensor([0]), label_smoothing=epsilon)
    wanted = floats(1 / size - torch.autograd.grad(loss, logits)[0][0])  # the gradient is p − q, with p = 1/V here
    text = (
        f"A model with a vocabulary of V = {size} words is trained with label smoothing, ε = {show(epsilon)}.",
        "(a) Which probability should the right word get, and which each other word? (b) By how much does the "
        "logit of the "
        "right word exceed the others where the loss is smallest? (Write it as a logarithm.) (c) What is the "
        "answer to (b) "
        "without label smoothing?",
    )
    steps = (
        Step(f"(a) 1 − ε + ε/V = {show(wanted[0])}, and ε/V = {show(wanted[1])}.", 1),
        Step(f"(b) By the logarithm of their ratio, ln {show(round(right / wrong, 9))}.", 1),
        Step("(c) There is no largest value: the loss falls as long as the difference grows.", 1),
    )
    answers = {"right": wanted[0], "wrong": wanted[1], "ratio": round(right / wrong, 6)}
    return Question(text, {"size": size, "epsilon": epsilon}, answers, steps)


@kind(9, SHORT, "A mask with a mistake")
def leaking_mask(draw: Random) -> Question:
    """Which logits change if one input word is replaced, with a right and with a wrong mask."""
    n, layers = draw.choice([7, 8, 9]), draw.choice([1, 2, 3])
    u = draw.randint(4, n - 2)
    right = reach(causal_mask(n), layers)[:, u]
    wrong = reach(torch.ones(n, n, dtype=torch.bool).tril(1), layers)[:, u]
    first = [int(column.nonzero()[0]) for column in (right, wrong)]
    text = (
        f"A decoder of {layers} layer{'s' if layers > 1 else ''} reads {n} words at the positions 0 to {n - 1}. "
        f"The word at "
        f"position {u} is replaced by another one.",
        "(a) At which positions can the logits change if the causal mask is right? (b) By mistake each position "
        "may also "
        "attend to the next one. At which positions can they change now? (c) What happens to the training loss "
        "with this "
        "mistake, and why?",
    )
    steps = (
        Step(f"(a) At positions {first[0]} to {n - 1}.", 1),
        Step(f"(b) Each layer leaks one position to the left: at positions {first[1]} to {n - 1}.", 1),
        Step("(c) It falls much too fast: the next word can be copied from the input, one position to the right.", 1),
    )
    return Question(text, {"n": n, "layers": layers, "u": u}, {"first": first}, steps)


class Tree:
    """A decoder over three words (0 = end, 1 = a, 2 = b) whose probabilities are given for each prefix."""

    select = staticmethod(select)

    def __init__(self, after: dict[tuple[int, ...], list[float]]) -> None:
        self.after = after

    def start(self) -> None:
        """Nothing has been written."""

    def step(self, token: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor, None]:
        """token (B,), the words so far (B, t) or None -> log-probabilities (B, 3), the words, and no weights."""
        words = token[:, :0] if token.ndim > 1 else token.new_zeros(len(token), 0)
        words = words if state is None else torch.cat([state, token[:, None]], dim=1)
        rows = [self.after.get(tuple(row), [1.0, 0.0, 0.0]) for row in words.tolist()]
        return tensor(rows).log(), words, None


def found(tree: Tree, width: int) -> tuple[str, float]:
    """The best sentence of a beam, and its probability."""
    prompt = torch.zeros(1, 1, dtype=torch.long)
    kept = beam(tree, max_length=3, width=width, prompt=prompt, eos=0)
    words = [int(word) for word in kept.tokens[0, 0] if word]
    return "".join("ab"[word - 1] + " " for word in words) + "end", round(math.exp(kept.scores[0, 0].item()), 9)


def tenths(draw: Random, end: tuple[int, int]) -> list[float]:
    """Three probabilities in tenths, that of the end within limits."""
    last = draw.randint(*end)
    a = draw.randint(1, 9 - last)
    return [last / 10, a / 10, (10 - last - a) / 10]


def misleading(draw: Random) -> dict[tuple[int, ...], list[float]]:
    """A language in which greedy decoding misses the most probable sentence and a beam of two finds it."""
    while True:
        after = {(): tenths(draw, (1, 3)), (1,): tenths(draw, (1, 6)), (2,): tenths(draw, (1, 8))}
        first = sorted(range(3), key=lambda word: -after[()][word])
        chances = sorted(sentences(after), key=lambda one: -one[1])
        best, greedy = chances[0], next(one for one in chances if one[0][:1] == (first[0],))
        different = all(len(set(row)) == 3 for row in after.values()) and len({round(p, 6) for _, p in chances}) == 7
        if different and first[2] == 0 and best[0][:1] == (first[1],) and best[1] > greedy[1] + 0.01:
            return after


@kind(10, LONG, "Greedy decoding and a beam")
def beam_search(draw: Random) -> Question:
    """A language of two words, in which the most probable word leads to a less probable sentence."""
    after = misleading(draw)
    greedy, best = found(Tree(after), 1), found(Tree(after), 2)
    rows = tuple((name, *cells(after[prefix])) for name, prefix in (("nothing", ()), ("a", (1,)), ("b", (2,))))
    text = (
        "A language has the words a and b and an end symbol, which is certain after two words. The table shows the "
        "probability of each next word after each prefix.",
        Table(("after", "end", "a", "b"), rows),
        "(a) Which sentence does greedy decoding write, and what is its probability? (b) Which two hypotheses "
        "does a beam of "
        "width 2 keep after the first and after the second step? (c) Which sentence does it return, with which "
        "probability? "
        "(d) Is the error of greedy decoding here a search error or a model error, if the sentence of (c) is right?",
    )
    steps = (
        Step(f"(a) “{greedy[0]}” with {show(greedy[1])}.", 1),
        Step(f"(b) {kept_by(after)}", 2),
        Step(f"(c) “{best[0]}” with {show(best[1])}.", 2),
        Step("(d) A search error: the model gives the right sentence the higher probability.", 1),
    )
    given = {"after": {"".join("ab"[w - 1] for w in prefix): row for prefix, row in after.items()}}
    return Question(text, given, {"greedy": list(greedy), "best": list(best)}, steps)


def sentences(after: dict[tuple[int, ...], list[float]]) -> list[tuple[tuple[int, ...], float]]:
    """All sentences of such a language with their probabilities."""
    listed: list[tuple[tuple[int, ...], float]] = [((), after[()][0])]
    for first in (1, 2):
        listed.append(((first,), after[()][first] * after[(first,)][0]))
        listed += [((first, second), after[()][first] * after[(first,)][second]) for second in (1, 2)]
    return listed


def kept_by(after: dict[tuple[int, ...], list[float]]) -> str:
    """What a beam of width 2 keeps, in words."""
    names = {0: "end", 1: "a", 2: "b"}
    first = sorted(range(3), key=lambda word: -after[()][word])[:2]
    second: list[tuple[float, str]] = []
    for word in first:
        if word == 0:
            second.append((after[()][0], "end"))
        else:
            second += [(after[()][word] * after[(word,)][w], f"{names[word]} {names[w]}") for w in range(3)]
    best = sorted(second, reverse=True)[:2]
    one = ", ".join(f"“{names[word]}” {show(after[()][word])}" for word in first)
    two = ", ".join(f"“{name}” {show(round(p, 9))}" for p, name in best)
    return f"After the first step {one}; after the second {two}."


@kind(10, SHORT, "A length penalty")
def longer_sentences(draw: Random) -> Question:
    """Which of two sentences wins without and with the penalty."""
    while True:
        short, long = draw.choice([(1, 7), (1, 13), (7, 13), (7, 19)])
        low, high = draw.randint(2, 6) / 2, draw.randint(3, 14) / 2
        penalties = [length_penalty(tensor(float(n)), 1.0).item() for n in (short, long)]
        scores = [round(-low / penalties[0], 9), round(-high / penalties[1], 9)]
        if low < high and scores[1] > scores[0]:
            break
    text = (
        f"A beam has found a sentence of {short} word{'s' if short > 1 else ''} with log-probability {show(-low)} "
        f"and one of "
        f"{long} words with {show(-high)}. The length penalty is ((5 + T) / 6) to the power of α.",
        "(a) Which sentence wins with α = 0? (b) Compute both scores with α = 1. Which one wins? (c) Why does a search "
        "without the penalty favour short sentences?",
    )
    steps = (
        Step("(a) The short one, which has the higher log-probability.", 1),
        Step(f"(b) {show(scores[0])} and {show(scores[1])}: the long one wins.", 1),
        Step("(c) Each further word multiplies the probability by a number below 1.", 1),
    )
    given = {"lengths": [short, long], "log_probs": [-low, -high]}
    return Question(text, given, {"scores": scores}, steps)


@kind(10, SHORT, "Cutting a distribution")
def next_words(draw: Random) -> Question:
    """Top-k and nucleus sampling on five probabilities."""
    while True:
        likely = sorted(parts(draw, 20, 5), reverse=True)
        k, p = draw.choice([2, 3]), draw.choice([0.62, 0.72, 0.82])
        if len(set(likely)) == 5:
            break
    logits = tensor([likely]).log()
    top, nucleus = (floats(sampling_probabilities(logits, **cut)[0]) for cut in ({"top_k": k}, {"top_p": p}))
    kept = sum(number > 0 for number in nucleus)
    text = (
        f"The five next words have the probabilities {vector(n / 20 for n in likely)}.",
        f"(a) Compute the probabilities of top-k sampling with k = {k}. (b) How many words does the nucleus of "
        f"{show(p)} keep, "
        "and with which probabilities? (c) What does a temperature near 0 do to the draw?",
    )
    steps = (
        Step(f"(a) {vector(top)}.", 1),
        Step(f"(b) {kept} words: {vector(nucleus)}.", 1),
        Step("(c) It becomes greedy decoding: the most probable word gets nearly all the probability.", 1),
    )
    return Question(text, {"likely": likely, "k": k, "p": p}, {"top": top, "nucleus": nucleus, "kept": kept}, steps)


@kind(10, SHORT, "A key–value cache")
def cache_size(draw: Random) -> Question:
    """Numbers in the cache, and the words that a program without it computes."""
    layers, dim, words = draw.choice([2, 4, 6]), draw.choice([10, 50, 100]), draw.choice([10, 20, 100])
    stored = 2 * layers * dim * words
    again = int(causal_mask(words).sum())  # one more word at each step
    share = draw.choice([2, 5])
    text = (
        f"A decoder of {layers} layers with {dim} features writes {words} words. Count self-attention only.",
        "(a) How many numbers does its key–value cache hold at the end? (b) How many words pass through the "
        "layers in all "
        f"without a cache, and how many with it? (c) Groups of {share} heads now share keys and values. What "
        f"becomes of the "
        "answer to (a)? Do the words that are written depend on the cache?",
    )
    steps = (
        Step(f"(a) Two vectors per word and layer: 2 · {layers} · {dim} · {words} = {stored:,}.", 1),
        Step(f"(b) 1 + 2 + … + {words} = {again:,} without, {words} with it.", 1),
        Step(f"(c) {stored // share:,}. The cache changes no word.", 1),
    )
    given = {"layers": layers, "dim": dim, "words": words, "share": share}
    return Question(text, given, {"stored": stored, "again": again, "shared": stored // share}, steps)
