"""Chapter 18's five translators trained on a graphics card, three times each, in as many steps as on the CPU.

The same code and batches as ``translate``; on a card it computes in mixed precision (bfloat16). Several trainings may
share the card, so the seconds are no measurement of its speed; ``card_translators`` measures that.
"""

from typing import Any

from attnbook.device import best_device
from attnruns.experiments import translate
from attnruns.experiments.translate import RECIPES, TRAINING
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import card_name

MODELS = ("luong_de_en", "gnmt_de_en", "bahdanau_de_en", "plain_de_en", "transformer_de_en")
LEFT_OUT = {"samples", "alignments", "alignment_error_rates", "beams", "losses"}  # what the book shows from the CPU


def run(job: Job) -> Outcome:
    """Train and measure one translator; the figures are those of ``translate``, without texts and weights."""
    measured = translate.run(job).figures
    figures: dict[str, Any] = {name: value for name, value in measured.items() if name not in LEFT_OUT}
    return Outcome({"card": card_name(best_device()), **figures})


EXPERIMENT = Experiment(
    "translate_on_card",
    {name: RECIPES[name].steps for name in MODELS},
    run,
    {
        "task": "multi30k_task('de-en')",
        "batch": f"{translate.BATCH} tokens, the padding counted",
        "averaged": translate.AVERAGED,
        "learning_rate": {name: RECIPES[name].learning_rate for name in MODELS},
        "precision": "mixed (bfloat16) on a card",
        **TRAINING,
    },
)
