"""How good translations are over a range of settings: the width of a beam, and the temperature of a draw (chapter 10).

Nothing is trained. All settings translate the same sentences of the test of 2016, ``steps`` says how many; draws are
made with several seeds. Measured are BLEU, words per word of the references, and empty translations. Each setting is
compared with greedy decoding by the interval in which 95 % of the differences lie when the sentences are resampled.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from attnbook.data.texts.translation import TranslationTask
from attnbook.decoding import DecoderModule
from attnbook.measure.translation import bleu_counts
from attnruns.experiments.translate import RECIPES, trained
from attnruns.experiments.translate_ways import MODEL, TEST, drawn, gain_over, measured
from attnruns.shared import parts
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import ROWS, write
from attnruns.shared.weights import stored_seeds
from attnruns.translate import ALPHA

WIDTHS = (1, 2, 4, 8, 16)  # hypotheses of the beam
TEMPERATURES, DRAWS = (0.3, 0.5, 0.7, 1.0), 3  # and the seeds of each temperature


class Asked(NamedTuple):
    """A translator, its first test sentences, and a function that compares translations of them with greedy ones."""

    model: DecoderModule
    data: TranslationTask
    examples: list
    compared: Callable[[list[str]], dict[str, Any]]


def asked(job: Job) -> Asked:
    """The translator of a seed, which translates ``steps`` sentences."""
    data, model = RECIPES[MODEL].data(), trained(MODEL, job.seed)
    examples, wanted = data.tests[TEST][: job.steps], data.references[TEST][: job.steps]
    greedy = bleu_counts(write(model, data, examples, 1, 0.0), wanted, lower=False)

    def compared(lines: list[str]) -> dict[str, Any]:
        """The figures of translations, and their gain over the greedy ones with its interval."""
        return {**measured(lines, wanted), "gain": gain_over(greedy, lines, wanted)}

    return Asked(model, data, examples, compared)


def beams(job: Job, alpha: float) -> dict[str, Any]:
    """Beams of all widths with one length penalty."""
    one = asked(job)
    return {"widths": {w: one.compared(write(one.model, one.data, one.examples, w, alpha)) for w in WIDTHS}}


def draws(job: Job) -> dict[str, Any]:
    """Draws with all temperatures."""
    one = asked(job)
    sources = [one.data.source_pieces.decode(example.source) for example in one.examples]

    def of(temperature: float, seed: int) -> dict[str, Any]:
        return one.compared(drawn(one.model, one.data, sources, {"temperature": temperature}, seed))

    return {"temperatures": {f"{t:g}": [of(t, seed) for seed in range(DRAWS)] for t in TEMPERATURES}}


PARTS: parts.Parts = {
    "without_penalty": (partial(beams, alpha=0.0), 200), "with_penalty": (partial(beams, alpha=ALPHA), 200),
    "draws": (draws, 200),
}  # fmt: skip


def run(job: Job) -> Outcome:
    """Translate the same sentences with the settings of a part."""
    return parts.measured(PARTS, job)


EXPERIMENT = Experiment(
    "translate_settings",
    parts.steps_of(PARTS),
    run,
    {
        "task": f"multi30k_task(pair), {TEST}",
        "batch": f"{ROWS} sentences side by side",
        "model": MODEL,
        "widths": WIDTHS,
        "alpha": ALPHA,
        "temperatures": TEMPERATURES,
        "draws": DRAWS,
    },
    on_cpu=True,
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
