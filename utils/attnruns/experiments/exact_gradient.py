"""Hard attention without noise: chapter 6's captioner, trained on the exact gradient of the expected reward.

Three draws from nine cells are 729 sequences per canvas, and all of them are tried, as a tree: 9 states of the decoder
after the first word, 81 after the second, 729 after the third. What begins with cells whose joint probability is at
most ``SKIPPED`` is left out: together less than a ten-thousandth. (The recorded run of seed 0 left nothing out.) All
else is as in ``hard_attention``: the file's canvases, initial parameters, optimiser, entropy bonus, rate and steps. It
stays on the CPU, as the file does.
"""

import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnruns.experiments import hard_attention
from attnruns.experiments.hard_attention import ENTROPY
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"exact": 1000}
SKIPPED = 1e-6  # joint probability of cells after which nothing is tried


def every_read(model: Any, a: Tensor, e: Tensor, h: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The file's step of the decoder, once for each cell in place of a draw.

    Args:
        a: annotations ``(B, Tk, D)``. e: the previous word ``(B, E)``. h, m: states ``(B, N, H)``.

    Returns:
        The weights ``(B, N, Tk)``, the logits ``(B, N, Tk, V)`` and the states after each cell ``(B, N, Tk, H)``. What
        depends on the cell alone, or on the state alone, is multiplied once and added.
    """
    scores = model.v(torch.tanh(model.W_q(h)[:, :, None] + model.W_k(a)[:, None]))[..., 0]  # (B, N, Tk)
    lstm, read = model.lstm, torch.cat([e[:, None].expand(-1, a.shape[1], -1), a], dim=2)  # (B, Tk, E + D)
    from_read, from_state = F.linear(read, lstm.weight_ih, lstm.bias_ih), F.linear(h, lstm.weight_hh, lstm.bias_hh)
    gates = from_state[:, :, None] + from_read[:, None]  # (B, N, Tk, 4 · H)
    i, f, g, o = gates.chunk(4, dim=3)
    m = f.sigmoid() * m[:, :, None] + i.sigmoid() * g.tanh()
    h = o.sigmoid() * m.tanh()
    from_h, from_z, from_e = model.output.weight.split([h.shape[3], a.shape[2], e.shape[1]], dim=1)
    rest = F.linear(a, from_z, model.output.bias) + F.linear(e, from_e)[:, None]  # (B, Tk, V)
    return scores.softmax(dim=2), F.linear(h, from_h) + rest[:, None], h, m


def likely(p: Tensor, at: Tensor, h: Tensor, m: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of sequences with probabilities ``p (B, N)``, numbers ``at (B, N)`` and states ``(B, N, H)`` the most probable.

    As many of each canvas as that one has which has the most sequences of a probability over ``SKIPPED``.
    """
    kept, which = p.detach().topk(int((p > SKIPPED).sum(dim=1).max()), dim=1)
    h, m = (each.gather(1, which[:, :, None].expand(-1, -1, each.shape[2])) for each in (h, m))
    return kept, at.gather(1, which), h, m


def full(values: Tensor, at: Tensor, n: int) -> Tensor:
    """Values ``(B, N, Tk)`` of the sequences with the numbers ``at (B, N)`` among all ``n``; the others have 0."""
    empty = values.new_zeros(len(values), n, values.shape[2])
    return empty.scatter(1, at[:, :, None].expand_as(values), values)


def tree(file: dict[str, Any], model: Any, image: Tensor, caption: Tensor) -> list[tuple[Tensor, Tensor]]:
    """All sequences of cells for each canvas.

    Returns:
        Per word, after each of the ``N`` = 1, 9 or 81 sequences that may have been read before it: the weights
        ``(B, N, Tk)``, and log p of the correct word for each cell that may be read now ``(B, N, Tk)``; both are 0
        after a sequence that was left out.
    """
    a = model.annotate(image)
    h = m = a.new_zeros(len(a), 1, model.lstm.hidden_size)
    p, at = a.new_ones(len(a), 1), torch.zeros(len(a), 1, dtype=torch.long)
    word, levels = torch.full((len(a),), file["START"]), []
    for t, correct in enumerate(caption.unbind(dim=1)):
        p, at, h, m = likely(p, at, h, m)
        alpha, logits, h, m = every_read(model, a, model.embed(word), h, m)
        index = correct[:, None, None, None].expand(*logits.shape[:3], 1)
        right = (logits.gather(3, index) - logits.logsumexp(dim=3, keepdim=True))[..., 0]
        levels.append((full(alpha, at, 9**t), full(right, at, 9**t)))
        p, at = (p[:, :, None] * alpha).flatten(1), (9 * at[:, :, None] + torch.arange(9)).flatten(1)
        h, m, word = h.flatten(1, 2), m.flatten(1, 2), correct
    return levels


def expected(levels: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """The expected reward and the expected entropy of the weights, both summed over the words: ``(B,)`` each.

    The gradient of the entropy ignores that a draw changes later weights, as that of the file's ``hard_loss`` does.
    """
    reward = entropy = torch.zeros_like(levels[-1][0])  # what the later words bring, after each cell
    for alpha, right in reversed(levels):
        reward = (alpha * (right + reward.view_as(right))).sum(dim=2)
        entropy = torch.special.entr(alpha).sum(dim=2) + (alpha.detach() * entropy.view_as(alpha)).sum(dim=2)
    return reward[:, 0], entropy[:, 0]


def exact_loss(file: dict[str, Any], model: nn.Module) -> Tensor:
    """The loss of a new batch. Its gradient is the mean over all draws of the gradient of the file's ``hard_loss``."""
    image, caption, _ = file["canvases"]()
    reward, entropy = expected(tree(file, model, image, caption))
    return -(reward + ENTROPY * entropy).mean() / caption.shape[1]


def run(job: Job) -> Outcome:
    """Train one model on the exact gradient, and measure it on the way at the steps of ``hard_attention``."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file, model, _ = hard_attention.prepared(Job("none", job.seed, job.steps))

    def measured(step: int) -> dict[str, Any]:
        with torch.random.fork_rng(devices=[]):  # the training's random numbers go on as if nobody had measured
            return {"step": step, **hard_attention.accuracy(file, model, file["largest"])}

    curve = hard_attention.followed(file, model, lambda: exact_loss(file, model), job.steps, measured)
    figures = {"curve": curve, "drawn": hard_attention.accuracy(file, model, file["draw"])}
    return Outcome(figures | {"seconds": round(time.process_time() - started, 1)})


EXPERIMENT = Experiment(
    "exact_gradient",
    STEPS,
    run,
    hard_attention.SETTINGS | {"sequences": 729, "skipped": SKIPPED, "entropy": ENTROPY},
    on_cpu=True,
)
