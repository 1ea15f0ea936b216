"""What the files of each family call the parts of our blocks, and which configuration makes our blocks that family.

A file's tensor is renamed, and sometimes laid out anew; nothing is computed. What a family has and our blocks lack is
refused by :class:`~attnbook.models.pretrained.errors.WeightsError`. Families that read images stand in
:mod:`~attnbook.models.pretrained.vision`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.models.bert import MaskedLanguageModel
from attnbook.models.block import TransformerConfig
from attnbook.models.language_model import LanguageModel
from attnbook.models.pretrained.errors import WeightsError
from attnbook.models.pretrained.layouts import lay_out_by_columns
from attnbook.models.pretrained.renaming import Facts, State, refuse, renamed
from attnbook.models.pretrained.vision import dinov2, of_patches, vit, vit_config

Make = Callable[[State, Facts, TransformerConfig], nn.Module]


class Family(NamedTuple):
    """How files of one kind are read.

    Fields:
        config: the facts of a file -> the configuration.
        rename: the file's tensors, the facts -> tensors under our names.
        make: tensors under our names, the facts, the configuration -> a model, whose weights are not yet these.
    """

    config: Callable[[Facts], TransformerConfig]
    rename: Callable[[Mapping[str, Tensor], Facts], State]
    make: Make


def tied(state: State) -> State:
    """With the output layer, which a file leaves out where it is the transpose of the word vectors."""
    return {"output.weight": state["embed.words.weight"], **state} if "embed.words.weight" in state else state


def neighbouring_pairs(weight: Tensor, heads: int) -> Tensor:
    """Rows of a projection of queries or keys, so that rotary positions turn neighbours: feature i and i + D_h/2 meet.

    Files of transformers turn feature i of a head together with feature i + D_h/2; Su et al., GGUF and we turn 2i with
    2i + 1. Both are the same model once the rows of query and key are laid out anew in the same way.
    """
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])  # (H, 2, D_h/2, ...), D_h features per head
    return halves.transpose(1, 2).reshape(weight.shape)


def of_words(kind: Callable[[int, TransformerConfig], nn.Module]) -> Make:
    """How a model is made that a vocabulary's size and a configuration describe."""

    def make(state: State, facts: Facts, config: TransformerConfig) -> nn.Module:
        if "embed.words.weight" not in state:
            raise WeightsError(f"there are no word vectors among {', '.join(list(state)[:4])}, …")
        return kind(len(state["embed.words.weight"]), config)

    return make


# ---- Llama: SmolLM2, TinyLlama, Qwen2 -------------------------------------------------------------------------------
LLAMA_GGUF = {
    "attn_norm": "norm_self", "ffn_norm": "norm_feed_forward", "attn_q": "self_attention.project_query",
    "attn_k": "self_attention.project_key", "attn_v": "self_attention.project_value",
    "attn_output": "self_attention.project_output", "ffn_gate": "feed_forward.gate", "ffn_up": "feed_forward.widen",
    "ffn_down": "feed_forward.narrow",
}  # fmt: skip
LLAMA = {
    "input_layernorm": "norm_self", "post_attention_layernorm": "norm_feed_forward",
    "self_attn.q_proj": "self_attention.project_query", "self_attn.k_proj": "self_attention.project_key",
    "self_attn.v_proj": "self_attention.project_value", "self_attn.o_proj": "self_attention.project_output",
    "mlp.gate_proj": "feed_forward.gate", "mlp.up_proj": "feed_forward.widen", "mlp.down_proj": "feed_forward.narrow",
}  # fmt: skip


