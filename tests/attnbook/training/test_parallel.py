"""Data parallel training: what a share weighs, and that two real processes do what one does."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from attnbook.data.batching import Batch
from attnbook.models import GNMT, PlainSeq2Seq
from attnbook.training import fit, parallel, process_group, teacher_forcing_loss

SCRIPT = Path(__file__).with_name("shared_training.py")
training = SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@pytest.fixture
def alone(monkeypatch):
    """Whatever started the tests, this process belongs to no group."""
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)


def torchrun(processes: int, *words: str, **options) -> subprocess.CompletedProcess:
    """Start a program in several processes, by gloo on the CPU."""
    path = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}", *words]
    return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=240, **options)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What a training leaves that two processes have shared."""
    if not parallel.dist.is_available():
        pytest.skip("this torch was built without torch.distributed")
    file = tmp_path_factory.mktemp("together") / "result"
    done = torchrun(2, str(SCRIPT), str(file))
    assert done.returncode == 0, done.stderr
    return SimpleNamespace(**torch.load(file), shown=done.stderr, files=sorted(p.name for p in file.parent.iterdir()))


# ---- shares


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_weighted_shares_have_the_loss_and_the_gradients_of_the_batch(size, close, dtype):
    model, batch = GNMT(8, 8, 4, 6, layers=3).to(dtype), training.batch_at(0)
    parameters = list(model.parameters())
    wanted = teacher_forcing_loss(model, batch)
    shares = [parallel.share_of(batch, rank, size) for rank in range(size)]
    loss = sum(teacher_forcing_loss(model, share.batch) * share.weight for share in shares) / size
    close(loss, wanted)
    for got, want in zip(torch.autograd.grad(loss, parameters), torch.autograd.grad(wanted, parameters), strict=True):
        close(got, want)


def test_without_weights_the_words_of_a_short_share_count_too_much():
    model, batch = GNMT(8, 8, 4, 6, layers=3).double(), training.batch_at(0)
    shares = [parallel.share_of(batch, rank, 2) for rank in range(2)]
    words = [int((share.batch.target != 0).sum()) for share in shares]
    assert words == [27, 5]
    assert [share.weight for share in shares] == pytest.approx([2 * 27 / 32, 2 * 5 / 32])
    naive = sum(teacher_forcing_loss(model, share.batch) for share in shares) / 2
    assert abs(naive - teacher_forcing_loss(model, batch)) > 1e-3


def test_each_row_is_in_one_share():
    batch = training.batch_at(0)
    lengths = [parallel.share_of(batch, rank, 3).batch.lengths.tolist() for rank in range(3)]
    assert lengths == [[9, 2], [1, 8], [7]]


def test_without_words_to_be_written_the_rows_of_a_share_weigh():
    batch = training.tours_at(0)
    assert [parallel.share_of(batch, rank, 2).weight for rank in range(2)] == pytest.approx([2 * 3 / 5, 2 * 2 / 5])


def test_one_process_has_the_whole_batch_whatever_it_is():
    anything = SimpleNamespace(name="no Batch at all")
    assert parallel.share_of(anything, 0, 1) == (anything, 1.0)


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(TypeError, match="batch must be a Batch to be shared between 2 processes, got tuple"):
        parallel.share_of((1, 2), 0, 2)
    batch = Batch(*(tensor[:2] for tensor in training.batch_at(0)))
    with pytest.raises(ValueError, match="batch must have a row for each of 3 processes, got 2 rows"):
        parallel.share_of(batch, 0, 3)


# ---- one process


def test_without_torchrun_nothing_happens(alone):
    model, number = torch.nn.Linear(2, 1), torch.ones(())
    with process_group():
        assert (parallel.rank(), parallel.size()) == (0, 1)
        assert parallel.replicated(model)(lambda model, batch: (model, batch), 3) == (model, 3)
        assert parallel.from_all(number) == [number]
        assert parallel.mean_over_processes(number) is number
        assert parallel.from_first(number) is number


# ---- two processes


@pytest.mark.slow
def test_two_processes_have_the_gradients_of_one(together, alone):
    assert together.size == 2
    for name, wanted in training.gradients().items():
        torch.testing.assert_close(together.gradients[name], wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_two_processes_have_the_losses_and_weights_of_one(together, alone):
    model = training.build()
    history = fit(model, training.batch_at, training.STEPS, warmup=1, progress=False)
    assert together.losses == pytest.approx(history.losses, rel=1e-10)
    for name, wanted in model.state_dict().items():
        # Adam divides a gradient by its own size, so where that is tiny, rounding is not
        torch.testing.assert_close(together.weights[name], wanted, rtol=1e-6, atol=1e-8)
    assert together.differing == 0  # both processes hold the same weights, to the last bit


@pytest.mark.slow
def test_both_stop_early_when_the_first_finds_nothing_better(together):
    assert together.stopped == 3  # of 4 steps; the second process's results rise


@pytest.mark.slow
def test_one_of_them_writes_and_shows_progress(together):
    assert together.files == ["result", "result.checkpoint", "result.resumed"]
    assert together.shown.count(f"| 0/{training.STEPS} ") <= 1


@pytest.mark.slow
def test_a_loss_may_take_a_model_step_by_step(together, alone):
    torch.manual_seed(0)
    model = PlainSeq2Seq(8, 8, embedding=4, hidden=6).double()
    history = fit(model, training.batch_at, training.STEPS, warmup=1, progress=False)
    assert together.sampled == pytest.approx(history.losses, rel=1e-10)


@pytest.mark.slow
def test_a_loss_may_use_the_parts_of_a_model_and_leave_some_unused(together):
    assert together.toured["finite"]
    assert together.toured["differing"] == 0
    assert together.toured["running"] == pytest.approx(sum(together.toured["means"]) / 2)  # of both processes' trips


@pytest.mark.slow
def test_an_interrupted_training_of_two_processes_goes_on_as_if_nothing_had_happened(together):
    assert together.resumed == 0  # to the last bit, though each draws its own dropout


@pytest.mark.slow
def test_a_batch_that_cannot_be_shared_ends_all_processes():
    code = (
        "import sys, runpy; sys.argv = ['x']; t = runpy.run_path(%r); from attnbook.training import *\n"
        "with process_group():\n"
        "    fit(t['build'](), lambda step: type(t['batch_at'](0))(*(x[:1] for x in t['batch_at'](0))), 2)\n"
    )
    done = torchrun(2, "--no-python", sys.executable, "-c", code % str(SCRIPT))
    assert done.returncode != 0
    assert "batch must have a row for each of 2 processes, got 1 rows" in done.stderr
