"""A causal Transformer that reads vectors instead of words, beside a SNAIL (chapter 15)."""

from torch import Tensor, nn

from attnbook.models.block import TransformerConfig, mean_over_heads
from attnbook.models.ntm import check_vectors
from attnbook.models.transformer import Stack, past_mask, start_as_xavier
from attnbook.modes import evaluating


class VectorReader(nn.Module):
    """The blocks of :class:`~attnbook.models.language_model.LanguageModel` between two linear layers.

    Args:
        inputs, outputs: features of an input and of an output vector.
        config: see :class:`~attnbook.models.block.TransformerConfig`; its positions are rotary ones or none.
        keys_as_queries: queries and keys start with one and the same projection, drawn as ``nn.Linear`` does, as in
            :class:`~attnbook.models.snail.CausalAttentionBlock`, so that similar positions attend to each other.

    Raises:
        ValueError: for positions of another kind, because these are added to the vectors of words.

    Source: the reader of Garg et al. 2022, section 2: a GPT-2 whose words are vectors.
    """

    def __init__(
        self, inputs: int, outputs: int, config: TransformerConfig | None = None, keys_as_queries: bool = False
    ) -> None:
        super().__init__()
        self.config = config = TransformerConfig() if config is None else config
        if config.positions not in ("none", "rotary", "linear_bias"):
            raise ValueError(f"positions must be none, rotary or linear_bias, got {config.positions!r}")
        self.inputs = inputs
        self.blocks = Stack(config)
        start_as_xavier([self.blocks])
        if keys_as_queries:
            for layer in self.blocks.layers:
                attention = layer.self_attention
                attention.project_query.reset_parameters()  # smaller than Xavier's; else each position sees only itself
                attention.project_key.load_state_dict(attention.project_query.state_dict())
        self.embed, self.output = nn.Linear(inputs, config.d_model), nn.Linear(config.d_model, outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read ``x (B, T, inputs)``; the prediction at t depends on positions 0 … t.

        Returns:
            predictions ``(B, T, outputs)`` and weights ``(B, T, T)``: of the last layer, the mean of its heads;
            ``None`` if fused. :meth:`maps` gives those of each head and layer.

        Raises:
            ValueError: if ``x`` has another shape.
        """
        x, seen = self._read(x)
        return self.output(self.blocks.last_norm(x)), mean_over_heads(seen[-1])

    @evaluating
    def maps(self, x: Tensor) -> list[Tensor | None]:
        """Each layer's weights ``(B, H, T, T)``."""
        return self._read(x)[1]

    def _read(self, x: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        check_vectors(x, self.inputs)
        mask = past_mask(0, x.shape[1], self.config.window, x.device)  # (T, T)
        x, seen = self.embed(x), []  # (B, T, D)
        for layer in self.blocks.layers:
            x, _, weights, _ = layer(x, mask)
            seen.append(weights)
        return x, seen
