import pytest
from matplotlib.patches import FancyArrowPatch

from attnpages.figures.chapters.ch20 import (
    draw_checked_guesses,
    draw_shared_heads,
    draw_states,
    plot_bytes,
    plot_recall,
)


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
    assert sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) == 8  # from c and from r to each head's


def test_groups_must_divide_the_heads():
    with pytest.raises(ValueError, match=r"divides 4 heads, got \{'grouped': 3\}"):
        draw_shared_heads(4, {"grouped": 3})
    with pytest.raises(ValueError, match=r"at least one number that divides 4 heads, got \{\}"):
        draw_shared_heads(4, {})


def test_bytes_have_logarithmic_axes_and_lengths_with_commas():
    ax = plot_bytes({"weights": {1000: [0.3], 10_000: [0.3]}}, "GB")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1,000", "10,000"]


def test_a_round_keeps_the_guesses_before_the_rejected_one_and_cuts_the_others_from_the_cache():
    ax = draw_checked_guesses(["the"], ["cat", "sat", "in", "it"], kept=2, drawn="on")
    written = [text.get_text() for text in ax.texts]
    assert (written.count("✓"), written.count("✗"), written.count("–")) == (2, 1, 1)
    assert (written.count("cat"), written.count("in"), written.count("on"), written.count("cut")) == (3, 1, 1, 2)


@pytest.mark.parametrize("kept", [-1, 2])
def test_no_more_guesses_are_kept_than_there_are(kept):
    with pytest.raises(ValueError, match=f"from 0 to 1, the number of guesses, got {kept}"):
        draw_checked_guesses(["the"], ["cat"], kept=kept, drawn="on")


def test_fading_weakens_all_earlier_values_and_a_correction_only_what_the_last_key_reads():
    axes = draw_states([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], beta=1.0, fade=0.5)
    summed, faded, corrected = ([text.get_text() for text in ax.texts] for ax in axes)
    assert summed == ["1.00", "0.00", "0.60", "0.00", "1.00", "0.80", "0.60", "0.80", "1.00"]
    assert faded == ["0.50", "0.00", "0.60", "0.00", "0.50", "0.80", "0.30", "0.40", "1.00"]
    assert corrected[6:] == ["0.00", "0.00", "1.00"]
    assert corrected[:3] == ["0.64", "\N{MINUS SIGN}0.48", "0.60"]


def test_a_model_looks_the_same_where_keys_are_told_once_and_where_they_get_new_values():
    axes = plot_recall({"softmax": {4: [1.0], 32: [1.0]}, "delta rule": {4: [1.0], 32: [0.9]}},
                       {"fading sum": {8: [1.0], 32: [0.8]}, "delta rule": {8: [1.0], 32: [0.9]}})  # fmt: skip
    looks = [{line.get_label(): (line.get_color(), line.get_marker()) for line in ax.get_lines()} for ax in axes]
    assert looks[0]["delta rule"] == looks[1]["delta rule"]
    assert len(set(looks[1].values())) == 2
