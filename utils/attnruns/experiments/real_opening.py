"""SmolLM2 reads the sentence with which the book opens, up to its verb (chapter 00).

Nothing is trained, and nothing is drawn. ``steps`` says how many of the two subjects are read. The head that is looked
at closely was chosen in :mod:`~attnruns.experiments.real_agreement`, on other sentences.
"""

from typing import Any

import torch

from attnruns.experiments.real_agreement import Reader, without
from attnruns.experiments.real_model import Head, fused, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

OPENING = "The {} that my brother left in the kitchen yesterday"
SUBJECTS = ("keys", "key")
FINDER: Head = (26, 0)  # layer 27, head 1
SUBJECT = 1  # the position of the subject; 0 is the first token


def read(reader: Reader, subject: str) -> dict[str, Any]:
    """The probabilities of *is* and *are* after the words, and what the last word's query attends to in each head.

    ``finder`` is the weights of that one head, ``mean`` those of all heads on average, both ``(T,)``; ``on_subject``
    and ``on_first`` are each head's weight at one position, ``(layers, heads)``. ``without`` is by how many nats the
    right verb is ahead while the finder hands over nothing, and ``without_each`` the same for each head of the model,
    as a control, ``(layers, heads)``.
    """
    text, plural = OPENING.format(subject), subject.endswith("s")
    tokens = reader.tokens(text)
    with torch.no_grad():
        rows = torch.stack([weights[0, :, -1] for weights in reader.pretrained.model.maps(tokens)])  # (L, H, T)
    with fused(reader.pretrained.model):
        is_, are = reader.verbs(text).exp().tolist()
    margins = torch.tensor(
        [
            [without(reader, (layer, head), [(text, plural)])["margin"] for head in range(rows.shape[1])]
            for layer in range(len(rows))
        ]
    )
    return {
        "pieces": [reader.pretrained.tokenizer.decode([token]).strip() for token in tokens[0].tolist()],
        "is": round(is_, 5),
        "are": round(are, 5),
        "without": round(margins[FINDER].item(), 4),
        "without_each": rounded(margins),
        "finder": rounded(rows[FINDER]),
        "mean": rounded(rows.mean(dim=(0, 1))),
        "on_subject": rounded(rows[..., SUBJECT]),
        "on_first": rounded(rows[..., 0]),
    }


def opening(job: Job) -> dict[str, Any]:
    """What :func:`read` finds for each subject."""
    reader = Reader(smollm2())
    return {subject: read(reader, subject) for subject in SUBJECTS[: job.steps]}


PARTS: Parts = {"opening": (opening, len(SUBJECTS))}


def run(job: Job) -> Outcome:
    """Read the sentence with both subjects."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_opening",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "opening": OPENING, "finder": [FINDER[0] + 1, FINDER[1] + 1]},
    on_cpu=True,
)
