"""Lab 15: SNAIL. The causal convolution, and the dense block that is made of two of them."""

import torch
import torch.nn.functional as F

from misread.exercise import About, Exercise


def causal_convolution(x, weight, dilation):
    """Causal convolution over time, with taps `dilation` positions apart: (B, T, D), (C, D, K) -> (B, T, C)."""
    past = dilation * (weight.shape[-1] - 1)  # how far the first tap reaches back
    padded = F.pad(x.mT, (past, 0))  # (B, D, past + T)
    return F.conv1d(padded, weight, dilation=dilation).mT  # (B, C, T) -> (B, T, C)


def _convolved(draw):
    batch, length, dim, filters = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 3, 1), draw.normal(1, 1, 2), 1
        yield draw.normal(1, 4, 1), draw.normal(1, 1, 2), 2
        yield draw.normal(1, 2, 1), draw.normal(1, 1, 1), 2
    x = draw.normal(batch, length + 4, dim)
    yield x, draw.normal(filters, dim, 2), 1
    yield x, draw.normal(filters, dim, 2), 2
    yield x, draw.normal(filters, dim, 3), 2
    yield x, draw.normal(filters, dim, 4), 1
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), 2  # all sizes the same: mix-ups give values, no error
    yield draw.normal(2, 3, 4), draw.normal(2, 4, 3), 4  # the earlier taps lie before the beginning
    yield draw.normal(3, 1, 2), draw.normal(4, 2, 2), 1  # one position
    yield draw.normal(2, 5, 3), draw.normal(2, 3, 1), 3  # one tap: the position itself
    yield draw.normal(2, 9, 2), draw.normal(3, 2, 3), 3  # 3, 6 and 9 are no powers of 2


def _at_the_beginning(result, x, weight, dilation):
    return torch.allclose(result[:, 0], x[:, 0] @ weight[:, :, -1].mT)


CAUSAL_CONVOLUTION = Exercise(
    causal_convolution,
    cases=_convolved,
    about=About(points=3, minutes=20, difficulty=3, read_again="Binding by a convolution"),
)

must = CAUSAL_CONVOLUTION.properties
must("the first position depends only on itself", _at_the_beginning).says("""
    Before the first position there is nothing, so its output must be its own features times the last tap, x[:, 0] @
    weight[:, :, -1].mT.""")

_PAD, _PAST = "F.pad(x.mT, (past, 0))", "dilation * (weight.shape[-1] - 1)"
_CONV, _CALL = "F.conv1d(padded, weight, dilation=dilation).mT", "F.conv1d(padded, weight, dilation=dilation)"

wrong = CAUSAL_CONVOLUTION.mistakes
wrong("padded at the end", {"(past, 0)": "(0, past)"}).says("""
    All zeros belong before the first position, F.pad(…, (past, 0)). Each of your positions sees itself and *later*
    ones, because your zeros stand behind the sequence, or because you padded both sides and kept the last T
    outputs.""")
CENTRED = "F.pad(x.mT, (past // 2, past - past // 2))"
CUT = f"{_CALL}[:, :, :-past].mT"
wrong("nothing left of a single tap", {_PAD: "F.pad(x.mT, (past, past))", _CONV: CUT}).says("""
    Your result is right except for a single tap. Then nothing is padded, and a slice that ends at −0 is empty, because
    −0 is 0. Keep the first T outputs, [:, :, :T], instead of leaving the last ones out.""")
wrong("the same padding on both sides", {_PAD: CENTRED}).says("""
    You put half of the zeros before the sequence and half behind it, as `padding="same"` does. The window then lies
    around the position and shows it its future. All zeros belong before the first position.""")
MIDDLE = f"{_CALL}[:, :, past // 2 : past // 2 + x.shape[1]].mT"
wrong("the outputs in the middle kept", {_PAD: "F.pad(x.mT, (past, past))", _CONV: MIDDLE}).says("""
    You padded both sides and kept the T outputs in the middle. Their windows lie around the position and show it its
    future. Keep the *first* T outputs, or pad on the left only.""")
wrong("too much padding, nothing cut off", {_PAD: "F.pad(x.mT, (past, past))"}).says("""
    Your result is longer than the sequence, because `padding=` adds zeros on both sides. Either pad on the left
    only, with F.pad(…, (past, 0)), or keep only the first T outputs.""")
SHIFTED = """
steps, out = x.shape[1], 0.0
for k, shift in enumerate(range(past, -1, -dilation)):
    earlier = x[:, : steps - shift] @ weight[:, :, k].mT
    out = out + F.pad(earlier, (0, 0, steps - earlier.shape[1], 0))
return out"""
wrong(
    "a slice with a negative end",
    {"    padded": SHIFTED.strip().replace("\n", "\n    ").join(("    ", "\n    padded"))},
).says("""
    Where a tap reaches back further than the sequence is long, your slice x[:, : T − shift] has a negative end, which
    counts from the end of the sequence. Such a tap reads only zeros: pad first, or use max(T − shift, 0).""")
