"""Episodes: labels mean something in their own episode only, and no answer is given away."""

import pytest
import torch

from attnbook.data.pictures.glyphs import glyph_classes
from attnbook.data.worlds import episodes
from attnbook.data.worlds.episodes import few_shot_episodes, online_recall, seen_before

# ---- online recall


def test_each_key_keeps_its_value_within_a_sequence_and_shows_it_one_step_later():
    batch = online_recall(5, seed=1)
    assert batch.inputs.shape == (5, 48, 12)
    assert batch.values.shape == batch.seen.shape == batch.which.shape == (5, 48)
    for b in range(5):
        value_of = {}
        for t in range(48):
            key, value = batch.which[b, t].item(), batch.values[b, t].item()
            assert value_of.setdefault(key, value) == value
            shown = batch.inputs[b, t, 8:]
            assert shown.tolist() == ([0] * 4 if t == 0 else one_hot(batch.values[b, t - 1].item()))


def one_hot(value):
    return [float(i == value) for i in range(4)]


def test_seen_is_where_the_key_occurred_before():
    batch = online_recall(5, seed=1)
    for b in range(5):
        which = batch.which[b].tolist()
        assert batch.seen[b].tolist() == [key in which[:t] for t, key in enumerate(which)]


def test_keys_come_with_noise_and_examples_of_one_key_are_near():
    batch = online_recall(20)
    keys = batch.inputs[..., :8]
    same = (batch.which[:, :, None] == batch.which[:, None, :]) & ~torch.eye(48, dtype=torch.bool)
    apart = torch.cdist(keys, keys)
    assert (apart[same] > 0).all()
    assert apart[same].mean() == pytest.approx(episodes.BLUR * 4, rel=0.05)  # |difference| of 8 numbers, noise twice
    assert apart[batch.which[:, :, None] != batch.which[:, None, :]].mean() > 3 * apart[same].mean()


def test_sequences_have_keys_and_values_of_their_own():
    batch = online_recall(300)
    assert len(batch.inputs[:, 0, :8].unique(dim=0)) == 300
    assert batch.values.flatten().bincount(minlength=4).min() > 0.2 * batch.values.numel()
    first = torch.where(batch.which == 0, batch.values, -1).amax(dim=1)  # the value of key 0 in each sequence
    assert {0, 1, 2, 3} <= set(first.tolist())


def test_a_seed_fixes_online_recall_and_a_length_can_be_chosen():
    one, same, other = (online_recall(3, seed, length=7) for seed in (5, 5, 6))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.inputs, other.inputs)
    assert one.inputs.shape == (3, 7, 12)


@pytest.mark.parametrize("count, length", [(0, 5), (5, 0)])
def test_recall_of_nothing_is_refused(count, length):
    with pytest.raises(ValueError, match=f"count and length must be at least 1, got {count} and {length}"):
        online_recall(count, length=length)


def test_seen_before_by_hand():
    assert seen_before(torch.tensor([[3, 1, 3, 2, 1]])).tolist() == [[False, False, True, False, True]]


# ---- few-shot episodes


@pytest.fixture(scope="module")
def tagged():
    """Classes that can be recognised in the pictures: see :func:`class_of`."""
    return glyph_classes()[:7]


@pytest.fixture
def shown(monkeypatch):
    """Which control points were drawn, in order, in place of pictures; each drawing counts as a picture of its own."""
    calls = []

    def note(classes, draw):
        calls.append(classes)
        return torch.arange(len(classes), dtype=torch.float32)[:, None, None, None].expand(-1, 1, 16, 16)

    monkeypatch.setattr(episodes, "draw_glyphs", note)
    return calls


def classes_shown(shown, classes, labels):
    """The number of the class of each picture, (B, T)."""
    [drawn] = shown
    same = (drawn[:, None] == classes[None]).flatten(2).all(dim=-1)  # (B · T, C)
    assert (same.sum(dim=1) == 1).all()
    return same.long().argmax(dim=1).view(labels.shape)


@pytest.mark.parametrize("ways, shots", [(5, 1), (3, 4), (7, 2)])
def test_each_class_has_its_shots_and_one_label_and_the_question_is_of_one_of_them(ways, shots, tagged, shown):
    episode = few_shot_episodes(tagged, 50, ways, shots, seed=2)
    assert episode.images.shape == (50, ways * shots + 1, 1, 16, 16)
    number = classes_shown(shown, tagged, episode.labels)
    for labels, classes in zip(episode.labels.tolist(), number.tolist(), strict=True):
        assert sorted(labels[:-1]) == sorted(list(range(ways)) * shots)
        label_of = dict(zip(classes[:-1], labels[:-1], strict=True))
        assert len(label_of) == ways
        assert all(label_of[c] == label for c, label in zip(classes, labels, strict=True))  # the question's, too


def test_labels_are_assigned_anew_in_each_episode(tagged, shown):
    episode = few_shot_episodes(tagged, 2000, 5, 1)
    number = classes_shown(shown, tagged, episode.labels)
    labels_of_class_0 = episode.labels[:, :-1][number[:, :-1] == 0]
    shares = labels_of_class_0.bincount(minlength=5) / len(labels_of_class_0)
    assert (shares - 0.2).abs().max() < 0.05
    assert (number.flatten().bincount(minlength=7) / number.numel() - 1 / 7).abs().max() < 0.02


def test_neither_the_order_nor_the_first_label_tells_the_answer(tagged, shown):
    episode = few_shot_episodes(tagged, 3000, 5, 1)
    for place in range(5):
        assert (episode.labels[:, place] == episode.labels[:, -1]).float().mean() == pytest.approx(0.2, abs=0.03)


def test_the_question_is_never_a_picture_of_the_support(tagged):
    episode = few_shot_episodes(tagged, 60, 5, 2, seed=1)
    same = (episode.images[:, :-1] == episode.images[:, -1:]).flatten(2).all(dim=-1)
    assert not same.any()


def test_a_seed_fixes_the_episodes(tagged):
    one, same, other = (few_shot_episodes(tagged, 3, 2, 1, seed) for seed in (5, 5, 6))
    assert torch.equal(one.images, same.images)
    assert torch.equal(one.labels, same.labels)
    assert not torch.equal(one.images, other.images)


@pytest.mark.parametrize("count, ways, shots", [(0, 5, 1), (3, 0, 1), (3, 5, 0), (3, 8, 1)])
def test_episodes_that_cannot_be_are_refused(count, ways, shots, tagged):
    message = f"ways at most 7; got {count}, {ways} and {shots}"
    with pytest.raises(ValueError, match=message):
        few_shot_episodes(tagged, count, ways, shots)


def test_batches_move_to_a_device(tagged, device):
    assert few_shot_episodes(tagged, 2).to(device).images.device.type == device.type
    assert online_recall(2).to(device).seen.device.type == device.type
