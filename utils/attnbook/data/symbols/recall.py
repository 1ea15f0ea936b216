"""One letter to be remembered over a gap: the purest test of what a network can carry, or reach, over a distance."""

import torch

from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import Vocabulary

LETTERS, FILLERS, QUESTION = "abcdefgh", ".", "?"
WORDS = Vocabulary([*LETTERS, *FILLERS, QUESTION])
CHANCE = 1 / len(LETTERS)


def recall_batch(distance: int, count: int, seed: int = 0, among_letters: bool = False) -> Batch:
    """Strings of a letter, ``distance`` fillers and a question mark; the answer is the letter.

    Args:
        distance: how many fillers stand between the letter and the question.
        count: how many strings, B.
        seed: the same strings come for the same seed.
        among_letters: the fillers are letters too. The answer is the *first*, so now the order matters.

    Returns:
        source ``(B, distance + 2)``, target ``(B, 1)``.

    Raises:
        ValueError: if ``distance`` is negative or ``count`` not positive.

    Source: after the first experiments of Hochreiter and Schmidhuber 1997, section 5.2.
    """
    if distance < 0 or count < 1:
        raise ValueError(f"distance must be at least 0 and count at least 1, got {distance} and {count}")
    generator = torch.Generator().manual_seed(seed)
    letters, fillers = (torch.tensor(WORDS.encode(some)) for some in (LETTERS, FILLERS))
    between = letters if among_letters else fillers
    answer = letters[torch.randint(len(letters), (count, 1), generator=generator)]  # (B, 1)
    gap = between[torch.randint(len(between), (count, distance), generator=generator)]  # (B, distance)
    question = torch.full((count, 1), WORDS.encode(QUESTION)[0])  # (B, 1)
    source = torch.cat([answer, gap, question], dim=1)  # (B, distance + 2)
    return Batch(source, torch.full((count,), source.shape[1]), answer)
