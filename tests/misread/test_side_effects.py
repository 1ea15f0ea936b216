"""Right values are not all: inputs left alone, gradients, dtype, device, nothing kept."""

import time

import pytest
import torch

from attnlabs import Exercise, Mistake
from misread.details import DETAILS
from misread.judge import judge

ONE = torch.eye(1, dtype=torch.float64)


def writes(weights, value):
    result = weights @ value
    value.mul_(2)
    return result


@pytest.mark.parametrize(
    "name, about, word, answer",
    [
        ("changes its input", "value", "afterwards", writes),
        ("loses the gradient", "the result", ".detach()", lambda w, v: (w @ v).detach()),
        ("loses the gradient", "the result", "", lambda w, v: torch.tensor((w @ v).tolist(), dtype=v.dtype)),
        ("loses the gradient", "the result", "", lambda w, v: torch.tensor((w @ v).tolist())),  # of another dtype, too
        ("loses the gradient", "the result", "", lambda w, v: (w @ v).data.clone()),
        (
            "loses the gradient",
            "fails with gradients",
            ".numpy()",
            lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()),
        ),
        ("gradient does not arrive", "value", "`value`", lambda w, v: w @ v.detach()),
        ("wrong gradient", "weights", "`weights`", lambda w, v: 2 * (w @ v) - (w @ v).detach()),
        ("another dtype", "float32 instead of float64", "float32", lambda w, v: (w @ v).float()),
        ("another dtype", "float64 instead of float32", "float64", lambda w, v: w.double() @ v.double()),
        ("another dtype", "fails in float32", "torch says", lambda w, v: w @ (v.unsqueeze(-1) @ ONE).squeeze(-1)),
        (
            "another dtype",
            "NaN or ∞ in float32",
            "float32",
            lambda w, v: w @ v * (v.new_tensor(1e-60) / v.new_tensor(1e-60)),
        ),
    ],
)
def test_what_is_wrong_beside_the_values_is_told(weigh_exercise, name, about, word, answer):
    verdict = judge(weigh_exercise, answer)
    assert (verdict.mistake, verdict.about) == (name, (about,))
    assert word in verdict.message


def test_whole_numbers_are_asked_for_where_these_are_wanted():
    exercise = Exercise(lambda x: x.argmax(-1), lambda draw: [(draw.normal(4, 3),)], gradients=False)
    for change in (torch.Tensor.double, torch.Tensor.int):
        verdict = judge(exercise, lambda x, change=change: change(x.argmax(-1)))
        assert verdict.mistake == "another dtype"
        assert ".long()" in verdict.message
        assert "zeros_like" not in verdict.message


def _written_into_after_it_was_read(weights, value):
    value = value.clone()
    read = weights @ value
    value += 1.0
    return read


@pytest.mark.parametrize(
    "answer, said",
    [
        (_written_into_after_it_was_read, "torch cannot compute the gradients of your result"),
        (lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()), "your function stops if its inputs carry gradients"),
        (lambda w, v: w @ (v.unsqueeze(-1) @ ONE).squeeze(-1), "with inputs in float32 your function stops"),
        (lambda w, v: w @ v * (v.new_tensor(1e-60) / v.new_tensor(1e-60)), "your result holds NaN or infinity"),
    ],
)
def test_a_detail_that_says_what_happens_has_a_sentence_of_its_own(weigh_exercise, answer, said):
    message = " ".join(judge(weigh_exercise, answer).message.split())
    assert said in message
    assert not any(f"{before} {detail}" in message for detail in DETAILS for before in ("through", "not:"))


def test_single_precision_is_tried_on_every_input(weigh_exercise):
    largest = max(run.args[0].numel() for run in weigh_exercise.expected())

    def doubles_the_largest(weights, value):
        return (weights.double() @ value.double()) if weights.numel() == largest else weights @ value

    assert judge(weigh_exercise, doubles_the_largest).about == ("float64 instead of float32",)


def test_a_known_mistake_goes_before_what_is_told_of_every_exercise(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: w.data @ v)
    assert verdict.mistake == "weights cut off"
    assert weigh_exercise.mistakes[2].message in verdict.message


def test_a_list_changed_in_place_is_seen():
    def ordered(items):
        return sorted(items)

    def in_place(items):
        items.sort()
        return items

    exercise = Exercise(ordered, lambda draw: [([3, 1, 2],)], [])
    assert judge(exercise, in_place).mistake == "changes its input"
    assert judge(exercise, lambda items: sorted(items, reverse=True)[::-1])


def test_what_was_written_into_tells_how_to_copy_it():
    def common(a, b):
        return a & b

    exercise = Exercise(common, lambda draw: [({1, 2}, {2, 3})], [], gradients=False)
    message = judge(exercise, lambda a, b: a.intersection_update(b) or a).message
    assert "set(…)" in message
    assert "clone" not in message


