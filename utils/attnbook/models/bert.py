"""BERT: a Transformer without a decoder, which reads a whole sentence at once and says which words are hidden in it.

The blocks are those of :mod:`attnbook.models.language_model`; the causal mask is gone, so that each word may attend to
those after it as well. What it learns from hidden words (:mod:`attnbook.data.texts.masking`), a classifier begins with.
Source: Devlin et al. 2019.
"""

import copy

from torch import Tensor, nn

from attnbook.attention import padding_mask
from attnbook.models.block import TransformerConfig, mean_over_heads
from attnbook.models.inputs import check_source
from attnbook.models.transformer import Embedding, Stack, start_as_xavier
from attnbook.modes import evaluating

SUMMARIES = ("mean", "first")


class MaskedLanguageModel(nn.Module):
    """Blocks without cross-attention and without a causal mask: every word attends to every real word.

    We train it on hidden words alone, without the paper's second task (is this the next sentence?).

    Args:
        vocabulary_size: number of words, with the special symbols and the mask.
        config: see :class:`~attnbook.models.block.TransformerConfig`. The paper has post-norm and learned positions.

    Source: Devlin et al. 2019, section 3.
    """

    def __init__(self, vocabulary_size: int, config: TransformerConfig | None = None) -> None:
        super().__init__()
        self.config = config = TransformerConfig() if config is None else config
        self.blocks = Stack(config)
        start_as_xavier([self.blocks])
        self.embed = Embedding(vocabulary_size, config)
        self.output = nn.Linear(config.d_model, vocabulary_size, bias=not config.tied)
        if config.tied:
            self.output.weight = self.embed.words.weight

    def encode(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        """Read ``words (B, T)``, of which the first ``lengths (B,)`` are real.

        Returns:
            one vector per word, ``(B, T, D)``, and each layer's weights ``(B, H, T, T)``, or ``None`` when fused.

        Raises:
            ValueError: if the batch is empty, or there is not one length per sentence.
        """
        check_source(words, lengths)
        mask = padding_mask(lengths, words.shape[1]).to(words.device)[:, None]  # (B, 1, T)
        x, seen = self.embed(words), []
        for layer in self.blocks.layers:
            x, _, weights, _ = layer(x, mask)
            seen.append(weights)
        return self.blocks.last_norm(x), seen

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read as :meth:`encode` does.

        Returns:
            logits ``(B, T, V)`` of the word at each position itself, and weights ``(B, T, T)``: of the last layer, the
            mean of its heads; ``None`` if fused. :meth:`maps` gives those of each head and layer.
        """
        x, seen = self.encode(words, lengths)
        return self.output(x), mean_over_heads(seen[-1])

    @evaluating
    def maps(self, words: Tensor, lengths: Tensor) -> list[Tensor | None]:
        """Each layer's weights ``(B, H, T, T)``; arguments as of :meth:`encode`."""
        return self.encode(words, lengths)[1]


class SentenceClassifier(nn.Module):
    """One vector per sentence from a copy of a masked language model, and a linear layer that names the class.

    Args:
        encoder: is copied, so that many classifiers can begin with the same one.
        classes: how many there are, C.
        summary: a sentence's vector is the ``"mean"`` over its words, or the vector at its ``"first"`` position, where
            the paper has a symbol of its own ([CLS]).
        frozen: train the linear layer alone. What it then finds was in the encoder's vectors before: a probe.

    Raises:
        ValueError: for another summary, or fewer than two classes.

    Source: Devlin et al. 2019, section 4 (fine-tuning) and 5.3 (frozen); Alain and Bengio 2017 for probes.
    """

    def __init__(self, encoder: MaskedLanguageModel, classes: int, summary: str = "mean", frozen: bool = False) -> None:
        super().__init__()
        if summary not in SUMMARIES:
            raise ValueError(f"summary must be one of {', '.join(SUMMARIES)}, got {summary!r}")
        if classes < 2:
            raise ValueError(f"classes must be at least 2, got {classes}")
        self.encoder, self.summary = copy.deepcopy(encoder), summary
        self.encoder.requires_grad_(not frozen)
        self.output = nn.Linear(encoder.config.d_model, classes)

    def summarise(self, words: Tensor, lengths: Tensor) -> Tensor:
        """One vector per sentence: ``words (B, T)`` and ``lengths (B,)`` -> ``(B, D)``; zeros if it has no word."""
        x, _ = self.encoder.encode(words, lengths)  # (B, T, D)
        real = padding_mask(lengths, words.shape[1]).to(words.device)[..., None]  # (B, T, 1)
        x = x * real  # (B, T, D)
        return x[:, 0] if self.summary == "first" else x.sum(dim=1) / real.sum(dim=1).clamp(min=1)  # (B, D)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Logits of the classes, ``(B, C)``; arguments and errors as :meth:`MaskedLanguageModel.encode`."""
        return self.output(self.summarise(words, lengths))
