"""A tiny language model in place of the real one, for tests of the experiments on it: nothing is fetched."""

import torch
from number_words import Numbers

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_model

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