def test_where_no_gradient_flows_none_can_be_lost():
    def positive(x):
        return x.clamp_min(0.0)

    def skips_what_is_closed(x):
        return x.clamp_min(0.0) if (x > 0).any() else torch.zeros_like(x)

    def cases(draw):
        yield (draw.uniform(2, 3, low=-2.0, high=-1.0),)  # nothing gets through
        yield (draw.normal(3, 4),)

    exercise = Exercise(positive, cases, [])
    assert judge(exercise, skips_what_is_closed).passed
    assert judge(exercise, lambda x: x.clamp_min(0.0).detach()).mistake == "loses the gradient"


ROOTS = [(torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64),)]


def root(x):
    return x.where(x > 0, 1.0).sqrt() * (x > 0)


def test_a_gradient_that_is_not_a_number_is_told():
    exercise = Exercise(root, lambda draw: ROOTS, [])
    assert judge(exercise, lambda x: torch.where(x > 0, x.sqrt(), 0)).mistake == "gradient is not a number"


class Sleeps(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, slope):
        time.sleep(60)
        return slope


def sleeps_if(condition):
    seen = []

    def answer(x):
        while condition(x, seen):
            time.sleep(0.01)
        seen.append(x)
        return 2 * x

    return answer


@pytest.mark.parametrize(
    "answer, when",
    [
        (lambda x: 2 * Sleeps.apply(x), "if its inputs carry gradients"),
        (sleeps_if(lambda x, seen: x.requires_grad), "if its inputs carry gradients"),
        (sleeps_if(lambda x, seen: x.dtype == torch.float32), "with inputs in float32"),
        (sleeps_if(lambda x, seen: any(torch.equal(x, before) for before in seen)), "when it is called a second time"),
    ],
)
def test_an_answer_that_takes_too_long_somewhere_else_is_told_where(answer, when, monkeypatch):
    monkeypatch.setattr("misread.sandbox.SECONDS", 0.1)

    def double(x):
        return 2 * x

    verdict = judge(Exercise(double, lambda draw: [(draw.normal(3),), (draw.normal(2, 2),)], []), answer)
    assert verdict.mistake == "runs without end"
    assert f"but {when} your function is stopped" in verdict.message
    assert "no text" not in verdict.message


def test_where_any_slope_will_do_it_has_to_be_finite_all_the_same():
    exercise = Exercise(root, lambda draw: ROOTS, [], canonical_gradients=lambda found, x: [found[0].where(x > 0, 0.0)])
    assert judge(exercise, lambda x: root(x) + 7 * x.where(x == 0, 0.0))
    assert judge(exercise, torch.sqrt).mistake == "gradient is not a number"
    assert judge(exercise, lambda x: root(x).detach() + x - x.detach()).mistake == "wrong gradient"


def test_nothing_is_sent_back_through_an_infinity():
    def logs(x, mask):
        return x.masked_fill(~mask, -torch.inf).log_softmax(-1).masked_fill(~mask, -torch.inf)

    def wall(x, mask):  # what is sent into its −inf reaches the open positions too
        wall = torch.zeros_like(x).masked_fill(~mask, -torch.inf)
        return (x + wall).log_softmax(-1) + wall

    exercise = Exercise(logs, lambda draw: [(draw.normal(2, 4), draw.mask(2, 4, empty_rows=False))], [])
    assert judge(exercise, wall)
    cut = judge(exercise, lambda x, mask: logs(x.where(mask.all(-1, keepdim=True), x.detach()), mask))
    assert cut.mistake == "wrong gradient"


def test_gradients_are_not_asked_for_where_an_exercise_says_so(extremes_exercise):
    assert judge(extremes_exercise, lambda x: (x.detach().min(), x.detach().max()))
    number = judge(extremes_exercise, lambda x: (x.min().item(), x.max()))
    assert number.mistake == "number instead of tensor"
    assert "learn" not in number.message
    assert "leave the tensor" in number.message


def test_a_number_that_should_carry_a_gradient_counts_as_cut_off():
    def total(x):
        return x.sum()

    cut = Mistake("cut", "You cut the gradient.", "return x.sum().detach()")
    exercise = Exercise(total, lambda draw: [(draw.normal(2, 3),)], [cut])
    assert judge(exercise, lambda x: x.sum().item()).mistake == "cut"
    assert judge(exercise, lambda x: sum(x.flatten()))


def positive(x):
    return x > 0


@pytest.mark.parametrize("answer", [lambda x: (x > 0).long(), lambda x: (x > torch.zeros(3)).float()])
def test_numbers_for_a_mask_are_told_whatever_numbers_they_are(answer):
    known = Mistake("numbers", "A mask is bool.", "return (x > 0).double()")
    for mistakes, name, words in (([], "another dtype", "bool"), ([known], "numbers", known.message)):
        verdict = judge(Exercise(positive, lambda draw: [(draw.normal(2, 3),)], mistakes), answer)
        assert verdict.mistake == name
        assert words in verdict.message
        assert "numbers instead" not in verdict.message


