"""Averaged weights are the mean number by number, and the last ones lie in a folder until they are averaged."""

import os

import pytest
import torch
from torch import nn

from attnbook.training import Snapshots, average_weights


def test_the_average_is_the_mean_of_each_number():
    states = [{"weight": torch.tensor([1.0, 4.0])}, {"weight": torch.tensor([3.0, 0.0])}]
    assert torch.equal(average_weights(states)["weight"], torch.tensor([2.0, 2.0]))


def test_the_average_of_one_state_is_that_state(draw, dtype):
    state = {"weight": draw(2, 3)}
    averaged = average_weights([state])
    assert torch.equal(averaged["weight"], state["weight"])
    assert averaged["weight"].dtype == dtype


def test_whole_numbers_are_taken_from_the_last():
    states = [{"count": torch.tensor([1, 2])}, {"count": torch.tensor([4, 4])}]
    assert torch.equal(average_weights(states)["count"], torch.tensor([4, 4]))


def test_the_states_stay_as_they_are():
    states = [{"weight": torch.tensor([1.0])}, {"weight": torch.tensor([3.0])}]
    average_weights(states)
    assert [state["weight"].item() for state in states] == [1.0, 3.0]


def test_no_state_and_states_of_other_models_are_refused():
    with pytest.raises(ValueError, match="states is empty; an average needs at least one state of a model"):
        average_weights([])
    one = nn.Linear(2, 1).state_dict()
    for other in (nn.Linear(3, 1), nn.Linear(2, 1, bias=False)):
        with pytest.raises(ValueError, match="states are of different models: their names or shapes differ"):
            average_weights([one, other.state_dict()])


def constant(value: float) -> nn.Module:
    model = nn.Linear(2, 1)
    for parameter in model.parameters():
        nn.init.constant_(parameter, value)
    return model


def test_the_last_snapshots_are_kept_and_averaged(tmp_path):
    snapshots = Snapshots(tmp_path / "new", keep=2)
    for step in (8, 9, 10, 100):  # not in the order of their names
        snapshots.take(constant(float(step)), step)
    assert [path.name for path in snapshots.files()] == ["10.pt", "100.pt"]
    assert sorted(os.listdir(tmp_path / "new")) == ["10.pt", "100.pt"]
    assert snapshots.average()["bias"].tolist() == [55.0]


def test_weights_that_are_not_finite_are_not_kept(tmp_path):
    snapshots = Snapshots(tmp_path, keep=1)
    snapshots.take(constant(1.0), 5)
    with pytest.raises(FloatingPointError, match="weight is not finite after 6 steps, so these weights are not kept"):
        snapshots.take(constant(float("nan")), 6)
    assert [path.name for path in snapshots.files()] == ["5.pt"]


def test_a_new_process_finds_what_an_earlier_one_has_kept(tmp_path):
    Snapshots(tmp_path).take(constant(1.0), 5)
    snapshots = Snapshots(tmp_path)
    snapshots.take(constant(3.0), 10)
    assert snapshots.average()["weight"].tolist() == [[2.0, 2.0]]


def test_a_step_that_is_taken_again_replaces_its_file(tmp_path):
    snapshots = Snapshots(tmp_path)
    for value in (1.0, 7.0):
        snapshots.take(constant(value), 5)
    assert len(snapshots.files()) == 1
    assert snapshots.average()["bias"].tolist() == [7.0]


def test_a_half_written_file_is_not_averaged(tmp_path):
    snapshots = Snapshots(tmp_path)
    snapshots.take(constant(1.0), 5)
    (tmp_path / "10.ptabc.part").write_text("half")
    assert snapshots.average()["bias"].tolist() == [1.0]


def test_without_snapshots_there_is_no_average(tmp_path):
    with pytest.raises(ValueError, match="states is empty"):
        Snapshots(tmp_path / "nowhere").average()


def test_removing_takes_the_folder_unless_something_else_lies_there(tmp_path):
    for name in ("alone", "shared"):
        Snapshots(tmp_path / name).take(constant(1.0), 5)
    (tmp_path / "shared" / "training.ckpt").write_text("of somebody else")
    (tmp_path / "alone" / "10.ptabc.part").write_text("half")
    for name in ("alone", "shared", "nowhere"):
        Snapshots(tmp_path / name).remove()
    assert os.listdir(tmp_path) == ["shared"]
    assert os.listdir(tmp_path / "shared") == ["training.ckpt"]


def test_fewer_than_one_cannot_be_kept(tmp_path):
    with pytest.raises(ValueError, match="keep must be at least 1, got 0"):
        Snapshots(tmp_path, keep=0)
