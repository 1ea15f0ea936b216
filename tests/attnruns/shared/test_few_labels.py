"""Few labels: a larger draw holds a smaller one, features are what they say, and what can be learnt is learnt."""

import pytest
import torch

from attnbook.data.texts.sentence_labels import Labelled
from attnbook.device import best_device
from attnbook.models import MaskedLanguageModel, SentenceClassifier, TransformerConfig
from attnruns.shared import few_labels

pytestmark = pytest.mark.usefixtures("tiny_captions")


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    model = MaskedLanguageModel(few_labels.vocabulary_size() + 1, TransformerConfig(d_model=8, heads=2, layers=1))
    return model.to(best_device())


def test_a_larger_number_of_labels_holds_those_of_a_smaller_one():
    few, many = few_labels.drawn("people", 4, 0), few_labels.drawn("people", 8, 0)
    assert torch.equal(many.labels[:4], few.labels)
    assert torch.equal(many.words[:4, : few.words.shape[1]], few.words)
    assert not torch.equal(few_labels.drawn("people", 8, 1).words, many.words)


def test_a_bag_of_words_counts_pieces_and_no_padding():
    labels = few_labels.encoded([Labelled("a man a", 0), Labelled("a man near a man", 1)])
    counts = labels.counts()
    assert counts.shape == (2, few_labels.vocabulary_size())
    assert counts.sum(dim=1).tolist() == labels.lengths.tolist()
    for row, words, length in zip(counts, labels.words, labels.lengths, strict=True):
        assert torch.equal(row, words[:length].bincount(minlength=counts.shape[1]).float())


def test_a_shuffled_sentence_has_the_bag_of_words_of_its_own_order():
    labels = few_labels.encoded([Labelled("a man near the old river", 1), Labelled("river old man a the near", 0)])
    assert torch.equal(*labels.counts())


def test_summaries_are_the_same_whatever_the_width_of_the_batch(encoder):
    model, labels = SentenceClassifier(encoder, 2), few_labels.drawn("shuffled", 8, 0)
    found = few_labels.summaries(model, labels)
    one = few_labels.summaries(model, labels.rows(torch.tensor([3])))
    torch.testing.assert_close(found.vectors[3:4], one.vectors)
    assert torch.equal(found.labels.cpu(), labels.labels)


def test_a_probe_reads_unscaled_vectors_as_its_linear_layer_read_the_scaled_ones(encoder, monkeypatch):
    labels, known = few_labels.drawn("people", 8, 0), torch.nn.Linear(8, 3).to(best_device())
    seen = []
    monkeypatch.setattr(few_labels, "train_linear", lambda features, *_: seen.append(features) or known)
    model = few_labels.probe(encoder, "people", labels, 2, 0)
    scaled = seen[0].vectors
    torch.testing.assert_close(scaled.mean(dim=0).cpu(), torch.zeros(8), rtol=0, atol=1e-5)
    torch.testing.assert_close(scaled.std(dim=0).cpu(), torch.ones(8), rtol=0, atol=1e-3)
    words = labels.words.to(best_device())
    torch.testing.assert_close(model(words, labels.lengths), known(scaled), rtol=0, atol=1e-4)


def test_a_probe_leaves_its_encoder_as_it_is_and_fine_tuning_does_not(encoder):
    labels = few_labels.drawn("people", 8, 0)
    model = few_labels.probe(encoder, "people", labels, 2, 0)
    before = [parameter.clone() for parameter in encoder.parameters()]
    assert all(torch.equal(*pair) for pair in zip(model.encoder.parameters(), before, strict=True))
    few_labels.train_classifier(model.requires_grad_(), labels, 2, 0, few_labels.FINE_TUNING)
    assert not any(torch.equal(*pair) for pair in zip(model.encoder.parameters(), before, strict=True))


def test_a_linear_classifier_learns_what_lies_on_two_sides():
    vectors = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
    features = few_labels.Features(vectors, (vectors[:, 0] > 0).long())
    model = few_labels.train_linear(features, 2, 200)
    assert (model(vectors.to(best_device())).argmax(dim=-1).cpu() == features.labels).float().mean() > 0.95


def test_the_commonest_class_is_a_half_where_every_second_sentence_is_shuffled():
    shares = few_labels.commonest_class()
    assert shares.keys() == few_labels.TASKS.keys()
    assert shares["shuffled"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("how", ["probe", "fine_tuned", "at_once"])
def test_every_answer_leaves_the_encoder_alone_that_it_was_given(encoder, how):
    before = {name: parameter.clone() for name, parameter in encoder.named_parameters()}
    more = (few_labels.FINE_TUNING,) if how == "at_once" else ()
    answer = getattr(few_labels, f"answer_{how}")
    right = answer(encoder, *more, "people", few_labels.drawn("people", 8, 0), 3, 0)
    assert 0 <= right <= 1
    assert all(torch.equal(parameter, before[name]) for name, parameter in encoder.named_parameters())
