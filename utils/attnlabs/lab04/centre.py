"""Lab 4, third part: where the window goes, predicted or found from the last weights."""

import torch
from torch import nn

from misread.exercise import About, Exercise


def predicted_centre(hidden, lengths, W_p, v_p):
    """S · sigmoid(v_p · tanh(W_p h)): (B, D), (B,), (A, D), (A,) -> (B,)."""
    features = (hidden @ W_p.mT).tanh()  # (B, D) @ (D, A) -> (B, A)
    share = (features @ v_p).sigmoid()  # (B, A) @ (A,) -> (B,), between 0 and 1
    return lengths * share  # (B,)


def _states(draw):
    batch, dim, hidden = draw.sizes(3)
    for b, d, a in ((batch, dim, hidden), (4, 4, 4), (1, dim, hidden), (3, 2, 2)):
        lengths = draw.integers(1, 12, b)
        yield draw.normal(b, d), lengths, draw.normal(a, d), draw.normal(a)
    state, lengths = draw.normal(2, 3), torch.tensor([1, 4])  # the same states in sentences twice as long
    yield state.repeat(2, 1), torch.cat([lengths, 2 * lengths]), draw.normal(2, 3), draw.normal(2)
    yield 9 * draw.normal(3, 2), draw.integers(2, 9, 3), draw.normal(2, 2), -9 * draw.uniform(2)


def _same_share_for_the_same_state(result, hidden, lengths, *rest):
    same = (hidden[:, None] == hidden).all(-1)  # (B, B)
    gap = (result / lengths)[:, None] - result / lengths  # (B, B)
    return (gap.abs() <= 1e-9)[same].all()


PREDICTED_CENTRE = Exercise(
    predicted_centre,
    cases=_states,
    about=About(points=3, minutes=13, difficulty=3, read_again="A window in the source"),
)

must = PREDICTED_CENTRE.properties
must(
    "between 0 and the length", lambda result, hidden, lengths, *rest: ((result >= 0) & (result <= lengths)).all()
).says("""
    The centre lies between 0 and the length of its own sentence.""")
must("twice the length, twice the centre", _same_share_for_the_same_state).says("""
    The state predicts a *share* of the sentence, so that in a sentence of twice the length the centre is twice as
    far.""")

wrong = PREDICTED_CENTRE.mistakes
wrong("softmax for sigmoid", {".sigmoid()": ".softmax(0)"}).says("""
    You used a softmax over the sentences of the batch, so that their centres depend on each other. Each sentence has
    its own share: a sigmoid.""")
wrong("share without the length", {"return lengths * share": "return share"}).says("""
    You returned the share, which lies between 0 and 1. The centre is a position: multiply the share by the length of
    the sentence.""")
wrong("lengths − 1 for the length", {"return lengths * share": "return (lengths - 1) * share"}).says("""
    You multiplied the share by `lengths − 1`. The formula has the length S itself: keeping the window inside the
    sentence is the task of `local_window_mask`.""")
wrong("padding counted in the length", {"return lengths * share": "return lengths.max() * share"}).says("""
    You multiplied all shares by the length of the *longest* sentence of the batch, so that padding is counted in the
    others. Each sentence has its own length.""")
wrong("rounded to a position", {"return lengths * share": "return (lengths * share).round()"}).says("""
    You rounded the centre to a whole position. It stays a real number, because rounding has no gradient and the centre
    could not be learned.""")
wrong(
    "moved to the last word",
    {"return lengths * share": "return torch.minimum(lengths * share, (lengths - 1).to(share.dtype))"},
).says("""
    You moved centres behind the last word to `lengths − 1`. The formula has no such limit: keeping the window inside
    the sentence is the task of `local_window_mask`.""")
wrong("length inside the sigmoid", "return (lengths * ((hidden @ W_p.mT).tanh() @ v_p)).sigmoid()").says("""
    You multiplied by the length *before* the sigmoid, so that your result is between 0 and 1. First the sigmoid gives
    the share, and then the share is multiplied by the length.""")
wrong("v_p inside the tanh", "return lengths * (hidden @ W_p.mT * v_p).tanh().sum(-1).sigmoid()").says("""
    You multiplied by `v_p` *before* the tanh. The tanh is taken of `W_p h` alone, and then comes the product with
    `v_p`.""")
wrong("tanh after both products", "return lengths * (hidden @ W_p.mT @ v_p).tanh().sigmoid()").says("""
    You took the tanh of v_p · W_p h, after both products. It belongs between them: tanh of `W_p h` first, and then the
    product with `v_p`.""")
wrong("sigmoid and tanh exchanged", "return lengths * ((hidden @ W_p.mT).sigmoid() @ v_p).tanh()").says("""
    You exchanged the two functions. The tanh is inside, on `W_p h`, and the sigmoid outside, because it makes the
    share.""")
wrong("W not transposed", "return lengths * ((hidden @ W_p).tanh() @ v_p).sigmoid()").says("""
    You multiplied by `W_p` as it is. It has the shape (A, D), one row per feature, so the product is
    `hidden @ W_p.mT`; with a square `W_p` torch cannot notice the difference.""")


def location_features(previous, filters):
    """What filters (F, width) make of the last weights (B, Tk): (B, Tk, F)."""
    radius = filters.shape[1] // 2
    padded = nn.functional.pad(previous, (radius, radius))  # (B, Tk + width − 1)
    windows = padded.unfold(1, filters.shape[1], 1)  # (B, Tk, width)
    return windows @ filters.mT  # (B, Tk, width) @ (width, F) -> (B, Tk, F)


