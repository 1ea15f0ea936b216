"""What a model writes, and how good it is, does not depend on its mode; and nobody who asks leaves it in another."""

import pytest
import torch
from torch import nn

from attnbook.attention import MultiHeadAttention
from attnbook.data.batching import Example, Task
from attnbook.data.pictures.captions import canvases
from attnbook.data.texts.vocabulary import BOS, Vocabulary
from attnbook.decoding import WithoutCache, beam, greedy, sample, translate
from attnbook.measure.evaluation import accuracy, decode, task_alignment_error
from attnbook.measure.induction import mean_contexts
from attnbook.measure.text import log_probabilities, text_loss
from attnbook.models import LanguageModel, Transformer, TransformerConfig
from attnbook.models.captioning import Captioner
from attnbook.models.neighbours import states_and_logits
from attnbook.models.sagan import SAGAN, ImageDiscriminator, ImageGenerator
from attnbook.modes import evaluating, evaluation_mode, training_mode
from attnbook.seeding import generator
from attnbook.training.policy import PolicyLoss, play

CONFIG = TransformerConfig(d_model=8, heads=2, layers=2, d_ff=16, dropout=0.5)
WORDS = Vocabulary("abcd")
EXAMPLES = [Example(tuple("abcd"), tuple("dcba"), size=4), Example(tuple("bc"), tuple("cb"), size=2)]
TASK = Task("small", EXAMPLES, EXAMPLES, EXAMPLES, {}, WORDS, WORDS)
BATCH = TASK.collate(EXAMPLES)
PROMPT = torch.tensor([[BOS, 3, 4]])


def translator() -> Transformer:
    torch.manual_seed(0)
    return Transformer(len(WORDS), len(WORDS), CONFIG)


def writer() -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(len(WORDS), CONFIG)


def partly_frozen(model: nn.Module) -> nn.Module:
    """In training mode, but for one part of a part."""
    model.train()
    next(part for part in model.modules() if isinstance(part, MultiHeadAttention)).eval()
    return model


def modes(model: nn.Module) -> list[bool]:
    return [part.training for part in model.modules()]


def source() -> tuple[torch.Tensor, torch.Tensor]:
    return BATCH.source, BATCH.lengths


OF_A_TRANSLATOR = {
    "greedy": lambda model: greedy(model, *source(), max_length=6),
    "sample": lambda model: sample(model, *source(), max_length=6, generator=generator(1)),
    "beam": lambda model: beam(model, *source(), max_length=6),
    "without a cache": lambda model: greedy(WithoutCache(model), *source(), max_length=6),
    "translate": lambda model: translate(model, TASK, EXAMPLES),
    "decode": lambda model: decode(model, TASK, EXAMPLES),
    "accuracy": lambda model: accuracy(model, TASK, EXAMPLES),
    "alignment error": lambda model: task_alignment_error(model, TASK, EXAMPLES),
    "maps": lambda model: model.maps(*source(), BATCH.target),
}
OF_A_WRITER = {
    "greedy": lambda model: greedy(model, prompt=PROMPT, max_length=6),
    "text loss": lambda model: text_loss(model, TASK, EXAMPLES),
    "log-probabilities": lambda model: log_probabilities(model, [[3, 4], [5]]),
    "mean contexts": lambda model: mean_contexts(model.blocks.layers[0].self_attention, model, PROMPT),
    "states": lambda model: states_and_logits(model, PROMPT, model.output),
}


@pytest.mark.parametrize("make, asked", [
    *((translator, name) for name in OF_A_TRANSLATOR), *((writer, name) for name in OF_A_WRITER)
])  # fmt: skip
def test_the_answer_is_that_of_evaluation_mode_and_each_part_keeps_its_own_mode(make, asked):
    ask = (OF_A_TRANSLATOR if make is translator else OF_A_WRITER)[asked]
    model = partly_frozen(make())
    before = modes(model)
    found = ask(model)
    assert modes(model) == before
    assert True in before
    assert False in before
    torch.testing.assert_close(found, ask(make().eval()), rtol=0, atol=0)


