"""Where gradients go: against finite differences, and against what must be zero."""

import pytest
import torch

from attnbook.data import shift_right
from attnbook.data.symbols.numbers import number_lists
from attnbook.measure.gradients import by_distance, gradient_norms, layer_gradient_norms, trace
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.training import sequence_loss


@pytest.fixture(scope="module")
def task():
    return number_lists(train=60, validation=6, test_per_size=5, longest=3, longer=(), longer_per_size=0)


@pytest.fixture(params=[PlainSeq2Seq, AttentionSeq2Seq])
def model(request, task):
    words = len(task.source_vocabulary), len(task.target_vocabulary)
    return request.param(*words, embedding=4, hidden=8).double()


@pytest.fixture
def batch(task):
    return task.collate([example for example in task.train if example.size == 2][:5])


def test_the_losses_of_all_words_add_up_to_the_loss_of_the_batch(model, batch):
    logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))
    losses = trace(model, batch).losses
    real = batch.target != 0
    assert torch.equal(losses[~real], torch.zeros_like(losses[~real]))
    torch.testing.assert_close(losses.sum() / real.sum(), sequence_loss(logits, batch.target))


def test_tracing_leaves_no_hook_behind(model, batch):
    trace(model, batch)
    with pytest.raises(ValueError, match="lengths"):
        trace(model, batch._replace(lengths=batch.lengths[:2]))
    assert not model.encoder.embed._forward_hooks
    assert not model.embed._forward_hooks


def test_norms_agree_with_a_small_push_on_a_word_vector(model, batch):
    of_source, of_target = gradient_norms(model, batch, step=1)
    assert of_source.shape == batch.source.shape
    assert of_target.shape == (5, 2)
    gradient = torch.zeros(4, dtype=torch.float64)
    for feature in range(4):
        change = []
        for push in (1e-5, -1e-5):

            def nudge(_module, _inputs, output, push=push, feature=feature):
                pushed = output.clone()
                pushed[2, 0, feature] += push
                return pushed

            hook = model.encoder.embed.register_forward_hook(nudge)
            with torch.no_grad():
                change.append(trace(model, batch).losses[2, 1])
            hook.remove()
        gradient[feature] = (change[0] - change[1]) / 2e-5
    torch.testing.assert_close(of_source[2, 0], gradient.norm(), rtol=1e-4, atol=1e-9)


def test_padding_and_later_words_have_no_part(model, batch):
    of_source, _ = gradient_norms(model, batch, step=1)
    padding = torch.arange(batch.source.shape[1]) >= batch.lengths[:, None]
    assert torch.equal(of_source[padding], torch.zeros_like(of_source[padding]))


@pytest.mark.parametrize("step", [-1, 1000])
def test_a_step_outside_the_target_is_named(model, batch, step):
    with pytest.raises(ValueError, match="step must lie in 0"):
        gradient_norms(model, batch, step)


def test_distance_is_counted_from_each_sentences_own_last_word():
    norms = torch.tensor([[1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 9.0, 9.0], [7.0, 8.0, 9.0, 6.0]])
    found = by_distance(norms, torch.tensor([2, 1, 3]), [0, 1])
    assert found == {0: 5.0, 1: 4.0}  # medians of 3, 5, 6 and of 2, 4, 9


def test_a_distance_beyond_the_shortest_sentence_is_named():
    with pytest.raises(ValueError, match=r"distances must lie in 0\.\.1"):
        by_distance(torch.ones(2, 4), torch.tensor([3, 1]), [0, 2])


# ---- gradients by layer


def test_the_norm_of_a_layer_is_that_of_all_its_parameters_side_by_side(model, batch):
    loss = sequence_loss(model(batch.source, batch.lengths, shift_right(batch.target))[0], batch.target)
    layers = [model.encoder, model.output]
    got = layer_gradient_norms(layers, loss)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    wanted = [torch.cat([p.grad.flatten() for p in layer.parameters()]).norm().item() for layer in layers]
    assert got == pytest.approx(wanted, rel=1e-10)


def test_frozen_parameters_do_not_count_and_a_frozen_layer_is_refused(model, batch):
    loss = sequence_loss(model(batch.source, batch.lengths, shift_right(batch.target))[0], batch.target)
    [both] = layer_gradient_norms([model.output], loss)
    model.output.bias.requires_grad_(False)
    [weight] = layer_gradient_norms([model.output], loss)
    assert 0 < weight < both
    model.output.weight.requires_grad_(False)
    with pytest.raises(ValueError, match="layer 1 has no parameters that learn"):
        layer_gradient_norms([model.embed, model.output], loss)


def test_there_must_be_a_layer(model, batch):
    with pytest.raises(ValueError, match="layers is empty"):
        layer_gradient_norms([], torch.zeros((), requires_grad=True))


def test_a_model_in_evaluation_mode_is_traced_on_each_device(task, batch, device):
    """cuDNN, and so the card, gives no gradients of an LSTM in evaluation mode."""
    words = len(task.source_vocabulary), len(task.target_vocabulary)
    model = AttentionSeq2Seq(*words, embedding=4, hidden=8).eval()
    wanted = gradient_norms(model, batch, 1)
    found = gradient_norms(model.to(device), batch.to(device), 1)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs)
