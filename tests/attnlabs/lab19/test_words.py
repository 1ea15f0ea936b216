"""Wrong answers of students, written as students write them, and the words that must name what is wrong."""

import pytest
import torch
from edited import edited

from attnlabs import evaluate
from attnlabs.lab19.blocks import dequantise_q4_1
from attnlabs.lab19.loading import load_gpt2
from attnlabs.lab19.names import map_names
from attnlabs.lab19.rotary import rotary_with_base
from attnlabs.lab19.window import window_with_sinks


def scale_from_single_bytes(raw):
    block = raw.reshape(-1, 20).float()
    packed = raw.reshape(-1, 20)[:, 4:]
    return (block[:, :1] * torch.cat([packed & 15, packed >> 4], dim=1) + block[:, 2:3]).flatten()


def one_scale_of_four_bytes(raw):
    block = raw.reshape(-1, 20)
    scale = block[:, :4].contiguous().view(torch.float32)
    return (scale * torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1)).flatten()


def six_bits(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()
    integers = torch.cat([block[:, 4:] & 63, block[:, 4:] >> 4], dim=1)
    return (halves[:, :1] * integers + halves[:, 1:]).flatten()


def nibbles_as_bits_of_another_order(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()
    integers = 15 - torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1)
    return (halves[:, :1] * integers + halves[:, 1:]).flatten()


def _angles(x, positions, base):
    pairs = torch.arange(0, x.shape[-1], 2, dtype=x.dtype, device=x.device)
    return positions[:, None] / base ** (pairs / x.shape[-1])


def written_into_the_input(x, positions, base):
    cos, sin = _angles(x, positions, base).cos(), _angles(x, positions, base).sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = even * cos - odd * sin
    x[..., 1::2] = even * sin + odd * cos
    return x


def written_into_a_copy(x, positions, base):
    cos, sin = _angles(x, positions, base).cos(), _angles(x, positions, base).sin()
    turned = x.clone()
    turned[..., 0::2] = turned[..., 0::2] * cos - turned[..., 1::2] * sin
    turned[..., 1::2] = turned[..., 0::2] * sin + turned[..., 1::2] * cos
    return turned


def float_angles(x, positions, base):
    inverse = 1.0 / base ** (torch.arange(0, x.shape[-1], 2, device=x.device).float() / x.shape[-1])
    angles = torch.outer(positions.float(), inverse).to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def float_exponents(x, positions, base):
    exponents = (torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1]).to(x.dtype)
    angles = positions.to(x.dtype)[:, None] * base**-exponents
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def without_lists_for_one_name(names):
    return {theirs: ours if len(ours) > 1 else ours[0] for theirs, ours in map_names(names).items()}


def only_the_first_name(names):
    return {theirs: ours[0] for theirs, ours in map_names(names).items()}


def names_in_one_text(names):
    return {theirs: [", ".join(ours)] for theirs, ours in map_names(names).items()}


def empty_lists_for_the_rest(names):
    return {theirs: [] for theirs in names} | map_names(names)


def our_names_first(names):
    return {ours: theirs for theirs, group in map_names(names).items() for ours in group}


def a_whole_file_of_twelve_layers(names):
    parts = ("ln_1", "ln_2", "attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")
    return map_names(
        [f"transformer.h.{n}.{part}.{kind}" for n in range(12) for part in parts for kind in ("weight", "bias")]
    )


def layers_up_to_99(names):
    return {
        theirs: ours
        for theirs, ours in map_names(names).items()
        if not any(f".{n}." in ours[0] for n in range(100, 1000))
    }


def one_table_of_all_parts(names):
    """Its key for a mask is "attn.bias", and not "attn"."""
    found = {}
    for name in names:
        short = name.removeprefix("transformer.")
        if short.startswith("h.") and not short.endswith("masked_bias"):
            known = map_names([name])
            table = {short.split(".", 2)[2]: known[name]} if known else {}
            found[name] = table[short.split(".", 2)[2]]
        elif not short.startswith("h."):
            found |= map_names([name])
    return found


def filtered_by_attn_bias(names):
    return map_names([name for name in names if "attn.bias" not in name])


def beginning_of_the_first_name(names):
    whole = bool(names) and names[0].startswith("transformer.")
    return map_names([name for name in names if name.startswith("transformer.") == whole])


def tied_to_the_published_name(tensors, names):
    return {**load_gpt2(tensors, names), "output.weight": tensors["wte.weight"]}


