"""Our neural Turing machine beside two plain ones with the same weights: ``python benchmarks/ntm.py``.

"heads" goes through the heads one by one, and through the sequences one by one where the focus is shifted, as public
implementations do; "all" goes through every head of every sequence. Ours stands there twice: as the book has it, and by
hand, with the gradient of a run written out, as experiments train it. All take turns, training step by training step,
on the same batches, so that a busy machine slows all alike. Prints ratios; above 1 means that ours is faster.
"""

import argparse
import statistics
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data import BitBatch, copy_batch
from attnbook.models import NTM, NTMConfig
from attnruns.shared.memory import bit_loss
from attnruns.shared.ntm_by_hand import run_by_hand
from attnruns.shared.timing import CLOCKS, wall_seconds

OURS = ("model", "by hand")
LOOPS = ("heads", "all")


def circular_shift(weights: Tensor, shift: Tensor) -> Tensor:
    """Shift the focus of one head of one sequence: ``weights (N,)``, ``shift (3,)``."""
    around = torch.cat([weights[-1:], weights, weights[:1]])
    return F.conv1d(around[None, None], shift.flip(0)[None, None])[0, 0]


def address(numbers: Tensor, previous: Tensor, memory: Tensor) -> Tensor:
    """Where one head looks, for all sequences: ``numbers (B, M + 6)``, ``previous (B, N)``, ``memory (B, N, M)``."""
    key, beta, gate, shift, gamma = numbers.split((memory.shape[-1], 1, 1, 3, 1), dim=-1)
    similar = F.cosine_similarity(key[:, None], memory, dim=-1)  # (B, N)
    gate, shift = gate.sigmoid(), shift.softmax(dim=-1)
    gated = gate * (F.softplus(beta) * similar).softmax(dim=-1) + (1 - gate) * previous
    moved = torch.stack([circular_shift(gated[b], shift[b]) for b in range(len(gated))])  # (B, N)
    power = (moved + 1e-16) ** (1 + F.softplus(gamma))
    return power / power.sum(dim=-1, keepdim=True)


class Plain(nn.Module):
    """The steps of ``model`` in plain loops. ``loops`` says over what, see above."""

    def __init__(self, model: NTM, loops: str) -> None:
        super().__init__()
        self.model, self.loops = model, loops

    def forward(self, inputs: Tensor, rows: int = 128) -> tuple[Tensor, None]:
        """Logits ``(B, T, outputs)`` of ``inputs (B, T, inputs)``."""
        if self.loops == "heads":
            return self._run(inputs, rows), None
        return torch.cat([self._run(sequence[None], rows) for sequence in inputs]), None

    def _run(self, inputs: Tensor, rows: int) -> Tensor:
        model, config = self.model, self.model.config
        memory = inputs.new_full((len(inputs), rows, config.width), config.fill)  # (B, N, M)
        weights = [F.one_hot(torch.zeros(len(inputs), dtype=torch.long), rows).to(inputs)] * config.heads
        reads, logits = [memory[:, 0]] * config.read_heads, []
        state = memory.new_zeros(len(inputs), model.controller.state_size)
        for x in inputs.unbind(dim=1):
            state = model.controller(torch.cat([x, *reads], dim=-1), state)
            hidden = model.controller.hidden(state)  # (B, D)
            orders = model.address.layer(hidden).chunk(config.heads, dim=-1)  # (B, M + 6) each
            weights = [address(order, before, memory) for order, before in zip(orders, weights, strict=True)]
            writes = model.erase_and_add(hidden).chunk(2 * config.write_heads, dim=-1)  # erase, add, erase, …
            for w, erase in zip(weights[config.read_heads :], writes[::2], strict=True):
                memory = memory * (1 - w[:, :, None] * erase.sigmoid()[:, None])
            for w, add in zip(weights[config.read_heads :], writes[1::2], strict=True):
                memory = memory + w[:, :, None] * add[:, None]
            reads = [(w[:, None] @ memory)[:, 0] for w in weights[: config.read_heads]]  # (B, M) each
            logits.append(model.output(torch.cat([hidden, *reads], dim=-1)))
        return torch.stack(logits, dim=1)


class ByHand(nn.Module):
    """The steps of ``model`` with their gradient written out."""

    def __init__(self, model: NTM) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, rows: int = 128) -> tuple[Tensor, Tensor]:
        """Logits ``(B, T, outputs)`` of ``inputs (B, T, inputs)``, and the weights of all heads."""
        return run_by_hand(self.model, inputs, rows)


def training_step(model: nn.Module, rows: int) -> Callable[[BitBatch], None]:
    """One step of training as a function of the batch."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step(batch: BitBatch) -> None:
        optimiser.zero_grad()
        logits, _ = model(batch.inputs, rows=rows)
        bit_loss(logits, batch).backward()
        optimiser.step()

    return step


def fresh(config: NTMConfig) -> NTM:
    """A machine with the same weights each time."""
    torch.manual_seed(0)
    return NTM(config)


def compare(
    config: NTMConfig, batch: int, length: int, rows: int, rounds: int, clock: Callable = wall_seconds
) -> dict[str, dict[str, float]]:
    """Print and return how many times as fast each of ours is as each plain one (median of the paired steps)."""
    models = {"model": fresh(config), "by hand": ByHand(fresh(config))}
    models |= {loops: Plain(fresh(config), loops) for loops in LOOPS}
    steps = {name: training_step(model, rows) for name, model in models.items()}
    took: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        data = copy_batch(length, batch, number)
        for name in sorted(steps, reverse=number % 2 == 1):
            spent = clock(steps[name], data)
            took[name] += [spent] if number else []  # the first round warms up
    print(
        f"copy of {length}, B={batch}, N={rows}, {config.controller}, {config.read_heads}+{config.write_heads} heads:"
    )
    return {ours: _compared(took, ours) for ours in OURS}


def _compared(took: dict[str, list[float]], ours: str) -> dict[str, float]:
    """Print and return the ratios of one of ours."""
    ratios = {
        loops: statistics.median(slow / fast for slow, fast in zip(took[loops], took[ours], strict=True))
        for loops in LOOPS
    }
    print(
        f"  {ours:8} {1 / statistics.median(took[ours]):6.1f} steps/s; "
        + ", ".join(f"{ratio:.1f} × a loop over {loops}" for loops, ratio in ratios.items()),
        flush=True,
    )
    return ratios


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="paired training steps")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: other programs do not count")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    for config in (NTMConfig(), NTMConfig(controller="lstm"), NTMConfig(read_heads=4, write_heads=4)):
        for rows in (32, 128):
            compare(config, 16, 10, rows, options.rounds, CLOCKS[options.clock])


if __name__ == "__main__":
    main()
