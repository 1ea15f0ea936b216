"""Our weights poured into torch's own layers, so that both must answer alike."""

import torch
from torch import nn

from attnbook.attention import MultiHeadAttention
from attnbook.models.block import Block


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """torch keeps the three projections as one matrix, one above the other."""
    parts = (ours.project_query, ours.project_key, ours.project_value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.project_output.state_dict())


def copy_layer(ours: Block, theirs: nn.Module) -> None:
    """Copy a whole block; torch counts its norms in the order of the sublayers."""
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.norm_self, ours.norm_feed_forward]
    if hasattr(ours, "cross_attention"):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.norm_cross)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.widen.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.narrow.state_dict())
