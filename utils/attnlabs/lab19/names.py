"""Lab 19: what GPT-2's files call a tensor, and what our Block calls the same."""

from misread.exercise import About, Exercise


def map_names(names):
    """GPT-2's names of tensors -> for each of them our names: {theirs: [ours, …]}."""
    outside = {
        "wte.weight": "embed.words.weight",
        "wpe.weight": "embed.add_positions.vectors",
        "ln_f.weight": "blocks.last_norm.weight",
        "ln_f.bias": "blocks.last_norm.bias",
    }
    inside = {
        "ln_1": ["norm_self"],
        "attn.c_attn": [f"self_attention.project_{part}" for part in ("query", "key", "value")],
        "attn.c_proj": ["self_attention.project_output"],
        "ln_2": ["norm_feed_forward"],
        "mlp.c_fc": ["feed_forward.widen"],
        "mlp.c_proj": ["feed_forward.narrow"],
    }
    found = {}
    for name in names:
        short = name.removeprefix("transformer.")
        if short in outside:
            found[name] = [outside[short]]
        elif short.startswith("h."):
            _, layer, rest = short.split(".", 2)  # "h.3.mlp.c_fc.bias" -> "3", "mlp.c_fc.bias"
            part, _, kind = rest.rpartition(".")  # "mlp.c_fc", "bias"
            found |= {name: [f"blocks.layers.{layer}.{ours}.{kind}" for ours in inside[part]]} if part in inside else {}
    return found


INSIDE = ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
OUTSIDE = ("wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias")
MASKS = ("attn.bias", "attn.masked_bias")  # stored by old files: the causal mask, and a number
MASKS_AT_THE_END = tuple(f".{mask}" for mask in MASKS)  # "attn.c_attn.bias" ends in "attn.bias", too
OUR_BEGINNINGS = ("blocks.", "embed.")


def file_names(layers, prefix="transformer.", masks=False, head=False):
    """All names of a file of GPT-2 with these layers, a range."""
    parts = [f"{part}.{kind}" for part in INSIDE for kind in ("weight", "bias")] + list(MASKS) * masks
    names = [*OUTSIDE, *(f"h.{layer}.{part}" for layer in layers for part in parts)]
    return [f"{prefix}{name}" for name in names] + ["lm_head.weight"] * head


def _files(draw):
    yield (file_names(range(1)),)
    yield (file_names(range(2), "", masks=True),)  # as the published files of GPT-2 have them
    yield (file_names(range(draw.integer(2, 4)), masks=True, head=True),)
    yield (file_names(range(9, 12)),)  # two digits
    names = file_names(range(3), masks=True, head=True)
    yield ([names[i] for i in draw.order(len(names))],)  # in any order
    yield (["lm_head.weight", *file_names(range(1))],)  # what stands in front says nothing of the others
    yield (["h.0.attn.c_attn.bias"],)
    yield (["transformer.h.1.mlp.c_proj.weight", "transformer.h.1.attn.c_proj.weight"],)
    yield (["transformer.h.4.ln_2.bias", "transformer.h.4.ln_1.bias", "transformer.h.4.attn.bias"],)
    yield (["wpe.weight", "wte.weight", "lm_head.weight"],)
    yield ([f"h.{draw.integer(100, 1000)}.{part}.weight" for part in INSIDE],)
    yield ([],)


MAP_NAMES = Exercise(
    map_names,
    cases=_files,
    gradients=False,
    device=False,
    about=About(points=2, minutes=20, difficulty=2, read_again="Loading the weights"),
)


def _ours(result):
    return [name for names in result.values() for name in names]


must = MAP_NAMES.properties
must(
    "from the file's names to ours", lambda result, names: not any(key.startswith(OUR_BEGINNINGS) for key in result)
).says("""
    Your keys are our names. The result goes from the file's names to ours: {theirs: [ours, …]}.""")
must("every key is a name of the list", lambda result, names: result.keys() <= set(names)).says("""
    Your result has a key that is not in `names`. Go through the names that were given, which need not be all of a
    file, and take each as the key exactly as it is, with "transformer." where it has it.""")
