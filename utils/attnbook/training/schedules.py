"""Learning rates as functions of the step, never of the clock: a busy machine must not change a result."""

import math


def warmup_then_cosine(step: int, steps: int, warmup: int = 100, constant: float = 0.5) -> float:
    """Factor for the rate at ``step``: up from 0 over ``warmup`` steps, constant, then a half cosine down to 0.

    Args:
        step: from 0 to ``steps`` − 1.
        steps: the length of the whole training.
        warmup: steps of the linear rise.
        constant: the part of the training after which the fall begins.

    Returns:
        a number between 0 and 1.

    Raises:
        ValueError: if ``steps`` is not positive or ``step`` lies outside the training.
    """
    if not 0 <= step < steps:
        raise ValueError(f"step must lie in 0..{steps - 1} (steps = {steps}), got {step}")
    if step < warmup:
        return (step + 1) / warmup
    fall_begins = max(warmup, constant * steps)
    if step < fall_begins:
        return 1.0
    return 0.5 * (1 + math.cos(math.pi * (step - fall_begins) / (steps - fall_begins)))


def warmup_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """The Transformer paper's learning rate: up in a straight line, then down with the inverse root of the step.

    Args:
        step: from 0; the paper counts from 1, so we add one.
        d_model: features of the model's word vectors. Wider models get smaller rates.
        warmup: steps of the rise; the rate is highest at its end, 1 / √(d_model · warmup).

    Returns:
        the rate itself, d_model^−0.5 · min(n^−0.5, n · warmup^−1.5) with n = step + 1.

    Raises:
        ValueError: if ``step`` is negative, or ``d_model`` or ``warmup`` is not positive.

    Source: Vaswani et al. 2017, equation 3.
    """
    if step < 0:
        raise ValueError(f"step is {step}; the first step is 0")
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model and warmup must be at least 1, got d_model = {d_model}, warmup = {warmup}")
    count = step + 1
    return d_model**-0.5 * min(count**-0.5, count * warmup**-1.5)
