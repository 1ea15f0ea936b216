"""How many words of a list SmolLM2 copies with a smaller cache, by how far back the list stands (chapter 20).

Nothing is trained. The texts and the ways to a smaller cache are those of ``smaller_caches``, but the first list stands
nearer to the second one. ``steps`` is the number of tokens before the second list.
"""

import time

from attnruns.experiments.real_model import smollm2
from attnruns.experiments.real_texts import SINKS
from attnruns.experiments.smaller_caches import BEFORE, WAYS, WORDS, loss_and_copied, text_with_list
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ASKED = ("full", "rounded", "rounded_by_feature", "eight_global", "windows", "no_sinks")  # of the ways
BACK = (100, 300, 700, 1200)  # from the beginning of the first list to that of the second one, in tokens


def run(job: Job) -> Outcome:
    """Measure one way on one text, with its list at every distance."""
    start, found, way = time.process_time(), smollm2(), chosen(WAYS, job.model)
    by_distance = {}
    for back in BACK:
        text = text_with_list(found, job.seed, job.steps, back)
        _, copied, another = loss_and_copied(found.model, text, way)
        by_distance[back] = {"copied": copied, "another": another}
    return Outcome({"by_distance": by_distance, "seconds": round(time.process_time() - start, 1)})


EXPERIMENT = Experiment(
    "cache_distances",
    dict.fromkeys(ASKED, BEFORE),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "back": list(BACK), "words": WORDS, "sinks": SINKS},
    on_cpu=True,
)
