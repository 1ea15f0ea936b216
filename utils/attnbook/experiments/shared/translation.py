"""What is measured of a trained translator: losses, scores on each test, sample translations, alignments."""

from collections.abc import Sequence
from typing import Any

import torch

from attnbook.data.batching import Example, Task
from attnbook.data.translation import TranslationTask
from attnbook.data.vocabulary import PAD
from attnbook.decoding import DecoderModule, beam, greedy
from attnbook.training import teacher_forcing_loss
from attnbook.translation_metrics import bleu_counts, translation_scores

WIDTH, ALPHA = 5, 0.6  # of the beam, as in Vaswani et al. 2017 (there of width 4)
ROWS = 100  # sentences side by side


@torch.no_grad()
def target_loss(model: DecoderModule, task: Task, examples: Sequence[Example]) -> float:
    """Nats per piece of the targets under teacher forcing, the end symbol counted, without smoothing."""
    nats = pieces = 0.0
    device = next(model.parameters()).device
    ordered = sorted(examples, key=lambda example: len(example.target))
    for start in range(0, len(ordered), ROWS):
        batch = task.collate(ordered[start : start + ROWS]).to(device)
        words = int((batch.target != PAD).sum())
        nats += float(teacher_forcing_loss(model, batch)) * words
        pieces += words
    return nats / pieces


def write(model: DecoderModule, data: TranslationTask, examples: Sequence[Example], width: int = 1) -> list[str]:
    """The translations of ``examples`` as sentences, in their order; greedily, or by a beam of ``width``."""
    device, task = next(model.parameters()).device, data.task
    order = sorted(range(len(examples)), key=lambda row: len(examples[row].source))
    written: dict[int, str] = {}
    for start in range(0, len(order), ROWS):
        rows = order[start : start + ROWS]
        batch = task.collate([examples[row] for row in rows]).to(device)
        longest = batch.source.shape[1] * 3 // 2 + 10
        if width == 1:
            tokens = greedy(model, batch.source, batch.lengths, max_length=longest).tokens
        else:
            tokens = beam(model, batch.source, batch.lengths, max_length=longest, width=width, alpha=ALPHA).tokens[:, 0]
        for row, numbers in zip(rows, tokens.tolist(), strict=True):
            written[row] = data.target_pieces.decode(task.target_vocabulary.decode(numbers))
    return [written[row] for row in range(len(examples))]


def validation_bleu(model: DecoderModule, data: TranslationTask) -> float:
    """BLEU of greedy translations of the validation part."""
    return translation_scores(write(model, data, data.task.validation), data.references["validation"]).bleu


def scored(model: DecoderModule, data: TranslationTask) -> dict[str, Any]:
    """Scores on validation and each test, greedy and by beam; of the first test what BLEU counts in each sentence."""
    parts = {"validation": data.task.validation, **data.tests}
    scores, first = {}, next(iter(data.tests))
    for part, examples in parts.items():
        written = {name: write(model, data, examples, width) for name, width in (("greedy", 1), ("beam", WIDTH))}
        scores[part] = {
            name: translation_scores(lines, data.references[part])._asdict() for name, lines in written.items()
        }
        if part == first:
            counts = bleu_counts(written["beam"], data.references[part], lower=False).tolist()
    return {
        "scores": scores,
        "bleu_counts": [" ".join(map(str, row)) for row in counts],
        "source_words": [example.size for example in data.tests[first]],
    }


def sample_translations(model: DecoderModule, data: TranslationTask, count: int) -> list[dict[str, str]]:
    """The first sentences of the first test: source, what a person wrote, and what the model writes by beam."""
    test = next(iter(data.tests))
    examples = data.tests[test][:count]
    return [
        {"source": data.source_pieces.decode(example.source), "reference": reference, "translation": translation}
        for example, reference, translation in zip(
            examples, data.references[test], write(model, data, examples, WIDTH), strict=False
        )
    ]


def alignments(model: DecoderModule, data: TranslationTask, count: int) -> list[dict[str, Any]]:
    """Pieces and attention weights ``(T, Tk)``, two digits, of the first greedy translations; [] without attention."""
    test = next(iter(data.tests))
    found = []
    for example in data.tests[test][:count]:
        batch = data.task.collate([example]).to(next(model.parameters()).device)
        tokens, weights = greedy(model, batch.source, batch.lengths, max_length=2 * batch.source.shape[1] + 10)
        if weights is None:
            return []
        target = data.task.target_vocabulary.decode(tokens[0])
        rows = [[round(weight, 2) for weight in row] for row in weights[0, : len(target)].tolist()]
        found.append({"source": list(example.source), "target": target, "weights": rows})
    return found
