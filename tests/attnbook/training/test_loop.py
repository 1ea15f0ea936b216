"""fit: it learns, follows its schedule, stops when it should, and says what is wrong."""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from attnbook.attention import LocationAware
from attnbook.data.batching import Batch
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.training import (
    ChangingLoss,
    History,
    fit,
    load_checkpoint,
    loop,
    teacher_forcing_loss,
    warmup_rate,
    warmup_then_cosine,
)

EOS = 2


def batch_at(step: int) -> Batch:
    """Two or three letters to be written backwards; a function of the step alone."""
    generator = torch.Generator().manual_seed(step)
    length = 2 + step % 2
    letters = torch.randint(3, 7, (16, length), generator=generator)  # (B, Tk)
    target = torch.cat([letters.flip(1), torch.full((16, 1), EOS)], dim=1)  # (B, T)
    return Batch(letters, torch.full((16,), length), target)


def build(kind=PlainSeq2Seq, seed: int = 0, **options) -> nn.Module:
    torch.manual_seed(seed)
    return kind(7, 7, embedding=6, hidden=12, **options)


def quick(model, steps=6, **options) -> History:
    return fit(model, batch_at, steps, **({"warmup": 2, "progress": False} | options))


@pytest.fixture
def optimiser_steps():
    """What the optimiser is given at each step: (rate, norm of all gradients)."""
    seen = []

    def look(optimiser, args, kwargs):
        group = optimiser.param_groups[0]
        norms = torch.stack([parameter.grad.norm() for parameter in group["params"]])
        seen.append((group["lr"], norms.norm().item()))

    handle = register_optimizer_step_pre_hook(look)
    yield seen
    handle.remove()


# ---- it learns


MODELS = {
    "plain": lambda: build(),
    "attention": lambda: build(AttentionSeq2Seq),
    "location_aware_lstm": lambda: build(AttentionSeq2Seq, cell="lstm", score=LocationAware(12, 12, 6)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_loss_falls_on_a_tiny_task(name, device, dtype):
    model = MODELS[name]().to(device, dtype)
    history = quick(model, steps=60, learning_rate=2e-2, warmup=5)
    assert history.losses[0] == pytest.approx(math.log(7), rel=0.2)  # a model that knows nothing guesses
    assert sum(history.losses[-5:]) / 5 < 0.6 * history.losses[0]
    assert all(parameter.dtype == dtype for parameter in model.parameters())
    assert all(parameter.device.type == device.type for parameter in model.parameters())


def test_the_history_tells_what_happened():
    history = quick(build(), steps=5, validate=lambda model: 0.5, validate_every=2)
    assert history.steps == len(history.losses) == 5
    assert history.validations == [(2, 0.5), (4, 0.5), (5, 0.5)]
    assert history.seconds > 0


def test_the_best_of_a_history_is_its_highest_validation():
    assert History(validations=[(1, 0.2), (2, 0.7), (3, 0.4)]).best() == 0.7
    assert History().best() == -math.inf


def test_the_same_seed_gives_the_same_training():
    first, second = build(AttentionSeq2Seq), build(AttentionSeq2Seq)
    assert quick(first).losses == quick(second).losses
    assert quick(build(AttentionSeq2Seq, seed=1)).losses != quick(build(AttentionSeq2Seq)).losses


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.8, 0.95)])
def test_a_step_is_adamw_on_the_mean_loss(betas):
    model, slow = build(), build()
    history = quick(model, steps=3, max_grad_norm=1e9, optimiser=partial(torch.optim.AdamW, betas=betas))
    optimiser = torch.optim.AdamW(slow.parameters(), betas=betas)
    for step in range(3):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * warmup_then_cosine(step, 3, 2)
        loss = teacher_forcing_loss(slow, batch_at(step))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert history.losses[step] == loss.item()
    for got, wanted in zip(model.parameters(), slow.parameters(), strict=True):
        torch.testing.assert_close(got, wanted)


