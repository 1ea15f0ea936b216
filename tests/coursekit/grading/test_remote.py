"""A student's function in another process earns the verdict that it earns here."""

import inspect
import io
import time
from contextlib import redirect_stdout

import catalogue
import pytest
import torch
from catalogue import right_answers

import attnlabs as checks
from coursekit.grading import remote, wire
from coursekit.grading.marking import names_in
from coursekit.grading.remote import Remote
from misread import sandbox
from misread.judge import judge

pytestmark = pytest.mark.slow

SETTING = """\
import math
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
"""
RIGHT = [(lab, name) for lab in ("lab02", "lab13") for name in right_answers(lab)]
KNOWN = [
    (lab, exercise.name, known.name)
    for lab in ("lab02", "lab13")
    for exercise in checks.checks_of(lab).exercises().values()
    for known in exercise.mistakes[:3]
]


@pytest.mark.parametrize("lab", ["lab02", "lab13"])
def test_right_answers_are_right(lab, session):
    (module,) = catalogue._modules(lab, "right.py")
    begun = session(inspect.getsource(module))
    for name in right_answers(lab):
        verdict = judge(checks.checks_of(lab).exercise(name.split("__")[0]), Remote(begun, name), 2, explains=False)
        assert verdict.passed, f"{name}: {verdict.message}"
    assert begun.errors == {}


def test_a_tensor_that_an_exercise_holds_too_large_is_too_large_there_as_well(session):
    exercise = checks.checks_of("lab12").exercise("window_attention")
    known = next(one for one in exercise.mistakes if one.name == "T × T scores")
    verdict = judge(exercise, Remote(session(SETTING, exercise.source(known)), exercise.name))
    assert not verdict.passed
    assert "grows with T × T" in verdict.message


@pytest.mark.parametrize(
    "name, known",
    [
        ("window_attention", "all keys, query by query"),
        ("online_softmax_sum", "all blocks joined"),
        ("segment_memory", "the first segment not detached"),
    ],
)
def test_what_an_answer_keeps_or_makes_is_limited_there_as_well_and_right_answers_stay_right(name, known, session):
    exercise = checks.checks_of("lab12").exercise(name)
    mistake = next(one for one in exercise.mistakes if one.name == known)
    wrong = judge(exercise, Remote(session(SETTING, exercise.source(mistake)), name), explains=False)
    assert wrong.mistake == known, wrong.message
    (module,) = catalogue._modules("lab12", "right.py")
    begun = session(inspect.getsource(module))
    for style in right_answers("lab12"):
        if style.startswith(name):
            verdict = judge(exercise, Remote(begun, style), explains=False)
            assert verdict.passed, f"{style}: {verdict.message}"


@pytest.mark.parametrize("lab, name, known", KNOWN, ids=["-".join(row) for row in KNOWN])
def test_a_known_mistake_has_the_name_and_words_that_it_has_here(lab, name, known, session):
    exercise = checks.checks_of(lab).exercise(name)
    mistake = next(one for one in exercise.mistakes if one.name == known)
    module = exercise.reference.__globals__
    used = names_in(exercise.source(mistake)) & module.keys()
    helpers = {other: module[other] for other in used if inspect.isfunction(module[other])}
    begun = session(SETTING, exercise.source(mistake))
    here = judge(exercise, exercise.function(mistake))
    there = judge(exercise, Remote(begun, name, helpers, exercise.by_hand))
    assert (there.passed, there.mistake, there.kind) == (here.passed, here.mistake, here.kind), there.message
    assert there.message.splitlines()[:2] == here.message.splitlines()[:2]


ODD = {
    "in place": ("weight_sum", "    value *= 1.0\n    value += 1\n    return weights @ (value - 1)"),
    "no gradient": ("weight_sum", "    return (weights @ value).detach()"),
    "another dtype": ("weight_sum", "    return (weights @ value).float()"),
    "nothing": ("weight_sum", "    weights @ value"),
    "empty": ("weight_sum", "    pass"),
    "unwritten": ("weight_sum", "    raise NotImplementedError"),
    "an error": ("weight_sum", "    return weights @ value.T[99]"),
    "a list": ("weight_sum", "    return (weights @ value).tolist()"),
    "a generator": ("weight_sum", "    yield weights @ value"),
    "not a number": ("weight_sum", "    return weights @ value / 0 * 0"),
    "parameters": ("weight_sum", None),
    "by autograd": (
        "attention_backward",
        "    s = weights.clone().requires_grad_()\n    v = value.clone().requires_grad_()\n"
        "    return torch.autograd.grad(s @ v, (s, v), grad_context)",
    ),
    "not a function": ("weight_sum", ""),
}


@pytest.mark.parametrize("name, body", ODD.values(), ids=list(ODD))
def test_other_faults_are_seen_as_they_are_here(name, body, session):
    exercise = checks.checks_of("lab02").exercise(name)
    text = f"def {name}({', '.join(exercise.parameters)}):\n{body}\n"
    text = text if body else f"def {name}(one): return one" if body is None else f"{name} = 3"
    namespace: dict = {"torch": torch}
    exec(compile(text, "cell 1", "exec"), namespace)
    there = Remote(session(SETTING, text), name, by_hand=exercise.by_hand)
    if name == "weight_sum" and body == "":
        assert not there.callable
        return
    here, found = judge(exercise, namespace[name]), judge(exercise, there)
    assert not found.passed
    assert (found.mistake, found.kind) == (here.mistake, here.kind), found.message


