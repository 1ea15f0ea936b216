"""Right answers of lab 14 in other styles than the reference's."""

import math

import numpy as np
import torch


def tour_length__loops(points, tour):
    totals = []
    for cities, order in zip(points, tour.tolist(), strict=True):
        total = torch.zeros((), dtype=points.dtype)
        for here, there in zip(order, order[1:] + order[:1], strict=True):
            total = total + torch.dist(cities[here], cities[there])
        totals.append(total)
    return torch.stack(totals)


def tour_length__home_appended(points, tour):
    rows = torch.arange(len(points))[:, None]
    round_trip = points[rows, torch.cat([tour, tour[:, :1]], dim=1)]  # (B, N + 1, 2)
    return torch.diff(round_trip, dim=1).pow(2).sum(-1).sqrt().sum(-1)


def tour_length__table_of_distances(points, tour):
    table = (points.unsqueeze(2) - points.unsqueeze(1)).norm(dim=-1)  # (B, N, N)
    return table[torch.arange(len(points)).unsqueeze(1), tour, tour.roll(1, 1)].sum(1)


def tour_length__complex(points, tour):
    stops = torch.view_as_complex(points[torch.arange(len(points))[:, None], tour].contiguous())
    return (stops - torch.roll(stops, 1, -1)).abs().sum(-1)


def optimality_gap__loops(length, optimal):
    gaps = [(own - best) / best for own, best in zip(length, optimal, strict=True)]
    return sum(gaps) / len(gaps)


def optimality_gap__mean_ratio(length, optimal):
    return torch.mean(length / optimal) - 1


def optimality_gap__reciprocal(length, optimal):
    return ((length - optimal) * optimal.reciprocal()).sum() / optimal.numel()


def is_convex_hull__loops(points, polygon):
    answers = []
    for row, places in zip(points.tolist(), polygon.tolist(), strict=True):
        places = [place for place in places if place != len(row)]
        good = len(places) > 2 and len(places) == len(set(places))
        for (ax, ay), (bx, by) in [(row[places[i - 1]], row[places[i]]) for i in range(len(places))]:
            good = good and all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in row)
        answers.append(good)
    return torch.tensor(answers)


def is_convex_hull__row_by_row(points, polygon):
    out = torch.zeros(len(points), dtype=torch.bool)
    for b in range(len(points)):
        corners = polygon[b][polygon[b] < points.shape[1]]
        if corners.numel() < 3 or corners.unique().numel() < corners.numel():
            continue
        start = points[b, corners]
        edge = torch.cat([start[1:], start[:1]]) - start  # (T, 2)
        left = torch.stack([-edge[:, 1], edge[:, 0]], dim=1)  # (T, 2): the edge, turned to the left
        out[b] = ((points[b][None] - start[:, None]) * left[:, None]).sum(-1).min() >= -1e-12
    return out


def is_convex_hull__shoelace(points, polygon):
    N = points.size(1)
    real = polygon < N
    fixed = polygon.where(real, polygon[:, :1]).clamp_max(N - 1)
    x, y = points.unbind(-1)
    ax, ay = x.gather(1, fixed), y.gather(1, fixed)
    bx, by = torch.roll(ax, -1, 1), torch.roll(ay, -1, 1)
    up, along = y[:, None] - ay.unsqueeze(2), x[:, None] - ax.unsqueeze(2)
    area = (bx - ax).unsqueeze(2) * up - (by - ay).unsqueeze(2) * along
    ordered = polygon.sort(dim=1).values
    again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] < N)
    return (area >= 0).all(2).all(1) & (real.sum(1) > 2) & ~again.any(1)


def mask_visited__clone(mask, chosen):
    new = mask.clone()
    new[torch.arange(len(mask)), chosen] = False
    return new


def mask_visited__scatter(mask, chosen):
    return mask.scatter(1, chosen.unsqueeze(1), False)


def mask_visited__one_hot(mask, chosen):
    return mask & ~torch.nn.functional.one_hot(chosen, mask.shape[1]).bool()


def mask_visited__loops(mask, chosen):
    return torch.stack(
        [torch.stack([open_ & (n != chosen[b]) for n, open_ in enumerate(row)]) for b, row in enumerate(mask)]
    )


