"""Classifiers of a picture after a few labelled examples: each is what its definition says, and knows no answer."""

import pytest
import torch
from torch import nn

from attnbook.data.pictures.glyphs import glyph_classes
from attnbook.data.worlds.episodes import few_shot_episodes
from attnbook.models import LSTMTagger
from attnbook.models.few_shot import EpisodeReader, GlyphEncoder, PixelNeighbour, PrototypicalNetwork
from attnbook.models.snail import Snail, SnailSizes

WAYS, SHOTS = 3, 2
LENGTH = WAYS * SHOTS + 1
DIM = 8


@pytest.fixture
def episode(device):
    return few_shot_episodes(glyph_classes(), 4, WAYS, SHOTS, seed=3).to(device)


def encoder():
    torch.manual_seed(0)
    return GlyphEncoder(DIM, channels=4)


def make(name):
    torch.manual_seed(0)
    if name == "prototypes":
        return PrototypicalNetwork(encoder(), WAYS)
    if name == "pixels":
        return PixelNeighbour(WAYS)
    if name == "lstm":
        return EpisodeReader(LSTMTagger(DIM + WAYS, WAYS, hidden=6), encoder(), WAYS)
    return EpisodeReader(Snail(DIM + WAYS, WAYS, LENGTH, sizes=SnailSizes(4, 4, 4)), encoder(), WAYS)


NAMES = ["snail", "lstm", "prototypes", "pixels"]


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_logit_per_label_from_all_labels_but_the_last(name, episode, device):
    model = make(name).to(device).eval()
    logits = model(episode.images, episode.labels[:, :-1])
    assert logits.shape == (4, WAYS)
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_episodes_of_a_batch_do_not_mix_in_evaluation(name, episode, device):
    model = make(name).to(device).eval()
    together = model(episode.images, episode.labels[:, :-1])
    alone = model(episode.images[1:2], episode.labels[1:2, :-1])
    torch.testing.assert_close(together[1:2], alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["prototypes", "pixels"])
def test_where_the_support_is_a_set_its_order_does_not_matter(name, episode, device):
    model = make(name).to(device).eval()
    order = [3, 0, 5, 1, 4, 2]
    mixed = model(episode.images[:, [*order, -1]], episode.labels[:, order])
    torch.testing.assert_close(mixed, model(episode.images, episode.labels[:, :-1]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["prototypes", "pixels"])
def test_other_labels_for_the_same_classes_permute_the_logits(name, episode, device):
    model = make(name).to(device).eval()
    other = torch.tensor([2, 0, 1], device=device)
    logits = model(episode.images, episode.labels[:, :-1])
    renamed = model(episode.images, other[episode.labels[:, :-1]])
    torch.testing.assert_close(renamed[:, other], logits, rtol=1e-4, atol=1e-5)


def test_the_sequence_holds_features_and_labels_and_none_at_the_question(episode, device):
    model = make("snail").to(device).eval()
    sequence = model.sequence(episode.images, episode.labels[:, :-1])
    assert sequence.shape == (4, LENGTH, DIM + WAYS)
    one_hot = nn.functional.one_hot(episode.labels[:, :-1], WAYS).float()
    assert torch.equal(sequence[:, :-1, DIM:], one_hot)
    assert (sequence[:, -1, DIM:] == 0).all()
    torch.testing.assert_close(sequence[1, :, :DIM], model.encoder(episode.images[1]), rtol=1e-4, atol=1e-4)


def test_the_prediction_is_the_readers_last_one(episode, device):
    model = make("lstm").to(device).eval()
    labels = episode.labels[:, :-1]
    assert torch.equal(model(episode.images, labels), model.reader(model.sequence(episode.images, labels))[0][:, -1])


def test_features_are_normalised_over_the_batch_in_training(device):
    model = encoder().to(device).train()
    features = model(torch.rand(64, 1, 16, 16).to(device))
    assert features.shape == (64, DIM)
    torch.testing.assert_close(features.mean(dim=0), torch.zeros(DIM, device=device), rtol=0, atol=1e-4)
    torch.testing.assert_close(features.std(dim=0, correction=0), torch.ones(DIM, device=device), rtol=0.05, atol=0.05)


def test_the_lstm_does_not_depend_on_later_inputs(draw, device, dtype, close):
    model = LSTMTagger(3, 2, hidden=4).to(device, dtype)
    x = draw(2, 6, 3)
    assert model(x)[0].shape == (2, 6, 2)
    close(model(x[:, :4])[0], model(x)[0][:, :4])


def test_prototypes_are_means_and_logits_squared_distances(episode, device):
    model = make("prototypes").to(device).eval()
    logits = model(episode.images, episode.labels[:, :-1])
    for b in range(len(logits)):
        features = model.encoder(episode.images[b])
        for label in range(WAYS):
            mean = features[:-1][episode.labels[b, :-1] == label].mean(dim=0)
            wanted = -(features[-1] - mean).square().sum()
            torch.testing.assert_close(logits[b, label], wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("blur", [1, 3])
def test_pixel_neighbours_are_the_nearest_pictures(blur, draw, device, dtype, close):
    images = draw(2, 5, 1, 16, 16)
    labels = torch.tensor([[0, 1, 2, 1], [2, 2, 0, 1]], device=device)
    found = PixelNeighbour(3, blur)(images, labels)
    for b in range(2):
        smooth = [slow_blur(image[0], blur) for image in images[b]]
        distance = [(smooth[-1] - picture).square().sum().sqrt() for picture in smooth[:-1]]
        for label in range(3):
            nearest = min(d for d, name in zip(distance, labels[b].tolist(), strict=True) if name == label)
            close(found[b, label], -nearest)


def slow_blur(picture, side):
    """The mean of the square around each pixel; outside the picture there are zeros."""
    reach = side // 2
    padded = nn.functional.pad(picture, (reach,) * 4)
    rows, columns = picture.shape
    means = [[padded[r : r + side, c : c + side].mean() for c in range(columns)] for r in range(rows)]
    return torch.stack([torch.stack(row) for row in means])


@pytest.mark.parametrize("blur", [0, 2, -1])
def test_a_square_without_a_middle_is_refused(blur):
    with pytest.raises(ValueError, match=f"blur must be odd and at least 1, got {blur}"):
        PixelNeighbour(3, blur)


def test_pixel_neighbours_have_nothing_to_learn():
    assert list(PixelNeighbour(3).parameters()) == []


def test_prototypes_need_an_example_of_each_class_and_a_class_without_one_has_no_nearest_pixel(episode, device):
    labels = torch.zeros_like(episode.labels[:, :-1])  # classes 1 and 2 have no example
    with pytest.raises(ValueError, match="labels must name each of 3 classes in every episode, got"):
        make("prototypes")(episode.images.cpu(), labels.cpu())
    assert make("pixels").to(device)(episode.images, labels).argmax(dim=-1).tolist() == [0, 0, 0, 0]
