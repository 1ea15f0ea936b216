"""How names and layouts of files become ours; `test_load.py` holds whole models against `transformers`."""

import torch

from attnbook.attention.positions import apply_rotary
from attnbook.models.pretrained.families import neighbouring_pairs


def rotated_in_halves(x, positions):
    """What `transformers` does: feature i of D turns together with feature i + D/2."""
    half = x.shape[-1] // 2
    turn = positions[:, None] * 10000.0 ** (-torch.arange(half) / half)  # (T, D/2)
    cos, sin = turn.cos().repeat(1, 2), turn.sin().repeat(1, 2)  # (T, D)
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin


def test_scores_of_halves_are_scores_of_neighbours_once_the_rows_are_laid_out_anew():
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(5, 16, generator=draws)
    at = torch.arange(5.0)

    def heads(rows):  # (T, 16) -> (2 heads, T, 8)
        return rows.view(5, 2, 8).transpose(0, 1)

    w_q, w_k = (torch.randn(16, 16, generator=draws) for _ in range(2))
    theirs = rotated_in_halves(heads(x @ w_q.T), at) @ rotated_in_halves(heads(x @ w_k.T), at).mT
    ours_q, ours_k = (apply_rotary(heads(x @ neighbouring_pairs(w, 2).T), at) for w in (w_q, w_k))
    torch.testing.assert_close(ours_q @ ours_k.mT, theirs, rtol=1e-5, atol=1e-4)
    wrong = apply_rotary(heads(x @ w_q.T), at) @ apply_rotary(heads(x @ w_k.T), at).mT
    assert not torch.allclose(wrong, theirs, rtol=1e-2, atol=1e-2)


def test_rows_of_two_heads_keep_to_their_head():
    assert neighbouring_pairs(torch.arange(8), heads=2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
