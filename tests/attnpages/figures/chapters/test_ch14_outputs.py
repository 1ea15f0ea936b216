import pytest
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch14_outputs import draw_three_outputs

WEIGHTS = {"Gife": 0.1, "gave": 0.0, "Ruvis": 0.9}
VOCABULARY = {"a": 0.2, "was": 0.1, "‹unk›": 0.7}


def test_what_is_written_what_is_pointed_at_and_the_mixture_stand_side_by_side(texts):
    words = texts(draw_three_outputs(WEIGHTS, VOCABULARY, 0.2))
    assert {"it writes", "it points", "it does both"} <= set(words)
    assert [words.count(word) for word in ("weights", "blend", "vocabulary layer")] == [3, 2, 2]
    assert [words.count(word) for word in ("Ruvis", "‹unk›")] == [3 + 2, 2]  # three sources, and the outputs
    assert not {"0.72", "0.08", "0.14", "0.04", "0.02"} & {*words}  # the next figure has the numbers


def test_an_arrow_leads_to_each_output_with_a_share_and_the_widest_to_the_largest():
    ax = draw_three_outputs(WEIGHTS, VOCABULARY, 0.2)
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == 3 * 3 + 2 * 2 + (3 + 2 + 5)  # from the sources, to blend and layer, to the outputs
    its_word = max(text.get_position()[0] for text in ax.texts if text.get_text() == "Ruvis")
    widest = max(arrows, key=lambda patch: patch.get_linewidth())  # 0.9, the second network's
    assert widest._posA_posB[1][0] == pytest.approx(4.15 + 2.5 * 1.12)
    last = max(arrows, key=lambda patch: patch._posA_posB[1][0])  # in the mixture
    assert last._posA_posB[1][0] == pytest.approx(its_word)


@pytest.mark.parametrize(
    ("weights", "p_vocab", "p_gen"),
    [({"a": 1.0}, VOCABULARY, 0.2), (WEIGHTS, {"a": 1.0}, 0.2), (WEIGHTS, VOCABULARY, 2)],
)
def test_there_are_three_words_each(weights, p_vocab, p_gen):
    with pytest.raises(ValueError, match="three words each"):
        draw_three_outputs(weights, p_vocab, p_gen)
