"""Answers of lab 14 that are right on the small and tame, and wrong on what else may come."""

import torch


def scored(query, key, W_q, W_k, v):
    return ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v


def logs(scores, mask, fill=-torch.inf):
    return scores.masked_fill(~mask, fill).log_softmax(-1).masked_fill(~mask, -torch.inf)


def squeezed(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v).squeeze(), mask.squeeze())


def clamped_scores(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v).clamp(-500, 500), mask)


def clamped_probabilities(query, key, W_q, W_k, v, mask):
    weights = scored(query, key, W_q, W_k, v).masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.clamp(min=1e-30).log().masked_fill(~mask, -torch.inf)


def single_precision(query, key, W_q, W_k, v, mask):
    return logs(scored(*(x.float() for x in (query, key, W_q, W_k, v))), mask).to(query.dtype)


def opens_a_closed_row(query, key, W_q, W_k, v, mask):
    mask = torch.where(mask.any(-1, keepdim=True), mask, True)
    return logs(scored(query, key, W_q, W_k, v), mask)


def opens_the_mask_itself(query, key, W_q, W_k, v, mask):
    closed = ~mask.any(-1)
    mask[closed] = True
    return logs(scored(query, key, W_q, W_k, v), mask).masked_fill(closed[:, None], -torch.inf)


def closed_only_if_all_are(query, key, W_q, W_k, v, mask):
    scores = scored(query, key, W_q, W_k, v)
    return logs(scores, mask) if not mask.any() else scores.masked_fill(~mask, -torch.inf).log_softmax(-1)


def looks_at_row_0_of_the_mask(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v), mask[:1].expand_as(mask))


def ten_places_at_most(query, key, W_q, W_k, v, mask):
    near = torch.arange(mask.shape[1]) < 10
    return logs(scored(query, key, W_q, W_k, v), mask & near)


def query_apart(query, key, W_q, W_k, v, mask):
    return logs(scored(query.detach(), key, W_q, W_k, v), mask)


def normaliser_without_gradient(query, key, W_q, W_k, v, mask):
    logs_of_all = scored(query, key, W_q, W_k, v).log_softmax(-1)
    with torch.no_grad():
        total = logs_of_all.masked_fill(~mask, -torch.inf).logsumexp(-1, keepdim=True)
    return (logs_of_all - total).masked_fill(~mask, -torch.inf)


def query_apart_where_something_is_closed(query, key, W_q, W_k, v, mask):
    return logs(scored(query if mask.all() else query.detach(), key, W_q, W_k, v), mask)


def a_wall_of_1e300(query, key, W_q, W_k, v, mask):
    scores = scored(query, key, W_q, W_k, v)
    return (scores + (mask.to(scores.dtype) - 1) * 1e300).log_softmax(-1).masked_fill(~mask, -torch.inf)


def tanh_of_exps(query, key, W_q, W_k, v, mask):
    x = ((query @ W_q.mT)[:, None] + key @ W_k.mT).clamp(-300, 300)
    return logs((x.exp() - (-x).exp()) / (x.exp() + (-x).exp()) @ v, mask)


def open_rows_stacked(query, key, W_q, W_k, v, mask):
    scores, rows = scored(query, key, W_q, W_k, v), [b for b in range(len(mask)) if mask[b].any()]
    found = torch.stack([scores[b].masked_fill(~mask[b], -torch.inf).log_softmax(-1) for b in rows])
    found = torch.full_like(scores, -torch.inf).index_copy(0, torch.tensor(rows), found)
    return found.masked_fill(~mask, -torch.inf)


def only_the_last_row_mended(query, key, W_q, W_k, v, mask):
    found = scored(query, key, W_q, W_k, v).masked_fill(~mask, -torch.inf).log_softmax(-1)
    return found if mask[-1].any() else torch.cat([found[:-1], torch.full_like(found[-1:], -torch.inf)])


def zeros_where_nothing_is_open(query, key, W_q, W_k, v, mask):
    return logs(scored(query, key, W_q, W_k, v), mask) if mask.any() else query.new_zeros(mask.shape)


