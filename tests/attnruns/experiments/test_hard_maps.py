"""What chapter 6's captioner attends to, and what it writes if it must read another cell."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import hard_attention, hard_maps
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(hard_attention, "TESTS", 20)
    monkeypatch.setattr(hard_maps, "TESTS", 20)


@pytest.fixture(scope="module")
def file():
    return hard_attention.names_of(0)


def test_the_empty_cell_shows_nothing_of_the_second_digit():
    cell = torch.tensor([[0, 1], [0, 8], [3, 4], [2, 6]])
    found, there = hard_maps.other_cells(cell)
    assert torch.equal(torch.stack([found["first"], found["own"]], dim=1), cell)
    assert there.tolist() == [True, True, False, True]  # a digit in the middle touches every cell
    assert found["empty"][0] in (6, 7, 8)
    assert found["empty"][1] in (1, 2, 3, 6)
    assert found["empty"][3] in (0, 1, 5, 8)


def test_a_forced_read_changes_one_word_only(file):
    torch.manual_seed(1)
    model = hard_maps.build("soft")
    image, caption, cell = file["canvases"](5)
    plain, other = (
        file["run"](model, image, read, caption)[0]
        for read in (file["largest"], hard_maps.forced(file["largest"], {3: cell[:, 0]}))
    )
    torch.testing.assert_close(plain[:, :2], other[:, :2])
    alpha = file["run"](model, image, file["largest"], caption)[1]
    own = file["run"](model, image, hard_maps.forced(file["largest"], {3: alpha[:, 2].argmax(dim=1)}), caption)[0]
    torch.testing.assert_close(plain, own)
    both = file["run"](model, image, hard_maps.forced(file["largest"], {2: cell[:, 0], 3: cell[:, 0]}), caption)[0]
    torch.testing.assert_close(plain[:, 0], both[:, 0])
    assert not torch.allclose(plain[:, 1], both[:, 1])
    a = model.annotate(image)
    lent = hard_maps.forced(file["largest"], {2: a[torch.arange(5), cell[:, 0]], 3: cell[:, 0]})
    torch.testing.assert_close(file["run"](model, image, lent, caption)[0], both)


def test_a_caption_is_worth_the_same_after_either_digit_to_a_model_that_ignores_what_it_reads(file):
    model = hard_maps.build("soft")
    with torch.no_grad():
        model.place.weight.zero_()  # all annotations are the same
    found = hard_maps.at_relation(file, model, file["largest"])
    assert found["reward"][0] == found["reward"][1]
    donor = hard_maps.names_with_a_donor(file, model, file["largest"])
    assert donor["donor"] + donor["own"] <= 1


def test_an_untrained_model_attends_evenly():
    file, model = hard_attention.names_of(0), hard_maps.build("soft")
    with torch.no_grad():
        model.v.weight.zero_()
    found = hard_maps.attended(file, model, file["soft"])
    assert found["largest"] == pytest.approx([1 / 9] * 3, abs=1e-4)
    assert set(found["third"]) == {"as trained", "own", "first", "empty", "empty at words 2 and 3"}


@pytest.mark.parametrize("name", hard_maps.STEPS)
def test_a_run_of_seed_0_keeps_the_weights_that_the_chapter_loads(name, tmp_path):
    figures = checked_run(hard_maps, Job(name, 0, 2), tmp_path, "cpu", kept=True)
    assert ("drawn" in figures) == (name != "soft")
    assert len(figures["on"]) == 3
    assert [point["step"] for point in figures["curve"]] == [0, 2]


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="there is: soft"):
        hard_maps.run(Job("nothing", 0, 1))
