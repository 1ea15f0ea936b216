"""What a search adds to the log-probability of a sentence: two penalties of Wu et al. 2016, equation 14.

A translation Y of X is ranked by log P(Y | X) / lp(Y) + cp(X; Y). With alpha = beta = 0 only log P(Y | X) counts.
"""

import torch
from torch import Tensor


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """((5 + length) / 6)^alpha: a log-probability is divided by it, or each further word would only be punished.

    Args:
        length: words, the end symbol counted.
        alpha: 0 = no penalty; 0.2 in Wu et al., beside a penalty on coverage, and 0.6 in Vaswani et al. 2017.

    Source: Wu et al. 2016, equation 14.
    """
    return ((5.0 + length) / 6.0) ** alpha


def coverage_penalty(coverage: Tensor, beta: float) -> Tensor:
    """beta · Σ_i log(min(Σ_j p_ij, 1)): what is added for source words that got less than one whole attention.

    Args:
        coverage: ``(..., Tk)``, the attention weight that each source word has got so far, summed over the target
            words. Padding must stand at 1, which costs nothing.
        beta: 0 = no penalty; 0.2 in Wu et al.

    Returns:
        ``(...)``, never above zero. A word without any weight costs as much as the smallest number there is, not
        infinitely much, so that two sentences that both miss a word can still be compared.

    Source: Wu et al. 2016, equation 14.
    """
    least = torch.finfo(coverage.dtype).tiny
    return beta * coverage.clamp(least, 1.0).log().sum(dim=-1)
