"""Lab 6, first part: a feature map as annotations, and the penalty on positions that are attended to too little."""

import torch

from misread.exercise import About, Exercise


def image_to_annotations(features):
    """Lay the cells of a feature map in a row, row by row: (B, D, height, width) -> (B, height · width, D)."""
    return features.flatten(2).transpose(1, 2)  # (B, D, height, width) -> (B, D, Tk) -> (B, Tk, D)


def _feature_maps(draw):
    batch, dim, height, width = draw.sizes(4)
    yield (draw.normal(batch, dim, height, width),)
    yield (draw.normal(2, 6, 2, 3),)  # as many features as cells: a forgotten transpose keeps the shape
    yield (draw.normal(2, 4, 2, 2),)
    yield (draw.normal(1, 2, 2, 3),)
    yield (draw.normal(batch, dim, 1, width),)


def _holds_columns(result, features):
    """Whether each annotation is made of the features of one cell, whichever."""
    cells = features.permute(0, 2, 3, 1).flatten(1, 2)  # (B, Tk, D)
    return ((result[:, :, None] - cells[:, None]).abs().amax(-1).amin(-1) < 1e-9).all()  # (B, Tk, Tk, D)


IMAGE_TO_ANNOTATIONS = Exercise(
    image_to_annotations,
    cases=_feature_maps,
    about=About(points=2, minutes=13, difficulty=2, read_again="The task, and the picture as a source"),
)

must = IMAGE_TO_ANNOTATIONS.properties
must("one cell per annotation", _holds_columns).says("""
    Each annotation must hold the D features of a single cell of its own image: `features[b, :, row, column]`, as they
    are. In yours, some annotation holds those of no cell.""")
must("row by row", lambda result, features: torch.equal(result, image_to_annotations(features))).says("""
    The cell in row r and column c is annotation number r · width + c: first the whole top row from left to right, then
    the next row.""")

wrong = IMAGE_TO_ANNOTATIONS.mistakes
CELLS = "features.flatten(2).transpose(1, 2)"
wrong("reshaped without a transpose", {CELLS: "features.reshape(len(features), -1, features.shape[1])"}).says("""
    You used reshape or view to get the shape, but the features were never brought to the last axis. Reshaping keeps
    the order of the numbers in memory, so your annotations mix the numbers of neighbouring cells. First transpose (or
    permute), so that the features are the last axis, and then flatten.""")
wrong("column by column", {"features.flatten(2)": "features.mT.flatten(2)"}).says("""
    You went through the cells column by column. The contract is row by row: the cell in row r and column c is
    annotation number r · width + c, because the weights are laid back over the image in this order.""")
BY_HEIGHT = """
out = [0 * features[:, :, 0, 0]] * (features.shape[2] * features.shape[3])
for r in range(features.shape[2]):
    for c in range(features.shape[3]):
        out[r * features.shape[2] + c] = features[:, :, r, c]
return torch.stack(out, 1)"""
wrong("r · height + c", BY_HEIGHT).says("""
    You gave the cell in row r and column c the number r · height + c, so that some annotations are written twice and
    others never. A row has as many cells as the image is wide: r · width + c.""")
wrong("features before cells", {".transpose(1, 2)": ""}).says("""
    You laid the cells in a row, but your features still stand on axis 1. Attention wants one vector per position, so
    the cells must be axis 1 and the features the last axis: exchange these two.""")
wrong("features joined, too", {CELLS: "features.flatten(1)"}).says("""
    You joined all axes behind the batch, the features too, so that each image is one long row. Join only the two axes
    of the grid (`flatten(2)`), and then exchange the features with the cells.""")
wrong("still a grid", {CELLS: "features.permute(0, 2, 3, 1)"}).says("""
    You moved the features to the last axis, but the cells still form a grid of height and width. Attention knows one
    axis of positions, so join these two axes into one.""")
wrong("no gradient", {"return features": "return features.detach()"}).says("""
    Your annotations have the right values, but they are cut off from the feature map (`detach`, `torch.tensor`,
    numpy). Then the convolutional network would learn nothing from the captions.""")


def doubly_stochastic_penalty(weights, mask):
    """Σ_i (1 − Σ_t α_ti)² over real words t, mean over captions: (B, T, Tk), (B, T) -> ()."""
    received = (weights * mask[..., None]).sum(dim=1)  # (B, T, Tk) * (B, T, 1) -> (B, Tk)
    return ((1 - received) ** 2).sum(dim=-1).mean()  # (B, Tk) -> (B,) -> ()


def _attended(draw):
    batch, words, cells = draw.sizes(3)
    for b, t, k in ((batch, words, cells), (3, 4, 4), (2, 3, 3), (1, 3, 2), (2, 2, 5)):
        mask = torch.arange(t) < draw.lengths(b, t)[:, None]
        yield (2 * draw.normal(b, t, k)).softmax(-1), mask
    yield draw.normal(2, 2, 3).softmax(-1), torch.tensor([[True, False], [False, False]])  # a caption without words


def _at_padding(result, weights, mask):
    """Whether the value is the one that is wanted once the rows at padding are changed."""
    return torch.allclose(result, doubly_stochastic_penalty(weights, mask), atol=1e-9)


DOUBLY_STOCHASTIC_PENALTY = Exercise(
    doubly_stochastic_penalty,
    cases=_attended,
    about=About(
        points=2, minutes=16, difficulty=2, read_again=("06_captioning_evidence", "The doubly stochastic penalty")
    ),
)