def decoded(step, state, points, first, choose=None, features=None, read=None, close=None):
    rows, tour = torch.arange(len(points)), [first]
    mask = torch.ones(points.shape[:2], dtype=torch.bool)
    for _ in range(points.shape[1] - 1):
        mask = close(mask, tour[-1]) if close else mask.scatter(1, tour[-1][:, None], False)
        scores, state = step((points if read is None else read(points))[rows, tour[-1]][:, :features], state)
        tour.append((choose or (lambda s, m: s.masked_fill(~m, -torch.inf).argmax(-1)))(scores, mask))
    return torch.stack(tour, 1)


def one_beginning_for_all(step, state, points, first):
    return decoded(step, state, points, first[:1].expand_as(first))


def two_features(step, state, points, first):
    return decoded(step, state, points, first, features=2)


def single_precision_scores(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: s.float().masked_fill(~m, -torch.inf).argmax(-1))


def minus_a_million(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: s.masked_fill(~m, -1e6).argmax(-1))


def shifted_above_0(step, state, points, first):
    return decoded(step, state, points, first, lambda s, m: ((s + 100) * m).argmax(-1))


def ends_sorted(step, state, points, first):
    tour = decoded(step, state, points, first)
    return tour if tour.shape[1] < 3 else torch.cat([tour[:, :-2], tour[:, -2:].sort(1).values], 1)


def once_over_scores(step, state, points, first):
    scores, _ = step(points[torch.arange(len(points)), first], state)
    order = scores.scatter(1, first[:, None], torch.inf).argsort(1, descending=True)
    return order


def normalised_points(step, state, points, first):
    return decoded(step, state, points, first, read=lambda p: p - p.mean(1, keepdim=True))


def whole_numbers(step, state, points, first):
    return decoded(step, state, points, first).to(torch.int16)


def restarts(step, state, points, first):
    """All stops are read again in each step, as a decoder without a state would, from the newest state on."""
    rows, tour = torch.arange(len(points)), [first]
    mask = torch.ones(points.shape[:2], dtype=torch.bool)
    for _ in range(points.shape[1] - 1):
        mask = mask.scatter(1, tour[-1][:, None], False)
        for place in tour:
            scores, state = step(points[rows, place], state)
        tour.append(scores.masked_fill(~mask, -torch.inf).argmax(-1))
    return torch.stack(tour, 1)


def row_by_row(step, state, points, first):
    tours = [decoded(step, state[b : b + 1], points[b : b + 1], first[b : b + 1])[0] for b in range(len(points))]
    return torch.stack(tours)


def state_copied(step, state, points, first):
    return decoded(lambda point, state: step(point, state.clone()), state, points, first)


def scores_overwritten(step, state, points, first):
    def choose(scores, mask):
        scores[~mask] = -torch.inf
        return scores.argmax(-1)

    return decoded(step, state, points, first, choose)


def closed_by_coordinates(step, state, points, first):
    def close(mask, place):
        return mask & (points != points[torch.arange(len(points)), place][:, None]).any(-1)

    return decoded(step, state, points, first, close=close)


def single_precision_points(step, state, points, first):
    return decoded(step, state, points, first, read=lambda p: p.float())


def rounded_points(step, state, points, first):
    return decoded(step, state, points, first, read=lambda p: (p * 1e5).round() / 1e5)


WRONG = {
    "pointer_log_probs": [
        squeezed,
        clamped_scores,
        clamped_probabilities,
        single_precision,
        opens_a_closed_row,
        opens_the_mask_itself,
        closed_only_if_all_are,
        looks_at_row_0_of_the_mask,
        ten_places_at_most,
        query_apart,
        normaliser_without_gradient,
        query_apart_where_something_is_closed,
        a_wall_of_1e300,
        tanh_of_exps,
        open_rows_stacked,
        only_the_last_row_mended,
        zeros_where_nothing_is_open,
    ],
    "greedy_pointer_decode": [
        one_beginning_for_all,
        two_features,
        single_precision_scores,
        minus_a_million,
        shifted_above_0,
        ends_sorted,
        once_over_scores,
        normalised_points,
        whole_numbers,
        restarts,
        row_by_row,
        state_copied,
        scores_overwritten,
        closed_by_coordinates,
        single_precision_points,
        rounded_points,
    ],
}