def pointer_log_probs__loops(query, key, W_q, W_k, v, mask):
    rows = []
    for b in range(len(query)):
        scores = torch.stack([v @ torch.tanh(W_q @ query[b] + W_k @ place) for place in key[b]])
        if mask[b].any():
            total = torch.logsumexp(scores[mask[b]], dim=0)
            rows.append(torch.where(mask[b], scores - total, torch.full_like(scores, -math.inf)))
        else:
            rows.append(torch.full_like(scores, -math.inf))
    return torch.stack(rows)


def pointer_log_probs__einsum(query, key, W_q, W_k, v, mask):
    asked = torch.einsum("bd,ad->ba", query, W_q)
    told = torch.einsum("bnd,ad->bna", key, W_k)
    scores = torch.einsum("bna,a->bn", torch.tanh(asked.unsqueeze(1) + told), v)
    scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
    logs = torch.nn.functional.log_softmax(scores, dim=1)
    return torch.where(mask, logs, torch.tensor(-torch.inf, dtype=scores.dtype))


def pointer_log_probs__largest_taken_off(query, key, W_q, W_k, v, mask):
    linear = torch.nn.functional.linear
    scores = (torch.tanh(linear(query, W_q)[:, None, :] + linear(key, W_k)) * v).sum(2)
    top = scores.masked_fill(~mask, float("-inf")).max(1, keepdim=True).values.detach()
    shifted = (scores - top.masked_fill(top.isinf(), 0.0)).masked_fill(~mask, 0.0)
    total = (shifted.exp() * mask).sum(1, keepdim=True)
    return (shifted - total.masked_fill(~mask.any(1, keepdim=True), 1.0).log()).masked_fill(~mask, float("-inf"))


def pointer_log_probs__mask_added(query, key, W_q, W_k, v, mask):
    wall = torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(~mask, float("-inf"))
    scores = torch.matmul(torch.tanh((query @ W_q.T).unsqueeze(1) + key @ W_k.T), v) + wall
    scores = scores.masked_fill(~mask.any(1, keepdim=True), 0.0)  # a closed row: anything finite
    return scores.log_softmax(1) + wall


def greedy_pointer_decode__lists(step, state, points, first):
    B, N, _ = points.shape
    tours = [[f] for f in first.tolist()]
    for _ in range(N - 1):
        scores, state = step(torch.stack([points[b, tours[b][-1]] for b in range(B)]), state)
        for b in range(B):
            tours[b].append(max(set(range(N)) - set(tours[b]), key=lambda n, b=b: scores[b, n].item()))
    return torch.tensor(tours)


def greedy_pointer_decode__gather(step, state, points, first):
    tour = torch.empty(points.shape[:2], dtype=torch.long)
    visited = torch.zeros(points.shape[:2], dtype=torch.bool)
    here = first[:, None]  # (B, 1)
    for t in range(points.shape[1]):
        tour[:, t] = here[:, 0]
        visited = visited.scatter(1, here, True)
        scores, state = step(points.gather(1, here[..., None].expand(-1, -1, points.shape[2]))[:, 0], state)
        here = torch.where(visited, float("-inf"), scores).max(1, keepdim=True).indices
    return tour


def greedy_pointer_decode__numpy_mask(step, state, points, first):
    taken, columns = np.zeros(points.shape[:2], dtype=bool), [first]
    rows = np.arange(len(points))
    while len(columns) < points.shape[1]:
        taken[rows, columns[-1].numpy()] = True
        scores, state = step(points[torch.from_numpy(rows), columns[-1]], state)
        columns.append(torch.from_numpy(np.where(taken, -np.inf, scores.numpy()).argmax(1)))
    return torch.stack(columns, 1)


def greedy_pointer_decode__with_log_softmax(step, state, points, first):
    places, chosen, tour = torch.arange(points.shape[1]), first, first[:, None]
    for _ in places[1:]:
        scores, state = step(points[torch.arange(len(points)), chosen], state)
        seen = (tour[:, :, None] == places).any(1)  # (B, N)
        logs = scores.masked_fill(seen, -torch.inf).log_softmax(1)
        chosen = logs.argmax(1)
        tour = torch.cat([tour, chosen[:, None]], 1)
    return tour
