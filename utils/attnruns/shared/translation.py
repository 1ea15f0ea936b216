"""What is measured of a trained translator: losses, scores on each test, sample translations, alignments."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnbook.data import shift_right
from attnbook.data.batching import Batch, Example, Task
from attnbook.data.texts.hand_alignments import hand_alignments, word_of_each, words_of
from attnbook.data.texts.translation import TESTS, TranslationTask
from attnbook.data.texts.vocabulary import PAD
from attnbook.decoding import DecoderModule, beam, greedy
from attnbook.measure.metrics import alignment_from_weights, error_rates, link_counts
from attnbook.measure.translation import bleu_counts, resampled_difference, translation_scores
from attnbook.models import Transformer
from attnbook.modes import evaluating
from attnbook.training import teacher_forcing_loss
from attnruns.translate import ALPHA, WIDTH

ROWS = 100  # sentences side by side


@evaluating
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


def write(
    model: DecoderModule, data: TranslationTask, examples: Sequence[Example], width: int = 1, alpha: float = ALPHA
) -> list[str]:
    """The translations of ``examples`` as sentences, in their order; greedily, or by a beam of ``width``."""

    def tokens_of(source: Tensor, lengths: Tensor, max_length: int) -> Tensor:
        if width == 1:
            return greedy(model, source, lengths, max_length=max_length).tokens
        return beam(model, source, lengths, max_length=max_length, width=width, alpha=alpha).tokens[:, 0]

    device = next(model.parameters()).device
    order = sorted(range(len(examples)), key=lambda row: len(examples[row].source))
    written: dict[int, str] = {}
    for start in range(0, len(order), ROWS):
        rows = order[start : start + ROWS]
        lines = write_batch(data, data.task.collate([examples[row] for row in rows]).to(device), tokens_of)
        written |= zip(rows, lines, strict=True)
    return [written[row] for row in range(len(examples))]


def write_batch(data: TranslationTask, batch: Batch, tokens_of: Callable[[Tensor, Tensor, int], Tensor]) -> list[str]:
    """The sentences of one batch; ``tokens_of(source, lengths, max_length)`` gives their tokens, ``(B, T)``."""
    longest = batch.source.shape[1] * 3 // 2 + 10
    tokens = tokens_of(batch.source, batch.lengths, longest)
    return [data.target_pieces.decode(data.task.target_vocabulary.decode(row)) for row in tokens.tolist()]


def gain_since(earlier: list[str], model: DecoderModule, data: TranslationTask) -> dict[str, Any]:
    """BLEU of earlier translations of the validation part, and the model's greedy gain over them with its interval."""
    references, now = data.references["validation"], write(model, data, data.task.validation)
    ours, theirs = (bleu_counts(lines, references, lower=False) for lines in (now, earlier))
    gain = [round(number, 3) for number in resampled_difference(ours, theirs)]
    return {"bleu": translation_scores(earlier, references).bleu, "gain": gain}


def pieces_per_word(data: TranslationTask) -> float:
    """Pieces of the validation part's targets, the end symbol counted, per word of its references.

    Times this, losses per piece become losses per word, which can be compared between vocabularies.
    """
    pieces = sum(len(example.target) + 1 for example in data.task.validation)
    return pieces / sum(len(reference.split()) for reference in data.references["validation"])


def written_both_ways(model: DecoderModule, data: TranslationTask, examples: Sequence[Example]) -> dict[str, list[str]]:
    """Translations by greedy search and by a beam."""
    return {name: write(model, data, examples, width) for name, width in (("greedy", 1), ("beam", WIDTH))}


def scores_of(written: dict[str, list[str]], references: list[str]) -> dict[str, dict]:
    """The scores of translations, by the way in which they were written."""
    return {name: translation_scores(lines, references)._asdict() for name, lines in written.items()}


def scored_on_validation(model: DecoderModule, data: TranslationTask) -> dict[str, Any]:
    """Scores on the validation part, greedy and by beam; the tests are left alone."""
    written = written_both_ways(model, data, data.task.validation)
    return {"scores": {"validation": scores_of(written, data.references["validation"])}}


