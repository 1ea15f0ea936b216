"""Soft against hard attention, the captioner of chapter 6's file: several seeds, trained until the accuracy is flat.

Everything is the file's: canvases, captioner, pretrained CNN, optimiser, loss. Among the ways of hard attention only
the baseline differs. At some steps the accuracy is measured, and how much the gradient of the score's parameters varies
from batch to batch. It stays on the CPU, as the file does.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

DRAWS = 4  # K, of each canvas, for each way of hard attention
MOVING = 0.9  # how much of the moving baseline stays at a step, as in the paper
RATE, ENTROPY = 0.004, 0.01  # as in the file
POINTS = (0, 50, 100, 200, 300, 400, 600, 800, 1000)  # the steps at which is measured, and the last one
TESTS, TEST_SEED, REPEATS = 1000, 900_001, 12  # held-out canvases; batches over which a gradient's variance is taken
STEPS = dict.fromkeys(("soft", "none", "moving", "leave_one_out"), 1000)
# What is replaced in the file: nothing but seeds, and the trainings and tests that it makes itself, which are not used.
REPLACED = {
    "torch.manual_seed(0)": "torch.manual_seed({seed})",
    "seed=0, steps=300": "seed={seed}, steps=1",
    "canvases(2000)": "canvases(2)",
}


def names_of(seed: int) -> dict[str, Any]:
    """What the file defines, with the CNN that it pretrains from this seed."""
    return run_file(file_of("06_captioning", REPLACED, seed, 1, without=("file-answer",)))[0]


def read_draws(file: dict[str, Any], model: nn.Module) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Describe a new batch with ``DRAWS`` draws per canvas.

    Returns:
        Log p of the correct words, their rewards-to-go and log p of the positions drawn, each ``(K, B, 3)``, and the
        weights ``(K · B, 3, Tk)``.
    """
    image, caption, _ = file["canvases"]()
    caption = caption.repeat(DRAWS, 1)
    log_p, alpha, drawn = file["run"](model, image, file["draw"], caption, DRAWS)
    right = log_p.gather(2, caption[:, :, None])[:, :, 0]
    reward = right.detach().flip(1).cumsum(dim=1).flip(1)
    words, rewards, positions = (each.view(DRAWS, -1, 3) for each in (right, reward, drawn))
    return words, rewards, positions, alpha


def baselines(rewards: Tensor, moving: Tensor) -> dict[str, Tensor]:
    """The baselines that are compared, for rewards ``(K, B, 3)``; ``moving`` ``(3,)`` comes from earlier batches."""
    others = (rewards.sum(dim=0) - rewards) / (len(rewards) - 1)
    return {"none": torch.zeros(3), "moving": moving, "leave_one_out": others}


class HardLoss:
    """The file's ``hard_loss`` with the baseline of that name; it keeps the moving mean of the rewards."""

    def __init__(self, file: dict[str, Any], baseline: str) -> None:
        self.file, self.baseline = file, baseline
        self.moving = torch.zeros(3)

    def __call__(self, model: nn.Module) -> Tensor:
        """The loss of a new batch; afterwards the moving mean takes in its rewards."""
        words, rewards, positions, alpha = read_draws(self.file, model)
        advantage = rewards - baselines(rewards, self.moving)[self.baseline]
        self.moving = MOVING * self.moving + (1 - MOVING) * rewards.mean(dim=(0, 1))
        bonus = ENTROPY * torch.special.entr(alpha).sum(dim=2)
        return -(words + advantage * positions).mean() - bonus.mean()


def gradient(value: Tensor, model: Any) -> Tensor:
    """The gradient with respect to the parameters of the score, in one row."""
    parameters = [*model.W_q.parameters(), *model.W_k.parameters(), *model.v.parameters()]
    return torch.cat([one.flatten() for one in torch.autograd.grad(value, parameters, retain_graph=True)])


def spread(rows: list[Tensor]) -> dict[str, float]:
    """The variance of a gradient over batches, summed over parameters, and the squared length of its mean, unbiased."""
    stacked = torch.stack(rows).double()
    variance = stacked.var(dim=0).sum().item()
    return {"variance": variance, "signal": stacked.mean(dim=0).square().sum().item() - variance / len(rows)}


