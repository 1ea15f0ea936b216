"""Some hundred short sentences in German and English, made of phrases of our own (CC BY 4.0, as the book's text).

They are in the manner of Multi30k's captions, and small enough that each step of chapter 18 can be tried on them.
"""

from itertools import product

import torch

from attnbook.seeding import generator

Pair = tuple[str, str]

# Each phrase with its translation; German phrases stand in the case that their place in the sentence asks for.
WHO = (
    ("Ein Hund", "A dog"), ("Ein brauner Hund", "A brown dog"), ("Ein kleines Mädchen", "A little girl"),
    ("Ein Junge", "A boy"), ("Eine Frau", "A woman"), ("Ein alter Mann", "An old man"),
    ("Ein Kind", "A child"), ("Eine junge Frau", "A young woman"), ("Der Mann mit dem Hut", "The man with the hat"),
)  # fmt: skip
DOES = (
    ("läuft", "runs"), ("sitzt", "sits"), ("steht", "stands"), ("schläft", "sleeps"), ("spielt", "plays"),
    ("wartet", "waits"),
)  # fmt: skip
WHERE = (
    ("im Schnee", "in the snow"), ("auf einer Bank", "on a bench"), ("am Strand", "on the beach"),
    ("vor einem Haus", "in front of a house"), ("neben einem Baum", "next to a tree"), ("im Park", "in the park"),
    ("auf der Straße", "on the street"), ("an einem See", "by a lake"),
)  # fmt: skip
HELD_OUT = 40  # for validation, and as many for the test


def own_pairs() -> tuple[list[Pair], list[Pair], list[Pair]]:
    """(German, English) for training, validation and test; each phrase occurs in all, no sentence in two of them."""
    every = [
        (f"{who_de} {does_de} {where_de}.", f"{who_en} {does_en} {where_en}.")
        for (who_de, who_en), (does_de, does_en), (where_de, where_en) in product(WHO, DOES, WHERE)
    ]
    order = torch.randperm(len(every), generator=generator(0)).tolist()
    mixed = [every[number] for number in order]
    return mixed[2 * HELD_OUT :], mixed[:HELD_OUT], mixed[HELD_OUT : 2 * HELD_OUT]
