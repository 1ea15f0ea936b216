"""How well each block and each head of the kept Transformer aligns words, with intervals (chapter 18).

Twenty sentences are few, so each error rate comes with the interval in which 95 % of its values lie when the sentences
are resampled, and each difference between two blocks, too. Reads the corpus as ``translate`` does.
"""

import time
from functools import partial
from itertools import combinations

from torch import Tensor

from attnbook.device import best_device
from attnbook.measure.metrics import error_rates
from attnbook.measure.translation import draws, interval
from attnruns.experiments.translate import RECIPES, trained
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import alignment_counts
from attnruns.shared.weights import stored_seeds

MODEL = "transformer_de_en"  # of the experiment translate, which does not keep the weights of every seed
SAMPLES = 1000


def with_interval(counts: Tensor, other: Tensor | None = None) -> list[float]:
    """The error rate of ``counts (N, 2)``, or how much larger it is than that of others, and its interval."""
    rows = draws(len(counts), SAMPLES)  # the same sentences for both
    value, drawn = error_rates(counts), error_rates(counts[rows])
    if other is not None:
        value, drawn = value - error_rates(other), drawn - error_rates(other[rows])
    return [round(number, 4) for number in interval(value, drawn)]


def run(job: Job) -> Outcome:
    """Align the sentences by each block's mean, and by each head."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed).to(best_device())
    blocks = alignment_counts(model, data)  # (blocks, N, 2)
    heads = alignment_counts(model, data, heads=True)  # (blocks * h, N, 2)
    figures = {
        "sentences": blocks.shape[1],
        "links": blocks[0, :, 1].tolist(),
        "blocks": [with_interval(counts) for counts in blocks],
        "differences": {
            f"{first + 1} - {second + 1}": with_interval(blocks[first], blocks[second])
            for first, second in combinations(range(len(blocks)), 2)
        },
        "heads": [[with_interval(counts) for counts in block] for block in heads.unflatten(0, (len(blocks), -1))],
    }
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "translate_alignments",
    {MODEL: 1},
    run,
    {"task": "hand_alignments(), of test_2016_flickr", "batch": "1 sentence", "samples": SAMPLES},
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