def test_without_the_mode_dropout_would_write_something_else_each_time():
    model = translator().train()
    with torch.no_grad():
        seen = [model(*source(), BATCH.target)[0] for _ in range(2)]
    assert not torch.equal(*seen)
    assert len({str(greedy(model, *source(), max_length=6).tokens.tolist()) for _ in range(8)}) == 1


def test_the_modes_come_back_after_an_error_and_when_a_generator_is_closed():
    model = partly_frozen(writer())
    before = modes(model)
    with pytest.raises(ValueError, match="max_length must be at least 1"):
        greedy(model, prompt=PROMPT, max_length=0)
    assert modes(model) == before

    def words():
        with evaluation_mode(model):
            yield modes(model)

    opened = words()
    assert not any(next(opened))
    opened.close()
    assert modes(model) == before


def test_training_mode_ends_with_the_block_and_respects_what_a_model_never_trains():
    class WithBaseline(nn.Sequential):
        def train(self, mode=True):
            super().train(mode)
            self[0].eval()
            return self

    model = WithBaseline(nn.Linear(2, 2), nn.Linear(2, 2)).eval()
    with training_mode(model):
        assert modes(model) == [True, False, True]
    assert modes(model) == [False, False, False]
    with pytest.raises(RuntimeError, match="so it goes"), training_mode(model):
        raise RuntimeError("so it goes")
    assert modes(model) == [False, False, False]


def test_what_has_no_parts_is_asked_as_it_is_and_the_function_keeps_its_name():
    @evaluating
    def work(model, number, *, twice):
        """What it says."""
        return model, number, twice, torch.is_grad_enabled()

    assert work("no model", 3, twice=True) == ("no model", 3, True, False)
    assert (work.__name__, work.__doc__) == ("work", "What it says.")


def test_images_are_made_without_the_statistics_of_their_batch():
    torch.manual_seed(0)
    model = SAGAN(ImageGenerator(), ImageDiscriminator()).train()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    few = model.sample(2, seed=1)
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())
    torch.testing.assert_close(few, model.eval().sample(2, seed=1), rtol=0, atol=0)


def test_a_captioner_that_draws_writes_at_its_largest_weights_unless_it_is_told_to_draw():
    torch.manual_seed(0)
    model = Captioner(20, "hard", embedding=6, hidden=8).train()
    image = canvases(4, 1).image
    locations = [greedy(model, image, max_length=5).tokens.tolist() for _ in range(4)]
    assert locations == 4 * [greedy(model.eval(), image, max_length=5).tokens.tolist()]
    state = model.start(image)
    step = torch.full((4,), BOS)
    assert torch.equal(model.step(step, state)[1].location, model.step(step, state)[2].argmax(dim=-1))
    model.draws = True
    assert len({str(model.step(step, state)[1].location.tolist()) for _ in range(8)}) > 1


class Guessing:
    """A world of one step with two actions, in which none earns anything."""

    actions, steps = 2, 1

    def __init__(self, *_) -> None:
        self.acted: list[bool] = []

    def begin(self):
        return torch.ones(3, 2)

    def act(self, action):
        return torch.ones(3, 2), torch.zeros(3)


class Watched(nn.Module):
    """A policy that keeps the modes in which it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.asked = nn.Linear(2, 3), []

    def forward(self, seen):
        self.asked.append(self.training)
        return self.layer(seen), None


def test_a_policy_plays_in_evaluation_mode_and_its_loss_is_that_of_the_policy_in_training():
    policy = Watched().train()
    play(policy, Guessing(), generator(0))
    PolicyLoss(Guessing, 0.1, seed=0).at(0)(policy, None)
    assert policy.asked == [False, True, True]  # play; what the loss draws from, and what it has the gradient of
    assert policy.training
