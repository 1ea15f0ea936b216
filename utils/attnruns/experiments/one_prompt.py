"""One beginning of a story, which SmolLM2 continues by searching and by drawing (chapter 10).

Nothing is trained. Greedy decoding and a beam search write one text each, the same with each seed; each way of drawing
writes ``steps`` texts with each seed. Of each text two numbers are kept: how much its tokens surprise the model, and
which share of its pairs of tokens stood in it before. The end of a text is forbidden, so that all have the same length.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.decoding import beam, sample
from attnbook.measure.text import repetition
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import NEVER, Endless
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

PROMPT = "The lighthouse keeper opened the old letter and read it twice. Then"
LENGTH, PARTS_OF_TEXT = 140, 14  # tokens that are written; parts of each text whose surprise is kept
SEARCHED = {"greedy": 1, "beam of 4": 4}  # the width of the beam
DRAWN: dict[str, dict[str, float]] = {
    "temperature 0.7": {"temperature": 0.7}, "nucleus 0.95": {"top_p": 0.95}, "temperature 1": {},
    "temperature 1.5": {"temperature": 1.5},
}  # fmt: skip


def figures_of(pretrained: Pretrained, model: Endless, prompt: Tensor, texts: Tensor) -> dict[str, Any]:
    """Of ``texts (N, LENGTH)`` behind ``prompt (1, t)``: nats per token and repeated pairs of each, and the first."""
    read = torch.cat([prompt.expand(len(texts), -1), texts], dim=1)  # (N, t + LENGTH)
    nats = torch.cat([model.surprises(row[None])[:, -texts.shape[1] :] for row in read])  # (N, LENGTH)
    first = texts[0].tolist()
    return {
        "nats": rounded(nats.mean(dim=1)),
        "by_part": [rounded(row) for row in nats.unflatten(1, (PARTS_OF_TEXT, -1)).mean(dim=-1)],
        "repeated": rounded([repetition([row]) for row in texts.tolist()]),
        "text": pretrained.tokenizer.decode(first),
        "tokens": first,
    }


def texts(job: Job) -> dict[str, Any]:
    """One text of each search, and ``steps`` of each way of drawing."""
    pretrained, found = smollm2(), {}
    model, prompt = Endless(pretrained), torch.tensor([pretrained.tokenizer.encode(PROMPT).ids])
    end: dict[str, Any] = {"max_length": LENGTH, "eos": NEVER}
    with fused(pretrained.model):
        for name, width in SEARCHED.items():
            best = beam(model, width=width, prompt=prompt, **end).tokens[:, 0]
            found[name] = figures_of(pretrained, model, prompt, best)
        for name, how in DRAWN.items():
            rows = prompt.repeat(job.steps, 1)
            drawn = sample(model, prompt=rows, generator=generator(job.seed), **end, **how).tokens
            found[name] = figures_of(pretrained, model, prompt, drawn)
    return {"by_way": found}


PARTS: Parts = {"texts": (texts, 10)}


def run(job: Job) -> Outcome:
    """Write with one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "one_prompt",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "prompt": PROMPT,
        "length": LENGTH,
        "searched": SEARCHED,
        "drawn": DRAWN,
    },
    on_cpu=True,
)
