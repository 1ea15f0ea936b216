"""Sentences of a text in Markdown: how many words of it fit."""

import re

# what a full stop inside does not end a sentence: formulas, code, links
WHOLE = re.compile(r"\$[^$]+\$|`[^`]+`|\[[^\]]*\]\([^)]*\)")
END = re.compile(r"(?<=[.!?])[\"”’)*]*\s+(?=[*\"“‘(\[]*[A-Z0-9`$*{(“])")
SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|al|cf|vs|Eq|Fig|Sec|p|pp|[A-Z])\.|…)[\"”’)*]*\s*$")
HELD = "\x00"


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; formulas and code are never cut."""
    kept = WHOLE.findall(text)
    parts, at = [], 0
    bare = WHOLE.sub(lambda found: f"Z{HELD}", text)
    for end in END.finditer(bare):
        if not SHORT.search(bare[at : end.end()]):
            parts.append(bare[at : end.end()])
            at = end.end()
    whole = iter(kept)
    parts = [re.sub(f"Z{HELD}", lambda _: next(whole), part).strip() for part in [*parts, bare[at:]]]
    return [part for part in parts if part]


def first_sentences(text: str, words: int) -> str:
    """As many whole sentences from the beginning as have no more than `words` words, and at least one."""
    taken: list[str] = []
    for sentence in sentences(text):
        if taken and len(" ".join([*taken, sentence]).split()) > words:
            break
        taken.append(sentence)
    return " ".join(taken)