def test_gradients_go_through_the_call(session):
    there = Remote(session("def f(a, b):\n    return a * b, [a.sum().detach(), b.exp()]"), "f")
    a, b = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    product, (total, grown) = there(a, b)
    assert not total.requires_grad
    (product + 2 * grown).sum().backward()
    assert a.grad.item() == 3.0
    assert b.grad.item() == pytest.approx(2.0 + 2 * torch.tensor(3.0).exp().item())


def test_an_unused_argument_gets_no_gradient(session):
    there = Remote(session("def f(a, b):\n    return a * 2"), "f")
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    assert torch.autograd.grad(there(a, b).sum(), [a, b], allow_unused=True)[1] is None


def test_changes_of_the_arguments_come_back(session):
    text = "def f(t, l, d, s, nested):\n    t += 1; l.append(3); d['b'] = 2; s.discard(1); nested[0][1] = 9\n"
    t, some, d, s, nested = torch.zeros(2), [1], {"a": 1}, {1, 2}, [[1, 2]]
    Remote(session(text), "f")(t, some, d, s, nested)
    assert t.tolist() == [1.0, 1.0]
    assert (some, d, s, nested) == ([1, 3], {"a": 1, "b": 2}, {2}, [[1, 9]])


def test_randomness_is_the_graders(session):
    begun = session("import torch\ndef f(generator):\n    return torch.rand(2), torch.rand(2, generator=generator)")
    torch.manual_seed(5)
    found = Remote(begun, "f")(torch.Generator().manual_seed(1))
    torch.manual_seed(5)
    assert torch.equal(found[0], torch.rand(2))
    assert torch.equal(found[1], torch.rand(2, generator=torch.Generator().manual_seed(1)))


def test_an_answer_that_draws_with_torchs_own_generator_is_seen_to_do_so(session):
    there = Remote(session("import torch\ndef f(n): return torch.rand(n).sum()"), "f")
    torch.manual_seed(5)
    there(0)
    assert torch.default_generator.get_state().equal(torch.manual_seed(5).get_state())
    there(3)
    wanted = torch.manual_seed(5)
    torch.rand(3)
    drawn = wanted.get_state()
    torch.manual_seed(5)
    there(3)
    assert torch.default_generator.get_state().equal(drawn)
    with pytest.raises(wire.WireError):
        remote._draw_on([1, 2])


def test_what_is_printed_comes_back_and_stderr_costs_nothing(session):
    text = "import sys\ndef f():\n    print('hello')\n    print('careful', file=sys.stderr)\n    return 1"
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert Remote(session(text), "f")() == 1
    assert printed.getvalue() == "hello\n"


def test_of_50_megabytes_printed_the_beginning_is_kept(session):
    begun = session(
        "print('x' * 50_000_000)\ndef f():\n    for _ in range(50):\n        print('y' * 1_000_000)\n    return 1"
    )
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert Remote(begun, "f")() == 1
    assert 0 < len(printed.getvalue()) < 100_000


def test_an_error_has_its_name_text_and_line(session):
    text = "class Odd(Exception):\n    pass\n\n\ndef f(x):\n    raise Odd('no ' + x)\n"
    with pytest.raises(RuntimeError) as caught:
        Remote(session(text), "f")("way")
    failure = sandbox.failure_of(caught.value)
    assert type(caught.value).__name__ == "Odd"
    assert (failure.function, failure.line, failure.code) == ("f", 6, "raise Odd('no ' + x)")
    assert "no way" in failure.text


def test_an_error_of_pythons_own_keeps_its_type(session):
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        Remote(session("def f(): return 1 / 0"), "f")()


def test_a_loop_without_end_is_ended(session, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.3)
    there = Remote(session("def f():\n    while True:\n        pass"), "f")
    with pytest.raises(sandbox.TimeIsUp):
        there()


