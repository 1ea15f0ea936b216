"""Lab 19: GPT-2's tensors, laid out as our Block wants them."""

import torch

from misread.exercise import About, Exercise

from .names import file_names, map_names


def load_gpt2(tensors, names):
    """GPT-2's tensors {theirs: tensor}, and names {theirs: [ours, …]} -> {ours: tensor} for load_state_dict."""
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        if ours[0].startswith("blocks.layers.") and tensor.dim() == 2:
            tensor = tensor.T  # (in, out) -> (out, in)
        for name, part in zip(ours, tensor.chunk(len(ours)), strict=True):
            state[name] = part
    state["output.weight"] = state["embed.words.weight"]  # tied
    return state


def gpt2_shapes(words, positions, dim, inner):
    """The shape of a tensor by the end of its name."""
    return {
        "wte.weight": (words, dim), "wpe.weight": (positions, dim),
        "c_attn.weight": (dim, 3 * dim), "c_attn.bias": (3 * dim,),
        "attn.c_proj.weight": (dim, dim), "attn.c_proj.bias": (dim,),
        "c_fc.weight": (dim, inner), "c_fc.bias": (inner,),
        "mlp.c_proj.weight": (inner, dim), "mlp.c_proj.bias": (dim,),
        "attn.bias": (1, 1, positions, positions), "attn.masked_bias": (1,),
    }  # fmt: skip


def _file(draw, layers, words, positions, dim, inner, **options):
    """A random file, and the names of its tensors."""
    shapes = gpt2_shapes(words, positions, dim, inner)
    names = file_names(range(layers), **options)
    found = {
        name: draw.normal(*next((shape for end, shape in shapes.items() if name.endswith(end)), (dim,)))
        for name in names
    }
    if "lm_head.weight" in found:
        found["lm_head.weight"] = found["transformer.wte.weight"].clone()
    return found, map_names(names)


def _few(draw, *ends):
    """A file of one layer with two features, of which only the word vectors and what ends so are there: to be read."""
    tensors, names = _file(draw, 1, 3, 2, 2, 2, prefix="", masks=True)
    kept = [name for name in tensors if name.endswith(("wte.weight", *ends))]
    return {name: tensors[name] for name in kept}, {name: names[name] for name in kept if name in names}


def _files(draw):
    if draw.compact:
        yield _few(draw, "attn.c_proj.weight")
        yield _few(draw, "c_attn.bias")
        yield _few(draw, "c_attn.weight")
        yield _few(draw, "wpe.weight")
        yield _few(draw, "c_fc.weight", "mlp.c_proj.weight")
        yield _few(draw, "masked_bias")
        tensors, names = _few(draw, "wpe.weight")
        yield tensors, dict(reversed(names.items()))
    words, positions, dim, inner = draw.sizes(4)
    yield _file(draw, 1, words, positions, dim, inner)
    yield _few(draw, "attn.c_proj.weight")  # few enough to be read where an answer changes its inputs
    yield _file(draw, 1, 3, 2, 3, 4, prefix="")
    yield _file(draw, 1, 3, 2, 1, 4)
    yield _file(draw, 2, 3, 4, 2, 8, masks=True, head=True)
    tensors, names = _file(draw, 1, 4, 2, 2, 3, head=True)
    yield tensors | {"lm_head.weight": draw.normal(4, 2)}, names  # the rule counts, not what the file says
    tensors, names = _file(draw, 1, 2, 3, 2, 3)
    yield {name: tensor.half() for name, tensor in tensors.items()}, names  # the dtype is the file's
    yield _file(draw, 1, 3, 3, 3, 3)  # all matrices of it are square, except c_attn
    yield _file(draw, 1, 5, 4, 4, 2, masks=True)
    tensors, names = _file(draw, 2, 3, 2, 3, 4, masks=True)
    yield tensors, {theirs: ours for theirs, ours in names.items() if ".h.1." not in theirs}  # its first layer alone
    tensors, names = _file(draw, 2, 2, 3, 3, 5)
    keys = list(names)
    ordered = {name: tensors[name] for name in sorted(tensors)}  # the word vectors are not the first matrix
    yield ordered, {keys[i]: names[keys[i]] for i in draw.order(len(keys))}


