"""Weights that others have trained, in the book's own blocks: files are read, tensors renamed, nothing is computed.

``load("file.gguf")`` is all that is needed. What happens in it, from the file on: :mod:`.gguf` with :mod:`.dequantise`,
:mod:`.safetensors`, or :mod:`.onnx` with :mod:`.exported` read tensors, :mod:`.files` says what they are,
:mod:`.families` renames them, :mod:`.tokenizers` makes the tokenizer.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.families import build
from attnbook.models.pretrained.files import find
from attnbook.models.pretrained.tokenizers import tokenizer_in, tokenizer_of

__all__ = ["Pretrained", "WeightsError", "load"]


@dataclass(frozen=True)
class Pretrained:
    """A model with somebody else's weights, and what turns text into its words.

    Fields:
        model: a ``LanguageModel``, a ``MaskedLanguageModel`` or a ``VisionTransformer``, in evaluation mode, without
            gradients.
        tokenizer: a ``Tokenizer`` of the package ``tokenizers``; ``None`` where the files hold none.
        ends: the tokens after which a text is over.
    """

    model: Any
    tokenizer: Any
    ends: tuple[int, ...]


def load(path: str | Path, dtype: torch.dtype = torch.float32, fused: bool = False) -> Pretrained:
    """A GGUF file, a safetensors file beside its config.json, a folder of these, or an ONNX file, as one of our models.

    Args:
        path: of a Llama (SmolLM2, TinyLlama), Qwen2, GPT-2, BERT, ViT or DINOv2; of ONNX files DINOv2 alone.
        dtype: of the weights; ``torch.bfloat16`` takes half of the memory.
        fused: attend by torch's fused kernel: faster, and without weights to look at.

    Raises:
        WeightsError: if the files are damaged or foreign, or the model has what our blocks lack. Nothing half loaded is
            left.
    """
    path = Path(path)
    found = find(path)
    model = build(found.family, found.tensors, found.facts, dtype, fused)
    folder = path if path.is_dir() else path.parent
    tokenizer = tokenizer_of(found.told) if found.told else tokenizer_in(folder)
    end = found.told.get("tokenizer.ggml.eos_token_id", found.facts.get("eos_token_id"))
    ends = tuple(end) if isinstance(end, list) else () if end is None else (end,)
    return Pretrained(model, tokenizer, ends)