def test_the_rate_follows_the_schedule(optimiser_steps):
    quick(build(), steps=8, learning_rate=0.02, warmup=3)
    wanted = [0.02 * warmup_then_cosine(step, 8, 3) for step in range(8)]
    assert [rate for rate, _ in optimiser_steps] == pytest.approx(wanted)


def test_a_schedule_of_ones_own_sets_the_rate_in_place_of_the_other(optimiser_steps):
    quick(build(), steps=8, learning_rate=0.02, warmup=3, schedule=partial(warmup_rate, d_model=12, warmup=3))
    assert [rate for rate, _ in optimiser_steps] == [warmup_rate(step, 12, 3) for step in range(8)]


class CountingLoss(ChangingLoss):
    """A loss that is another at each step."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def at(self, step: int):
        self.asked.append(step)
        return lambda model, batch: (step + 1) * teacher_forcing_loss(model, batch)


def test_a_loss_that_changes_is_asked_for_at_each_step():
    loss, model, other = CountingLoss(), build(), build()
    history = quick(model, steps=3, learning_rate=1e-9, loss=loss)
    assert loss.asked == [0, 1, 2]
    plain = quick(other, steps=3, learning_rate=1e-9).losses
    assert history.losses == pytest.approx([1 * plain[0], 2 * plain[1], 3 * plain[2]], rel=1e-5)


def test_a_resumed_training_goes_on_with_the_schedule_and_the_loss_of_its_step(optimiser_steps, tmp_path):
    def stop(model) -> float:
        raise KeyboardInterrupt

    options = {
        "steps": 5,
        "validate_every": 2,
        "checkpoint": tmp_path / "half.pt",
        "schedule": lambda step: 0.01 * (step + 1),
    }
    loss, calls = CountingLoss(), iter([lambda model: 0.0, stop])
    with pytest.raises(KeyboardInterrupt):
        quick(build(), validate=lambda model: next(calls)(model), loss=loss, **options)
    quick(build(), validate=lambda model: 0.0, loss=loss, **options)
    assert loss.asked == [0, 1, 2, 3, 2, 3, 4]
    wanted = [0.01 * (step + 1) for step in loss.asked]
    assert [rate for rate, _ in optimiser_steps] == pytest.approx(wanted)


def test_gradients_are_clipped(optimiser_steps):
    quick(build(), steps=4, max_grad_norm=0.01, loss=lambda model, batch: 50 * teacher_forcing_loss(model, batch))
    assert [norm for _, norm in optimiser_steps] == pytest.approx([0.01] * 4, rel=1e-3)


def test_small_gradients_are_not_blown_up(optimiser_steps):
    quick(build(), steps=4, max_grad_norm=100.0)
    assert all(norm < 10 for _, norm in optimiser_steps)


def test_the_batch_goes_where_the_model_is(device):
    places = []

    def loss(model, batch):
        places.extend(tensor.device.type for tensor in batch)
        return teacher_forcing_loss(model, batch)

    quick(build().to(device), steps=2, loss=loss)
    assert set(places) == {device.type}


@pytest.mark.parametrize("progress", [True, False])
def test_the_progress_bar_can_be_switched_off(progress, capsys):
    quick(build(), steps=2, progress=progress)
    assert bool(capsys.readouterr().err) == progress


# ---- training mode, validation, early stop


def test_steps_see_training_mode_validations_evaluation_mode_and_so_does_who_comes_after():
    modes = []

    def loss(model, batch):
        modes.append(("step", model.training))
        return teacher_forcing_loss(model, batch)

    def validate(model):
        modes.append(("validation", model.training))
        return 0.0

    model = build().eval()
    quick(model, steps=4, loss=loss, validate=validate, validate_every=2)
    step, validation = ("step", True), ("validation", False)
    assert modes == [step, step, validation, step, step, validation]
    assert not model.training


def test_the_model_is_left_in_evaluation_mode_without_a_validation_too():
    model = build()
    quick(model, steps=2)
    assert not model.training


@pytest.mark.parametrize(
    "results, patience, stops_after",
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1, 6),  # always better
        ([0.1, 0.1, 0.9, 0.9, 0.9, 0.9], 1, 2),  # as good as before is not better
        ([0.5, 0.4, 0.4, 0.9, 0.9, 0.9], 2, 3),
        ([0.5, 0.4, 0.6, 0.5, 0.5, 0.9], 2, 5),  # patience begins anew with each best
        ([0.5, 0.4, 0.3, 0.2, 0.6, 0.6], 4, 6),
        ([0.5, 0.4, 0.3, 0.2, 0.1, 0.0], None, 6),
    ],
)
def test_training_stops_when_patience_is_over(results, patience, stops_after):
    coming = iter(results)
    model = build()
    history = quick(model, steps=12, validate=lambda model: next(coming), validate_every=2, patience=patience)
    assert history.validations == [(2 * (i + 1), result) for i, result in enumerate(results[:stops_after])]
    assert history.steps == 2 * stops_after
    assert not model.training


# ---- what it refuses


@pytest.mark.parametrize("options", [{"steps": 0}, {"steps": -3}, {"validate_every": 0}])
def test_a_training_without_steps_is_refused(options):
    with pytest.raises(ValueError, match=r"steps and validate_every must be at least 1, got -?\d+ and \d+"):
        quick(build(), **options)


@pytest.mark.parametrize("options", [{"patience": 0, "validate": lambda model: 0.0}, {"patience": 3}])
def test_patience_with_nothing_to_wait_for_is_refused(options):
    message = rf"patience counts validations: it must be at least 1 and needs validate, got {options['patience']}"
    with pytest.raises(ValueError, match=message):
        quick(build(), **options)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops_the_training(bad):
    losses = iter([1.0, 1.0, bad])
    model = build()
    message = f"the loss is {bad} at step 2; try a smaller learning_rate or max_grad_norm"
    with pytest.raises(FloatingPointError, match=message):
        quick(model, loss=lambda model, batch: next(losses) * teacher_forcing_loss(model, batch))
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_losses_that_are_read_later_are_the_same(monkeypatch):
    wanted = quick(build(), steps=9, validate=lambda model: float(model.training), validate_every=4)
    monkeypatch.setitem(loop.READ_EVERY_ON, "cpu", 3)
    asked, loss = [], CountingLoss()
    assert (
        quick(build(), steps=9, validate=lambda model: float(model.training), validate_every=4).losses == wanted.losses
    )
    quick(build(), steps=9, loss=loss, schedule=lambda step: asked.append(step) or 1e-3)
    assert loss.asked == asked == list(range(9))


def test_a_loss_that_is_read_later_and_is_no_number_is_named_by_its_step_and_never_saved(monkeypatch, tmp_path):
    monkeypatch.setitem(loop.READ_EVERY_ON, "cpu", 4)
    losses = iter([1.0, 1.0, float("nan"), 1.0])
    options = {"loss": lambda model, batch: next(losses) * teacher_forcing_loss(model, batch), "validate_every": 2}
    with pytest.raises(FloatingPointError, match="the loss is nan at step 2; try a smaller learning_rate"):
        quick(build(), checkpoint=tmp_path / "a.ckpt", **options)
    assert len(load_checkpoint(tmp_path / "a.ckpt")["history"]["losses"]) == 2


def test_mixed_precision_is_refused_on_the_cpu():
    with pytest.raises(ValueError, match="mixed_precision speeds up a GPU only, and the model is on the CPU"):
        quick(build(), mixed_precision=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", MODELS)
def test_mixed_precision_learns_on_a_gpu(name):
    model = MODELS[name]().cuda()
    kinds = []

    def loss(model, batch):
        logits, _ = model(batch.source, batch.lengths, batch.target)
        kinds.append(logits.dtype)
        return teacher_forcing_loss(model, batch)

    history = quick(model, steps=60, learning_rate=2e-2, warmup=5, mixed_precision=True, loss=loss)
    assert set(kinds) == {torch.bfloat16}
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
    assert sum(history.losses[-5:]) / 5 < 0.7 * history.losses[0]
