"""Known mistakes as students write them, in another style than the reference's: each is called by its name."""

import math

import torch
from torch.nn import functional as F


def bytes_rounded_per_number(config, tokens):
    number, total = config["bits"] // 8, 0
    for layer in range(config["layers"]):
        kept = min(tokens, config["window"]) if layer < config["local_layers"] else tokens
        total += kept * config["key_value_heads"] * config["head_features"] * 2 * number
    return total


def window_wherever_there_is_one(config, tokens):
    window = config["window"] if config["window"] > 0 else tokens
    numbers = 2 * config["layers"] * min(tokens, window) * config["key_value_heads"] * config["head_features"]
    return numbers * config["bits"] / 8


def sum_without_parentheses(config, tokens):
    others, kept = config["layers"] - config["local_layers"], config["local_layers"] * min(tokens, config["window"])
    return 2 * others * tokens + kept * config["key_value_heads"] * config["head_features"] * config["bits"] / 8


def bytes_rounded_per_key(config, tokens):
    key = config["head_features"] * config["bits"] // 8
    positions = [tokens] * (config["layers"] - config["local_layers"])
    positions += [min(tokens, config["window"])] * config["local_layers"]
    return 2 * key * config["key_value_heads"] * sum(positions)


def window_for_every_layer(config, tokens):
    per_position = config["key_value_heads"] * config["head_features"] * config["bits"] / 4
    return config["layers"] * min(config["window"], tokens) * per_position


def _latent_scores(query, turned_query, latent, turned_key, W_key):
    return torch.einsum("bhd,hdc,btc->bht", query, W_key, latent), torch.einsum(
        "bhr,btr->bht", turned_query, turned_key
    )


def sum_of_parts_without_parentheses(query, turned_query, latent, turned_key, W_key, W_value):
    content, position = _latent_scores(query, turned_query, latent, turned_key, W_key)
    weights = (content + position / math.sqrt(query.shape[-1] + turned_query.shape[-1])).softmax(-1)
    return torch.einsum("bht,btc,hdc->bhd", weights, latent, W_value), weights


def only_the_query_scaled(query, turned_query, latent, turned_key, W_key, W_value):
    scaled = query / math.sqrt(query.shape[-1] + turned_query.shape[-1])
    weights = sum(_latent_scores(scaled, turned_query, latent, turned_key, W_key)).softmax(-1)
    return torch.einsum("bht,btc,hdc->bhd", weights, latent, W_value), weights


def joined_latents(query, turned_query, latent, turned_key, W_key, W_value):
    asked = torch.cat([torch.einsum("bhd,hdc->bhc", query, W_key), turned_query], dim=-1)
    weights = (asked @ torch.cat([latent, turned_key], dim=-1).mT / asked.shape[-1] ** 0.5).softmax(dim=-1)
    return torch.einsum("bhc,hdc->bhd", weights @ latent, W_value), weights


def unfolded_and_scaled_by_content(query, turned_query, latent, turned_key, W_key, W_value):
    keys, values = (torch.einsum("btc,hdc->bhtd", latent, matrix) for matrix in (W_key, W_value))
    scores = torch.einsum("bhd,bhtd->bht", query, keys) + torch.einsum("bhr,btr->bht", turned_query, turned_key)
    weights = torch.softmax(scores / math.sqrt(query.shape[-1]), dim=-1)
    return torch.einsum("bht,bhtd->bhd", weights, values), weights


def root_of_the_last_term(query, turned_query, latent, turned_key, W_key, W_value):
    keys, values = (torch.einsum("btc,hdc->bhtd", latent, matrix) for matrix in (W_key, W_value))
    scores = torch.einsum("bhd,bhtd->bht", query, keys) + torch.einsum("bhr,btr->bht", turned_query, turned_key)
    weights = torch.softmax(scores / (query.shape[-1] + turned_query.shape[-1] ** 0.5), dim=-1)
    return torch.einsum("bht,bhtd->bhd", weights, values), weights


