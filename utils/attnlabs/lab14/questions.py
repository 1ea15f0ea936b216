"""Inputs for an additive pointer: queries, keys, weights, and masks of all kinds."""

import torch


def _network(draw, batch, positions, query_dim, key_dim, hidden):
    """Everything but the mask."""
    query, key = draw.normal(batch, query_dim), draw.normal(batch, positions, key_dim)
    return query, key, draw.normal(hidden, query_dim), draw.normal(hidden, key_dim), draw.normal(hidden)


def _one_open(draw, batch, positions):
    """A mask that is open in one position of each row."""
    mask = torch.zeros(batch, positions, dtype=torch.bool)
    return mask.index_put((torch.arange(batch), draw.integers(0, positions, batch)), torch.tensor(True))


def questions(draw):
    """Cases: query, key, W_q, W_k, v, mask."""
    if draw.compact:
        yield *_network(draw, 1, 2, 1, 1, 1), torch.tensor([[True, True]])
        yield *_network(draw, 1, 3, 2, 2, 1), torch.tensor([[True, False, True]])
        yield *_network(draw, 2, 2, 2, 2, 2), torch.tensor([[True, True], [False, False]])
    batch, positions, query_dim, key_dim, hidden = draw.sizes(5)
    yield *_network(draw, batch + 1, positions + 1, query_dim, key_dim, hidden), draw.mask(batch + 1, positions + 1)
    for batch, positions, mask in (
        (3, 3, draw.mask(3, 3)),  # square: whatever is mixed up gives values here too
        (2, 2, torch.ones(2, 2, dtype=torch.bool)),  # everything open
        (3, 4, torch.ones(3, 4, dtype=torch.bool)),
        (1, 4, draw.mask(1, 4, empty_rows=False)),  # one row
        (3, 5, _one_open(draw, 3, 5)),  # all closed but one: nothing to choose
        (2, 1, torch.tensor([[True], [False]])),  # one position
        (2, 17, draw.mask(2, 17, empty_rows=False)),  # many positions
    ):
        yield *_network(draw, batch, positions, *(3 * [batch] if batch == positions else (2, 3, 4))), mask
    query, key, W_q, W_k, v = _network(draw, 3, 4, 2, 3, 5)
    yield query, key, W_q, W_k, 1e3 * v, draw.mask(3, 4)  # scores so far apart that exp of their difference is 0
    query, key, W_q, W_k, v = _network(draw, 2, 5, 2, 3, 4)
    yield 50 * query, 50 * key, W_q, W_k, v, draw.mask(2, 5)  # tanh close to 1 and −1
    query, key, W_q, W_k = (50 * (part.abs() + 1) for part in (query, key, W_q, W_k))
    v = -(2.0**33) * draw.integers(1, 9, len(v)).double()  # each tanh is exactly 1: equal scores, far below any −1e9
    mask = _one_open(draw, 2, 5)
    yield query, key, W_q, W_k, v, mask
    yield query, torch.where(mask[..., None], key, -1e3 * key), W_q, W_k, v, mask  # closed ones as far above 1e9
    query, key, W_q, W_k, v = (part.abs() for part in _network(draw, 2, 4, 2, 3, 5))
    mask = ~_one_open(draw, 2, 4)  # the exponential of the closed one is infinite, those of the open ones are not
    key = torch.where(mask[..., None], 1e-3 * key, 1e3 * (key + 1))
    yield 1e-3 * query, key, W_q, W_k, 1e3 * (v + 1), mask
    yield from _closed_altogether(draw)
    for scale in (1.0, 100.0):  # in single precision, where one open position leaves nothing to round
        query, *others = [part.float() for part in _network(draw, 3, 4, 5, 2, 3)]
        yield scale * query, *others, _one_open(draw, 3, 4)


def _closed_altogether(draw):
    """Nothing is open: in the only row, in both, in the first."""
    for batch in (1, 2):
        yield *_network(draw, batch, 4, 3, 2, 5), torch.zeros(batch, 4, dtype=torch.bool)
    yield *_network(draw, 3, 4, 5, 2, 3), draw.mask(3, 4).flip(0)
