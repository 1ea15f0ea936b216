"""Transformers small enough for tests, with every weight random."""

import torch
from torch import nn

from attnbook.models.block import TransformerConfig
from attnbook.models.transformer import Transformer


def small_transformer(source_size: int = 9, target_size: int = 8, seed: int = 1, **changes) -> Transformer:
    """A Transformer of two layers with two heads, in evaluation mode; no bias is zero and no gain one."""
    torch.manual_seed(seed)
    config = TransformerConfig(**({"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12, "max_length": 20} | changes))
    model = Transformer(source_size, target_size, config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()
