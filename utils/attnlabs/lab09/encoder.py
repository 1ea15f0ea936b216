"""Lab 9, fourth part: a layer of the encoder."""

from attnlabs.material.layer_parameters import multi_head_attention
from misread.exercise import About, Exercise, Mistakes, Properties

from .parameters import draw_encoder
from .parts import feed_forward, layer_norm
from .residual import residual_post_norm, residual_pre_norm


def encoder_layer(x, mask, layer, norm="post"):
    """Self-attention, then feed-forward, each with residual connection and norm: (B, T, D) -> (B, T, D)."""
    residual = residual_post_norm if norm == "post" else residual_pre_norm

    def attend(y):
        return multi_head_attention(y, y, y, *layer.attention, mask)[0]

    def compute(y):
        return feed_forward(y, *layer.feed_forward)

    def first_norm(y):
        return layer_norm(y, *layer.norm_1)

    def second_norm(y):
        return layer_norm(y, *layer.norm_2)

    x = residual(x, attend, first_norm)  # (B, T, D)
    return residual(x, compute, second_norm)  # (B, T, D)


def _encoders(draw):
    if draw.compact:  # only to be shown
        for norm in ("post", "pre"):
            yield draw.normal(1, 2, 4), draw.mask(2, 1, 2, empty_rows=False)[1:], draw_encoder(draw, 4, 2, 3), norm
            yield draw.normal(1, 2, 4), draw.mask(1, 2, 2, empty_rows=False), draw_encoder(draw, 4, 2, 3), norm
        return
    batch, length, hidden = draw.sizes(3)
    dim, heads = (4, 2) if draw.number == 0 else (10, 5)
    for norm in ("post", "pre"):
        for B, T, D, H, F in ((batch, length, dim, heads, hidden), (2, 3, 6, 3, 6), (1, length, 4, 2, hidden + 6)):
            layer = draw_encoder(draw, D, H, F)
            mask = draw.mask(B + 1, 1, T, empty_rows=B == 2 or draw.number == 1)[1:]  # not the first: it is open
            yield draw.normal(B, T, D), mask, layer, norm
        yield draw.normal(batch, 3, 4), draw.mask(batch, 3, 3), draw_encoder(draw, 4, 2, 5), norm
    yield draw.normal(2, length, 4), None, draw_encoder(draw, 4, 2, 5), "pre"
    yield draw.normal(2, length, 6), None, draw_encoder(draw, 6, 2, 5), "post"  # three features a head
    if draw.number > 1:  # two of a kind will do
        return
    for norm in ("post", "pre"):
        words = draw.normal(3, length, 6)
        yield words, draw.mask(2, 1, length, empty_rows=False)[1:], draw_encoder(draw, 6, 2, 5), norm  # for all alike
        yield words, draw.mask(2, length, length)[1:], draw_encoder(draw, 6, 1, 5), norm  # one head
        yield draw.normal(3, 1, 6), draw.order(3)[:, None, None] > 0, draw_encoder(draw, 6, 2, 5), norm  # one word
        yield 100 * words, draw.mask(3, length, length), draw_encoder(draw, 6, 2, 5), norm  # scores of thousands


def ends_as_asked(norm: str, which: str) -> Properties:
    """What a layer whose last norm is called `norm`, the `which` one, must end with: a norm, or a sum."""

    def mean(result, layer):
        return ((result - getattr(layer, norm).bias) / getattr(layer, norm).gain).mean(-1).abs().max()

    must = Properties()
    must(
        "post-norm ends with a norm", lambda result, *args: args[-1] == "pre" or mean(result, args[-2]) < 1e-6
    ).says(f"""
        With norm="post" the last step is the {which} norm. Take off its bias and divide by its gain: then the features
        of each word must have mean 0, and in your result they don't.""")
    must("pre-norm ends with a sum", lambda result, *args: args[-1] == "post" or mean(result, args[-2]) > 1e-6).says("""
        With norm="pre" the last step is the sum of x and the output of feed-forward, and no norm follows it. Your
        result ends with a norm.""")
    return must


ENCODER_LAYER = Exercise(
    encoder_layer,
    cases=_encoders,
    tolerance=1e-8,
    properties=ends_as_asked("norm_2", "second"),
    about=About(points=3, minutes=18, difficulty=3, read_again="Encoder layer and decoder layer"),
)

