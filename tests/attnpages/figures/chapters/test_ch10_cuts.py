import pytest

from attnpages.figures.chapters.ch10_cuts import plot_cuts


def test_a_nucleus_and_top_k_cut_where_the_figure_says(texts, looks_right):
    peaked, flat = [0.9, *[0.02] * 5], [*[1 / 32] * 16, *[1 / 4096] * 2048]
    ax = plot_cuts({"sure": peaked, "open": flat}, top_k=4, top_p=0.5)
    looks_right(ax)
    assert set(texts(ax)) >= {"1 token", "96%", "16 tokens", "12%", "nucleus of 0.5", "top-k 4"}
    curves = {line.get_label(): line.get_ydata() for line in ax.get_lines() if str(line.get_label()).startswith("“")}
    assert [y.round(2).tolist()[:3] for y in curves.values()] == [[0.9, 0.92, 0.94], [0.03, 0.06, 0.09]]
    marks = [tuple(line.get_xydata()[0].round(2)) for line in ax.get_lines() if line.get_marker() in ("o", "s")]
    assert marks == [(1, 0.9), (4, 0.96), (16, 0.5), (4, 0.12)]


def test_words_between_two_cuts_stand_in_the_middle_below_the_curve():
    ax = plot_cuts({"sure": [0.5, *[0.05] * 10]}, top_k=9, top_p=0.5, between={"sure": "his, her"})
    (words,) = (text for text in ax.texts if text.get_text() == "his, her")
    assert words.get_position() == pytest.approx((3, 0.39))
    assert words.get_ha() == "center"


def test_top_k_may_keep_more_tokens_than_there_are(texts):
    assert "100%" in texts(plot_cuts({"sure": [0.75, 0.25]}, top_k=50, top_p=0.5))


@pytest.mark.parametrize("given, message", [({}, "empty"), ({"a": [0.1, 0.9]}, "after 'a' must fall")])
def test_words_out_of_order_have_no_cut(given, message):
    with pytest.raises(ValueError, match=message):
        plot_cuts(given, 4, 0.9)
