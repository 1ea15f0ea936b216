"""Lab 11: one step of byte-pair encoding."""

from collections import Counter
from itertools import pairwise

from misread.exercise import About, Exercise


def merge_most_frequent_pair(words):
    """One step of byte-pair encoding: {symbols: count} -> (the most frequent pair, a new dict with it joined)."""
    counts = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    best = min(counts, key=lambda pair: (-counts[pair], pair))
    merged = {}
    for symbols, count in words.items():
        joined, i = [], 0
        while i < len(symbols):
            width = 2 if symbols[i : i + 2] == best else 1
            joined.append("".join(symbols[i : i + width]))
            i += width
        merged[tuple(joined)] = count
    return best, merged


def _word_counts(draw):
    a, b, c, d = (("a", "b", "c", "d"), ("l", "o", "w", "n"), ("s", "t", "e", "r"), ("h", "i", "m", "u"))[
        draw.number % 4
    ]
    a, b, c, d = ((a, b, c, d)[i] for i in draw.order(4))
    few, many = draw.integer(2, 4), draw.integer(5, 9)
    yield {(a, b, c): many, (a, b, d): few, (c,): 12}
    yield {(a, b): few, (c, d): few, (b, a, d): 1}  # equally frequent: the first in sorted order
    yield {(a, d): few, (a, c): few, (a, b): few}  # the second symbol decides
    yield {(a + b, c): few, (a, b + c): few}  # two ways to the same symbol
    yield {(c, a): 1, (c, b): 1, (c, d): 1, (d, a, b): many}  # often in few words, or rarely in many
    yield {(a, a, a): few, (a, a, a, a, b): few, (b, c): few}  # pairs that overlap
    yield {(a, a, a): few, (b, c): 2 * few - 1}  # most frequent only if those that overlap all count
    yield {(a, c): many, (c, d, b, a): many - 1}  # a long word counts no more than a short one
    yield {(b, a, c, a, c, a): few, (d, b, b): 2 * few - 1, (d, c): 1}  # twice in one word
    yield {(a, b): many, (d + a, b): few, (a, b + c): few, (d, c): 1}  # symbols that end or begin alike
    yield {(a + b, c): many, (d, a + b, c, c): few, (a, b): 1, (d,): 1}  # merged before
    symbols = (a, b, c, a + b)
    for _ in range(2):
        rows = [tuple(symbols[i] for i in draw.integers(0, 4, draw.integer(1, 6))) for _ in range(4)]
        different = {"".join(row): row for row in rows}  # words of the same letters could become equal
        yield {(d, a, b): 1} | {row: draw.integer(1, 6) for row in different.values()}


def _counted(words):
    counts = Counter()
    for symbols, count in words.items():
        for pair in pairwise(symbols):
            counts[pair] += count
    return counts


def _first_of_the_most_frequent(result, words):
    counts = _counted(words)
    return result[0] == min(pair for pair in counts if counts[pair] == counts[result[0]])


def _letters(words):
    return sorted(("".join(symbols), count) for symbols, count in words.items())


MERGE_MOST_FREQUENT_PAIR = Exercise(
    merge_most_frequent_pair,
    cases=lambda draw: ((words,) for words in _word_counts(draw)),
    returns=("pair", "new words"),
    gradients=False,
    device=False,
    about=About(points=3, minutes=20, difficulty=2, read_again="From text to tokens"),
)

must = MERGE_MOST_FREQUENT_PAIR.properties
must(
    "the pair stands somewhere", lambda result, words: any(result[0] in pairwise(symbols) for symbols in words)
).says("""
    The pair must consist of two symbols that stand side by side, in this order, in at least one word.""")
must(
    "no pair is more frequent", lambda result, words: _counted(words)[result[0]] == max(_counted(words).values())
).says("""
    Another pair stands in the words more often than yours. Each position at which two symbols stand side by side
    counts, overlapping ones too, and it counts as often as its word occurs.""")
must("the first of the most frequent ones", _first_of_the_most_frequent).says("""
    No pair is more frequent than yours, but one that is as frequent comes before it in sorted order. Pairs are sorted
    as tuples are: by the first symbol, and then by the second, not by the text that they make together.""")
