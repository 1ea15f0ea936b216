"""Scheduled sampling: right words at first, own words in the end, and chance that an interruption cannot change."""

import math
from functools import partial

import pytest
import torch
from torch import nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnbook.decoding import greedy
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.training import (
    ScheduledSampling,
    TwoPass,
    exponential_decay,
    fit,
    inverse_sigmoid_decay,
    linear_decay,
    mix_with_own_output,
    sequence_loss,
    teacher_forcing_loss,
)
from attnbook.training.scheduled_sampling import keep_mask, own_words

V = 8
MODELS = {
    "plain": lambda: PlainSeq2Seq(V, V, embedding=4, hidden=8, cell="lstm"),
    "attention": lambda: AttentionSeq2Seq(V, V, embedding=4, hidden=8),
    "transformer": lambda: Transformer(V, V, TransformerConfig(d_model=8, heads=2, layers=1, d_ff=8)),
    "dropout": lambda: Transformer(V, V, TransformerConfig(d_model=8, heads=2, layers=1, d_ff=8, dropout=0.2)),
}
LOSSES = {"word_by_word": ScheduledSampling, "two_pass": TwoPass}
PAIRS = [("plain", ScheduledSampling), ("attention", ScheduledSampling), ("transformer", ScheduledSampling)]
PAIRS += [("attention", TwoPass), ("transformer", TwoPass)]


@pytest.fixture
def make(device, dtype):
    """``make(name)``: a model of :data:`MODELS`, the same weights each time."""

    def of_name(name: str) -> nn.Module:
        torch.manual_seed(1)
        return MODELS[name]().to(device, dtype)

    return of_name


@pytest.fixture
def batch(device):
    """Targets of different lengths; the last row is padding throughout."""
    target = torch.tensor([[5, 4, 3, 2], [6, 2, 0, 0], [7, 7, 2, 0], [0, 0, 0, 0]])
    source = torch.tensor([[3, 4, 5], [6, 0, 0], [7, 7, 0], [3, 0, 0]])
    return Batch(source, torch.tensor([3, 1, 2, 1]), target).to(device)


def always(keep: float):
    """A schedule that does not change."""
    return lambda step: keep


def gradients(model: nn.Module, loss: torch.Tensor) -> list[torch.Tensor]:
    return torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad])


