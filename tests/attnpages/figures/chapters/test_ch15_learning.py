import pytest
import torch

from attnpages.figures.chapters.ch15_learning import draw_loops, draw_snail, plot_found, plot_training

ONE = [("cup", "red"), ("door", "blue"), ("cup", "red")]
OTHER = [("cup", "green"), ("door", "red"), ("door", "red")]


def test_loops_show_each_episode_and_hide_the_answer_of_its_query():
    said = [
        text.get_text()
        for text in draw_loops([ONE, OTHER], [("moon", "blue"), ("tree", "red"), ("moon", "blue")]).texts
    ]
    assert [text for text in said if text in ("batch 1", "batch 2", "test")] == ["batch 1", "batch 2", "test"]
    assert sum(text.startswith("… more episodes") for text in said) == 2
    assert (said.count("cup\nred"), said.count("cup\n?"), said.count("door\n?"), said.count("moon\n?")) == (1, 1, 1, 1)
    assert (said.count("red"), said.count("blue")) == (2, 1)


@pytest.mark.parametrize("training", [[], [ONE[1:]]])
def test_loops_need_episodes_of_one_length(training):
    with pytest.raises(ValueError, match="as long as that of the test"):
        draw_loops(training, OTHER)


def test_readers_and_their_weight_share_the_steps():
    above, below = plot_training({"a": {10: [0.2], 20: [0.9]}}, {"b": {10: [0.1], 20: [0.5]}})
    assert above.get_xlim() == below.get_xlim()
    assert (above.get_ylabel(), below.get_xlabel()) == ("right colours (share)", "training step")
    assert not below.texts


def test_equal_weights_are_a_line_with_their_number():
    _, below = plot_training({"a": {10: [0.2], 20: [0.9]}}, {"b": {10: [0.1], 20: [0.5]}}, equal=0.07)
    assert [text.get_text() for text in below.texts] == ["equal weights: 0.07"]


def test_snail_grows_by_each_block():
    said = [text.get_text() for text in draw_snail(["attention", 1, 2], inputs=20, appended=32, output="colour").texts]
    assert [text for text in said if text.isdigit()] == ["20", "52", "84", "116"]
    assert sum(text.startswith("dense") for text in said) == 2


@pytest.mark.parametrize("kinds", [[], ["convolution"]])
def test_snail_needs_blocks_that_it_knows(kinds):
    with pytest.raises(ValueError, match="kinds must hold"):
        draw_snail(kinds, inputs=2, appended=1, output="y")


def test_found_letters_bear_their_weights():
    axes = plot_found(torch.zeros(1, 3, 1, 4, 4), torch.tensor([[1, 0, 1]]), torch.tensor([[0.25, 0.5, 0.25]]))
    assert [ax.get_xlabel() for ax in axes] == ["25 %", "50 %", "25 %"]


def test_found_letters_need_a_weight_each():
    with pytest.raises(ValueError, match="weights must be"):
        plot_found(torch.zeros(1, 3, 1, 4, 4), torch.tensor([[1, 0, 1]]), torch.zeros(1, 2))
