"""SmolLM2 beyond the 8,192 positions of its training, by four kinds of rotary frequencies (chapter 20).

Nothing is trained, and no weight is changed. Measured twice: how surprised the model is by a long text, and whether it
copies words across a gap. The text is what the book's chapters say. It needs the weights: ``python -m
attnbook.pretrained smollm2``.
"""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from attnbook.attention import (
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    stretch,
    yarn_frequencies,
    yarn_scale,
)
from attnbook.device import best_device, device_of
from attnbook.measure.inside import read_in_chunks
from attnbook.models import LanguageModel
from attnbook.models.pretrained import Pretrained, load
from attnbook.models.pretrained.fetching import kept
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnbook.training.progress import report_steps
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

FACTOR = 2  # texts are to be twice as long as in training
LONGEST = 14_336  # words of the text; the "steps" of a job: so many are read at most
PART = 1024  # words of the text whose surprise is averaged
GAPS = (1000, 4000, 8000, 12_000)  # words of the text between a list and its copy
COPIED = 32  # words of a list
CHUNK = 256  # words that are read at once
CHAPTERS = Path(__file__).resolve().parents[3] / "chapters"

Ways = dict[str, Callable[[int, int, float], tuple[Tensor, float]]]  # of features per head, trained length and base
WAYS: Ways = {
    "trained": lambda dim, trained, base: (rotary_frequencies(dim, base), 1.0),
    "base": lambda dim, trained, base: (ntk_frequencies(dim, FACTOR, base), 1.0),
    "interpolated": lambda dim, trained, base: (interpolated_frequencies(dim, FACTOR, base), 1.0),
    "yarn": lambda dim, trained, base: (yarn_frequencies(dim, FACTOR, trained, base), yarn_scale(FACTOR)),
}


def pretrained() -> Pretrained:
    """SmolLM2 in bfloat16, on the best device.

    Raises:
        ValueError: if its weights are not on this machine.
    """
    path = kept("smollm2")
    if path is None:
        raise ValueError("SmolLM2 is not here: python -m attnbook.pretrained smollm2")
    found = load(path, torch.bfloat16)
    found.model.to(best_device())
    return found


def turn_as(found: Pretrained, name: str) -> None:
    """Let a model turn by the frequencies of that name, with the fused kernel, which keeps no weights of 14,000²."""
    config = found.model.config
    stretch(found.model, *chosen(WAYS, name)(config.d_model // config.heads, config.max_length, config.rotary_base))
    for layer in found.model.blocks.layers:
        layer.self_attention.fused = True


def long_text() -> str:
    """What the chapters say, one after the other: their Markdown, as it stands."""
    cells = (cell for path in sorted(CHAPTERS.glob("*.ipynb")) for cell in json.loads(path.read_text("utf-8"))["cells"])
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def words_of(found: Pretrained, seed: int, count: int) -> Tensor:
    """``(1, count)`` words of the text, from another place for each seed."""
    words = torch.tensor([found.tokenizer.encode(long_text(), add_special_tokens=False).ids])
    return words.roll(-seed * LONGEST, dims=1)[:, :count]


def common_words(found: Pretrained, seed: int) -> Tensor:
    """``(1, 32)`` drawn English words of one token each, all different: of the first 5,000 tokens, with a blank."""
    tokens = (found.tokenizer.id_to_token(number) or "" for number in range(5000))
    plain = [number for number, token in enumerate(tokens) if re.fullmatch("Ġ[a-z]{3,9}", token)]
    order = torch.randperm(len(plain), generator=generator(seed))[:COPIED]
    return torch.tensor([[plain[int(place)] for place in order]])


@evaluating
def surprises(model: LanguageModel, words: Tensor) -> tuple[Tensor, Tensor]:
    """Of ``words (1, T)`` after the first, in nats, and whether each was the likeliest: ``(T − 1,)`` each."""
    nats, hits = [], []
    for (logits,), (following,) in read_in_chunks(model, words.to(device_of(model)), CHUNK):  # (t, V), (t,)
        nats.append(torch.nn.functional.cross_entropy(logits, following, reduction="none").cpu())
        hits.append((logits.argmax(dim=-1) == following).cpu())
    return torch.cat(nats), torch.cat(hits)


def copied(found: Pretrained, gap: int, seed: int) -> float:
    """Share of the words of a list that come right when it comes again after ``gap`` words; its first is given."""
    some = common_words(found, seed)
    words = torch.cat([some, words_of(found, seed, gap), some], dim=1)  # (1, 32 + gap + 32)
    _, hits = surprises(found.model, words)
    return round(hits[-(COPIED - 1) :].double().mean().item(), 4)


def run(job: Job) -> Outcome:
    """Measure one kind of frequencies."""
    start, found = time.process_time(), pretrained()
    turn_as(found, job.model)
    nats, _ = surprises(found.model, words_of(found, job.seed, job.steps))
    report_steps(job.steps)
    return Outcome({
        "nats": [round(part.mean().item(), 4) for part in nats.split(PART)],
        "copied": {str(gap): copied(found, gap, job.seed) for gap in GAPS if gap <= job.steps},
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS = {
    "task": "the chapters' text, and 32 common words copied across a gap of it", "batch": 1, "factor": FACTOR,
    "part": PART, "gaps": GAPS, "number_type": "bfloat16",
}  # fmt: skip
EXPERIMENT = Experiment("longer_than_trained", dict.fromkeys(WAYS, LONGEST), run, SETTINGS)
