"""What all tests share: each device that is there and a pretended one, both number types, one thread, hypothesis on a
leash."""

import gc
import os
import signal
from collections.abc import Callable, Iterator

import pretended_card
import pytest
import torch
from hypothesis import HealthCheck, settings
from small_task import knowing, task  # noqa: F401 (fixtures)
from torch import Tensor

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what it starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else no test could interrupt what it starts

DEVICES = ["cpu"]
if os.environ.get("ATTNBOOK_DEVICE") != "cpu":  # GitHub's Macs list a graphics device that cannot hold a tensor
    DEVICES += ["cuda"] if torch.cuda.is_available() else []
    DEVICES += ["mps"] if torch.backends.mps.is_available() else []
if "cuda" in DEVICES:
    torch.backends.cudnn.allow_tf32 = False  # its short mantissa would drown the differences that we look for

# Chromium takes minutes for a group of pages (`helpers/seen_pages.py`), so its files are shared out before all others.
LONGEST = [f"test_browser_{group}.py" for group in ("others", "part_2", "solutions", "part_1")]
LONGEST += ["test_journey.py", "test_notebooks.py", "test_marking.py", "test_class.py"]  # of the folders that come last
LONGEST += ["test_newexercise.py", "test_kernels.py", "test_command.py", "test_side_by_side.py", "test_remote.py"]
LONGEST += ["test_gradebook.py", "test_handout.py"]
LONGEST += [f"test_lab{number}.py" for number in ("13", "14", "10", "09", "07", "08", "03")]

# A busy machine must not fail a test, so nothing looks at the clock. In CI the same examples come each time.
settings.register_profile("attnbook", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("attnbook-ci", settings.get_profile("attnbook"), derandomize=True, database=None)
settings.load_profile("attnbook-ci" if os.environ.get("CI") else "attnbook")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no worker is left with one when the other has run out of work.

    Of tests with two number types the card takes single precision alone: it is there for its strictness about devices,
    and double precision is seen on the CPU.
    """
    items[:] = [item for item in items if not _doubly_precise_on_the_card(item)]
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))  # stable: the others keep their order


def pytest_collection_finish(session: pytest.Session) -> None:
    """Put the pretended card in, if a test wants it: before the first ``backward()``, when torch counts its devices.

    And what is loaded by now stays: torch's million objects are not searched for garbage again and again.
    """
    asked = os.environ.get("ATTNBOOK_DEVICE") == "card"
    if asked or (any(map(_wants_the_card, session.items)) and not pretended_card.why_not()):
        pretended_card.put_in()
    gc.collect()
    gc.freeze()


def _doubly_precise_on_the_card(item: pytest.Item) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("device") == "card" and params.get("dtype") == torch.float64


def _wants_the_card(item: pytest.Item) -> bool:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "card" in item.path.parts or any(isinstance(value, str) and value == "card" for value in values)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Sums come out alike on machines with more cores, and two workers do not fight over two."""
    torch.set_num_threads(1)


@pytest.fixture(params=[*DEVICES, "card"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Each device that is there; the CPU always, and the pretended card where it can be built.

    The card has float64 only in a test that asks for it by ``float64``, so that all others hold on a Mac.
    """
    if request.param != "card":
        yield torch.device(request.param)
        return
    if reason := pretended_card.why_not():
        pytest.skip(reason)
    with pretended_card.without_float64():
        yield torch.device("card")


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def dtype(request: pytest.FixtureRequest, device: torch.device) -> torch.dtype:
    """Both number types, where the device has them."""
    if device.type == "mps" and request.param == torch.float64:
        pytest.skip("mps has no float64")
    return request.param


@pytest.fixture
def float64(device: torch.device) -> torch.dtype:
    """For a test that needs its digits; skipped on a device that has none."""
    if device.type == "mps":
        pytest.skip("mps has no float64")
    if device.type == "card":
        torch.ops.card.allow_float64(True)
    return torch.float64


@pytest.fixture
def draw(device: torch.device, dtype: torch.dtype) -> Callable[..., Tensor]:
    """``draw(2, 3, seed=1)``: normal numbers, the same on each device; ``grad=True`` makes a leaf."""

    def normal(*shape: int, seed: int = 0, grad: bool = False) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        numbers = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return numbers.to(dtype).to(device).requires_grad_(grad)

    return normal


@pytest.fixture
def close(dtype: torch.dtype) -> Callable[..., None]:
    """``close(got, wanted)``: equal but for rounding, in device and dtype too."""
    tolerance = 2e-5 if dtype == torch.float32 else 1e-10

    def assert_close(got: Tensor, wanted: Tensor) -> None:
        torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)

    return assert_close


@pytest.fixture(autouse=True)
def same_beginning():
    """Untrained weights are the same in each run, whatever tests came before in this process."""
    if DEVICES == ["cpu"]:
        torch.default_generator.manual_seed(0)
        if pretended_card.is_in():
            torch.ops.card.manual_seed(0)
    else:  # for each device; without one torch would note the whole stack each time, for a card that never comes
        torch.manual_seed(0)