LOAD_GPT2 = Exercise(
    load_gpt2,
    cases=_files,
    gradients=False,
    about=About(points=3, minutes=18, difficulty=3, read_again="Loading the weights"),
)

must = LOAD_GPT2.properties


def _wanted(names):
    return {ours for group in names.values() for ours in group} | {"output.weight"}


must("every name of ours is there", lambda result, tensors, names: result.keys() >= _wanted(names)).says("""
    Your result lacks a name. It must have every one of our names in the lists of `names`, and output.weight. If only
    some of the three names of c_attn are there, it was cut along an axis that gives fewer than three parts.""")
must("no other names", lambda result, tensors, names: result.keys() <= _wanted(names)).says("""
    Your result has a name that it must not have. It has our names, those in the lists of `names`, and output.weight;
    it has neither the file's names nor masks nor lm_head.weight.""")
must(
    "the output layer is tied",
    lambda result, tensors, names: torch.equal(result["output.weight"], result["embed.words.weight"]),
).says("""
    output.weight must be the word vectors, because GPT-2's output layer is tied to them.""")

_TURN = "            tensor = tensor.T  # (in, out) -> (out, in)"
_WHEN = 'if ours[0].startswith("blocks.layers.") and tensor.dim() == 2:'
_CHUNK = "tensor.chunk(len(ours))"
_TIED = '    state["output.weight"] = state["embed.words.weight"]  # tied\n'

wrong = LOAD_GPT2.mistakes
wrong("not transposed", {_WHEN: "if False:"}).says("""
    You left the matrices as the file has them. GPT-2 stores them as (in, out) and our nn.Linear as (out, in), so
    each matrix in a block must be transposed.""")
wrong("not transposed, inputs cut", {_WHEN: "if False:", ", strict=True": ""}).says("""
    You left the matrices as the file has them, so c_attn is cut along its inputs, which need not even give three
    parts. GPT-2 stores (in, out) and our nn.Linear (out, in): transpose each matrix in a block before you cut.""")
wrong("matrices as stored, outputs cut", {_WHEN: "if False:", _CHUNK: "tensor.chunk(len(ours), dim=-1)"}).says("""
    You cut c_attn along its outputs, which is right, but left the matrices as (in, out). Our nn.Linear has (out,
    in), so each matrix in a block must be transposed.""")
wrong("inputs cut instead of outputs", {_CHUNK: "tensor.chunk(len(ours), dim=-1)"}).says("""
    You cut c_attn along its inputs. Query, key and value are different *outputs* of the same input, so cut along
    the axis that has 3 · D numbers: the first one after transposing.""")
wrong("inputs cut, a part missing", {_CHUNK: "tensor.chunk(len(ours), dim=-1)", ", strict=True": ""}).says("""
    You cut c_attn along its inputs, of which there are D, so that parts have another shape, and some may be
    missing. Query, key and value are different *outputs*: cut along the axis that has 3 · D numbers, which is the
    last one in the file and the first one after transposing.""")
wrong("the word vectors transposed as well", {'ours[0].startswith("blocks.layers.") and ': ""}).says("""
    You transposed the word vectors and the positions as well. They are tables with one row per token or position,
    in the file and in our model. Only matrices in the blocks are transposed.""")
wrong(
    "every matrix named weight transposed", {'ours[0].startswith("blocks.layers.")': 'ours[0].endswith("weight")'}
).says("""
    You transposed every matrix whose name ends in "weight", and so the word vectors, too. They are a table with one row
    per token, in the file and in our model. Ask whether our name begins with "blocks.layers.".""")
wrong("reshaped, not transposed", {"tensor = tensor.T": "tensor = tensor.reshape(tensor.shape[::-1])"}).says("""
    You reshaped the matrices to (out, in), which keeps the order of the numbers and so mixes rows and columns. A
    transpose, tensor.T, exchanges the axes.""")
wrong(
    "square matrices not transposed",
    {_WHEN: 'if tensor.dim() == 2 and "blocks" in ours[0] and len({*tensor.shape}) > 1:'},
).says("""
    You left square matrices as they were. attn.c_proj fits either way round, so no error shows it, but it is
    stored as (in, out) like the others and must be transposed.""")