must(
    "nothing else is merged",
    lambda result, words: all(word in result[1] for word in words if result[0] not in pairwise(word)),
).says("""
    A word in which your pair does not stand has changed or is gone. Only these two symbols, side by side in this order,
    are merged; two others that spell the same letters are another pair.""")
must("every word is still there", lambda result, words: _letters(result[1]) == _letters(words)).says("""
    Merging only joins symbols, so the letters of each word and its count must stay as they were. In your result some
    word was lost or changed, or has another count.""")
must(
    "the pair is gone", lambda result, words: not any(result[0] in pairwise(symbols) for symbols in result[1])
).says("""
    After the merge the pair may not stand side by side in any word, because each of its occurrences was joined into one
    symbol.""")

_BEST = "min(counts, key=lambda pair: (-counts[pair], pair))"
_COUNTING = """\
        for pair in pairwise(symbols):
            counts[pair] += count"""
_MERGING = """\
    for symbols, count in words.items():
        joined, i = [], 0
        while i < len(symbols):
            width = 2 if symbols[i : i + 2] == best else 1
            joined.append("".join(symbols[i : i + width]))
            i += width
        merged[tuple(joined)] = count"""
_BY_TEXT = """\
    for symbols, count in words.items():
        merged[tuple(" ".join(symbols).replace(" ".join(best), "".join(best)).split(" "))] = count"""
_BY_LETTERS = """\
    for symbols, count in words.items():
        merged[tuple(" ".join("".join(symbols)).replace(" ".join("".join(best)), "".join(best)).split(" "))] = count"""
_FROM_BEHIND = """\
    for symbols, count in words.items():
        joined, i = [], len(symbols)
        while i > 0:
            width = 2 if symbols[max(i - 2, 0) : i] == best else 1
            joined.insert(0, "".join(symbols[i - width : i]))
            i -= width
        merged[tuple(joined)] = count"""

wrong = MERGE_MOST_FREQUENT_PAIR.mistakes
wrong("the pair with its count", {"return best, merged": "return (best, counts[best]), merged"}).says("""
    You returned the pair together with its count. The first result is the pair alone, a tuple of two symbols.""")
wrong("the count left beside the pair", {_BEST: "counts.most_common(1)[0]"}).says("""
    `most_common(1)[0]` is the pair together with its count, so that your pair never stands in a word and nothing was
    joined. Take the pair alone, and follow the tie rule, which `most_common` does not know.""")
wrong("each word counted once", {"counts[pair] += count": "counts[pair] += 1"}).says("""
    You counted each word once, however often it occurs. A pair in a word that occurs nine times occurs nine times as
    well, so add the count of the word.""")
wrong("the last count of a pair", {"counts[pair] += count": "counts[pair] = count"}).says("""
    You set the count of a pair anew in each word, so that only the last word counts. Add the word's count to what the
    pair has already.""")
_APART = """\
        i = 0
        while i < len(symbols) - 1:
            counts[symbols[i : i + 2]] += count
            i += 2 if symbols[i : i + 3] == 3 * symbols[i : i + 1] else 1"""
wrong("pairs that overlap not counted", {_COUNTING: _APART}).says("""
    You went on behind a pair where the next pair overlaps it, so that `aaa` has the pair `aa` once. All positions at
    which two symbols stand side by side count, so it has this pair twice.""")
wrong("the last pair of a word not counted", {"in pairwise(symbols):": "in pairwise(symbols[:-1]):"}).says("""
    You left out the last pair of each word. A word of n symbols has n − 1 pairs, and the last of them begins at
    position n − 2: `range(len(symbols) - 1)`.""")
wrong("a pair counted once per word", {"in pairwise(symbols):": "in set(pairwise(symbols)):"}).says("""
    You counted each pair at most once in each word. Where a pair occurs twice in a word, as `an` in `banana`, it
    must be counted twice.""")
wrong("ties to the pair met first", {_BEST: "max(counts, key=counts.get)"}).says("""
    Among equally frequent pairs you took the one that was counted first. The result then depends on the order of the
    words, so take the pair that comes first in sorted order.""")
wrong("ties to the last pair", {_BEST: "max(counts, key=lambda pair: (counts[pair], pair))"}).says("""
    Among equally frequent pairs you took the *last* one in sorted order. Wanted is the first: sort by the negative
    count and then by the pair, or take the `min` among the most frequent pairs.""")
