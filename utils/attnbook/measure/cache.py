"""What a decoder keeps, in bytes: per word by the kind of its attention, and in all by how many words are kept."""

from attnbook.positive import check_positive


def grouped_cache_bytes(layers: int, key_value_heads: int, head_features: int, number: int = 2) -> int:
    """Bytes per word of keys and values: 2 · layers · G · D/H · ``number``.

    Args:
        key_value_heads: G: as many as heads (multi-head), fewer (grouped queries), or 1 (multi-query).
        head_features: D/H, of a key, and of a value.
        number: bytes of each number: 4 in float32, 2 in bfloat16, 1 in int8.

    Raises:
        ValueError: if one of these is not positive.

    Source: Shazeer 2019 (multi-query); Ainslie et al. 2023, section 2.2 (grouped).

    >>> grouped_cache_bytes(layers=30, key_value_heads=3, head_features=64, number=4)  # SmolLM2-135M
    46080
    """
    check_positive(layers=layers, key_value_heads=key_value_heads, head_features=head_features, number=number)
    return 2 * layers * key_value_heads * head_features * number


def latent_cache_bytes(layers: int, latent: int, turned: int, number: int = 2) -> int:
    """Bytes per word of latent attention: layers · (C + R) · ``number``, whatever the number of heads.

    Args:
        latent: C, features of the compressed vector. turned: R, of the key that all heads share for positions.

    Raises:
        ValueError: if one of these is not positive.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), table 1.

    >>> latent_cache_bytes(layers=60, latent=512, turned=64)  # DeepSeek-V2, in bfloat16
    69120
    """
    check_positive(layers=layers, latent=latent, turned=turned, number=number)
    return layers * (latent + turned) * number


def words_kept(length: int, window: int | None = None, sinks: int = 0) -> int:
    """Of how many words a layer keeps something, after ``length`` of them.

    Args:
        window: how many of the last words it attends to, the present one counted; ``None`` = all.
        sinks: how many of the first ones besides.

    Raises:
        ValueError: if ``length`` or ``window`` is not positive, or ``sinks`` is negative.

    Source: Xiao et al. 2024 (StreamingLLM), section 3.2.

    >>> words_kept(100_000), words_kept(100_000, window=1024), words_kept(100_000, window=1024, sinks=4)
    (100000, 1024, 1028)
    """
    check_positive(length=length)
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0 (none), got {sinks}")
    if window is None:
        return length
    check_positive(window=window)
    return min(length, window + sinks)
