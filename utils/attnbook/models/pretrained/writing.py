"""A pretrained language model writes, and its text comes out word by word."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnbook.decoding.sampling import sampling_probabilities
from attnbook.models.pretrained import Pretrained
from attnbook.models.pretrained.errors import WeightsError
from attnbook.modes import evaluating

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
    device = next(pretrained.model.parameters()).device
    written: list[int] = []
    shown = ""
    for word in _words(pretrained, torch.tensor([words], device=device), temperature, top_p, generator):
        if word in pretrained.ends:
            break
        written.append(word)
        text = pretrained.tokenizer.decode(written)
        if not text.endswith(UNFINISHED):
            yield text[len(shown) :]
            shown = text
        if len(written) >= min(max_length, most - len(words)):
            break


def _words(
    pretrained: Pretrained, prompt: Tensor, temperature: float, top_p: float | None, generator: torch.Generator | None
) -> Iterator[int]:
    """One word after the other, without end: the prompt is read at once, then each word by itself."""
    model = pretrained.model
    logits, state = _read(model, prompt, model.start())
    while True:
        if temperature == 0:
            word = logits.argmax(dim=-1)  # (1, V) -> (1,)
        else:
            chances = sampling_probabilities(logits, temperature, top_p=top_p)  # (1, V)
            word = chances.multinomial(1, generator=generator)[:, 0]  # (1,)
        yield word.item()
        logits, state = _read(model, word[:, None], state)


@evaluating
def _read(model, words: Tensor, state):
    """Read ``words (1, T)``: logits ``(1, V)`` of the next, and the state."""
    logits, state, _ = model.read(words, state)
    return logits[:, -1], state
