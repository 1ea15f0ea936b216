"""A decoder without weights, whose every word is known beforehand: what decoding exercises are tried on."""

import torch
from torch import Tensor
from torch.nn import functional as F

from misread.fakes import Fake, check_shape, check_words

WITHOUT_END = 100  # words, many times what an exercise asks for


class FakeDecoder(Fake):
    """`decoder(token (B,), state (B, 2)) -> (logits (B, V), state (B, 2))`, for some or all sentences.

    Sentence b says `script[b]`, word by word, as long as it is given back the word it said before (`bos` at
    first) and the state it returned; otherwise it says something else. The state holds each sentence's
    number and its step, so any rows may be stepped together."""

    def __init__(self, script: Tensor, noise: Tensor, bos: int):
        self.script, self.noise, self.bos = script, noise, bos  # (B, L), (B, L, V), int

    def __call__(self, token: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        check_shape("step", "state", state, "B", 2, hint="; give back the state that step returned")
        check_shape("step", "token", token, len(state), hint=", one word per sentence")
        check_words("step", "token", token, state)
        row, step = state.long().unbind(1)  # (B,), (B,)
        if step.device.type == "cpu" and (step >= WITHOUT_END).any():
            raise RuntimeError(f"step: called more than {WITHOUT_END} times in a row, far beyond `max_length`")
        step = step.clamp(max=self.script.shape[1] - 1)
        heard = torch.where(step == 0, self.bos, self.script[row, (step - 1).clamp(min=0)])  # (B,)
        said = torch.where(token == heard, self.script[row, step], self.script[row, step] + 1)  # (B,)
        words = self.noise.shape[2]
        logits = self.noise[row, step] + 3.5 * F.one_hot(said % words, words)  # (B, V)
        return logits, torch.stack([state[:, 0], state[:, 1] + 1], dim=1)  # (B, V), (B, 2)

    def start(self) -> Tensor:
        """The state `(B, 2)` before the first word."""
        rows = torch.arange(self.script.shape[0], dtype=self.noise.dtype)
        return torch.stack([rows, torch.zeros_like(rows)], dim=1)  # (B, 2)

    def size(self) -> int:
        return self.script.numel()

    def __repr__(self) -> str:
        sentences = [" ".join(map(str, row)) for row in self.script.tolist()]
        return f"a decoder that would say {' | '.join(sentences)}"


def fake_decoder(
    draw, batch: int, length: int, words: int, bos: int, eos: int, ends: list[int] | None = None
) -> FakeDecoder:
    """A random decoder. `ends` says at which step each sentence ends; without it sentence 1 ends first, then
    sentence 0, and sentence 2 not within `length` steps. What would come after an end are other words."""
    others = torch.tensor([word for word in range(words) if word not in (bos, eos, eos - 1)])
    script = others[draw.integers(0, len(others), batch, length)]  # (B, L)
    for row in range(batch):
        if ends is not None:
            script[row, ends[row]] = eos
        elif row != 2:
            script[row, {0: 2, 1: 1}.get(row, draw.integer(1, length))] = eos
    return FakeDecoder(script, draw.uniform(batch, length, words, low=-1.5, high=1.5), bos)
