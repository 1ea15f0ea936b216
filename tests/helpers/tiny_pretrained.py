"""A tiny language model in place of the real one, for tests of the experiments on it: nothing is fetched."""

import torch
from number_words import Numbers
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_model, real_names, smaller_caches
from attnruns.experiments.real_agreement import Reader

SIZE = 120  # tokens


def tiny_pretrained(monkeypatch, *modules, ends=(), **sizes):
    """Fixed weights of two heads, and a text of 600 tokens, for ``real_model`` and the modules that load the model."""
    torch.manual_seed(0)
    model = LanguageModel(SIZE, TransformerConfig(**{"d_model": 16, "heads": 2, "layers": 3, "d_ff": 24} | sizes))
    pretrained = Pretrained(model.eval().requires_grad_(False), Numbers(), ends)
    text = torch.randint(SIZE, (600,), generator=torch.Generator().manual_seed(1))
    for module in (real_model, *modules):
        monkeypatch.setattr(module, "smollm2", lambda dtype=torch.float32: pretrained)
    monkeypatch.setattr(real_model, "book_prose", lambda: " ".join(map(str, text.tolist())))
    return pretrained


def tiny_for_caches(monkeypatch, module):
    """Three layers with fixed weights, and texts of 128 tokens before a list of eight words."""
    pretrained = tiny_pretrained(monkeypatch, module, ends=(2,), d_model=32, d_ff=64)
    monkeypatch.setattr(smaller_caches, "common_words", lambda found: list(range(3, 30)))
    for name, value in {"BEGINNING": 4, "WORDS": 8, "SCORED": 20}.items():
        monkeypatch.setattr(smaller_caches, name, value)
    return pretrained


def tiny_for_names(monkeypatch, *modules):
    """Three layers of two heads with fixed weights, and names of two or three numbers, for ``real_names``."""
    pretrained = tiny_pretrained(monkeypatch, real_names, *modules, positions="rotary")
    values = {"NOTES": [(0, 1)], "FINDS": [(1, 0)], "LATE": 0, "LAST": 2, "DRAWS": 1, "FOR_MEAN": 2, "RARE": 1.1}
    for name, value in (values | {"FRAME": "1 2 3 4 {0} 5 {0}"}).items():
        monkeypatch.setattr(real_names, name, value)
    monkeypatch.setattr(
        real_names, "invented", lambda draw: " ".join(map(str, torch.randint(10, 120, (3,), generator=draw).tolist()))
    )
    return pretrained


def tiny_reader(monkeypatch, module):
    """A reader of sentences with two layers of four heads, two of which share values; ``HEAD`` of the module is 2.3."""
    torch.manual_seed(0)
    config = TransformerConfig(d_model=16, heads=4, layers=2, d_ff=24, key_value_heads=2)
    pretrained = Pretrained(LanguageModel(60, config).eval().requires_grad_(False), Words(), ())
    monkeypatch.setattr(module, "smollm2", lambda: pretrained)
    monkeypatch.setattr(module, "HEAD", (1, 2))
    return Reader(pretrained)
