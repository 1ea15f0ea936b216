import pytest
from matplotlib.colors import to_hex

from attnpages.figures.chapters.ch07_heads import draw_split
from attnpages.figures.palette import FETCHED, READS, WRITES


def test_each_head_and_each_shape_is_named(texts):
    written = texts(draw_split(heads=4, dim=32))
    assert [text for text in written if text.startswith("head")] == ["head 1", "head 2", "head 3", "head 4"]
    assert written.count("4 × (T, 8)") == 3
    assert {"$X$\n(T, 32)", "$\\times\\,W_o$\n(32, 32)", "output\n(T, 32)"} <= {*written}
    assert [text for text in written if text[0].isdigit() and text[2:].isalpha()] == [
        "1 split", "2 attend", "3 concatenate", "4 mix",
    ]  # fmt: skip


def test_queries_keys_and_values_keep_their_colours():
    fills = [to_hex(patch.get_facecolor()).upper() for patch in draw_split(heads=2, dim=8).patches]
    assert (fills.count(WRITES), fills.count(READS), fills.count(FETCHED)) == (4, 4, 6)  # contexts, too


@pytest.mark.parametrize(("heads", "dim"), [(3, 32), (5, 40), (0, 8)])
def test_heads_share_the_features_equally(heads, dim):
    with pytest.raises(ValueError, match=f"{dim} features cannot be drawn as {heads} equal heads"):
        draw_split(heads, dim)
