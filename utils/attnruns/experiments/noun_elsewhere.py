"""The control of :mod:`attnruns.experiments.verb_elsewhere`: the same verb, another noun (chapter 2).

The same translators are trained again. The annotation of *etwas* then comes from captions with the *same* verb and
another beginning, such as *Eine Frau mit einem roten Schal, die*: what the model writes should stay. For each exchange
we also measure how far it moves the context of that step while the weights stay, ``‖Σ α Δh‖``.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

import torch
from torch import Tensor

from attnruns.experiments.short_captions import settings
from attnruns.experiments.verb_elsewhere import (
    OBJECT,
    PIECES,
    SIZES,
    STEPS,
    TRAINING,
    VERBS,
    WORDS,
    WRITTEN,
    Reader,
    caption,
    trained,
)
from attnruns.shared.runner import Experiment, Job, Outcome

PEOPLE = (("Eine Frau", "die"), ("Ein Junge", "der"), ("Ein Mädchen", "das"), ("Ein Kind", "das"))
WEARING = ("einem roten Schal", "einer blauen Jacke", "einem grünen Hemd", "einer weißen Mütze")
BEGINNINGS = [f"{who} mit {what}, {which}" for (who, which), what in product(PEOPLE, WEARING)]  # 16


def run(job: Job) -> Outcome:
    """Train the translator again, and exchange what it reads in our caption."""
    model, data, figures = trained(job)
    reader = Reader(model.eval(), data)
    return Outcome(figures | {"exchanged": {verb: exchanged(reader, verb) for verb in VERBS}})


@torch.no_grad()
def of_object(reader: Reader, verb: str, beginning: str) -> Tensor:
    """The annotation ``(1, 1, D)`` of the last piece of *etwas* in a caption with this verb and another beginning."""
    pieces, vocabulary = reader.data.source_pieces, reader.data.task.source_vocabulary
    ids = vocabulary.encode(pieces.encode(f"{beginning} {OBJECT} {verb}."))
    at = len(pieces.encode(f"{beginning} {OBJECT}")) - 1
    return reader.model.start(torch.tensor([ids]), torch.tensor([len(ids)])).annotations[:, [at]]


@torch.no_grad()
def exchanged(reader: Reader, verb: str) -> dict[str, Any]:
    """The word, and for each exchange the words that are written and the mean size of the context's change."""
    own, (word, weights) = reader.starts[verb].annotations, reader.write(verb)
    others = [other for other in VERBS if other != verb]
    values = {part: [reader.exchanged(verb, other, part) for other in others] for part in ("object", "verb")}
    values["noun"] = [_with(own, reader.object, of_object(reader, verb, beginning)) for beginning in BEGINNINGS]
    return {
        "word": word,
        "context": round((weights @ own[0]).norm().item(), 4),
        **{f"{part} exchanged": [reader.write(verb, one)[0] for one in those] for part, those in values.items()},
        "moved": {part: _mean((weights @ (one - own)[0]).norm() for one in those) for part, those in values.items()},
        "annotation changed": {
            part: _mean((one - own)[0, reader.object].norm() for one in values[part]) for part in ("object", "noun")
        },
    }


def _with(own: Tensor, positions: range, other: Tensor) -> Tensor:
    values = own.clone()
    values[:, positions] = other
    return values


def _mean(sizes: Iterable[Tensor]) -> float:
    return round(torch.stack(list(sizes)).mean().item(), 4)


EXPERIMENT = Experiment(
    "noun_elsewhere",
    STEPS,
    run,
    {
        **settings(WORDS, PIECES, TRAINING),
        "sizes": SIZES,
        "caption": caption("…"),
        "given": WRITTEN,
        "verbs": VERBS,
        "beginnings": BEGINNINGS,
    },
    on_cpu=True,
)
