"""The measures of ``written_settings`` on another kind of text: Python's own manual (chapter 10).

Nothing is trained. ``steps`` says how many paragraphs are continued from their first tokens; the manual's own
continuations are the texts to compare with. The paragraphs come with Python (``pydoc_data``), so other versions of
Python have others; SmolLM2 may have read them in training. The tail says which share of the probability a draw leaves
to the tokens outside a nucleus of 0.95, in these paragraphs and in those of the book.
"""

import re
from pydoc_data import topics
from typing import Any

import torch

from attnbook.decoding import beam
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import (
    BEGINNING,
    LENGTH,
    NEVER,
    WIDTH,
    Begun,
    Endless,
    beginnings,
    figures_by_way,
    figures_of,
    without_texts,
    written,
)
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

WAYS: dict[str, dict[str, Any]] = {
    **{f"temperature {one:g}": {"temperature": one} for one in (0.7, 0.95, 1.0)},
    "nucleus 0.95": {"temperature": 1.0, "top_p": 0.95},
}
NUCLEUS, TEMPERATURES = 0.95, (0.7, 0.95, 1.0)  # whose tail is measured
CODE = re.compile(r'[*=<>|]|::|"\(')  # paragraphs with such signs are grammar or code


def manual() -> list[str]:
    """Paragraphs of Python's manual without code."""
    split = [" ".join(part.split()) for _, text in sorted(topics.topics.items()) for part in text.split("\n\n")]
    return [text for text in split if not CODE.search(text)]


def texts(job: Job) -> dict[str, Any]:
    """One text of each paragraph in all ways, and the manual's own, without the texts themselves."""
    pretrained = smollm2()
    model, begun = Endless(pretrained), beginnings(pretrained, job.steps, job.seed, manual())
    with fused(pretrained.model):
        tokens, nats = written(model, begun.prompts, LENGTH, job.seed, WAYS)
        real = model.surprises(torch.cat([begun.prompts, begun.real], dim=1))[:, -LENGTH:]
    found = figures_by_way(pretrained, WAYS, tokens, nats)
    found["the manual"] = figures_of(pretrained, begun.real, real)
    return {"by_way": without_texts(found)}


def searched(job: Job) -> dict[str, Any]:
    """One text of each paragraph by greedy decoding and by a beam search, without the texts themselves."""
    pretrained = smollm2()
    model, begun = Endless(pretrained), beginnings(pretrained, job.steps, job.seed, manual())
    found = {}
    with fused(pretrained.model):
        for name, width in (("greedy", 1), (f"beam of {WIDTH}", WIDTH)):
            tokens = beam(model, max_length=LENGTH, width=width, prompt=begun.prompts, eos=NEVER).tokens[:, 0]
            nats = model.surprises(torch.cat([begun.prompts, tokens], dim=1))[:, -LENGTH:]
            found[name] = figures_of(pretrained, tokens, nats)
    return {"by_way": without_texts(found)}


def tail(model: Endless, begun: Begun) -> dict[str, float]:
    """Which share of the probability lies outside the nucleus, on average, by temperature."""
    words = torch.cat([begun.prompts, begun.real], dim=1)
    logits = model.logits(words)[:, BEGINNING - 1 : -1]  # (N, LENGTH, V)
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    outside = p.cumsum(dim=-1) - p >= NUCLEUS
    shares = {t: (logits / t).softmax(dim=-1).gather(-1, order) * outside for t in TEMPERATURES}
    return {f"{t:g}": rounded_mean(of.sum(dim=-1)) for t, of in shares.items()}


def tails(job: Job) -> dict[str, Any]:
    """The tail in paragraphs of the book and of the manual."""
    pretrained = smollm2()
    model = Endless(pretrained)
    with fused(pretrained.model):
        both = {
            name: tail(model, beginnings(pretrained, job.steps, job.seed, of))
            for name, of in (("the book", None), ("the manual", manual()))
        }
    return {"by_text": both}


PARTS: Parts = {"texts": (texts, 6), "searched": (searched, 6), "tails": (tails, 6)}


def run(job: Job) -> Outcome:
    """Measure one part with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "written_manual",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "beginning": BEGINNING,
        "length": LENGTH,
        "ways": WAYS,
        "nucleus": NUCLEUS,
    },
    on_cpu=True,
)
