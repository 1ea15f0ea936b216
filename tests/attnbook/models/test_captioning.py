"""The captioner: annotations cell by cell, each attention's context, the gate, and the protocol of decoding."""

import pytest
import torch

from attnbook.attention import attend
from attnbook.data.pictures.captions import LONGEST, WORDS, canvases
from attnbook.decoding import beam, greedy
from attnbook.models.captioning import Captioner, DigitClassifier, FeatureMap, coordinates, image_to_annotations

ATTENTIONS = ["mean", "soft", "hard", "straight_through"]
V = len(WORDS)


@pytest.fixture(params=ATTENTIONS)
def captioner(request, device, dtype) -> Captioner:
    torch.manual_seed(0)
    return Captioner(V, request.param, embedding=6, hidden=8).to(device, dtype).eval()


@pytest.fixture
def image(device, dtype):
    return canvases(3, 1).image.to(device, dtype)


@pytest.fixture
def words(device):
    return torch.tensor([[1, 3, 5, 6], [1, 4, 7, 3], [1, 3, 9, 10]], device=device)


def test_annotations_are_the_cells_row_by_row(draw):
    features = draw(2, 5, 3, 4)
    annotations = image_to_annotations(features)
    assert annotations.shape == (2, 12, 5)
    for i in range(3):
        for j in range(4):
            assert torch.equal(annotations[:, 4 * i + j], features[:, :, i, j])


def test_a_feature_map_with_three_axes_is_refused(draw):
    with pytest.raises(ValueError, match="features must have shape"):
        image_to_annotations(draw(5, 3, 4))


def test_coordinates_go_from_minus_one_to_one(draw):
    rows, columns = coordinates(draw(2, 5, 3, 3))[1]
    assert rows.tolist() == [[-1.0] * 3, [0.0] * 3, [1.0] * 3]
    assert torch.equal(columns, rows.T)


def test_a_cell_depends_on_the_pixels_around_its_own_and_no_others():
    torch.manual_seed(0)
    features, image = FeatureMap(), torch.rand(1, 1, 28, 28)
    before = features(image)[0, :, 3, 3]  # own rows and columns 12 to 15: 18 pixels around are 5 to 22
    for row, column, matters in [(13, 13, True), (5, 13, True), (22, 22, True), (4, 13, False), (13, 23, False)]:
        changed = image.clone()
        changed[0, 0, row, column] += 50
        assert (not torch.equal(features(changed)[0, :, 3, 3], before)) == matters


def test_the_classifier_takes_images_of_any_side():
    assert DigitClassifier(FeatureMap())(torch.rand(2, 1, 16, 16)).shape == (2, 10)


def test_teacher_forcing_is_one_step_after_another(captioner, image, words, close):
    out, state = captioner(image, words), captioner.start(image)
    assert out.logits.shape == (3, 4, V)
    for t, token in enumerate(words.unbind(dim=1)):
        logits, state, weights = captioner.step(token, state)
        close(logits, out.logits[:, t])
        assert (weights is None) == (captioner.read is None)
        if weights is not None:
            close(weights, out.weights[:, t])
            assert torch.equal(state.location, out.locations[:, t])
            assert weights.shape == (3, 49)


def test_each_caption_has_its_own_image(captioner, image, words, close):
    together, alone = captioner(image, words), captioner(image[1:2], words[1:2])
    close(together.logits[1:2], alone.logits)


def test_contexts_are_what_the_names_say(captioner, image, close):
    state = captioner.start(image)
    context, weights, location = captioner.context(state)
    if captioner.read is None:
        close(context, state.annotations.mean(dim=1))
        return
    soft, _ = attend(state.recurrent[:, None, :8], state.annotations, state.annotations, score=captioner.score)
    at_one = state.annotations[torch.arange(3), location]
    close(context, soft[:, 0] if captioner.read.__name__ == "soft_read" else at_one)
    assert torch.equal(location, weights.argmax(dim=-1))  # in evaluation mode


@pytest.mark.parametrize("attention", ["hard", "straight_through"])
def test_positions_are_drawn_in_training_mode_only(attention, image, words, device, dtype):
    torch.manual_seed(0)
    model = Captioner(V, attention, embedding=6, hidden=8).to(device, dtype).train()
    assert not torch.equal(model(image, words).locations, model(image, words).locations)
    model.eval()
    assert torch.equal(model(image, words).locations, model(image, words).locations)


def test_a_gate_scales_the_context(image, device, dtype, close):
    torch.manual_seed(0)
    model = Captioner(V, "soft", embedding=6, hidden=8, gate=True).to(device, dtype)
    state = model.start(image)
    gated, weights, _ = model.context(state)
    beta = model.gate(state.recurrent[:, :8]).sigmoid()
    close(gated, beta * (weights[:, None] @ state.annotations)[:, 0])


def test_greedy_is_a_beam_of_one_and_the_likeliest_words(captioner, image):
    tokens, weights = greedy(captioner, image, max_length=LONGEST)
    assert torch.equal(beam(captioner, image, max_length=LONGEST, width=1).tokens[:, 0], tokens)
    read = torch.cat([torch.ones_like(tokens[:, :1]), tokens[:, :-1]], dim=1)
    likeliest = captioner(image, read).logits.argmax(dim=-1)
    before_end = (tokens == 2).cumsum(dim=1) - (tokens == 2).long() == 0
    assert torch.equal(tokens[before_end], likeliest[before_end])
    assert (weights is None) == (captioner.read is None)


def test_states_can_be_selected(captioner, image, words, close):
    state = captioner.select(captioner.start(image), torch.tensor([2, 2], device=image.device))
    out = captioner.follow(state, words[[2, 2]])
    close(out.logits, captioner(image, words).logits[[2, 2]])


@pytest.mark.parametrize("attention", ["mean", "soft", "straight_through"])
def test_every_parameter_gets_a_gradient(attention, image, words, device, dtype):
    torch.manual_seed(0)
    model = Captioner(V, attention, embedding=6, hidden=8, gate=attention == "soft").to(device, dtype)
    model(image, words).logits.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_an_unknown_attention_is_refused():
    with pytest.raises(ValueError, match="attention must be one of mean, soft, hard, straight_through; got 'none'"):
        Captioner(V, "none")


@pytest.mark.parametrize("shape", [(3, 28, 28), (3, 3, 28, 28), (3, 1, 28, 24), (3, 1, 27, 27), (0, 1, 28, 28)])
def test_other_images_are_refused(shape):
    with pytest.raises(ValueError, match=r"image must have shape \(B, 1, S, S\)"):
        Captioner(V).start(torch.zeros(shape))


@pytest.mark.parametrize("shape", [(2, 4), (3,), (3, 0)])
def test_words_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"words must have shape \(3, T\)"):
        Captioner(V)(torch.zeros(3, 1, 28, 28), torch.ones(shape, dtype=torch.long))
