"""A checkpoint is gone on from by its own training alone, with every state, and by one process at a time."""

import json
import warnings
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from attnbook.data.batching import Batch
from attnbook.data.pictures.captions import WORDS, canvases
from attnbook.locks import Taken
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.captioning import Captioner
from attnbook.training import (
    ChangingLoss,
    fit,
    language_model_loss,
    load_checkpoint,
    resuming,
    save_checkpoint,
    sequence_loss,
    warmup_rate,
)
from attnbook.training.captioning import HardCaptionLoss
from attnbook.training.description import INSIDE
from attnbook.training.resuming import random_states, set_random_states

CONFIG = {"d_model": 8, "d_ff": 16, "layers": 1, "heads": 2, "dropout": 0.1, "window": 2}
STEPS = 6


def batch_at(step: int, seed: int = 0, size: int = 4) -> Batch:
    """Words; a function of the step alone."""
    words = torch.randint(3, 8, (size, 5), generator=torch.Generator().manual_seed(100 * seed + step))
    return Batch(words, torch.full((size,), 5), words)


def train(path, changes=None, batches=batch_at, stop=None, **options) -> tuple[nn.Module, list[float]]:
    """Train a small language model, with a checkpoint every two steps; ``stop`` interrupts before that step."""

    def until_stop(step):
        if step == stop:
            raise KeyboardInterrupt
        return batches(step)

    torch.manual_seed(0)
    model = LanguageModel(8, TransformerConfig(**CONFIG | (changes or {})))
    how = {"loss": language_model_loss, "warmup": 1, "validate_every": 2, "progress": False, "steps": STEPS} | options
    return model, fit(model, until_stop, checkpoint=path, **how).losses


def interrupted(path, stop=5, **options) -> None:
    """Leave a checkpoint of the steps before ``stop``."""
    with pytest.raises(KeyboardInterrupt):
        train(path, stop=stop, **options)


# ---- of this training, and no other


def other_loss(model, batch):
    return sequence_loss(model(batch.target)[0], batch.target)


OTHERS = {
    "heads": {"changes": {"heads": 4}},
    "dropout": {"changes": {"dropout": 0.3}},
    "window": {"changes": {"window": 3}},
    "positions": {"changes": {"positions": "sinusoidal"}},
    "loss": {"loss": other_loss},
    "argument of the loss": {"loss": partial(language_model_loss)},
    "schedule": {"schedule": partial(warmup_rate, d_model=8)},
    "optimiser": {"optimiser": torch.optim.SGD},
    "setting of the optimiser": {"optimiser": partial(torch.optim.AdamW, weight_decay=0.5)},
    "batches": {"batches": partial(batch_at, seed=1)},
    "batch size": {"batches": partial(batch_at, size=3)},
}


@pytest.mark.parametrize("stop", [5, None])
@pytest.mark.parametrize("name", OTHERS)
def test_another_training_is_refused_and_what_differs_is_named(name, stop, tmp_path):
    path = tmp_path / "a.ckpt"
    interrupted(path) if stop else train(path)
    before = path.read_bytes()
    word = {
        "batch size": "batch",
        "batches": "batch",
        "argument of the loss": "loss",
        "setting of the optimiser": "decay",
    }
    with pytest.raises(
        ValueError, match=rf"a\.ckpt holds another training: .*{word.get(name, name)}.* is .* there and "
    ):
        train(path, **OTHERS[name])
    assert path.read_bytes() == before


def test_the_same_training_goes_on_without_a_word(tmp_path):
    wanted, losses = train(None)
    interrupted(tmp_path / "a.ckpt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, again = train(tmp_path / "a.ckpt")
    assert again == losses
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), wanted.parameters(), strict=True))


@pytest.mark.parametrize("lower", [{"learning_rate": 1e-3}, {"max_grad_norm": 0.5}, {"steps": STEPS + 2}])
def test_a_training_that_is_not_over_may_go_on_with_a_lower_rate_or_bound_and_for_longer(lower, tmp_path):
    _, losses = train(None)
    interrupted(tmp_path / "a.ckpt")
    _, again = train(tmp_path / "a.ckpt", **lower)
    assert again[:4] == losses[:4]
    assert len(again) == lower.get("steps", STEPS)
    assert again[5:] != losses[5:]