wrong("only c_attn transposed", {_WHEN: "if len(ours) == 3 and tensor.dim() == 2:"}).says("""
    You transposed c_attn alone. All matrices in the blocks are stored as (in, out): c_attn, both c_proj, and
    c_fc.""")
wrong(
    "c_attn not transposed",
    {
        _WHEN: 'if ours[0].startswith("blocks.layers.") and tensor.dim() == 2 and len(ours) == 1:',
        _CHUNK: "tensor.chunk(len(ours), dim=-1)",
    },
).says("""
    You transposed all matrices except c_attn. Its three parts must be (out, in), too.""")
wrong("every third row", {_CHUNK: "[tensor[i :: len(ours)] for i in range(len(ours))]"}).says("""
    You took every third output as the query. In GPT-2 the first D outputs are the query, the next D the key, and
    the last D the value.""")
wrong("query and value exchanged", {_CHUNK: f"{_CHUNK}[::-1]"}).says("""
    Your query is the last third of c_attn and your value the first one. The parts come in the order of the names:
    query, key, value.""")
wrong("the whole for each", {_CHUNK: "[tensor] * len(ours)"}).says("""
    You gave query, key and value the whole packed tensor. Each of them is one third of its outputs.""")
wrong("the first third for each", {_CHUNK: f"[{_CHUNK}[0]] * len(ours)"}).says("""
    You gave query, key and value the same third of c_attn. The first third is the query, the second the key, and
    the third the value.""")
wrong(
    "packed biases not cut", {_CHUNK: "(tensor.chunk(len(ours)) if tensor.dim() == 2 else [tensor] * len(ours))"}
).says("""
    You cut the packed matrix and not its bias. The bias of c_attn has 3 · D numbers as well: D for the query, D
    for the key, and D for the value.""")
wrong("everything cut into three", {_CHUNK: "tensor.chunk(3)", ", strict=True": ""}).says("""
    You cut every tensor into three parts. Only c_attn holds three; cut a tensor into as many parts as it has
    names of ours.""")
wrong("names in alphabetical order", {"zip(ours, ": "zip(sorted(ours), "}).says("""
    Your key is the first third of c_attn and your query the second, as when the three names are sorted. The parts
    come in the order of the list: query, key, value.""")
wrong("key, value, query", {_CHUNK: f"[{_CHUNK}[i] for i in ((1, 2, 0) if len(ours) == 3 else (0,))]"}).says("""
    Your query is the second third of c_attn, your key the last one and your value the first one. The parts come
    in the order of the names: query, key, value.""")
wrong("value, query, key", {_CHUNK: f"[{_CHUNK}[i] for i in ((2, 0, 1) if len(ours) == 3 else (0,))]"}).says("""
    Your query is the last third of c_attn, your key the first one and your value the second one. The parts come
    in the order of the names: query, key, value.""")
wrong("tensors and names paired by their order", {
    "theirs, ours in names.items()": "theirs, ours in zip([n for n in tensors if n in names], names.values())"
}).says("""
    You paired the tensors and the names by their order, and the two dictionaries need not have the same one. Look
    each tensor up by its name: tensors[theirs].""")  # fmt: skip
wrong("positions transposed as well", {_WHEN: 'if tensor.dim() == 2 and ours[0] != "embed.words.weight":'}).says("""
    You transposed the positions as well. They are a table with one row per position, in the file and in our
    model. Only matrices in the blocks are transposed.""")
wrong("transposed by the beginning of the file's names", {
    _WHEN: 'if theirs.startswith("transformer.h.") and tensor.dim() == 2:', ", strict=True": ""
}).says("""
    You recognised matrices in the blocks by "transformer.h." in front, which the published files of GPT-2 don't
    have, so that their matrices stay as they are. Our names are the same for all files: they begin with
    "blocks.layers.".""")  # fmt: skip
wrong(
    "tensors without names stop it",
    {"theirs, ours in names.items()": "theirs, ours in ((t, names[t]) for t in tensors)"},
).says("""
    Your function stops with a KeyError at a tensor that has no entry in `names`, such as a mask or lm_head.weight.
    The file may hold more than our model has a place for, so go through `names` and not through `tensors`.""")
