"""Luong's local attention: a window around a centre in the source, and three ways to find the centre.

A centre is a real number per sentence, counted like positions from 0, in float32 or float64. A window keeps the
positions at most D away from it; a Gaussian with σ = D / 2 favours those nearest to it.
Source: Luong et al. 2015, section 3.2; the centre that walks is after Tjandra et al. 2017.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnbook.attention.arguments import check_centre, check_features, check_half_width, check_mask_of_keys
from attnbook.attention.core import attend, attention_weights
from attnbook.attention.masks import padding_mask
from attnbook.attention.precision import at_least_float32
from attnbook.attention.scores import PreparedKeys, scaled_dot

GAUSSIANS = ("none", "product", "bias")


def local_window_mask(
    centre: Tensor, lengths: Tensor, half_width: float, max_length: int | None = None
) -> Tensor:  # fmt: skip
    """Let each sentence attend to its positions in [p − D, p + D].

    What lies outside the sentence is left out. A centre outside the sentence counts as the nearest of its words, so
    that no window is empty; in the paper the window of local-m, p = t, leaves a source that is shorter than the target.

    Args:
        centre: ``(B,)`` real numbers p, in positions. lengths: ``(B,)`` whole numbers, words of each sentence.
        half_width: D in positions, at least 1.
        max_length: width of the mask, Tk; the longest sentence when left out.

    Returns:
        ``(B, Tk)`` bool, with one ``True`` or more for each sentence that has a word.

    Raises:
        ValueError: if ``half_width`` is under 1, shapes do not fit, or as :func:`padding_mask`.
        TypeError: if ``centre`` does not hold real numbers, or ``lengths`` whole ones.

    Source: Luong et al. 2015, section 3.2.
    """
    check_half_width(half_width)
    check_centre(centre, lengths)
    words = padding_mask(lengths, max_length)  # (B, Tk)
    positions = torch.arange(words.shape[1], device=centre.device)  # (Tk,)
    nearest = at_least_float32(centre).clamp(torch.zeros_like(lengths), lengths - 1)  # (B,)
    return words & ((positions - nearest[:, None]).abs() <= half_width)  # (B, Tk)


def log_gaussian_window(centre: Tensor, half_width: float, max_length: int) -> Tensor:
    """−(s − p)² / 2σ² with σ = D / 2: the logarithm of :func:`gaussian_window`, and never −inf.

    Arguments, shape and errors as there. Not its ``log()``: far from the centre the exponential is 0 in floating
    point, and the gradient of log(0) would be NaN even behind a mask.
    """
    check_half_width(half_width)
    check_centre(centre)
    positions = torch.arange(max_length, device=centre.device)  # (Tk,)
    sigma = half_width / 2
    return -((positions - at_least_float32(centre)[:, None]) ** 2) / (2 * sigma**2)  # (B, Tk)


def gaussian_window(centre: Tensor, half_width: float, max_length: int) -> Tensor:
    """exp(−(s − p)² / 2σ²) with σ = D / 2: 1 at the centre, 0.135 at the edge of the window.

    Args:
        centre: ``(B,)`` real numbers p, in positions; gradients flow to them. half_width: D, at least 1.
        max_length: number of positions, Tk.

    Returns:
        ``(B, Tk)``, in float32 for a centre in half precision. It is no distribution: it is 1 at the centre, and does
        not sum to 1.

    Raises:
        ValueError: if ``half_width`` is under 1, or ``centre`` is not ``(B,)``. TypeError: if it is not real.

    Source: Luong et al. 2015, equation 10, the second factor.
    """
    return log_gaussian_window(centre, half_width, max_length).exp()


def local_attend(
    query: Tensor, key: Tensor | PreparedKeys, value: Tensor, mask: Tensor | None = None, *,
    centre: Tensor, half_width: float, score: Callable[..., Tensor] = scaled_dot, gaussian: str = "product",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`attend` within a window around ``centre``, weighted by a Gaussian.

    Args:
        query, key, value, score: as :func:`attend` takes them. centre, half_width: see :func:`local_window_mask`.
        mask: bool, ``(B, 1, Tk)``, the words of each sentence; all positions when left out.
        gaussian: ``"none"``; ``"product"``, the paper's and the default: the weights are multiplied by the Gaussian
            after the softmax and not normalised again, so that they sum to less than 1, and the context shrinks where
            the score and the centre disagree; or ``"bias"``, ours: the Gaussian's logarithm is added to the scores,
            which is the product normalised again: :func:`attend` with a mask and a bias, whose weights sum to 1.

    Returns:
        context ``(B, Tq, Dv)`` and weights ``(B, Tq, Tk)``.

    Raises:
        ValueError: if ``gaussian`` is unknown, the mask has another shape, or as :func:`attend` and
            :func:`local_window_mask`. TypeError: if the mask is not boolean.

    Source: Luong et al. 2015, section 3.2, equations 7 and 10.
    """
    check_gaussian(gaussian)
    window = words_in_window(mask, value, centre, half_width)  # (B, 1, Tk)
    if gaussian == "none":
        return attend(query, key, value, window, score=score)
    bias = log_gaussian_window(centre, half_width, value.shape[-2])[:, None]  # (B, 1, Tk)
    if gaussian == "bias":
        return attend(query, key, value, window, score=score, bias=bias)
    weights = attention_weights(query, key, window, score=score)
    weights = weights * bias.exp().to(weights.dtype)  # (B, Tq, Tk)
    return weights @ value, weights


