"""Losses of sequence models: the mean over real words, nothing from padding, nothing from the future."""

import math

import pytest
import torch
import torch.nn.functional as F

from attnbook.data.batching import Batch
from attnbook.models import AttentionSeq2Seq, LSTMLanguageModel, MaskedLanguageModel, Transformer, TransformerConfig
from attnbook.training import (
    language_model_loss,
    masked_language_model_loss,
    r_drop_loss,
    sequence_loss,
    symmetric_divergence,
    teacher_forcing_loss,
)

TARGET = [[3, 4, 2, 0], [4, 2, 0, 0], [3, 3, 4, 2]]  # 0 is padding


def slow_loss(logits, target, pad=0):
    """Minus the log of the probability of each real word, added one by one, divided by their number."""
    terms = []
    for row, words in zip(logits.tolist(), target, strict=True):
        for scores, word in zip(row, words, strict=True):
            if word != pad:
                terms.append(math.log(sum(math.exp(score) for score in scores)) - scores[word])
    return sum(terms) / len(terms)


def test_the_loss_is_the_mean_over_real_words(draw, device, dtype):
    logits = draw(3, 4, 5)
    loss = sequence_loss(logits, torch.tensor(TARGET, device=device))
    assert loss.shape == ()
    assert loss.dtype == dtype
    assert loss.item() == pytest.approx(slow_loss(logits, TARGET), rel=1e-5 if dtype == torch.float32 else 1e-12)


def test_a_loss_of_equal_scores_is_the_log_of_the_number_of_words(device, dtype):
    loss = sequence_loss(torch.zeros(3, 4, 5, device=device, dtype=dtype), torch.tensor(TARGET, device=device))
    assert loss.item() == pytest.approx(math.log(5))


def test_padding_neither_counts_nor_gets_a_gradient(draw, device, close):
    target, logits = torch.tensor(TARGET, device=device), draw(3, 4, 5, grad=True)
    loss = sequence_loss(logits, target)
    loss.backward()
    assert logits.grad[target == 0].abs().sum() == 0
    assert logits.grad[target != 0].abs().min() > 0
    wide_target = torch.cat([target, torch.zeros_like(target)], dim=1)
    close(sequence_loss(torch.cat([logits, draw(3, 4, 5, seed=1) * 100], dim=1), wide_target), loss)


def test_another_number_may_mean_padding(draw, device):
    logits = draw(3, 4, 5).cpu().double()
    loss = sequence_loss(logits, torch.tensor(TARGET), pad=3)
    assert loss.item() == pytest.approx(slow_loss(logits, TARGET, pad=3))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7, 1.0])
def test_smoothing_spreads_a_part_of_the_target_evenly_over_all_words(draw, device, dtype, close, smoothing):
    logits, target = draw(3, 4, 5, grad=True), torch.tensor(TARGET, device=device)
    loss = sequence_loss(logits, target, smoothing=smoothing)
    wanted = (1 - smoothing) * F.one_hot(target, 5).to(dtype) + smoothing / 5
    real = target != 0
    close(loss, -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1)[real].mean())
    close(loss, F.cross_entropy(logits[real], target[real], label_smoothing=smoothing))
    (gradient,) = torch.autograd.grad(loss, logits)
    close(gradient, (logits.softmax(dim=-1) - wanted) * real[..., None] / real.sum())


def test_a_smoothed_loss_cannot_fall_below_the_entropy_of_its_target():
    target = torch.tensor([[3]])
    wanted = 0.9 * F.one_hot(target, 5) + 0.1 / 5
    assert sequence_loss(wanted.log(), target, smoothing=0.1).item() == pytest.approx(-(wanted * wanted.log()).sum())
    assert sequence_loss(1000.0 * F.one_hot(target, 5), target, smoothing=0.1) > 50  # sure of itself, and punished


@pytest.mark.parametrize("smoothing", [-0.1, 1.5, float("nan")])
def test_a_smoothing_that_is_no_part_is_refused(smoothing):
    with pytest.raises(ValueError, match=f"smoothing is a part of the probability, from 0 to 1; got {smoothing}"):
        sequence_loss(torch.zeros(1, 1, 5), torch.ones(1, 1).long(), smoothing=smoothing)


