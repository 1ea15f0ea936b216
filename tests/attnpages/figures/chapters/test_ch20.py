import pytest

from attnpages.figures.chapters.ch20 import draw_shared_heads, plot_bytes


def test_each_head_has_a_query_and_each_group_its_keys_and_values():
    ax = draw_shared_heads(4, {"multi-head": 4, "multi-query": 1})
    written = [text.get_text() for text in ax.texts]
    assert written.count("q") == 8
    assert written.count("k, v") == 5
    assert "c" not in written


def test_a_latent_panel_keeps_one_vector_and_one_rotated_key_and_dashes_what_follows_from_it():
    ax = draw_shared_heads(4, {"grouped": 2}, latent="latent")
    written = [text.get_text() for text in ax.texts]
    assert (written.count("c"), written.count("r")) == (1, 1)
    assert [patch.get_linestyle() for patch in ax.patches].count("--") == 4


def test_groups_must_divide_the_heads():
    with pytest.raises(ValueError, match=r"divides 4 heads, got \{'grouped': 3\}"):
        draw_shared_heads(4, {"grouped": 3})
    with pytest.raises(ValueError, match=r"at least one number that divides 4 heads, got \{\}"):
        draw_shared_heads(4, {})


def test_bytes_have_logarithmic_axes_and_lengths_with_commas():
    ax = plot_bytes({"weights": {1000: [0.3], 10_000: [0.3]}}, "GB")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1,000", "10,000"]
