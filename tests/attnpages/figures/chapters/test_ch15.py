import pytest
import torch
from matplotlib.colors import to_hex

from attnpages.figures.chapters.ch15 import draw_blocks, draw_reach, draw_recall, draw_walks, plot_episodes
from attnpages.figures.palette import BLUE


def test_each_episode_shows_its_labels_and_ends_with_a_question():
    axes = plot_episodes(torch.zeros(2, 3, 1, 4, 4), torch.tensor([[1, 0, 1], [0, 1, 0]]))
    assert [ax.get_title() for ax in axes] == ["1", "0", "?", "0", "1", "?"]


def test_episodes_need_fitting_shapes():
    with pytest.raises(ValueError, match=r"got \(2, 3, 1, 4, 4\) and \(2, 2\)"):
        plot_episodes(torch.zeros(2, 3, 1, 4, 4), torch.zeros(2, 2))
    with pytest.raises(ValueError, match="T at least 2"):
        plot_episodes(torch.zeros(1, 1, 1, 4, 4), torch.zeros(1, 1))


def test_recall_shows_each_value_one_step_later_and_the_answer():
    words = [text.get_text() for text in draw_recall(["A", "B", "C", "A"], [3, 1, 2, 3]).texts]
    row = words.index("value of the\nstep before")
    assert words[row + 1 : row + 5] == ["–", "3", "1", "2"]
    assert words[-2:] == ["3", "the answer at the last step"]


@pytest.mark.parametrize(("keys", "values"), [(["A", "B"], [1, 2]), (["A", "A"], [1, 1]), (["A", "B", "A"], [1, 2])])
def test_recall_needs_a_key_that_stood_earlier(keys, values):
    with pytest.raises(ValueError, match="equally many and the last key stand earlier"):
        draw_recall(keys, values)


def seen_inputs(ax):
    """Positions of the lowest row that are drawn in blue."""
    circles = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_ydata()[0] == 0]
    return [line.get_xdata()[0] for line in circles if to_hex(line.get_color()) == to_hex(BLUE)]


def test_reach_is_what_the_stack_sees():
    whole, even = draw_reach({"1, 2, 4": [1, 2, 4], "2, 4": [2, 4]}, 8)
    assert seen_inputs(whole) == list(range(8))
    assert seen_inputs(even) == [1, 3, 5, 7]
    assert even.get_title(loc="left") == "2, 4"


@pytest.mark.parametrize(("stacks", "length"), [({}, 8), ({"none": []}, 8), ({"one": [1]}, 0)])
def test_reach_needs_a_layer_and_a_position(stacks, length):
    with pytest.raises(ValueError, match="at least one layer and one position"):
        draw_reach(stacks, length)


def test_blocks_are_as_wide_as_their_features():
    ax = draw_blocks([("input", 12), ("attention", 44), ("convolutions", 236)])
    assert [patch.get_width() for patch in ax.patches if hasattr(patch, "get_width")] == [12, 12, 32, 44, 192]
    assert {"12", "44", "236"} <= {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("blocks", [[], [("input", 12), ("smaller", 4)], [("nothing", 0)]])
def test_blocks_must_grow(blocks):
    with pytest.raises(ValueError, match="widths that grow from at least 1"):
        draw_blocks(blocks)


def test_walks_are_drawn_in_one_maze_each():
    open_ = torch.ones(4, 4, dtype=torch.bool)
    axes = draw_walks(open_, 3, {"first round": [0, 1, 3], "second round": [0, 2, 3]})
    assert [ax.get_title() for ax in axes] == ["first round", "second round"]
    path = next(line for line in axes[0].lines if len(line.get_xdata()) == 3)
    assert path.get_xdata().tolist() == pytest.approx([0.3, 1.5, 1.7])


@pytest.mark.parametrize(("cells", "walks"), [(5, {"one": [0]}), (4, {}), (4, {"none": []})])
def test_walks_need_a_square_and_a_cell(cells, walks):
    with pytest.raises(ValueError, match="side² rows and walks at least a cell each"):
        draw_walks(torch.ones(cells, 4, dtype=torch.bool), 0, walks)
