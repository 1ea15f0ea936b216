"""One beginning of a story, which SmolLM2 continues by searching and by drawing (chapter 10).

Nothing is trained. Greedy decoding and a beam search write one text each; each way of drawing writes ``steps`` texts.
Of each text two numbers are kept: how much its tokens surprise the model, and which share of its pairs of tokens stood
in it before. What the two searches wrote is kept itself. The end of a text is forbidden, so that all have the same
length. All draws are made side by side.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.decoding import beam, stream
from attnbook.measure.text import repetition
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import NEVER, STORY, STORY_LENGTH, WAYS, WIDTH, Chooser, Endless
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

PROMPT = STORY
LENGTH, PARTS_OF_TEXT = STORY_LENGTH, 14  # tokens that are written; parts of each text whose surprise is kept
DRAWN = {name: WAYS[name] for name in ("temperature 0.7", "nucleus 0.95", "temperature 1", "temperature 1.5")}


def figures_of(pretrained: Pretrained, texts: Tensor, nats: Tensor) -> dict[str, Any]:
    """Of ``texts (N, LENGTH)`` and the ``nats`` of their tokens: nats and repeated pairs of each; one alone is kept."""
    searched = {"text": pretrained.tokenizer.decode(texts[0].tolist()), "tokens": texts[0].tolist()}
    return {
        "nats": rounded(nats.mean(dim=1)),
        "by_part": rounded(nats.unflatten(1, (PARTS_OF_TEXT, -1)).mean(dim=-1)),
        "repeated": rounded([repetition([row]) for row in texts.tolist()]),
        **(searched if len(texts) == 1 else {}),  # nobody has read what is drawn
    }


def drawn(model: Endless, prompt: Tensor, rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """A greedy text, then ``rows`` texts of each way of drawing, and the nats of their tokens, all ``(N, LENGTH)``."""
    sizes = [1] + [rows] * len(DRAWN)
    choose = Chooser(generator(seed), {"greedy": WAYS["greedy"], **DRAWN}, sizes)
    steps = stream(model, max_length=LENGTH, choose=choose, prompt=prompt.repeat(sum(sizes), 1), eos=NEVER)
    tokens = torch.stack([token for token, _ in steps], dim=1)
    return tokens, torch.stack(choose.nats, dim=1)


def texts(job: Job) -> dict[str, Any]:
    """One text of each search, and ``steps`` of each way of drawing."""
    pretrained = smollm2()
    model, prompt = Endless(pretrained), torch.tensor([pretrained.tokenizer.encode(PROMPT).ids])
    with fused(pretrained.model):
        tokens, nats = drawn(model, prompt, job.steps, job.seed)
        best = beam(model, max_length=LENGTH, width=WIDTH, prompt=prompt, eos=NEVER).tokens[:, 0]
        nats_of_best = model.surprises(torch.cat([prompt, best], dim=1))[:, -LENGTH:]
    sizes = [1] + [job.steps] * len(DRAWN)
    parts = zip(("greedy", *DRAWN), tokens.split(sizes), nats.split(sizes), strict=True)
    found = {way: figures_of(pretrained, *of) for way, *of in parts}
    return {"by_way": found | {f"beam of {WIDTH}": figures_of(pretrained, best, nats_of_best)}}


PARTS: Parts = {"texts": (texts, 12)}


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
        "beam": WIDTH,
        "drawn": DRAWN,
    },
    on_cpu=True,
)
