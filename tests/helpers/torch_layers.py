"""Our weights poured into torch's own layers, so that both must answer alike."""

import torch
from torch import nn

from attnbook.attention import MultiHead
from attnbook.models.transformer_layers import DecoderLayer, EncoderLayer


@torch.no_grad()
def copy_attention(ours: MultiHead, theirs: nn.MultiheadAttention) -> None:
    """torch keeps the three projections as one matrix, one above the other."""
    parts = (ours.project_query, ours.project_key, ours.project_value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.project_output.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    """Copy a whole layer; torch counts its norms in the order of the sublayers."""
    copy_attention(ours.self_attention, theirs.self_attn)
    arounds = [ours.around_feed_forward]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        arounds = [ours.around_self, ours.around_cross, *arounds]
    else:
        arounds = [ours.around_attention, *arounds]
    for number, around in enumerate(arounds, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(around.norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.widen.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.narrow.state_dict())
