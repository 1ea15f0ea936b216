"""Few labels on everyday sentences: a bag of words beside the vectors of a pretrained encoder (chapter 19)."""

import math

import numpy as np
import torch
from torch import Tensor

from attnbook.data.batching import pad_rows
from attnbook.data.texts.everyday import SUBJECTS
from attnbook.extras import needed_from
from attnbook.models import SentenceClassifier
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating

LABELS = (1, 4, 16)  # sentences per subject whose label is known


def sentences() -> tuple[list[str], np.ndarray]:
    """All sentences, and the number of each one's subject."""
    texts = [sentence for group in SUBJECTS.values() for sentence in group]
    return texts, np.repeat(np.arange(len(SUBJECTS)), [len(group) for group in SUBJECTS.values()])


@evaluating
def vectors(pretrained: Pretrained, texts: list[str]) -> Tensor:
    """The mean of each sentence's word vectors after the last block, of length 1: ``(N, D)``."""
    rows = [pretrained.tokenizer.encode(text).ids for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    classifier = SentenceClassifier(pretrained.model, 2)
    return torch.nn.functional.normalize(classifier.summarise(pad_rows(rows), lengths), dim=-1)


def tf_idf(texts: list[str]):
    """Bags of words, rare words counting more: a sparse matrix."""
    with needed_from("notebooks"):
        from sklearn.feature_extraction.text import TfidfVectorizer
    return TfidfVectorizer(stop_words="english", sublinear_tf=True).fit_transform(texts)


def accuracy(features, subjects: np.ndarray, labels: int, draw: int) -> float:
    """Accuracy of a linear classifier that knew ``labels`` sentences of each subject, on all others."""
    with needed_from("notebooks"):
        from sklearn.linear_model import LogisticRegression
    chance = np.random.default_rng(draw)
    known = np.concatenate(
        [chance.permutation(np.flatnonzero(subjects == one))[:labels] for one in np.unique(subjects)]
    )
    other = np.setdiff1d(np.arange(len(subjects)), known)
    model = LogisticRegression(C=30, max_iter=3000).fit(features[known], subjects[known])
    return float(model.score(features[other], subjects[other]))


def compared(pretrained: Pretrained, draws: range) -> dict[str, dict[str, float]]:
    """Mean accuracy by kind of features and number of labels per subject."""
    texts, subjects = sentences()
    features = {"TF-IDF": tf_idf(texts), "MiniLM": vectors(pretrained, texts).numpy()}
    return {
        name: {
            str(labels): round(math.fsum(accuracy(of, subjects, labels, draw) for draw in draws) / len(draws), 4)
            for labels in LABELS
        }
        for name, of in features.items()
    }
