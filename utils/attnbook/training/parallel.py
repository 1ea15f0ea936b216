"""Data parallel training: several processes with the same model, each with a share of every batch.

``torchrun --nproc_per_node=2 program.py`` starts the program twice, and tells each process by environment variables
how many there are (``WORLD_SIZE``) and which it is (``RANK``). Inside :func:`process_group` the processes hear of each
other, and :func:`~attnbook.training.fit` shares every batch out. Without ``torchrun`` nothing here does anything.

Source: Li et al. 2020 (torch's DistributedDataParallel).
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import PAD
from attnbook.trees import map_tensors

Value = TypeVar("Value")


@contextmanager
def process_group() -> Iterator[None]:
    """Join the processes that ``torchrun`` has started with this one, and leave them at the end of the block.

    Tensors on the CPU travel by gloo, those on a CUDA device by nccl; each process then has the device ``LOCAL_RANK``.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def _is_joined() -> bool:
    return dist.is_available() and dist.is_initialized()


def size() -> int:
    """How many processes train together; 1 outside of :func:`process_group`."""
    return dist.get_world_size() if _is_joined() else 1


def rank() -> int:
    """The number of this process, from 0 on. Process 0 writes files and shows progress."""
    return dist.get_rank() if _is_joined() else 0


class Share(NamedTuple):
    """A process's part of a batch.

    Fields:
        batch: its rows.
        weight: what its mean loss must be multiplied by, so that the mean over processes is the mean over all words.
    """

    batch: Batch
    weight: float


def share_of(batch: Batch, rank: int, size: int) -> Share:
    """Every ``size``-th row of ``batch``, from row ``rank`` on, and the weight of its loss.

    A loss here is a mean over real words, and shares have different numbers of them. The mean of such means gives a
    word in a share with few words too much influence. So each is multiplied by (words of the share) · size / (words of
    the batch); the mean over processes is then the loss of the whole batch, and so are the gradients. Where the target
    has no words at all, rows are counted instead.

    Raises:
        ValueError: if there are fewer rows than processes.
        TypeError: if ``batch`` is not a :class:`~attnbook.data.batching.Batch`; with one process it may be anything.
    """
    if size == 1:
        return Share(batch, 1.0)
    if not isinstance(batch, Batch):
        raise TypeError(f"batch must be a Batch to be shared between {size} processes, got {type(batch).__name__}")
    if len(batch.target) < size:
        raise ValueError(f"batch must have a row for each of {size} processes, got {len(batch.target)} rows")
    rows = map_tensors(lambda tensor: tensor[rank::size], batch)
    words, all_words = (rows.target != PAD).sum().item(), (batch.target != PAD).sum().item()
    if all_words == 0:  # nothing to be written, as in round trips without labels: their loss is a mean over rows
        words, all_words = len(rows.target), len(batch.target)
    return Share(rows, size * words / all_words)


class Replica(nn.Module):
    """A model whose forward pass is the computation of a loss, so that a loss may use all that the model can do.

    torch's wrapper for several processes has a forward pass alone: a loss that takes a model step by step, or looks at
    one of its parts, finds neither there.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, loss: Callable[[nn.Module, Any], Tensor], batch: Any) -> Tensor:
        """``loss(model, batch)``."""
        return loss(self.model, batch)


def replicated(model: nn.Module) -> nn.Module:
    """``replica(loss, batch)`` is the loss of ``model``; ``backward`` leaves mean gradients in each process.

    All start from the weights of process 0. A loss must use every parameter, unless the model has the attribute
    ``leaves_unused``: then each step looks which ones it has used.
    """
    replica = Replica(model)
    if size() == 1:
        return replica
    return DistributedDataParallel(replica, find_unused_parameters=getattr(model, "leaves_unused", False))


def mean_over_processes(number: Tensor) -> Tensor:
    """The mean of a scalar over all processes, the same in each."""
    if size() == 1:
        return number
    total = number.detach().clone()
    dist.all_reduce(total)
    return total / size()


def from_all(value: Value) -> list[Value]:
    """Every process's ``value``, in the order of their ranks, in every process."""
    values = [value] * size()
    if size() > 1:
        dist.all_gather_object(values, value)
    return values


def from_first(value: Value) -> Value:
    """Process 0's ``value``, in every process."""
    values = [value]
    if size() > 1:
        dist.broadcast_object_list(values, src=0)
    return values[0]
