import pytest

from attnbook.plotting.diagrams_08 import draw_clocks, draw_heads


def test_the_way_through_the_heads_names_every_shape():
    shown = [text.get_text() for text in draw_heads(heads=4, dim=64).texts]
    assert {"(B, T, 64)", "3 × (B, T, 64)", "(B, 4, T, 16)"} <= set(shown)
    assert [shown.count(str(head)) for head in range(4)] == [2] * 4  # split, and merged


@pytest.mark.parametrize("heads", [0, 3, 16])
def test_heads_that_can_not_be_drawn_are_refused(heads):
    with pytest.raises(ValueError, match="equal heads"):
        draw_heads(heads=heads, dim=64)


def test_each_clock_has_a_hand_for_each_place(texts):
    axes = draw_clocks([1.0, 0.2], range(6), shift=2)
    assert [ax.get_title() for ax in axes] == ["1 radian a place", "0.2 radian a place"]
    for ax in axes:
        assert {*"012345"} <= set(texts(ax))
        assert len(ax.lines) == 6 + 1  # hands and the arc


@pytest.mark.parametrize(("speeds", "places"), [([], range(3)), ([1.0], [])])
def test_clocks_without_hands_are_refused(speeds, places):
    with pytest.raises(ValueError, match="must not be empty"):
        draw_clocks(speeds, places, shift=1)
