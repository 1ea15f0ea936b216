"""What tests of several experiments need."""

import pytest
import torch
from torch import nn

from attnbook.data import number_lists
from attnbook.data.batching import Task
from attnruns.experiments import numbers


@pytest.fixture(scope="session")
def number_task() -> Task:
    """A few lists of numbers."""
    return number_lists(train=64, validation=4, test_per_size=2, longer_per_size=1)


@pytest.fixture(scope="session")
def untrained(number_task) -> nn.Module:
    """A model with attention for them, with fixed weights, in evaluation mode."""
    torch.manual_seed(0)
    return numbers.build("attention", number_task).eval()
