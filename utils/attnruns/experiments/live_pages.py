"""What the book's pages show of SmolLM2 without running it: weights of all heads, next words, and whole stories.

Nothing is trained: the weights are those that ``python -m attnbook.pretrained smollm2`` fetched. ``steps`` says how
many sentences, or beginnings, are read, or with how many seeds a story is written.
"""

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnbook.decoding import sampling_probabilities
from attnbook.models.pretrained import Pretrained
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import STORY, STORY_LENGTH, WAYS, Endless, written
from attnruns.results import result_folders
from attnruns.shared.runner import Experiment, Job, Outcome

SENTENCES = (
    "The cat sat on the mat because it was tired, and the dog lay on the sofa because it was tired too.",
    "The window letter music stone river garden, window letter music stone river garden.",
    "When Mary and John went to the store, John gave a drink to Mary.",
)
BEGINNINGS = ("The capital of France is", "Once upon a time there was a", "For dinner tonight I would like to eat")
STORED = "weights/smollm2_next_words.json"
STORED_STORIES = "weights/smollm2_stories.json"
NAMED, SPARSE = 200, 1.03  # words that are kept by name; of the others each rank that is so many times the last one

TOLD = ("greedy", "temperature 0.7", "temperature 1", "temperature 1.5", "top-k 50", "nucleus 0.95")
LIKELY = 5  # tokens that are kept of each step of a story


def in_bytes(weights: Tensor) -> str:
    """Causal weights ``(..., T, T)``: of each map the lower triangle, from 0 to 255, row by row, in base64."""
    rows, columns = torch.tril_indices(*weights.shape[-2:])
    whole = (255 * weights[..., rows, columns]).round().to(torch.uint8)  # (..., T (T + 1) / 2)
    return base64.b64encode(bytes(whole.flatten().tolist())).decode()


@torch.no_grad()
def heads(job: Job) -> list[dict[str, Any]]:
    """Pieces of each sentence, and the weights of all layers and heads."""
    pretrained, read = smollm2(), []
    for sentence in SENTENCES[: job.steps]:
        ids = pretrained.tokenizer.encode(sentence).ids
        maps = torch.cat(pretrained.model.maps(torch.tensor([ids])))  # (layers, H, T, T)
        layers, count = maps.shape[:2]
        pieces = [pretrained.tokenizer.decode([number]) for number in ids]
        read.append({"pieces": pieces, "layers": layers, "heads": count, "weights": in_bytes(maps)})
    return read


def sparse_ranks(first: int, size: int) -> list[int]:
    """Ranks from ``first`` to ``size - 1``, ever farther apart.

    >>> sparse_ranks(90, 100)
    [90, 93, 96, 99]
    """
    ranks = [first]
    while ranks[-1] < size - 1:
        ranks.append(min(size - 1, max(ranks[-1] + 1, round(ranks[-1] * SPARSE))))
    return ranks


@torch.no_grad()
def next_words(job: Job) -> list[dict[str, Any]]:
    """The logits after each beginning, largest first: by name, and of the others those at some ranks."""
    pretrained, read = smollm2(), []
    for beginning in BEGINNINGS[: job.steps]:
        ids = torch.tensor([pretrained.tokenizer.encode(beginning).ids])
        logits, order = pretrained.model(ids)[0][0, -1].double().sort(descending=True)  # (V,)
        named = [[pretrained.tokenizer.decode([number]), round(value, 3)]
                 for number, value in zip(order[:NAMED].tolist(), logits[:NAMED].tolist(), strict=True)]  # fmt: skip
        others = [[rank, round(logits[rank].item(), 3)] for rank in sparse_ranks(NAMED, len(logits))]
        read.append({"beginning": beginning, "size": len(logits), "named": named, "others": others})
    return read