def _weights_before(draw):
    batch, keys, count = draw.sizes(3)
    for b, length, f, width in ((batch, keys + 2, count, 3), (2, 6, 3, 5), (1, 4, 2, 3), (3, 3, 3, 3), (2, 3, 2, 1)):
        yield draw.normal(b, length).softmax(-1), draw.normal(f, width)
    yield torch.ones(2, 1, dtype=torch.float64), draw.normal(2, 3)  # a sentence of one word
    yield draw.normal(2, 2).softmax(-1), draw.normal(3, 5)  # a filter wider than the sentence
    yield draw.normal(1, 4).softmax(-1), torch.eye(3, dtype=torch.float64)  # to the right, in place, to the left
    yield torch.eye(4, dtype=torch.float64)[[0, 3]], draw.normal(2, 3)  # all weight at an end


def _own_position_in_the_middle(result, previous, filters):
    middle = filters.shape[1] // 2
    alone = (filters.abs().sum(1) == filters[:, middle].abs()).nonzero()[:, 0]  # filters with zeros beside their middle
    wanted = previous[..., None] * filters[alone, middle]  # (B, Tk, number of such filters)
    return torch.allclose(result[..., alone], wanted, atol=1e-9)


def _zeros_beyond_the_ends(result, previous, filters):
    first, last = filters[:, 1:].abs().sum(1) == 0, filters[:, :-1].abs().sum(1) == 0  # only the outermost number
    if filters.shape[1] == 1:
        return True
    return (result[:, 0, first].abs() <= 1e-9).all() and (result[:, -1, last].abs() <= 1e-9).all()


LOCATION_FEATURES = Exercise(
    location_features,
    cases=_weights_before,
    about=About(points=3, minutes=17, difficulty=3, read_again="Which rules hold on longer lists?"),
)

must = LOCATION_FEATURES.properties
must("the weights' own position in the middle", _own_position_in_the_middle).says("""
    The middle of a filter meets the weight of the position itself.""")
must("zeros beyond the ends", _zeros_beyond_the_ends).says("""
    Beyond both ends of the row the weights count as 0: the filter (1, 0, 0) gives 0 at the first position, and (0, 0,
    1) at the last.""")

wrong = LOCATION_FEATURES.mistakes
wrong("filters reversed", {"windows @ filters.mT": "windows @ filters.flip(1).mT"}).says("""
    Your filters run backwards. Feature f at position j is the sum of filters[f, k] · previous[j + k − radius], so that
    the *first* number of a filter meets the weight to the left. (Torch's `conv1d` computes this sum without turning the
    filter round; a convolution in mathematics turns it.)""")
wrong("zeros at the right only", {"(radius, radius)": "(0, 2 * radius)"}).says("""
    You padded at the right only, so that the filter begins at position j and does not have it in the middle. Pad with
    `radius` zeros on each side.""")
wrong("zeros at the left only", {"(radius, radius)": "(2 * radius, 0)"}).says("""
    You padded at the left only, so that the filter sees positions before j and not those after it. Pad with `radius`
    zeros on each side.""")
_PAD = "nn.functional.pad(previous, (radius, radius))"
_FILLED = "nn.functional.pad(previous[:, None], (radius, radius), mode='{}')[:, 0]"
wrong("round the corner", {_PAD: _FILLED.format("circular")}).says("""
    At the ends your filter goes on at the other end of the sentence. Beyond both ends there are zeros.""")
wrong("the edge repeated", {_PAD: _FILLED.format("replicate")}).says("""
    Beyond the ends you repeated the weight of the first and of the last position. There are zeros beyond both
    ends.""")
wrong("mirrored at the ends", {_PAD: _FILLED.format("reflect")}).says("""
    Beyond the ends you mirrored the row, so that weights count twice. There are zeros beyond both ends.""")
wrong("no zeros at the ends", {_PAD: "previous"}).says("""
    You did not put zeros at the ends, so that only Tk − width + 1 positions get features. Each source position needs
    its own: put r zeros at both ends.""")
wrong("too many zeros", {"(radius, radius)": "(2 * radius, 2 * radius)"}).says("""
    You put width − 1 zeros at each end, so that you get more positions than there are weights. Put r = (width − 1) / 2
    zeros there.""")
wrong("one zero for any width", {"(radius, radius)": "(1, 1)"}).says("""
    You put one zero at each end. This is right for filters of width 3 only: the number of zeros is
    r = (width − 1) / 2.""")
wrong("width zeros at each end", {"(radius, radius)": "filters.shape[1:] * 2"}).says("""
    You put `width` zeros at each end, so that you get more positions than there are weights. Put r = (width − 1) / 2
    zeros there.""")
wrong("one zero too many at each end", {"(radius, radius)": "(radius + 1, radius + 1)"}).says("""
    You put one zero too many at each end, so that you get two positions too many. The number of zeros is
    r = (width − 1) / 2.""")
_SUM = """
    count, width = filters.shape
    features = previous.new_zeros(*previous.shape, count)
    for j in range({}):
        for k in range(width):
            if {} j + k - width // 2 < previous.shape[1]:
                features[:, j] {} previous[:, j + k - width // 2, None] * filters[:, k]
    return features"""
wrong("a negative position", _SUM.format("previous.shape[1]", "-previous.shape[1] <=", "+=")).says("""
    Left of the row your position j + k − r is negative, and torch counts a negative position from the end. There the
    weights count as 0: leave such a term out.""")
wrong("overwritten, not added", _SUM.format("previous.shape[1]", "0 <=", "=")).says("""
    Each term of your sum overwrites the one before it, so that only the last one counts. Add them up, with `+=`.""")
wrong("no features at the ends", _SUM.format("width // 2, previous.shape[1] - width // 2", "0 <=", "+=")).says("""
    You left the features of the first and the last r positions at 0. There a part of the filter lies beyond the end and
    meets zeros, and the other part still counts.""")
