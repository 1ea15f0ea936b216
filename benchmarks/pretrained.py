"""SmolLM2-135M in our blocks beside `transformers`: ``python benchmarks/pretrained.py FOLDER``.

``FOLDER`` holds the weights as ``transformers`` writes them; without one, its own class reads the GGUF file that
``python -m attnbook.pretrained smollm2`` has fetched (package ``gguf``). Both read the same prompt at once and then
write from it, in turns, so that a busy machine slows both alike: a prompt each, then a token each. Of a prompt the next
token alone is asked, as ``generate`` asks. Prints tokens per second and the median of the pairs' ratios; above 1 means
that ours is faster. ``transformers`` is no part of the course's environment.
"""

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import kept
from attnbook.models.pretrained.halves import in_halves
from attnbook.models.pretrained.layouts import packed
from attnruns.shared.timing import CLOCKS, wall_seconds

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Side(NamedTuple):
    """One of the two: ``read(words (1, T), state) -> (logits (1, V), state)``, the state being ``None`` at first."""

    name: str
    read: Callable


def ours(path: Path, dtype: torch.dtype, halves: bool = False, device: str = "cpu") -> Side:
    """Our blocks with these weights, and torch's fused kernel of attention, which the other side uses too."""
    model = load(path, dtype, fused=True).model
    if device == "cpu":
        model = in_halves(model) if halves else packed(model)
    model = model.to(device)

    def read(words: Tensor, state):
        state = model.start() if state is None else state
        logits, state, _ = model.prefill(words, state) if words.shape[1] > 1 else model.step(words[:, 0], state)
        return logits, state

    return Side("ours", read)


def theirs(path: Path, dtype: torch.dtype, device: str = "cpu") -> Side:
    """The class of ``transformers``, with its own cache."""
    from transformers import AutoModelForCausalLM

    where = {"pretrained_model_name_or_path": path} if path.is_dir() else {
        "pretrained_model_name_or_path": path.parent, "gguf_file": path.name}  # fmt: skip
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=dtype).eval().to(device)

    def read(words: Tensor, state):
        out = model(input_ids=words, past_key_values=state, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1], out.past_key_values

    return Side("transformers", read)


class Turn:
    """One side reading and writing, and how long each pass took, in seconds of ``clock``."""

    def __init__(self, side: Side, clock: Callable) -> None:
        self.side, self.clock, self.state = side, clock, None
        self.seconds: list[float] = []

    def take(self, words: Tensor) -> Tensor:
        """Read ``words (1, T)`` after what was read: logits ``(1, V)``."""
        found: list = []
        self.seconds.append(self.clock(lambda: found.extend(self.side.read(words, self.state))))
        logits, self.state = found
        return logits


@torch.no_grad()
def compare(
    sides: tuple[Side, Side], length: int, tokens: int, rounds: int, clock: Callable = wall_seconds, device: str = "cpu"
) -> dict[str, tuple[float, float, float]]:
    """For "prefill" and "decoding": tokens per second of both sides, and how many times as fast the first is.

    Args:
        length: tokens of the prompt. tokens: how many are written after it. rounds: how often.
        clock: of the call to it, in seconds. device: where both compute.
    """
    prefill: list[list[float]] = [[], []]
    decoding: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        words = torch.randint(1000, 40000, (1, length), generator=torch.Generator().manual_seed(number)).to(device)
        turns = [Turn(side, clock) for side in sides]
        for step in range(tokens + 1):
            for turn in turns if (number + step) % 2 else turns[::-1]:
                logits = turn.take(words)
            words = logits.argmax(dim=-1, keepdim=True)  # both read the same
        if number:  # the first round warms up
            for which, turn in enumerate(turns):
                prefill[which].append(turn.seconds[0])
                decoding[which].extend(turn.seconds[1:])
    return {"prefill": summary(*prefill, length), "decoding": summary(*decoding, 1)}


def summary(mine: list[float], other: list[float], tokens: int) -> tuple[float, float, float]:
    """Tokens per second of both, by the median of their passes, and the median of the pairs' ratios."""
    ratio = statistics.median(b / a for a, b in zip(mine, other, strict=True))
    return tokens / statistics.median(mine), tokens / statistics.median(other), ratio


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, help="of weights; default: SmolLM2, where it has been fetched")
    parser.add_argument("--length", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens written after it")
    parser.add_argument("--rounds", type=int, default=5, help="prompts")
    parser.add_argument(
        "--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES), help="of the weights on both sides"
    )
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: other programs do not count")
    parser.add_argument("--device", default="cpu", help="where both compute, such as cuda")
    parser.add_argument("--halves", action="store_true", help="ours has its matrices as float16, in float32 alone")
    parser.add_argument("--threads", type=int, default=1, help="more than one only on an idle machine")
    options = parser.parse_args(arguments)
    if options.device != "cpu" and (options.halves or options.clock != "wall"):
        parser.error("--halves and --clock processor are for the CPU; leave them out with --device")
    path = options.path or kept("smollm2")
    if path is None:
        parser.error("there are no weights here: python -m attnbook.pretrained smollm2")
    torch.set_num_threads(options.threads)
    for name in options.dtypes:
        dtype = DTYPES[name]
        halves = options.halves and dtype == torch.float32
        sides = ours(path, dtype, halves, options.device), theirs(path, dtype, options.device)
        clock = partial(wall_seconds, device=options.device) if options.clock == "wall" else CLOCKS[options.clock]
        found = compare(sides, options.length, options.tokens, options.rounds, clock, options.device)
        for what, (mine, other, ratio) in found.items():
            print(
                f"{name:9s} {what:9s} ours {mine:6.1f}, transformers {other:6.1f} tokens/s: {ratio:.2f} ×", flush=True
            )


if __name__ == "__main__":
    main()
