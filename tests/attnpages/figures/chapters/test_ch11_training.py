import pytest

from attnpages.figures.chapters.ch11_training import draw_contexts, draw_next_tokens, draw_routes, draw_stages
from attnpages.figures.palette import FAINT, INK


def said(ax):
    return [text.get_text() for text in ax.texts]


def test_a_word_reads_itself_one_side_twice_one_side_and_both():
    ax = draw_contexts(["a", "b", "c", "d"], 1)
    colours = [text.get_color() for text in ax.texts if text.get_text() in list("abcd")]
    shown = ["".join("." if one == FAINT else "x" for one in colours[i : i + 4]) for i in range(0, 20, 4)]
    assert set(colours) == {INK, FAINT}
    assert shown == [".x..", "xx..", ".xxx", "xx..", "xxxx"]
    arrows = [patch for patch in ax.patches if hasattr(patch, "get_arrowstyle")]
    assert len(arrows) == 0 + 1 + 2 + 1 + 3


@pytest.mark.parametrize("at", [0, 2])
def test_a_word_at_an_end_has_no_two_sides(at):
    with pytest.raises(ValueError, match="must have words on both sides"):
        draw_contexts(["a", "b", "c"], at)


def test_each_position_predicts_the_token_that_came_at_its_price_in_bits():
    found = said(draw_next_tokens(["⟨start⟩", "it"], ["it", "is"], [1 / 2, 1 / 8]))
    assert [one for one in found if one in ("⟨start⟩", "it", "it\n1/2", "is\n1/8", "1 bit", "3 bits")] == [
        "⟨start⟩", "it\n1/2", "1 bit", "it", "is\n1/8", "3 bits"
    ]  # fmt: skip


def test_a_position_is_attended_to_by_itself_and_by_later_ones():
    ax = draw_next_tokens(["a", "b", "c"], ["b", "c", "d"], [1 / 2] * 3)
    arrows = [patch for patch in ax.patches if hasattr(patch, "get_arrowstyle")]
    assert len(arrows) == (1 + 2 + 3) + 3  # those of the mask, and one to each prediction


def test_tokens_without_a_next_one_are_named():
    with pytest.raises(ValueError, match="2 tokens must have as many next tokens"):
        draw_next_tokens(["a", "b"], ["b"], [0.5])


def test_the_answer_is_reached_in_one_layer_or_in_two():
    one, two = draw_routes(("the", "keys", "are"))
    assert said(one).count("has\n“are”") == 1
    assert said(two).count("has\n“keys”") == 2


HIDDEN, MAIL = ["[CLS]", "win", "[MASK]", "prize"], ["[CLS]", "win", "a", "prize"]
ROWS = {"spam": (1, 0, 1), "no spam": (0, 1, 0.8)}


def test_a_new_layer_turns_the_first_vector_into_a_logit_and_a_share_per_label():
    found = said(draw_stages(HIDDEN, (2, "a"), MAIL, (1.2, -0.4, 0.5), ROWS))
    assert [one for one in found if one in HIDDEN + MAIL] == HIDDEN + MAIL
    assert "1.2\n−0.4\n0.5" in found
    assert "must predict: a" in found
    assert "new layer\nspam: (1, 0, 1)\nno spam: (0, 1, 0.8)" in found
    assert "spam: logit 1.7, softmax 0.85\nno spam: logit 0, softmax 0.15" in found


def test_texts_and_rows_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="each row must have 2 numbers"):
        draw_stages(HIDDEN, (2, "a"), MAIL, (1.2, -0.4), ROWS)
    with pytest.raises(ValueError, match="both texts must have 4 tokens"):
        draw_stages(HIDDEN, (2, "a"), MAIL[1:], (1.2, -0.4, 0.5), ROWS)
