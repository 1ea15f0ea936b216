"""Where a translator reads a verb: the weights of Bahdanau's attention, and what an exchange shows (chapter 2).

In *Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.* the verb stands last, and English wants it before
*etwas*. A small translator of captions of up to ``WORDS`` German words is trained, and then writes the word after *A
man with an orange hat is*, while the annotation of *etwas*, or those of the verb, come from the same caption with
another verb. The keys stay. The same is done with two verbs that mean *looking* and are in its training captions, and
with the full stop, the last thing that is written. Reads the corpus as :mod:`attnruns.experiments.translate` does.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnbook.data import BOS
from attnbook.data.texts.translation import TranslationTask, cut
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnruns.experiments.short_captions import fitted, settings, task, written
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import aligned

WORDS = 14  # of a German caption, at most
PIECES = 2000  # of each vocabulary
SIZES: dict[str, Any] = {"embedding": 128, "hidden": 128}
TRAINING: dict[str, Any] = {"learning_rate": 4e-3, "warmup": 100, "max_grad_norm": 1.0}
STEPS = {"bahdanau": 1200}
BEGINNING, OBJECT = "Ein Mann mit einem orangefarbenen Hut, der", "etwas"
WRITTEN = "A man with an orange hat is"
VERBS = (
    "anstarrt", "liest", "isst", "malt", "hält", "trägt", "trinkt", "wirft", "repariert", "kocht", "verkauft", "baut",
    "schreibt", "fotografiert", "zieht", "schiebt", "putzt",
)  # fmt: skip
LOOKING = ("betrachtet", "ansieht")  # in 110 and 5 of the training captions; the first of VERBS is in none


def trained(job: Job) -> tuple[AttentionSeq2Seq, TranslationTask, dict[str, Any]]:
    """The translator, its data, and the figures of its training."""
    data = task(WORDS, PIECES)
    seed_everything(job.seed)
    model = AttentionSeq2Seq(*data.sizes(), **SIZES)
    figures = fitted(model, data, job, TRAINING)
    return model, data, figures


def run(job: Job) -> Outcome:
    """Train the translator, and exchange what it reads in our caption."""
    model, data, figures = trained(job)
    examples = [cut(caption(verb), WRITTEN, data.source_pieces, data.target_pieces) for verb in VERBS[:2]]
    figures |= {
        "bleu": written(model, data, next(iter(data.tests)))["bleu"],
        "captions": [aligned(model, data, example) for example in examples],
        "exchanged": exchanged(model, data, VERBS, VERBS),
        "looking": exchanged(model, data, LOOKING, VERBS[1:]),
        "full stop": full_stop(model, data),
    }
    return Outcome(figures)


def caption(verb: str) -> str:
    """Our caption with one of the ``VERBS``."""
    return f"{BEGINNING} {OBJECT} {verb}."


class Reader:
    """Writes the word after ``WRITTEN``, with annotations of another caption where they are wanted."""

    def __init__(self, model: AttentionSeq2Seq, data: TranslationTask, given: str = WRITTEN) -> None:
        self.model, self.data = model, data
        before, at = (len(data.source_pieces.encode(text)) for text in (BEGINNING, f"{BEGINNING} {OBJECT}"))
        self.object = range(before, at)
        written = data.task.target_vocabulary.encode(data.target_pieces.encode(given))
        self.words = [torch.tensor([word]) for word in (BOS, *written)]
        self.starts = {verb: self._start(verb) for verb in (*VERBS, *LOOKING)}

    def _start(self, verb: str) -> Any:
        """The state before the first word of the caption with this verb, its annotations included."""
        ids = self.data.task.source_vocabulary.encode(self.data.source_pieces.encode(caption(verb)))
        return self.model.start(torch.tensor([ids]), torch.tensor([len(ids)]))

    def verb(self, annotations: Tensor) -> range:
        """The positions of a verb's pieces, between the object and the full stop, in annotations (1, Tk, D)."""
        return range(self.object.stop, annotations.shape[1] - 1)

    def exchanged(self, own: str, other: str, part: str) -> Tensor:
        """The values (1, Tk, D) of a caption, with those of one ``part`` from the caption with another verb.

        A verb's pieces all receive the annotation of the other verb's last one.
        """
        values, donor = self.starts[own].annotations.clone(), self.starts[other].annotations
        if part == "object":
            values[:, self.object] = donor[:, self.object]
        if part == "verb":
            values[:, self.verb(values)] = donor[:, [self.verb(donor)[-1]]]
        return values

    def write(self, verb: str, values: Tensor | None = None) -> tuple[str, Tensor]:
        """The piece written after ``WRITTEN``, and its weights (Tk,); ``values`` replace those that are summed."""
        state = self.starts[verb]
        if values is not None:
            state = state._replace(annotations=values)
        for word in self.words:
            logits, state, weights = self.model.step(word, state)
        piece = self.data.task.target_vocabulary.decode(logits.argmax(dim=-1).tolist())
        return (piece or [""])[0].strip("▁"), weights[0]


@torch.no_grad()
def exchanged(
    model: AttentionSeq2Seq, data: TranslationTask, verbs: Sequence[str], donors: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """For each verb the word that is written, its weights, and the words with each part from each donor's caption."""
    reader, found = Reader(model.eval(), data), {}
    for verb in verbs:
        word, weights = reader.write(verb)
        others = [other for other in donors if other != verb]
        found[verb] = {
            "word": word,
            "weight on the object": round(weights[reader.object].sum().item(), 3),
            "weight on the verb": round(weights[reader.object.stop : -1].sum().item(), 3),
            **{
                f"{part} exchanged": [reader.write(verb, reader.exchanged(verb, other, part))[0] for other in others]
                for part in ("object", "verb")
            },
        }
    return found


@torch.no_grad()
def full_stop(model: AttentionSeq2Seq, data: TranslationTask) -> dict[str, Any]:
    """The weights of what is written last for the first of ``VERBS``, and what is written with the verb exchanged.

    In "elsewhere exchanged" the verb's pieces all receive the annotation of one earlier position of the same caption.
    """
    verb, others = VERBS[0], VERBS[1:]
    begun = aligned(model.eval(), data, cut(caption(verb), WRITTEN, data.source_pieces, data.target_pieces))
    assert begun is not None  # it attends
    given = "".join(begun["target"][:-1]).replace("▁", " ").strip()
    reader = Reader(model, data, given)
    word, weights = reader.write(verb)
    own = reader.starts[verb].annotations
    elsewhere = []
    for at in range(reader.object.stop):
        values = own.clone()
        values[:, reader.verb(own)] = own[:, [at]]
        elsewhere.append(reader.write(verb, values)[0])
    return {
        "given": given,
        "word": word,
        "weight on the verb": round(weights[reader.object.stop : -1].sum().item(), 3),
        "weight on the full stop": round(weights[-1].item(), 3),
        "verb exchanged": [reader.write(verb, reader.exchanged(verb, other, "verb"))[0] for other in others],
        "elsewhere exchanged": elsewhere,
    }


def stays(of_a_verb: dict[str, Any], part: str) -> int:
    """How many exchanges of a part, ``"object"``, ``"verb"`` or ``"elsewhere"``, leave the word that is written."""
    return of_a_verb[f"{part} exchanged"].count(of_a_verb["word"])


EXPERIMENT = Experiment(
    "verb_elsewhere",
    STEPS,
    run,
    {
        **settings(WORDS, PIECES, TRAINING),
        "sizes": SIZES,
        "written": "greedily",
        "caption": caption("…"),
        "given": WRITTEN,
        "verbs": VERBS,
        "looking": LOOKING,
    },
    on_cpu=True,
)
