"""What runs beside a student's code: it runs their cells, calls their functions, and sends back what came of it.

Everything here may be read, changed or broken by the student's code, which runs in the same process. So nothing
here decides anything: see `remote` for the other side.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
import pkgutil
import socket
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from coursekit import ROOMS
from coursekit.grading import sharing, shell, wire
from coursekit.grading.left_out import fill_gaps, is_left_out
from misread import by_hand, sandbox, values
from misread.messages import empty_body
from misread.sandbox import Capped
from misread.tensor_sizes import TensorSizes


class Answers:
    """The functions of one submission, in a namespace of their own."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.calls: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self.name, self.recent = "", sharing.Recent()  # what one function gave back, as it was sent, too

    def reply(self, message: dict[str, Any]) -> dict[str, Any]:
        """What is to be sent back for one message of the grader's."""
        kinds: dict[str, Callable[..., dict[str, Any]]] = {"run": self.run, "about": self.about}
        kinds |= {"call": self.call, "backward": self.backward, "changed": self.changed}
        return kinds[message["do"]](**message["with"])

    def run(self, source: str, name: str, seconds: float) -> dict[str, Any]:
        """Run a cell, as Jupyter does: with `await` at its outermost level, and a `get_ipython` and a `display`."""
        printed = Capped()
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        code, failure = _quietly(compile, (source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), seconds, printed)
        if failure is None:
            self.namespace.update(shell.NAMES | self.namespace)
            waiting, failure = _quietly(eval, (code, self.namespace), seconds, printed)  # a coroutine if it awaits
            if waiting is not None:
                _, failure = _quietly(shell.LOOP.run, (waiting,), seconds, printed)
        return {"printed": printed.getvalue(), "error": _error(failure)}

    def about(self, name: str) -> dict[str, Any]:
        """Whether a name is a function, its parameters as (name, kind, has a default), and whether it is empty."""
        found = self.namespace.get(name)
        if is_left_out(found):
            return {"callable": False, "there": True, "type": type(found).__name__, "left_out": True}
        if not callable(found):
            return {"callable": False, "there": name in self.namespace, "type": type(found).__name__}
        try:
            parameters = inspect.signature(found).parameters.values()
        except (TypeError, ValueError):
            return {"callable": True, "parameters": None, "empty": False}
        listed = [[p.name, int(p.kind), p.default is not p.empty] for p in parameters]
        return {"callable": True, "parameters": listed, "empty": empty_body(found) is True}

    def call(
        self, name: str, args: tuple, flows: list[bool], number: int, random: Tensor,
        helpers: dict[str, Callable], watched: bool, seconds: float, limit: tuple | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Call a function; with gradients if an argument's tensor wants them, its tensors within `limit`."""
        leaves: list[Tensor] = []
        with torch.enable_grad():
            given = values.transform(args, _leaf(iter(flows), leaves))
        self.namespace.update(helpers)
        torch.default_generator.set_state(random)
        printed, ways = Capped(), contextlib.nullcontext(list[str]())
        with (
            by_hand.watched() if watched else ways as seen,
            torch.set_grad_enabled(any(flows) or torch.is_grad_enabled()),
            TensorSizes(*limit) if limit else contextlib.nullcontext(),
        ):
            result, failure = _quietly(self.namespace[name], given, seconds, printed)
        drawn = torch.default_generator.get_state()
        results: list[Tensor] = []
        found: dict[str, Any] = {"printed": printed.getvalue(), "error": _error(failure), "ways": list(seen)}
        found["result"] = wire.encode(result, results)
        found["random"] = None if torch.equal(drawn, random) else wire.encode(drawn, [])
        found["shares"] = sharing.shared(results, values.carried(given))
        found["after"] = wire.encode(given, [])
        if name != self.name:
            self.name, self.recent = name, sharing.Recent()
        self.recent.keep(number, result, results, found["result"])
        self.calls = {number: (leaves, results)} if any(flows) else {}
        return found

    def changed(self, numbers: list[int]) -> dict[str, Any]:
        """Of these calls, the results into which a later call has written: pairs of number and what they are now."""
        kept = [(number, *found) for number in numbers if (found := self.recent.find(number)) is not None]
        now = [(number, wire.encode(result, []), sent) for number, result, sent in kept]
        return {"changed": [[number, present] for number, present, sent in now if present != sent]}

    def backward(self, number: int, sent: list[Tensor | None]) -> dict[str, Any]:
        """Send gradients back through a call: what arrives at each tensor that wanted one, None where nothing does."""
        leaves, results = self.calls.get(number, ([], []))
        pairs = [(r, s) for r, s in zip(results, sent, strict=False) if s is not None and r.requires_grad]
        wanted = [leaf for leaf in leaves if leaf.requires_grad]

        if not pairs or not wanted:
            return {"error": None, "arrived": wire.encode([None] * len(wanted), [])}
        grad = partial(torch.autograd.grad, allow_unused=True)
        asked = [r for r, _ in pairs], wanted, [s for _, s in pairs]
        arrived, failure = _quietly(grad, asked, sandbox.SECONDS, Capped())
        return {"error": _error(failure), "arrived": wire.encode(list(arrived or []), [])}


def _leaf(flows: Any, leaves: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        if not next(flows):
            return tensor.clone()
        leaves.append(tensor.detach().clone().requires_grad_())
        return leaves[-1].clone()  # no leaf itself, which torch would not let anybody write into

    return change


def _quietly(
    function: Callable, args: Sequence, seconds: float, printed: io.StringIO
) -> tuple[Any, sandbox.Failure | None]:
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(Capped()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sandbox.within(seconds, function, args), None
    except (Exception, SystemExit, KeyboardInterrupt, sandbox.TimeIsUp) as error:
        traced = error.__traceback__  # begins with this very line, which is not the student's
        return None, sandbox.failure_of(error.with_traceback(traced.tb_next if traced else None))


def _error(failure: sandbox.Failure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {
        "type": type(failure.error).__name__,
        "text": failure.text,
        "function": failure.function,
        "line": failure.line,
        "code": failure.code,
        "timed_out": failure.timed_out,
    }


def load() -> None:
    """Import what every submission needs, once, before the first fork: all that `given` has laid out, and no more."""
    rooms = [module for module in pkgutil.iter_modules() if module.name in ROOMS and module.name != "coursekit"]
    for room in rooms:
        for module in pkgutil.walk_packages(import_module(room.name).__path__, f"{room.name}."):
            import_module(module.name)
    import_module("matplotlib.pyplot")
    import_module("torch._dynamo")  # a softmax on the meta device does: seconds that each submission would pay
    torch.arange(1, device="meta")
    torch.zeros(1).half().float()  # asks /proc what the processor can, which a fork in isolation does not see
    fill_gaps()


def serve(connection: socket.socket) -> None:
    """Answer the grader's messages until there are no more."""
    answers = Answers()
    while True:
        try:
            message = wire.from_grader(wire.receive(connection))
        except wire.WireError:
            return
        wire.send(connection, wire.to_grader(answers.reply(message)))
