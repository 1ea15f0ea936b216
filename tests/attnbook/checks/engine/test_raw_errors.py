"""A raw error is followed by a sentence that says what it means."""

import pytest
import torch
from torch.nn import functional as F

from attnbook.checks.engine.raw_errors import MEANINGS, meaning

X, INDEX = torch.zeros(2, 3, 4), torch.zeros(2, 3, dtype=torch.long)
ERRORS = {
    "`transpose(1, 2)`": lambda: F.cross_entropy(X, INDEX),
    "flatten the target": lambda: F.cross_entropy(X.flatten(0, 1), INDEX),
    "must have the shape (N,)": lambda: F.cross_entropy(X[:, 0], INDEX),
    "`index[..., None]`": lambda: X.gather(2, INDEX),
    "`argmax` returns the positions": lambda: X.max(-1).long(),
    "`.all()`": lambda: bool(X == 0),
    "a column (n, 1)": lambda: torch.cat([torch.zeros(2), X[0]], dim=1),
    "equally many axes": lambda: torch.cat([X, X[0]], dim=1),
    "does not broadcast": lambda: torch.cat([X, X[:, :1]], dim=2),
    "`torch.full_like`": lambda: torch.cat([1, X]),
    "zeros with the dtype of x": lambda: torch.zeros(2).scatter_add(0, INDEX[0, :2], X[0, 0, :2].double()),
    "`masked_fill`": lambda: X[X[:, :1] == 0],
    "keepdim=True": lambda: X - X.sum(-1),
    "`b.mT`": lambda: X @ X,
    "`b.T`": lambda: X @ X[0],
    "`mm` takes": lambda: torch.mm(X, X),
    "`dot` takes": lambda: torch.dot(X, X),
    "`clamp(min=…)`": lambda: torch.max(X, 1e-8),
    "use `math`": lambda: torch.sqrt(4),
    "`.float()`": lambda: (X == 0).mean(),
    "`generator=generator`": lambda: X[0].multinomial(1, torch.Generator()),
    "is n − 1": lambda: X[:, torch.tensor([3])],
    "the time last": lambda: F.conv1d(X, torch.zeros(5, 4, 2)),
    "shorter than the convolution's window": lambda: F.conv1d(X, torch.zeros(5, 3, 9)),
    "a *new* axis": lambda: torch.stack([X, X[:, 1:]]),
    "in a list": lambda: torch.cat(X, X),
    "`mask.bool()`": lambda: X.masked_fill(X, 1.0),
    "A list is shorter": lambda: [][0],
    "`d.get(key, 0)`": lambda: {}[4],
}


@pytest.mark.parametrize("words", ERRORS)
def test_the_error_as_torch_words_it_now_has_a_meaning(words):
    with pytest.raises(Exception) as caught:
        ERRORS[words]()
    assert words in meaning(f"{caught.type.__name__}: {caught.value}")


def test_an_error_that_speaks_for_itself_is_left_alone():
    assert meaning("ZeroDivisionError: division by zero") == ""


def test_no_meaning_is_hidden_by_one_before_it():
    assert all(meaning(piece) == words for piece, words in MEANINGS.items())
