"""How good translations are over a range of settings: the width of a beam, and the temperature of a draw (chapter 10).

Nothing is trained. All settings translate the same sentences of the test of 2016, ``steps`` says how many; draws are
made with several seeds. Measured are BLEU, words per word of the references, and empty translations. Each setting is
compared with greedy decoding by the interval in which 95 % of the differences lie when the sentences are resampled.
"""

import time
from functools import partial
from typing import Any

from attnbook.measure.translation import bleu_counts, resampled_difference
from attnruns.experiments.translate import RECIPES, trained
from attnruns.experiments.translate_ways import MODEL, TEST, drawn, measured
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import ROWS, write
from attnruns.shared.weights import stored_seeds
from attnruns.translate import ALPHA

WIDTHS, ALPHAS = (1, 2, 4, 8, 16, 32), (0.0, ALPHA)  # hypotheses of the beam, and the length penalty
TEMPERATURES, DRAWS = (0.3, 0.5, 0.7, 1.0), 3  # and the seeds of each temperature


def run(job: Job) -> Outcome:
    """Translate the same sentences with all settings."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed)
    examples, wanted = data.tests[TEST][: job.steps], data.references[TEST][: job.steps]
    sources = [data.source_pieces.decode(example.source) for example in examples]
    first = write(model, data, examples, 1, 0.0)
    greedy = bleu_counts(first, wanted, lower=False)

    def compared(lines: list[str]) -> dict[str, Any]:
        """The figures of translations, and their gain over the greedy ones with its interval."""
        gain = resampled_difference(bleu_counts(lines, wanted, lower=False), greedy)
        return {**measured(lines, wanted), "gain": [round(x, 2) for x in gain]}

    def searched(width: int, alpha: float) -> list[str]:
        return first if width == 1 else write(model, data, examples, width, alpha)

    beams = {f"{alpha:g}": {width: compared(searched(width, alpha)) for width in WIDTHS} for alpha in ALPHAS}
    draws = {
        f"{one:g}": [compared(drawn(model, data, sources, {"temperature": one}, seed)) for seed in range(DRAWS)]
        for one in TEMPERATURES
    }
    seconds = round(time.process_time() - start, 1)
    figures = {"sentences": len(wanted), "beams": beams, "draws": draws}
    return Outcome({"device": "cpu", "seconds": seconds, **figures})


EXPERIMENT = Experiment(
    "translate_settings",
    {MODEL: 500},
    run,
    {
        "task": f"multi30k_task(pair), {TEST}",
        "batch": f"{ROWS} sentences side by side",
        "widths": WIDTHS,
        "alphas": ALPHAS,
        "temperatures": TEMPERATURES,
        "draws": DRAWS,
    },
    on_cpu=True,
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
