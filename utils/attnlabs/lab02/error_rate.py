"""Lab 2, last part: how far an alignment is from the true one."""

from misread.exercise import About, Exercise


def alignment_error_rate(sure, possible, predicted):
    """1 - (|A & S| + |A & P|) / (|A| + |S|) of three sets of (source, target) pairs."""
    right = len(predicted & sure) + len(predicted & possible)
    total = len(predicted) + len(sure)
    return 1 - right / total if total else 0.0


def _alignments(draw):
    if draw.compact:
        yield from _few_links(draw)
        return
    source, target = draw.sizes(2, low=4)

    def some(count):
        return {(draw.integer(0, source), draw.integer(0, target)) for _ in range(count)}

    sure = some(4) | {(0, 1), (2, 3)}
    possible = sure | some(5) | {(1, 0)}
    predicted = some(4) | {(0, 1), (1, 0), (3, 3)}
    yield sure, possible, predicted
    yield sure, possible, set(sorted(predicted)[:2]) | {(3, 2)}
    yield sure, possible, {(0, 1)}  # all that it links is right
    yield sure, possible, set()  # a model that links nothing
    yield set(), possible, predicted  # nothing is sure
    yield set(), possible, set()
    yield set(), set(), set()


def _few_links(draw):
    links = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1)]
    some = [links[i] for i in draw.order(6)]
    yield {some[0]}, set(some[:2]), {some[1]}
    yield {some[0]}, set(some[:2]), set(some[:2])
    yield {some[0]}, set(some[:2]), {some[0], some[2]}
    yield set(some[:2]), set(some[:3]), {some[0], some[2], some[3]}  # as in the lab's text


ALIGNMENT_ERROR_RATE = Exercise(
    alignment_error_rate,
    cases=_alignments,
    gradients=False,
    device=False,
    tolerance=1e-6,  # a rate of two whole tensors is float32
    about=About(points=2, minutes=12, difficulty=2, read_again="Are attention weights an alignment?"),
)

must = ALIGNMENT_ERROR_RATE.properties
must("between 0 and 1", lambda result, *args: 0 <= result <= 1).says("""
    The result must lie between 0 and 1, because |A ∩ P| is at most |A|, and |A ∩ S| is at most |S|.""")
must(
    "a missing link costs",
    lambda result, sure, possible, predicted: result > 0 or sure <= predicted or not set() < predicted <= possible,
).says("""
    No predicted link is wrong, but a sure one is missing, and your result is 0. Not only wrong links count (precision),
    missing ones do, too (recall), so |A ∩ S| and |S| belong into the fraction.""")

wrong = ALIGNMENT_ERROR_RATE.mistakes
wrong("no guard for empty sets", {" if total else 0.0": ""}).says("""
    You divided by |A| + |S|, which is 0 if there is no sure link and no predicted one. In this case there is no
    error, so return 0.0.""")
wrong("empty sets all wrong", {"total else 0.0": "total else 1.0"}).says("""
    You returned 1 where there is no sure link and no predicted one. Nothing had to be found and nothing was
    predicted, so there is no error: return 0.0.""")
wrong("0 when one set is empty", {"if total else": "if predicted and sure else"}).says("""
    You returned 0 as soon as one of the two sets is empty. Only when *both* are empty there is no error: a model that
    predicts nothing has missed every sure link.""")
wrong("0 when nothing is predicted", {"if total else": "if predicted else"}).says("""
    You returned 0 as soon as no link is predicted. This is no error only if no link is sure, either: otherwise every
    sure link is missing, and the rate is 1. The formula gives this by itself wherever |A| + |S| is not 0.""")
wrong("0 when nothing is sure", {"if total else": "if sure else"}).says("""
    You returned 0 as soon as no link is sure. This is no error only if no link is predicted, either: otherwise a
    predicted link may be wrong. The formula gives the rate by itself wherever |A| + |S| is not 0.""")
wrong("0 only when all three sets are empty", {"if total else": "if total or possible else"}).says("""
    You returned 0 only if `possible` is empty, too. The denominator is |A| + |S|, so it is 0 as soon as `predicted` and
    `sure` are empty, no matter which links are possible.""")
wrong("sum of sizes without brackets", {"right / total": "right / len(predicted) + len(sure)"}).says("""
    You divided by |A| alone and added |S| afterwards, because `/` binds more tightly than `+`. The denominator is
    the whole sum: `/ (len(predicted) + len(sure))`.""")
_BARE = "len(predicted & sure) + len(predicted & possible) / len(predicted) + len(sure)"
wrong("no brackets at all", {"right / total": _BARE}).says("""
    You divided only |A ∩ P|, and only by |A|, because `/` binds more tightly than `+` and `-`. Both sums need brackets,
    the one above the line and the one below it.""")
wrong("no brackets", {"right / total": "len(predicted & sure) + len(predicted & possible) / total"}).says("""
    You divided only |A ∩ P|, because `/` binds more tightly than `+`. The whole sum |A ∩ S| + |A ∩ P| is divided, and
    then subtracted from 1: both need brackets.""")
wrong(
    "mean of two rates",
    "precision = len(predicted & possible) / len(predicted) if predicted else 1.0\n"
    "recall = len(predicted & sure) / len(sure) if sure else 1.0\n"
    "return 1 - (precision + recall) / 2",
).says("""
    You took the mean of precision and recall. The two are not averaged: their numerators are added, and divided by the
    sum of their denominators, |A| + |S|, so that the longer list weighs more.""")
wrong(
    "F-measure of precision and recall",
    "precision = len(predicted & possible) / len(predicted) if predicted else 0.0\n"
    "recall = len(predicted & sure) / len(sure) if sure else 0.0\n"
    "if not predicted and not sure:\n    return 0.0\n"
    "return 1 - 2 * precision * recall / (precision + recall) if precision + recall else 1.0",
).says("""
    You took 1 minus the harmonic mean of precision and recall. It is the same only if both count the same links;
    here one counts |A ∩ P| and the other |A ∩ S|. Add these two, and divide by |A| + |S|.""")
wrong("only the sure links, by their number", "return 1 - len(predicted & sure) / len(sure) if sure else 0.0").says("""
    You returned the share of sure links that are missing, which is 1 minus the recall. Wrong predictions must
    count, too: add |A ∩ P| to the numerator, and |A| to the denominator.""")
wrong("possible links ignored", {"len(predicted & possible)": "len(predicted & sure)"}).says("""
    You counted the sure links twice and did not use the possible ones. A predicted link that is possible is no error,
    so the numerator contains |A ∩ P|.""")
wrong("sure links ignored", {"len(predicted & sure)": "len(predicted & possible)"}).says("""
    You counted the possible links twice and did not use the sure ones. Then a sure link that is missing costs nothing
    in the numerator, which must also contain |A ∩ S|.""")
wrong("sure links not counted as possible", {"predicted & possible": "predicted & (possible - sure)"}).says("""
    You removed the sure links from the possible ones, or counted each predicted link only once. P contains S, so a
    sure link that was predicted counts twice in the numerator.""")
wrong("divided by the possible links", {"len(predicted) + len(sure)": "len(predicted) + len(possible)"}).says("""
    You divided by |A| + |P|. A model need not predict the links that are only possible, so the denominator is |A| +
    |S|.""")
wrong("divided by the union", {"len(predicted) + len(sure)": "len(predicted | sure)"}).says("""
    You divided by the size of the union |A ∪ S|, in which a link that lies in both sets counts only once. In the
    numerator it counts twice, so that the rate can fall below 0. Add the two sizes: |A| + |S|.""")
