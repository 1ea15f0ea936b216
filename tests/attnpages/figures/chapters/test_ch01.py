import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch01 import (
    draw_encoder_decoder,
    draw_gru_cell,
    draw_received,
    draw_training_and_use,
    draw_two_ways,
    plot_by_width,
)
from attnpages.figures.palette import READS, RUST


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_the_decoder_reads_what_it_wrote_one_step_late():
    ax = draw_encoder_decoder(("a",), ("x", "y", "z"))
    assert words(ax).count("x") == 2  # written at the first step, read at the second
    assert words(ax).count("z") == 1  # the last word is never read


def test_c_at_every_step_adds_one_arrow_per_step():
    drawings = [draw_encoder_decoder(("a", "b"), ("x", "y", "z"), context) for context in ("first", "every")]
    arrows = [sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) for ax in drawings]
    assert arrows[1] == arrows[0] + 3


@pytest.mark.parametrize("source, target", [((), ("x",)), (("a",), ())])
def test_a_side_without_words_is_refused(source, target):
    with pytest.raises(ValueError, match="at least one word"):
        draw_encoder_decoder(source, target)


def test_an_unknown_use_of_c_is_refused():
    with pytest.raises(ValueError, match='"first" or "every", got \'last\''):
        draw_encoder_decoder(("a",), ("x",), "last")


def test_the_bold_path_is_long_with_c_as_the_first_state_and_short_with_c_at_every_step():
    ax = draw_two_ways(("zwei", "und", "vierzig"))
    bold = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch) and patch.get_linewidth() > 3]
    heights = [patch.get_path().vertices[:, 1].mean() for patch in bold]
    assert sum(height > -1 for height in heights) == 3 + 1  # three steps, and the arrow to the last word
    assert sum(height < -1 for height in heights) == 1 + 1


def test_the_two_paths_are_counted_in_words():
    shown = words(draw_two_ways(("zwei", "und", "vierzig")))
    assert any("3 steps" in text for text in shown)
    assert any("1 step to" in text for text in shown)


def test_two_paths_of_one_length_are_refused():
    with pytest.raises(ValueError, match="at least two words, got 1"):
        draw_two_ways(("zwei",))


def test_in_training_the_decoder_reads_the_correct_words_and_in_use_its_own():
    ax = draw_training_and_use(("a", "b", "<eos>"), ("x", "b", "<eos>"))
    shown = words(ax)
    assert shown.count("a") == shown.count("x") == 2  # a target and an input; written, and an input
    assert [text.get_text() for text in ax.texts if text.get_color() == RUST] == [
        "x",
        "x",
    ]  # the error and its way back


def test_c_enters_every_step_in_training_and_in_use():
    ax = draw_training_and_use(("a", "b", "<eos>"), ("x", "b", "<eos>"))
    assert sum(patch.get_linestyle() == "--" for patch in ax.patches) == 2 * 3


@pytest.mark.parametrize("target, written", [((), ()), (("a",), ("a", "b"))])
def test_a_decoder_in_use_writes_as_many_words_as_its_target_has(target, written):
    with pytest.raises(ValueError, match="as many words, at least one"):
        draw_training_and_use(target, written)


LIST = ("forty", "two", ",", "three", "hundred", ",", "seven")
WEIGHTS = (0.0, 0.0, 0.1, 0.5, 0.4, 0.0, 0.0)


def test_one_state_is_used_three_times_and_all_of_them_with_attention():
    ax = draw_received(LIST, 5, WEIGHTS)
    filled = [patch for patch in ax.patches if patch.get_facecolor() == to_rgba(READS)]
    assert len(filled) == 3 + len(LIST)
    assert words(ax).count("$c$") == 2  # as it is, and for the reading
    assert words(ax).count("decoder,\nnumber 2") == 4


def test_own_vectors_come_from_the_state_after_the_second_number_and_an_average_from_all_by_weight():
    drawn = [one for one in draw_received(LIST, 5, WEIGHTS).lines if len(set(one.get_xdata())) == 1]
    own, *average = sorted(drawn, key=lambda one: -one.get_ydata()[0])
    assert own.get_xdata()[0] == 4
    assert [round((one.get_linewidth() - 0.5) / 6, 2) for one in average] == list(WEIGHTS)


@pytest.mark.parametrize("end, weights", [(0, WEIGHTS), (8, WEIGHTS), (5, (1.0,))])
def test_a_number_that_ends_outside_the_list_or_weights_that_do_not_fit_are_refused(end, weights):
    with pytest.raises(ValueError, match="1 to 7, with 7 weights"):
        draw_received(LIST, end, weights)


def test_a_gru_cell_has_two_gates_and_each_is_multiplied_by_what_it_lets_pass():
    shown = words(draw_gru_cell())
    assert {"reset gate", "$r_j$", "update\ngate", "$z_j$", "$1 - z_j$", "$n_j$"} <= set(shown)
    assert shown.count(r"$\odot$") == 3  # the old state by r and by z, the candidate by 1 - z
    assert shown.count("$+$") == 1


def test_the_reset_gate_of_a_gru_acts_after_the_matrix_as_in_pytorch():
    at = {text.get_text(): text.get_position()[0] for text in draw_gru_cell().texts}
    assert at["$h_{j-1}$"] < at["$U$"] < at["$r_j$"] < at["$n_j$"]


def test_widths_stand_at_equal_distances_per_doubling():
    ax = plot_by_width({"10 steps": {2: [0.0, 0.1], 8: [0.5, 0.7]}, "30 steps": {4: [0.2]}})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "4", "8"]
    assert ax.get_xticks().tolist() == [1, 2, 3]
    assert ax.lines[0].get_ydata() == pytest.approx([0.05, 0.6])
