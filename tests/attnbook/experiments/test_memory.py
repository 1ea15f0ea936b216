"""What the experiments with machines share: lessons grow with what was learnt, and the best checkpoint is kept."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from attnbook.data import copy_batch
from attnbook.experiments import memory
from attnbook.experiments.copying import TASK
from attnbook.experiments.memory import BitTask, Lesson, Recipe, Training, bit_loss, measure, wrong_bits
from attnbook.experiments.runner import Job
from attnbook.models import NTM, LSTMTagger, NTMRecord
from attnbook.models.ntm_addressing import Address


def draw(size, count, seed, source):
    return Lesson(copy_batch(int(torch.randint(1, size + 1, (), generator=source)), count, seed, bits=2), 8)


TINY = BitTask(
    draw, lambda size, count, seed: Lesson(copy_batch(size, count, seed, bits=2), 8),
    sizes=(2, 5, 2), validation=(3,), tests=(2, 4), inputs=3, outputs=2,
)  # fmt: skip
SMALL = Recipe({"hidden": 6, "width": 4})


class Says(nn.Module):
    """Says one number everywhere; looks at two rows of ``rows``; every gate is half open."""

    def __init__(self, number=0.0):
        super().__init__()
        self.number = nn.Parameter(torch.tensor(number))

    def forward(self, inputs, rows=8):
        weights = torch.zeros(*inputs.shape[:2], 1, rows)
        weights[..., :2] = 0.5
        return self.number.expand(*inputs.shape[:2], 2), weights

    def record(self, inputs, rows=8):
        logits, weights = self(inputs, rows)
        return NTMRecord(logits, weights, Address(*[torch.full((*inputs.shape[:2], 1, 1), 0.5)] * 5), None)


def test_wrong_bits_are_counted_where_they_are_asked_for():
    bits = copy_batch(3, 4, bits=2)
    right = 2 * bits.target - 1
    assert wrong_bits(right, bits) == 0
    assert wrong_bits(-right, bits) == 6
    elsewhere = torch.where(bits.mask[..., None], right, -right)
    assert wrong_bits(elsewhere, bits) == 0


def test_the_loss_is_a_mean_over_the_bits_that_are_asked_for():
    bits = copy_batch(3, 4, bits=2)
    logits = torch.randn(bits.target.shape, generator=torch.Generator().manual_seed(0))
    chance = torch.where(bits.target > 0.5, logits.sigmoid(), 1 - logits.sigmoid())[bits.mask]
    torch.testing.assert_close(bit_loss(logits, bits), -chance.log().mean())


def test_lessons_grow_when_the_model_makes_less_than_one_mistake_and_never_beyond_the_last_size():
    training = Training(Says(), TINY, Recipe(), seed=0)
    bits = copy_batch(2, 1, bits=2)
    perfect = (2 * bits.target - 1) * 10
    model = Says()
    model.forward = lambda inputs, rows: (perfect, None)
    sizes = []
    for _ in range(200):
        training.loss(model, Lesson(bits, 8))
        sizes.append(training.largest)
    assert sorted(set(sizes)) == [2, 4, 5]
    assert sizes == sorted(sizes)
    assert len(training.grew) == 2
    assert training.grew[1] - training.grew[0] > 10


def test_without_a_curriculum_lessons_are_large_at_once():
    assert Training(Says(), TINY, Recipe(curriculum=False), seed=0).largest == 5


def test_lessons_come_by_seed_and_step():
    one, same, other = (Training(Says(), TINY, Recipe(), seed) for seed in (1, 1, 2))
    lessons = [[part.batch_at(step).bits.inputs for step in range(5)] for part in (one, same, other)]
    assert all(map(torch.equal, lessons[0], lessons[1]))
    assert not all(map(torch.equal, lessons[0], lessons[2]))
    assert {memory.VALIDATION_SEED, memory.TEST_SEED} < set(range(1_000_003))


def test_rows_are_drawn_or_fixed():
    assert Training(Says(), TINY, Recipe(), seed=0).batch_at(0).rows == 8
    assert Training(Says(), TINY, Recipe(rows=11), seed=0).batch_at(0).rows == 11


def test_penalties_are_added_as_they_are_weighed():
    lesson = draw(2, 3, 0, torch.Generator().manual_seed(0))
    plain, unsharp, gate = (
        Training(Says(), TINY, recipe, 0).loss(Says(), lesson).item()
        for recipe in (Recipe(), Recipe(unsharp=0.1), Recipe(open_gate=0.1))
    )
    assert unsharp - plain == pytest.approx(0.1 * 0.5)
    assert gate - plain == pytest.approx(0.1 * 0.5)


def test_the_best_checkpoint_is_kept_whatever_comes_after():
    training = Training(Says(), TINY, Recipe(), seed=0)
    for number in (-50.0, 0.0, 50.0):
        training.validate(Says(number))
    assert training.kept["number"].item() == 0.0
    assert training.best == pytest.approx(-torch.tensor(2.0).log().item(), abs=1e-6)


def test_an_average_lags_behind_the_weights_and_is_what_is_kept():
    model, lesson = Says(0.0), draw(2, 3, 0, torch.Generator().manual_seed(0))
    training = Training(model, TINY, Recipe(average=0.5), seed=0)
    for number in (0.0, 1.0, 1.0):
        model.number.data.fill_(number)
        training.loss(model, lesson)
    training.validate(model)
    assert 0.4 < training.kept["number"].item() <= 1.0
    model.number.data.fill_(9.0)
    assert training.kept["number"].item() <= 1.0


def test_the_rate_falls_where_the_recipe_says():
    rates = [Recipe(constant=0.6).rate(step, 1000) for step in (0, 300, 590, 990)]
    assert rates[0] < rates[1] == rates[2] == memory.TRAINING["rate"]
    assert rates[3] < 0.01 * rates[2]
    assert Recipe(constant=1.0).rate(999, 1000) == memory.TRAINING["rate"]


def test_a_recipe_builds_a_machine_or_an_lstm_of_the_tasks_size():
    machine, lstm = Recipe({"without": ("shift",)}).build(TASK), Recipe(None).build(TASK)
    assert isinstance(machine, NTM)
    assert machine.config.without == ("shift",)
    assert isinstance(lstm, LSTMTagger)
    bits = copy_batch(2, 1)
    assert machine(bits.inputs, rows=5)[0].shape == lstm(bits.inputs, rows=5)[0].shape == bits.target.shape


@pytest.mark.parametrize("recipe", [SMALL, replace(SMALL, average=0.9), Recipe(None)])
def test_a_training_leaves_its_figures_and_the_chosen_weights(recipe, monkeypatch):
    monkeypatch.setattr(memory, "EVERY", 4)
    monkeypatch.setattr(memory, "COUNT", {"validation": 2, "test": 3})

    def once():
        torch.manual_seed(0)
        model = recipe.build(TINY)
        return model, memory.train_and_measure(model, TINY, recipe, Job("any", 0, 10))

    model, figures = once()
    assert len(figures["validations"]) == 3  # after steps 4, 8 and 10
    assert figures["chosen"] in (4, 8, 10)
    assert figures["validations"][(figures["chosen"] + 3) // 4 - 1] == min(figures["validations"])
    assert figures["wrong_bits"].keys() == figures["wrong_bits_last"].keys() == {"2", "4"}
    assert figures["wrong_bits"] == measure(model, TINY)
    assert {**once()[1], "seconds": 0} == {**figures, "seconds": 0}