class Listens(nn.Module):
    """Between a loss and a model: keeps what the model is given to read."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.read = model, []

    def start(self, source, lengths):
        return self.model.start(source, lengths)

    def step(self, token, state):
        self.read.append(token)
        return self.model.step(token, state)

    def forward(self, source, lengths, decoder_input):
        self.read.append(decoder_input)
        return self.model(source, lengths, decoder_input)

    def words(self) -> torch.Tensor:
        """What was read in the last pass, ``(B, T)``."""
        return self.read[-1] if self.read[-1].ndim == 2 else torch.stack(self.read, dim=1)


# ---- schedules


def test_linear_falls_in_a_straight_line_and_no_further_than_the_least():
    got = [linear_decay(step, slope=0.25, start=0.9, least=0.2) for step in range(5)]
    assert got == pytest.approx([0.9, 0.65, 0.4, 0.2, 0.2])
    assert linear_decay(0, 0.1) == 1
    assert linear_decay(1000, 0.1) == 0


def test_exponential_is_multiplied_by_k_each_time():
    assert [exponential_decay(step, 0.5) for step in range(4)] == [1, 0.5, 0.25, 0.125]
    assert exponential_decay(10**6, 1.0) == 1
    assert exponential_decay(10**6, 0.9) == 0


def test_inverse_sigmoid_is_the_formula_of_the_paper():
    for k in (1, 5.0, 300):
        for step in (0, 1, 10, 1000):
            wanted = k / (k + math.exp(step / k)) if step / k < 700 else 0
            assert inverse_sigmoid_decay(step, k) == pytest.approx(wanted, abs=1e-12)


def test_inverse_sigmoid_passes_one_half_at_k_times_the_log_of_k():
    assert inverse_sigmoid_decay(0, 100) == pytest.approx(100 / 101)
    k = 100 / math.log(100)
    assert inverse_sigmoid_decay(100, 100 / math.log(100)) == pytest.approx(k / (k + math.exp(100 / k)))
    assert inverse_sigmoid_decay(round(200 * math.log(200)), 200) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(
    "schedule",
    [partial(linear_decay, slope=1e-3), partial(exponential_decay, k=0.99), partial(inverse_sigmoid_decay, k=50)],
)
def test_every_schedule_is_a_probability_that_only_falls(schedule):
    values = [schedule(step) for step in [*range(0, 3000, 7), 10**5, 10**9]]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.97
    assert values[-1] < 0.01


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: linear_decay(-1, 0.1), "step is -1; the first step is 0"),
        (lambda: exponential_decay(-1, 0.9), "step is -1; the first step is 0"),
        (lambda: inverse_sigmoid_decay(-1, 9), "step is -1; the first step is 0"),
        (lambda: linear_decay(0, -0.1), "slope >= 0 and 0 <= least <= start <= 1; got slope = -0.1"),
        (lambda: linear_decay(0, 0.1, 0.3, 0.5), "got slope = 0.1, least = 0.5, start = 0.3"),
        (lambda: linear_decay(0, 0.1, 1.5), "start = 1.5"),
        (lambda: exponential_decay(0, 0.0), "k must lie in 0 < k <= 1, got 0.0"),
        (lambda: exponential_decay(0, 1.1), "k must lie in 0 < k <= 1, got 1.1"),
        (lambda: inverse_sigmoid_decay(0, 0.5), "k must be at least 1, got 0.5"),
    ],
)
def test_schedules_refuse_what_gives_no_probability(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


# ---- the mixture


def dice(device, seed: int = 0) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


def test_the_mixture_takes_each_word_from_one_of_the_two_and_the_start_stays(device):
    right = torch.full((200, 50), 3, device=device)
    own = torch.full_like(right, 4)
    right[:, 0] = 1
    mixed = mix_with_own_output(right, own, 0.7, dice(device))
    assert (mixed[:, 0] == 1).all()
    assert set(mixed[:, 1:].unique().tolist()) == {3, 4}
    assert (mixed[:, 1:] == 3).float().mean().item() == pytest.approx(0.7, abs=0.02)  # five standard errors


def test_the_mixture_leaves_its_arguments_alone(device):
    right, own = torch.tensor([[1, 3, 5]], device=device), torch.tensor([[1, 4, 6]], device=device)
    assert mix_with_own_output(right, own, 1.0, dice(device)).tolist() == [[1, 3, 5]]
    assert mix_with_own_output(right, own, 0.0, dice(device)).tolist() == [[1, 4, 6]]
    assert right.tolist() == [[1, 3, 5]]
    assert own.tolist() == [[1, 4, 6]]


def test_the_mixture_depends_on_its_generator_alone(device):
    one, same, other = (keep_mask((9, 9), 0.5, dice(device, seed)) for seed in (3, 3, 4))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("keep", [-0.1, 1.1, float("nan")])
def test_a_keep_that_is_no_probability_is_refused(keep):
    words = torch.ones(2, 3).long()
    with pytest.raises(ValueError, match=r"keep is the probability of a right word, from 0 to 1; got"):
        mix_with_own_output(words, words, keep, dice("cpu"))


@pytest.mark.parametrize("right, own", [((2, 3), (2, 4)), ((2, 0), (2, 0)), ((3,), (3,))])
def test_words_that_do_not_fit_are_refused(right, own):
    with pytest.raises(ValueError, match=r"target_input and own must both be \(B, T\) with T > 0, got target_input \("):
        mix_with_own_output(torch.ones(right).long(), torch.ones(own).long(), 0.5, dice("cpu"))


def test_own_words_are_the_likeliest_or_drawn_as_often_as_is_likely(device, dtype):
    logits = torch.tensor([0.1, 0.6, 0.3], device=device, dtype=dtype).log().expand(100, 50, 3)
    assert (own_words(logits, None) == 1).all()
    drawn = own_words(logits, dice(device))
    assert drawn.shape == (100, 50)
    shares = drawn.flatten().bincount(minlength=3) / drawn.numel()
    assert shares.tolist() == pytest.approx([0.1, 0.6, 0.3], abs=0.03)


# ---- the losses


@pytest.mark.parametrize("name, kind", PAIRS)
def test_with_right_words_alone_it_is_teacher_forcing(name, kind, make, batch, close):
    model = make(name)
    got, wanted = kind(always(1.0)).at(5)(model, batch), teacher_forcing_loss(model, batch)
    # Word by word a Transformer adds in another order; everywhere else not a bit differs.
    same = close if (name, kind) == ("transformer", ScheduledSampling) else torch.testing.assert_close
    exact = {} if same is close else {"rtol": 0, "atol": 0}
    same(got, wanted, **exact)
    for one, other in zip(gradients(model, got), gradients(model, wanted), strict=True):
        same(one, other, **exact)


@pytest.mark.parametrize("name", ["plain", "attention", "transformer"])
def test_word_by_word_without_right_words_reads_what_greedy_decoding_reads(name, make, batch):
    model = make(name)
    listening = Listens(model)
    ScheduledSampling(always(0.0), draw=False).at(0)(listening, batch)
    written = greedy(model, batch.source, batch.lengths, max_length=4, eos=-1).tokens  # never stops
    assert torch.equal(listening.words(), shift_right(written))


def test_word_by_word_each_own_word_is_drawn_from_the_step_before(make, batch):
    class Sure(nn.Module):
        """Writes the number after the one it reads, whatever it was asked to write."""

        def start(self, source, lengths):
            return ()

        def step(self, token, state):
            return 100.0 * nn.functional.one_hot((token + 1) % V, V).to(torch.float32), state, None

    listening = Listens(Sure())
    ScheduledSampling(always(0.0)).at(0)(listening, batch)
    assert listening.words().tolist() == [[1, 2, 3, 4]] * 4


@pytest.mark.parametrize("draw", [True, False])
def test_two_passes_without_right_words_read_the_answers_to_right_words(draw, make, batch):
    model = make("transformer")
    listening = Listens(model)
    TwoPass(always(0.0), draw=draw).at(0)(listening, batch)
    first, second = listening.read
    assert torch.equal(first, shift_right(batch.target))
    assert (second[:, 0] == 1).all()
    if not draw:
        answers = model(batch.source, batch.lengths, first)[0].argmax(dim=-1)
        assert torch.equal(second, shift_right(answers))


def test_two_passes_with_right_words_alone_are_one(make, batch):
    listening = Listens(make("transformer"))
    TwoPass(always(1.0)).at(0)(listening, batch)
    assert len(listening.read) == 1


@pytest.mark.parametrize("name, kind", PAIRS)
@pytest.mark.parametrize("draw", [True, False])
def test_the_gradient_is_that_of_reading_the_mixture_and_none_goes_through_the_choice(
    name, kind, draw, make, batch, close
):
    model = make(name)
    listening = Listens(model)
    loss = kind(always(0.5), draw=draw).at(3)(listening, batch)
    fixed = sequence_loss(model(batch.source, batch.lengths, listening.words())[0], batch.target)
    close(loss, fixed)
    for got, wanted in zip(gradients(model, loss), gradients(model, fixed), strict=True):
        close(got, wanted)


@pytest.mark.parametrize("name, kind", PAIRS)
def test_padding_has_no_say(name, kind, make, batch, close):
    model = make(name)
    wide = batch._replace(target=nn.functional.pad(batch.target, (0, 3)))
    for keep in (1.0, 0.0):
        loss = kind(always(keep), draw=False).at(0)
        close(loss(model, wide), loss(model, batch))
        close(loss(model, Batch(*(part[:3] for part in batch))), loss(model, batch))


@pytest.mark.parametrize("name, kind", PAIRS)
def test_choices_depend_on_seed_and_step_alone(name, kind, make, batch):
    def read(seed, step):
        listening = Listens(make(name))
        torch.rand(step + 1)  # whatever was drawn elsewhere
        kind(always(0.5), seed=seed).at(step)(listening, batch)
        return listening.words()

    assert torch.equal(read(1, 7), read(1, 7))
    others = [read(1, 8), read(2, 7), read(1, 9), read(3, 7)]
    assert any(not torch.equal(read(1, 7), other) for other in others)


def test_the_schedule_is_asked_for_the_step(make, batch):
    asked = []
    loss = ScheduledSampling(lambda step: asked.append(step) or 1.0)
    for step in (0, 4):
        loss.at(step)(make("plain"), batch)
    assert asked == [0, 4]


@pytest.mark.parametrize("kind", LOSSES.values(), ids=LOSSES)
def test_smoothing_reaches_the_loss(kind, make, batch):
    model = make("attention")
    got = kind(always(1.0), smoothing=0.3).at(0)(model, batch)
    torch.testing.assert_close(got, teacher_forcing_loss(model, batch, smoothing=0.3), rtol=0, atol=0)


# ---- in a training


class Interrupted(Exception):  # noqa: N818 (it reads as what happened)
    """Raised in the middle of a training."""


def words_at(step: int) -> Batch:
    """Words to write backwards; a function of the step alone."""
    generator = torch.Generator().manual_seed(step)
    words = torch.randint(3, V, (4, 3), generator=generator)  # (B, Tk)
    return Batch(words, torch.full((4,), 3), torch.cat([words.flip(1), torch.full((4, 1), 2)], dim=1))


def train(name, kind, checkpoint=None, batch_at=words_at):
    torch.manual_seed(0)
    model = MODELS[name]()
    loss = kind(partial(linear_decay, slope=0.1), seed=4)
    history = fit(model, batch_at, 12, loss=loss, validate_every=3, checkpoint=checkpoint, warmup=3, progress=False)
    return model, history


@pytest.mark.slow
@pytest.mark.parametrize("name, kind", [*PAIRS, ("dropout", TwoPass)])
def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(name, kind, tmp_path):
    def until_stop(step):
        if step == 8:
            raise Interrupted
        return words_at(step)

    whole, history = train(name, kind)
    with pytest.raises(Interrupted):
        train(name, kind, tmp_path / "training.pt", until_stop)
    resumed, resumed_history = train(name, kind, tmp_path / "training.pt")
    assert resumed_history.losses == history.losses
    for key, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[key], tensor), key


@pytest.mark.slow
@pytest.mark.parametrize("name, kind", [("plain", ScheduledSampling), ("transformer", TwoPass)])
def test_a_training_learns_from_its_own_words(name, kind):
    torch.manual_seed(0)
    model = MODELS[name]()
    loss = kind(partial(linear_decay, slope=0.02))
    history = fit(model, words_at, 80, loss=loss, learning_rate=2e-2, warmup=5, progress=False)
    assert sum(history.losses[-5:]) / 5 < 0.9 * history.losses[0]
