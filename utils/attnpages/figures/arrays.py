"""Numbers for matplotlib: it takes no tensor that lies on a graphics card or wants a gradient."""

import numpy as np
import torch


def as_array(values: object) -> np.ndarray:
    """Return a tensor on any device, an array, or numbers in lists as an array of floats."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().to(torch.float64)  # numpy has no bfloat16
    return np.asarray(values, dtype=float)
