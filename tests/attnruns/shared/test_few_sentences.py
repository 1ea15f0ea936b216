"""Few labels on everyday sentences, with an encoder of a few numbers."""

import numpy as np
import pytest
import torch

from attnbook.models import MaskedLanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.shared import few_sentences


class Letters:
    """A tokenizer whose words are letters."""

    def encode(self, text):
        return type("Encoded", (), {"ids": [1 + ord(letter) % 30 for letter in text]})


@pytest.fixture
def tiny():
    torch.manual_seed(0)
    config = TransformerConfig(d_model=8, heads=2, layers=1, d_ff=8, positions="learned", max_length=100)
    return Pretrained(MaskedLanguageModel(32, config).eval(), Letters(), ())


def test_a_vector_has_length_one_and_does_not_depend_on_its_neighbours(tiny):
    both = few_sentences.vectors(tiny, ["Snow fell.", "A much longer sentence than the other one."])
    alone = few_sentences.vectors(tiny, ["Snow fell."])
    torch.testing.assert_close(both[:1], alone)
    torch.testing.assert_close(both.norm(dim=-1), torch.ones(2))


def test_features_that_are_the_subject_are_classified_without_a_mistake():
    subjects = np.repeat(np.arange(3), 10)
    assert few_sentences.accuracy(np.eye(3)[subjects], subjects, labels=1, draw=0) == 1.0
    assert few_sentences.accuracy(np.ones((30, 2)), subjects, labels=4, draw=0) == pytest.approx(1 / 3)


def test_each_kind_of_features_is_compared_at_each_number_of_labels(tiny):
    found = few_sentences.compared(tiny, range(2))
    assert list(found) == ["TF-IDF", "MiniLM"]
    assert all(list(row) == ["1", "4", "16"] for row in found.values())
    assert found == few_sentences.compared(tiny, range(2))