must("no masks", lambda result, names: not any(key.endswith(MASKS_AT_THE_END) for key in result)).says("""
    Your result has an entry for `attn.bias` or `attn.masked_bias`. They are no weights but a stored causal mask
    and a number, and our model has no place for them, so they have no entry at all, not even an empty list.""")
must("no output layer", lambda result, names: not any("lm_head" in key for key in result)).says("""
    Your result has an entry for lm_head.weight. It is the same tensor as wte.weight, so it has no entry at all,
    not even an empty list.""")
must(
    "three names for c_attn", lambda result, names: all(len(ours) == 3 for n, ours in result.items() if ".c_attn." in n)
).says("""
    c_attn holds query, key and value packed into one tensor, so its list must have three entries: one name each.""")
must(
    "all of ours begin as our model's do",
    lambda result, names: all(n.startswith(OUR_BEGINNINGS) for n in _ours(result)),
).says("""
    Each of our names begins with "embed." or "blocks.", and some of yours begin otherwise.""")
must("no name of ours twice", lambda result, names: len(_ours(result)) == len(set(_ours(result)))).says("""
    Each of our names must occur once only, because it belongs to one tensor.""")

_LAYER = "blocks.layers.{layer}."
_KEPT = 'f"blocks.layers.{layer}.{ours}.{kind}" for ours in inside[part]'
_ELSE = "if part in inside else {}"

wrong = MAP_NAMES.mistakes
wrong("norms exchanged", {'"ln_1": ["norm_self"]': '"ln_1": ["norm_feed_forward"]',
                          '"ln_2": ["norm_feed_forward"]': '"ln_2": ["norm_self"]'}).says("""
    You exchanged the two norms of a block. GPT-2's ln_1 stands before the attention, our norm_self, and ln_2
    before the feed-forward sublayer. Both have the same shape, so nothing but the text would show it.""")  # fmt: skip
wrong("the two c_proj exchanged", {
    '"attn.c_proj": ["self_attention.project_output"]': '"attn.c_proj": ["feed_forward.narrow"]',
    '"mlp.c_proj": ["feed_forward.narrow"]': '"mlp.c_proj": ["self_attention.project_output"]',
}).says("""
    You exchanged the two tensors that are called c_proj. The one in `attn` is the attention's output projection,
    and the one in `mlp` is the second matrix of the feed-forward sublayer.""")  # fmt: skip
wrong("mlp.c_proj under the name of attn.c_proj", {
    '"mlp.c_proj": ["feed_forward.narrow"]': '"mlp.c_proj": ["self_attention.project_output"]',
}).says("""
    You gave mlp.c_proj the name of the attention's output projection, which belongs to attn.c_proj. The part
    before the point tells them apart: mlp.c_proj is our feed_forward.narrow.""")  # fmt: skip
wrong("attn.c_proj under the name of mlp.c_proj", {
    '"attn.c_proj": ["self_attention.project_output"]': '"attn.c_proj": ["feed_forward.narrow"]',
}).says("""
    You gave attn.c_proj the name of the second feed-forward matrix, which belongs to mlp.c_proj. The part before
    the point tells them apart: attn.c_proj is our self_attention.project_output.""")  # fmt: skip
wrong("widen and narrow exchanged", {
    '"mlp.c_fc": ["feed_forward.widen"]': '"mlp.c_fc": ["feed_forward.narrow"]',
    '"mlp.c_proj": ["feed_forward.narrow"]': '"mlp.c_proj": ["feed_forward.widen"]',
}).says("""
    You exchanged the two matrices of the feed-forward sublayer. c_fc comes first and widens, c_proj comes second
    and brings the features back to D.""")  # fmt: skip
wrong("another order of query, key and value", {'("query", "key", "value")': '("key", "query", "value")'}).says("""
    Your three names for c_attn have the key first. GPT-2 packs query, key and value in this order.""")
wrong("key, value, query", {'("query", "key", "value")': '("key", "value", "query")'}).says("""
    Your three names for c_attn begin with the key and end with the query. GPT-2 packs query, key and value in
    this order.""")
