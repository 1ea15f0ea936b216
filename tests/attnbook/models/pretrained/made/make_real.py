"""Stores what `transformers` computes with the real SmolLM2, from the same GGUF file: ``python make_real.py FILE``.

It needs transformers and gguf, which the book does not. For each prompt: its tokens, every 24th logit at each position,
and what greedy search writes. Made with transformers 5.24.0, gguf 0.19.0 and torch 2.13.0.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

PROMPTS = (
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "<|im_start|>user\nWhat is attention?<|im_end|>\n<|im_start|>assistant\n",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, 1234 mal.",
)

file = Path(sys.argv[1])
torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
expected = {}
for number, prompt in enumerate(PROMPTS):
    words = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
    with torch.no_grad():
        logits = model(words).logits
        seen = torch.ones_like(words)  # else the padding symbol, which is also the end of a turn, would be masked
        written = model.generate(
            words, attention_mask=seen, max_new_tokens=20, do_sample=False, pad_token_id=0, eos_token_id=None
        )
    expected |= {f"{number}.words": words, f"{number}.logits": logits[0, :, ::24].contiguous()}
    expected[f"{number}.written"] = written[0, words.shape[1] :].contiguous()
save_file(expected, Path(__file__).parent / "smollm2.expected.safetensors", {str(i): p for i, p in enumerate(PROMPTS)})
