"""What pytest does for tests and notebooks alike: fast kernels, with the pretended card where it is wanted."""

import os

import torch
import warm_kernels

if os.environ.get("ATTNBOOK_DEVICE") in ("cpu", "card") or not torch.cuda.is_available():
    warm_kernels.install()  # else not: a fork may not be able to use a card that the process before it has asked for
