"""The four copiers of a chapter's file: what is read of a first layer, and what a run measures."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import four_copiers, slower_rotation
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.mark.parametrize("back", [0, 1, 7])
def test_near_weights_are_those_of_the_string(back):
    weights = torch.zeros(2, 3, 24, 24)
    weights[:, 1] = torch.eye(24)
    rows = torch.arange(back, 12)
    weights[:, 0, rows, rows - back] = 1.0  # in the string; the rows of the copy look nowhere
    weights[:, 0, :7] = torch.eye(24)[:7]  # the first seven queries look at themselves, and do not count
    found = four_copiers.near(weights, 12)
    assert found[0] == [float(distance == back) for distance in range(8)]
    assert found[1] == [1.0] + [0.0] * 7


def test_the_file_has_the_four_kinds():
    names = slower_rotation.file(0, 1, slower_rotation.FOUR)
    assert tuple(names["models"]) == four_copiers.KINDS
    for kind, model in names["models"].items():
        first, second = kind.split(", ")
        assert [layer.window for layer in model.layers] == [4 if first == "window" else float("inf"), float("inf")]
        assert [layer.rotary for layer in model.layers] == [True, second == "rotary"]


def test_a_run_copies_and_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(four_copiers, "SIZES", (12, 15))
    figures = checked_run(four_copiers, Job("file", 0, 2), tmp_path, "cpu")
    assert list(figures["copied"]) == list(four_copiers.KINDS)
    assert all(list(sizes) == ["12", "15"] for sizes in figures["copied"].values())
    for way in ("trained", "both"):
        assert [len(head) for head in figures["first_layer"][way]] == [four_copiers.NEAR] * 4
    assert [(of["way"], of["letters"]) for of in figures["second_layer"]] == list(four_copiers.SCORED)
    assert {window: list(sizes) for window, sizes in figures["cut"].items()} == {"4": ["12", "24"], "24": ["12", "24"]}
    assert set(figures["errors"]) == {"twice", "once"}


@pytest.mark.parametrize("kind", ["rotary, rotary", "window, none"])
def test_the_scores_give_the_weights(kind):
    names = slower_rotation.file(0, 1, slower_rotation.FOUR)
    model, words = names["models"][kind], names["strings"](5, B=3)
    scores = four_copiers.scores_of(model, words, names["turned"])
    later = torch.ones(10, 10).triu(1).bool()
    weights = model(words[:, :-1])[1][1]
    torch.testing.assert_close(scores.masked_fill(later, -torch.inf).softmax(dim=-1), weights)


def test_right_scores_and_those_of_the_rewarded_distances_are_kept_apart():
    scores, rows = torch.zeros(1, 1, 48, 48), torch.arange(24, 48)
    scores[..., rows, rows - 24] = 7.0
    scores[..., rows, rows - 9] = 8.0  # one of eight distances
    scores[..., rows, rows - 4] = scores[..., rows, rows - 13] = 99.0  # not among them
    assert four_copiers.right_and_rewarded(scores) == {"right": 7.0, "rewarded": 1.0, "beaten": 1.0}


def test_the_right_distance_is_not_among_the_rewarded_ones():
    scores, rows = torch.zeros(1, 1, 24, 24), torch.arange(12, 24)
    scores[..., rows, rows - 12] = 7.0
    assert four_copiers.right_and_rewarded(scores) == {"right": 7.0, "rewarded": 0.0, "beaten": 0.0}


def test_a_letter_that_is_not_read_yet_beats_nothing():
    scores, rows = torch.zeros(1, 2, 24, 24), torch.arange(12, 24)
    scores[..., rows, rows - 12] = 7.0
    scores[..., rows[:-1], rows[1:]] = 9.0  # later ones
    scores[0, 0, 12, 3] = 8.0  # one of twelve rows, in one of two heads
    assert four_copiers.right_and_rewarded(scores)["beaten"] == pytest.approx(1 / 24, abs=1e-3)


def test_a_first_layer_is_cut_short_and_then_as_before():
    names = slower_rotation.file(0, 1, slower_rotation.FOUR)
    first = names["models"]["rotary, none"].layers[0]
    seen = []
    forward, first.forward = first.forward, lambda x: (seen.append(first.window), forward(x))[1]
    four_copiers.cut_short(names)
    assert seen == [4, 4, 24, 24]
    assert first.window == float("inf")


@pytest.mark.parametrize(("text", "context", "twice"), [
    ("abacad", 1, [False, True, False, True, False, True]),  # b, c and d follow an a
    ("abacad", 2, [False] * 6),
    ("abcab", 2, [False] * 5),  # the same letter follows: it is found
    ("abcabd", 2, [False, False, True, False, False, True]),  # c and d follow ab
])  # fmt: skip
def test_letters_that_their_context_does_not_find(text, context, twice):
    letters = torch.tensor([[ord(letter) - ord("a") for letter in text]])
    assert four_copiers.stand_twice(letters, context)[0].tolist() == twice


def test_errors_are_counted_by_context():
    names = slower_rotation.file(0, 1, slower_rotation.FOUR)

    def always_right_but_where_it_must_guess(words):
        size = words.shape[1] // 2
        right = words[:, :size].clone()
        right[four_copiers.stand_twice(right)] += 1
        return torch.nn.functional.one_hot(right % 27, 27).roll(size, 1).repeat(1, 2, 1), None

    names["models"]["window, none"] = always_right_but_where_it_must_guess
    assert four_copiers.errors(names) == {"twice": 1.0, "once": 0.0}


def test_the_record_has_three_seeds_within_three_points_of_an_older_one():
    runs = load_result("four_copiers")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 2]
    older = {run["seed"]: run for run in load_result("slower_rotation")["runs"] if run["model"] == "file"}
    for run in runs:
        for kind, way in (("rotary, rotary", "trained"), ("window, none", "window")):
            for size in ("12", "24"):
                assert run["copied"][kind][size]["exact"] == pytest.approx(
                    older[run["seed"]][way][size]["exact"], abs=0.03
                )
