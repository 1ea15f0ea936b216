"""Right answers of lab 19 in other styles than the reference's."""

import math

import numpy as np
import torch


def dequantise_q4_1__numpy(raw):
    kind = np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", 16)])
    blocks = np.frombuffer(raw.numpy().tobytes(), kind)
    integers = np.concatenate([blocks["q"] % 16, blocks["q"] // 16], axis=1).astype(np.float32)
    numbers = blocks["d"].astype(np.float32)[:, None] * integers + blocks["m"].astype(np.float32)[:, None]
    return torch.from_numpy(numbers.reshape(-1))


def dequantise_q4_1__loops(raw):
    """Half-precision numbers put together from their bits, one block after the other, in Python's own numbers."""

    def half(low, high):
        bits = low + 256 * high
        sign, exponent, fraction = -1.0 if bits >> 15 else 1.0, bits >> 10 & 31, bits & 1023
        return sign * (fraction * 2.0**-24 if exponent == 0 else (1 + fraction / 1024) * 2.0 ** (exponent - 15))

    data, numbers = raw.tolist(), []
    for start in range(0, len(data), 20):
        block = data[start : start + 20]
        scale, offset = half(*block[:2]), half(*block[2:4])
        numbers += [scale * (byte % 16) + offset for byte in block[4:]]
        numbers += [scale * (byte // 16) + offset for byte in block[4:]]
    return torch.tensor(numbers)


def rotary_with_base__complex(x, positions, base):
    dim = x.shape[-1]
    speeds = torch.exp(-math.log(base) * torch.arange(0, dim, 2, dtype=x.dtype, device=x.device) / dim)
    angles = torch.outer(positions.to(x.dtype), speeds)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def rotary_with_base__rotate_every_two(x, positions, base):
    """x · cos + (−x_1, x_0, −x_3, x_2, …) · sin, as GPT-J has it."""
    dim = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, dim, 2, dtype=x.dtype, device=x.device) / dim)
    angles = angles.repeat_interleave(2, dim=-1)
    swapped = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angles.cos() + swapped * angles.sin()


def map_names__replacements(names):
    """Texts replaced one after the other, the longer ones first."""
    rules = [
        ("ln_1", "norm_self"), ("ln_2", "norm_feed_forward"), ("ln_f", "blocks.last_norm"),
        ("attn.c_proj", "self_attention.project_output"), ("mlp.c_fc", "feed_forward.widen"),
        ("mlp.c_proj", "feed_forward.narrow"), ("wte", "embed.words"), ("wpe.weight", "embed.add_positions.vectors"),
    ]  # fmt: skip
    found = {}
    for name in names:
        if name.endswith((".attn.bias", ".attn.masked_bias")) or name == "lm_head.weight":
            continue
        ours = name.replace("transformer.", "")
        if ours.startswith("h."):
            ours = "blocks.layers." + ours[2:]
        for theirs, mine in rules:
            ours = ours.replace(theirs, mine)
        found[name] = [ours.replace("attn.c_attn", f"self_attention.project_{p}") for p in ("query", "key", "value")]
        if "c_attn" not in name:
            found[name] = [ours]
    return found


def map_names__pattern(names):
    import re

    inside = {
        "ln_1": ("norm_self",), "ln_2": ("norm_feed_forward",), "attn.c_proj": ("self_attention.project_output",),
        "mlp.c_fc": ("feed_forward.widen",), "mlp.c_proj": ("feed_forward.narrow",),
        "attn.c_attn": tuple("self_attention.project_" + part for part in ["query", "key", "value"]),
    }  # fmt: skip
    outside = {"wte": "embed.words.weight", "wpe": "embed.add_positions.vectors"}
    found = {}
    for name in names:
        if match := re.fullmatch(r"(?:transformer\.)?h\.(\d+)\.(.+)\.(weight|bias)", name):
            layer, part, kind = match.groups()
            if part in inside:
                found[name] = [f"blocks.layers.{layer}.{one}.{kind}" for one in inside[part]]
        elif match := re.fullmatch(r"(?:transformer\.)?(wte|wpe)\.weight", name):
            found[name] = [outside[match[1]]]
        elif match := re.fullmatch(r"(?:transformer\.)?ln_f\.(weight|bias)", name):
            found[name] = ["blocks.last_norm." + match[1]]
    return found


def load_gpt2__split_first(tensors, names):
    """Cut along the last axis, and transposed afterwards; every tensor is a copy."""
    state = {}
    for theirs, ours in names.items():
        parts = torch.tensor_split(tensors[theirs], 3, dim=-1) if len(ours) == 3 else [tensors[theirs]]
        for name, part in zip(ours, parts, strict=True):
            is_matrix = ".project_" in name or ".feed_forward." in name
            state[name] = part.t().clone() if is_matrix else part.clone()
    return {**state, "output.weight": state["embed.words.weight"].clone()}


def load_gpt2__by_the_ends_of_names(tensors, names):
    state = {}
    for theirs, tensor in tensors.items():
        if theirs not in names:
            continue
        if theirs.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            tensor = tensor.transpose(0, 1).contiguous()
        rows = len(tensor) // len(names[theirs])
        for number, name in enumerate(names[theirs]):
            state[name] = tensor[number * rows : (number + 1) * rows]
        if theirs.endswith("wte.weight"):
            state["output.weight"] = tensor
    return state


def prefix_matching_score__diagonal(weights, length):
    return weights.diagonal(1 - length, -2, -1)[..., 1:].mean(-1).mean(0)


def prefix_matching_score__loops(weights, length):
    texts, heads, end, _ = weights.shape
    total = weights.new_zeros(heads)
    for text in range(texts):
        for i in range(length, end):
            total = total + weights[text, :, i, i - length + 1]
    return total / (texts * (end - length))


def window_with_sinks__loops(length, window, sinks):
    return torch.tensor([[j <= i and (i - j < window or j < sinks) for j in range(length)] for i in range(length)])


def window_with_sinks__triangles(length, window, sinks):
    causal = torch.ones(length, length).tril()
    mask = causal - causal.tril(-window)
    mask[:, :sinks] = causal[:, :sinks]
    return mask.bool()
