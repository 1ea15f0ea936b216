"""Hard attention: the same weights as soft attention, but the context is the value at one position, drawn from them.

A draw has no derivative. There are two ways around that: REINFORCE, which estimates the gradient from the reward of
what was drawn (:mod:`attnbook.training.reinforce`), and the straight-through estimator, which lends the draw the
gradient of a softmax.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_attention
from attnbook.attention.core import attention_weights, masked_log_softmax
from attnbook.attention.precision import at_least_float32, sharpened
from attnbook.attention.scores import PreparedKeys, key_features, scaled_dot
from attnbook.device import on_cpu


def sample_location(weights: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw one position per query, each with the probability that its weight says.

    Args:
        weights: ``(B, Tq, Tk)``, each row sums to one.
        generator: of the random numbers, on the device of the weights.

    Returns:
        ``(B, Tq)`` long. No gradient flows through it.

    Raises:
        ValueError: if ``weights`` has another number of axes, or, on the CPU, a row may attend to nothing.

    Source: Xu et al. 2015, equation 8.
    """
    _check_weights(weights)
    return weights.detach().flatten(0, 1).multinomial(1, generator=generator).view(weights.shape[:2])


def value_at(value: Tensor, location: Tensor) -> Tensor:
    """The values at ``location (B, Tq)``: ``value (B, Tk, Dv)`` -> ``(B, Tq, Dv)``. Nothing is multiplied."""
    return value.gather(1, location[..., None].expand(-1, -1, value.shape[-1]))


def hard_attend(
    query: Tensor,
    key: Tensor | PreparedKeys,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    score: Callable[..., Tensor] = scaled_dot,
    sample: bool = True,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend to one position: :func:`~attnbook.attention.attend`, whose sum over positions is replaced by a draw.

    The context has no gradient for query, key and score; :func:`reinforce_loss` gives them theirs.

    Args:
        query, key, value, mask, score: as :func:`~attnbook.attention.attend`; query, key and value have three axes.
        sample: draw the position; ``False`` takes that of the largest weight.
        generator: of the random numbers.

    Returns:
        context ``(B, Tq, Dv)``, weights ``(B, Tq, Tk)`` and the positions ``(B, Tq)`` attended to.

    Raises:
        ValueError: if the shapes do not fit together, or, on the CPU, the mask leaves a query nothing to draw from.
        TypeError: if the mask is not boolean.

    Source: Xu et al. 2015, equations 8 and 9.
    """
    check_attention(query, key_features(key), value)
    weights = attention_weights(query, key, mask, score=score)  # (B, Tq, Tk)
    if mask is not None:
        _check_weights(weights)
    location = sample_location(weights, generator) if sample else weights.argmax(dim=-1)  # (B, Tq)
    return value_at(value, location), weights, location


def straight_through_attend(
    query: Tensor,
    key: Tensor | PreparedKeys,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    score: Callable[..., Tensor] = scaled_dot,
    sample: bool = True,
    generator: torch.Generator | None = None,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`hard_attend`, but the one-hot choice passes on the gradient of a softmax with the same noise.

    The gradient is biased: it is that of a mixture of values, while the context is one of them.

    Args:
        query, key, value, mask, score, sample, generator: as :func:`hard_attend`.
        temperature: of that softmax; the lower, the closer to one-hot, and the larger the gradient's variance.

    Raises:
        ValueError: if the shapes do not fit together, or ``temperature`` is not positive.

    Source: Jang et al. 2017, section 2.2 (straight-through Gumbel-softmax).
    """
    check_attention(query, key_features(key), value)
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    log_weights = attention_weights(query, key, mask, score=score, normalise=masked_log_softmax)  # (B, Tq, Tk)
    weights = log_weights.exp()
    if mask is not None:
        _check_weights(weights)
    noisy = log_weights + gumbel_noise(log_weights, generator) if sample else log_weights
    location = noisy.argmax(dim=-1)  # (B, Tq): a draw from the weights, by the Gumbel-max trick
    soft = sharpened(noisy, temperature).softmax(dim=-1).to(noisy.dtype)  # (B, Tq, Tk)
    one_hot = F.one_hot(location, soft.shape[-1]).to(soft.dtype)
    choice = one_hot + soft - soft.detach()  # the value of one_hot, the gradient of soft
    return choice @ value, weights, location


def gumbel_noise(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Independent draws of −log E, E exponential with mean 1, in the shape, number type and device of ``like``."""
    return -torch.empty_like(like).exponential_(generator=generator).log()


def location_log_probs(weights: Tensor, location: Tensor) -> Tensor:
    """log α at the positions that were drawn: ``(B, Tq, Tk)`` and ``(B, Tq)`` -> ``(B, Tq)``, nats."""
    drawn = at_least_float32(weights.gather(-1, location[..., None])[..., 0])  # (B, Tq)
    return drawn.clamp_min(torch.finfo(drawn.dtype).tiny).log()


def _check_weights(weights: Tensor) -> None:
    if weights.ndim != 3:
        raise ValueError(f"weights must have shape (B, Tq, Tk), got {tuple(weights.shape)}")
    if on_cpu(weights) and not (weights.sum(dim=-1) > 0).all():
        raise ValueError("weights has a row of zeros: a query that may attend to nothing has no position to draw")
