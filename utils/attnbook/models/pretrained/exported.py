"""What is left of a DINOv2 that was exported to ONNX, under the names that transformers gives its tensors.

An exporter computes beforehand what does not depend on the input: it transposes matrices, and separates the positions
of the patches from that of the class token. The results have lost their names, but the graph shows what they are used
for. Sizes that stand in no tensor are found in the graph as well.
"""

from typing import Any

from torch import Tensor, cat

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.onnx import Graph, Node

TOKEN = "embeddings.cls_token"
KERNEL = "embeddings.patch_embeddings.projection.weight"
QUERY = "encoder.layer.0.attention.attention.query.bias"
LAYERS = "encoder.layer."


def exported_dinov2(graph: Graph) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors under the names of transformers, and the facts of a config.json.

    A head behind the network, for whatever task, is left out.

    Raises:
        WeightsError: if the graph is not that of a DINOv2 from transformers.
    """
    before = next((name.removesuffix(TOKEN) for name in graph.weights if name.endswith(TOKEN)), None)
    if before is None or not any(name.endswith(".layer_scale1.lambda1") for name in graph.weights):
        some = ", ".join(list(graph.weights)[:3]) or "none"
        raise WeightsError(f"its weights are not those of a DINOv2 as transformers names them, but {some}, …")
    named = graph.weights | matrices(graph) | positions(graph, before)
    tensors = {
        name.removeprefix(before): tensor
        for name, tensor in named.items()
        if name.startswith((f"{before}embeddings.", f"{before}{LAYERS}", f"{before}layernorm."))
    }
    return tensors, facts(graph, tensors, before)


def matrices(graph: Graph) -> dict[str, Tensor]:
    """Matrices that were transposed, each named like the bias that is added to its product."""
    adding = {name: node for node in graph.nodes if node.kind == "Add" for name in node.reads}
    found = {}
    for node in graph.nodes:
        added = next((adding[name] for name in node.makes if name in adding), None)
        matrix = graph.weights.get(node.reads[-1]) if node.kind == "MatMul" and node.reads else None
        if added is not None and matrix is not None:
            bias = next((name for name in added.reads if name in graph.weights), "")
            found[f"{bias.removesuffix('bias')}weight"] = matrix.mT
    return found


def positions(graph: Graph, before: str) -> dict[str, Tensor]:
    """The vectors of all positions, from two tensors without a name.

    Those of the patches are brought into a grid, to be interpolated, and those of the class token are set before them.
    """
    parts: dict[str, Tensor] = {}
    for node in graph.nodes:
        first = node.reads[0] if node.reads else ""
        if node.kind in ("Reshape", "Concat") and first in graph.weights and graph.weights[first].ndim == 3:
            parts[node.kind] = graph.weights[first]
    if len(parts) < 2:
        return {}
    return {f"{before}embeddings.position_embeddings": cat([parts["Concat"], parts["Reshape"]], dim=1)}


def facts(graph: Graph, tensors: dict[str, Tensor], before: str) -> dict[str, Any]:
    """What a config.json would say; what cannot be found is left out, and missed where it is needed."""
    kernel, heads, eps = tensors.get(KERNEL), _heads(graph, f"{before}{QUERY}"), _eps(graph)
    said: dict[str, Any] = {"model_type": "dinov2", "num_attention_heads": heads, "layer_norm_eps": eps}
    if kernel is not None and len(graph.shape) == 4:
        said |= {"hidden_size": kernel.shape[0], "num_channels": kernel.shape[1], "patch_size": kernel.shape[2]}
        said["image_size"] = graph.shape[2] or None
    said["num_hidden_layers"] = len({name.split(".")[2] for name in tensors if name.startswith(LAYERS)})
    if "hidden_size" in said and (inner := tensors.get(f"{LAYERS}0.mlp.fc1.bias")) is not None:
        said["mlp_ratio"] = len(inner) / said["hidden_size"]
    return {name: value for name, value in said.items() if value is not None}


def _heads(graph: Graph, bias: str) -> int | None:
    """The queries ``(B, T, D)`` of the first layer get the shape ``(B, T, H, D/H)``, put together from four numbers."""
    made_by = {name: node for node in graph.nodes for name in node.makes}
    queries = next((node.makes for node in graph.nodes if node.kind == "Add" and bias in node.reads), None)
    split = next((node for node in graph.nodes if node.kind == "Reshape" and node.reads[:1] == queries), None)
    shape = made_by.get(split.reads[-1]) if split else None
    heads = _constant(made_by.get(shape.reads[2])) if shape and len(shape.reads) == 4 else None
    return None if heads is None else int(heads)


def _eps(graph: Graph) -> float | None:
    """What is added to a variance before its root is taken."""
    made_by = {name: node for node in graph.nodes for name in node.makes}
    roots = [made_by.get(name) for node in graph.nodes if node.kind == "Sqrt" for name in node.reads]
    found = [_constant(made_by.get(name)) for add in roots if add and add.kind == "Add" for name in add.reads]
    return next((value for value in found if value is not None), None)


def _constant(node: Node | None) -> float | None:
    return node.value.item() if node and node.value is not None and node.value.numel() == 1 else None
