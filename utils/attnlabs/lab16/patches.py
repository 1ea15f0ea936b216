"""Lab 16: the tokens of a vision Transformer, which are patches of an image."""

import torch

from misread.exercise import About, Exercise


def patches_to_tokens(images, patch):
    """Cut images (B, C, H, W) into square patches, one vector each, row by row: (B, N, C · P · P)."""
    batch, channels, height, width = images.shape
    rows, columns = height // patch, width // patch
    grid = images.reshape(batch, channels, rows, patch, columns, patch)  # (B, C, H/P, P, W/P, P)
    grid = grid.permute(0, 2, 4, 1, 3, 5)  # (B, H/P, W/P, C, P, P)
    return grid.reshape(batch, rows * columns, -1)  # (B, N, C · P · P)


def _images(draw):
    batch, channels, rows, columns = draw.sizes(4)
    batch, patch = min(batch, 3), 2 + draw.integer(0, 2)  # few pixels: who moves each one alone needs time for each

    def drawn(batch, channels, rows, columns, patch):
        return draw.normal(batch, channels, rows * patch, columns * patch), patch

    def counted(channels, rows, columns, patch):
        """Pixels with the numbers 0, 1, 2, …, so that one sees where each has gone."""
        shape = (1, channels, rows * patch, columns * patch)
        return torch.arange(channels * rows * columns * patch**2).double().view(shape), patch

    if draw.compact:
        yield counted(1, 1, 2, 2)
        yield counted(2, 1, 2, 1)
        yield counted(1, 2, 1, 2)
        yield counted(1, 2, 2, 2)
        yield counted(2, 2, 2, 2)
    yield drawn(batch, channels, rows, columns, patch)
    yield drawn(2, 2, 2, 2, 2)  # all sizes the same: mix-ups of axes give values here, no error
    yield drawn(2, 3, 3, 3, 3)
    yield drawn(2, 4, 2, 3, 2)  # as many channels as pixels in a patch
    yield drawn(2, 1, 3, 2, 2)  # one channel, as the digits have
    yield drawn(1, 3, 1, 1, 3)  # the image is a single patch
    yield drawn(2, 2, 1, 3, 1)  # a patch is a pixel
    yield drawn(2, 2, 3, 1, 1)
    yield drawn(1, 2, 1, 4, 2)
    yield drawn(1, 2, 4, 1, 2)


PATCHES_TO_TOKENS = Exercise(
    patches_to_tokens, cases=_images, about=About(points=2, minutes=15, difficulty=2, read_again="A vision Transformer")
)


def _pixels_stay_together(result, images, patch):
    first = images[:, :, :patch, :patch].flatten(1)  # (B, C · P · P), in the order that is wanted
    return torch.allclose(result[:, 0].sort(dim=-1).values, first.sort(dim=-1).values)


def _each_token_is_a_patch(result, images, patch):
    tiles = images.unfold(2, patch, patch).unfold(3, patch, patch)  # (B, C, H/P, W/P, P, P)
    wanted = tiles.flatten(2, 3).transpose(1, 2).flatten(2)  # (B, N, C · P · P)
    return torch.allclose(result.sort(dim=-1).values, wanted.sort(dim=-1).values)


must = PATCHES_TO_TOKENS.properties
must(
    "every pixel once",
    lambda result, images, patch: torch.equal(result.flatten(1).sort(-1).values, images.flatten(1).sort(-1).values),
).says("""
    The tokens of an image hold each of its pixels exactly once, unchanged. Nothing is averaged, left out or
    repeated.""")
must("the first token is the upper left patch", _pixels_stay_together).says("""
    The first token must hold the pixels of the upper left patch and no others: P rows and P columns of each
    channel.""")
must("each token is one patch", _each_token_is_a_patch).says("""
    The first token is right, but another one holds the pixels of another patch, or of several. Patches are numbered
    row by row, as one reads a page.""")
must(
    "the order of pixels in a token",
    lambda result, images, patch: torch.equal(result[:, 0], images[:, :, :patch, :patch].flatten(1)),
).says("""
    Each of your tokens holds the right pixels in another order. In a token the channels come one after the other,
    and each of them row by row.""")

_GRID, _PERMUTED = "rows, patch, columns, patch)", "grid.permute(0, 2, 4, 1, 3, 5)"
_BACK = "grid.reshape(batch, rows * columns, -1)"

wrong = PATCHES_TO_TOKENS.mistakes
wrong("reshaped without a permutation", "return images.reshape(len(images), -1, images.shape[1] * patch**2)").says("""
    You used reshape or view alone. It keeps the order of the numbers, so your first token holds a piece of the
    first rows of the image and not a square. Split height and width into (H/P, P) and (W/P, P) first, and exchange
    axes before you join.""")
wrong(
    "the two parts of a side exchanged",
    {_GRID: "patch, rows, patch, columns)", _PERMUTED: "grid.permute(0, 3, 5, 1, 2, 4)"},
).says("""
    You split the height into (P, H/P) and the width into (P, W/P). The number of the patch comes first, (H/P, P),
    because neighbouring pixels belong to one patch; as you split it, a token holds pixels that are H/P rows apart.""")
wrong(
    "rows and columns of the grid exchanged", {"height // patch, width // patch": "width // patch, height // patch"}
).says("""
    You exchanged the number of rows and the number of columns of the grid. The height is cut into H/P rows and the
    width into W/P columns: (B, C, H/P, P, W/P, P).""")
wrong(
    "both sides split at once", {_GRID: "rows, columns, patch, patch)", _PERMUTED: "grid.permute(0, 2, 3, 1, 4, 5)"}
).says("""
    You split height and width at once, into (H/P, W/P, P, P). A reshape keeps the order of the numbers, so each side
    must be split where it stands: (B, C, H/P, P, W/P, P). Then exchange axes.""")