wrong("no padding", {_PAD: "x.mT"}).says("""
    You did not pad, so there is no output for the first positions, whose window begins before the sequence. Put
    dilation · (K − 1) zeros before it: then there is one output per position.""")
wrong("padding without the dilation", {_PAST: "weight.shape[-1] - 1"}).says("""
    You padded with K − 1 zeros. With a dilation the first tap lies dilation · (K − 1) positions back, so that many
    zeros are needed.""")
wrong("padding for two taps", {_PAST: "dilation"}).says("""
    You padded with `dilation` zeros, which is right for two taps only. The first of K taps lies K − 1 dilations back,
    so dilation · (K − 1) zeros are needed.""")
wrong("1 subtracted from the padding", {_PAST: "dilation * weight.shape[-1] - 1"}).says("""
    You padded with dilation · K − 1 zeros, which is right for the dilation 1 only. The 1 belongs to the taps, because
    K taps have K − 1 distances between them: dilation · (K − 1).""")
FITTING = "F.pad(F.conv1d(x.mT, weight, dilation=dilation), (past, 0)).mT"
wrong("0 where the window does not fit", {_CONV: FITTING}).says("""
    Your first outputs are 0 wherever the window begins before the sequence (and F.conv1d stops where it never fits).
    Only the *inputs* before the beginning count as zeros, and taps within the sequence still count: pad x, and not the
    result.""")
wrong(
    "one position too far back", {_PAST: "dilation * weight.shape[-1]", _CONV: f"{_CALL}[:, :, :-dilation].mT"}
).says("""
    Your window ends `dilation` positions before the position itself, because you padded with dilation · K zeros.
    The last tap is the position itself, so dilation · (K − 1) zeros are right.""")
wrong("the position itself left out", {_CONV: f"F.pad({_CALL}, (1, 0))[:, :, :-1].mT"}).says("""
    Each of your outputs is that of the position before it. Causal means here: the position itself and those before
    it, and the last tap belongs to the position itself.""")
wrong("taps in reverse order", {"padded, weight,": "padded, weight.flip(-1),"}).says("""
    You applied the taps in reverse order. weight[..., -1] belongs to the position itself and weight[..., 0] to the
    earliest one, as in F.conv1d, which flips nothing.""")
wrong("the first position repeated", {_PAD: "torch.cat([x.mT[:, :, :1].expand(-1, -1, past), x.mT], dim=-1)"}).says("""
    You filled the positions before the beginning with copies of the first one. Here they count as zeros, so that
    the network can notice where a sequence begins.""")
ROUND = """
def at(t):  # stops where an index lies below −T
    return sum(x[:, t - past + k * dilation] @ weight[:, :, k].mT for k in range(weight.shape[-1]))
return torch.stack([at(t) for t in range(x.shape[1])], dim=1)"""
wrong(
    "the window goes round", {"    padded": ROUND.strip().replace("\n", "\n    ").join(("    ", "\n    padded"))}
).says("""
    Before the first position you continued with the last ones, as `roll`, negative indices and
    padding_mode="circular" do. For the first positions, these are later ones, which are not known yet; what lies
    before the beginning counts as zero.""")
wrong("axes not exchanged back", {_CONV: _CALL}).says("""
    Your result has the axes (batch, features, time), which F.conv1d returns. Exchange the last two again: wanted is
    (B, T, C), one vector per position.""")
wrong("time and features not exchanged", {_PAD: "F.pad(x, (past, 0))", _CONV: _CALL}).says("""
    You gave x to F.conv1d as it is, and it takes the *last* axis for the time. In (B, T, D) this is the features:
    exchange the last two axes before the convolution and after it.""")
wrong(
    "reshaped, not exchanged",
    {_PAD: "F.pad(x.reshape(len(x), x.shape[2], -1), (past, 0))", _CONV: f"{_CALL}.reshape(len(x), x.shape[1], -1)"},
).says("""
    You used reshape or view to bring the time to the last axis, which leaves the numbers in their old order, so that
    times and features are mixed. Exchange the last two axes, before the convolution and after it.""")
wrong("the features padded", {_PAD: "F.pad(x, (past, 0)).mT"}).says("""
    Your zeros stand beside the features and not before the first position, because F.pad begins with the last axis.
    Exchange the axes first, F.pad(x.mT, (past, 0)), or pad (B, T, D) with (0, 0, past, 0).""")

