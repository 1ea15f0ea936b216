"""Lab 20: the bytes of a cache, from a model's configuration."""

from misread.exercise import About, Exercise


def grouped_cache_bytes(config, tokens):
    """Bytes of all keys and values that a model keeps after so many tokens of one text: -> a whole number."""
    everywhere = config["layers"] - config["local_layers"]
    kept = everywhere * tokens + config["local_layers"] * min(tokens, config["window"])  # positions, over all layers
    numbers = 2 * kept * config["key_value_heads"] * config["head_features"]  # 2: a key and a value
    return numbers * config["bits"] // 8


def _config(layers, heads, key_value_heads, head_features, bits=16, local_layers=0, window=0):
    return {
        "layers": layers, "local_layers": local_layers, "window": window, "heads": heads,
        "key_value_heads": key_value_heads, "head_features": head_features, "bits": bits,
    }  # fmt: skip


def _models(draw):
    layers, group, key_value_heads = draw.sizes(3)
    features = 8 * draw.integer(1, 9)
    yield _config(layers, group * key_value_heads, key_value_heads, features), draw.integer(2, 100)
    yield _config(layers + 3, group * key_value_heads, key_value_heads, features, 32, layers, 5), draw.integer(6, 60)
    yield _config(3, 4, 2, 8, 16, 2, 4), 4  # the window is just full
    yield _config(3, 4, 2, 8, 16, 2, 4), 5
    yield _config(3, 6, 2, 16, 8, 1, 9), 1  # one token
    yield _config(2, 6, 3, 4, 4), 3  # four bits
    yield _config(1, 1, 1, 3, 4), 3  # eighteen numbers: no whole bytes before they are multiplied by the bits
    yield _config(5, 8, 1, 8, 4, 3, 7), 20
    yield _config(4, 4, 4, 16, 16, 4, 6), 50  # local layers only
    yield _config(1, 1, 1, 8, 8), 1
    yield _config(30, 9, 3, 64, 32), 1000 * draw.integer(1, 100)  # SmolLM2
    yield _config(48, 16, 8, 256, 16, 40, 1024), 100_000  # Gemma 3 12B
    yield _config(24, 64, 8, 64, 16, 12, 128), 1000 + draw.integer(0, 1000)  # gpt-oss-20b


GROUPED_CACHE_BYTES = Exercise(
    grouped_cache_bytes,
    cases=_models,
    gradients=False,
    device=False,
    about=About(points=2, minutes=12, difficulty=2, read_again="The cache, by hand"),
)

must = GROUPED_CACHE_BYTES.properties
must("a whole number of bytes above 0", lambda result, *args: result > 0 and result == int(result)).says("""
    In every model of this exercise the numbers fill whole bytes, so your result must be a whole number above 0.""")

_BYTES, _LOCAL = 'numbers * config["bits"] // 8', 'config["local_layers"] * min(tokens, config["window"])'
_KEPT = f"everywhere * tokens + {_LOCAL}"
_KV, _FEATURES, _TWO = 'config["key_value_heads"]', 'config["head_features"]', "2 * kept"

wrong = GROUPED_CACHE_BYTES.mistakes
wrong("the 2 forgotten", {_TWO: "kept"}).says("""
    You counted one vector per head and position. A cache keeps two of them, a key and a value, so there is a
    factor of 2.""")
wrong("a factor of 3", {_TWO: "3 * kept"}).says("""
    You counted queries as well. No query is kept, because a query is needed only once, at its own position. The
    factor is 2, for a key and a value.""")
wrong("query heads", {_KV: 'config["heads"]'}).says("""
    You multiplied by the number of *query* heads. Heads of queries share the heads of keys and values, and only
    these are kept: multiply by `key_value_heads`.""")
wrong("heads per group", {_KV: '(config["heads"] // config["key_value_heads"])'}).says("""
    You multiplied by how many query heads share a head of keys and values. What counts is how many heads of keys
    and values there are: `key_value_heads`.""")
wrong("query heads and heads of keys and values", {_KV: '(config["heads"] + config["key_value_heads"])'}).says("""
    You added the query heads to the heads of keys and values. No query is kept, so `heads` does not occur in the
    formula.""")
wrong("query heads times heads of keys and values", {_KV: 'config["key_value_heads"] * config["heads"]'}).says("""
    You multiplied by `heads` as well as by `key_value_heads`. Query heads share what is kept, so `heads` does
    not occur in the formula.""")
wrong("one head", {_KV: "1"}).says("""
    You left the number of heads out. Each head of keys and values keeps vectors of its own, so multiply by
    `key_value_heads`.""")
wrong("bits for bytes", {_BYTES: 'numbers * config["bits"]'}).says("""
    Your result is in bits. A byte has 8 bits, so divide by 8.""")
wrong("bits for bytes, the 2 forgotten", {_BYTES: 'numbers * config["bits"]', _TWO: "kept"}).says("""
    Your result is in bits, and you counted one vector instead of two. A byte has 8 bits, and a cache keeps a key
    and a value.""")
