"""Encoders that read in one direction: what their annotations have read, and the record."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import reading_directions, ten_exchange
from attnruns.results import load_result
from attnruns.shared.runner import Job


@torch.no_grad()
def annotations_of(name, lists):
    """Those of an untrained translator with this encoder, and the lengths of the lists."""
    names = reading_directions.file_with(name, 0)
    torch.manual_seed(0)
    model = names["Translator"](False).eval()
    return ten_exchange.annotations(model, names["batch_of"]([(one, ["zwei"]) for one in lists])[0])


@pytest.mark.parametrize(("name", "of_first", "of_last"), [("forward", True, False), ("backward", False, True)])
def test_an_annotation_has_read_one_side_of_its_word(name, of_first, of_last):
    short = ["two", ",", "three"]
    h, _ = annotations_of(name, [short, [*short, ",", "four"], ["five", ",", *short]])
    assert h.shape == (3, 5, 64)
    assert torch.allclose(h[0, :3], h[1, :3], atol=1e-6) == of_first  # words behind them are added
    assert torch.allclose(h[0, :3], h[2, 2:], atol=1e-6) == of_last  # words before them


def test_sequences_are_turned_without_their_padding():
    turned = reading_directions.turned(torch.tensor([[[1], [2], [0]], [[3], [4], [5]]]), torch.tensor([2, 3]))
    assert turned[:, :, 0].tolist() == [[2, 1, 0], [5, 4, 3]]


def test_a_name_that_is_no_encoder_is_refused():
    with pytest.raises(ValueError, match="sideways"):
        reading_directions.file_with("sideways", 0)


def test_a_run_trains_and_counts(tmp_path):
    figures = checked_run(reading_directions, Job("backward", 0, 2), tmp_path, "cpu")
    assert len(figures["found_by_number"]) == 15


def test_the_record_has_three_seeds_of_the_encoder_that_reads_forwards_and_each_counted_the_same_lists():
    runs = [run for run in load_result("reading_directions")["runs"] if run["model"] == "forward"]
    assert [run["seed"] for run in runs] == [0, 1, 2]
    for run in runs:
        assert run["found_by_number"][:5] == run["units_found"]["all fifteen"]
        # the annotations of these five numbers are the same, so only the words that are allowed differ
        assert run["units_found"]["first five of fifteen"] == run["units_found"]["a list of five"]
