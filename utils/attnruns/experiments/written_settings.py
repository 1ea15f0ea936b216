"""How certain and how repetitive SmolLM2's texts are between the settings of ``written_texts`` (chapter 10).

Nothing is trained. The paragraphs, the lengths and the measures are those of ``written_texts``, which has the greedy
texts, the beam's, the author's and draws with other settings. The settings that come near to the author's surprise
are drawn three times for each paragraph, so that temperature and nucleus can be compared there.
"""

from typing import Any

from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import (
    BEGINNING,
    LENGTH,
    Endless,
    beginnings,
    figures_by_way,
    without_texts,
    written,
)
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

WAYS: dict[str, dict[str, Any]] = {
    **{f"temperature {one:g}": {"temperature": one} for one in (0.3, 0.5, 0.85, 1.2)},
    **{f"nucleus {one:g}": {"temperature": 1.0, "top_p": one} for one in (0.5, 0.7, 0.8)},
}
NEAR: dict[str, dict[str, Any]] = {
    "temperature 0.9": {"temperature": 0.9}, "temperature 0.95": {"temperature": 0.95},
    "nucleus 0.95": {"temperature": 1.0, "top_p": 0.95},
}  # fmt: skip
DRAWS = 3  # of each paragraph with each of these settings


def drawn(job: Job, ways: dict[str, dict[str, Any]], times: int) -> dict[str, Any]:
    """Texts of all ``ways``, so many ``times`` of each paragraph, without the texts themselves."""
    pretrained = smollm2()
    prompts = beginnings(pretrained, job.steps, job.seed).prompts.repeat(times, 1)
    with fused(pretrained.model):
        tokens, nats = written(Endless(pretrained), prompts, LENGTH, job.seed, ways)
    return {"by_way": without_texts(figures_by_way(pretrained, ways, tokens, nats))}


def texts(job: Job) -> dict[str, Any]:
    """Settings between those of ``written_texts``, once."""
    return drawn(job, WAYS, 1)


def near(job: Job) -> dict[str, Any]:
    """Settings whose surprise is near to the author's, three times."""
    return drawn(job, NEAR, DRAWS)


PARTS: Parts = {"texts": (texts, 6), "near": (near, 6)}


def run(job: Job) -> Outcome:
    """Write with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "written_settings",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "beginning": BEGINNING,
        "length": LENGTH,
        "ways": WAYS,
        "near": NEAR,
        "draws": DRAWS,
    },
    on_cpu=True,
)
