import pytest

from attnpages.figures.chapters.ch20_chunks import draw_chunks

FOUR = [[3.0], [0, 5], [1.8, 4, 10], [2.4, 3, 9.6, 2]]  # score times value


def written(ax):
    return [text.get_text() for text in ax.texts if not text.get_text().startswith(("pair", "query", "answer"))]


def test_the_state_holds_earlier_chunks_and_each_pair_of_its_own_chunk_has_a_box():
    ax = draw_chunks(FOUR, size=2)
    assert written(ax) == ["3", "3", "0", "5", "5", "state: 5.8", "10", "15.8", "state: 5.4", "9.6", "2", "17"]
    assert len(ax.patches) == 2 + 4 + 3 - 1


def test_in_one_chunk_nothing_is_read_from_a_state_and_in_chunks_of_one_all_but_the_own_pair():
    assert not [text for text in written(draw_chunks(FOUR, size=4)) if "state" in text]
    assert [text for text in written(draw_chunks(FOUR, size=1)) if "state" in text] == [
        "state: 0",
        "state: 5.8",
        "state: 15",
    ]


@pytest.mark.parametrize(("parts", "size"), [([[3.0, 1.0]], 1), (FOUR, 0)])
def test_rows_that_see_later_pairs_and_empty_chunks_are_refused(parts, size):
    with pytest.raises(ValueError, match="a positive size are needed, got"):
        draw_chunks(parts, size)