def gradient_spread(file: dict[str, Any], model: nn.Module, name: str) -> dict[str, dict[str, float]]:
    """The spread of the gradient of the score's parameters over batches: with each baseline, for hard attention."""
    if name == "soft":
        return {name: spread([gradient(file["soft_loss"](model), model) for _ in range(REPEATS)])}
    batches = [read_draws(file, model) for _ in range(REPEATS)]
    usual = torch.stack([rewards.mean(dim=(0, 1)) for _, rewards, _, _ in batches]).mean(dim=0)  # (3,)
    rows: dict[str, list[Tensor]] = {}
    for _, rewards, positions, _ in batches:
        for baseline, b in baselines(rewards, usual).items():
            rows.setdefault(baseline, []).append(gradient(-((rewards - b) * positions).mean(), model))
    return {baseline: spread(of) for baseline, of in rows.items()}


@torch.no_grad()
def accuracy(file: dict[str, Any], model: nn.Module, read: Callable) -> dict[str, float]:
    """Exact match, pointing accuracy and how often the second word is right, on held-out canvases, the same for all."""
    torch.manual_seed(TEST_SEED)
    image, caption, cell = file["canvases"](TESTS)
    log_p, alpha, _ = file["run"](model, image, read)
    right = log_p.argmax(dim=2) == caption  # (B, 3)
    exact, relation = right.all(dim=1).double().mean().item(), right[:, 1].double().mean().item()
    pointing = (alpha.argmax(dim=2)[:, [0, 2]] == cell).double().mean().item()
    return {"exact": round(exact, 4), "pointing": round(pointing, 4), "relation": round(relation, 4)}


def measured(file: dict[str, Any], model: nn.Module, name: str, step: int) -> dict[str, Any]:
    """What is measured at a step; the random numbers of the training go on as if nobody had measured."""
    state = torch.get_rng_state()
    found: dict[str, Any] = {"step": step, **accuracy(file, model, file["soft" if name == "soft" else "largest"])}
    torch.manual_seed(TEST_SEED + 1 + step)
    for baseline, figures in gradient_spread(file, model, name).items():
        found[baseline] = {key: float(f"{value:.4g}") for key, value in figures.items()}
    torch.set_rng_state(state)
    return found


def prepared(job: Job) -> tuple[dict[str, Any], Any, Callable[[nn.Module], Tensor]]:
    """What the file defines, a captioner that begins with the file's CNN, and its loss."""
    file = names_of(job.seed)
    torch.manual_seed(job.seed)
    model = file["Captioner"](file["feature_map"]())
    model.cnn.load_state_dict(file["cnn"].state_dict())
    return file, model, file["soft_loss"] if job.model == "soft" else HardLoss(file, job.model)


def followed(
    file: dict[str, Any], model: nn.Module, loss: Callable[[], Tensor], steps: int, measure: Callable[[int], dict]
) -> list[dict[str, Any]]:
    """Train a model as the file does, at ``RATE``; what ``measure(step)`` finds at ``POINTS`` and at the end."""
    curve: list[dict[str, Any]] = []
    step = 0

    def watched() -> Tensor:
        nonlocal step
        if step in POINTS:
            curve.append(measure(step))
        step += 1
        return loss()

    file["train"]([*model.parameters()], watched, steps, rate=RATE)
    return [*curve, measure(steps)]


def run(job: Job) -> Outcome:
    """Train one model as the file does, and measure it on the way."""
    chosen(STEPS, job.model)
    started = time.process_time()
    file, model, loss = prepared(job)
    curve = followed(file, model, lambda: loss(model), job.steps, lambda step: measured(file, model, job.model, step))
    figures: dict[str, Any] = {"curve": curve}
    if job.model != "soft":
        figures["drawn"] = accuracy(file, model, file["draw"])  # a draw in place of the largest weight
    return Outcome(figures | {"seconds": round(time.process_time() - started, 1)})


SETTINGS = {  # of every training of the file's captioner
    "task": "canvases with two digits, the file of chapter 6",
    "batch": 32,
    "learning_rate": RATE,
    "warmup": 0,
    "max_grad_norm": 1.0,
    "tests": TESTS,
}
EXPERIMENT = Experiment(
    "hard_attention",
    STEPS,
    run,
    SETTINGS | {"draws": DRAWS, "moving": MOVING, "entropy": ENTROPY, "repeats": REPEATS},
    on_cpu=True,
)
