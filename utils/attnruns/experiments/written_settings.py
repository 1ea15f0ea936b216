"""How certain and how repetitive SmolLM2's texts are between the settings of ``written_texts`` (chapter 10).

Nothing is trained. The paragraphs, the lengths and the measures are those of ``written_texts``, which has the greedy
texts, the beam's, the author's and draws with other settings.
"""

from typing import Any

from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import BEGINNING, LENGTH, Endless, beginnings, figures_of, written
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

WAYS: dict[str, dict[str, Any]] = {
    **{f"temperature {one:g}": {"temperature": one} for one in (0.3, 0.5, 0.85, 1.2)},
    **{f"nucleus {one:g}": {"temperature": 1.0, "top_p": one} for one in (0.5, 0.7, 0.8)},
}


def texts(job: Job) -> dict[str, Any]:
    """Texts of all settings, without the texts themselves."""
    pretrained = smollm2()
    begun = beginnings(pretrained, job.steps, job.seed)
    with fused(pretrained.model):
        tokens, nats = written(Endless(pretrained), begun.prompts, LENGTH, job.seed, WAYS)
    by_way = zip(WAYS, tokens.chunk(len(WAYS)), nats.chunk(len(WAYS)), strict=True)
    found = {way: figures_of(pretrained, rows, of) for way, rows, of in by_way}
    return {"by_way": {way: {name: of[name] for name in ("nats", "repeated")} for way, of in found.items()}}


PARTS: Parts = {"texts": (texts, 6)}


def run(job: Job) -> Outcome:
    """Write with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "written_settings",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "beginning": BEGINNING, "length": LENGTH, "ways": WAYS},
    on_cpu=True,
)
