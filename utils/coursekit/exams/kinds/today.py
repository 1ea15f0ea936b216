"""Questions on chapters 19 and 20: stored weights, the cost of a token, states of fixed size, and checked guesses."""

from random import Random

import torch

from attnbook.attention import delta_step, forgetting_step
from attnbook.measure.cache import grouped_cache_bytes
from attnbook.models.pretrained.dequantise import q4_1
from coursekit.exams.numbers import distinct, floats, parts, show, tensor, vector
from coursekit.exams.question import LONG, SHORT, Question, Step, kind


@kind(19, SHORT, "A block of four bits")
def quantised_block(draw: Random) -> Question:
    """Two numbers of a Q4_1 block from its scale, its offset and one packed byte, and the size of a file."""
    scale, offset = draw.choice([0.125, 0.25, 0.5]), -draw.choice([0.5, 1.0, 1.5, 2.0])
    low, high = distinct(draw, 1, 15, 2)
    index, millions = draw.randint(1, 15), 8 * draw.randint(5, 30)
    head = torch.tensor([scale, offset], dtype=torch.float16).view(torch.uint8)
    packed = torch.zeros(16, dtype=torch.uint8)
    packed[index] = 16 * high + low
    numbers = q4_1(torch.cat([head, packed]))
    first, second = numbers[index].item(), numbers[index + 16].item()
    megabytes = millions * 20 / 32
    text = (
        f"A block of the format Q4_1 holds 32 numbers in 20 bytes: a scale d and an offset m of two bytes each, and 16 "
        f"packed bytes. It has d = {show(scale)} and m = {show(offset)}. Packed byte {index}, counted from 0, is "
        f"{16 * high + low}.",
        "(a) Which two integers does this byte hold? (b) Which two numbers of the block are these, and at which "
        f"positions, counted from 0? (c) How many megabytes do {millions} million numbers take in this format?",
    )
    steps = (
        Step(f"(a) {16 * high + low} = {high} · 16 + {low}: the lower four bits are {low}, the upper four {high}.", 1),
        Step(f"(b) Number {index} is {show(scale)} · {low} + ({show(offset)}) = {show(first)}, and number {index + 16} "
             f"is {show(scale)} · {high} + ({show(offset)}) = {show(second)}.", 1),
        Step(f"(c) 20 bytes for 32 numbers are five bits each: {show(megabytes)} MB.", 1),
    )  # fmt: skip
    given = {"scale": scale, "offset": offset, "byte": 16 * high + low, "millions": millions}
    return Question(text, given, {"first": first, "second": second, "megabytes": megabytes}, steps)


@kind(19, LONG, "Bound by memory")
def memory_bound(draw: Random) -> Question:
    """The cache of a model from its configuration, and how many tokens per second its memory allows."""
    layers, groups = draw.choice([16, 20, 24, 32, 40]), draw.choice([2, 4, 8])
    features, length = draw.choice([64, 128]), 1000 * draw.choice([2, 4, 5, 10])
    billions, wide, times = draw.choice([1, 2, 3, 4, 7, 8]), draw.choice([1, 2]), draw.choice([5, 10, 20, 50])
    per_token = grouped_cache_bytes(layers, groups, features)
    cache, read = per_token * length / 1e6, billions * wide
    text = (
        f"A language model has {billions} billion weights of {8 * wide} bits. It has {layers} layers with {groups} "
        f"heads of keys and values with {features} features each, which are kept in 16 bits. The memory delivers "
        f"{read * times} GB per second.",
        f"(a) How many bytes of cache does one token need? (b) How many megabytes does the cache have after {length:,} "
        "tokens? (c) How many tokens per second can be written at most while the cache is still short? (d) A prompt of "
        "100 tokens is read at once. Why does this take much less than 100 times as long as one token?",
    )
    steps = (
        Step(f"(a) 2 · {layers} · {groups} · {features} · 2 = {per_token:,}.", 2),
        Step(f"(b) {length:,} times as many are {show(cache)} MB.", 1),
        Step(f"(c) Each token reads all {read} GB of weights, so at most {times} tokens per second.", 2),
        Step("(d) Each weight is fetched once and used for all 100 tokens; while one text is written, fetching is what "
             "takes the time.", 1),
    )  # fmt: skip
    given = {"layers": layers, "groups": groups, "features": features, "length": length, "billions": billions,
             "wide": wide, "bandwidth": read * times}  # fmt: skip
    return Question(text, given, {"per_token": per_token, "cache": cache, "per_second": times}, steps)