def without_norms(tensors, names):
    return {name: tensor for name, tensor in load_gpt2(tensors, names).items() if "norm" not in name}


def with_the_files_name_for_the_output_layer(tensors, names):
    state = load_gpt2(tensors, names)
    return {**state, "lm_head.weight": state["output.weight"]}


def blocks_in_columns(raw):
    block = raw.reshape(20, -1)
    scale = block[:2].T.contiguous().view(torch.float16).float()
    offset = block[2:4].T.contiguous().view(torch.float16).float()
    return (scale * torch.cat([block[4:] & 15, block[4:] >> 4]).T + offset).flatten()


def diagonal_of_texts_and_heads(weights, length):
    """`diagonal` without axes takes the first two, which are texts and heads."""
    return weights.diagonal(1 - length)[..., 1:].mean((0, 2))


def diagonal_above(weights, length):
    return weights.diagonal(length - 1, dim1=-2, dim2=-1)[..., 1:].mean((0, 2))


def same_token_without_position_l(weights, length):
    return weights.diagonal(-length, dim1=-2, dim2=-1)[..., 1:].mean((0, 2))


def transposed_by_our_ending(tensors, names):
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        if tensor.dim() == 2 and ours[-1].endswith(".weight"):
            tensor = tensor.T
        state |= dict(zip(ours, tensor.chunk(len(ours)), strict=True))
    return state | {"output.weight": state["embed.words.weight"]}


def eight_thousand_positions(x, positions, base):
    return rotary_with_base(x, positions.clamp(max=8191), base)


def angles_counted_as_turns(x, positions, base):
    return rotary_with_base(x, 2 * torch.pi * positions.to(x.dtype), base)


def tied_to_the_first_matrix(tensors, names):
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        turned = tensor.T if tensor.dim() == 2 and ours[0].startswith("blocks") else tensor
        state |= dict(zip(ours, turned.chunk(len(ours)), strict=True))
    return state | {"output.weight": next(tensor for tensor in tensors.values() if tensor.dim() == 2)}


def a_list_of_what_the_file_has(tensors, names):
    state = {}
    for theirs, tensor in tensors.items():
        ours = names[theirs]
        turned = tensor.T if tensor.dim() == 2 and ours[0].startswith("blocks") else tensor
        state |= dict(zip(ours, turned.chunk(len(ours)), strict=True))
    return state | {"output.weight": state["embed.words.weight"]}


def not_transposed_by_zip(tensors, names):
    """The last hint's zip, which says nothing where a part is missing."""
    state = {}
    for theirs, ours in names.items():
        for name, part in zip(ours, tensors[theirs].chunk(len(ours)), strict=False):
            state[name] = part
    return state | {"output.weight": state["embed.words.weight"]}


def cut_and_then_transposed(tensors, names):
    state = {}
    for theirs, ours in names.items():
        for name, part in zip(ours, tensors[theirs].chunk(len(ours)), strict=False):
            state[name] = part.T if part.dim() == 2 and name.startswith("blocks.layers.") else part
    return state | {"output.weight": state["embed.words.weight"]}


def the_head_of_the_file(tensors, names):
    return load_gpt2(tensors, names) | {"output.weight": tensors["lm_head.weight"]}


def names_of_its_own(tensors, names):
    """Right wherever `names` has all that the file holds, and our model a place for."""
    return load_gpt2(tensors, map_names(list(tensors)))


def without_the_last_position(weights, length):
    """Without a position to average over where T is L + 1, as all that follow."""
    again = torch.arange(length, weights.shape[-1] - 1)
    return weights[:, :, again, again - length + 1].mean((0, 2))


def without_position_l(weights, length):
    again = torch.arange(length + 1, weights.shape[-1])
    return weights[:, :, again, again - length + 1].mean((0, 2))


def two_whole_copies(weights, length):
    again = torch.arange(length, 2 * length)
    return weights[:, :, again, again - length + 1].mean((0, 2))


def the_sign_of_one_in_the_diagonal(weights, length):
    return weights.diagonal(-(length + 1), -2, -1).mean((0, 2))


def the_last_of_the_diagonal_left_out(weights, length):
    return weights.diagonal(1 - length, -2, -1)[..., :-1].mean((0, 2))


