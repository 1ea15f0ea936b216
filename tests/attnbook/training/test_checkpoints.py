"""Checkpoints: whole or not at all, and a clear word about a file that is none."""

import os
import pickle

import pytest
import torch

from attnbook.training import BrokenCheckpoint, checkpoints, load_checkpoint, save_checkpoint


@pytest.fixture
def path(tmp_path):
    """Where a checkpoint of a small training lies."""
    path = tmp_path / "training.pt"
    save_checkpoint(path, weights=torch.arange(4.0), step=7)
    return path


def test_what_was_saved_comes_back(tmp_path, draw, device, dtype):
    contents = {
        "model": {"weight": draw(2, 3), "bias": draw(3, seed=1)},
        "history": {"losses": [1.5, 0.5], "validations": [(2, 0.25)], "seconds": 0.1},
        "plan": {"steps": 10, "learning_rate": 3e-3},
        "random": torch.get_rng_state(),
    }
    save_checkpoint(tmp_path / "all.pt", **contents)
    loaded = load_checkpoint(tmp_path / "all.pt", device)
    assert loaded.keys() == contents.keys()
    assert loaded["history"] == contents["history"]
    assert loaded["plan"] == contents["plan"]
    assert torch.equal(loaded["random"].cpu(), contents["random"])
    for name, tensor in contents["model"].items():
        assert torch.equal(loaded["model"][name], tensor)
        assert loaded["model"][name].dtype == dtype
        assert loaded["model"][name].device.type == device.type


def test_folders_are_made_and_nothing_else_is_left_there(tmp_path):
    save_checkpoint(tmp_path / "new" / "folder" / "a.pt", step=1)
    assert os.listdir(tmp_path / "new" / "folder") == ["a.pt"]
    assert load_checkpoint(str(tmp_path / "new" / "folder" / "a.pt")) == {"step": 1}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_a_checkpoint_has_the_permissions_of_any_other_file(path):
    (path.parent / "other").touch()
    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


def test_a_new_checkpoint_replaces_the_old_one(path):
    save_checkpoint(path, step=8)
    assert load_checkpoint(path) == {"step": 8}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("crash", [OSError("disk full"), KeyboardInterrupt()])
def test_a_crash_while_writing_leaves_the_old_file_whole(path, monkeypatch, crash):
    before = path.read_bytes()

    def half_a_file(contents, file):
        file.write(b"the first half")
        raise crash

    monkeypatch.setattr(checkpoints.torch, "save", half_a_file)
    with pytest.raises(type(crash)):
        save_checkpoint(path, step=8)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_crash_while_moving_leaves_the_old_file_whole(path, monkeypatch):
    def no_move(half, whole):
        raise PermissionError("locked")

    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", no_move)
    with pytest.raises(PermissionError):
        save_checkpoint(path, step=8)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_half_written_neighbour_does_not_matter(path):
    (path.parent / f"{path.name}abc.part").write_bytes(b"what a killed process left")
    save_checkpoint(path, step=8)
    assert load_checkpoint(path) == {"step": 8}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no checkpoint at .*nowhere\.pt; train first, or mend the path"):
        load_checkpoint(tmp_path / "nowhere.pt")


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_truncated_file_is_broken(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(BrokenCheckpoint, match=r"training\.pt cannot be read as a checkpoint \("):
        load_checkpoint(path)


def test_a_file_of_noise_is_broken(path):
    path.write_bytes(b"\x00not a checkpoint" * 50)
    with pytest.raises(BrokenCheckpoint, match=r"as a checkpoint \(\w+\); delete it and train again") as caught:
        load_checkpoint(path)
    assert "weights_only" not in str(caught.value)  # torch's message advises to switch its safety off


def test_a_folder_is_broken(tmp_path):
    with pytest.raises(BrokenCheckpoint, match="cannot be read as a checkpoint"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("contents", [{"weights": torch.zeros(2)}, [1, 2], torch.zeros(2), {"format": "other"}])
def test_a_file_of_somebody_else_is_broken(path, contents):
    torch.save(contents, path)
    with pytest.raises(BrokenCheckpoint, match=r"is not a checkpoint written by save_checkpoint \(attnbook-chec"):
        load_checkpoint(path)


class Trap:
    """Pickled, it would run a command of the writer's choice when it is read."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def test_a_file_that_would_run_code_is_refused_unread(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    torch.save({"format": checkpoints.FORMAT, "model": Trap()}, path)
    with pytest.raises(BrokenCheckpoint, match="cannot be read as a checkpoint"):
        load_checkpoint(path)
    path.write_bytes(pickle.dumps(Trap(), protocol=2))
    with pytest.raises(BrokenCheckpoint, match="cannot be read as a checkpoint"):
        load_checkpoint(path)
    assert not (path.parent / "trapped").exists()


def test_a_broken_checkpoint_is_a_value_error(path):
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="cannot be read"):
        load_checkpoint(path)


def test_what_is_not_finite_is_named():
    model = torch.nn.BatchNorm1d(2)
    optimiser = torch.optim.Adam(model.parameters())
    model(torch.randn(3, 2)).sum().backward()
    optimiser.step()
    assert checkpoints.not_finite(model, optimiser) is None
    optimiser.state[model.bias]["exp_avg_sq"].fill_(float("inf"))
    assert checkpoints.not_finite(model) is None
    assert checkpoints.not_finite(model, optimiser) == "the optimiser's exp_avg_sq"
    model.running_mean.fill_(float("inf"))  # as in a mask that is added
    assert checkpoints.not_finite(model) is None
    model.running_mean.fill_(float("nan"))
    assert checkpoints.not_finite(model) == "running_mean"
    model.weight.data.fill_(float("inf"))
    assert checkpoints.not_finite(model) == "weight"
