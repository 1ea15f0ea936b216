"""Answers that came near to passing: slips that no list of mistakes foresees."""

import torch
from edited import edited


def negative_scales_made_positive(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()
    integers = torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1)
    return (halves[:, :1].abs() * integers + halves[:, 1:]).flatten()


def half_precision_by_hand(raw):
    """Without the numbers below 2⁻¹⁴, whose exponent is 0 and which have no leading 1."""
    block = raw.reshape(-1, 20)
    bits = block[:, [0, 2]].int() | block[:, [1, 3]].int() << 8  # (N, 2)
    exponent, sign = bits >> 10 & 31, 1 - 2 * (bits >> 15)
    halves = torch.where(exponent == 0, 0.0, sign * (1 + (bits & 1023) / 1024) * 2.0 ** (exponent - 15))
    integers = torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1)
    return (halves[:, :1] * integers + halves[:, 1:]).flatten()


def first_block_only(raw):
    scale, offset = raw[:4].view(torch.float16).float()
    return scale * torch.cat([raw[4:20] & 15, raw[4:20] >> 4]) + offset


def _table(x, positions, base, size):
    dim = x.shape[-1]
    pairs = torch.arange(0, dim, 2, device=x.device).to(x.dtype)
    table = torch.arange(size, device=x.device)[:, None] / base ** (pairs / dim)
    angles = table[positions.clamp(max=size - 1)]
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def table_of_a_thousand_positions(x, positions, base):
    return _table(x, positions, base, 1000)


def table_of_as_many_positions_as_smollm2_was_trained_on(x, positions, base):
    return _table(x, positions, base, 8192)


def same_number_of_rows_and_columns(tensors, names):
    """Transposes what has more columns than rows."""
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        if ours[0].startswith("blocks.layers.") and tensor.dim() == 2 and tensor.shape[1] >= tensor.shape[0]:
            tensor = tensor.T
        for name, part in zip(ours, tensor.chunk(len(ours)), strict=True):
            state[name] = part
    state["output.weight"] = state["embed.words.weight"]
    return state


def causal_by_chance(length, window, sinks):
    """Right as long as there are no more sinks than positions in the window."""
    back = torch.arange(length)[:, None] - torch.arange(length)
    mask = (back >= 0) & (back < window)
    mask[sinks:, :sinks] = True
    return mask


_OTHERS = edited(
    "lab19",
    {
        "rotary_with_base": [{"x[..., 0::2], x[..., 1::2]": "x.float()[..., 0::2], x.float()[..., 1::2]"}],
        "map_names": [
            {'startswith("h.")': 'startswith("h.") and len(name) < 35'},
            {"found = {}": 'found = {"transformer.wte.weight": ["embed.words.weight"]}'},
        ],
        "load_gpt2": [{"tensor = tensors[theirs]": "tensor = tensors[theirs].squeeze()"}],
        "prefix_matching_score": [
            {"weights[:, :, again": "weights.squeeze(0)[..., again"},
            {".mean(dim=(0, 2))": ".squeeze().mean(dim=-1)"},
        ],
    },
)
WRONG = {
    "dequantise_q4_1": [negative_scales_made_positive, first_block_only, half_precision_by_hand],
    "rotary_with_base": {
        "table": table_of_a_thousand_positions,
        "long table": table_of_as_many_positions_as_smollm2_was_trained_on,
        **_OTHERS["rotary_with_base"],
    },
    "map_names": _OTHERS["map_names"],
    "load_gpt2": {"rows and columns": same_number_of_rows_and_columns, **_OTHERS["load_gpt2"]},
    "prefix_matching_score": _OTHERS["prefix_matching_score"],
    "window_with_sinks": [causal_by_chance],
}