wrong("nothing exchanged, nothing padded", {_PAD: "x", _CONV: _CALL}).says("""
    You gave x to F.conv1d as it is. F.conv1d takes the *last* axis for the time, which in (B, T, D) is the
    features, and it makes an output only where the window fits: exchange the last two axes, and pad before the
    first position.""")
wrong("dilation only in the padding", {"weight, dilation=dilation": "weight"}).says("""
    Your padding takes the dilation into account, but F.conv1d was not given it, so your result is too long. Give it
    to F.conv1d as well: dilation=dilation.""")
SHORT = """
total = x.new_zeros(*x.shape[:2], len(weight))
for k in range(weight.shape[-1]):
    shift = (weight.shape[-1] - 1 - k) * dilation
    total[:, shift:] += x[:, : x.shape[1] - shift] @ weight[:, :, k].mT
return total"""
wrong("no window longer than the sequence", SHORT).says("""
    Your function stops where a tap lies further back than the sequence is long: T − shift is then negative, and as
    the end of a slice it counts from the end. Such a tap adds nothing: take max(T − shift, 0), or pad x with zeros.""")
wrong("a power of two for the dilation", {_PAST: f"(dilation := 2 ** (dilation - 1)) * {_PAST[11:]}"}).says("""
    You used 2 ** (dilation − 1), as if `dilation` were the number of a layer. It is the distance between two taps
    itself, and may be any number, such as 3.""")
wrong("stride for dilation", {"dilation=dilation": "stride=dilation"}).says("""
    You gave the dilation to F.conv1d as `stride`, which skips *outputs*. The dilation is the distance between two
    taps of one output: dilation=dilation.""")


def dense_block(x, candidate, gate, dilation):
    """Append tanh(convolution with candidate) · sigmoid(convolution with gate) to x.

    (B, T, D), (C, D, K), (C, D, K) -> (B, T, D + C).
    """
    new = causal_convolution(x, candidate, dilation).tanh()  # (B, T, C)
    open_by = causal_convolution(x, gate, dilation).sigmoid()  # (B, T, C), from 0 to 1
    return torch.cat([x, new * open_by], dim=-1)  # (B, T, D + C)


def _dense(draw):
    batch, length, dim, filters = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 2, 1), draw.normal(1, 1, 2), draw.normal(1, 1, 2), 1
    x = draw.normal(batch, length + 2, dim)
    for dilation in (1, 2):
        yield x, draw.normal(filters, dim, 2), draw.normal(filters, dim, 2), dilation
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 2), draw.normal(3, 3, 2), 1  # all sizes the same
    yield draw.normal(2, 4, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3), 2  # three taps, C = D
    yield draw.normal(2, 1, 3), draw.normal(2, 3, 2), draw.normal(2, 3, 2), 4  # one position
    yield draw.normal(2, 3, 2), draw.normal(2, 2, 1), draw.normal(2, 2, 1), 3  # one tap
    yield draw.normal(2, 8, 2), draw.normal(3, 2, 2), draw.normal(3, 2, 2), 3  # no power of 2


DENSE_BLOCK = Exercise(
    dense_block,
    cases=_dense,
    about=About(points=2, minutes=12, difficulty=2, read_again="SNAIL: convolutions and attention in turn"),
)

must = DENSE_BLOCK.properties
must("what came in is still there", lambda result, x, *others: torch.equal(result[..., : x.shape[-1]], x)).says("""
    The first D features of each position must be those of x, unchanged.""")
must("a tanh times a sigmoid", lambda result, x, *others: torch.allclose(result, dense_block(x, *others))).says("""
    What is appended must be tanh(convolution with candidate) · sigmoid(convolution with gate), feature by feature.""")

_JOIN = "torch.cat([x, new * open_by], dim=-1)"

wrong = DENSE_BLOCK.mistakes
wrong("only the new features", {_JOIN: "new * open_by"}).says("""
    You returned only the gated features. A dense block appends them to x, so that everything that came in is still
    there for the next block: (B, T, D + C).""")
wrong("added, not appended", {_JOIN: "x + new * open_by"}).says("""
    You added the new features to x, as a residual connection does. A dense block *appends* them along the last
    axis, so that x stays as it is and C may differ from D.""")
wrong("new features first", {_JOIN: "torch.cat([new * open_by, x], dim=-1)"}).says("""
    You put the new features before those of x. The order is fixed here: first the D features that came in, then the
    C new ones.""")
wrong("appended along the time", {_JOIN: "torch.cat([x, new * open_by], dim=1)"}).says("""
    You joined the two along axis 1, so that the sequence becomes longer. Each *position* receives C more features:
    join along the last axis, dim=-1.""")
