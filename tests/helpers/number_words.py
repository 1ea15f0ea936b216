"""A tokenizer for tests of pretrained models: a text of numbers is read as these tokens."""

from types import SimpleNamespace


class Numbers:
    """Reads "5 17" as the tokens 5 and 17, any other word or an empty text as 7; writes words of four letters."""

    def encode(self, text):
        return SimpleNamespace(ids=[int(word) if word.isdigit() else 7 for word in text.split() or ["7"]])

    def decode(self, numbers):
        return "".join(" word" for _ in numbers)