_STRAIGHT = "= lambda x, sublayer, n: n(sublayer(x)) if norm == 'post' else sublayer(n(x))"

wrong = OF_BOTH_LAYERS = Mistakes()
wrong("post and pre swapped", {'if norm == "post"': 'if norm == "pre"'}).says("""
    You used pre-norm for norm="post" and post-norm for norm="pre". Exchange the two residual functions.""")
wrong("no residual connection", {'= residual_post_norm if norm == "post" else residual_pre_norm': _STRAIGHT}).says("""
    Your layer has no residual connections, so the x that a sublayer receives is never added to its output. Call
    each sublayer through one of your two residual functions.""")
wrong("feed-forward's input ignored", {"return feed_forward(y,": "return feed_forward(x,"}).says("""
    The feed-forward sublayer computes with the x of the surrounding function, not with the argument that it is
    given. With norm="pre" this argument is the normalised x, so that here the norm has no effect. Inside the
    small function use its own argument.""")
_FIRST_X = {"    residual = ": "    first = x\n    residual = ", "return feed_forward(y,": "return feed_forward(first,"}
wrong("feed-forward gets the layer's input", _FIRST_X).says("""
    Your feed-forward sublayer computes with the x that the *layer* was given, so that it knows nothing of what
    attention has brought. What it must compute with comes as the small function's own argument: use that.""")
_TWICE = "= lambda x, sublayer, n: n(x + x + sublayer(x)) if norm == 'post' else x + n(x) + sublayer(n(x))"
wrong("input added twice", {'= residual_post_norm if norm == "post" else residual_pre_norm': _TWICE}).says("""
    Your sublayers add their input to their output themselves, and the residual function adds it once more. The small
    function returns the sublayer's output alone, because adding x is the task of the residual function.""")

_CHOICE = '= residual_post_norm if norm == "post" else residual_pre_norm'
_PLAIN = "= lambda x, sublayer, n: plain(x + sublayer(x)) if norm == 'post' else x + sublayer(plain(x))"
_PLAIN_NORM = "def plain(y):\n        return F.layer_norm(y, y.shape[-1:])\n\n    residual = "
wrong(
    "norms without their gain and bias",
    {'residual = residual_post_norm if norm == "post" else residual_pre_norm': _PLAIN_NORM + _PLAIN[2:]},
).says("""
    Your norms have neither gain nor bias. Each norm of the layer holds both: `layer_norm(y, *layer.norm_1)`.""")
_NORMED = "= lambda x, sublayer, n: n(x + sublayer(x)) if norm == 'post' else n(x) + sublayer(n(x))"
wrong("normalised x added with pre-norm", {_CHOICE: _NORMED}).says("""
    With norm="pre" the vector that you add to a sublayer's output is the normalised one. It must be x itself, which
    passes through the whole stack unchanged: keep it, and give the normalised vectors another name.""")

_FIRST, _SECOND = "residual(x, attend, first_norm)", "residual(x, compute, second_norm)"

wrong = ENCODER_LAYER.mistakes
wrong += OF_BOTH_LAYERS
wrong("attention instead of a function", {"x, attend, ": "x, attend(x), "}).says("""
    You passed the *output* of the attention to the residual function, which wants to call the sublayer itself. Pass a
    function of one argument: `lambda y: multi_head_attention(y, y, y, …)[0]`.""")
wrong("second sublayer starts again from x", {f"x = {_FIRST}": f"unused = {_FIRST}"}).says("""
    Your second sublayer works on the layer's input again, so that what the first one computed is lost. It must work on
    the result of the first: `x = residual(x, …)`.""")
_BOTH = "residual(x, lambda y: compute(first_norm(attend(y))), second_norm)"
wrong("one residual connection for both", {f"    x = {_FIRST}  # (B, T, D)\n": "", _SECOND: _BOTH}).says("""
    You put *one* residual connection around both sublayers, so that feed-forward never receives x itself. Each of the
    two sublayers has its own: x + attention, with norm_1, and then x + feed-forward, with norm_2.""")
wrong("weights handed on", {"*layer.attention, mask)[0]": "*layer.attention, mask)"}).says("""
    Your sublayer returns both results of the attention, the output and the weights. Such a pair can't be added to
    x, so take the output alone, with `[0]`.""")