def test_a_lower_schedule_may_follow_and_a_higher_one_may_not(tmp_path):
    interrupted(tmp_path / "a.ckpt", schedule=lambda step: 1e-3)
    with pytest.raises(ValueError, match=r"schedule\.0 is 0\.001 there and 0\.002 here"):
        train(tmp_path / "a.ckpt", schedule=lambda step: 2e-3)
    assert len(train(tmp_path / "a.ckpt", schedule=lambda step: 1e-4, steps=STEPS + 3)[1]) == STEPS + 3


def test_many_differences_are_counted(tmp_path):
    interrupted(tmp_path / "a.ckpt")
    with pytest.raises(ValueError, match=r"layers.*; and \d+ more differences; give another path"):
        train(tmp_path / "a.ckpt", {"layers": 3, "heads": 4, "dropout": 0.0})


def edited(times: str):
    """A loss of one name, as a notebook's cell makes it before and after an edit."""
    made = {"language_model_loss": language_model_loss}
    exec(f"def my_loss(model, batch):\n    return {times} * language_model_loss(model, batch)", made)
    return made["my_loss"]


def test_a_loss_that_was_edited_is_another_loss(tmp_path):
    train(tmp_path / "a.ckpt", loss=edited("1"))
    assert train(tmp_path / "a.ckpt", loss=edited("\\\n    1"))[1]  # on other lines
    with pytest.raises(ValueError, match=r"loss\.\(inside\)\.code\.digest is \w+ there and \w+ here"):
        train(tmp_path / "a.ckpt", loss=edited("2"))


def test_a_checkpoint_that_says_nothing_of_what_is_inside_is_compared_without_it(tmp_path):
    path = tmp_path / "a.ckpt"
    _, losses = train(path)
    saved = load_checkpoint(path)
    words = json.loads(saved["training"])
    save_checkpoint(path, **saved | {"training": json.dumps(as_before(words))})
    assert train(path)[1] == losses
    with pytest.raises(ValueError, match=r"loss\.function is language_model_loss there and other_loss here"):
        train(path, loss=other_loss)


def as_before(words):
    """A description as it was before there was anything inside."""
    if not isinstance(words, dict):
        return words
    plain = {name: as_before(one) for name, one in words.items() if name != INSIDE}
    return plain["function"] if INSIDE in words and plain.keys() == {"function"} else plain


# ---- finite


class Cracked(ChangingLoss):
    """A loss that is finite, with a gradient that is not, at one step."""

    def __init__(self, at: int) -> None:
        self.crack = at

    def mend(self) -> None:
        self.crack = 99

    def at(self, step: int):
        return self.cracked if step == self.crack else language_model_loss

    def cracked(self, model: nn.Module, batch: Batch) -> Tensor:
        weight = next(model.parameters())
        return language_model_loss(model, batch) + 0 * (weight - weight.detach()).sum().sqrt()  # 0 · ∞


@pytest.mark.parametrize("step", [3, 4, 5])  # 3 and 5: just before a checkpoint
def test_a_gradient_that_is_no_number_stops_the_training_and_is_never_saved(step, tmp_path):
    path, advice = tmp_path / "a.ckpt", r"; try a smaller learning_rate or max_grad_norm; .* goes on from .*a\.ckpt$"
    with pytest.raises(FloatingPointError, match=rf"^the norm of the gradients is nan at step {step}{advice}"):
        train(path, loss=(loss := Cracked(step)))
    saved = load_checkpoint(path)
    assert len(saved["history"]["losses"]) == step // 2 * 2
    assert all(tensor.isfinite().all() for tensor in saved["model"].values())
    loss.mend()
    _, losses = train(path, loss=loss, learning_rate=1e-3)
    assert len(losses) == STEPS