wrong("column by column", {_PERMUTED: "grid.permute(0, 4, 2, 1, 3, 5)"}).says("""
    Your tokens are right, but in another order: you numbered the patches column by column. They are numbered row by
    row, so that the second token is the patch to the right of the first one.""")
wrong("the pixels of a patch column by column", {_PERMUTED: "grid.permute(0, 2, 4, 1, 5, 3)"}).says("""
    Each token holds the right pixels, but a patch is written column by column. In each channel the pixels go row by
    row: the row inside the patch comes before the column.""")
wrong("images transposed", {_PERMUTED: "grid.permute(0, 4, 2, 1, 5, 3)"}).says("""
    You exchanged rows and columns: both the patches and the pixels in a patch go column by column. Rows come first
    in both.""")
wrong("the channels of a pixel together", {_PERMUTED: "grid.permute(0, 2, 4, 3, 5, 1)"}).says("""
    Each token holds the right pixels, but the channels of a pixel stand side by side. Here a token holds its
    channels one after the other, as the kernel of a convolution does: the order is (C, P, P), not (P, P, C).""")
wrong("the channels between rows and columns", {_PERMUTED: "grid.permute(0, 2, 4, 3, 1, 5)"}).says("""
    Each token holds the right pixels, but the channels stand between the rows and the columns of a patch. The order
    in a token is (C, P, P).""")
wrong("channels not moved behind the patches", {_PERMUTED: "grid.permute(0, 1, 2, 4, 3, 5)"}).says("""
    You left the axis of the channels in front of the patches. Joined like this, a token holds patches of one
    channel from several positions. The channels belong to the features of a token: exchange to (B, H/P, W/P, C, P,
    P).""")
wrong(
    "a token for each channel",
    {_PERMUTED: "grid.permute(0, 1, 2, 4, 3, 5)", _BACK: "grid.reshape(batch, -1, patch**2)"},
).says("""
    You made a token of each channel of each patch. A token holds all channels of its patch, so there are N tokens
    of C · P · P features.""")
wrong("the channels left out of a token's size", {_BACK: "grid.reshape(batch, -1, patch**2)"}).says("""
    You gave a token P · P features, so each channel of each patch became a token of its own. A token holds all channels
    of its patch: it has C · P · P features, and there are N tokens.""")
wrong("tokens in the last axis", {_BACK: f"{_BACK}.mT"}).says("""
    Your result is (B, C · P · P, N), which is how `F.unfold` returns it. Exchange the last two axes, because tokens
    come before features.""")
wrong("patches not flattened", {_BACK: "grid.flatten(1, 2)"}).says("""
    Your patches are still images, (B, N, C, P, P). A Transformer reads one vector per token: join the last three
    axes.""")
wrong("the grid of patches kept", {_BACK: "grid.flatten(3)"}).says("""
    You kept the grid, (B, H/P, W/P, C · P · P). A Transformer reads a sequence: join the two axes of the grid into
    one with N = H/P · W/P tokens.""")
wrong("all images in one sequence", {_BACK: "grid.flatten(3).flatten(0, 2)"}).says("""
    You joined the images of the batch into one sequence, so that patches of different images would attend to each
    other. The first axis stays the batch.""")
wrong("the mean of each patch", {_BACK: "grid.mean((4, 5)).flatten(1, 2)"}).says("""
    You averaged the pixels of each patch, which leaves one number per channel. A token holds all of its C · P · P
    pixels; what matters in them is learned by the projection that follows.""")
wrong("the first channel alone", {_BACK: "grid[:, :, :, 0].reshape(batch, rows * columns, -1)"}).says("""
    You took the first channel only. A token holds the pixels of all channels, one channel after the other.""")
wrong("strips of whole rows", "return images.unfold(2, patch, patch).transpose(1, 2).mT.flatten(2)").says("""
    You cut the height only, so that a token is a strip of P whole rows. Cut the width into pieces of P pixels as
    well.""")
wrong(
    "overlapping patches",
    """
tiles = images.unfold(2, patch, 1).unfold(3, patch, 1)  # (B, C, H − P + 1, W − P + 1, P, P)
return tiles.flatten(2, 3).transpose(1, 2).flatten(2)""",
).says("""
    Your patches overlap, because the window moves by one pixel. The patches of a vision Transformer lie side by
    side, so it moves by P pixels, and there are H/P · W/P of them.""")
wrong(
    "the last row and column of patches left out",
    """
rows, columns = range(0, images.shape[2] - patch, patch), range(0, images.shape[3] - patch, patch)
return torch.stack([images[:, :, r : r + patch, c : c + patch].flatten(1) for r in rows for c in columns], dim=1)""",
).says("""
    The last row and the last column of patches are missing. The last patch begins at the pixel H − P, but `range`
    leaves its end out. So its end is H: range(0, H, P), and range(0, W, P) for the columns.""")
STEPS = "range(height // patch) for c in range(width // patch)"
wrong(
    "moved by one pixel",
    f"""
height, width = images.shape[2:]
corners = [(r, c) for r in {STEPS}]
return torch.stack([images[:, :, r : r + patch, c : c + patch].flatten(1) for r, c in corners], dim=1)""",
).says("""
    There are as many tokens as there should be, but your window moves by one pixel from patch to patch, so the patches
    overlap and most of the image is missing. The patch in row r and column c of the grid begins at the pixel (r · P,
    c · P).""")
wrong(
    "as many patches as a patch has pixels",
    {"height // patch, width // patch": "patch, patch", _GRID: "patch, height // patch, patch, width // patch)"},
).says("""
    You cut each side into P pieces. P is the *side of a patch* in pixels, so there are H/P pieces of P pixels each.""")
