"""One thread for small models, and as many as before afterwards."""

import pytest
import torch
from torch import nn

from attnbook import threads
from attnbook.decoding import WithoutCache, beam, greedy
from attnbook.models import PlainSeq2Seq
from attnbook.threads import one_thread_if_small, small_on_one_thread
from attnbook.training import fit


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads, as a machine with two cores has them; put back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_small_model_has_one_thread_in_the_block_and_two_come_back():
    with one_thread_if_small(nn.Linear(3, 3)):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_the_threads_come_back_after_an_error():
    with pytest.raises(RuntimeError, match="so it goes"), one_thread_if_small(nn.Linear(3, 3)):
        raise RuntimeError("so it goes")
    assert torch.get_num_threads() == 2


def test_a_large_model_keeps_its_threads(monkeypatch):
    monkeypatch.setattr(threads, "SMALL", 12)
    with one_thread_if_small(nn.Linear(3, 3)):  # 9 weights and 3 biases
        assert torch.get_num_threads() == 2
    monkeypatch.setattr(threads, "SMALL", 13)
    with one_thread_if_small(nn.Linear(3, 3)):
        assert torch.get_num_threads() == 1


def test_a_model_elsewhere_than_on_the_cpu_and_what_is_no_model_keep_the_threads():
    for model in (nn.Linear(3, 3, device="meta"), object()):
        with one_thread_if_small(model):
            assert torch.get_num_threads() == 2


def test_one_thread_stays_one():
    torch.set_num_threads(1)
    with one_thread_if_small(nn.Linear(3, 3)):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 1


def test_a_decorated_function_keeps_its_name_and_its_arguments():
    @small_on_one_thread
    def work(model, number, *, twice):
        """What it says."""
        return torch.get_num_threads(), number * twice

    assert work(nn.Linear(3, 3), 4, twice=2) == (1, 8)
    assert work.__doc__ == "What it says."


class Watching(PlainSeq2Seq):
    """Notes how many threads there are at each step."""

    def __init__(self):
        super().__init__(7, 7, embedding=6, hidden=12)
        self.threads = set()

    def step(self, token, state):
        self.threads.add(torch.get_num_threads())
        return super().step(token, state)


@pytest.mark.parametrize("decode", [greedy, beam], ids=["greedy", "beam"])
def test_small_models_decode_on_one_thread(decode):
    model = Watching()
    decode(model, torch.tensor([[3, 4]]), torch.tensor([2]), max_length=3)
    assert model.threads == {1}
    assert torch.get_num_threads() == 2


def test_a_model_without_its_cache_decodes_on_one_thread_too():
    seen = set()

    class Slow(WithoutCache):
        def start(self, source, lengths):
            return torch.zeros(1, 1)

        def step(self, token, state):
            seen.add(torch.get_num_threads())
            return torch.zeros(1, 7), state, None

    greedy(Slow(PlainSeq2Seq(7, 7)), torch.tensor([[3, 4]]), torch.tensor([2]), max_length=3)
    assert seen == {1}


def test_small_models_train_and_validate_on_one_thread():
    seen = []

    def loss(model, batch):
        seen.append(torch.get_num_threads())
        return model.weight.sum()

    def validate(model):
        seen.append(torch.get_num_threads())
        return 0.0

    fit(nn.Linear(2, 2), lambda step: torch.zeros(1), 2, loss=loss, validate=validate, progress=False)
    assert seen == [1, 1, 1]
    assert torch.get_num_threads() == 2