wrong("appended along the batch", {_JOIN: "torch.cat([x, new * open_by])"}).says("""
    You joined the two along the batch, which is what torch.cat does when `dim` is left out. Each position receives
    C more features: dim=-1.""")
wrong("no gate", {"new * open_by": "new"}).says("""
    You left the gate out. The sigmoid of the second convolution says how much of each new feature passes: multiply
    the tanh by it.""")
wrong("gate added", {"new * open_by": "new + open_by"}).says("""
    You added the gate. It says how much of a feature passes, from 0 (nothing) to 1 (all), so the two are
    multiplied.""")
wrong("candidate without tanh", {".tanh()": ""}).says("""
    Your new features are not passed through a tanh. The tanh keeps them between −1 and 1, and the gate then
    determines how much of them passes.""")
wrong("gate without sigmoid", {".sigmoid()": ""}).says("""
    Your gate is the plain result of its convolution, which may be negative or large. The sigmoid turns it
    into a number from 0 to 1, the share of the feature that passes.""")
wrong("a gate that is open or shut", {".sigmoid()": ".sigmoid().round()"}).says("""
    Your gate is either 0 or 1, because the sigmoid is compared with a limit or rounded. No gradient flows through such
    a step, so the gate could not be learnt: multiply by the sigmoid itself.""")
wrong("sigmoid for both", {".tanh()": ".sigmoid()"}).says("""
    You used the sigmoid for both. The new features pass through a tanh, so that they may be negative, and only the
    gate through a sigmoid.""")
wrong("tanh for both", {".sigmoid()": ".tanh()"}).says("""
    You used tanh for both. A gate says how much passes, from 0 to 1, which is what a sigmoid gives.""")
wrong("relu for tanh", {".tanh()": ".relu()"}).says("""
    You used relu where a tanh belongs. The block is SNAIL's, whose new features lie between −1 and 1:
    tanh(candidate) · sigmoid(gate).""")
wrong(
    "x passes through the gate", {_JOIN: "torch.cat([x * open_by.mean(-1, keepdim=True), new * open_by], -1)"}
).says("""
    You multiplied x by the gate as well. What came in is kept unchanged, and only the new features pass the gate.""")
wrong(
    "activations before the convolutions",
    {
        "(x, candidate, dilation).tanh()": "(x.tanh(), candidate, dilation)",
        "(x, gate, dilation).sigmoid()": "(x.sigmoid(), gate, dilation)",
    },
).says("""
    You applied tanh and sigmoid to x, before the convolutions. They belong to what the convolutions give, because only
    then the new features lie between −1 and 1, and the gate between 0 and 1.""")
wrong("gate of the new features", {"(x, gate, dilation)": "(x, candidate, dilation)"}).says("""
    You used `candidate` for both convolutions. The gate has weights of its own, so that it can learn when a feature
    is wanted: causal_convolution(x, gate, dilation).""")
wrong("no dilation", {"(x, candidate, dilation)": "(x, candidate, 1)", "(x, gate, dilation)": "(x, gate, 1)"}).says("""
    You left the dilation out, so that the block always combines neighbouring positions. Give it to both
    convolutions: blocks with growing dilations are what lets a position see far back.""")
wrong("no dilation in the gate", {"(x, gate, dilation)": "(x, gate, 1)"}).says("""
    Only your first convolution is dilated. New features and gate of a position belong to the same positions of the
    past, so both convolutions have the same dilation.""")
wrong("no dilation in the candidate", {"(x, candidate, dilation)": "(x, candidate, 1)"}).says("""
    Only your second convolution, the gate, is dilated. New features and gate of a position belong to the same positions
    of the past, so both convolutions have the same dilation.""")
wrong("both appended", {"new * open_by": "new, open_by"}).says("""
    You appended candidate and gate, so that each position has 2C new features. The gate is multiplied with the
    candidate, and only the product is appended.""")
wrong("a softmax for the gate", {".sigmoid()": ".softmax(dim=-1)"}).says("""
    You used a softmax for the gate, so that the new features compete and their shares sum to 1. Each feature has a
    gate of its own, from 0 to 1: a sigmoid.""")
wrong("gate of the candidate", {"(x, gate, dilation)": "(new, gate, dilation)"}).says("""
    You computed the gate from the new features. Candidate and gate are two convolutions of the same x.""")
wrong("tanh of the product", {".tanh()": "", ".sigmoid()": "", "new * open_by": "(new * open_by).tanh()"}).says("""
    You multiplied the two convolutions first and took the tanh of the product. Each has a function of its own: the tanh
    of the candidate, times the sigmoid of the gate.""")
wrong("tanh after the gate", {".tanh()": "", "new * open_by": "(new * open_by).tanh()"}).says("""
    You applied the tanh to the product. It belongs to the candidate alone, before the gate is multiplied.""")