def signed_bytes(raw):
    block = raw.reshape(-1, 20)
    halves, packed = block[:, :4].contiguous().view(torch.float16).float(), block[:, 4:].to(torch.int8)
    return (halves[:, :1] * torch.cat([packed & 15, packed >> 4], dim=1) + halves[:, 1:]).flatten()


def products_in_half_precision(raw):
    block = raw.reshape(-1, 20)
    halves, packed = block[:, :4].contiguous().view(torch.float16), block[:, 4:]
    return ((halves[:, :1] * torch.cat([packed & 15, packed >> 4], dim=1)).float() + halves[:, 1:].float()).flatten()


def from_the_first_position_on(x, positions, base):
    return rotary_with_base(x, torch.arange(int(positions[0]), int(positions[0]) + len(positions)), base)


def slices_of_rows_and_columns(weights, length):
    end = weights.shape[-1]
    return weights[:, :, length:, 1 : end - length + 1].mean((0, 2, 3))


def queries_of_the_first_copy(weights, length):
    keys = torch.arange(1, weights.shape[-1] - length + 1)
    return weights[:, :, keys - 1, keys].mean((0, 2))


def above_the_diagonal(weights, length):
    """Of causal weights it reads zeros, as whoever exchanges queries and keys does."""
    end = weights.shape[-1]
    return weights[:, :, : end - length].diagonal(1, -2, -1).square().mean((0, 2))


def window_to_both_sides(length, window, sinks):
    positions = torch.arange(length)
    back = positions[:, None] - positions
    return (back.abs() < window) | (back >= 0) & (positions < sinks)


def rows_and_columns_open(length, window, sinks):
    mask = window_with_sinks(length, window, 0)
    mask[:sinks] = True
    mask[:, :sinks] = True
    return mask


def every_other_position(length, window, sinks):
    back = torch.arange(length)[:, None] - torch.arange(length)
    return window_with_sinks(length, window, sinks) & ((back % 2 == 0) | (torch.arange(length) < sinks))


def a_window_twice_as_wide(length, window, sinks):
    return window_with_sinks(length, 2 * window, sinks)


def blocks_read_number_by_number(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()
    integers = torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1)
    return (halves[:, :1] * integers + halves[:, 1:]).T.flatten()


def blocks_in_reverse(raw):
    return dequantise_q4_1(raw).reshape(-1, 32).flip(0).flatten()


def fractional_upper_bits(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].contiguous().view(torch.float16).float()
    return (halves[:, :1] * torch.cat([block[:, 4:] % 16, block[:, 4:] / 16], dim=1) + halves[:, 1:]).flatten()


def bytes_converted_to_half(raw):
    block = raw.reshape(-1, 20)
    halves = block[:, :4].half().float()
    return (halves[:, :1] * torch.cat([block[:, 4:] & 15, block[:, 4:] >> 4], dim=1) + halves[:, 1:2]).flatten()


def angles_repeated(x, positions, base):
    angles = _angles(x, positions, base).repeat(1, 2)
    swapped = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angles.cos() + swapped * angles.sin()


def halves_with_angles_of_neighbours(x, positions, base):
    angles, half = _angles(x, positions, base).repeat_interleave(2, dim=-1), x.shape[-1] // 2
    return x * angles.cos() + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * angles.sin()


def key_value_query(names):
    return {theirs: ours[1:] + ours[:1] for theirs, ours in map_names(names).items()}


def the_parts_as_key_value_query(tensors, names):
    return load_gpt2(tensors, {theirs: ours[1:] + ours[:1] for theirs, ours in names.items()})


def key_before_query(tensors, names):
    order = {theirs: [ours[1], ours[0], ours[2]] if len(ours) == 3 else ours for theirs, ours in names.items()}
    return load_gpt2(tensors, order)


def the_files_own_head(tensors, names):
    state = load_gpt2(tensors, names)
    return state | {"output.weight": tensors.get("lm_head.weight", state["output.weight"])}


def loaded_as_float32(tensors, names):
    return {name: tensor.float() for name, tensor in load_gpt2(tensors, names).items()}


def rolled_in_the_opposite_direction(weights, length):
    return weights.roll(1 - length, -1).diagonal(0, -2, -1)[..., length:].mean(-1).mean(0)


def columns_from_the_end(length, window, sinks):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i - window + 1, i + 1):
            mask[i, j] = True
        for j in range(min(sinks, i + 1)):
            mask[i, j] = True
    return mask


