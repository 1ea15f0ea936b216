"""A pretrained language model writes, and its text comes out word by word."""

from collections.abc import Iterator

import torch

from attnbook.decoding import chooser, stream
from attnbook.models.pretrained import Pretrained
from attnbook.models.pretrained.errors import WeightsError

BEGIN, END = "<|im_start|>", "<|im_end|>"  # of a turn, in the form that SmolLM2, Qwen and others were trained with
UNFINISHED = "\ufffd"  # what a decoder shows for bytes that are not yet a whole letter


def as_chat(question: str, system: str = "You are a helpful AI assistant named SmolLM, trained by Hugging Face") -> str:
    """A question as such models were trained to answer it: turns with a role each, and the answer's beginning."""
    turns = "".join(f"{BEGIN}{role}\n{text}{END}\n" for role, text in (("system", system), ("user", question)))
    return f"{turns}{BEGIN}assistant\n"


def write(
    pretrained: Pretrained, prompt: str, max_length: int = 200, temperature: float = 0.0, top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[str]:  # fmt: skip
    """Go on from ``prompt``: yields each piece of text as soon as its letters are whole, until the model ends.

    Args:
        max_length: tokens at most.
        temperature, top_p: see :func:`~attnbook.decoding.sampling_probabilities`; temperature 0 takes the likeliest.
        generator: of the random numbers, on the device of the model.

    Raises:
        WeightsError: if there is no tokenizer, or the model does not write.
        ValueError: if the prompt is empty, or longer than the positions that the model knows.
    """
    if pretrained.tokenizer is None:
        raise WeightsError("the files hold no tokenizer, so there is nothing that turns text into the model's words")
    if not hasattr(pretrained.model, "read"):
        raise WeightsError(f"a {type(pretrained.model).__name__} reads and does not write")
    words = pretrained.tokenizer.encode(prompt, add_special_tokens=False).ids
    most = pretrained.model.config.max_length
    if not 0 < len(words) < most:
        raise ValueError(f"the prompt has {len(words)} tokens, where 1 to {most - 1} are wanted")
    model, choose = pretrained.model, chooser(temperature, top_p=top_p, generator=generator)
    read = torch.tensor([words], device=next(model.parameters()).device)  # (1, t)
    written: list[int] = []
    shown = ""
    for token, _ in stream(model, prompt=read, max_length=min(max_length, most - len(words)), choose=choose, eos=-1):
        word = int(token)
        if word in pretrained.ends:  # there may be several, and ``eos`` is one
            return
        written.append(word)
        text = pretrained.tokenizer.decode(written)
        if not text.endswith(UNFINISHED):
            yield text[len(shown) :]
            shown = text