def scored(model: DecoderModule, data: TranslationTask) -> dict[str, Any]:
    """Scores on validation and each test, greedy and by beam; and what BLEU counts in each sentence of the tests.

    The counts are those of the beam: ``bleu_counts`` of the first test, ``later_bleu_counts`` of the others by name.
    """
    scores, counts = scored_on_validation(model, data)["scores"], {}
    for test, examples in data.tests.items():
        written = written_both_ways(model, data, examples)
        scores[test] = scores_of(written, data.references[test])
        rows = bleu_counts(written["beam"], data.references[test], lower=False).tolist()
        counts[test] = [" ".join(map(str, row)) for row in rows]
    first = next(iter(data.tests))
    return {
        "scores": scores,
        "bleu_counts": counts.pop(first),
        "later_bleu_counts": counts,
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
        one = aligned(model, data, example)
        if one is None:
            return []
        found.append(one)
    return found


def aligned(model: DecoderModule, data: TranslationTask, example: Example) -> dict[str, Any] | None:
    """The same for one example; None without attention."""
    batch = data.task.collate([example]).to(next(model.parameters()).device)
    tokens, weights = greedy(model, batch.source, batch.lengths, max_length=2 * batch.source.shape[1] + 10)
    if weights is None:
        return None
    target = data.task.target_vocabulary.decode(tokens[0])
    rows = [[round(weight, 2) for weight in row] for row in weights[0, : len(target)].tolist()]
    return {"source": list(example.source), "target": target, "weights": rows}


BEAMS = ((1, 0.0), (2, 0.6), (5, 0.0), (5, 0.6), (5, 1.0), (10, 0.6))  # width, and alpha of the length penalty


def by_beam(model: DecoderModule, data: TranslationTask) -> list[dict[str, float]]:
    """BLEU of the validation part by width of the beam and length penalty, and words per word of the reference."""
    references, found = data.references["validation"], []
    for width, alpha in BEAMS:
        lines = write(model, data, data.task.validation, width, alpha)
        lengths = [sum(len(words_of(line)) for line in part) for part in (lines, references)]
        bleu = translation_scores(lines, references).bleu
        found.append({"width": width, "alpha": alpha, "bleu": bleu, "length_ratio": round(lengths[0] / lengths[1], 3)})
    return found


def alignment_counts(model: DecoderModule, data: TranslationTask, heads: bool = False) -> Tensor:
    """What the alignment error rate counts, ``(layers, N, 2)``: of each layer, in each sentence aligned by hand.

    The model reads the reference (teacher forcing). A word's weights are the sum over the pieces of a source word and
    the mean over its own pieces; each target word is linked to the source word with the largest. The two numbers are
    those of :func:`~attnbook.measure.metrics.link_counts`. A recurrent model has one layer. There is none without
    attention or for other sentences than Multi30k's, de-en.

    Args:
        heads: take each head alone instead of their mean, layer by layer.
    """
    if data.task.name != "de-en" or TESTS[0] not in data.tests:
        return torch.zeros(0, 0, 2)
    counts: list[list[tuple[int, int]]] = []
    for number, true in enumerate(hand_alignments()):
        example, reference = data.tests[TESTS[0]][number], data.references[TESTS[0]][number]
        source = words_of(data.source_pieces.decode(example.source))
        at = word_of_each(list(example.source), source), word_of_each(list(example.target), words_of(reference))
        counts.append([])
        for weights in weights_by_layer(model, data.task.collate([example]).to(next(model.parameters()).device), heads):
            predicted = alignment_from_weights(word_weights(weights[0, :-1].cpu(), *at))
            counts[-1].append(link_counts(true.sure, true.possible, predicted))
    return torch.tensor(counts).reshape(len(counts), len(counts[0]), 2).transpose(0, 1)


def alignment_errors(model: DecoderModule, data: TranslationTask) -> list[float]:
    """The alignment error rate of each layer of cross-attention, see :func:`alignment_counts`; [] without attention."""
    return [round(rate, 4) for rate in error_rates(alignment_counts(model, data)).tolist()]


@evaluating
def weights_by_layer(model: DecoderModule, batch: Batch, heads: bool = False) -> list[Tensor]:
    """Where the decoder attends under teacher forcing, ``(B, T, Tk)``: each layer's mean of the heads, or each head."""
    inputs = batch.source, batch.lengths, shift_right(batch.target)
    if isinstance(model, Transformer):
        layers = [layer for layer in model.maps(*inputs).cross if layer is not None]  # each (B, h, T, Tk)
        return [head for layer in layers for head in (layer.unbind(dim=1) if heads else [layer.mean(dim=1)])]
    weights = model(*inputs)[1]
    return [] if weights is None else [weights]


def word_weights(weights: Tensor, source_words: list[int], target_words: list[int]) -> Tensor:
    """Weights between pieces ``(T, Tk)`` -> between words: sums over a source word, the mean over a target word."""
    columns, rows = torch.tensor(source_words), torch.tensor(target_words)
    summed = weights.new_zeros(len(weights), int(columns.max()) + 1).index_add_(1, columns, weights)
    found = weights.new_zeros(int(rows.max()) + 1, summed.shape[1]).index_add_(0, rows, summed)
    return found / rows.bincount()[:, None]