@kind(20, LONG, "A sum and the delta rule")
def sum_and_delta_rule(draw: Random) -> Question:
    """Three pairs are stored in a state of two numbers, by adding and by correcting."""
    values, third = distinct(draw, 1, 9, 3), draw.choice([[0.6, 0.8], [0.8, 0.6]])
    keys, always = tensor([[1.0, 0.0], [0.0, 1.0], third]), tensor([1.0])
    read = {}
    for name, step in {"sum": forgetting_step, "delta": delta_step}.items():
        memory = None
        for key, value in zip(keys, values, strict=True):
            _, memory = step(key[None], key[None], tensor([[value]]), always, memory)
        read[name] = floats(memory[0, :, 0]), floats((keys @ memory[0])[:, 0])  # type: ignore[index]
    before = round(third[0] * values[0] + third[1] * values[1], 9)
    (added, sums), (corrected, answers) = read["sum"], read["delta"]
    text = (
        f"A state S of two numbers receives the value {values[0]} under the key (1, 0), then {values[1]} under (0, 1), "
        f"and then {values[2]} under {vector(third)}.",
        "(a) What is S, and what does the third key read, if each value is added by S ← S + k v? (b) What is S by the "
        "delta rule with β = 1? (c) What do the first and the third key read then? (d) Why can't all three keys read "
        "their own values by the delta rule?",
    )
    steps = (
        Step(f"(a) S = {vector(added)}; the third key reads {show(sums[2])}.", 1),
        Step(f"(b) Before the third value its key reads {show(before)}. The difference is {show(values[2] - before)}, "
             f"and S = {vector(corrected)}.", 2),
        Step(f"(c) The first key reads {show(answers[0])}, the third {show(answers[2])}.", 2),
        Step("(d) In two dimensions at most two keys are orthogonal, so what is stored under the third changes what "
             "the others read.", 1),
    )  # fmt: skip
    found = {"added": added, "sum_reads": sums[2], "corrected": corrected, "reads": answers}
    return Question(text, {"values": values, "third": third}, found, steps)


@kind(20, SHORT, "A guess that is checked")
def checked_guess(draw: Random) -> Question:
    """How often a proposal is kept, what is drawn otherwise, and how many tokens one reading gives."""
    while True:
        model, draft = parts(draw, 10, 3), parts(draw, 10, 3)
        if len({m > d for m, d in zip(model, draft, strict=True)}) == 2:
            break
    p, q = tensor(model) / 10, tensor(draft) / 10
    kept = round(torch.minimum(p, q).sum().item(), 9)
    rest = floats((p - q).clamp(min=0) / (p - q).clamp(min=0).sum())
    tokens = round(1 + kept + kept**2, 9)
    text = (
        f"For the next of three words a model has the probabilities p = {vector(floats(p))} and a draft q = "
        f"{vector(floats(q))}. A word x that the draft proposes is kept with the probability min(1, p(x) / q(x)).",
        "(a) With which probability is a proposal kept? (b) With which probabilities is a word drawn if it is not "
        "kept? (c) The draft proposes two words, and each is kept with the probability of (a). How many tokens does "
        "one reading of the model give on average?",
    )
    steps = (
        Step(f"(a) The sum of the smaller ones of p and q: {show(kept)}.", 1),
        Step(f"(b) max(0, p − q), divided by its sum: {vector(rest)}.", 1),
        Step(f"(c) 1 + {show(kept)} + {show(kept)} · {show(kept)} = {show(tokens)}: the second counts only if the "
             "first is kept, and one token is the model's own.", 1),
    )  # fmt: skip
    return Question(text, {"model": model, "draft": draft}, {"kept": kept, "rest": rest, "tokens": tokens}, steps)
