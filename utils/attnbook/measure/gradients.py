"""Where the gradient of a loss goes: how much each word of the source, and of the target so far, had to do with it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import PAD
from attnbook.decoding import DecoderModule


class Traced(NamedTuple):
    """A teacher-forced pass whose word vectors were kept, so that one can ask for gradients with respect to them.

    Fields:
        losses: ``(B, T)``, nats; 0 at padding.
        source: ``(B, Tk, E)``, the embedded source words.
        target: T tensors ``(B, E)``, the embedded words that the decoder read, one a step.
    """

    losses: Tensor
    source: Tensor
    target: list[Tensor]


def trace(model: DecoderModule, batch: Batch) -> Traced:
    """Run ``model`` over ``batch`` under teacher forcing and keep each word's loss and the word vectors.

    Args:
        model: a recurrent model of :mod:`attnbook.models.seq2seq`; it embeds source at once, target word by word.
    """
    kept: dict[nn.Module, list[Tensor]] = {model.encoder.embed: [], model.embed: []}
    # A forward hook is called by torch with (module, inputs, output) each time the module has run.
    hooks = [part.register_forward_hook(lambda part, _, output: kept[part].append(output)) for part in kept]
    try:
        with torch.backends.cudnn.flags(enabled=False):  # cuDNN's LSTM gives no gradients in evaluation mode
            logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))  # (B, T, V)
    finally:
        for hook in hooks:
            hook.remove()
    losses = F.cross_entropy(logits.transpose(1, 2), batch.target, ignore_index=PAD, reduction="none")  # (B, T)
    return Traced(losses, kept[model.encoder.embed][0], kept[model.embed])


def gradient_norms(model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, Tensor]:
    """Norms of d loss(target word ``step``) / d word vector, in nats per unit.

    Returns:
        of the source words ``(B, Tk)``, and of the target words read up to then ``(B, step + 1)``.

    Raises:
        ValueError: if ``step`` is not a position of the target.
    """
    if not 0 <= step < batch.target.shape[1]:
        raise ValueError(f"step must lie in 0..{batch.target.shape[1] - 1}, the positions of the target; got {step}")
    traced = trace(model, batch)
    words = [traced.source, *traced.target[: step + 1]]
    of_source, *of_target = torch.autograd.grad(traced.losses[:, step].sum(), words)  # (B, Tk, E), then (B, E) each
    return of_source.norm(dim=-1), torch.stack(of_target, dim=1).norm(dim=-1)


def by_distance(norms: Tensor, last: Tensor, distances: Iterable[int]) -> dict[int, float]:
    """Median over the sentences, by how many positions before the position ``last`` a word stands.

    Args:
        norms: ``(B, T)``.
        last: ``(B,)`` whole numbers, the position at distance 0 in each sentence.
        distances: which to report; none may reach before position 0.

    Raises:
        ValueError: if a distance reaches outside some sentence.
    """
    rows, distances = torch.arange(len(norms), device=norms.device), list(distances)
    last = last.to(norms.device)
    if min(distances) < 0 or max(distances) > int(last.min()):
        raise ValueError(f"distances must lie in 0..{int(last.min())}, the shortest sentence; got {distances}")
    return {d: norms[rows, last - d].median().item() for d in distances}


def layer_gradient_norms(layers: Sequence[nn.Module], loss: Tensor) -> list[float]:
    """How much of the gradient of ``loss`` arrives in each layer: its norm over all parameters of the layer.

    The graph of ``loss`` is kept, so other layers may be asked about afterwards; ``.grad`` of no parameter changes.

    Raises:
        ValueError: if ``layers`` is empty, or a layer has no parameters that learn.
    """
    if not layers:
        raise ValueError("layers is empty; there must be at least one layer whose gradient can be measured")
    learning = [[p for p in layer.parameters() if p.requires_grad] for layer in layers]
    if not all(learning):
        raise ValueError(f"layer {learning.index([])} has no parameters that learn, so it has no gradient")
    gradients = iter(torch.autograd.grad(loss, [p for layer in learning for p in layer], retain_graph=True))
    return [torch.cat([next(gradients).flatten() for _ in layer]).norm().item() for layer in learning]
