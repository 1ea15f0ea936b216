"""A tokenizer of whole words, in place of a real model's, for tests that fetch nothing."""

from types import SimpleNamespace


class Words:
    """One token per word, in the order in which it meets them; a new line alone is a token of its own."""

    def __init__(self):
        self.known = {}

    def encode(self, text):
        words = [text] if text == "\n" else text.split()
        return SimpleNamespace(ids=[self.known.setdefault(word, len(self.known)) for word in words])

    def decode(self, ids):
        return " ".join(f"[{i}]" for i in ids)
