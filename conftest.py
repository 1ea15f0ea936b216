"""What pytest does for tests and notebooks alike: fast kernels with sockets of their own, and the pretended card where
it is wanted; and no notebook that needs weights which are not here."""

import gc
import os

import kernel_sockets
import pytest
import torch
import warm_kernels
from needed_weights import skip_without_weights

gc.set_threshold(*warm_kernels.SELDOM)  # 17,000 tests are a million objects, and all of them stay
kernel_sockets.install()

if os.environ.get("ATTNBOOK_DEVICE") in ("cpu", "card") or not torch.cuda.is_available():
    warm_kernels.install()  # else not: a fork may not be able to use a card that the process before it has asked for


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_weights(items)
