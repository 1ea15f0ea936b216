"""Chapter 16's file with other seeds: what is replaced in it is there, and pictures are what their names say."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import matching_shapes
from attnruns.results import load_result
from attnruns.shared.chapter_file import run_file
from attnruns.shared.runner import Job

LAYERS = ["Attention", "FixedMixing", "Convolutions"]


def pictures(name):
    """The function of the file that draws pictures, without the trainings behind it."""
    drawing, _ = matching_shapes.code(name, 0, 1).split("models, found = ")
    return run_file(drawing)[0]["pictures"]


@pytest.mark.parametrize("name", matching_shapes.STEPS)
def test_the_chapter_has_what_is_replaced_and_nothing_else_changes(name):
    changed, plain = matching_shapes.code(name, 7, 5), matching_shapes.code("any_positions", 0, 300)
    compile(changed, name, "exec")
    pairs = [(one, two) for one, two in zip(plain.splitlines(), changed.splitlines(), strict=True) if one != two]
    assert len(pairs) == sum(plain.count(old) for old in matching_shapes.REPLACED[name])


def test_places_vary_or_stay_and_no_two_shapes_share_one():
    _, positions, _ = pictures("any_positions")(200)
    assert len(set(positions[:, 1].tolist())) > 25
    _, fixed, _ = pictures("same_positions")(200)
    assert {tuple(pair) for pair in fixed[:, :2].tolist()} == {(0, 35)}
    for drawn in (positions, fixed):
        assert all(len(set(of_one)) == 5 for of_one in drawn.tolist())


def test_the_open_shape_has_the_form_of_its_partner_and_no_colour():
    images, positions, colour = pictures("any_positions")(20, each_once=True)
    patches = torch.nn.functional.unfold(images, 3, stride=3).mT.unflatten(2, (4, 9))  # (B, 36, 4, 9)
    for patch, of_one, answer in zip(patches, positions, colour, strict=True):
        forms = [tuple(patch[position, 3].tolist()) for position in of_one]
        assert forms[0] == forms[1]
        assert all(sum(form) == 4 for form in forms)
        assert patch[of_one[0], :3].abs().max() == 0
        shown = {tuple(patch[position, :3, patch[position, 3] == 1][:, 0].tolist()) for position in of_one[1:]}
        assert len(shown) == 4  # each colour once
        assert 0 <= answer < 4


@pytest.mark.slow
@pytest.mark.parametrize("name", matching_shapes.STEPS)
def test_the_file_runs_with_the_seed_and_the_steps_of_the_job(name, tmp_path):
    figures = checked_run(matching_shapes, Job(name, 1, 2), tmp_path, "cpu")
    assert all(0 <= figures[layer]["right"] <= 1 for layer in LAYERS)
    assert list(figures["Attention"]["by_distance"]) == (["5"] if name == "same_positions" else [*"12345"])


def test_the_record_has_three_seeds_for_each_kind_of_places():
    runs = load_result("matching_shapes")["runs"]
    assert sorted((run["model"], run["seed"]) for run in runs) == [
        (name, seed) for name in ("any_positions", "same_positions") for seed in (0, 1, 2)
    ]
    assert all(run["steps"] == matching_shapes.STEPS[run["model"]] for run in runs)
