"""Lab 19: a student's own functions inside of the book's loader, and a text to read with what they have loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from torch import Tensor

from attnbook.attention.positions import NoPositions
from attnbook.models.pretrained import Pretrained, load
from attnbook.models.pretrained.dequantise import KINDS

Q4_1 = 3  # the number that GGUF gives this format
STORY = """\
The ferry to the island left at seven in the morning, and on most days it carried more letters than people. Mara had
worked on it since the spring. She sold tickets, tied the ropes, and carried the grey sacks of mail from the harbour
office to a dry corner behind the engine. In the first weeks she had counted the sacks twice, because the old captain
was known to shout when one was missing, but he had not shouted at her yet.

On the last Monday of October the sea was so flat that the gulls walked on the pier as if they were waiting for a bus.
Only three passengers came aboard: a teacher with two boxes of books, a man who repaired clocks, and a girl of about
nine who travelled alone and held an empty birdcage on her knees. Mara asked her where the bird was. The girl said that
it had flown away in the summer, and that her grandmother on the island had written that a small green bird had been
sitting on the roof of the church for two days. She did not think that it was hers, but she had brought the cage in case
it was cold.

When the ferry had passed the lighthouse, the engine stopped. The captain came down the ladder, wiped his hands, and
said that they would drift for a while, since there was no wind and nothing to fear. The man who repaired clocks offered
his help. He took off his coat, listened to the engine as one listens to a sick child, and asked for a thin piece of
wire. The girl opened the door of the cage and bent a piece of wire from it until it broke. Ten minutes later they were
moving again, and the captain, who never gave anything away, returned the fare to both of them.
"""


class OwnRotary(NoPositions):
    """Rotary positions by a student's function ``rotate(x, positions, base)``."""

    def __init__(self, rotate: Callable[[Tensor, Tensor, float], Tensor], base: float) -> None:
        super().__init__()
        self.turn, self.base = rotate, base

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.turn(x, positions, self.base)


def load_with(
    path: str | Path, dequantise: Callable[[Tensor], Tensor], rotate: Callable[[Tensor, Tensor, float], Tensor]
) -> Pretrained:
    """A model from a GGUF file: blocks of Q4_1 are read by ``dequantise``, queries and keys are turned by ``rotate``.

    Raises:
        WeightsError: as :func:`attnbook.models.pretrained.load`.
    """
    with patch.dict(KINDS, {Q4_1: KINDS[Q4_1]._replace(read=dequantise)}):
        pretrained = load(path)
    for layer in pretrained.model.blocks.layers:
        layer.self_attention.positions = OwnRotary(rotate, pretrained.model.config.rotary_base)
    return pretrained
