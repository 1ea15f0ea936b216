"""A training that was interrupted ends where the uninterrupted one ends, to the last bit (on the CPU)."""

import os
import runpy
import subprocess
import sys
import time
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from attnbook.data.batching import Batch
from attnbook.models import AttentionSeq2Seq
from attnbook.training import History, fit, load_checkpoint, save_checkpoint

SCRIPT = Path(__file__).with_name("killed_training.py")
training = SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@cache
def uninterrupted(name: str) -> tuple[nn.Module, History]:
    """The training as it goes when nothing happens, and without a checkpoint; done once."""
    return training.train(name)


def assert_same(got, wanted) -> None:
    """Equal to the last bit: weights, losses, validations."""
    (model, history), (other, other_history) = got, wanted
    assert history.losses == other_history.losses
    assert history.validations == other_history.validations
    for name, tensor in other.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor), name


def kill_after_first_checkpoint(name: str, checkpoint: Path) -> int:
    """Train in a process of its own, kill it when a checkpoint appears, return its exit status."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, str(SCRIPT), name, str(checkpoint)], env=environment)
    try:
        while not checkpoint.exists():
            assert process.poll() is None, "the training ended before it wrote a checkpoint"
            time.sleep(0.02)
        time.sleep(0.1)  # into the middle of some later step
    finally:
        process.kill()  # SIGKILL: it has no chance to tidy up
    return process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", "dropout"])
def test_a_killed_training_goes_on_as_if_nothing_had_happened(name, tmp_path):
    checkpoint = tmp_path / "training.pt"
    assert kill_after_first_checkpoint(name, checkpoint) not in (0, 1)
    done = len(load_checkpoint(checkpoint)["history"]["losses"])
    assert training.EVERY <= done < training.STEPS
    torch.manual_seed(99)  # whatever the new process did before
    assert_same(training.train(name, checkpoint), uninterrupted(name))


class Interrupted(Exception):  # noqa: N818 (it reads as what happened)
    """Raised in the middle of a training."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "attention", "dropout"])
@pytest.mark.parametrize("stop", [3, 5, 11])
def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(name, stop, tmp_path):
    checkpoint = tmp_path / "training.pt"

    def batch_until_stop(step):
        if step == stop:
            raise Interrupted
        return training.batch_at(step)

    with pytest.raises(Interrupted):
        training.train(name, checkpoint, batch_until_stop)
    assert len(load_checkpoint(checkpoint)["history"]["losses"]) == stop // training.EVERY * training.EVERY
    torch.manual_seed(99)
    assert_same(training.train(name, checkpoint), uninterrupted(name))


def test_a_resumed_training_writes_the_same_checkpoint(tmp_path):
    def files():
        return [load_checkpoint(tmp_path / file) for file in ("resumed.pt", "whole.pt")]

    def batch_until_stop(step):
        if step == 5:
            raise Interrupted
        return training.batch_at(step)

    with pytest.raises(Interrupted):
        training.train("dropout", tmp_path / "resumed.pt", batch_until_stop)
    training.train("dropout", tmp_path / "whole.pt")
    resumed, whole = files()
    assert not torch.equal(
        resumed["random"][0]["cpu"], whole["random"][0]["cpu"]
    )  # dropout has drawn from it meanwhile
    training.train("dropout", tmp_path / "resumed.pt")
    resumed, whole = files()
    assert torch.equal(resumed["random"][0]["cpu"], whole["random"][0]["cpu"])
    assert resumed["optimiser"]["param_groups"] == whole["optimiser"]["param_groups"]
    for number, moments in whole["optimiser"]["state"].items():
        for name, tensor in moments.items():
            assert torch.equal(resumed["optimiser"]["state"][number][name], tensor)


def test_a_finished_training_is_not_trained_again(tmp_path):
    checkpoint = tmp_path / "training.pt"
    finished = training.train("attention", checkpoint)

    def no_batch(step):
        assert step == training.STEPS - 1, "nothing is left to train; only the last batch is compared"
        return training.batch_at(step)

    again = training.train("attention", checkpoint, no_batch)
    assert_same(again, finished)
    assert not again[0].training


def test_a_training_that_stopped_early_stays_stopped(tmp_path):
    def run(results, checkpoint):
        model, results = training.build("attention"), iter(results)
        options = {"validate": lambda model: next(results), "validate_every": 2, "patience": 2, "progress": False}
        return model, fit(model, training.batch_at, 12, warmup=3, checkpoint=checkpoint, **options)

    stopped = run([0.5, 0.4, 0.3, 0.9, 0.9, 0.9], tmp_path / "training.pt")
    assert stopped[1].steps == 6
    assert_same(run([], tmp_path / "training.pt"), stopped)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"steps": 11}, "steps is 12 there and 11 here"),
        ({"learning_rate": 1e-2}, "learning_rate is 0.003 there and 0.01 here"),
        ({"learning_rate": 1e-3}, "learning_rate is 0.003 there and 0.001 here"),  # nothing is left to train
        ({"warmup": 4}, "warmup is 3 there and 4 here"),
        ({"max_grad_norm": 2.0}, "max_grad_norm is 1.0 there and 2.0 here"),
        ({"optimiser": partial(torch.optim.AdamW, betas=(0.8, 0.999))}, "optimiser.betas.0 is 0.9 there and 0.8 here"),
    ],
)
def test_a_checkpoint_of_another_plan_is_refused(change, words, tmp_path):
    checkpoint = tmp_path / "training.pt"
    training.train("plain", checkpoint)
    plan = {"steps": training.STEPS, "learning_rate": 3e-3, "warmup": 3, "max_grad_norm": 1.0} | change
    message = rf"training\.pt holds another training: {words}; give another path"
    with pytest.raises(ValueError, match=message):
        fit(training.build("plain"), training.batch_at, checkpoint=checkpoint, progress=False, **plan)


def test_a_checkpoint_that_does_not_say_of_what_training_it_is_is_refused(tmp_path):
    checkpoint = tmp_path / "training.pt"
    training.train("plain", checkpoint)
    saved = load_checkpoint(checkpoint)
    del saved["training"], saved["batch"]
    save_checkpoint(checkpoint, **saved)
    with pytest.raises(ValueError, match=r"training\.pt holds no training, only model, .*; give another path"):
        training.train("plain", checkpoint)


def test_a_checkpoint_without_a_plan_is_refused(tmp_path):
    save_checkpoint(tmp_path / "weights.pt", model=training.build("attention").state_dict())
    with pytest.raises(ValueError, match=r"weights\.pt holds no training, only model; give another path"):
        fit(training.build("attention"), training.batch_at, 5, checkpoint=tmp_path / "weights.pt", progress=False)


@pytest.mark.parametrize("other", [{"hidden": 10}, {"hidden": 8, "cell": "lstm"}])
def test_a_checkpoint_of_another_model_is_refused(other, tmp_path):
    def run(**sizes):
        model = AttentionSeq2Seq(8, 8, embedding=4, **sizes)
        fit(model, training.batch_at, 2, checkpoint=tmp_path / "training.pt", progress=False)

    run(hidden=8)
    with pytest.raises(ValueError, match=r"training\.pt holds another training: model\."):
        run(**other)


def test_a_broken_checkpoint_is_refused(tmp_path):
    checkpoint = tmp_path / "training.pt"
    training.train("plain", checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:500])
    with pytest.raises(ValueError, match=r"training\.pt cannot be read as a checkpoint"):
        training.train("plain", checkpoint)


def test_the_batches_are_a_function_of_the_step():
    first, again = training.batch_at(3), training.batch_at(3)
    assert isinstance(first, Batch)
    assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))
