"""Lab 6: does the largest weight lie inside what the word names?"""

import torch

from misread.exercise import About, Exercise


def pointing_accuracy(weights, inside):
    """Share of the naming words whose largest weight lies inside: (B, T, Tk), (B, T, Tk) -> a number."""
    peak = weights.argmax(dim=-1, keepdim=True)  # (B, T, 1)
    hits = inside.gather(-1, peak)[..., 0]  # (B, T)
    naming = inside.any(dim=-1)  # (B, T): a word such as "above" names nothing
    return hits[naming].double().mean().item()


def _pointing(draw):
    batch, words, cells = draw.sizes(3)
    for b, t, k in ((batch, words, cells), (2, 3, 4), (3, 4, 4), (2, 2, 3), (1, 3, 3)):
        yield _words(draw, b, t, k)
    ranks = torch.stack([draw.order(3) for _ in range(6)]).view(2, 3, 3)
    named = torch.tensor([0, 1, 1, 1, 0, 5])[draw.order(6)].view(2, 3, 1)  # rank 5: a word that names nothing
    yield torch.tensor([0.36, 0.33, 0.31], dtype=torch.float64)[ranks], ranks == named  # the largest wins by a little


def _words(draw, batch, words, cells):
    """Words that name one or two cells, and words that name nothing; some peaks are hits, and some misses."""
    size = draw.integers(1, max(min(cells, 3), 2), batch, words, 1)
    order = torch.rand(batch, words, cells, generator=draw.generator).argsort(-1).argsort(-1)
    inside = order < size  # (B, T, Tk)
    names = torch.rand(batch, words, 1, generator=draw.generator) < 0.6
    names[0, 0], names[-1, -1] = True, False
    if words > 2:
        names[0, 1] = True
    pulled = torch.rand(batch, words, 1, generator=draw.generator) < 0.5
    pulled[0, :2, 0] = torch.tensor([True, False])[
        :words
    ]  # one word hits, and the next one misses if it names something
    scores = draw.normal(batch, words, cells) + torch.where(pulled, 2.0, -2.0) * inside
    return scores.softmax(-1), inside & names


def _of_one_word(result, weights, inside):
    naming = inside.any(-1).sum()
    return abs(result * naming - round(result * int(naming))) < 1e-6


POINTING_ACCURACY = Exercise(
    pointing_accuracy,
    cases=_pointing,
    gradients=False,
    tolerance=1e-6,
    about=About(points=2, minutes=16, difficulty=2, read_again="The whole model in code"),
)

must = POINTING_ACCURACY.properties
must("a share", lambda result, *args: 0 <= result <= 1).says("""
    The result is a share of words, so it lies between 0 and 1.""")
must("each naming word is a hit or a miss", _of_one_word).says("""
    A word that names something is either a hit or a miss, with nothing in between, so the result is the number of hits
    divided by the number of naming words.""")
must("the hits among the naming words", lambda result, *args: abs(result - pointing_accuracy(*args)) < 1e-6).says("""
    Find the position of the largest weight of each word, look up whether it lies inside, and take the mean over the
    words that name something.""")

wrong = POINTING_ACCURACY.mistakes
KEPT = "hits[naming]"
wrong("words that name nothing are misses", {KEPT: "hits"}).says("""
    You counted the words that name nothing, such as "above" and padding, as misses. They cannot be right or wrong,
    because nothing in the image belongs to them: leave the rows of `inside` without any True out of the mean.""")
wrong("words that name nothing are hits", {KEPT: "(hits | ~naming)"}).says("""
    You counted the words that name nothing as hits. They cannot be right or wrong, because nothing in the image
    belongs to them: leave them out of the mean.""")
wrong("weight instead of hits", {KEPT: "(weights * inside).sum(-1)[naming]"}).says("""
    You added the weight inside what the word names. This is a measure as well, but another one: here a word counts 1
    if its *largest* weight lies inside, and otherwise 0.""")
wrong("weight inside, over all words", {KEPT: "(weights * inside).sum(-1)"}).says("""
    You added the weight inside and divided by the number of all words. A word counts 1 if its *largest* weight lies
    inside and otherwise 0, and only words that name something are counted.""")
wrong("more than half of the weight", {KEPT: "((weights * inside).sum(-1) > 0.5)[naming]"}).says("""
    You counted a word as a hit if more than half of its weight lies inside. What decides is the single largest weight
    alone: find its position with argmax, and look this position up in `inside`.""")
wrong(
    "mean of the captions' means",
    {f"{KEPT}.double().mean()": "((hits.sum(-1) / naming.sum(-1).double())[naming.any(-1)]).mean()"},
).says("""
    You took the mean for each caption and then the mean of these. A word in a caption with few digits then counts
    more; every naming word of the batch counts the same.""")
wrong(
    "largest weight over the words",
    {
        "weights.argmax(dim=-1, keepdim=True)": "weights.argmax(dim=1, keepdim=True)",
        "gather(-1, peak)[..., 0]": "gather(1, peak)[:, 0]",
        "inside.any(dim=-1)": "inside.any(dim=1)",
    },
).says("""
    You looked for the largest weight over the *words*: which word attends most to a position? Wanted is, for each
    word, the position with the largest weight, so argmax runs over the last axis.""")
