"""What is said of answers that students of lab 14 have given: their own mistake, on an input that shows it."""

import pytest
import torch

from attnbook.data.points.geometry import convex_hull
from attnlabs.lab14 import check
from attnlabs.lab14.visited import mask_visited
from misread.judge import judge


def told(name, answer):
    verdict = judge(check.exercise(name), answer)
    assert not verdict.passed
    return verdict.mistake or verdict.kind, " ".join(verdict.message.split())


def opened(mask, chosen):
    new = mask.clone()
    new[torch.arange(len(mask)), chosen] = True
    return new


@pytest.mark.parametrize(
    "answer", [opened, lambda mask, chosen: mask | (torch.arange(mask.shape[1]) != chosen[:, None])]
)
def test_what_opens_the_chosen_position_is_told_that_it_must_be_closed_on_an_open_mask(answer):
    _, text = told("mask_visited", answer)
    assert "chosen position must be" in text
    assert "mask = [[ True, True, True]]" in text


def _lost(mask, chosen):
    mask.clone()[torch.arange(len(mask)), chosen] = False
    return mask


def _not_kept(mask, chosen):
    new = mask.clone()
    new.scatter(1, chosen[:, None], False)
    return new


@pytest.mark.parametrize("answer", [_lost, _not_kept, lambda mask, chosen: mask])
def test_a_mask_in_which_nothing_was_closed_is_not_told_that_something_was_opened(answer):
    assert told("mask_visited", answer)[0] == "the mask as it was"


def test_a_mask_that_all_rows_share_is_named():
    def shared(mask, chosen):
        mask = mask.clone()
        mask[:, chosen] = False
        return mask

    assert told("mask_visited", shared)[0] == "a mask shared by the batch"


@pytest.mark.parametrize("change", ["mask[chosen, range(len(mask))] = False", "mask.scatter_(0, chosen[None], False)"])
def test_exchanged_axes_are_named_though_most_inputs_stop_with_an_error(change):
    def closed(mask, chosen):
        mask = mask.clone()
        exec(change, {"mask": mask, "chosen": chosen})
        return mask

    assert told("mask_visited", closed)[0] == "rows and positions exchanged"


def _by_edges(points, polygon, look_up, repeated):
    real, rows = polygon < points.shape[1], torch.arange(len(points))[:, None]
    a = points[rows, look_up(torch.where(real, polygon, polygon[:, :1]), points.shape[1])]
    edge, offset = (a.roll(-1, 1) - a)[:, :, None], points[:, None] - a[:, :, None]
    bend = edge[..., 0] * offset[..., 1] - edge[..., 1] * offset[..., 0]
    twice = torch.tensor([repeated(row, points.shape[1]) for row in polygon.tolist()])
    return (bend >= 0).flatten(1).all(1) & (real.sum(1) >= 3) & ~twice


@pytest.mark.parametrize(
    "look_up, repeated, name",
    [
        (
            lambda index, size: index,
            lambda row, size: any(row.count(n) > 1 for n in range(size)),
            "an empty answer looked up",
        ),
        (
            lambda index, size: index.clamp(max=size - 1),
            lambda row, size: len(set(row)) < len(row),
            "ends taken for a corner twice",
        ),
    ],
)
def test_a_hull_without_loops_is_told_where_it_stumbles_over_the_end(look_up, repeated, name):
    assert told("is_convex_hull", lambda *args: _by_edges(*args, look_up, repeated))[0] == name


def test_lengths_are_shown_on_tours_of_several_cities():
    def all_rows(points, tour):
        stops = points[:, tour]
        return (stops - stops.roll(-1, dims=1)).norm(dim=-1).sum(1)

    def everything(points, tour):
        stops = points[torch.arange(len(points))[:, None], tour]
        return (stops - stops.roll(-1, dims=1)).norm(dim=-1).sum()

    for answer, words in ((all_rows, "*every* row's points"), (everything, "one number")):
        _, text = told("tour_length", answer)
        assert words in text
        assert "tour = [[0]" not in text


@pytest.mark.parametrize("change", ["clamp(min=0).mean()", "mean().clamp(min=0)", "abs().mean()", "mean().abs()"])
def test_a_gap_without_its_sign_is_told_in_the_words_of_the_text(change):
    _, text = told("optimality_gap", lambda length, optimal: eval(f"(length / optimal - 1).{change}"))
    assert "one step" not in text
    assert "replaced" in text


