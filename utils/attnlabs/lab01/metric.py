"""Lab 1, the measure: which sentences came out right, by length."""

from misread.exercise import About, Exercise

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "ten", "twelve", "fifty", "hundred"]  # no zero


def exact_match_by_length(predictions, targets, source_lengths):
    """Share of sentences translated without a mistake, by length: lists of lists of words -> {length: share}."""
    hits = {}
    for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
        hits.setdefault(length, []).append(prediction == target)
    return {length: sum(found) / len(found) for length, found in sorted(hits.items())}


def _few(draw):
    """One thing at a time, for a counter-example that can be read at a glance."""
    one, two, three, four = _words(draw.order(len(WORDS))[:4])
    yield [[one, two]], [[two, one]], [5]
    yield [[one]], [[one, two]], [4]
    yield [[one, two], [one]], [[one, two], [three]], [4, 3]
    yield [[one, two], [three, one]], [[one, two], [three, two]], [3, 3]
    yield [[one, two, three]], [[one, four, three]], [6]  # only the middle differs
    yield [[], [two]], [[one], [two]], [4, 4]  # the model said nothing
    yield [["seven", "teen"], [two]], [["seventeen"], [two]], [3, 3]  # the same letters, other words
    yield [[one, two, two]], [[one, two, one]], [5]  # the same set of words
    yield [[one, two, three]], [[one, two]], [4]  # a word too many
    yield [[two], [one]], [[one], [two]], [3, 3]  # each is the other's target
    yield [[one], [one], [two]], [[one], [two], [two]], [4, 3, 4]  # a length comes up again, and a target
    yield [[one], [two], [three]], [[one], [one], [three]], [6, 6, 6]


def _translations(draw):
    yield from _few(draw)
    predictions, targets, lengths = [], [], []
    for length, count in ((2, 3), (5, 4), (4 + draw.number, 1)):
        for example in range(count):
            target = _words(draw.integers(0, len(WORDS), length + 1 + example % 2))
            kind = (example + draw.number) % 5
            predictions.append(_spoil(target, kind) if example else list(target))
            targets.append(target)
            lengths.append(length)
    target = _words(draw.integers(0, len(WORDS), 9))
    for kind in (1, 2, 4):
        predictions.append(_spoil(target, kind))  # no sentence of this length is right
        targets.append(target)
        lengths.append(20)
    order = draw.order(len(targets)).tolist()
    yield [predictions[i] for i in order], [targets[i] for i in order], [lengths[i] for i in order]


def _spoil(target, kind):
    """The last word wrong; it is missing; one too many; two words swapped; a word in the middle wrong."""
    swapped = [target[1], target[0], *target[2:]] if target[0] != target[1] else [*target[:-1], "zero"]
    middle = [target[0], "zero", *target[2:]]
    return [[*target[:-1], "zero"], target[:-1], [*target, target[-1]], swapped, middle][kind]


def _words(numbers):
    return [WORDS[number] for number in numbers.tolist()]


EXACT_MATCH = Exercise(
    exact_match_by_length,
    cases=_translations,
    tolerance=1e-6,  # a share that torch takes the mean of is float32
    about=About(points=2, minutes=12, difficulty=2, read_again="Where it fails: longer lists"),
)

must = EXACT_MATCH.properties
must(
    "one entry for each source length", lambda result, predictions, targets, lengths: set(result) == set(lengths)
).says("""
    The dictionary must have one entry for each length that occurs in `source_lengths`, and no other. A length at which
    no sentence is correct has the entry 0.""")
must("between 0 and 1", lambda result, *args: all(0 <= value <= 1 for value in result.values())).says("""
    An accuracy is a share of sentences, so it is at least 0 and at most 1.""")

wrong = EXACT_MATCH.mistakes
RUNS = """
found = {}
for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
    found[length] = (found[length] if last == length else []) + [prediction == target]
    last = length
return {length: sum(hits) / len(hits) for length, hits in sorted(found.items())}"""
wrong("only the last run of each length", RUNS.replace("found = {}", "found, last = {}, None")).says("""
    Where a length comes up again later in the list, you begin anew and forget the sentences before, as
    `itertools.groupby` does without sorting. Collect all sentences of a length, wherever they stand.""")
SAME = "prediction == target"
PAIRS = "zip(prediction, target)"
wrong("words counted, not sentences", {SAME: f"sum(p == t for p, t in {PAIRS}) / len(target)"}).says("""
    You counted correct words. Exact match counts correct sentences: a translation with a single wrong word adds
    nothing, because a number with a wrong digit is a wrong number.""")
