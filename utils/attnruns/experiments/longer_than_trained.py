"""SmolLM2 beyond the 8,192 positions of its training, by four kinds of rotary frequencies (chapter 20).

Nothing is trained, and no weight is changed. Measured twice in one reading: how surprised the model is by a long text,
and how well it copies, after each of several lengths of that text, lists of words that stand in front of it. The text
and the words are those of ``real_model``. Weights are those that ``python -m attnbook.pretrained smollm2`` fetched.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnbook.attention import (
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    stretch,
    yarn_frequencies,
    yarn_scale,
)
from attnbook.device import best_device, device_of
from attnbook.models import LanguageModel
from attnbook.models.language_model import LanguageModelState
from attnbook.models.pretrained import Pretrained, load
from attnbook.models.pretrained.fetching import fetch
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnbook.training.progress import report_steps
from attnruns.experiments.real_model import common_words, text_tokens
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

FACTOR = 2  # texts are to be twice as long as in training
LONGEST = 12_288  # tokens of the text; the "steps" of a job: so many are read at most
PART = 1024  # tokens of the text whose surprise is averaged
LISTS, WORDS = 4, 32  # lists in front of the text, and words of each
GAPS = (0, 1024, 2048, 4096, 6144, 7168, 8192, 10_240, 12_288)  # tokens between lists and copies: whole chunks
CHUNK = 512  # tokens that are read at once
TEXTS = 3  # seeds that begin at different places of the text

Ways = dict[str, Callable[[int, int, float], tuple[Tensor, float]]]  # of features per head, trained length and base
WAYS: Ways = {
    "trained": lambda dim, trained, base: (rotary_frequencies(dim, base), 1.0),
    "base": lambda dim, trained, base: (ntk_frequencies(dim, FACTOR, base), 1.0),
    "interpolated": lambda dim, trained, base: (interpolated_frequencies(dim, FACTOR, base), 1.0),
    "yarn": lambda dim, trained, base: (yarn_frequencies(dim, FACTOR, trained, base), yarn_scale(FACTOR)),
}


def pretrained() -> Pretrained:
    """SmolLM2 in bfloat16, on the best device; attention is fused, so that no weights of 12,000² are made."""
    found = load(fetch("smollm2"), torch.bfloat16, fused=True)
    found.model.to(best_device())
    return found


def turn_as(found: Pretrained, name: str) -> None:
    """Let a model turn by the frequencies of that name."""
    config = found.model.config
    stretch(found.model, *chosen(WAYS, name)(config.d_model // config.heads, config.max_length, config.rotary_base))


def lists_of(found: Pretrained, seed: int) -> Tensor:
    """``(LISTS, WORDS)`` common words in drawn order; none comes twice."""
    words = torch.tensor(common_words(found))
    return words[torch.randperm(len(words), generator=generator(seed))[: LISTS * WORDS]].view(LISTS, WORDS)


def text_of(found: Pretrained, seed: int, count: int) -> Tensor:
    """``count`` tokens of the prose; each seed begins at another third of it, and the beginning follows the end."""
    tokens = text_tokens(found)
    return tokens.roll(-(seed * len(tokens) // TEXTS))[:count]


@evaluating
def read_and_copy(model: LanguageModel, lists: Tensor, text: Tensor) -> tuple[Tensor, dict[int, float]]:
    """Read ``lists (L, W)``, one after the other, and ``text (T + 1,)``; ask at each gap for the lists again.

    What is asked there leaves no trace: reading goes on from the state before.

    Returns:
        nats of each token of the text after its first, ``(T,)``; by gap, the share of the words of the lists that are
        named rightly once their first word has come again.
    """
    lists, text = lists.to(device_of(model)), text.to(device_of(model))
    _, state, _ = model.prefill(lists.view(1, -1), model.start())
    nats, right = [torch.zeros(0)], {}
    for begin in range(0, len(text), CHUNK):
        if begin in GAPS:
            right[begin] = copied(model, lists, state)
        following = text[begin + 1 : begin + CHUNK + 1]
        logits, state, _ = model.read(text[None, begin : begin + CHUNK], state)
        nats.append(cross_entropy(logits[0, : len(following)].float(), following, reduction="none").cpu())
    return torch.cat(nats), right


def copied(model: LanguageModel, lists: Tensor, state: LanguageModelState) -> float:
    """Share of the words of ``lists (L, W)`` after each first that a model names when it reads them in this state."""
    logits = torch.cat([model.read(words[None], state)[0] for words in lists])  # (L, W, V)
    return (logits[:, :-1].argmax(dim=-1) == lists[:, 1:]).cpu().double().mean().item()


def run(job: Job) -> Outcome:
    """Measure one kind of frequencies."""
    start, found = time.process_time(), pretrained()
    turn_as(found, job.model)
    nats, right = read_and_copy(found.model, lists_of(found, job.seed), text_of(found, job.seed, job.steps + 1))
    report_steps(job.steps)
    return Outcome({
        "nats": [rounded_mean(part) for part in nats.split(PART)],
        "copied": {str(gap): round(share, 4) for gap, share in right.items()},
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS = {
    "task": "lists of common words, and the book's prose behind them", "batch": 1, "factor": FACTOR, "part": PART,
    "lists": LISTS, "words": WORDS, "gaps": GAPS, "number_type": "bfloat16",
}  # fmt: skip
EXPERIMENT = Experiment("longer_than_trained", dict.fromkeys(WAYS, LONGEST), run, SETTINGS)