def test_a_tensor_on_the_cpu_earns_a_right_answer_a_remark(weigh_exercise):
    def on_the_cpu(weights, value):
        return weights @ value + torch.zeros(value.shape[-1], dtype=value.dtype)

    verdict = judge(weigh_exercise, on_the_cpu)
    assert verdict.passed
    assert "GPU" in verdict.message
    assert "torch.zeros(value.shape[-1]" in verdict.message


def filled(weights, value):
    result = torch.zeros(*weights.shape[:-1], value.shape[-1], dtype=value.dtype)
    result[:] = weights @ value
    return result


def after_a_product(weights, value):
    return weights @ (torch.eye(value.shape[-2], dtype=value.dtype) @ value)


def after_reading_a_number(weights, value):
    if value.abs().max() > 0:
        return weights @ value + torch.zeros(value.shape[-1], dtype=value.dtype)
    return weights @ value


def by_rows(weights, value):
    rows = [row @ value[number] for number, row in enumerate(weights)]
    return torch.stack([row + torch.full((1,), 0.0 * row.max().item()) for row in rows])


@pytest.mark.parametrize("answer", [filled, after_a_product, after_reading_a_number, by_rows])
def test_the_remark_comes_however_the_tensor_on_the_cpu_is_used(weigh_exercise, answer):
    verdict = judge(weigh_exercise, answer)
    assert verdict.passed
    assert "GPU" in verdict.message


def zeros(x):
    return torch.zeros_like(x)


def test_a_tensor_on_the_cpu_is_a_mistake_where_an_exercise_says_so():
    mistake = Mistake("on the CPU", "It stays on the CPU.", "return torch.zeros(x.shape, dtype=x.dtype)")
    exercise = Exercise(zeros, lambda draw: [(draw.normal(2, 3),)], [mistake])
    assert judge(exercise, lambda x: torch.tensor(0, dtype=x.dtype).repeat(x.shape)).mistake == "on the CPU"
    assert "GPU" not in judge(exercise, lambda x: x.new_zeros(x.shape)).message


def test_the_device_plays_no_part_where_an_exercise_says_so():
    exercise = Exercise(zeros, lambda draw: [(draw.normal(2, 3),)], [], device=False)
    assert "GPU" not in judge(exercise, lambda x: torch.zeros(x.shape, dtype=x.dtype)).message


def test_randomness_is_told(weigh_exercise):
    calls = []

    def remembers(weights, value):
        calls.append(0)
        return weights @ value + 1e-3 * (len(calls) > len(weigh_exercise.inputs()))

    assert judge(weigh_exercise, remembers).mistake == "keeps something between calls"


def test_a_result_that_a_later_call_overwrites_is_told():
    kept = torch.zeros(2, dtype=torch.float64)

    def double(x):
        return 2 * x

    exercise = Exercise(double, lambda draw: [(draw.normal(2),)], [], gradients=False, device=False)
    assert judge(exercise, lambda x: kept.copy_(2 * x)).mistake == "keeps something between calls"


def test_global_randomness_is_left_alone(weigh_exercise):
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    judge(weigh_exercise, lambda w, v: torch.rand(2))
    assert torch.equal(torch.rand(3), wanted)


def test_a_check_works_under_no_grad(weigh_exercise):
    with torch.no_grad():
        assert judge(weigh_exercise, torch.matmul)
        assert judge(weigh_exercise, lambda w, v: (w @ v).detach()).mistake == "loses the gradient"


def test_the_device_is_tried_on_more_than_the_smallest_input():
    def counted(x):
        return torch.arange(len(x), device=x.device)

    def made_on_the_cpu_after_the_first(x):
        first = torch.zeros(1, dtype=torch.long, device=x.device)
        return torch.cat([first, torch.arange(1, len(x)).to(x.device) + torch.zeros(len(x) - 1, dtype=torch.long)])

    def stays_where_there_are_several(x):
        return torch.arange(len(x), device=x.device if len(x) == 1 else "cpu")

    exercise = Exercise(counted, lambda draw: [(draw.normal(1),), (draw.normal(7),)], [])
    for answer in (made_on_the_cpu_after_the_first, stays_where_there_are_several):
        verdict = judge(exercise, answer)
        assert verdict.passed
        assert "device" in verdict.message.split("\n", 1)[-1]
    assert "\n" not in judge(exercise, counted).message


def test_a_dtype_in_a_dictionary_is_seen_as_well_in_any_order_of_its_entries():
    def pair(x):
        return {"first": x, "second": x.long()}

    exercise = Exercise(pair, cases=lambda draw: [(draw.normal(2).half(),)], gradients=False)
    assert judge(exercise, lambda x: {"second": x.long(), "first": x}).passed
    verdict = judge(exercise, lambda x: {"second": x.long(), "first": x.float()})
    assert (verdict.mistake, verdict.about) == ("another dtype", ("float32 instead of float16",))