def scores(query, key, W_q, W_k, v):
    return ((query @ W_q.mT)[:, None] + key @ W_k.mT).tanh() @ v


def test_a_query_that_is_forgotten_is_not_told_of_two_tanhs_alone():
    def forgotten(query, key, W_q, W_k, v, mask):
        closed = ((key @ W_k.mT).tanh() @ v).masked_fill(~mask, -torch.inf)
        return closed.log_softmax(-1).masked_fill(~mask, -torch.inf)

    assert "Either its part is missing" in told("pointer_log_probs", forgotten)[1]


@pytest.mark.parametrize("number", [1e-12, 1e-7, 1e-15])
def test_a_number_inside_the_logarithm_takes_no_effect_from_an_argument(number):
    def rounded(query, key, W_q, W_k, v, mask):
        closed = scores(query, key, W_q, W_k, v).masked_fill(~mask, -torch.inf)
        return (closed.softmax(-1) + number).log().masked_fill(~mask, -torch.inf)

    assert "no effect" not in "".join(told("pointer_log_probs", rounded))


def test_a_number_that_is_subtracted_is_not_enough_where_closed_scores_are_immense():
    def subtracted(query, key, W_q, W_k, v, mask):
        open_ones = scores(query, key, W_q, W_k, v) - 1e9 * ~mask
        return open_ones.log_softmax(-1).masked_fill(~mask, -torch.inf)

    assert told("pointer_log_probs", subtracted)[0] == "1e9 subtracted"


def test_a_logarithm_of_a_sum_that_is_filled_twice_is_named():
    def summed(query, key, W_q, W_k, v, mask):
        u = scores(query, key, W_q, W_k, v).masked_fill(~mask, -torch.inf)
        return (u - u.exp().sum(-1, keepdim=True).log()).masked_fill(~mask, -torch.inf)

    assert told("pointer_log_probs", summed)[0] == "logarithm of a sum of exp, filled before"


def test_a_hull_that_is_compared_with_another_is_not_told_that_the_polygon_has_no_effect():
    def compared(points, polygon):
        answers = []
        for row, given, found in zip(points, polygon.tolist(), convex_hull(points).tolist(), strict=True):
            own, right = ([position for position in names if position < len(row)] for names in (given, found))
            answers.append(len(own) > 2 and any(own[i:] + own[:i] == right for i in range(len(own))))
        return torch.tensor(answers)

    assert "no effect" not in "".join(told("is_convex_hull", compared))


CLOSED = "scores.masked_fill(~mask, -torch.inf).argmax(-1)"


@pytest.mark.parametrize(
    "read, choose, name",
    [
        ("points[rows, position]", "(scores - 1e9 * ~mask).argmax(-1)", "1e9 subtracted"),
        ("points[rows, position]", "(scores.softmax(-1) * mask).argmax(-1)", "probabilities multiplied by the mask"),
        ("points[rows, position]", CLOSED.replace("scores", "scores.half()"), "scores in half precision"),
        ("points[rows, before]", CLOSED, "the point of the step before"),
        ("points[:, position][:, 0]", CLOSED, "another row's position"),
    ],
)
def test_a_loop_that_reads_or_chooses_wrongly_is_named(read, choose, name):
    def decoded(step, state, points, first):
        rows, mask = torch.arange(len(points)), torch.ones(points.shape[:2], dtype=torch.bool)
        position, before, tour = first, first, [first]
        for _ in range(points.shape[1] - 1):
            mask = mask_visited(mask, position)
            here = eval(read, {"points": points, "rows": rows, "position": position, "before": before})
            scores, state = step(here, state)
            before, position = position, eval(choose, {"scores": scores, "mask": mask, "torch": torch})
            tour.append(position)
        return torch.stack(tour, dim=1)

    assert told("greedy_pointer_decode", decoded)[0] == name


def stops_of(points, tour):
    return points[torch.arange(len(points))[:, None], tour]


@pytest.mark.parametrize(
    "length, words",
    [
        (lambda points, tour: stops_of(points, tour) - stops_of(points.roll(-1, 1), tour), "rolling `points`"),
        (lambda points, tour: (stops_of(points, tour) - stops_of(points, tour).roll(-1, 1))[..., :1], "Only x counts"),
    ],
)
def test_lengths_in_which_something_has_no_influence_are_told_of_all_that_may_be_the_cause(length, words):
    assert words in told("tour_length", lambda *args: length(*args).norm(dim=-1).sum(-1))[1]


