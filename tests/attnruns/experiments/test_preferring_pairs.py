"""What each pair of features adds to a copier's scores, and which pairs are slowed."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import four_copiers, preferring_pairs, slower_rotation
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_a_run_takes_scores_apart_and_slows_pairs(tmp_path):
    figures = checked_run(preferring_pairs, Job("file", 0, 2), tmp_path, "cpu")
    assert list(figures["slowed"]) == [*preferring_pairs.SLOWED, *preferring_pairs.BASES]
    assert list(figures["windowed"]) == ["4", "24"]
    assert [(of["way"], of["letters"]) for of in figures["scores"]] == list(four_copiers.SCORED)
    for of, farthest in zip(figures["scores"], (23, 36, 36), strict=True):
        assert len(of["right"]) == 8
        assert list(of["wrong"]) == [str(back) for back in range(5, farthest + 1) if back != of["letters"]]


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_pairs_together_are_the_score(scale):
    names = slower_rotation.file(0, 1)
    model, words = names["models"]["rotary, rotary"], names["strings"](5, B=3)
    model.layers[1].scale = scale
    parts = preferring_pairs.scores_by_pair(model, words, names["turned"])
    whole = four_copiers.scores_of(model, words, names["turned"])
    torch.testing.assert_close(parts.sum(dim=-1), whole[:, :, 5:], rtol=1e-4, atol=1e-4)


def test_right_letters_and_wrong_ones_are_kept_apart():
    scores = torch.zeros(2, 3, 6, 12, 8)
    rows = torch.arange(6)
    scores[:, :, rows, rows, 1] = 7.0  # the right letter stands six positions back
    scores[:, :, rows[:5], rows[1:], 2] = 3.0  # the one after it
    scores[:, :, rows[1:], rows[1:] + 5, 2] = 99.0  # a letter of the copy
    assert preferring_pairs.right_by_pair(scores).tolist() == [0, 7, 0, 0, 0, 0, 0, 0]
    wrong = preferring_pairs.wrong_by_pair(scores)
    assert list(wrong) == [5, 7, 8, 9, 10, 11]
    assert wrong[5].tolist() == [0, 0, 3, 0, 0, 0, 0, 0]
    assert not any(wrong[back].any() for back in (7, 8, 9, 10, 11))


def test_only_the_named_pairs_are_slowed():
    assert preferring_pairs.halved((2, 3)).tolist() == [1, 0.5, 0.5, 1, 1, 1, 1, 1]
    names = slower_rotation.file(0, 1)
    layers = names["models"]["rotary, rotary"].layers
    seen = []
    for layer in layers:
        layer.register_forward_pre_hook(lambda layer, _: seen.append(layer.scale.tolist()))
    preferring_pairs.slowed(names)
    assert seen[:4] == [[1] * 8, [1] * 8, [1] * 8, [1, 0.5] + [1] * 6]
    pairs, bases = seen[: 2 * len(preferring_pairs.SLOWED)], seen[2 * len(preferring_pairs.SLOWED) :]
    assert pairs[-2:] == [[1, 1] + [0.5] * 6, [1] + [0.5] * 7]
    assert [base[0] for base in bases] == [1] * 6
    assert bases[0] == bases[1]
    assert bases[0][-1] == pytest.approx(0.5)
    assert bases[-1][:3] == pytest.approx([1, 0.5, 0.25])
    assert all(layer.scale == 1 for layer in layers)


def test_the_first_layer_sees_so_many_letters_while_the_second_is_slowed():
    names = slower_rotation.file(0, 1)
    first, second = names["models"]["rotary, rotary"].layers
    seen = []
    first.register_forward_pre_hook(lambda layer, _: seen.append((layer.window, second.scale.tolist())))
    preferring_pairs.windowed(names)
    assert seen == [(letters, [1] + [0.5] * 7) for letters in (4, 24)]
    assert (first.window, second.scale) == (torch.inf, 1)


def test_a_larger_base_slows_each_pair_as_it_says():
    base, slower = (factor * 10_000 for factor in (1, 256))
    speeds = [of ** (-torch.arange(8) / 8) for of in (base, slower)]
    torch.testing.assert_close(speeds[0] * preferring_pairs.with_base(256), speeds[1])


def test_the_record_has_three_seeds():
    assert sorted(run["seed"] for run in load_result("preferring_pairs")["runs"]) == [0, 1, 2]