must = DOUBLY_STOCHASTIC_PENALTY.properties
must("never negative", lambda result, *args: (result >= -1e-12).all()).says("""
    The penalty is a sum of squares, so it is never below 0.""")
must("one unit per position", _at_padding).says("""
    For each position, add the weights that it receives from the real words of its caption, and square how far this sum
    is from 1. Sum these squares over the positions, and take the mean over the captions.""")

wrong = DOUBLY_STOCHASTIC_PENALTY.mistakes
RECEIVED, SQUARES = "(weights * mask[..., None]).sum(dim=1)", "((1 - received) ** 2).sum(dim=-1).mean()"
wrong("padding counted", {" * mask[..., None]": ""}).says("""
    You added the weights of all rows, also of those at padding. The decoder computes weights there, too, but no word
    was written with them: multiply the weights by the mask before you add.""")
wrong("summed over the positions", {"sum(dim=1)": "sum(dim=-1)"}).says("""
    You added the weights of each *word* over the positions. This sum is always 1, because the softmax makes it so, and
    nothing could be learned from it. Add what each *position* receives, over the words, which are axis 1.""")
wrong(
    "summed over the positions, real words only", "return ((1 - weights.sum(-1)) ** 2 * mask).sum(-1).mean()"
).says("""
    Your penalty is always 0, as it is if the weights of each *word* are added over the positions, because the softmax
    already makes this sum 1. Add what each *position* receives, over the words, which are axis 1.""")
wrong("mask along the positions", {"mask[..., None]": "mask[:, None]"}).says("""
    You laid the mask along the positions. It belongs to the words, which are axis 1 of the weights: `mask[..., None]`,
    (B, T, 1), keeps or drops whole rows. Yours, (B, 1, T), fits only by chance, where T and Tk are equal.""")
for filled, name in (("-torch.inf", "minus infinity"), ("-1e9", "a large negative number")):
    wrong(
        f"padding filled with {name}", {"weights * mask[..., None]": f"weights.masked_fill(~mask[..., None], {filled})"}
    ).says(
        f"You filled the rows at padding with {name}. Scores are treated so before a softmax; here weights are added, "
        "and a word that does not count adds 0."
    )
wrong("squared after the sum", {SQUARES: "(1 - received).sum(-1).square().mean()"}).says("""
    You summed the differences over the positions and squared once. Too much at one position then makes up for too
    little at another; square each difference first, and then sum.""")
wrong("squares of the single weights", "return ((1 - weights) ** 2 * mask[..., None]).sum((1, 2)).mean()").says("""
    You squared 1 − α for each single weight. First add what a position receives from all words, because one word
    is not expected to attend to everything; then compare the sum with 1.""")
wrong("not squared", {SQUARES: "(1 - received).sum(-1).mean()"}).says("""
    You did not square the differences. Their plain sum is the number of positions minus the number of words, whatever
    the weights are, so that it has no gradient.""")
wrong("absolute value", {SQUARES: "(1 - received).abs().sum(-1).mean()"}).says("""
    You took the absolute value of each difference. The penalty of the paper squares it, so that a position that is far
    from 1 counts much more than several that are close.""")
wrong("root of the sum", {SQUARES: "((1 - received) ** 2).sum(-1).sqrt().mean()"}).says("""
    You took the root of the sum of squares (`norm` does so). The penalty is the sum of the squares itself.""")
wrong("all captions added first", {"sum(dim=1)": "sum(dim=(0, 1))[None]"}).says("""
    You added the weights of all captions before you compared with 1. Each caption has an image of its own, so the sum
    over the words stays within a caption.""")
wrong(
    "all captions added first, divided by their number",
    {"sum(dim=1)": "sum(dim=(0, 1))[None]", "sum(dim=-1).mean()": "sum() / len(weights)"},
).says("""
    You added the weights of the real words of *all* captions (`weights[mask]` lays them in one row). Each caption has
    an image of its own, so add within a caption, compare with 1, and average over the captions at the end.""")
wrong("captions averaged first", {"sum(dim=1)": "sum(dim=1).mean(dim=0, keepdim=True)"}).says("""
    You averaged what the positions receive over the captions, and compared this mean with 1. Too much in one caption
    then makes up for too little in another: square and sum for each caption, and average at the end.""")
wrong(
    "multiplied by the words", "return ((1 - weights.sum(1, keepdim=True)) ** 2 * mask[..., None]).sum((1, 2)).mean()"
).says("""
    You applied the mask after the square, when the words were already added. Padding then counts in the sum, and each
    square once per real word: set the rows at padding to 0 *before* you add over the words.""")
wrong(
    "an even share for each position", {"1 - received": "mask.sum(1, keepdim=True) / weights.shape[2] - received"}
).says("""
    You compared with the even share of a position, the number of words divided by that of positions. The penalty of
    this exercise compares with 1.""")
wrong("only the sum squared", {"(1 - received) ** 2": "1 - received**2"}).says("""
    You squared what a position receives and subtracted this from 1, so that the penalty can become negative. The whole
    difference is squared: `(1 - received) ** 2`.""")
wrong("variance over the positions", {SQUARES: "received.var(-1).mean()"}).says("""
    You took the variance over the positions, which measures the distance from their mean. The penalty measures the
    distance from 1, and it is a sum.""")
wrong(
    "squares of the single masked weights", "return ((1 - weights * mask[..., None]) ** 2).sum((1, 2)).mean()"
).says("""
    You squared 1 − α for each single weight. First add what a position receives from all real words, because one word
    is not expected to attend to everything; then compare the sum with 1.""")
