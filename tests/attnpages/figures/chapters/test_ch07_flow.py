import pytest
import torch

from attnpages.figures.chapters.ch07_flow import draw_data_flow

WORDS = ["keys", "near", "are"]
VECTORS = torch.tensor([[2.0, 0], [0, 0], [0, 2]])
PROJECTIONS = (torch.tensor([[0.0, 1], [1, 0]]), torch.eye(2), torch.tensor([[-1.0], [1]]))


def test_every_matrix_is_named_and_shows_its_numbers(texts):
    written = texts(draw_data_flow(WORDS, VECTORS, PROJECTIONS, follow=2))
    assert {"vectors $X$", "queries $Q = XW_q$", "keys $K = XW_k$", "values $V = XW_v$", "weights", "contexts"} <= {
        *written
    }
    assert {"“keys”", "“near”", "“are”"} <= set(written)
    assert "4" in written  # the score of "are" with "keys"
    assert "0.89" in written  # its weight, 1 / (1 + 2 exp(-4 / sqrt(2)))


def test_the_row_that_is_followed_is_framed_in_four_matrices():
    ax = draw_data_flow(WORDS, VECTORS, PROJECTIONS, follow=2)
    frames = [patch for patch in ax.patches if patch.get_linewidth() == 2.2]
    assert len(frames) == 4


def test_it_needs_a_vector_per_word_and_a_position_to_follow():
    with pytest.raises(ValueError, match="got 2 vectors and position 0"):
        draw_data_flow(WORDS, VECTORS[:2], PROJECTIONS, follow=0)
    with pytest.raises(ValueError, match="got 3 vectors and position 3"):
        draw_data_flow(WORDS, VECTORS, PROJECTIONS, follow=3)