def test_weights_that_are_not_finite_are_never_saved_nor_validated(tmp_path):
    rate = {"optimiser": torch.optim.SGD, "max_grad_norm": 1e9, "schedule": lambda step: 1e38 if step == 3 else 1e-9}
    rate["loss"] = lambda model, batch: 1e4 * language_model_loss(model, batch)
    with pytest.raises(FloatingPointError, match=r"weight is not finite after step 3; try a smaller learning_rate"):
        train(tmp_path / "a.ckpt", **rate)
    assert len(load_checkpoint(tmp_path / "a.ckpt")["history"]["losses"]) == 2
    with pytest.raises(FloatingPointError, match=r"after step 3; try a smaller learning_rate or max_grad_norm$"):
        train(None, **rate, validate=lambda model: float(model.training))


# ---- states


@pytest.mark.parametrize("samples", [1, 2])
def test_a_loss_that_remembers_goes_on_from_what_it_remembers(samples, tmp_path):
    def run(path, stop=None):
        def until_stop(step):
            if step == stop:
                raise KeyboardInterrupt
            return canvases(3, step)

        torch.manual_seed(0)
        model = Captioner(len(WORDS), "hard", embedding=4, hidden=6)
        fit(model, until_stop, 6, loss=HardCaptionLoss(samples), validate_every=2, checkpoint=path, progress=False)
        return model.state_dict()

    whole = run(None)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "a.ckpt", stop=5)
    resumed = run(tmp_path / "a.ckpt")
    assert all(torch.equal(resumed[name], tensor) for name, tensor in whole.items())


def test_a_checkpoint_that_lacks_a_state_is_refused(tmp_path):
    memory = SimpleNamespace(state_dict=dict, load_state_dict=lambda state: None)
    interrupted(tmp_path / "a.ckpt")

    class Remembers:
        state_dict, load_state_dict = dict, memory.load_state_dict

        def __call__(self, model):
            return 0.0

    with pytest.raises(ValueError, match=r"a\.ckpt holds no state of validation, which this training needs"):
        train(tmp_path / "a.ckpt", validate=Remembers())


@pytest.mark.parametrize("kind, arguments", [("cuda", (torch.device("cuda", 0),)), ("mps", ())])
def test_the_random_numbers_of_a_device_go_on(kind, arguments, monkeypatch):
    seen = []
    module = SimpleNamespace(
        get_rng_state=lambda *which: seen.append(which) or torch.tensor([7], dtype=torch.uint8),
        set_rng_state=lambda state, *which: seen.append((state.tolist(), which)),
    )
    monkeypatch.setattr(resuming.torch, "get_device_module", lambda device: module)
    states = random_states(torch.device(kind, 0))
    assert states.keys() == {"cpu", kind}
    expected = torch.rand(3)
    set_random_states([states], torch.device(kind, 0))
    assert torch.equal(torch.rand(3), expected)
    assert seen == [arguments, ([7], arguments)]
    set_random_states([states], torch.device("cpu"))  # gone on from on another device
    assert len(seen) == 2


def test_random_numbers_go_on_on_each_device(device):
    states = random_states(device)
    first = torch.rand(3, device=device)
    set_random_states([states], device)
    assert torch.equal(torch.rand(3, device=device), first)


# ---- one at a time


def test_a_checkpoint_belongs_to_one_training_at_a_time(tmp_path):
    def validate(model):
        with pytest.raises(Taken, match=r"another training is under way with .*a\.ckpt; wait for its end, or give ano"):
            train(tmp_path / "a.ckpt")
        return 0.0

    train(tmp_path / "a.ckpt", validate=validate)
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


def test_what_a_killed_training_left_half_written_is_removed(tmp_path):
    (tmp_path / "a.ckpt.0123abcd.part").touch()
    train(tmp_path / "a.ckpt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


def test_a_path_that_cannot_be_written_is_found_before_the_first_step(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        train(tmp_path / "file" / "a.ckpt", stop=0)