wrong("the first pair in sorted order", {_BEST: "min(counts)"}).says("""
    You took the pair that comes first in sorted order, whatever its count is. The count decides first, and the order
    decides only among equally frequent pairs.""")
wrong("the rarest pair", {_BEST: "min(counts, key=lambda pair: (counts[pair], pair))"}).says("""
    You merged the least frequent pair. The number of merges is limited, so each new one should replace as many pairs
    as possible: take the most frequent pair.""")
wrong("replaced in the text", {_MERGING: _BY_TEXT}).says("""
    You joined the symbols with spaces and replaced text. Then a symbol that only *ends* (or begins) like a part of
    the pair is merged as well, although it is another symbol. Compare whole symbols.""")
wrong("nothing joined", {"symbols[i : i + 2] == best": "list(symbols[i : i + 2]) == best"}).says("""
    Your pair is the right one, but no word was changed. The pair is a tuple, and a list or a string is never equal to a
    tuple, even with the same symbols: compare tuples.""")
wrong(
    "a tuple as a symbol", {'"".join(symbols[i : i + width])': "symbols[i : i + width] if width == 2 else symbols[i]"}
).says("""
    You put the pair, a tuple, into the word in place of one symbol. Symbols are strings, so join both with
    `"".join(…)` or `+`.""")
wrong("cut into letters again", {_MERGING: _BY_LETTERS}).says("""
    You joined each word to a string and cut it into letters, so that symbols merged in earlier steps fell apart.
    Keep the symbols as they are, and only join those that form the pair.""")
wrong("merged from behind", {_MERGING: _FROM_BEHIND}).says("""
    You merged from the end of the word. Where occurrences overlap, as in `aaa`, the leftmost one must be merged
    first, so that the same word is cut in the same way everywhere.""")
wrong("only the first occurrence", {"== best else 1": "== best and ''.join(best) not in joined else 1"}).says("""
    You merged only the first occurrence of the pair in each word. Every occurrence must be joined.""")
wrong("joined in either order", {"symbols[i : i + 2] == best": "symbols[i : i + 2] in (best, best[::-1])"}).says("""
    You also joined the two symbols where they stand in the other order. The pair is a tuple: its first symbol must
    stand directly before the second one.""")
wrong("the last symbol lost", {"while i < len(symbols):": "while i < len(symbols) - 1:"}).says("""
    Your loop ends before the last symbol, so this symbol is missing wherever it is not joined. Go on as long as a
    symbol is left.""")
wrong(
    "the last symbol twice",
    {
        "while i < len(symbols):": "while i < len(symbols) - 1:",
        "merged[tuple(joined)]": "merged[(*joined, symbols[-1])]",
    },
).says("""
    You append the last symbol after the loop even where it was joined already, so that it appears twice. Append it only
    if it was not joined.""")
wrong("the counts lost", {"merged[tuple(joined)] = count": "merged[tuple(joined)] = 1"}).says("""
    Every word has the count 1 in your new dict. A word occurs as often as before the merge, so it keeps its count.""")
wrong("the second symbol again", {"i += width": "i += 1"}).says("""
    After merging two symbols you went on by one position only, so that the second one appears again. Skip both
    symbols that were joined.""")
wrong(
    "words without the pair dropped",
    {
        "merged[tuple(joined)] = count": """if best in pairwise(symbols):
            merged[tuple(joined)] = count"""
    },
).says("""
    You returned only the words that contain the pair. The other words are needed for the next merges, so keep them
    unchanged.""")
wrong("the symbol instead of the pair", {"return best, merged": 'return "".join(best), merged'}).says("""
    You returned the joined symbol. Wanted is the pair of the two symbols, because the same symbol can arise from
    several pairs, and a new word is cut by merging pairs.""")
wrong("words joined to strings", {"merged[tuple(joined)]": 'merged["".join(joined)]'}).says("""
    You joined each word to one string, so that its symbols can no longer be told apart. The keys must be tuples of
    symbols, as in the input, and only the pair becomes one symbol.""")
wrong("words as strings", {"merged[tuple(joined)]": 'merged[" ".join(joined)]'}).says("""
    The keys of your new words are strings. They must be tuples of symbols, as in the input, so that the next step
    can be applied to them.""")