def words_in_window(mask: Tensor | None, value: Tensor, centre: Tensor, half_width: float) -> Tensor:
    """The window around ``centre (B,)`` and in it the words that ``mask (B, 1, Tk)`` allows: ``(B, 1, Tk)`` bool.

    A sentence ends with the last word that the mask allows; without a mask, with the last of the values.
    """
    positions = value.shape[-2]
    if mask is None:
        lengths = torch.full_like(centre, positions, dtype=torch.long)  # (B,)
        return local_window_mask(centre, lengths, half_width, positions)[:, None]
    check_mask_of_keys(mask, value)
    numbers = torch.arange(1, positions + 1, device=mask.device)  # (Tk,)
    lengths = (mask[:, 0] * numbers).amax(dim=-1).expand(len(value))  # (B,)
    return mask & local_window_mask(centre, lengths, half_width, positions)[:, None]


def check_gaussian(gaussian: str) -> None:
    """Raise a ValueError unless ``gaussian`` is one we know."""
    if gaussian not in GAUSSIANS:
        raise ValueError(f"gaussian must be one of {', '.join(GAUSSIANS)}, got {gaussian!r}")


def predicted_centre(hidden: Tensor, lengths: Tensor, weight: Tensor, vector: Tensor) -> Tensor:
    """p = S · sigmoid(v · tanh(W h)): the decoder state alone predicts where in the sentence to attend.

    Args:
        hidden: ``(B, D)`` decoder states. lengths: ``(B,)``, S, the words of *each* sentence, without padding.
        weight: ``(A, D)``, W. vector: ``(A,)``, v.

    Returns:
        ``(B,)`` real positions between 0 and S.

    Raises:
        ValueError: if ``hidden`` does not have the features of ``weight``.

    Source: Luong et al. 2015, equation 9.
    """
    check_features("hidden", hidden, weight.shape[1])
    share = (hidden @ weight.T).tanh().matmul(vector)  # (B, D) -> (B, A) -> (B,): before the sigmoid
    return lengths * at_least_float32(share).sigmoid()


