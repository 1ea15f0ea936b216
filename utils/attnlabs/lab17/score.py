"""Lab 17: one number for how well a model does beyond the lengths it was trained on."""

from misread.exercise import About, Exercise


def extrapolation_score(exact_match, trained):
    """The mean exact match over the lengths beyond trained: {length: share}, number -> number."""
    beyond = [share for length, share in exact_match.items() if length > trained]
    return sum(beyond) / len(beyond)


def _measured(draw):
    """Exact match with two decimals, that of the trained lengths higher than the others'."""

    def table(lengths, trained):
        order = [lengths[i] for i in draw.order(len(lengths)).tolist()]
        shares = draw.integers(0, 60, len(order)).tolist()
        return {n: (share + 40 * (n <= trained)) / 100 for n, share in zip(order, shares, strict=True)}

    if draw.compact:
        yield {3: 1.0, 4: 0.5}, 3
        yield {3: 1.0, 4: 0.5, 6: 0.0}, 3
    trained = draw.integer(4, 9)
    yield table([trained - 1, trained, trained + 1, 2 * trained], trained), trained
    yield table([2, trained, trained + 1, trained + 3, 2 * trained, 4 * trained], trained), trained
    yield table([2, 3, trained + 2], trained), trained  # one length beyond, and the limit isn't there
    yield table([trained + 1, trained + 2, 3 * trained], trained), trained  # nothing inside
    yield table([10, 20, 24, 30, 40, 60, 80], 20), 20
    yield {trained: 1.0, trained + 1: 0.0, 2 * trained: 0.0}, trained  # fails at once
    yield {trained - 1: 0.5, trained: 0.0, trained + 1: 1.0, trained + 2: 1.0}, trained  # better beyond
    yield table([4 * trained, 3 * trained, 2 * trained, trained + 1, trained, 2], trained), trained
    yield {trained: 0.9, trained + 1: 0.01 * draw.integer(1, 99)}, trained
    yield {trained: 1.0, trained + 1: 0.97, 2 * trained: 0.4}, trained  # at one length it is nearly always right


EXTRAPOLATION_SCORE = Exercise(
    extrapolation_score,
    cases=_measured,
    gradients=False,
    tolerance=1e-6,  # a mean that torch takes of a list is float32
    about=About(
        points=2, minutes=8, difficulty=2, read_again=("17_beyond_lengths_evidence", "Ten models with an encoder")
    ),
)

must = EXTRAPOLATION_SCORE.properties
must(
    "between the worst and the best length",
    lambda result, exact_match, trained: (
        min(share for n, share in exact_match.items() if n > trained) - 1e-9
        <= result
        <= max(share for n, share in exact_match.items() if n > trained) + 1e-9
    ),
).says("""
    A mean lies between the lowest and the highest exact match beyond the trained lengths.""")

_ALL = "[share for length, share in exact_match.items() if length > trained]"
_MEAN = "sum(beyond) / len(beyond)"

wrong = EXTRAPOLATION_SCORE.mistakes
wrong(
    "share of the lengths that are mastered", {_MEAN: "sum(share >= 0.95 for share in beyond) / len(beyond)"}
).says("""
    You counted the lengths at which the model is nearly always right. The score is the mean of the exact match itself
    over the lengths beyond the trained ones.""")
wrong("divided with //", {_MEAN: "sum(beyond) // len(beyond)"}).says("""
    You divided with `//`, which drops all decimals, so that nearly every score is 0. A mean is divided with `/`.""")
NO_SHARE = {_ALL: "[share for share in exact_match.values() if share > trained]"}
wrong("the shares compared with `trained`", NO_SHARE).says("""
    You compared the *shares* with `trained`, and no share is so large, so that nothing is left to be averaged. Compare
    the length, which is the first of the two that `.items()` gives: for length, share in exact_match.items().""")
wrong("always 0", "return 0.0").says("""
    Your score is 0 for every input, as if no length passed your condition. Do you compare the share in place of the
    length? `.items()` gives pairs of length and share, in this order.""")
RUNNING = """
score = None
for length in sorted(exact_match):
    if length > trained:
        score = exact_match[length] if score is None else (score + exact_match[length]) / 2
return score"""
wrong("means of two", RUNNING).says("""
    You took the mean of the score so far and the next share, so the last length counts as much as all before it. Add
    all shares, and divide once by their number.""")
wrong("the trained length counted in", {"> trained": ">= trained"}).says("""
    You counted the longest trained length as well. The model has seen such examples: only lengths *above* `trained`
    count.""")
wrong("all lengths counted", {" if length > trained": ""}).says("""
    You averaged over all lengths. A model that fails at once beyond its training would still score well for what it
    has seen. Only lengths above `trained` count.""")
wrong("all lengths but the trained one", {"> trained": "!= trained"}).says("""
    You left out only the length `trained` itself, so that shorter lengths count as well. Only lengths *above* `trained`
    count: length > trained.""")
