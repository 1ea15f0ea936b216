"""Multi-head latent attention: one short vector per word is kept, from which every head's key and value are made."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention.core import attend
from attnbook.attention.multihead import merge_heads, split_heads
from attnbook.attention.positions import BASE, Rotary


class Latent(NamedTuple):
    """What a decoder keeps of each word: C + R numbers, however many heads there are.

    Fields:
        content: ``(B, Tk, C)``, keys and values of all heads, compressed together.
        turned: ``(B, 1, Tk, R)``, a key that all heads share, turned by its position.
    """

    content: Tensor
    turned: Tensor

    def append(self, new: "Latent") -> "Latent":
        """These, and after them those of further positions."""
        return Latent(torch.cat([self.content, new.content], dim=1), torch.cat([self.turned, new.turned], dim=2))


class LatentAttention(nn.Module):
    """Keys and values of H heads as two products with one short vector c = W_c x, so that only c is kept.

    A head's score is a sum: query and key by content, and query and key by position. The second has features of its
    own, R of them: were the content's key turned, the rotation would stand between W_q and W_k, and the two could not
    be multiplied together beforehand.

    Args:
        dim: features D of query, key, value and output. heads: H; a head has D/H features by content.
        latent: C, features of what is kept. turned: R, even, features of what says where a word stands.
        absorbed: compare and average the short vectors themselves, instead of making keys and values from them: as
            q·(W_k c) is (W_kᵀ q)·c, the output is the same.

    Raises:
        ValueError: if ``dim`` can't be shared equally among the heads, or ``turned`` is odd.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1; queries are not compressed here, as in its Lite version.
    """

    def __init__(
        self, dim: int, heads: int, latent: int, turned: int, base: float = BASE, absorbed: bool = False
    ) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"dim = {dim} features can't be shared equally among {heads} heads")
        if turned < 2 or turned % 2:
            raise ValueError(f"turned must be even, since features turn in pairs; got {turned}")
        self.heads, self.absorbed, self.positions = heads, absorbed, Rotary(base)
        self.scale = (dim // heads + turned) ** -0.5
        self.project_query = nn.Linear(dim, dim, bias=False)
        self.project_turned_query = nn.Linear(dim, heads * turned, bias=False)
        self.compress = nn.Linear(dim, latent, bias=False)
        self.project_turned_key = nn.Linear(dim, turned, bias=False)
        self.make_key = nn.Linear(latent, dim, bias=False)
        self.make_value = nn.Linear(latent, dim, bias=False)
        self.project_output = nn.Linear(dim, dim, bias=False)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from ``query (B, Tq, D)``, the last Tq positions, to ``key (B, Tk, D)``, which are the values as well.

        Args:
            mask: as :func:`~attnbook.attention.attend` takes it, for all heads.

        Returns:
            output ``(B, Tq, D)`` and weights ``(B, H, Tq, Tk)``.

        Raises:
            ValueError: if ``value`` is another tensor than ``key``: both are made of the same short vector.
        """
        if value is not key:
            raise ValueError("value must be key itself, since both are compressed into one vector")
        keys_at = torch.arange(key.shape[1], device=key.device)  # (Tk,)
        return self.attend(query, self.project(key, keys_at), mask, keys_at[key.shape[1] - query.shape[1] :])

    def project(self, x: Tensor, at: Tensor) -> Latent:
        """Compress ``x (B, T, D)`` at positions ``at (T,)``: all that is kept of it. Source: equations 9 and 15."""
        return Latent(self.compress(x), self.positions.rotate(self.project_turned_key(x)[:, None], at))

    def attend(self, query: Tensor, kept: Latent, mask: Tensor | None, at: Tensor) -> tuple[Tensor, Tensor]:
        """Attend from ``query (B, Tq, D)`` at positions ``at (Tq,)`` to what is kept; returns as :meth:`forward`.

        Source: equations 10 to 19; behind equation 11 it says that W_k can be absorbed into W_q, and W_v into W_o.
        """
        asked = split_heads(self.project_query(query), self.heads)  # (B, H, Tq, D/H)
        turned = self.positions.rotate(split_heads(self.project_turned_query(query), self.heads), at)  # (B, H, Tq, R)
        contents = kept.content[:, None].expand(-1, self.heads, -1, -1)  # (B, H, Tk, C)
        to_key, to_value = (w.weight.unflatten(0, (self.heads, -1)) for w in (self.make_key, self.make_value))
        if self.absorbed:
            asked, key, value = asked @ to_key, contents, contents  # (B, H, Tq, D/H) @ (H, D/H, C) -> (B, H, Tq, C)
        else:
            key, value = contents @ to_key.mT, contents @ to_value.mT  # (B, H, Tk, C) -> (B, H, Tk, D/H)
        key = torch.cat([key, kept.turned.expand(-1, self.heads, -1, -1)], dim=-1)
        context, weights = attend(torch.cat([asked, turned], dim=-1), key, value, mask, score=self.score)
        if self.absorbed:
            context = context @ to_value.mT  # (B, H, Tq, C) @ (H, C, D/H) -> (B, H, Tq, D/H)
        return self.project_output(merge_heads(context)), weights

    def score(self, query: Tensor, key: Tensor) -> Tensor:
        """By content and by position together, over √(D/H + R) in either form, ``(B, H, Tq, Tk)``."""
        return (query * self.scale) @ key.mT