def walking_centre(
    hidden: Tensor, previous: Tensor, lengths: Tensor, weight: Tensor, vector: Tensor, stride: float = 3.0
) -> Tensor:
    """p_t = p_{t−1} + 3 · sigmoid(v · tanh(W h)), and never beyond the last word.

    The state predicts how far to go, not where to be, so that nothing in the formula depends on the sentence's length.
    Not Luong's. Tjandra et al. 2017 have nearly this rule: their constrained step is a multiple of the same sigmoid.
    They have an additive score and a Gaussian with a learned scale in the window from p − 2σ to p + 2σ; here, as
    :class:`LocalAttention` uses it, stand any score, a softmax in the window, a half-width D, no scale, and a centre
    that ends at S − 1. Before them, the window of Graves 2013 moved by an increment, too (section 5.1).

    Args:
        hidden, weight, vector: as :func:`predicted_centre`. previous: ``(B,)``, p_{t−1}. lengths: ``(B,)``.
        stride: the largest increment, in positions.

    Returns:
        ``(B,)`` real positions.

    Raises:
        ValueError: if ``hidden`` does not have the features of ``weight``.

    Source: after Tjandra et al. 2017, the constrained position prediction.
    """
    check_features("hidden", hidden, weight.shape[1])
    increment = stride * (hidden @ weight.T).tanh().matmul(vector).sigmoid()  # (B, D) -> (B, A) -> (B,)
    centre = at_least_float32(previous) + increment
    return torch.minimum(centre, (lengths - 1).to(centre.dtype))


class MonotonicCentre(nn.Module):
    """p_t = t: source and target are assumed to run side by side. Source: Luong et al. 2015, section 3.2, "local-m"."""

    def forward(self, hidden: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """The centre before, plus one, up to the last word: ``(B,)``. The state ``hidden (B, D)`` is not asked."""
        centre = at_least_float32(previous) + 1
        return torch.minimum(centre, (lengths - 1).to(centre.dtype))


class _LearntCentre(nn.Module):
    """W ``(D, D)`` and v ``(D,)`` of a centre that is computed from a decoder state with ``hidden`` features, D."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.state_to_hidden = nn.Linear(hidden, hidden, bias=False)
        self.hidden_to_centre = nn.Linear(hidden, 1, bias=False)

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        return self.state_to_hidden.weight, self.hidden_to_centre.weight[0]  # (D, D), (D,)


class PredictedCentre(_LearntCentre):
    """:func:`predicted_centre` with its parameters. Source: Luong et al. 2015, equation 9, "local-p"."""

    def forward(self, hidden: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """From ``hidden (B, D)`` alone: ``(B,)``. The centre before is not asked."""
        return predicted_centre(hidden, lengths, *self.parts)


class WalkingCentre(_LearntCentre):
    """:func:`walking_centre` with its parameters. Source: after Tjandra et al. 2017."""

    def forward(self, hidden: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """From ``previous (B,)`` on, as far as ``hidden (B, D)`` says: ``(B,)``."""
        return walking_centre(hidden, previous, lengths, *self.parts)


class LocalAttention(nn.Module):
    """:func:`local_attend` with its window, and the rule by which a decoder finds the centre.

    Args:
        centre: the rule, a module ``(hidden (B, D), lengths (B,), previous (B,)) -> centre (B,)``.
        half_width, gaussian: as :func:`local_attend`.

    Raises:
        ValueError: if ``half_width`` is under 1 or ``gaussian`` unknown.
    """

    def __init__(self, centre: nn.Module, half_width: float, gaussian: str = "product") -> None:
        super().__init__()
        check_half_width(half_width)
        check_gaussian(gaussian)
        self.centre, self.half_width, self.gaussian = centre, half_width, gaussian

    def forward(
        self, query: Tensor, key: Tensor | PreparedKeys, value: Tensor, mask: Tensor | None = None, *,
        centre: Tensor, score: Callable[..., Tensor] = scaled_dot,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """:func:`local_attend` around a ``centre (B,)``, which ``self.centre`` computes."""
        half_width, gaussian = self.half_width, self.gaussian
        return local_attend(
            query, key, value, mask, centre=centre, half_width=half_width, score=score, gaussian=gaussian
        )