wrong("the first cell only", {"inside.gather(-1, peak)[..., 0]": "peak[..., 0] == inside.int().argmax(-1)"}).says("""
    You compared the peak with a single cell of what the word names (argmax of `inside` finds the first True). A word
    may name several cells, and the peak may lie in any of them.""")
wrong("peak among the inside cells", {"weights.argmax": "(weights * inside).argmax"}).says("""
    You looked for the largest weight among the cells inside only, so that every naming word is a hit. Look for it among
    *all* positions, and then ask whether it lies inside.""")
wrong("the first caption only", {f"{KEPT}.double()": "hits[0][naming[0]].double()"}).says("""
    You averaged over the words of the first caption only. The result is the share among all naming words of the
    batch.""")
wrong("words that name every position", {"inside.any": "inside.all"}).says("""
    You kept only words with True at *every* position (`all`), and hardly any word has that, so that the mean is taken
    over nothing. A word counts if at least one position belongs to it: `any`.""")
wrong("one of the two largest", {f"{KEPT}": "inside.gather(-1, weights.topk(2).indices).any(-1)[naming]"}).says("""
    You counted a hit if one of the *two* largest weights lies inside. Only the single largest weight of a word
    decides.""")
wrong("captions looked up instead of positions", {"inside.gather(-1, peak)[..., 0]": "inside[peak[..., 0]]"}).says("""
    `inside[peak]` looks along axis 0 and takes whole captions, with the number of a position as that of a caption.
    `inside.gather(-1, peak)` looks along the last axis, for each word by itself.""")
wrong("the largest weight itself", {KEPT: "weights.amax(-1)[naming]"}).says("""
    You averaged the largest weights themselves. They say how sure the captioner is, and not where it points: look up in
    `inside` whether the *position* of each lies inside.""")
wrong("captions with a hit", {f"{KEPT}.double().mean()": "hits.any(-1).double().mean()"}).says("""
    You asked per caption whether any word hits. Every naming word is counted by itself, and all words of the batch
    are averaged.""")
MEAN = f"{KEPT}.double().mean()"
OF_CAPTIONS = "(hits.sum(-1) / naming.sum(-1).clamp(min=1)).double().mean()"
wrong("mean of the captions' means, 0 for empty ones", {MEAN: OF_CAPTIONS}).says("""
    You took the mean for each caption, 0 if it names nothing, and then the mean of these. A word in a caption with few
    digits then counts more, and a caption that names nothing counts as a miss. Divide once: all hits by all naming
    words.""")
wrong("mean of the captions' means, some of them empty", {MEAN: "(hits.sum(-1) / naming.sum(-1)).mean()"}).says("""
    You took the mean for each caption and then the mean of these. A word in a caption with few digits then counts more,
    and a caption without any gives 0 / 0. Every naming word of the batch counts the same: divide once.""")
FIRST = {"inside.gather(-1, peak)[..., 0]": "peak[..., 0] == inside.int().argmax(-1)"}
wrong("the first cell only, of all words", FIRST | {KEPT: "hits"}).says("""
    You compared the peak with a single cell of what the word names (argmax of `inside` finds the first True), and
    counted words that name nothing. A word may name several cells: look up what `inside` holds at the peak, and average
    over the naming words only.""")
wrong("a weight above one half", {KEPT: "((weights * inside).amax(-1) > 0.5)[naming]"}).says("""
    You asked for a weight above one half inside. The largest weight decides, however small it is: with 49 positions it
    may well be 0.2.""")
wrong(
    "a weight above the mean", {KEPT: "((weights > weights.mean(-1, keepdim=True)) & inside).any(-1)[naming]"}
).says("""
    You asked whether any weight inside is larger than the mean. Only the position of the *largest* weight of the word
    counts.""")
wrong("peaks compared, all words", {KEPT: "((weights * inside).argmax(-1) == weights.argmax(-1))"}).says("""
    You compared the peak with the peak among the cells inside, which finds hits, but you averaged over all words. Words
    that name nothing must be left out.""")
wrong("mean weight inside", {KEPT: "(weights * inside).mean(-1)[naming]"}).says("""
    You averaged the weights inside. A word counts 1 if its *largest* weight lies inside, and otherwise 0.""")
wrong("the last word left out", {KEPT: "hits[:, :-1][naming[:, :-1]]"}).says("""
    You left out the last word of each caption. Whether a word counts is told by `inside` alone: a word that names
    nothing, such as an end symbol, has no True there.""")
wrong("the first word left out", {KEPT: "hits[:, 1:][naming[:, 1:]]"}).says("""
    You left out the first word of each caption. Whether a word counts is told by `inside` alone: if the first word
    names something, it counts, too.""")
ONE_PEAK = """
peak = weights.flatten(1).argmax(-1, keepdim=True)
return inside.flatten(1).gather(-1, peak).double().mean().item()"""
wrong("one peak per caption", ONE_PEAK).says("""
    You looked for a single largest weight in each caption, over all its words and positions. Each *word* has a largest
    weight of its own, so argmax runs over the last axis, and each naming word counts.""")
wrong("looked up along the words", {"gather(-1, peak)": "gather(1, peak)"}).says("""
    You looked up the peaks along axis 1, so that the number of a position was used as that of a word. Positions are the
    last axis: `inside.gather(-1, peak)`.""")
