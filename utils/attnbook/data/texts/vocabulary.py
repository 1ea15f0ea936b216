"""Words to numbers and back. Three numbers are taken: padding, begin and end of a sequence."""

import unicodedata
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

PAD, BOS, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<bos>", "<eos>")


class UnknownWord(KeyError):  # noqa: N818 (it reads as what happened)
    """A word that the vocabulary does not hold; the message names the word and its nearest neighbours."""

    def __init__(self, word: object, known: Iterable[str]):
        known = list(known)
        super().__init__(word, known)  # what it was made from, so that it can be pickled
        self.word = word
        self.near = tuple(get_close_matches(str(word), known, n=3, cutoff=0.5))

    def __str__(self) -> str:
        wanted = "nearest: " + ", ".join(map(repr, self.near)) if self.near else "it holds " + _some(self.args[1])
        return f"word {self.word!r} is not in the vocabulary ({wanted})"


def _some(words: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, words[:most]))
    return shown + (f", … ({len(words)} words)" if len(words) > most else "")


def _composed(word: str) -> str:
    """A word as keyboards write it: a file's name on a Mac holds ü as two signs, u and ¨. What is no word stays."""
    return unicodedata.normalize("NFC", word) if isinstance(word, str) else word


class Vocabulary:
    """A fixed list of words, numbered from 3 on; 0, 1 and 2 are PAD, BOS and EOS.

    Raises ValueError when a word comes twice or is one of the special names, TypeError when it is no string.

    >>> vocabulary = Vocabulary(["zwei", "und", "vierzig"])
    >>> vocabulary.encode(["zwei", "und", "vierzig"])
    [3, 4, 5]
    >>> vocabulary.decode([BOS, 3, 4, EOS, 5])
    ['zwei', 'und']
    >>> len(vocabulary)
    6
    """

    def __init__(self, words: Iterable[str]):
        self.words = (*SPECIAL, *words)
        self._number: dict[str, int] = {}
        for number, word in enumerate(self.words):
            if not isinstance(word, str):
                raise TypeError(f"words holds {word!r}, a {type(word).__name__}; every word must be a string")
            if word in self._number:
                raise ValueError(f"words holds {word!r} twice, or it is a special name; wanted each once")
            self._number[word] = number

    def encode(self, words: Iterable[str]) -> list[int]:
        """The number of each word; no special number is added. Raises UnknownWord (a KeyError).

        A word that is not there as it is stored is looked up with one sign for each letter and its accents."""
        words = list(words)
        try:
            return [self._number[word] for word in words]
        except KeyError:
            composed = [word if word in self._number else _composed(word) for word in words]
        try:
            return [self._number[word] for word in composed]
        except KeyError as missing:
            raise UnknownWord(missing.args[0], self.words[len(SPECIAL) :]) from None

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The words of one sequence (list or 1-D tensor): stops at EOS, leaves out PAD and BOS.

        Raises ValueError for more than one axis, or for a number that no word has.
        """
        numbers = numbers.tolist() if hasattr(numbers, "tolist") else list(numbers)
        if any(isinstance(number, list) for number in numbers):
            raise ValueError("numbers has more than one axis; decode takes one sequence: call it per row")
        words = []
        for number in map(int, numbers):
            if not 0 <= number < len(self.words):
                raise ValueError(f"numbers holds {number}; this vocabulary has 0 to {len(self.words) - 1}")
            if number == EOS:
                break
            if number not in (PAD, BOS):
                words.append(self.words[number])
        return words

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._number or (isinstance(word, str) and _composed(word) in self._number)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({_some(list(self.words[len(SPECIAL) :]))})"
