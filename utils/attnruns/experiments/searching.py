"""What a wider beam finds, and what one may choose among several draws: the kept translators of numbers (chapter 10).

Nothing is trained, and nothing but ``draws`` is left to chance. ``steps`` says how many lists of each size are
translated.
"""

from collections import Counter
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch, Example
from attnbook.decoding import beam, sample
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnbook.training.captioning import word_log_probs
from attnruns.experiments import numbers
from attnruns.experiments.scheduled_sampling import items
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

WIDTHS = (1, 2, 4, 8, 16)
BLAMED = (5, 6)  # numbers in a list
LONG = (("plain", 6), ("plain", 8), ("plain", 12), ("attention", 12))
MOST = {12: 50}  # lists of this size that are translated at most
DRAWS, SEVERAL, TEMPERATURE = 3, 8, 0.5
CLOSE = 1e-4  # nats; below it two log-probabilities count as the same


def lists(size: int, count: int) -> list[Example]:
    """``count`` test lists of a size."""
    task = numbers.task()
    found = task.longer[size] if size in task.longer else [x for x in task.test if x.size == size]
    return found[: min(count, MOST.get(size, count))]


@evaluating
def log_probability(model: nn.Module, batch: Batch) -> Tensor:
    """The log-probability of the targets, ``(B,)``."""
    logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))  # (B, T, V)
    return word_log_probs(logits, batch.target).sum(dim=1)


def written(rows: Tensor) -> list[list[str]]:
    """The words of texts ``(B, L)``."""
    return [numbers.task().target_vocabulary.decode(row) for row in rows.tolist()]


def wrong_share(words: list[str], target: list[str]) -> float:
    """Which share of the target's numbers is missing or wrong, by position."""
    found, wanted = items(words), items(target)
    found += [""] * len(wanted)
    return sum(a != b for a, b in zip(wanted, found, strict=False)) / len(wanted)


def searched(name: str, size: int, width: int, count: int, alpha: float = 0.0) -> dict[str, float]:
    """What a beam of that width does to lists of that size: shares of the outputs, and their mean length."""
    model, examples = numbers.trained(name), lists(size, count)
    batch = numbers.task().collate(examples)
    room = batch.target.shape[1] * 5 // 4
    found = beam(model, batch.source, batch.lengths, max_length=room, width=width, alpha=alpha)
    outputs, targets = written(found.tokens[:, 0]), [list(x.target) for x in examples]
    pairs = list(zip(outputs, targets, strict=True))
    correct = torch.tensor([words == target for words, target in pairs])
    beyond = found.scores[:, 0] - log_probability(model, batch) > CLOSE  # (B,), for alpha = 0
    return {
        "lists": len(examples), "correct": rounded_mean(correct), "model_error": rounded_mean(~correct & beyond),
        "search_error": rounded_mean(~correct & ~beyond), "more_probable": rounded_mean(beyond),
        "extra_words": round(sum(len(a) - len(b) for a, b in pairs) / len(pairs), 4),
        "wrong": round(sum(wrong_share(a, b) for a, b in pairs) / len(pairs), 4),
    }  # fmt: skip


def blame(job: Job) -> dict[str, Any]:
    """The plain model: which errors are the search's, and which are the model's."""
    widths = (1, 4, 16)
    return {
        "by_size": {str(n): {str(w): searched("plain", n, w, job.steps) for w in widths} for n in BLAMED},
        "others": {name: {str(w): searched(name, 6, w, job.steps) for w in (1, 4)} for name in ("attention",)},
    }


def longer(job: Job) -> dict[str, Any]:
    """Wider and wider beams, also beyond the trained lengths; and what a length penalty changes there."""
    return {
        "by_width": {
            f"{name}, {size}": {str(w): searched(name, size, w, job.steps) for w in WIDTHS} for name, size in LONG
        },
        "by_alpha": {str(a): searched("attention", 8, 8, min(job.steps, 20), a) for a in (0.0, 1.0, 2.0)},
    }


def overlap(one: list[str], other: list[str]) -> float:
    """Of two lists of numbers, which share of the positions agrees."""
    a, b = items(one), items(other)
    return sum(x == y for x, y in zip(a, b, strict=False)) / max(len(a), len(b))


def voted(group: list[list[str]]) -> list[str]:
    """The text that was drawn most often, the first of them at a tie."""
    (words, _), *_ = Counter(tuple(words) for words in group).most_common(1)
    return list(words)


def closest(group: list[list[str]]) -> list[str]:
    """The text that agrees most with all of them: minimum Bayes risk, with :func:`overlap` as the utility."""
    return max(group, key=lambda words: sum(overlap(words, other) for other in group))


def draws(job: Job) -> dict[str, Any]:
    """Eight texts for each list of five, three times: is one of them right, and is it the one that is chosen?"""
    model, examples, task = numbers.trained("plain"), lists(5, job.steps), numbers.task()
    batch = task.collate([x for x in examples for _ in range(SEVERAL)])
    targets = [list(x.target) for x in examples]
    found: dict[str, list[float]] = {"one": [], "any": [], "vote": [], "closest": [], "different": []}
    write = partial(sample, model, batch.source, batch.lengths, max_length=batch.target.shape[1])
    for seed in range(DRAWS):
        texts = written(write(temperature=TEMPERATURE, generator=generator(seed)).tokens)
        groups = [texts[SEVERAL * k : SEVERAL * (k + 1)] for k in range(len(targets))]
        pairs = list(zip(groups, targets, strict=True))
        found["one"].append(sum(text == target for group, target in pairs for text in group) / len(texts))
        found["any"].append(sum(target in group for group, target in pairs) / len(pairs))
        for name, choose in (("vote", voted), ("closest", closest)):
            found[name].append(sum(choose(group) == target for group, target in pairs) / len(pairs))
        found["different"].append(sum(len({*map(tuple, group)}) for group in groups) / len(groups))
    asked = task.collate(examples)
    kept = beam(model, asked.source, asked.lengths, max_length=asked.target.shape[1], width=SEVERAL).tokens  # (B, W, L)
    in_beam = sum(target in written(rows) for rows, target in zip(kept, targets, strict=True)) / len(targets)
    greedy = searched("plain", 5, 1, job.steps)["correct"]
    return {**{name: rounded(shares) for name, shares in found.items()}, "in_beam": round(in_beam, 4), "greedy": greedy}


PARTS: Parts = {"blame": (blame, 300), "longer": (longer, 100), "draws": (draws, 300)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "searching",
    steps_of(PARTS),
    run,
    {"task": "number_lists()", "models": "seed 0 of numbers", "draws": DRAWS, "several": SEVERAL,
     "temperature": TEMPERATURE},
    on_cpu=True,
)  # fmt: skip
