"""Numbers of things, of which there must be at least one."""


def check_positive(**numbers: int) -> None:
    """Refuse a number below 1.

    Args:
        numbers: each under the name that the caller's own argument has.

    Raises:
        ValueError: for the first that is too small, with its name.

    >>> check_positive(width=4, max_length=20)
    """
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")