@pytest.mark.parametrize(
    "logits, target", [((3, 4, 5), (3, 5)), ((3, 4, 5), (4, 3)), ((3, 4), (3, 4)), ((3, 4, 5), (3, 4, 5))]
)
def test_shapes_that_do_not_fit_are_refused(logits, target):
    with pytest.raises(ValueError, match=r"logits \(B, T, V\) are \(3, 4.*\) but target \(B, T\) is \("):
        sequence_loss(torch.zeros(logits), torch.ones(target).long())


@pytest.mark.parametrize("shape", [(2, 3), (0, 3)])
def test_a_target_without_a_word_is_refused(shape):
    with pytest.raises(ValueError, match="target is padding throughout: there is no word to learn from"):
        sequence_loss(torch.zeros(*shape, 5), torch.zeros(shape).long())


def test_under_teacher_forcing_a_model_reads_the_word_before(device, dtype, close):
    torch.manual_seed(0)
    model = AttentionSeq2Seq(6, 5, 4, 6).to(device, dtype)
    source = torch.tensor([[3, 4, 5], [4, 0, 0], [5, 3, 0]])
    batch = Batch(source, torch.tensor([3, 1, 2]), torch.tensor(TARGET)).to(device)
    read = torch.tensor([[1, 3, 4, 2], [1, 4, 2, 0], [1, 3, 3, 4]], device=device)
    logits, _ = model(batch.source, batch.lengths, read)
    close(teacher_forcing_loss(model, batch), sequence_loss(logits, batch.target))
    smoothed = sequence_loss(logits, batch.target, smoothing=0.3)
    close(teacher_forcing_loss(model, batch, smoothing=0.3), smoothed)
    assert smoothed != sequence_loss(logits, batch.target)


# ---- R-Drop


def logits_of(*rows: list[float]) -> torch.Tensor:
    """Scores (1, T, V) whose softmax has these probabilities."""
    return torch.tensor([rows], dtype=torch.float64).log()


def test_the_divergence_of_two_words_by_hand():
    first, second = logits_of([0.5, 0.5], [0.9, 0.1]), logits_of([0.25, 0.75], [0.9, 0.1]) + 7  # scores may be shifted
    forth = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)  # KL(p1 || p2) of the first word
    back = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    target = torch.tensor([[3, 2]])
    assert symmetric_divergence(first, second, target).item() == pytest.approx((forth + back) / 2 / 2)  # two words
    assert symmetric_divergence(second, first, target).item() == pytest.approx((forth + back) / 2 / 2)
    assert symmetric_divergence(first, second, torch.tensor([[3, 0]])).item() == pytest.approx((forth + back) / 2)
    assert symmetric_divergence(first, second, torch.tensor([[0, 3]])).item() == pytest.approx(0)


def test_the_divergence_is_torchs_and_padding_gets_no_gradient(draw, device, close):
    first, second = draw(3, 4, 5, grad=True), draw(3, 4, 5, seed=1)
    target = torch.tensor(TARGET, device=device)
    real = target != 0
    both = [one.log_softmax(dim=-1)[real] for one in (first, second)]
    wanted = (
        sum(F.kl_div(a, b, log_target=True, reduction="none").sum(dim=-1).mean() for a, b in (both, both[::-1])) / 2
    )
    loss = symmetric_divergence(first, second, target)
    close(loss, wanted)
    (gradient,) = torch.autograd.grad(loss, first)
    assert gradient[~real].abs().sum() == 0
    assert gradient[real].abs().min() > 0


def test_predictions_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"first and second must have one shape, got \(1, 2, 5\) and \(1, 2, 6\)"):
        symmetric_divergence(torch.zeros(1, 2, 5), torch.zeros(1, 2, 6), torch.ones(1, 2).long())
    with pytest.raises(ValueError, match=r"logits \(B, T, V\) are \(1, 3, 5\) but target"):
        symmetric_divergence(torch.zeros(1, 2, 5), torch.zeros(1, 3, 5), torch.ones(1, 2).long())
    with pytest.raises(ValueError, match="target is padding throughout"):
        symmetric_divergence(torch.zeros(1, 2, 5), torch.zeros(1, 2, 5), torch.zeros(1, 2).long())