wrong("inside instead of beyond", {"> trained": "<= trained", _MEAN: "sum(beyond) / max(len(beyond), 1)"}).says("""
    You averaged over the trained lengths. Wanted are those above `trained`.""")
wrong("summed, not averaged", {_MEAN: "sum(beyond)"}).says("""
    You added the shares up. Then whoever measures at more lengths scores higher: divide by the number of lengths.""")
wrong("divided by all lengths", {_MEAN: "sum(beyond) / len(exact_match)"}).says("""
    You divided by the number of all lengths, the trained ones included. Divide by how many lie beyond.""")
WEIGHTED = """
beyond = {n: share for n, share in exact_match.items() if n > trained}
return sum(n * share for n, share in beyond.items()) / sum(beyond)"""
wrong("weighted by length", WEIGHTED).says("""
    You gave longer lengths more weight. In this score each length beyond counts the same.""")
wrong("the longest only", {_ALL: "[exact_match[max(exact_match)]]"}).says("""
    You returned the share at the longest length. Wanted is the mean over all lengths beyond `trained`.""")
wrong("the first one found", {_MEAN: "beyond[0]"}).says("""
    You returned the share of the first length beyond that comes in the dict. Wanted is the mean over all of them: a
    `return` inside a loop ends it.""")
ALL_BETWEEN = {_ALL: "[exact_match[n] for n in range(trained + 1, max(exact_match) + 1)]"}
wrong("lengths that were not measured", ALL_BETWEEN).says("""
    Your function looks up every length from `trained` + 1 to the largest one, and stops with a KeyError at one that was
    not measured. Go through the entries of the dict: exact_match.items().""")
BY_ORDER = """
lengths = list(exact_match)
behind = lengths[lengths.index(trained) + 1 :] if trained in lengths else lengths
return sum(exact_match[n] for n in behind) / max(len(behind), 1)"""
wrong("what stands behind the trained length", BY_ORDER).says("""
    You took the entries that stand behind `trained` in the dict. They come in any order, and `trained` need not be
    among them, so compare each length with `trained`: length > trained.""")
IN_THE_LOOP = """
total, count = 0.0, 0
for length, share in exact_match.items():
    if length > trained:
        total, count = total + share, count + 1
    return total / max(count, 1)"""
wrong("return inside the loop", IN_THE_LOOP).says("""
    Your loop ends after its first turn, because the `return` stands inside it. Indent it less, so that all lengths are
    seen before the division.""")
wrong("the worst only", {_MEAN: "min(beyond)"}).says("""
    You returned the worst length's share. That says where it hurts most, but wanted is the mean over the lengths.""")
wrong("the best only", {_MEAN: "max(beyond)"}).says("""
    You returned the best length's share, which is nearly always the one just beyond the training. Wanted is the mean
    over all lengths beyond.""")
wrong("the median", {_MEAN: "float(np.median(beyond))"}).says("""
    You took the middle one of the shares. Wanted is their mean, in which each length counts.""")
wrong(
    "from twice the length on", {_ALL: "[share for n, share in exact_match.items() if n >= 2 * trained] or [0.0]"}
).says("""
    You left out lengths between `trained` and twice `trained`. Beyond means longer than anything trained on: by one is
    enough.""")
wrong("the lengths averaged, not the shares", {_ALL: "[length for length in exact_match if length > trained]"}).says("""
    Going through a dict gives its keys, and you averaged these: the lengths. Wanted is the mean of what stands behind
    them, exact_match[length].""")
INSIDE = "[share for length, share in exact_match.items() if length <= trained]"
DROP = f"""
beyond, inside = {_ALL}, {INSIDE} or [0.0]
return sum(beyond) / len(beyond) - sum(inside) / len(inside)"""
wrong("the difference to inside", DROP).says("""
    You subtracted the mean inside the trained lengths. Then a model that is equally poor everywhere looks perfect.
    Wanted is the mean beyond, and nothing else.""")
AT_THE_LIMIT = f"""
beyond = {_ALL}
return sum(beyond) / len(beyond) / max(exact_match.get(trained, 1.0), 1e-9)"""
wrong("divided by the result at the trained length", AT_THE_LIMIT).says("""
    You divided by the exact match at `trained`. Then a model that is equally poor everywhere looks perfect, and the
    division fails where that is 0. Wanted is the mean beyond, and nothing else.""")
RATIO = f"""
beyond, inside = {_ALL}, {INSIDE} or [1.0]
return sum(beyond) / len(beyond) / max(sum(inside) / len(inside), 1e-9)"""
wrong("relative to inside", RATIO).says("""
    You divided by the mean inside the trained lengths. Then a model that is equally poor everywhere looks perfect.
    Wanted is the mean beyond, and nothing else.""")
