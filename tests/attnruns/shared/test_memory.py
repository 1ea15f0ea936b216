"""What the experiments with machines share: lessons grow with what was learnt, and the best checkpoint is kept."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM, LSTMTagger
from attnruns.experiments.copying import TASK
from attnruns.shared import memory
from attnruns.shared.memory import BitTask, Lesson, Recipe, Training, bit_loss, blur, marked, measure, wrong_bits
from attnruns.shared.runner import Job


def draw(size, count, seed, generator):
    return Lesson(copy_batch(int(torch.randint(1, size + 1, (), generator=generator)), count, seed, bits=2), 8)


TINY = BitTask(
    draw, lambda size, count, seed: Lesson(copy_batch(size, count, seed, bits=2), 8),
    sizes=(2, 5, 2), validation=(3,), tests=(2, 4), inputs=3, outputs=2,
)  # fmt: skip
SMALL = Recipe({"hidden": 6, "width": 4})


class Says(nn.Module):
    """Says one number everywhere; looks at two rows of ``rows``."""

    def __init__(self, number=0.0):
        super().__init__()
        self.number = nn.Parameter(torch.tensor(number))

    def forward(self, inputs, rows=8):
        weights = torch.zeros(*inputs.shape[:2], 1, rows)
        weights[..., :2] = 0.5
        return self.number.expand(*inputs.shape[:2], 2), weights


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
    assert training.converged["step"] > training.grew[1] + 10  # when the largest were learnt too
    assert training.converged["seconds"] >= 0


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


def test_blur_is_0_at_one_row_and_grows_with_the_rows_that_share_a_look():
    one, two, four = torch.eye(4)[0], torch.tensor([0.5, 0.5, 0, 0]), torch.full((4,), 0.25)
    assert [blur(weights).item() for weights in (one, two, four)] == [0.0, 0.5, 0.75]
    assert blur(torch.stack([one, two])).item() == 0.25


def test_blur_has_its_price_once_lessons_are_large():
    lesson = draw(2, 3, 0, torch.Generator().manual_seed(0))
    plain, early, late = (
        Training(Says(), TINY, recipe, 0).loss(Says(), lesson).item()
        for recipe in (Recipe(), Recipe(blur=0.1), Recipe(blur=0.1, curriculum=False))
    )
    assert early == plain
    assert late - plain == pytest.approx(0.1 * 0.5)


def test_the_best_checkpoint_is_kept_whatever_comes_after():
    training = Training(Says(), TINY, Recipe(), seed=0)
    for number in (-50.0, 0.0, 50.0):
        training.validate(Says(number))
    assert training.kept["number"].item() == 0.0
    assert training.best == pytest.approx(-torch.tensor(2.0).log().item(), abs=1e-6)


def test_the_rate_falls_where_the_recipe_says():
    rates = [Recipe().learning_rate(step, 1000) for step in (0, 300, 590, 990)]
    assert rates[0] < rates[1] == rates[2] == memory.TRAINING["learning_rate"]
    assert rates[3] < 0.01 * rates[2]


def test_a_recipe_builds_a_machine_or_an_lstm_of_the_tasks_size():
    machine, lstm = Recipe({"without": ("shift",)}).build(TASK), Recipe(None).build(TASK)
    assert isinstance(machine, NTM)
    assert machine.config.without == ("shift",)
    assert isinstance(lstm, LSTMTagger)
    bits = mark_phases(copy_batch(2, 1))
    assert machine(bits.inputs, rows=5)[0].shape == lstm(bits.inputs, rows=5)[0].shape == bits.target.shape


@pytest.mark.parametrize("recipe", [SMALL, replace(SMALL, blur=0.1, curriculum=False), Recipe(None)])
def test_a_training_leaves_its_figures_and_the_chosen_weights(recipe, monkeypatch):
    monkeypatch.setattr(memory, "VALIDATE_EVERY", 4)
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


def test_a_marked_task_has_two_channels_more_and_the_same_bits():
    plain, with_marks = TINY.exact(3, 2, 0).bits, marked(TINY).exact(3, 2, 0).bits
    assert marked(TINY).inputs == TINY.inputs + 2 == with_marks.inputs.shape[-1]
    assert torch.equal(with_marks.inputs[:, 1:, :3], plain.inputs)
    assert marked(TINY).exact(3, 2, 0).rows == 8
    drawn = [marked(TINY).draw(5, 2, 3, torch.Generator().manual_seed(1)) for _ in range(2)]
    assert torch.equal(drawn[0].bits.inputs, drawn[1].bits.inputs)
    assert drawn[0].bits.inputs.shape[-1] == 5
