"""A larger length penalty for the kept Transformer of chapter 18, which writes too little on long captions.

Nothing is trained: the same weights translate the validation captions and those of the test of 2016 by a beam of five,
with several values of alpha. Of validation, BLEU and the length are kept, by which alpha can be chosen; of the test,
what BLEU counts in each caption, so that groups of captions can be compared with the other models' counts in
``translate``. The words of each source caption of both tests are kept, too, because ``translate`` lacks the later's.
``steps`` says how many captions of each. Reads the corpus as ``translate`` does.
"""

import time
from functools import partial
from typing import Any

from attnbook.data.texts.translation import TESTS
from attnbook.measure.translation import bleu_counts, bleu_from_counts
from attnruns.experiments.translate import RECIPES, trained
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import ROWS, write
from attnruns.shared.weights import stored_seeds
from attnruns.translate import ALPHA, WIDTH

TEST, MODEL = TESTS[0], "transformer_de_en"
ALPHAS = (ALPHA, 1.0, 1.5, 2.0)  # the first is the one that all scores of the chapter have


def run(job: Job) -> Outcome:
    """Translate the same captions with each alpha."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed)
    by_alpha: dict[str, dict[str, Any]] = {}
    for alpha in ALPHAS:
        parts = {"validation": data.task.validation, TEST: data.tests[TEST]}
        counts = {
            part: bleu_counts(
                write(model, data, examples[: job.steps], WIDTH, alpha), data.references[part][: job.steps], lower=False
            )
            for part, examples in parts.items()
        }
        total = counts["validation"].sum(dim=0)
        by_alpha[str(alpha)] = {
            "validation": {
                "bleu": round(float(bleu_from_counts(counts["validation"])), 2),
                "length_ratio": round(float(total[0] / total[1]), 3),  # tokens per token of the references
            },
            "bleu_counts": [" ".join(map(str, row)) for row in counts[TEST].tolist()],
        }
    seconds = round(time.process_time() - start, 1)
    source_words = {test: [example.size for example in examples] for test, examples in data.tests.items()}
    return Outcome({"device": "cpu", "seconds": seconds, "by_alpha": by_alpha, "source_words": source_words})


EXPERIMENT = Experiment(
    "translate_penalties",
    {MODEL: 1014},
    run,
    {
        "task": f"multi30k_task(pair), validation and {TEST}",
        "batch": f"{ROWS} sentences side by side",
        "beam": {"width": WIDTH, "alpha": ALPHAS},
    },
    on_cpu=True,
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