wrong("compared as far as the shorter goes", {SAME: f"all(p == t for p, t in {PAIRS})"}).says("""
    You compared word by word with `zip`, which stops at the end of the shorter list. A translation that is too short
    or too long then counts as correct. Compare the two lists with `==`.""")
wrong(
    "words counted, by the longer list", {SAME: f"sum(p == t for p, t in {PAIRS}) / max(len(prediction), len(target))"}
).says("""
    You counted correct words and divided by the length of the longer list. Exact match counts correct sentences: one
    with a single wrong word counts nothing, and one that equals its target counts 1.""")
wrong("words counted over all sentences", {f"append({SAME})": f"extend(p == t for p, t in {PAIRS})"}).says("""
    You counted correct words over all sentences of a length. Exact match counts sentences, and a sentence is correct
    only if all its words are: compare whole lists with `==`.""")
OVERWRITTEN = """
hits = {}
for prediction, target, length in zip(predictions, targets, source_lengths, strict=True):
    for word, wanted in zip(prediction, target):
        same = word == wanted
    hits.setdefault(length, []).append(same)
return {length: sum(found) / len(found) for length, found in hits.items()}"""
wrong("the last word decides", OVERWRITTEN).says("""
    Your inner loop overwrites its result at each word, so that only the last pair of words decides. All words must be
    equal, and none may be missing: compare the two lists with `==`.""")
wrong("further words ignored", {SAME: "prediction[: len(target)] == target"}).says("""
    You compared only as many words as the target has, so a translation with further words counts as correct. Compare
    the two lists with `==`, which compares their lengths, too.""")
wrong("missing words ignored", {SAME: "target[: len(prediction)] == prediction"}).says("""
    You compared only as many words as the translation has, so one that ends too early counts as correct. Compare the
    two lists with `==`, which compares their lengths, too.""")
wrong("order ignored", {SAME: "sorted(prediction) == sorted(target)"}).says("""
    You compared the words without their order, as `sorted` or `Counter` does, so “two hundred one” would equal “one
    hundred two”. Compare the two lists with `==`.""")
wrong("compared with all targets", {SAME: "prediction in targets"}).says("""
    You asked whether a translation is among all the targets. It is correct only if it equals the target of its own
    sentence, which has the same position in its list.""")
wrong("order and repeats ignored", {SAME: "set(prediction) == set(target)"}).says("""
    You compared sets of words. A set has no order and holds each word only once, so “two hundred one” would equal
    “one hundred two”. Compare the two lists with `==`.""")
wrong("words run together", {SAME: "''.join(prediction) == ''.join(target)"}).says("""
    You joined the words without a space between them, so the two words “seven teen” would equal the one word
    “seventeen”. Compare the two lists with `==`.""")
wrong("divided by all examples", {"len(found)": "len(targets)"}).says("""
    You divided by the number of all sentences. The accuracy at a length is the share among the sentences of this
    length, so divide by their number.""")
wrong("divided by all correct ones", {"len(found)": "max(sum(map(sum, hits.values())), 1)"}).says("""
    You divided by the number of all correct sentences, so your entries say how the correct ones are distributed over
    the lengths. The accuracy at a length is the share among *all* sentences of this length.""")
wrong("counted, not divided", {" / len(found)": ""}).says("""
    You returned how many sentences of each length are correct. The accuracy is a share, so divide by the number of
    sentences of this length.""")
wrong("grouped by the target's length", {"setdefault(length,": "setdefault(len(target),"}).says("""
    You grouped the sentences by the length of their target. The accuracy is wanted for each length of the source,
    which `source_lengths` gives.""")
wrong("the last one counts", {"sum(found) / len(found)": "float(found[-1])"}).says("""
    You overwrite the entry of a length with each new sentence, so only the last sentence of each length counts.
    Collect the results of all sentences of a length first, and then take their mean.""")
wrong("the first one counts", {"sum(found) / len(found)": "float(found[0])"}).says("""
    You keep the result of the first sentence of a length and pass over the others. Collect the results of all sentences
    of a length first, and then take their mean.""")
wrong("one correct sentence is enough", {"sum(found) / len(found)": "float(any(found))"}).says("""
    You returned 1 for a length as soon as one sentence is correct. The accuracy is the *share* of the sentences of this
    length that are correct: their number, divided by the number of all sentences of this length.""")
wrong("only the first sentence", "return {source_lengths[0]: float(predictions[0] == targets[0])}").says("""
    Your result is that of the first sentence alone. Collect the results of all sentences first: `return` stands behind
    the loop and not in it.""")
