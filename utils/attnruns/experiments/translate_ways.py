"""Searching or drawing: how good the kept Transformer's translations are when written in several ways (chapter 10).

Nothing is trained. Each way translates the same sentences of the test of 2016, ``steps`` says how many; draws are made
with several seeds. Measured are BLEU, words per word of the references, and empty translations. The beams are compared
with greedy decoding by the interval in which 95 % of the differences lie when the sentences are resampled. Reads the
corpus as ``translate`` does.
"""

import time
from functools import partial
from typing import Any

from torch import Tensor

from attnbook.data.texts.translation import TESTS, TranslationTask, cut
from attnbook.decoding import sample
from attnbook.measure.translation import bleu_counts, resampled_difference, translation_scores
from attnbook.seeding import generator
from attnruns.experiments.translate import RECIPES, trained
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import ROWS, write, write_batch
from attnruns.shared.weights import stored_seeds
from attnruns.translate import ALPHA, WIDTH

TEST, MODEL = TESTS[0], "transformer_de_en"
BEAMS: dict[str, tuple[int, float]] = {  # width, and alpha of the length penalty
    "greedy": (1, 0.0), "beam of 5": (WIDTH, 0.0), "beam of 5, penalty": (WIDTH, ALPHA), "beam of 20": (20, 0.0),
}  # fmt: skip
DRAWN: dict[str, dict[str, Any]] = {
    "temperature 0.5": {"temperature": 0.5}, "nucleus 0.9": {"top_p": 0.9}, "temperature 1": {"temperature": 1.0},
}  # fmt: skip
DRAWS = 3  # seeds of each way of drawing


def drawn(model, data: TranslationTask, sources: list[str], how: dict[str, Any], seed: int) -> list[str]:
    """Translations of sentences that are drawn piece by piece, in their order."""
    examples = [cut(source, "", data.source_pieces, data.target_pieces) for source in sources]
    draws, lines = generator(seed), []

    def tokens_of(source: Tensor, lengths: Tensor, max_length: int) -> Tensor:
        return sample(model, source, lengths, max_length=max_length, generator=draws, **how).tokens

    for start in range(0, len(examples), ROWS):
        lines += write_batch(data, data.task.collate(examples[start : start + ROWS]), tokens_of)
    return lines


def measured(lines: list[str], wanted: list[str]) -> dict[str, float]:
    """Of translations: BLEU, words per word of the references, and the share that is empty."""
    words = [(len(line.split()), len(reference.split())) for line, reference in zip(lines, wanted, strict=True)]
    return {
        "bleu": translation_scores(lines, wanted).bleu,
        "length_ratio": round(sum(pair[0] for pair in words) / sum(pair[1] for pair in words), 3),
        "empty": round(sum(written == 0 for written, _ in words) / len(words), 4),
    }


def gain_over(greedy: Tensor, lines: list[str], wanted: list[str]) -> list[float]:
    """The difference in BLEU to ``greedy`` counts ``(N, 10)``, and the interval of 95 % of the resampled ones."""
    return [round(x, 2) for x in resampled_difference(bleu_counts(lines, wanted, lower=False), greedy)]


def run(job: Job) -> Outcome:
    """Translate the same sentences in all ways."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed)
    examples, wanted = data.tests[TEST][: job.steps], data.references[TEST][: job.steps]
    written = {name: write(model, data, examples, width, alpha) for name, (width, alpha) in BEAMS.items()}
    greedy = bleu_counts(written["greedy"], wanted, lower=False)
    by_way: dict[str, list[dict[str, float]]] = {name: [measured(lines, wanted)] for name, lines in written.items()}
    gain = {name: gain_over(greedy, lines, wanted) for name, lines in written.items() if name != "greedy"}
    sources = [data.source_pieces.decode(example.source) for example in examples]
    by_way |= {
        name: [measured(drawn(model, data, sources, how, seed), wanted) for seed in range(DRAWS)]
        for name, how in DRAWN.items()
    }
    seconds = round(time.process_time() - start, 1)
    return Outcome({"device": "cpu", "seconds": seconds, "sentences": len(wanted), "by_way": by_way, "gain": gain})


EXPERIMENT = Experiment(
    "translate_ways",
    {MODEL: 1000},
    run,
    {
        "task": f"multi30k_task(pair), {TEST}",
        "batch": f"{ROWS} sentences side by side",
        "beams": {name: {"width": width, "alpha": alpha} for name, (width, alpha) in BEAMS.items()},
        "draws": {"seeds": DRAWS, **DRAWN},
    },
    on_cpu=True,
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
