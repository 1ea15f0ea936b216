"""A small English whose verbs agree with a subject that may stand far away: "the keys near the old cabinet are here".

Between subject and verb come attractors, nouns of either number that a hasty reader takes for the subject.
After Linzen, Dupoux and Goldberg 2016, who asked the same of LSTMs on English.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from attnbook.data.batching import Example, Task
from attnbook.data.splitting import split_by_size
from attnbook.data.texts.vocabulary import Vocabulary

_PERSONS = ["farmer", "girl", "king", "sailor", "teacher", "painter", "doctor", "baker"]
_THINGS = ["key", "cabinet", "table", "book", "boat", "tree", "house", "letter", "chair", "garden"]
_ADJECTIVES = ["old", "small", "red", "new", "dark", "heavy", "clean", "broken"]
_PREPOSITIONS = ["near", "of", "behind", "under", "beside", "above", "with", "on"]
_ADVERBS = ["here", "there", "today", "again"]
_BE = [("is", "are"), ("was", "were"), ("seems", "seem")]  # main verbs, with an adjective or a place after them
_STAY = [("stands", "stand"), ("falls", "fall"), ("stays", "stay")]  # main verbs, with an adverb or a place
_SEE = [("sees", "see"), ("loves", "love"), ("knows", "know"), ("wants", "want"), ("paints", "paint")]  # in clauses
_NUMBER_OF = {form: number for noun in _PERSONS + _THINGS for number, form in enumerate((noun, noun + "s"))}
_OTHER = {verb: pair[1 - number] for pair in _BE + _STAY + _SEE for number, verb in enumerate(pair)}
_FORMS_OF_PERSONS = [noun for noun in _NUMBER_OF if noun.removesuffix("s") in _PERSONS]
_MAIN = {verb for pair in _BE + _STAY for verb in pair}
SHORTEST_MODIFIER = 3  # words of "of the king"
MANY = 5_000_000  # different sentences of size 0; there are more of each other size

Pick = Callable[[Sequence], Any]  # takes one of several things by chance


def number_of(noun: str) -> int:
    """0 for a noun in the singular, 1 for one in the plural. Raises ValueError for another word.

    >>> number_of("key"), number_of("keys")
    (0, 1)
    """
    if noun not in _NUMBER_OF:
        raise ValueError(f"noun is {noun!r}; the nouns of this language are {', '.join(_NUMBER_OF)}")
    return _NUMBER_OF[noun]


def other_number(verb: str) -> str:
    """The same verb in the other number. Raises ValueError for another word.

    >>> other_number("is"), other_number("love")
    ('are', 'loves')
    """
    if verb not in _OTHER:
        raise ValueError(f"verb is {verb!r}; the verbs of this language are {', '.join(_OTHER)}")
    return _OTHER[verb]


def subject_and_verb(example: Example) -> tuple[int, int]:
    """The positions of the subject and of its verb in a sentence: the one link that the example holds.

    Raises ValueError if the example is none of :func:`agreement_sentences`.
    """
    if len(example.sure) != 1 or example.source != example.target:
        raise ValueError(f"example is no sentence with one subject and one verb: {example}")
    ((subject, verb),) = example.sure
    return subject, verb


def attractors(example: Example) -> list[int]:
    """The positions of the nouns between subject and verb whose number is not the subject's.

    >>> attractors(read_sentence("the keys near the cabinet of the kings are here"))  # "cabinet", not "kings"
    [4]
    """
    subject, verb = subject_and_verb(example)
    number = number_of(example.source[subject])
    return [i for i in range(subject + 1, verb) if _NUMBER_OF.get(example.source[i], number) != number]


def read_sentence(text: str) -> Example:
    """Your own sentence as an example: the subject is its first noun, the verb its first main verb, right or wrong.

    Raises ValueError if it has no noun, or no main verb after that.

    >>> example = read_sentence("the keys near the old cabinet of the farmer are on the table")
    >>> subject_and_verb(example), example.size
    ((1, 9), 7)
    """
    words = tuple(text.split())
    subject = next((i for i, word in enumerate(words) if word in _NUMBER_OF), None)
    verb = next((i for i, word in enumerate(words) if word in _MAIN and subject is not None and i > subject), None)
    if subject is None or verb is None:
        nouns, verbs = ", ".join(_NUMBER_OF), ", ".join(sorted(_MAIN))
        raise ValueError(f"text is {text!r}; it needs a noun ({nouns}) and then a verb ({verbs})")
    link = frozenset({(subject, verb)})
    return Example(words, words, link, link, verb - subject - 1)


def _noun_phrase(pick: Pick, nouns: Sequence[str], adjective: bool) -> list[str]:
    return ["the", *([pick(_ADJECTIVES)] if adjective else []), pick(nouns)]


def _verb_for(pick: Pick, verbs: Sequence[tuple[str, str]], noun: str) -> str:
    return pick(verbs)[_NUMBER_OF[noun]]


def _place(pick: Pick, adjective: bool) -> list[str]:
    return [pick(_PREPOSITIONS), *_noun_phrase(pick, list(_NUMBER_OF), adjective)]  # 3 words, or 4


def _clause(pick: Pick, adjective: bool) -> list[str]:
    someone = _noun_phrase(pick, _FORMS_OF_PERSONS, adjective)
    return ["that", *someone, _verb_for(pick, _SEE, someone[-1])]  # 4 words, or 5


# A modifier by its number of words: each (what it is, whether with an adjective).
_MODIFIERS = {3: [(_place, False)], 4: [(_place, True), (_clause, False)], 5: [(_clause, True)]}


def _between(pick: Pick, size: int) -> list[str]:
    """Modifiers of ``size`` words together."""
    words: list[str] = []
    while left := size - len(words):
        lengths = [n for n in _MODIFIERS if left == n or left - n >= SHORTEST_MODIFIER]
        make, adjective = pick(_MODIFIERS[pick(lengths)])
        words += make(pick, adjective)
    return words


def _rest(pick: Pick, verb: str) -> list[str]:
    if pick([True, False]):
        return _place(pick, pick([True, False]))
    is_be = any(verb in pair for pair in _BE)
    return [pick(_ADJECTIVES if is_be else _ADVERBS)]


def agreement_sentence(pick: Pick, size: int) -> Example:
    """A sentence with ``size`` words between subject and verb: source and target are its words, the link joins the two.

    Args:
        pick: takes one of several things by chance.
        size: 0, or 3 and more; each modifier has 3 to 5 words.

    Raises:
        ValueError: if ``size`` is 1, 2 or negative.
    """
    if size < 0 or 0 < size < SHORTEST_MODIFIER:
        raise ValueError(f"size is {size}; between subject and verb stand 0 words, or {SHORTEST_MODIFIER} and more")
    subject = _noun_phrase(pick, list(_NUMBER_OF), pick([True, False]))
    verb = _verb_for(pick, _BE + _STAY, subject[-1])
    words = (*subject, *_between(pick, size), verb, *_rest(pick, verb))
    link = frozenset({(len(subject) - 1, len(subject) + size)})
    return Example(words, words, link, link, size)


def picker(numbers: Sequence[int]) -> Pick:
    """What takes one of several things by chance: each time by the next of some large random numbers."""
    coming = iter(numbers)
    return lambda things: things[next(coming) % len(things)]


def agreement_sentences(
    train: int = 20_000,
    validation: int = 500,
    test_per_size: int = 200,
    longest: int = 12,
    longer: Sequence[int] = (14, 16, 20, 24, 32),
    longer_per_size: int = 200,
    seed: int = 0,
) -> Task:
    """Sentences with 0 or 3 to ``longest`` words between subject and verb, all sizes equally often.

    To be read word by word: source and target are the same sentence. No sentence of test or validation occurs in
    training, and the sizes of `longer` are never trained. Which verb is right, and where the subject stands:
    :func:`subject_and_verb`.
    Raises ValueError if `longest` is negative, 1 or 2, a size of `longer` is trained or is 1 or 2, or a count is
    negative.
    """
    if longest < 0 or 0 < longest < SHORTEST_MODIFIER:
        raise ValueError(f"longest is {longest}; it must be 0, or at least {SHORTEST_MODIFIER}")
    generator = torch.Generator().manual_seed(seed)

    def draw(size: int, count: int) -> list[Example]:
        enough = 20 + 3 * size  # a modifier of 3 words asks for 4 numbers, one of 5 for 6
        rows = torch.randint(2**31, (count, enough), generator=generator).tolist()
        return [agreement_sentence(picker(row), size) for row in rows]

    sizes = [0, *range(SHORTEST_MODIFIER, longest + 1)]
    counts = (train, validation, test_per_size, longer_per_size)
    splits = split_by_size(draw, lambda size: MANY, sizes, longer, counts, generator)
    words = ["the", "that", *_NUMBER_OF, *_ADJECTIVES, *_PREPOSITIONS, *_ADVERBS, *_OTHER]
    vocabulary = Vocabulary(words)
    return Task("agreement", *splits, vocabulary, vocabulary)