for one, name, files, other in (
    ("one name", "transformer.wte.weight", "the published files of GPT-2 call it", "wte.weight"),
    (
        "the published name",
        "wte.weight",
        "a file that the library transformers writes calls it",
        "transformer.wte.weight",
    ),
):
    wrong(f"the word vectors looked up by {one}", {
        'state["embed.words.weight"]  ': f'tensors["{name}"]  '
    }).says(f"""
        Your function stops with a KeyError at {name}, because {files}
        {other}. Under our name the word vectors are always the same: state["embed.words.weight"].""")  # fmt: skip
wrong("tied before the word vectors are there", {
    _TIED: "", "            state[name] = part\n":
    '            state[name] = part\n            state["output.weight"] = state["embed.words.weight"]\n'
}).says("""
    Your function stops with a KeyError at embed.words.weight, because it ties the output layer within the loop,
    when the word vectors may not be there yet. The names come in any order, so tie it after the loop.""")  # fmt: skip
wrong("the output layer as the file has it", {
    'state["embed.words.weight"]  ': 'tensors.get("lm_head.weight", state["embed.words.weight"])  '
}).says("""
    You took output.weight from the file where it has lm_head.weight. In our model the output layer is tied: it is
    the tensor of embed.words.weight, whatever else the file holds.""")  # fmt: skip
wrong("the output layer looked up in the file", {
    'state["embed.words.weight"]  ': 'tensors["lm_head.weight"]  '
}).says("""
    Your function stops with a KeyError at lm_head.weight, which not every file has. The output layer is tied, so
    output.weight is always the tensor of the word vectors: state["embed.words.weight"].""")  # fmt: skip
wrong("turned into single precision", {"tensor = tensors[theirs]": "tensor = tensors[theirs].float()"}).says("""
    You converted the tensors to float32. Each tensor keeps the dtype that it has in the file, and load_state_dict
    converts it where the model has another one.""")
wrong("not tied", {_TIED: ""}).says("""
    Your result has no output.weight. GPT-2's output layer is tied to the word vectors, so the file has no tensor
    of its own for it; our name must be given the word vectors.""")
wrong("the output layer transposed", {"# tied": "", '["embed.words.weight"]  ': '["embed.words.weight"].T'}).says("""
    You transposed the word vectors for the output layer. nn.Linear keeps (out, in) = (V, D), which is the shape
    that the word vectors have already.""")
wrong("only the first name", {"zip(ours, ": "zip(ours[:1], ", ", strict=True": ""}).says("""
    You filled only the first of several names. c_attn belongs to three of ours, so cut it into three parts.""")
_OTHERS = "{theirs: tensor for theirs, tensor in tensors.items() if theirs not in names}"
wrong("names made anew from the file", lambda tensors, names: load_gpt2(tensors, map_names(list(tensors)))).says("""
    Your result has names that are not in `names`, because you took them from another source, such as a table of
    your own or `map_names`. Use the names that are given: a tensor of the file that is not in `names` is ignored.""")
wrong("masks kept", {"    return state": f"    return state | {_OTHERS}"}).says("""
    You added tensors that are not in `names`. The file may hold masks and lm_head.weight, which our model has no
    place for, so go through `names` and not through `tensors`.""")
wrong(
    "only the attention's matrices transposed", {_WHEN: 'if ".self_attention." in ours[0] and tensor.dim() == 2:'}
).says("""
    You transposed the matrices of the attention and not those of the feed-forward sublayer. All matrices in the
    blocks are stored as (in, out).""")
wrong(
    "only the feed-forward's matrices transposed",
    {_WHEN: 'if ".feed_forward." in ours[0] and tensor.dim() == 2:', _CHUNK: "tensor.chunk(len(ours), dim=-1)"},
).says("""
    You transposed the matrices of the feed-forward sublayer and not those of the attention. All matrices in the
    blocks are stored as (in, out).""")
wrong("the output layer under GPT-2's name", {'state["output.weight"]': 'state["lm_head.weight"]'}).says("""
    You called the output layer lm_head.weight, as GPT-2 does. In our model its name is output.weight.""")
wrong("key and value exchanged", {_CHUNK: f"[{_CHUNK}[i] for i in ((0, 2, 1) if len(ours) == 3 else (0,))]"}).says("""
    You exchanged key and value. The three parts come in the order of the names: query, key, value.""")