wrong("value, query, key", {'("query", "key", "value")': '("value", "query", "key")'}).says("""
    Your three names for c_attn begin with the value, and the query follows. GPT-2 packs query, key and value in
    this order.""")
wrong("value first", {'("query", "key", "value")': '("value", "key", "query")'}).says("""
    Your three names for c_attn begin with the value. GPT-2 packs query, key and value in this order.""")
wrong("only the query of c_attn", {'("query", "key", "value")': '("query",)'}).says("""
    You gave c_attn one name only. It holds three projections in one tensor, so its list has three names: those of
    query, key and value.""")
wrong(
    "c_attn left out",
    {_KEPT: _KEPT + ' if part != "attn.c_attn"', _ELSE: 'if part in inside and part != "attn.c_attn" else {}'},
).says("""
    You left c_attn out. It holds query, key and value packed into one tensor, so its list has three names.""")
wrong("masks kept", {_ELSE: 'if part in inside else {name: [f"blocks.layers.{layer}.{rest}"]}'}).says("""
    You kept `attn.bias` and `attn.masked_bias`. They are no weights but a stored causal mask and a number, and
    our model has nothing of these names, so leave them out.""")
wrong(
    "all biases left out", {"for name in names:": "for name in [n for n in names if not n.endswith('bias')]:"}
).says("""
    You left out everything that ends in "bias". Only `attn.bias` and `attn.masked_bias` are masks; the other
    biases are weights of the model.""")
wrong(
    "c_attn.bias taken for a mask",
    {"for name in names:": "for name in [n for n in names if not n.endswith('attn.bias')]:"},
).says("""
    You left out c_attn.bias together with the masks, because "attn.c_attn.bias" ends in "attn.bias" as well. It
    is a weight with three names of ours. Compare the whole part between the points, or ask for ".attn.bias".""")
wrong("masks stop it", {f" {_ELSE}": ""}).says("""
    Your function stops with a KeyError at `attn.bias` or `attn.masked_bias`, for which your dictionary has no
    entry. Our model has no place for these names, so ask with `in` whether a name is known, and leave it out if
    it isn't.""")
wrong("the output layer stops it", {"if short in outside:": 'if not short.startswith("h."):'}).says("""
    Your function stops with a KeyError at lm_head.weight, for which your dictionary has no entry. Our model has
    no place for this name, so ask with `in` whether a name is known, and leave it out if it isn't.""")
wrong("unknown names stop it", {
    f" {_ELSE}": "", "if short in outside:": 'if not short.startswith("h."):'
}).says("""
    Your function stops with a KeyError at names for which your dictionaries have no entry: lm_head.weight and the
    masks. Ask with `in` whether a name is known, and leave it out if it isn't.""")  # fmt: skip
wrong("one digit of the layer", {_LAYER: "blocks.layers.{layer[0]}."}).says("""
    You used only the first digit of the layer's number, so that layers 1, 10 and 11 have the same names. Split
    the name at its points instead.""")
wrong("last digit of the layer", {_LAYER: "blocks.layers.{layer[-1]}."}).says("""
    You used only the last digit of the layer's number, so that layers 1 and 11 have the same names. Split the
    name at its points instead.""")
wrong("layers counted from 1", {_LAYER: "blocks.layers.{int(layer) + 1}."}).says("""
    You counted the layers from 1. Both the file and our model count them from 0, so the number stays as it is.""")
_HEAD = 'found |= {name: ["output.weight"]} if name == "lm_head.weight" else {}'
wrong("the output layer kept", {"    for name in names:": f"    for name in names:\n        {_HEAD}"}).says("""
    You kept lm_head.weight. It is the same tensor as wte.weight, which most files store only once, so our output
    layer is tied to the word vectors later.""")
wrong(
    "the word vectors twice",
    {"found[name] = [outside[short]]": 'found[name] = [outside[short]] + ["output.weight"] * (short == "wte.weight")'},
).says("""
    You gave wte.weight a second name, output.weight. The list has several names only where a tensor is cut into
    parts; the output layer is tied to the word vectors in the next exercise.""")