def llama_config(facts: Facts) -> TransformerConfig:
    """Pre-norm by root mean square, SwiGLU, rotary positions, grouped queries, no biases."""
    refuse(facts, hidden_act="silu", rope_scaling=None, use_sliding_window=False, mlp_bias=False)
    width, heads, inner = facts["hidden_size"], facts["num_attention_heads"], facts["intermediate_size"]
    refuse(facts, head_dim=width // heads)
    return TransformerConfig(
        d_model=width, heads=heads, key_value_heads=facts.get("num_key_value_heads") or heads,
        layers=facts["num_hidden_layers"], d_ff=-(-inner * 3 // 2), normalisation="rms", feed_forward="swiglu",
        bias=bool(facts.get("attention_bias")), positions="rotary", rotary_base=float(facts.get("rope_theta", 10000.0)),
        eps=facts["rms_norm_eps"], max_length=facts["max_position_embeddings"], scale_words=False,
        tied=bool(facts.get("tie_word_embeddings")),
    )  # fmt: skip


def llama(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """Names of transformers; queries and keys are laid out for neighbouring pairs."""
    outside = {"model.embed_tokens": "embed.words", "model.norm": "blocks.last_norm", "lm_head": "output"}
    state = renamed(tensors, outside, "model.layers.{}.", LLAMA)
    heads = {
        "query": facts["num_attention_heads"],
        "key": facts.get("num_key_value_heads") or facts["num_attention_heads"],
    }
    for name in state:
        for kind, count in heads.items():
            if f"project_{kind}." in name:
                state[name] = neighbouring_pairs(state[name], count)
    return with_zero_biases(tied(state), facts)


def llama_gguf(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """Names of GGUF, whose queries and keys have neighbouring pairs already."""
    outside = {"token_embd": "embed.words", "output_norm": "blocks.last_norm", "output": "output"}
    return with_zero_biases(tied(renamed(tensors, outside, "blk.{}.", LLAMA_GGUF)), facts)


def with_zero_biases(state: State, facts: Facts) -> State:
    """Qwen2 has biases of query, key and value alone, and ours come all together; our output layer has one if not tied.

    A bias of zeros adds nothing.
    """
    if not facts.get("tie_word_embeddings") and "output.weight" in state:
        state.setdefault("output.bias", state["output.weight"].new_zeros(len(state["output.weight"])))
    if facts.get("attention_bias"):
        for name in [name for name in state if name.startswith("blocks.layers.") and name.endswith(".weight")]:
            if state[name].ndim == 2:
                state.setdefault(name.removesuffix("weight") + "bias", state[name].new_zeros(len(state[name])))
    return state


# ---- GPT-2 ----------------------------------------------------------------------------------------------------------
GPT2 = {
    "ln_1": "norm_self", "ln_2": "norm_feed_forward", "attn.c_proj": "self_attention.project_output",
    "mlp.c_fc": "feed_forward.widen", "mlp.c_proj": "feed_forward.narrow",
}  # fmt: skip


def gpt2_config(facts: Facts) -> TransformerConfig:
    """Pre-norm, learned positions, the approximated GELU."""
    refuse(facts, activation_function="gelu_new", scale_attn_by_inverse_layer_idx=False, tie_word_embeddings=True)
    width = facts["n_embd"]
    return TransformerConfig(
        d_model=width, heads=facts["n_head"], layers=facts["n_layer"], d_ff=facts.get("n_inner") or 4 * width,
        positions="learned", max_length=facts["n_positions"], feed_forward="gelu_tanh",
        eps=facts["layer_norm_epsilon"], scale_words=False,
    )  # fmt: skip


def gpt2(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """Matrices are stored as (in, out), and query, key and value in one; old files store masks as well."""
    kept = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    kept = {name: tensor for name, tensor in kept.items() if not name.endswith((".attn.bias", ".attn.masked_bias"))}
    if "wpe.weight" in kept:
        kept["wpe.vectors"] = kept.pop("wpe.weight")
    for name in [name for name in kept if name.startswith("h.")]:
        tensor = kept.pop(name)
        tensor = tensor.mT if tensor.ndim == 2 else tensor
        if ".attn.c_attn." not in name:
            kept[name] = tensor
            continue
        for part, third in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
            kept[name.replace("c_attn", part)] = third
    parts = {f"attn.{part}": f"self_attention.project_{part}" for part in ("query", "key", "value")}
    outside = {"wte": "embed.words", "wpe": "embed.add_positions", "ln_f": "blocks.last_norm", "lm_head": "output"}
    return tied(renamed(kept, outside, "h.{}.", GPT2 | parts))


# ---- BERT: MiniLM ---------------------------------------------------------------------------------------------------
BERT = {
    "attention.self.query": "self_attention.project_query", "attention.self.key": "self_attention.project_key",
    "attention.self.value": "self_attention.project_value", "attention.output.dense": "self_attention.project_output",
    "attention.output.LayerNorm": "norm_self", "intermediate.dense": "feed_forward.widen",
    "output.dense": "feed_forward.narrow", "output.LayerNorm": "norm_feed_forward",
}  # fmt: skip


def bert_config(facts: Facts) -> TransformerConfig:
    """Post-norm, learned positions, GELU, and a norm of the words before the first block."""
    refuse(facts, hidden_act="gelu", position_embedding_type="absolute")
    return TransformerConfig(
        d_model=facts["hidden_size"], heads=facts["num_attention_heads"], layers=facts["num_hidden_layers"],
        d_ff=facts["intermediate_size"], norm="post", positions="learned", max_length=facts["max_position_embeddings"],
        feed_forward="gelu", eps=facts["layer_norm_eps"], scale_words=False, norm_words=True,
    )  # fmt: skip


def bert(tensors: Mapping[str, Tensor], facts: Facts) -> State:
    """One sentence at a time has one type, whose vector is added to the positions; the pooler is not ours."""
    kept = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    unread = ("pooler.", "cls.", "embeddings.position_ids")
    kept = {name: tensor for name, tensor in kept.items() if not name.startswith(unread)}
    if {"embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"} <= set(kept):
        types = kept.pop("embeddings.token_type_embeddings.weight")
        kept["positions.vectors"] = kept.pop("embeddings.position_embeddings.weight") + types[0]
    outside = {"embeddings.word_embeddings": "embed.words", "embeddings.LayerNorm": "embed.norm",
               "positions": "embed.add_positions"}  # fmt: skip
    return tied(renamed(kept, outside, "encoder.layer.{}.", BERT))


FAMILIES = {  # by ``model_type`` of a config.json
    "llama": Family(llama_config, llama, of_words(LanguageModel)),
    "qwen2": Family(llama_config, llama, of_words(LanguageModel)),
    "gpt2": Family(gpt2_config, gpt2, of_words(LanguageModel)),
    "bert": Family(bert_config, bert, of_words(MaskedLanguageModel)),
    "vit": Family(vit_config, vit, of_patches),
    "dinov2": Family(vit_config, dinov2, of_patches),
}
PACKED = {  # by ``general.architecture`` of a GGUF file
    "llama": Family(llama_config, llama_gguf, of_words(LanguageModel)),
    "qwen2": Family(llama_config, llama_gguf, of_words(LanguageModel)),
}


def build(
    family: Family, tensors: Mapping[str, Tensor], facts: Facts, dtype: torch.dtype = torch.float32, fused: bool = False
) -> nn.Module:
    """A model of this family with these weights, in evaluation mode; nothing is drawn that is replaced at once.

    Raises:
        WeightsError: if the facts lack something, a tensor is missing, left over, or of another shape.
    """
    try:
        config, state = replace(family.config(facts), fused=fused), family.rename(tensors, facts)
        with torch.device("meta"):
            model = family.make(state, facts, config)
    except KeyError as error:
        raise WeightsError(f"the file does not say {error.args[0]} of its model") from error
    except TypeError as error:
        nothing = ", ".join(name for name, value in facts.items() if value is None)
        raise WeightsError(f"the file says nothing usable of its model: {nothing or error}") from error
    check_names(state, model.state_dict())
    model.load_state_dict({name: tensor.to(dtype) for name, tensor in state.items()}, assign=True)
    if config.tied:
        model.output.weight = model.embed.words.weight  # type: ignore[union-attr]  # `assign` has given it a tensor of its own
    if dtype == torch.float32:
        lay_out_by_columns(model)
    return model.eval().requires_grad_(False)


def check_names(state: State, wanted: Mapping[str, Tensor]) -> None:
    """Raise WeightsError for a tensor that is missing, left over, or of another shape than the model's."""
    for what, names in (
        ("lacks tensors of", wanted.keys() - state.keys()),
        ("has tensors that are no part of", state.keys() - wanted.keys()),
    ):
        if names:
            shown = ", ".join(sorted(names)[:3])
            raise WeightsError(f"the file {what} the model, {len(names)} of them: {shown}")
    for name, tensor in state.items():
        if tensor.shape != wanted[name].shape:
            raise WeightsError(
                f"{name} is {tuple(tensor.shape)} in the file, and {tuple(wanted[name].shape)} in the model"
            )