wrong("sublayer's input ignored", {"(y, y, y,": "(x, x, x,"}).says("""
    The attention uses the x of the surrounding function, not the argument that the sublayer is given. With
    norm="pre" this argument is the normalised x, so that here the norm has no effect. Inside the small function
    use its own argument, three times.""")
wrong("keys and values not normalised", {"(y, y, y,": "(y, x, x,"}).says("""
    With norm="pre" only your query is normalised, while key and value are still the x of the surrounding
    function. In self-attention all three are the sublayer's own argument.""")
wrong("first norm twice", {"compute, second_norm": "compute, first_norm"}).says("""
    You used norm_1 for both sublayers. Each sublayer has a norm of its own, so feed-forward takes norm_2.""")
wrong("second norm twice", {"attend, first_norm": "attend, second_norm"}).says("""
    You used norm_2 for both sublayers, while attention has norm_1. If you made both functions in a loop: a function
    looks up the loop's variable when it is *called*, and by then this is the last one. Write out the two functions.""")
wrong("feed-forward first", {"x, attend, ": "x, compute, ", "x, compute, s": "x, attend, s"}).says("""
    You applied feed-forward before attention, each with the norm of the other. Attention comes first, with
    norm_1, and feed-forward second, with norm_2, so that it can use what attention has brought from other words.""")
wrong("feed-forward first, each with its own norm", {_SECOND: _FIRST, f"x = {_FIRST}": f"x = {_SECOND}"}).says("""
    You applied feed-forward before attention. Attention comes first, so that feed-forward can use what attention
    has brought from other words.""")
wrong("feed-forward forgotten", {f"return {_SECOND}": "return x"}).says("""
    Your layer ends after the attention. The feed-forward sublayer must follow, with its residual connection and
    norm_2.""")
_BARE = "first_norm(attend(x)) if norm == 'post' else attend(first_norm(x))"
wrong("no residual connection around the attention", {_FIRST: _BARE}).says("""
    Around your attention there is no residual connection: what it is given isn't added to its output. Both sublayers
    are called through one of your two residual functions.""")
_BARE = "second_norm(compute(x)) if norm == 'post' else compute(second_norm(x))"
wrong("no residual connection around feed-forward", {_SECOND: _BARE}).says("""
    Around your feed-forward sublayer there is no residual connection: what it is given isn't added to its output. Both
    sublayers are called through one of your two residual functions.""")
wrong(
    "norms exchanged", {"attend, first_norm": "attend, second_norm", "compute, second_norm": "compute, first_norm"}
).says("""
    You exchanged the two norms. Attention comes with norm_1, and feed-forward with norm_2.""")
wrong("values not normalised", {"(y, y, y,": "(y, y, x,"}).says("""
    With norm="pre" your query and key are normalised, while the value is still the x of the surrounding function. In
    self-attention all three are the sublayer's own argument.""")
wrong("queries not normalised", {"(y, y, y,": "(x, y, y,"}).says("""
    With norm="pre" your key and value are normalised, while the query is still the x of the surrounding function. In
    self-attention all three are the sublayer's own argument.""")
_EARLIER = "torch.ones(1, x.shape[1], x.shape[1]).bool().tril()"
wrong("causal encoder", {", mask)[0]": f", {_EARLIER} if mask is None else mask & {_EARLIER})[0]"}).says("""
    In your layer no word attends to a later one. Only a decoder needs this: an encoder reads a sentence that is
    complete, so pass the mask to the attention as it is.""")
wrong("one head", {"*layer.attention, mask)": "*layer.attention[:4], 1, mask)"}).says("""
    Your attention has one head. The parameters of the layer say how many there are: `*layer.attention` passes the four
    matrices and `heads`.""")
ONE_MORE_NORM = """
    With norm="pre" you normalised the result once more. That norm belongs to the end of the whole *stack*, after its
    last layer: a layer ends with the sum."""
_ENDED = f"x = {_SECOND}\n    return x if norm == 'post' else F.layer_norm(x, x.shape[-1:])"
wrong("one more norm at the end", {f"return {_SECOND}": _ENDED}).says(ONE_MORE_NORM)