class TwoMinds(torch.nn.Module):
    """Predicts its first weights for the first half of the rows, and its second for the rest; notes what it reads."""

    def __init__(self, first: torch.Tensor, second: torch.Tensor) -> None:
        super().__init__()
        self.logits = torch.nn.ParameterList([first, second])

    def forward(self, source, lengths, words):
        self.read = source, lengths, words
        half = len(words) // 2
        return torch.cat([logits.expand(half, -1, -1) for logits in self.logits]), None


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_r_drop_by_hand(smoothing):
    first = logits_of([0.5, 0.1, 0.1, 0.3], [0.25] * 4)
    second = logits_of([0.25, 0.25, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4])
    target = torch.tensor([[3, 2]])
    batch = Batch(torch.tensor([[1, 2, 3]]), torch.tensor([3]), target)
    model = TwoMinds(first, second)
    losses = [sequence_loss(logits, target, smoothing=smoothing) for logits in (first, second)]
    for weight in (0.0, 5.0):
        paper = sum(losses) + weight * symmetric_divergence(first, second, target)
        assert r_drop_loss(model, batch, weight, smoothing).item() == pytest.approx(paper.item() / 2)
    source, lengths, words = model.read
    assert (source.tolist(), lengths.tolist()) == ([[1, 2, 3]] * 2, [3, 3])
    assert words.tolist() == [[1, 3]] * 2


def test_r_drop_pulls_both_passes_towards_each_other():
    model = TwoMinds(logits_of([0.5, 0.2, 0.3]).float(), logits_of([0.2, 0.5, 0.3]).float())
    batch = Batch(torch.ones(1, 1).long(), torch.ones(1).long(), torch.tensor([[2]]))
    gradients = torch.autograd.grad(r_drop_loss(model, batch, 1e6), list(model.parameters()))
    assert [gradient[0, 0, 0] > 0 for gradient in gradients] == [True, False]
    assert [gradient[0, 0, 1] > 0 for gradient in gradients] == [False, True]


def test_without_dropout_r_drop_is_teacher_forcing(device, dtype, close):
    torch.manual_seed(0)
    config = TransformerConfig(d_model=4, heads=1, d_ff=6, layers=1, dropout=0.5)
    model = Transformer(6, 5, config).to(device, dtype)
    batch = Batch(torch.tensor([[3, 4, 5], [4, 0, 0], [5, 3, 0]]), torch.tensor([3, 1, 2]), torch.tensor(TARGET))
    batch = batch.to(device)
    close(r_drop_loss(model.eval(), batch, 5.0, smoothing=0.1), teacher_forcing_loss(model, batch, smoothing=0.1))
    model.train()
    torch.manual_seed(1)
    with_divergence = r_drop_loss(model, batch, 5.0)
    torch.manual_seed(1)
    assert with_divergence > r_drop_loss(model, batch, 0.0) + 1e-3


@pytest.mark.parametrize("weight", [-1.0, float("nan")])
def test_a_negative_weight_of_r_drop_is_refused(weight):
    batch = Batch(torch.ones(1, 1).long(), torch.ones(1).long(), torch.tensor([[2]]))
    with pytest.raises(ValueError, match=f"weight is the α of R-Drop, at least 0; got {weight}"):
        r_drop_loss(TwoMinds(torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)), batch, weight)


# ---- other models


def test_a_language_model_guesses_each_word_of_the_target_from_those_before(device, dtype, close):
    torch.manual_seed(0)
    model = LSTMLanguageModel(5, 4, 6).to(device, dtype)
    batch = Batch(torch.ones(3, 2).long(), torch.tensor([2, 2, 2]), torch.tensor(TARGET)).to(device)
    read = torch.tensor([[1, 3, 4, 2], [1, 4, 2, 0], [1, 3, 3, 4]], device=device)
    close(language_model_loss(model, batch), sequence_loss(model(read)[0], batch.target))


def test_a_masked_language_model_is_asked_where_the_target_is_a_word(device, dtype, close):
    torch.manual_seed(0)
    model = MaskedLanguageModel(6, TransformerConfig(d_model=4, heads=1, d_ff=6)).to(device, dtype)
    batch = Batch(torch.tensor([[3, 5, 4], [5, 4, 0]]), torch.tensor([3, 2]), torch.tensor([[0, 4, 0], [3, 4, 0]]))
    batch = batch.to(device)
    logits, _ = model(batch.source, batch.lengths)
    chances = logits.log_softmax(dim=-1)
    close(masked_language_model_loss(model, batch), -(chances[0, 1, 4] + chances[1, 0, 3] + chances[1, 1, 4]) / 3)
