"""From files to what a family needs: its tensors, and the facts of its configuration under transformers' names."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.exported import exported_dinov2
from attnbook.models.pretrained.families import FAMILIES, PACKED, Family
from attnbook.models.pretrained.gguf import GGUF
from attnbook.models.pretrained.onnx import read_onnx
from attnbook.models.pretrained.safetensors import read_safetensors

# What GGUF says of a Llama, behind "llama." or "qwen2.", and what transformers calls the same.
LLAMA_FACTS = {
    "embedding_length": "hidden_size", "block_count": "num_hidden_layers", "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps", "rope.freq_base": "rope_theta",
    "context_length": "max_position_embeddings", "attention.key_length": "head_dim",
    "rope.scaling.type": "rope_scaling",
}  # fmt: skip


class Found(NamedTuple):
    """What lies in files, before it is a model.

    Fields:
        family: how it is read.
        facts: of its configuration, as in a config.json.
        tensors: by the names of the file.
        told: everything that a GGUF file says, its vocabulary too; empty for others.
    """

    family: Family
    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    told: Mapping[str, Any]


def find(path: Path) -> Found:
    """Read a GGUF file, an ONNX file, a safetensors file beside its config.json, or a folder of GGUF or safetensors.

    Raises:
        WeightsError: if there is nothing of the kind, or the architecture is none of ours.
        OSError: if something cannot be opened.
    """
    if path.is_dir():
        return _from_folder(path)
    if not path.is_file():
        raise WeightsError(f"{path} is neither a file nor a folder")
    if path.suffix == ".safetensors":
        return _from_safetensors([path], path.parent / "config.json")
    return _from_onnx(path) if path.suffix == ".onnx" else _from_gguf(path)


def _from_folder(folder: Path) -> Found:
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return _from_safetensors(files, folder / "config.json")
    packed = sorted(folder.glob("*.gguf"))
    if len(packed) == 1:
        return _from_gguf(packed[0])
    raise WeightsError(f"{folder} holds no *.safetensors, and {len(packed)} *.gguf where one is wanted")


def _from_safetensors(files: list[Path], config: Path) -> Found:
    if not config.is_file():
        raise WeightsError(f"beside {files[0].name} there is no config.json, which says what the tensors are")
    try:
        facts = json.loads(config.read_text("utf-8"))
        kind = facts["model_type"]
    except (ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{config} is no configuration of a model: it names no model_type") from error
    if kind not in FAMILIES:
        raise WeightsError(f"the model is of the kind {kind!r}; the book's blocks can be {', '.join(FAMILIES)}")
    tensors: dict[str, Tensor] = {}
    for file in files:
        tensors |= read_safetensors(file)
    return Found(FAMILIES[kind], usual(facts), tensors, {})


def _from_gguf(path: Path) -> Found:
    file = GGUF(path)
    kind = file.facts.get("general.architecture", "")
    if kind not in PACKED:
        known = " and ".join(PACKED)
        raise WeightsError(f"{path.name} holds a model of the kind {kind!r}; of GGUF files {known} can be read")
    facts = {theirs: file.facts.get(f"{kind}.{name}") for name, theirs in LLAMA_FACTS.items()}
    facts = {name: value for name, value in facts.items() if value is not None}
    facts |= {"model_type": kind, "tie_word_embeddings": "output.weight" not in file.described}
    tensors = {name: file.tensor(name) for name in file.described}
    return Found(PACKED[kind], usual(facts), tensors, file.facts)


def _from_onnx(path: Path) -> Found:
    tensors, facts = exported_dinov2(read_onnx(path))
    return Found(FAMILIES["dinov2"], facts, tensors, {})


def usual(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts in the form that families read: what newer files nest is laid flat, and what a kind implies is said."""
    rope = facts.get("rope_parameters") or {}
    if rope.get("rope_type", "default") != "default":
        facts = {**facts, "rope_scaling": rope["rope_type"]}
    if "rope_theta" in rope:
        facts = {**facts, "rope_theta": rope["rope_theta"]}
    if facts["model_type"] == "qwen2":
        facts = {**facts, "attention_bias": True}
    return facts