def test_a_loop_that_swallows_every_error_is_ended(session, monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", 3.0)
    text = "def f():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass"
    there = Remote(session(text), "f")
    with pytest.raises(RuntimeError, match="nothing came back"):
        sandbox.within(20.0, there, ())
    assert there.broken == 1


def test_a_cell_without_end_is_ended_and_the_next_ones_run(session):
    begun = session("while True: pass", "def f(): return 1", seconds=0.5)
    assert Remote(begun, "f")() == 1
    assert set(begun.errors) == {"cell 0"}


ENDS = {
    "os._exit": "import os\ndef f(): os._exit(0)",
    "sys.exit": "import sys\ndef f(): sys.exit(3)",
    "abort": "import os\ndef f(): os.abort()",
    "recursion": "def f(): return f()",
    "closed files": "import os\ndef f():\n    os.closerange(0, 200)",
    "kill": "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGKILL)",
    "a nested list": "def f():\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
    "a list that holds itself": "def f():\n    a = []\n    a.append(a)\n    return a",
    "interrupt": "def f(): raise KeyboardInterrupt",
    "a base exception": "class E(BaseException): pass\ndef f(): raise E",
    "odd text": "class E(Exception):\n    def __str__(self): raise ValueError\ndef f(): raise E",
    "a large result": "import torch\ndef f(): return torch.zeros(2 * 10**7)",
    "written to the socket": (
        "import os\ndef f():\n  for i in range(3, 40):\n    try: os.write(i, b'x' * 99)\n    except OSError: pass"
    ),
}


@pytest.mark.parametrize("text", ENDS.values(), ids=list(ENDS))
def test_a_function_that_breaks_its_process_raises_here_and_the_next_one_runs(text, session):
    begun = session(text + "\ndef g(): return 2")
    with pytest.raises((Exception, SystemExit)) as caught:
        sandbox.within(30.0, Remote(begun, "f"), ())
    assert not isinstance(caught.value, wire.WireError)
    assert Remote(begun, "g")() == 2


def test_a_function_that_breaks_every_process_is_run_no_more_and_the_next_one_is(session, monkeypatch):
    begun = session("import os\ndef f(): os._exit(0)\ndef g(): return 2")
    there = Remote(begun, "f")
    for _ in range(remote.CHANCES):
        with pytest.raises(RuntimeError, match="nothing came back"):
            there()
    with monkeypatch.context() as patch:
        patch.setattr(begun, "start", lambda: pytest.fail("it is run again"))
        with pytest.raises(RuntimeError, match="nothing came back"):
            there()
    assert Remote(begun, "g")() == 2


def test_cells_that_break_every_process_are_run_no_more(session, monkeypatch):
    begun = session("import os\nos._exit(0)")
    for _ in range(remote.CHANCES):
        with pytest.raises(wire.WireError):
            begun.ask("about", name="f")
    with pytest.raises(wire.WireError, match="its cells broke 3 processes"):
        begun.ask("about", name="f")


def test_threads_that_go_on_do_no_harm(session):
    text = "import threading, time\ndef work():\n    while True: time.sleep(0.01)\n"
    begun = session(text + "threading.Thread(target=work).start()\ndef f(): return 1")
    assert Remote(begun, "f")() == 1
    started = time.monotonic()
    begun.close()
    assert time.monotonic() - started < 2


def test_patching_the_package_changes_no_verdict(session):
    text = (
        "from misread import judge, compare, sandbox, messages\n"
        "judge.judge = lambda *a, **k: True\ncompare.same_run = lambda *a: True\n"
        "sandbox.within = lambda s, f, a: f(*a)\n"
        "def weight_sum(weights, value): return value"
    )
    assert not judge(checks.checks_of("lab02").exercise("weight_sum"), Remote(session(text), "weight_sum")).passed


def test_helpers_are_replaced_by_right_ones(session):
    begun = session("def weight_sum(weights, value): return 7\ndef f(w, v): return weight_sum(w, v)")
    w, v = torch.ones(1, 1, 1), torch.ones(1, 1, 2)
    assert Remote(begun, "f")(w, v) == 7
    right = {"weight_sum": checks.checks_of("lab02").exercise("weight_sum").reference}
    assert torch.equal(Remote(begun, "f", right)(w, v), torch.ones(1, 1, 2))


def test_an_error_of_half_a_character_is_told_as_text_that_can_be_written(session):
    begun = session(r"raise ValueError('\ud800')", r"def f(): raise ValueError('\x1b[31m\ud800')")
    with pytest.raises(ValueError, match=r"^\?$"):
        Remote(begun, "f")()
    assert begun.errors["cell 0"]["text"].encode()


@pytest.mark.parametrize("error", ["text", 7, [["type", "x"]]], ids=str)
def test_an_error_of_a_cells_that_is_no_dictionary_is_none_that_stops_the_grader(error):
    assert remote._told(error) == {}


def test_what_a_later_call_wrote_into_a_result_can_be_asked_for(session):
    begun = session("import torch\nrows, total = [], torch.zeros(1)\n"
                    "def f(x):\n    rows.append(x)\n    return rows\n"
                    "def g(x): return total.add_(x)\ndef h(x): return [x]")  # fmt: skip
    listed, added, fresh = Remote(begun, "f"), Remote(begun, "g"), Remote(begun, "h")
    first, second = listed(1), listed(2)
    assert (first, second) == ([1], [1, 2])
    assert listed.present([first, second, "never a result"]) == [[1, 2], [1, 2], "never a result"]
    one, two = added(1.0), added(2.0)
    assert (one.item(), two.item()) == (1.0, 3.0)
    assert [now.item() for now in added.present([one, two])] == [3.0, 3.0]
    assert listed.present([first]) == [first]  # after a call of another function it is forgotten
    found = fresh(1)
    assert fresh.present([found])[0] is found
    begun.close()
    assert fresh.present([found])[0] is found  # a process that was begun anew knows nothing of it