def exponential_of_all_scores(query, turned_query, latent, turned_key, W_key, W_value):
    scores = torch.einsum("bhd,hdc,btc->bht", query, W_key, latent) + turned_query @ turned_key.mT
    powers = torch.exp(scores / math.sqrt(query.shape[-1] + turned_query.shape[-1]))
    weights = powers / powers.sum(-1)[..., None]
    return torch.einsum("bht,btc,hdc->bhd", weights, latent, W_value), weights


def one_memory_for_the_whole_text(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    return query @ (key.mT @ value) / (query * key.sum(dim=1, keepdim=True)).sum(dim=-1, keepdim=True)


def torch_attention(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def torch_attention_of_features(query, key, value):
    return torch_attention(F.elu(query) + 1, F.elu(key) + 1, value)


def read_before_written(query, key, value):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    memory, total = torch.zeros_like(key[:, 0, :, None] * value[:, 0, None, :]), torch.zeros_like(key[:, 0])
    contexts = []
    for t in range(query.shape[1]):
        divisor = (query[:, t] * total).sum(dim=-1, keepdim=True) + 1e-6
        contexts.append(torch.einsum("bd,bdv->bv", query[:, t], memory) / divisor)
        memory, total = memory + key[:, t, :, None] * value[:, t, None, :], total + key[:, t]
    return torch.stack(contexts, dim=1)


def closed_as_before_a_softmax(query, key, value):
    scores = (F.elu(query) + 1) @ (F.elu(key) + 1).mT
    scores = scores + torch.full_like(scores, -torch.inf).triu(1)
    return scores @ value / scores.sum(-1)[..., None]


def own_value_for_the_first(query, key, value, memory, total):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    new = memory + torch.einsum("bd,bv->bdv", key, value), total + key
    if (total == 0).all():
        return value, *new
    return torch.einsum("bd,bdv->bv", query, memory) / (query * total).sum(dim=-1, keepdim=True), *new


def row_by_row(query, key, value, memory, total):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    memory, total = memory + torch.einsum("bd,bv->bdv", key, value), total + key
    return torch.einsum("bd,bdv->bv", query / total, memory), memory, total


def squares_in_the_place_of_a_matrix(query, key, value, rate, memory):
    stays = 1 - rate[:, None] * key * key
    memory = stays[..., None] * memory + rate[:, None, None] * torch.einsum("bd,bv->bdv", key, value)
    return torch.einsum("bd,bdv->bv", query, memory), memory


def old_state_asked(query, key, value, memory, total):
    query, key = F.elu(query) + 1, F.elu(key) + 1
    context = torch.einsum("bd,bdv->bv", query, memory) / (query * total).sum(dim=-1, keepdim=True)
    return context, memory + torch.einsum("bd,bv->bdv", key, value), total + key


def forgets_everywhere(query, key, value, rate, memory):
    memory = torch.lerp(memory, torch.einsum("bd,bv->bdv", key, value), rate[:, None, None])
    return torch.einsum("bd,bdv->bv", query, memory), memory


def mixes_and_adds(query, key, value, rate, memory):
    held = torch.einsum("bdv,bd->bv", memory, key)
    memory = memory + torch.einsum("bd,bv->bdv", key, torch.lerp(held, value, rate[:, None]))
    return torch.einsum("bd,bdv->bv", query, memory), memory


def key_of_length_one(query, key, value, rate, memory):
    key = key / key.norm(dim=-1, keepdim=True)
    change = value - torch.einsum("bdv,bd->bv", memory, key)
    memory = memory + rate[:, None, None] * torch.einsum("bd,bv->bdv", key, change)
    return torch.einsum("bd,bdv->bv", query, memory), memory


def features_of_the_key_alone(query, key, value, rate, memory):
    key = F.elu(key) + 1
    change = rate[:, None] * (value - torch.einsum("bdv,bd->bv", memory, key))
    memory = memory + torch.einsum("bd,bv->bdv", key, change)
    return torch.einsum("bd,bdv->bv", query, memory), memory


def features_of_the_opposite(query, key, value):
    query, key = F.elu(-query) + 1, F.elu(-key) + 1
    read = torch.einsum("btd,btdv->btv", query, (key[..., None] * value[..., None, :]).cumsum(1))
    return read / (query * key.cumsum(1)).sum(-1, keepdim=True)


def _yarn(old, turns, factor, slow, fast):
    kept = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return (1 - kept) * old / factor + kept * old


def radians_counted_as_turns(dim, factor, trained, base, slow, fast):
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    return _yarn(old, trained * old, factor, slow, fast)


def radians_counted_as_turns_in_float32(dim, factor, trained, base, slow, fast):
    old = base ** (-torch.arange(0, dim, 2) / dim)
    return _yarn(old, trained * old, factor, slow, fast)


def exponents_in_float32(dim, factor, trained, base, slow, fast):
    old = (base ** (-torch.arange(0, dim, 2) / dim)).double()
    return _yarn(old, trained * old / math.tau, factor, slow, fast)


def divided_before_subtracted(dim, factor, trained, base, slow, fast):
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    kept = torch.clamp(trained * old / math.tau - slow / (fast - slow), 0, 1)
    return (1 - kept) * old / factor + kept * old


def base_alone(dim, factor, trained, base, slow, fast):
    return (base * factor ** (dim / (dim - 2))) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def texts_per_turn(dim, factor, trained, base, slow, fast):
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    return _yarn(old, math.tau / old / trained, factor, slow, fast)


def _accept(guessed, draft, model, chances, left, chance):
    """A loop that is right but for where the next token comes from."""
    for i, word in enumerate(guessed.tolist()):
        if chances[i] >= model[i, word] / draft[i, word]:
            ends = (left(model[i], draft[i]) / left(model[i], draft[i]).sum()).cumsum(0)
            return i, int((ends <= chance(chances, i)).sum())
    return len(guessed), int((model[-1].cumsum(0) <= chances[-1]).sum())


def from_p_again(*args):
    return _accept(*args, lambda p, q: p, lambda chances, i: chances[-1])


def from_p_where_it_is_larger(*args):
    return _accept(*args, lambda p, q: torch.where(p > q, p, 0.0), lambda chances, i: chances[-1])


def rejected_and_yet_written(guessed, draft, model, chances):
    stay = 0
    while stay < len(guessed) and chances[stay] < model[stay, guessed[stay]] / draft[stay, guessed[stay]]:
        stay += 1
    if stay < len(guessed):
        return stay, int(guessed[stay])
    return stay, int((model[-1].cumsum(0) <= chances[-1]).sum())


def with_the_first_number(*args):
    return _accept(*args, lambda p, q: (p - q).clamp(min=0), lambda chances, i: chances[0])


def first_that_falls_taken_as_found(guessed, draft, model, chances):
    at = torch.arange(len(guessed))
    i = torch.where(chances[:-1] >= model[at, guessed] / draft[at, guessed])[0][0].item()
    ends = (model[i] - draft[i]).clamp(min=0).cumsum(0)
    return i, int((ends <= chances[-1] * ends[-1]).sum())


def always_with_the_first_number(guessed, draft, model, chances):
    return _accept(guessed, draft, model, torch.cat([chances[:-1], chances[:1]]), lambda p, q: (p - q).clamp(min=0),
                   lambda chances, i: chances[0])  # fmt: skip


def with_the_number_that_rejected(*args):
    return _accept(*args, lambda p, q: (p - q).clamp(min=0), lambda chances, i: chances[i])


def with_differences_of_both_signs(*args):
    return _accept(*args, lambda p, q: (p - q).abs(), lambda chances, i: chances[-1])


def greedy_search(guessed, draft, model, chances):
    best = model.argmax(dim=-1).tolist()
    for i, word in enumerate(guessed.tolist()):
        if word != best[i]:
            return i, best[i]
    return len(guessed), best[-1]


WRONG = {
    "grouped_cache_bytes": [
        bytes_rounded_per_number, window_wherever_there_is_one, sum_without_parentheses, bytes_rounded_per_key,
        window_for_every_layer,
    ],
    "latent_attention": [
        joined_latents, unfolded_and_scaled_by_content, root_of_the_last_term, exponential_of_all_scores,
        sum_of_parts_without_parentheses, only_the_query_scaled,
    ],
    "linear_attention": [
        one_memory_for_the_whole_text, torch_attention, torch_attention_of_features, read_before_written,
        closed_as_before_a_softmax, features_of_the_opposite,
    ],
    "linear_attention_step": [old_state_asked, own_value_for_the_first, row_by_row],
    "delta_rule_step": [
        forgets_everywhere, mixes_and_adds, key_of_length_one, squares_in_the_place_of_a_matrix,
        features_of_the_key_alone,
    ],
    "yarn_frequencies": [
        radians_counted_as_turns, radians_counted_as_turns_in_float32, exponents_in_float32, base_alone,
        divided_before_subtracted, texts_per_turn,
    ],
    "speculative_accept": [
        from_p_again, with_the_number_that_rejected, with_differences_of_both_signs, greedy_search,
        from_p_where_it_is_larger, with_the_first_number, rejected_and_yet_written,
        first_that_falls_taken_as_found, always_with_the_first_number,
    ],
}  # fmt: skip
NAMED = {
    bytes_rounded_per_key: "rounded to whole bytes per key",
    window_for_every_layer: "every layer local, and nothing without a window",
    sum_of_parts_without_parentheses: "only the position divided by √(D + R)",
    only_the_query_scaled: "only the content divided by √(D + R)",
    features_of_the_opposite: "elu + 1 of the opposite",
    features_of_the_key_alone: "φ of the key",
    texts_per_turn: "wavelength divided by the length",
    first_that_falls_taken_as_found: "stops where all guesses stay",
    always_with_the_first_number: "the first random number always",
    bytes_rounded_per_number: "rounded to whole bytes per number",
    window_wherever_there_is_one: "every layer local",
    sum_without_parentheses: "no parentheses around the sum",
    root_of_the_last_term: "the root of R only",
    exponential_of_all_scores: "exp of large scores",
    closed_as_before_a_softmax: "−∞ for later scores",
    own_value_for_the_first: "read before the state is updated, unless it is empty",
    row_by_row: "each row divided by its total",
    squares_in_the_place_of_a_matrix: "each row fades by itself",
    divided_before_subtracted: "no parentheses around r − α",
    from_p_where_it_is_larger: "redrawn from p where it is larger",
    rejected_and_yet_written: "the guess that falls written",
    with_the_first_number: "the first random number again",
    joined_latents: "scaled by √(C + R)",
    unfolded_and_scaled_by_content: "scaled by √D",
    one_memory_for_the_whole_text: "not causal",
    torch_attention: "ordinary attention",
    torch_attention_of_features: "a softmax of the scores, scaled",
    read_before_written: "itself closed, 1e-6 in the divisor",
    old_state_asked: "read before the state is updated",
    forgets_everywhere: "the whole memory fades",
    mixes_and_adds: "mean of old and new added",
    key_of_length_one: "key made length 1",
    radians_counted_as_turns: "the 2π left out",
    radians_counted_as_turns_in_float32: "the 2π left out",
    exponents_in_float32: "in single precision",
    base_alone: "another base",
    from_p_again: "redrawn from p",
    with_the_number_that_rejected: "random number used twice",
    with_differences_of_both_signs: "absolute differences",
    greedy_search: "the likeliest token only, and the likeliest after it",
}