wrong("positions with a weight", {"embed.add_positions.vectors": "embed.add_positions.weight"}).says("""
    You called our positions embed.add_positions.weight. They are a parameter of their own:
    embed.add_positions.vectors.""")
wrong("words and positions exchanged", {
    '"wte.weight": "embed.words.weight"': '"wte.weight": "embed.add_positions.vectors"',
    '"wpe.weight": "embed.add_positions.vectors"': '"wpe.weight": "embed.words.weight"',
}).says("""
    You exchanged word vectors and positions. In wte the t stands for tokens, and in wpe the p stands for
    positions.""")  # fmt: skip
wrong(
    "keys without their beginning", {"found[name] =": "found[short] =", "found |= {name:": "found |= {short:"}
).says("""
    You removed "transformer." from the keys of the result, too. A key must be the name as the file has it, so
    that the tensor can be found by it.""")
wrong("names without a beginning only", {'name.removeprefix("transformer.")': "name"}).says("""
    You found only names without "transformer." in front. The published files of GPT-2 don't have it, but files
    that the library transformers writes do, so remove it where it is there.""")
wrong(
    "names with a beginning only",
    {"for name in names:": 'for name in [n for n in names if n.startswith("transformer.")]:'},
).says("""
    You found only names that begin with "transformer.". The published files of GPT-2 don't have it, so remove
    it where it is there, and go on in any case.""")
_BEGINNING = 'name.removeprefix("transformer." if {} else "")'
wrong("the first name decides about the beginning", {
    'name.removeprefix("transformer.")': _BEGINNING.format('any(n.startswith("transformer.") for n in names[:1])')
}).says("""
    You asked the first name whether "transformer." is in front. The first name may be lm_head.weight, which never has
    it, although the others do: remove it from each name by itself, where it is there.""")  # fmt: skip
wrong("the beginning removed only if all names have it", {
    'name.removeprefix("transformer.")': _BEGINNING.format('all(n.startswith("transformer.") for n in names)')
}).says("""
    You asked whether all names have "transformer." in front. lm_head.weight never has it, although the others do:
    remove it from each name by itself, where it is there.""")  # fmt: skip
wrong("a name instead of a list", {"[outside[short]]": "outside[short]"}).says("""
    The word vectors, the positions and the last norm have a plain name in your result. Every value is a list,
    also where there is only one name in it.""")
wrong(
    "the other way round",
    {"return found": "return {ours: [theirs] for theirs, names in found.items() for ours in names}"},
).says("""
    Your keys are our names. The result goes from the file's names to ours: {theirs: [ours, …]}.""")
wrong("kind lost", {".{ours}.{kind}": ".{ours}.weight"}).says("""
    All your names in the blocks end in ".weight". The last part of the file's name, weight or bias, must be kept.""")
wrong("value before key", {'("query", "key", "value")': '("query", "value", "key")'}).says("""
    Your three names for c_attn have the value before the key. GPT-2 packs query, key and value in this order.""")
wrong("without weight and bias", {".{ours}.{kind}": ".{ours}"}).says("""
    Your names in the blocks end without ".weight" or ".bias", so that two tensors have the same name. Keep the
    last part of the file's name.""")
wrong("only weights in the blocks", {_ELSE: 'if part in inside and kind == "weight" else {}'}).says("""
    You left out the biases in the blocks. Only `attn.bias` is no weight; the biases of norms and projections are.""")
wrong("letters instead of names", {"[outside[short]]": "list(outside[short])"}).says("""
    You made a list of the letters of a name, which is what list("…") does. The list has one entry: [name].""")
wrong("no norm at the end", {"if short in outside:": 'if short in outside and not short.startswith("ln_f"):'}).says("""
    You left out the norm after the last block, ln_f.weight and ln_f.bias.""")
wrong("layers left out of the name", {_LAYER: "blocks.{layer}."}).says("""
    Your names begin with "blocks." and the number of the layer. Ours have "layers" between them: blocks.layers.3.""")
