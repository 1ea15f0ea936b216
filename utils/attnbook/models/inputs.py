"""What the models ask of their input, said once."""

from torch import Tensor


def check_source(source: Tensor, lengths: Tensor) -> None:
    """Raise a ValueError unless ``source`` is ``(B, Tk)`` with B > 0 and ``lengths`` is ``(B,)``."""
    if source.ndim != 2 or len(source) == 0:
        raise ValueError(f"source must have shape (B, Tk) with B > 0, got {tuple(source.shape)}")
    if lengths.shape != (len(source),):
        raise ValueError(f"lengths must have shape ({len(source)},), one a sentence, got {tuple(lengths.shape)}")


def check_words(words: Tensor) -> None:
    """Raise a ValueError unless ``words``, which a language model reads, is ``(B, T)`` with B > 0 and T > 0."""
    if words.ndim != 2 or 0 in words.shape:
        raise ValueError(f"words must have shape (B, T) with B > 0 and T > 0, got {tuple(words.shape)}")


def check_decoder_input(decoder_input: Tensor, source: Tensor) -> None:
    """Raise a ValueError unless ``decoder_input`` is ``(B, T)`` with the batch of ``source`` and T > 0."""
    if decoder_input.ndim != 2 or len(decoder_input) != len(source) or decoder_input.shape[1] == 0:
        raise ValueError(
            f"decoder_input must have shape ({len(source)}, T) with T > 0, got {tuple(decoder_input.shape)}"
        )