def slices_from_the_end(length, window, sinks):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window + 1 : i + 1] = True
        mask[i, : min(sinks, i + 1)] = True
    return mask


def windows_rolled(length, window, sinks):
    row = torch.arange(length) < window
    mask = torch.stack([row.roll(i - window + 1) for i in range(length)])
    return mask | window_with_sinks(length, 1, sinks)


def wrong_between_the_window_and_the_end(length, window, sinks):
    return window_with_sinks(length, window, sinks if sinks >= length else min(sinks, window))


SUMMED = edited("lab19", {"prefix_matching_score": [{".mean(dim=(0, 2))": ".mean(dim=2).sum(dim=0)"}]})

WORDS = [
    (scale_from_single_bytes, "dequantise_q4_1", ["converted each byte", "byte 2"]),
    (one_scale_of_four_bytes, "dequantise_q4_1", ["from other bytes or as another type"]),
    (six_bits, "dequantise_q4_1", ["not between 0 and 15", "scale and offset are used as they should be"]),
    (written_into_the_input, "rotary_with_base", ["a first one that was turned already", "is a view"]),
    (written_into_a_copy, "rotary_with_base", ["a first one that was turned already"]),
    (float_angles, "rotary_with_base", ["dtype=x.dtype", "single precision"]),
    (float_exponents, "rotary_with_base", ["dtype=x.dtype", "single precision"]),
    (without_lists_for_one_name, "map_names", ["wrong type", "str; the exercise wants list of 1"]),
    (only_the_first_name, "map_names", ["wrong type", "str; the exercise wants list of"]),
    (names_in_one_text, "map_names", ["must have three entries"]),
    (empty_lists_for_the_rest, "map_names", ["not even an empty list"]),
    (our_names_first, "map_names", ["Your keys are our names"]),
    (a_whole_file_of_twelve_layers, "map_names", ["a key that is not in `names`"]),
    (layers_up_to_99, "map_names", ["is missing; wanted is ['blocks.layers."]),
    (one_table_of_all_parts, "map_names", ["masks stop it", "ask with `in`"]),
    (filtered_by_attn_bias, "map_names", ["You left out c_attn.bias"]),
    (tied_to_the_first_matrix, "load_gpt2", ["output.weight must be the word vectors"]),
    (a_list_of_what_the_file_has, "load_gpt2", ["no entry in `names`", "go through `names`"]),
    (slices_of_rows_and_columns, "prefix_matching_score", ["every pair of a query", "Each query has one key only"]),
    (queries_of_the_first_copy, "prefix_matching_score", ["You took the rows of the first copy"]),
    (*SUMMED["prefix_matching_score"].values(), "prefix_matching_score", ["times n, where n is the size of axis 0"]),
    (window_to_both_sides, "window_with_sinks", ["opens positions on both sides"]),
    (rows_and_columns_open, "window_with_sinks", ["Everything above the diagonal must be False"]),
    (every_other_position, "window_with_sinks", ["all positions of its window"]),
    (a_window_twice_as_wide, "window_with_sinks", ["none of the first `sinks` must be closed"]),
    (blocks_read_number_by_number, "dequantise_q4_1", ["number 0 of every block first"]),
    (blocks_in_reverse, "dequantise_q4_1", ["exactly the right numbers"]),
    (fractional_upper_bits, "dequantise_q4_1", ["as a fraction", ">> 4"]),
    (bytes_converted_to_half, "dequantise_q4_1", ["converted each byte", "view(torch.float16)"]),
    (angles_repeated, "rotary_with_base", ["repeat_interleave(2, dim=-1)"]),
    (halves_with_angles_of_neighbours, "rotary_with_base", ["two *halves*", "Neighbours are a pair here"]),
    (key_value_query, "map_names", ["begin with the key and end with the query"]),
    (the_parts_as_key_value_query, "load_gpt2", ["your key the first one"]),
    (key_before_query, "load_gpt2", ["key is the first third of c_attn and your query the second"]),
    (the_files_own_head, "load_gpt2", ["the output layer is tied"]),
    (loaded_as_float32, "load_gpt2", ["converted the tensors to float32"]),
    (rolled_in_the_opposite_direction, "prefix_matching_score", ["in the opposite direction", "roll(L − 1)"]),
    (columns_from_the_end, "window_with_sinks", ["a negative index from the end"]),
    (slices_from_the_end, "window_with_sinks", ["a negative begin from the end"]),
    (windows_rolled, "window_with_sinks", ["by rolling one row"]),
    (not_transposed_by_zip, "load_gpt2", ["You left the matrices as the file has them", "transpose each matrix"]),
    (cut_and_then_transposed, "load_gpt2", ["You cut c_attn along its inputs", "different *outputs*"]),
    (the_head_of_the_file, "load_gpt2", ["KeyError at lm_head.weight", "The output layer is tied"]),
    (names_of_its_own, "load_gpt2", ["names that are not in `names`", "Use the names that are given"]),
    (without_the_last_position, "prefix_matching_score", ["You left out the last position"]),
    (without_position_l, "prefix_matching_score", ["You left out position L"]),
    (two_whole_copies, "prefix_matching_score", ["up to 2L − 1", "may be cut off before"]),
    (the_sign_of_one_in_the_diagonal, "prefix_matching_score", ["the diagonal −L − 1", "on the diagonal 1 − L"]),
    (the_last_of_the_diagonal_left_out, "prefix_matching_score", ["one position too early", "not the last"]),
    (signed_bytes, "dequantise_q4_1", ["into int8", "Leave them as uint8"]),
    (products_in_half_precision, "dequantise_q4_1", ["You multiplied in half precision"]),
    (from_the_first_position_on, "rotary_with_base", ["counted on from it", "in any order"]),
    (beginning_of_the_first_name, "map_names", ["You asked the first name", "lm_head.weight"]),
    (tied_to_the_published_name, "load_gpt2", ["KeyError at wte.weight", "Under our name"]),
    (without_norms, "load_gpt2", ["lacks a name"]),
    (with_the_files_name_for_the_output_layer, "load_gpt2", ["a name that it must not have", "lm_head.weight"]),
    (blocks_in_columns, "dequantise_q4_1", ["each block is a *row*"]),
    (diagonal_of_texts_and_heads, "prefix_matching_score", ["the mean of a tensor without entries"]),
    (diagonal_above, "prefix_matching_score", ["the offset L − 1 is above the main diagonal"]),
    (same_token_without_position_l, "prefix_matching_score", ["the diagonal −L", "diagonal 1 − L"]),
    (transposed_by_our_ending, "load_gpt2", ['ends in "weight"', "begins with"]),
    (eight_thousand_positions, "rotary_with_base", ["positions = [20011]"]),
    (angles_counted_as_turns, "rotary_with_base", ["multiplied the angles by 2π"]),
    (wrong_between_the_window_and_the_end, "window_with_sinks", ["length = 6", "[[ True, False"]),
]
NOT_SAID = [
    (float_angles, "rotary_with_base", "half precision"),
    (written_into_a_copy, "rotary_with_base", "other features"),
    (without_lists_for_one_name, "map_names", "more than one entry"),
    (only_the_first_name, "map_names", "begin"),
    (one_table_of_all_parts, "map_names", "setdefault"),
    (queries_of_the_first_copy, "prefix_matching_score", "exchanged"),
    (above_the_diagonal, "prefix_matching_score", "exchanged"),
    (rows_and_columns_open, "window_with_sinks", "on the diagonal"),
    (window_to_both_sides, "window_with_sinks", "past"),
    (nibbles_as_bits_of_another_order, "dequantise_q4_1", "not between 0 and 15"),
    (blocks_read_number_by_number, "dequantise_q4_1", "scale or offset are read"),
    (blocks_in_reverse, "dequantise_q4_1", "scale or offset are read"),
    (key_before_query, "load_gpt2", "You sorted"),
    (without_the_last_position, "prefix_matching_score", "not a number"),
]


@pytest.mark.parametrize("answer, exercise, words", WORDS, ids=lambda value: getattr(value, "__name__", None))
def test_a_wrong_answer_is_told_in_these_words(answer, exercise, words):
    verdict = evaluate("lab19", exercise, answer)
    said = " ".join(verdict.message.split())
    assert not verdict.passed
    assert [part for part in words if part not in said] == [], verdict.message


@pytest.mark.parametrize("answer, exercise, word", NOT_SAID, ids=lambda value: getattr(value, "__name__", None))
def test_no_fault_is_named_that_the_answer_does_not_have(answer, exercise, word):
    """Each of these words stood in the message once, because another fault shows in the same way."""
    verdict = evaluate("lab19", exercise, answer)
    assert not verdict.passed
    assert word not in verdict.message
