"""The experiment about scheduled sampling: what is counted after an error, and what each model is trained with."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.symbols.numbers import number_list, number_lists
from attnbook.data.texts.vocabulary import EOS, PAD
from attnbook.models import PlainSeq2Seq, Transformer
from attnbook.training import ScheduledSampling, TwoPass, teacher_forcing_loss
from attnruns.experiments import scheduled_sampling as experiment
from attnruns.shared.runner import Job


class Follower(nn.Module):
    """Writes each word's successor in 3, 4, 5, …, EOS, and after a 5 always another 5: one slip, then only slips."""

    def __init__(self, end: int = 8) -> None:
        super().__init__()
        self.end = end
        self.nothing = nn.Parameter(torch.zeros(1))

    def start(self, source, lengths):
        return source

    def step(self, token, state):
        following = torch.where(token == 1, 3, token + 1)  # (B,)
        following = following.masked_fill(token == 5, 5).masked_fill(token >= self.end, EOS)
        return nn.functional.one_hot(following, 12).float() + self.nothing, state, None

    def forward(self, source, lengths, decoder_input):
        steps = [self.step(token, None)[0] for token in decoder_input.unbind(dim=1)]
        return torch.stack(steps, dim=1), None


@pytest.fixture(scope="module")
def lists():
    return number_lists(train=80, validation=4, test_per_size=8, longest=3, longer=(4,), longer_per_size=2)


@pytest.fixture
def batch():
    """Two right answers: one with a 5 in it, one that ends before."""
    target = torch.tensor([[3, 4, 5, 6, 7, 8, EOS], [3, 4, 5, EOS, PAD, PAD, PAD]])
    return experiment.Batch(torch.ones(2, 2, dtype=torch.long), torch.tensor([2, 2]), target)


def test_after_an_error_own_words_lead_on_and_right_ones_lead_back(batch):
    found = experiment.errors_after_first(Follower(), batch, reach=4)
    assert found["errors"] == 2
    assert found["own"] == [1.0, 1.0, 1.0, None]
    assert found["forced"] == [0.0, 0.0, 0.0, None]


def test_without_an_error_there_is_nothing_to_count(batch):
    short = batch._replace(target=torch.tensor([[3, 4, 5, 5], [3, 4, 5, 5]]))
    assert experiment.errors_after_first(Follower(), short, reach=2) == {
        "errors": 0,
        "own": [None, None],
        "forced": [None, None],
    }


def test_a_model_writes_on_from_what_was_put_before_it(batch):
    written = experiment.write_on(Follower(), batch, torch.tensor([[3, 6], [3, 4]]), 5)
    assert written.tolist() == [[3, 6, 7, 8, EOS], [3, 4, 5, 5, 5]]


def test_only_lists_that_begin_with_a_units_word_can_be_planted():
    examples = [number_list(numbers) for numbers in ([342, 7], [20, 7], [7], [17, 7], [5, 5])]
    assert [example.target[0] for example in experiment.plantable(examples)] == ["drei", "fünf"]


def test_items_are_what_stands_between_commas():
    assert experiment.items(["zwei", "und", "vierzig", ",", "drei"]) == ["zwei und vierzig", "drei"]


def test_later_numbers_are_counted_after_a_right_and_after_a_wrong_first_word(lists, monkeypatch):
    examples = [number_list([3, 7, 8]), number_list([4, 9, 10])]
    answers = {example.target[0]: lists.target_vocabulary.encode(example.target) for example in examples}

    def write(model, batch, prefix, length):
        rows = []
        for (first,), example in zip(prefix.tolist(), examples, strict=True):
            word = lists.target_vocabulary.words[first]
            right = answers[example.target[0]]
            rows.append([*right, EOS] if word == example.target[0] else [first, *right[1:3], EOS, EOS, EOS])
        return torch.tensor(rows)

    monkeypatch.setattr(experiment, "write_on", write)
    found = experiment.later_right(PlainSeq2Seq(4, 4, hidden=4), lists, examples)
    assert found == {"untouched": 1.0, "planted": 0.5}  # of two later numbers the second is missing


@pytest.mark.parametrize("name", ["linear", "exponential", "inverse_sigmoid"])
def test_each_schedule_falls_from_right_words_to_a_quarter(name):
    keep = experiment.schedules(1200)[name]
    values = [keep(step) for step in range(0, 1201, 100)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.99
    assert values[-1] == pytest.approx(experiment.LEAST, abs=1e-3)


@pytest.mark.parametrize(
    "name, loss",
    [
        ("teacher_forcing", None),
        ("fewer_steps", None),
        ("linear", ScheduledSampling),
        ("transformer", None),
        ("transformer_two_pass", TwoPass),
    ],
)
def test_a_model_is_trained_with_the_loss_of_its_name(name, loss):
    made = experiment.loss_of(name, 100, seed=2)
    assert made is teacher_forcing_loss if loss is None else (type(made) is loss and made.seed == 2)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["transformer_two_pass", "linear"]), indirect=["best"])
def test_a_run_leaves_matches_and_what_follows_an_error(name, lists, monkeypatch, best, tmp_path):
    monkeypatch.setattr(experiment, "task", lambda: lists)
    assert type(experiment.build(name, lists)) is (PlainSeq2Seq if name == "linear" else Transformer)
    figures = checked_run(experiment, Job(name, 0, 2), tmp_path, best)
    assert list(figures["exact_match"]) == ["1", "2", "3", "4"]
    assert len(figures["after_error"]["own"]) == experiment.REACH
    assert figures["later_right"].keys() == {"untouched", "planted"}