wrong("query heads, the 2 forgotten", {_KV: 'config["heads"]', _TWO: "kept"}).says("""
    You multiplied by the number of *query* heads, and you counted one vector instead of two. Only
    `key_value_heads` heads are kept, each with a key and a value.""")
wrong("how many numbers", {_BYTES: "numbers"}).says("""
    You counted the numbers that are kept. Each of them has `bits` bits, which are bits / 8 bytes.""")
wrong("rounded to whole bytes per number", {_BYTES: 'numbers * (config["bits"] // 8)'}).says("""
    You rounded bits / 8 down before you multiplied, so that a number of 4 bits takes no byte at all. Two such
    numbers share a byte: multiply first, and divide by 8 at the end.""")
wrong("at least one byte per number", {_BYTES: 'numbers * max(config["bits"] // 8, 1)'}).says("""
    You counted at least one byte for each number. Two numbers of 4 bits share a byte, so multiply first, and
    divide by 8 at the end.""")
wrong("rounded to whole bytes per key", {_FEATURES: f'({_FEATURES} * config["bits"] // 8)', _BYTES: "numbers"}).says("""
    You rounded the bytes of one key down before you multiplied, so that three numbers of 4 bits take one byte. Multiply
    first, and divide by 8 at the end.""")
wrong("divided by 8 before the bits", {_BYTES: 'numbers // 8 * config["bits"]'}).says("""
    You divided by 8 with `//` before you multiplied by `bits`, which rounds down wherever the numbers are no multiple
    of 8. Multiply first, and divide by 8 at the end.""")
wrong("a millionth too much", {_BYTES: 'numbers * config["bits"] / 8 * (1 + 1e-6)'}).says("""
    Your result is a millionth too large, so that it is no whole number of bytes. Nothing has to be added or made
    safe here: whole numbers are multiplied, and the product is divided by 8.""")
wrong("four bytes whatever", {_BYTES: "numbers * 4"}).says("""
    You counted four bytes per number, which is float32. How many bits a number has is said by `bits`.""")
wrong("two bytes whatever", {_BYTES: "numbers * 2"}).says("""
    You counted two bytes per number, which is bfloat16. How many bits a number has is said by `bits`.""")
wrong("window ignored", {_KEPT: 'config["layers"] * tokens'}).says("""
    In your result every layer keeps all tokens. A local layer keeps its window only: the smaller one of `tokens`
    and `window`.""")
_ALL = 'config["layers"] * tokens'
wrong("query heads, window ignored", {_KEPT: _ALL, _KV: 'config["heads"]'}).says("""
    You multiplied by the number of *query* heads, and in your result every layer keeps all tokens. Only
    `key_value_heads` heads are kept, and a local layer keeps its window only.""")
wrong("the 2 forgotten, window ignored", {_KEPT: _ALL, _TWO: "kept"}).says("""
    You counted one vector instead of a key and a value, and in your result every layer keeps all tokens. There
    is a factor of 2, and a local layer keeps its window only.""")
wrong("bits for bytes, window ignored", {_KEPT: _ALL, _BYTES: 'numbers * config["bits"]'}).says("""
    Your result is in bits, and every layer keeps all tokens in it. Divide by 8, and let a local layer keep its
    window only.""")
wrong(
    "no parentheses around the other layers", {_KEPT: f'config["layers"] - config["local_layers"] * tokens + {_LOCAL}'}
).says("""
    You wrote `layers - local_layers * tokens` without parentheses, where Python multiplies first. It is
    (`layers` − `local_layers`) · `tokens`.""")
wrong("every layer local", {_KEPT: 'config["layers"] * min(tokens, config["window"] or tokens)'}).says("""
    In your result every layer keeps a window only. The other layers, `layers` − `local_layers`, keep all tokens.""")
wrong(
    "every layer local, and nothing without a window", {_KEPT: 'config["layers"] * min(tokens, config["window"])'}
).says("""
    In your result every layer keeps a window only, and so nothing at all where `window` is 0. Only the `local_layers`
    have a window. The other layers, `layers` − `local_layers`, keep all tokens.""")
wrong("local layers counted twice", {_KEPT: f'config["layers"] * tokens + {_LOCAL}'}).says("""
    You counted the local layers twice, once with all tokens and once with their window. `layers` counts all
    layers, so `layers` − `local_layers` of them keep all tokens.""")
wrong("local layers keep nothing", {_KEPT: "everywhere * tokens"}).says("""
    In your result local layers keep nothing. They keep the last tokens, as many as their window has.""")
wrong("only the local layers", {_KEPT: _LOCAL}).says("""
    You counted the local layers alone. The other layers keep all tokens.""")
wrong("local and other layers exchanged", {
    _KEPT: 'config["local_layers"] * tokens + everywhere * min(tokens, config["window"])'
}).says("""
    You exchanged the two kinds of layers. The `local_layers` keep a window, and the others keep all
    tokens.""")  # fmt: skip
wrong("a full window from the beginning", {'min(tokens, config["window"])': 'config["window"]'}).says("""
    Your local layers keep a full window even if there are fewer tokens. After 3 tokens a window of 1,024 holds
    3.""")
