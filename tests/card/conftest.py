"""All tests of this folder need the pretended card, and pretend nothing where it cannot be had."""

import pretended_card
import pytest
import torch


@pytest.fixture(autouse=True)
def card_is_in():
    """The card is in this process, or the test is skipped with the reason."""
    if reason := pretended_card.why_not():
        pytest.skip(reason)
    pretended_card.put_in()


@pytest.fixture
def cpu() -> torch.Tensor:
    """``(3, 3)`` on the CPU, all 2."""
    return torch.full((3, 3), 2.0)


@pytest.fixture
def card() -> torch.Tensor:
    """``(3, 3)`` on the card, all 1."""
    return torch.ones(3, 3, device="card")