def test_a_number_in_place_of_the_gap_is_not_told_of_learning():
    name, text = told("optimality_gap", lambda length, optimal: (length / optimal - 1).mean().item())
    assert name == "number instead of tensor"
    assert "learn" not in text


def test_choices_closed_in_row_0_by_scatter_are_told_of_scatter():
    assert "(1, B)" in told("mask_visited", lambda mask, chosen: mask.scatter(1, chosen[None], False))[1]


def by_loops(points, polygon, edges, bend):
    answers = []
    for row, entries in zip(points.tolist(), polygon.tolist(), strict=True):
        c = [n for n in entries if n < len(row)]
        lies = all(bend(*row[a], *row[b], *q) >= 0 for a, b in edges(c) for q in row)
        answers.append(len(set(c)) == len(c) > 2 and lies)
    return torch.tensor(answers)


@pytest.mark.parametrize(
    "edges, bend, words",
    [  # a fan from the first corner; the sign of an angle, in which rounding makes 0 negative; c as it is
        (lambda c: [(c[0], b) for b in c[1:]], lambda *p: turned(*p), "to its *neighbour*"),
        (lambda c: zip(c, c[1:] + c[:1], strict=True), lambda *p: turned(*p) - 1e-300 or -1e-300, "every polygon"),
        (
            lambda c: zip(c, c[1:] + c[:1], strict=True),
            lambda ax, ay, bx, by, x, y: (bx - ax) * y - (by - ay) * x,
            "begin at a",
        ),
    ],
)
def test_a_judge_that_refuses_every_hull_is_told_so_and_asked_for_the_cause(edges, bend, words):
    assert words in told("is_convex_hull", lambda *args: by_loops(*args, edges, bend))[1]


def turned(ax, ay, bx, by, x, y):
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


@pytest.mark.parametrize(
    "answer, name",
    [
        (lambda u, mask: logs(u + mask.to(u.dtype).log()).masked_fill(~mask, -torch.inf), "−inf added"),
        (
            lambda u, mask: logs(u.masked_fill(~mask, -torch.inf)) if mask.any() else torch.full_like(u, -torch.inf),
            "NaN unless all rows are closed",
        ),
        (
            lambda u, mask: (
                logs(u.masked_fill(~mask, -torch.inf)) if mask.any(1).all() else torch.full_like(u, -torch.inf)
            ),
            "one closed row closes all",
        ),
        (lambda u, mask: logs(u + ~mask * -torch.inf), "0 times −inf, not filled again"),
    ],
)
def test_log_probabilities_that_fail_in_closed_rows_are_named(answer, name):
    assert told("pointer_log_probs", lambda *args: answer(scores(*args[:-1]), args[-1]))[0] == name


def logs(scores):
    return scores.log_softmax(-1)


@pytest.mark.parametrize("floor", ["+ 1e-20", ".clamp(min=1e-12)", ".clamp(min=1e-30)"])
def test_a_floor_under_the_probabilities_is_told(floor):
    def floored(*args):
        p = scores(*args[:-1]).masked_fill(~args[-1], -torch.inf).softmax(-1)
        return eval(f"(p {floor})", {"p": p}).log().masked_fill(~args[-1], -torch.inf)

    assert "have a floor" in told("pointer_log_probs", floored)[1]


def test_normalised_by_nothing_is_told_of_the_softmax():
    def sigmoids(*args):
        return torch.nn.functional.logsigmoid(scores(*args[:-1])).masked_fill(~args[-1], -torch.inf)

    assert "softmax over the open positions" in told("pointer_log_probs", sigmoids)[1]


@pytest.mark.parametrize("change", ["sigmoid()", "relu()"])
def test_another_function_in_place_of_tanh_is_not_told_of_a_floor(change):
    def other(query, key, W_q, W_k, v, mask):
        both = (query @ W_q.mT)[:, None] + key @ W_k.mT
        closed = (eval(f"both.{change}", {"both": both}) @ v).masked_fill(~mask, -torch.inf)
        return closed.log_softmax(-1).masked_fill(~mask, -torch.inf)

    assert "floor" not in told("pointer_log_probs", other)[1]
