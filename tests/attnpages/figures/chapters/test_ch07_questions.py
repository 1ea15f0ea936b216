import matplotlib.pyplot as plt
import pytest

from attnpages.figures.chapters.ch07_questions import draw_questions


def test_one_head_has_parallel_cuts_and_fails_in_one_case_and_two_heads_in_none(texts):
    one, two, below = draw_questions(2 / 3, 2 / 3, heads=4, dim=32)
    assert one.get_title() == "one head: 3 of 4 cases right"
    assert two.get_title() == "two heads: 4 of 4 cases right"
    crosses = [tuple(line.get_xydata()[0]) for line in one.lines if line.get_marker() == "x"]
    assert crosses == [(-1, 1)]  # only the last noun is plural
    slopes = [
        (y[1] - y[0]) / (x[1] - x[0]) for x, y in (cut.get_data() for cut in one.lines if len(cut.get_xdata()) == 2)
    ]
    assert slopes == pytest.approx([-2, -2])
    assert {"first?", "last?", "head 1", "4 mix"} <= set(texts(below))


def test_no_weight_and_no_cut_make_one_head_right_in_all_cases():
    for weight in (0.2, 0.5, 0.8):
        for cut in (-0.9, -0.5, -0.1, 0.1, 0.5, 0.9):
            title = draw_questions(weight, cut, heads=2, dim=8)[0].get_title()
            plt.close("all")
            assert "4 of 4" not in title


def test_the_weight_lies_between_0_and_1():
    with pytest.raises(ValueError, match="weight must lie between 0 and 1, got 1"):
        draw_questions(1, 0, heads=4, dim=32)
