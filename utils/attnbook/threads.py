"""How many threads torch uses: a small model trains and decodes faster with one than with two."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

import torch

SMALL = 2_000_000  # parameters; below that the products are so small that threads mostly wait for each other


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch compute with so many threads in this block; afterwards as before.

    Args:
        count: how many, at least one.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_thread_if_small(model) -> Iterator[None]:
    """Let torch use one thread in this block if ``model`` is small and on the CPU; afterwards as many as before.

    Threads wait for each other after every product. On a machine whose cores are busy each of these waits can take as
    long as the system lets another program run, and a small model makes thousands of small products a second.

    Args:
        model: anything with ``parameters()``; small means fewer than ``SMALL`` parameters, all of them on the CPU.
            What has no ``parameters`` is left alone.
    """
    if torch.get_num_threads() == 1 or not _is_small(model):
        yield
        return
    with threads(1):
        yield


def _is_small(model) -> bool:
    if not hasattr(model, "parameters"):
        return False
    parameters = list(model.parameters())
    return all(p.device.type == "cpu" for p in parameters) and sum(p.numel() for p in parameters) < SMALL


def small_on_one_thread(work: Callable) -> Callable:
    """Decorate a function whose first argument is a model: it runs inside :func:`one_thread_if_small`."""

    @wraps(work)
    def run(model, *arguments, **options):
        with one_thread_if_small(model):
            return work(model, *arguments, **options)

    return run
