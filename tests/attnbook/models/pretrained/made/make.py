"""Makes the tiny random models beside this file, with what `transformers` computes with them: ``python make.py``.

It needs transformers, which the book does not; so the models are stored. Each folder holds config.json and
model.safetensors as transformers writes them; NAME.expected.safetensors, words or images, logits or last states, the
weights of the first layer, and what greedy search writes. Names on the command line make these models alone. Made with
transformers 5.24.0 and torch 2.13.0.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import (
    BertConfig,
    BertModel,
    Dinov2Config,
    Dinov2Model,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    ViTConfig,
    ViTForImageClassification,
)

HERE = Path(__file__).parent
ROTARY = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "initializer_range": 0.3,
    "eos_token_id": 2, "bos_token_id": 1,
}  # fmt: skip
PATCHES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 12, "patch_size": 4,
    "num_channels": 3, "initializer_range": 0.3,
}  # fmt: skip
MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig(**ROTARY, rope_parameters={"rope_type": "default", "rope_theta": 5000.0})),
    "qwen2": (
        Qwen2ForCausalLM,
        Qwen2Config(**ROTARY, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
    ),
    "gpt2": (
        GPT2LMHeadModel,
        GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, initializer_range=0.3,
                   bos_token_id=1, eos_token_id=2),
    ),
    "bert": (
        BertModel,
        BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                   max_position_embeddings=64, initializer_range=0.3),
    ),
    "vit": (ViTForImageClassification, ViTConfig(**PATCHES, intermediate_size=48, num_labels=5)),
    "dinov2": (Dinov2Model, Dinov2Config(**PATCHES, mlp_ratio=2)),
}  # fmt: skip

for name, (kind, config) in MODELS.items():
    if name not in sys.argv[1:] and sys.argv[1:]:
        continue
    torch.manual_seed(0)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    for parameter in model.parameters():  # biases and norms are no longer zeros and ones
        parameter.data += 0.05 * torch.randn_like(parameter)
    folder = HERE / name
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    words = torch.randint(3, 64, (2, 9))
    given = {"images": torch.randn(2, 3, 12, 12)} if name in ("vit", "dinov2") else {"words": words}
    with torch.no_grad():
        seen = model(*given.values(), output_attentions=True)
        expected = given | {"weights": seen.attentions[0].contiguous()}
        if name in ("bert", "dinov2"):
            expected["states"] = seen.last_hidden_state
        else:
            expected["logits"] = seen.logits
        if name in ("llama", "qwen2", "gpt2"):
            written = model.generate(words, max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None)
            expected["written"] = written[:, words.shape[1] :].contiguous()
    save_file(expected, HERE / f"{name}.expected.safetensors")
