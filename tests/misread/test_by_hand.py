"""Where a gradient is to be found by hand, autograd is noticed, however it is called; nothing else is."""

import subprocess
import sys

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch.autograd import Variable, grad
from torch.autograd import backward as send_back

from attnlabs import Exercise, evaluate
from misread.by_hand import watched
from misread.judge import judge


def slope(x):
    return 3 * x**2


def cube(x):
    return x**3


def leaf(x):
    return x.detach().clone().requires_grad_()


def by_grad(x):
    x = leaf(x)
    return grad(cube(x).sum(), x)[0]


def by_backward(x):
    x = leaf(x)
    cube(x).sum().backward()
    return x.grad


def by_send_back(x):
    x = leaf(x)
    send_back(cube(x).sum())
    return x.grad


def by_forward_mode(x):
    with forward_ad.dual_level():
        dual = cube(forward_ad.make_dual(x, torch.ones_like(x)))
        return forward_ad.unpack_dual(dual).tangent


def hidden_in_a_try(x):
    try:
        return by_backward(x)
    except Exception:
        return slope(x)


SLOPE = Exercise(slope, lambda draw: [(draw.normal(3),)], [], gradients=False, by_hand=True)


@pytest.mark.parametrize(
    "answer, way",
    [
        (by_grad, "autograd.grad"),
        (by_backward, "backward"),
        (by_send_back, "backward"),
        (lambda x: torch.func.vjp(cube, x)[1](torch.ones_like(x))[0], "torch.func"),
        (lambda x: torch.autograd.functional.jacobian(cube, x).diagonal(), "autograd.grad"),
        (by_forward_mode, "forward mode"),
        (hidden_in_a_try, "backward"),
        (torch.func.vmap(torch.func.grad(cube)), "torch.func"),
        (torch.func.jacfwd(lambda x: cube(x).sum()), "torch.func"),
        (lambda x: torch.func.jvp(cube, (x,), (torch.ones_like(x),))[1], "torch.func"),
    ],
)
def test_autograd_is_noticed_however_it_is_called(answer, way):
    verdict = judge(SLOPE, answer)
    assert (verdict.mistake, verdict.about) == ("not by hand", (way,)), verdict.message
    assert way in verdict.message


def test_the_same_answers_pass_where_nothing_was_said_about_hands():
    exercise = Exercise(slope, lambda draw: [(draw.normal(3),)], [], gradients=False)
    assert all(judge(exercise, answer) for answer in (slope, by_grad, by_backward))


def test_work_by_hand_is_not_taken_for_autograd():
    def with_switches(x):
        with torch.no_grad():
            return 3 * leaf(x).detach() * x

    differences = lambda x: (cube(x + 1e-5) - cube(x - 1e-5)) / 2e-5  # noqa: E731
    for answer in (slope, with_switches, lambda x: (3 * leaf(x) * x).detach(), differences):
        verdict = judge(SLOPE, answer)
        assert verdict.passed
        assert "by hand" in verdict.message


def test_torchs_engine_is_itself_again_afterwards():
    engine, enter = Variable._execution_engine, forward_ad.dual_level.__enter__
    with pytest.raises(RuntimeError), watched():
        grad(torch.ones(2), torch.ones(2))  # there is nothing that needs a gradient
    assert Variable._execution_engine is engine
    assert forward_ad.dual_level.__enter__ is enter


@pytest.mark.slow
def test_to_watch_is_no_reason_to_load_torchs_compiler():
    lines = "import sys, torch", "from misread.by_hand import watched", "with watched():", "    torch.ones(2) * 2"
    code = "\n".join((*lines, "sys.exit('torch._dynamo' in sys.modules)"))
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def whole_backward(weights, value, grad_context):
    """The softmax by hand, the rest by autograd: what got through before."""
    given, values = leaf(weights), leaf(value)
    grad_weights, grad_value = grad(given @ values, (given, values), grad_context)
    mean = torch.einsum("bqk,bqk->bq", weights, grad_weights)
    return weights * (grad_weights - mean.unsqueeze(-1)), grad_value


def jacobian_rows(weights, value, grad_context):
    back = torch.func.vjp(lambda w, v: torch.einsum("bqk,bkd->bqd", w, v), weights, value)[1]
    grad_weights, grad_value = back(grad_context)
    return weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True)), grad_value


def softmax_by_torch(weights, value, grad_context):
    grad_weights = grad_context @ value.mT
    return torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype), weights.mT @ grad_context


def softmax_by_its_node(weights, value, grad_context):
    again = leaf(weights.clamp(min=1e-300).log()).softmax(-1)
    return again.grad_fn(grad_context @ value.mT), weights.mT @ grad_context


@pytest.mark.parametrize(
    "answer, way",
    [
        (whole_backward, "autograd.grad"),
        (jacobian_rows, "torch.func"),
        (softmax_by_torch, "a derivative of torch's own"),
        (softmax_by_its_node, "a derivative of torch's own"),
    ],
)
def test_attention_backward_is_by_hand(answer, way):
    for variant in range(4):
        verdict = evaluate("lab02", "attention_backward", answer, variant)
        assert (verdict.mistake, verdict.about) == ("not by hand", (way,)), verdict.message


def test_autograd_is_named_before_any_number_is_judged():
    assert judge(SLOPE, lambda x: by_grad(x) / 0).mistake == "not by hand"
    assert judge(SLOPE, lambda x: by_backward(x)[:1]).mistake == "not by hand"
