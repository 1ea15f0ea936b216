import pytest
import torch

from attnpages.figures.chapters.ch13 import plot_runs, plot_tracks


def test_tracks_show_as_many_rows_as_asked_and_all_bits(looks_right):
    axes = plot_tracks(
        {"input bits": torch.zeros(5, 3), "write head": torch.ones(5, 9)}, end=2, rows=4, mark="question"
    )
    looks_right(axes[-1])
    assert [ax.images[0].get_array().shape for ax in axes] == [(3, 5), (4, 5)]
    assert all(ax.lines[0].get_xdata()[0] == 2 for ax in axes)
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [["question"], []]
    with pytest.raises(ValueError, match="number of steps"):
        plot_tracks({"a": torch.zeros(5, 3), "b": torch.zeros(4, 3)})
    with pytest.raises(ValueError, match="panels is empty"):
        plot_tracks({})


@pytest.mark.parametrize("wrong, said", [
    ({"end": 5}, "end must be one of the 5 steps, got 5"), ({"end": -1}, "got -1"),
    ({"rows": 0}, "rows must be positive or None, got 0"),
])  # fmt: skip
def test_tracks_refuse_what_they_could_not_draw(wrong, said):
    with pytest.raises(ValueError, match=said):
        plot_tracks({"write head": torch.ones(5, 9)}, **wrong)


def test_vectors_are_drawn_whole_with_a_colour_for_each_sign(looks_right):
    numbers = torch.tensor([[0.5, -2.0, 1.0]] * 4)
    weights, vectors = plot_tracks({"write head": torch.ones(4, 9), "add vectors": numbers}, rows=2)
    looks_right(vectors)
    assert vectors.get_ylabel() == "feature"
    assert vectors.images[0].get_array().shape == (3, 4)
    assert vectors.images[0].get_clim() == (-2, 2)
    assert weights.images[0].get_clim() == (0, 1)
    assert not weights.texts


def test_each_run_has_its_mark_in_the_row_of_its_name_and_none_covers_another(looks_right):
    groups = {"before": {"shift": [0.5, 0.5], "content": [0.0]}, "after": {"content": [0.2]}}
    before, after = plot_runs(groups, "share of wrong bits", chance=0.4)
    looks_right(before)
    shift, content, guessing = before.lines[:3]
    assert shift.get_xdata().tolist() == [0.5, 0.5]
    assert len(set(shift.get_ydata())) == 2
    assert shift.get_ydata().round().tolist() == [0, 0]
    assert content.get_ydata().tolist() == [1]
    assert guessing.get_xdata()[0] == 0.4
    assert after.lines[0].get_xdata().tolist() == [0.2]
    assert [label.get_text() for label in before.get_yticklabels()] == ["shift", "content"]
    assert before.yaxis_inverted()
    (name,) = before.texts
    assert (name.get_text(), name.xy) == ("guessing", (0.4, 1))  # in the row of "content", far from its mark
    assert not after.texts
    with pytest.raises(ValueError, match="groups is empty"):
        plot_runs({}, "share")