wrong("the larger one", {"min(tokens": "max(tokens"}).says("""
    You took the larger one of `tokens` and `window`. A layer can keep no more than there is, and a local layer
    no more than its window: take the smaller one.""")
wrong("one more than the window", {'config["window"])': 'config["window"] + 1)'}).says("""
    Your local layers keep one token more than their window. The window counts the present token as well.""")
wrong("one less than the window", {'config["window"])': 'max(config["window"] - 1, 0))'}).says("""
    Your local layers keep one token less than their window. The window counts the present token as well, and its key
    and value are kept, too.""")
wrong("one window for all local layers", {_LOCAL: 'min(tokens, config["local_layers"] * config["window"])'}).says("""
    You took the minimum once for all local layers. Each of them keeps min(tokens, window) positions: multiply this
    number by `local_layers`.""")
wrong("one local layer", {_LOCAL: 'min(tokens, config["window"])'}).says("""
    You counted a single local layer. Each of the local layers keeps its own window, so multiply min(tokens, window) by
    `local_layers`.""")
wrong("a window in every layer, too", {_LOCAL: _LOCAL.replace("local_layers", "layers")}).says("""
    You multiplied the window by the number of all layers. Only the `local_layers` keep a window; the other layers keep
    all tokens, and they are counted already.""")
wrong("query, key and value kept", {_TWO: "kept", _KV: '(2 * config["key_value_heads"] + config["heads"])'}).says("""
    You counted the queries of all query heads as well. No query is kept, because a query is needed only once, at its
    own position.""")
wrong("per token", {"everywhere * tokens": "everywhere", '* min(tokens, config["window"])': ""}).says("""
    You computed the bytes of one token. Wanted are the bytes of the whole cache after `tokens` tokens.""")
wrong("one token more", {"everywhere * tokens": "everywhere * (tokens + 1)"}).says("""
    You counted one token too many. After 5 tokens, 5 positions are kept.""")
wrong("one token more in all layers", {
    "everywhere * tokens": "everywhere * (tokens + 1)", "min(tokens,": "min(tokens + 1,"
}).says("""
    You counted one token too many, as if the next one were kept already. After 5 tokens, 5 positions are kept, that of
    the last one included.""")  # fmt: skip
wrong("one token less", {"everywhere * tokens": "everywhere * (tokens - 1)"}).says("""
    You counted one token too few. After 5 tokens, 5 positions are kept, that of the last one included.""")
wrong("one token less in all layers", {
    "everywhere * tokens": "everywhere * (tokens - 1)", "min(tokens,": "min(tokens - 1,"
}).says("""
    You counted one token too few, as if the newest one were not kept. After 5 tokens, 5 positions are
    kept, that of the last one included.""")  # fmt: skip
wrong("one position less in all layers", {
    "everywhere * tokens": "everywhere * (tokens - 1)", 'min(tokens, config["window"])':
    '(min(tokens, config["window"]) - 1)'
}).says("""
    You counted one position too few in every layer. After 5 tokens, 5 positions are kept, that of the
    last one included, and a full window holds as many as `window` says.""")  # fmt: skip
wrong("one layer", {
    "kept = everywhere": 'kept = (everywhere > 0)', 'config["local_layers"] * min': '(config["local_layers"] > 0) * min'
}).says("""
    You left the number of layers out. Every layer has keys and values of its own.""")  # fmt: skip
wrong("features left out", {f" * {_FEATURES}": ""}).says("""
    You left `head_features` out. A key is not one number, but a vector of `head_features` numbers.""")
wrong("features divided by the heads", {_FEATURES: '(config["head_features"] // config["key_value_heads"])'}).says("""
    You divided `head_features` by the number of heads. It is already the number of features of one head.""")
wrong("features divided by the query heads", {_FEATURES: '(config["head_features"] // config["heads"])'}).says("""
    You divided `head_features` by the number of query heads. It is already the number of features of one head.""")
_REST = 'config["key_value_heads"] * config["head_features"] * config["bits"] // 8'
wrong("no parentheses around the sum", "\n".join([
    'other = config["layers"] - config["local_layers"]',
    f"return 2 * other * tokens + {_LOCAL} * {_REST}",
])).says("""
    You added the two numbers of positions without parentheses, so that only the local layers were multiplied by the
    heads, the features and the bits. The whole sum is multiplied.""")  # fmt: skip
wrong("local layers without the 2", {_TWO: f"(2 * everywhere * tokens + {_LOCAL})"}).says("""
    You counted a key and a value for the layers that keep all tokens, and one vector for the local ones. The factor of
    2 belongs to the sum of both.""")
wrong("a weight for each pair", {"everywhere * tokens": "everywhere * tokens**2"}).says("""
    You squared the number of tokens. Attention weights exist for each pair of tokens, but they are not kept;
    keys and values are, one of each per token.""")
wrong("kilobytes", {_BYTES: 'numbers * config["bits"] / 8 / 1024'}).says("""
    You divided by 1024. Wanted are bytes, not kilobytes.""")
wrong("thousands of bytes", {_BYTES: 'numbers * config["bits"] / 8 / 1000'}).says("""
    You divided by 1000. Wanted are bytes, not thousands of them.""")
