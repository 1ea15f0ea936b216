"""SAGAN's layer without queries and keys: is it attention that two distant digits need, or any link between them?"""

import torch
from torch import Tensor

from attnbook.models.sagan import FeatureMapAttention, feature_map_attention, gated_residual


class MeanAttention(FeatureMapAttention):
    """Every position receives the mean of all values: attention whose weights are uniform, with the same γ."""

    def attended(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As in the class above; the queries are zeros, and so are all scores."""
        context, weights = feature_map_attention(x, self.no_query, self.key, self.value)
        return gated_residual(x, self.output(context), self.gamma), weights

    def no_query(self, x: Tensor) -> Tensor:
        """A query of zeros for each position."""
        return torch.zeros_like(self.key(x))
