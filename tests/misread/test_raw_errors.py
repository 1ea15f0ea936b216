"""A raw error is followed by a sentence that says what it means."""

import pytest
import torch
from torch.nn import functional as F

from misread.raw_errors import MEANINGS, meaning

X, INDEX = torch.zeros(2, 3, 4), torch.zeros(2, 3, dtype=torch.long)
NOTHING = None
ERRORS = {  # a piece of the error's text: a word that its meaning must hold, and what raises it
    "Expected target size": ("`transpose(1, 2)`", lambda: F.cross_entropy(X, INDEX)),
    "to match target batch_size": ("flatten", lambda: F.cross_entropy(X.flatten(0, 1), INDEX)),
    "multi-target not supported": ("(N,)", lambda: F.cross_entropy(X[:, 0], INDEX)),
    "Index tensor must have the same number of dimensions": ("`index[..., None]`", lambda: X.gather(2, INDEX)),
    "return_types.max": ("`argmax`", lambda: X.max(-1).long()),
    "Boolean value of Tensor": ("`.all()`", lambda: bool(X == 0)),
    "range of [-1, 0], but got 1": ("column", lambda: torch.cat([torch.zeros(2), X[0]], dim=1)),
    "Tensors must have same number of dimensions": ("equally", lambda: torch.cat([X, X[0]], dim=1)),
    "Sizes of tensors must match except in dimension": ("broadcast", lambda: torch.cat([X, X[:, :1]], dim=2)),
    "in argument 0, but got NoneType": ("`is None`", lambda: torch.cat([X, None])),
    "step must be greater than zero": ("`x.flip(1)`", lambda: X[:, ::-1]),
    "expected Tensor as element": ("`torch.full_like`", lambda: torch.cat([1, X])),
    "self.dtype to be equal to src.dtype": (
        "`x.new_zeros(…)`",
        lambda: torch.zeros(2).scatter_add(0, INDEX[0, :2], X[0, 0, :2].double()),
    ),
    "The shape of the mask": ("`masked_fill`", lambda: X[X[:, :1] == 0]),
    "at non-singleton dimension": ("keepdim=True", lambda: X - X.sum(-1)),
    "of batch2 tensor": ("`b.mT`", lambda: X @ X),
    "shapes cannot be multiplied": ("`b.T`", lambda: X @ X[0]),
    "self must be a matrix": ("`mm`", lambda: torch.mm(X, X)),
    "1D tensors expected": ("`dot`", lambda: torch.dot(X, X)),
    "max() received an invalid combination": ("`clamp(min=…)`", lambda: torch.max(X, 1e-8)),
    "must be Tensor, not": ("`math`", lambda: torch.sqrt(4)),
    "could not infer output dtype": ("`.float()`", lambda: (X == 0).mean()),
    "must be bool, not torch._C.Generator": ("`generator=generator`", lambda: X[0].multinomial(1, torch.Generator())),
    "too many indices for tensor of dimension": ("`squeeze()`", lambda: X[:1, 0, 0].squeeze()[0, None, 0]),
    "out of bounds for dimension": ("n − 1", lambda: X[:, torch.tensor([3])]),
    "channels, but got": ("(features out, features in, taps)", lambda: F.conv1d(X, torch.zeros(5, 4, 2))),
    "Kernel size can't be greater than": ("window", lambda: F.conv1d(X, torch.zeros(5, 3, 9))),
    "'tuple' object has no attribute": ("`a, b = f(x)`", lambda: (X, X).sum()),
    "stack expects each tensor to be equal size": ("*new*", lambda: torch.stack([X, X[:, 1:]])),
    "must be tuple of Tensors, not Tensor": ("list", lambda: torch.cat(X, X)),
    "only supports boolean masks": ("`mask.bool()`", lambda: X.masked_fill(X, 1.0)),
    "'NoneType'": ("`is None`", lambda: NOTHING[:, None]),
    "list index out of range": ("shorter", lambda: [][0]),
    "tuple index out of range": ("n − 1", lambda: X.shape[3]),
    "unhashable type: 'list'": ("`tuple(…)`", lambda: {[1]: 2}),
    '"bitwise_': ("parentheses", lambda: (X > 0) & X < 1),
    "values to unpack": ("`x.shape[-1]`", lambda: [rows for rows, columns in [X.shape]]),
    "KeyError": ("`key in d`", lambda: {}[4]),
}


@pytest.mark.parametrize("piece", ERRORS)
def test_the_error_as_torch_words_it_now_has_a_meaning(piece):
    word, wrong = ERRORS[piece]
    with pytest.raises(Exception) as caught:
        wrong()
    assert meaning(f"{caught.type.__name__}: {caught.value}") == MEANINGS[piece]
    assert word in MEANINGS[piece]


def test_an_error_that_speaks_for_itself_is_left_alone():
    assert meaning("ZeroDivisionError: division by zero") == ""


def test_no_meaning_is_hidden_by_one_before_it():
    assert all(meaning(piece) == words for piece, words in MEANINGS.items())


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize(
    "wrong", [lambda: X @ X.T, lambda: X + X.T, lambda: torch.zeros(1, 3, 4) @ torch.zeros(1, 3, 4).T]
)
def test_where_sizes_do_not_fit_t_is_said_to_reverse_all_axes(wrong):
    with pytest.raises(RuntimeError) as caught:
        wrong()
    assert meaning(f"RuntimeError: {caught.value}", "scores = query @ key.T / 2").endswith(
        "`.mT` exchanges the last two."
    )


def test_other_lines_and_other_errors_say_nothing_of_t():
    fits = "RuntimeError: The size of tensor a (2) must match the size of tensor b (5) at non-singleton dimension 0"
    assert ".mT" not in meaning(fits, "scores = query @ key.mT")
    assert ".mT" not in meaning(fits, "scores = query @ key.Table")
    assert meaning("KeyError: 4", "found[4] @ key.T") == MEANINGS["KeyError"]