@torch.no_grad()
def stories(job: Job) -> dict[str, Any]:
    """The stories of ``written_texts``, token by token, with what else could have been chosen there.

    A step is ``[token, above, kept, [token, p, q] …]``: the chosen token (a number in ``pieces``), the probability of
    all more probable tokens together, how many tokens the rule keeps, and the most probable tokens and the chosen one
    with their probability for the model and under the rule. Probabilities are in 10,000ths.
    """
    pretrained = smollm2()
    model, prompt = Endless(pretrained), torch.tensor([pretrained.tokenizer.encode(STORY).ids])  # (1, t)
    pieces, found = dict[str, int](), list[dict[str, Any]]()
    for seed in range(job.steps):
        with fused(pretrained.model):
            told, _ = written(model, prompt, STORY_LENGTH, seed, WAYS)  # all ways draw, as in written_texts
        for way, row in zip(WAYS, told, strict=True):
            if way not in TOLD or (seed and WAYS[way]["temperature"] == 0):
                continue
            logits = model.logits(torch.cat([prompt, row[None]], dim=1))[0, prompt.shape[1] - 1 : -1]  # (T, V)
            steps = [_step(pretrained, pieces, *of, WAYS[way]) for of in zip(logits, row.tolist(), strict=True)]
            found.append({"rule": way, "seed": seed, "steps": steps})
    return {"beginning": STORY, "pieces": list(pieces), "stories": found}


def _step(
    pretrained: Pretrained, pieces: dict[str, int], logits: Tensor, chosen: int, way: Mapping[str, Any]
) -> list[Any]:
    """What is kept of one step of a story, from its logits ``(V,)``; new tokens join ``pieces``."""
    p = logits.double().softmax(dim=-1)  # (V,)
    rule = dict(way) if way["temperature"] else {"top_k": 1}
    q = sampling_probabilities(logits[None].double(), **rule)[0]  # (V,)
    likely = p.topk(LIKELY).indices.tolist()
    shown = likely if chosen in likely else [*likely, chosen]

    def number(token: int) -> int:
        return pieces.setdefault(pretrained.tokenizer.decode([token]), len(pieces))

    rows = [[number(token), round(10_000 * p[token].item()), round(10_000 * q[token].item())] for token in shown]
    above = round(10_000 * p[p > p[chosen]].sum().item())
    return [number(chosen), above, int((q > 0).sum()), *rows]


def stored_probabilities(beginning: str) -> Tensor:
    """The probabilities of all next words after a stored beginning, largest first: ``(V,)``.

    Between two stored ranks a logit lies on a straight line, as in the live figure.

    Raises:
        ValueError: if nothing is stored of this beginning.
    """
    found = [folder / STORED for folder in result_folders() if (folder / STORED).is_file()]
    stored = {one["beginning"]: one for one in json.loads(found[0].read_text(encoding="utf-8"))} if found else {}
    if beginning not in stored:
        raise ValueError(
            f"no next words are stored of {beginning!r}; there are: {', '.join(map(repr, stored)) or 'none'}"
        )
    one = stored[beginning]
    known = {rank: logit for rank, (_, logit) in enumerate(one["named"])} | dict(one["others"])
    logits = np.interp(np.arange(one["size"]), list(known), list(known.values()))
    return torch.from_numpy(logits).softmax(dim=-1)


def stored_stories() -> dict[str, Any]:
    """The stories that are stored for the live figure, as :func:`stories` returns them.

    Raises:
        FileNotFoundError: if none are stored.
    """
    for folder in result_folders():
        if (folder / STORED_STORIES).is_file():
            return json.loads((folder / STORED_STORIES).read_text(encoding="utf-8"))
    raise FileNotFoundError(f"no {STORED_STORIES}; run python -m attnbook.experiments live_pages --models stories")


PARTS = {"heads": (heads, len(SENTENCES)), "next_words": (next_words, len(BEGINNINGS)), "stories": (stories, 2)}


def run(job: Job) -> Outcome:
    """Read one part; what was seen is kept beside the weights, where the book's pages find it."""
    start = time.process_time()
    read = PARTS[job.model][0](job)
    text = json.dumps(read, ensure_ascii=False, separators=(",", ":")) + "\n"
    figures = {"device": "cpu", "seconds": round(time.process_time() - start, 1), "bytes": len(text.encode())}
    return Outcome(figures, texts={f"weights/smollm2_{job.model}.json": text})


EXPERIMENT = Experiment(
    "live_pages",
    {name: steps for name, (_, steps) in PARTS.items()},
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "named": NAMED, "sparse": SPARSE},
    on_cpu=True,
)
