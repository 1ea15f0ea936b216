"""A student's function as a check sees it: it is called like any function, and runs in another process."""

from __future__ import annotations

import builtins
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from coursekit.grading import sharing, wire
from coursekit.grading.apart import Fork
from misread import by_hand, sandbox, values
from misread.tensor_sizes import limit_in_force, uncounted

GONE = "your code ended the whole Python process (os._exit, or more memory than there is), so nothing came back"
TOGETHER = 60.0  # seconds that all cells may take
PATIENCE = (
    60.0  # seconds for a whole reply, after which a process is ended: what runs in it has stricter clocks of its own
)
CHANCES = 3  # processes that one function may break, and that the cells may; then they are not run any more


class Session:
    """One submission's process: its cells were run; it is begun anew when an answer has broken it.

    Args:
        start: makes a process. cells: (name, source) of each cell to run before a function is called.
        seconds: that one cell may take.
    """

    def __init__(self, start: Callable[[], Fork], cells: Sequence[tuple[str, str]], seconds: float = 20.0) -> None:
        self.start, self.cells, self.seconds = start, cells, seconds
        self.fork: Fork | None = None
        self.errors: dict[str, dict[str, Any]] = {}  # by name of the cell
        self.number = 0
        self.broken = 0

    def ask(self, what: str, **given: Any) -> dict[str, Any]:
        """One message, and what came back. Raises WireError, and ends the process, if nothing did."""
        if self.broken >= CHANCES:
            raise wire.WireError(f"its cells broke {CHANCES} processes")
        if self.fork is None:
            try:
                self._begin()
            except BaseException:
                self.broken += 1
                raise
        return self._ask(what, **given)

    def _begin(self) -> None:
        self.fork = self.start()
        self.errors = {}
        begun = time.monotonic()
        for name, source in self.cells:
            if time.monotonic() - begun > TOGETHER:
                self.errors[name] = {"type": "Skipped", "text": f"the cells before it took {TOGETHER:.0f} seconds"}
                continue
            found = self._ask("run", source=source, name=name, seconds=self.seconds)
            if found.get("error"):
                self.errors[name] = _told(found["error"])

    def _ask(self, what: str, **given: Any) -> dict[str, Any]:
        assert self.fork is not None
        self.fork.connection.settimeout(PATIENCE)
        try:
            wire.send(self.fork.connection, wire.to_answer({"do": what, "with": given}))
            return wire.from_answer(wire.receive(self.fork.connection, seconds=PATIENCE))
        except BaseException:  # a clock of the check's may ring while we wait: what would come next is late
            self.close()
            raise

    def close(self) -> None:
        """End the process."""
        if self.fork is not None:
            self.fork.close()
        self.fork = None


class Remote:
    """A function of a submission.

    Args:
        session: its process. name: of the function. helpers: functions that take the place of the student's own,
            which are wrong. by_hand: whether uses of autograd are to be noticed.
    """

    apart = True  # in another process, where a check cannot watch it

    def __init__(self, session: Session, name: str, helpers: dict[str, Callable] | None = None, by_hand: bool = False):
        self.session, self.name, self.helpers, self.watched = session, name, helpers or {}, by_hand
        self.broken = 0  # processes; a later exercise has chances of its own
        self.recent = sharing.Recent()  # what it gave back, by identity, each with its call's number
        about = session.ask("about", name=name)
        self.callable, self.empty = bool(about.get("callable")), bool(about.get("empty"))
        self.left_out = about.get("left_out") is True  # imported from the book's packages
        self.__name__ = name
        listed = about.get("parameters")
        if self.callable and listed is not None:
            self.__signature__ = _signature(listed)

    def __call__(self, *args: Any) -> Any:
        """What the function gives back for `args`, into which its changes are written. Raises what it raised."""
        with uncounted():
            return self._called(args)

    def _called(self, args: tuple) -> Any:
        held = values.carried(args)  # in the order in which `values.transform` meets them
        flows = [torch.is_grad_enabled() and tensor.requires_grad for tensor in held]
        wanted = [tensor for tensor, flow in zip(held, flows, strict=True) if flow]
        if not wanted:
            result, tensors, _, number = self._call(args, flows)
            self.recent.keep(id(result), result, tensors, number)
            return result
        outer: dict[str, Any] = {}
        sent_back = _Through.apply(self, args, flows, outer, *wanted)
        return _with_tensors(outer["message"], iter(sent_back))

    def _call(self, args: tuple, flows: list[bool]) -> tuple[Any, list[Tensor], Any, int]:
        self.session.number += 1
        number = self.session.number
        found = self._ask(
            "call", name=self.name, args=values.clone(args), flows=flows, number=number, helpers=self.helpers,
            random=torch.default_generator.get_state(), watched=self.watched, limit=limit_in_force(),
            seconds=sandbox.SECONDS,
        )  # fmt: skip
        print(wire.shown(found.get("printed") or ""), end="")
        if found.get("random"):
            _draw_on(wire.decode(found["random"], []))
        for way in found.get("ways") or ():
            by_hand.note(str(way))
        if found.get("error"):
            _raise(found["error"])
        tensors: list[Tensor] = []
        result = wire.decode(found["result"], tensors)
        _write_back(args, wire.decode(found["after"], []))
        if not any(flows):
            result = sharing.joined(result, tensors, found.get("shares"), values.carried(args))
        return result, tensors, found["result"], number

    def present(self, results: list[Any]) -> list[Any]:
        """What earlier results are now, if a later call has written into them; in a notebook that is seen at once."""
        numbers = [found[1] if (found := self.recent.find(id(result))) else 0 for result in results]
        try:
            found = self._ask("changed", numbers=numbers)["changed"]
            changed = {number: wire.decode(now, []) for number, now in found}
        except (ProcessEndedError, wire.WireError, LookupError, TypeError, ValueError):
            return results
        return [changed.get(number, result) for number, result in zip(numbers, results, strict=True)]

    def _ask(self, what: str, **given: Any) -> dict[str, Any]:
        if self.broken >= CHANCES:
            raise ProcessEndedError(GONE)
        try:
            return self.session.ask(what, **given)
        except wire.WireError:
            self.broken += 1
            raise ProcessEndedError(GONE) from None


class ProcessEndedError(RuntimeError):
    """What a check sees, as if the answer had raised it, when its process is gone."""


class _Through(torch.autograd.Function):
    """A call in another process as one step of autograd: gradients are sent there, and what arrives comes back."""

    @staticmethod
    def forward(ctx: Any, remote: Remote, args: tuple, flows: list[bool], outer: dict, *wanted: Tensor) -> Any:
        _, tensors, message, number = remote._call(args, flows)
        ctx.remote, ctx.number = remote, number
        outer["message"] = message
        still = [t for t, flow in zip(tensors, _flows(message), strict=True) if not flow]
        ctx.mark_non_differentiable(*still)
        return tuple(tensors)

    @staticmethod
    def backward(ctx: Any, *sent: Tensor | None) -> Any:
        found = ctx.remote._ask("backward", number=ctx.number, sent=list(sent))
        if found.get("error"):
            _raise(found["error"])
        return (None, None, None, None, *wire.decode(found["arrived"], []))


def _draw_on(state: Any) -> None:
    """Leave torch's own generator as the answer left its. Raises WireError for what is no state."""
    try:
        torch.default_generator.set_state(state)
    except (RuntimeError, TypeError) as error:
        raise wire.WireError(str(error)) from None


def _flows(message: Any) -> list[bool]:
    if isinstance(message, dict):
        if "tensor" in message:
            return [bool(message["flows"])]
        return [flow for part in message.values() for flow in _flows(part)]
    return [flow for part in message for flow in _flows(part)] if isinstance(message, list) else []


def _with_tensors(message: Any, tensors: Iterator[Tensor]) -> Any:
    """The value that a message encodes, with these tensors instead of its own."""
    made: list[Tensor] = []
    value = wire.decode(message, made)
    mine = {id(tensor): other for tensor, other in zip(made, tensors, strict=True)}
    return values.transform(value, lambda tensor: mine[id(tensor)])


def _write_back(args: Any, after: Any) -> None:
    """Make the same changes to arguments as the answer made to its copy."""
    for arg, new in zip(args, after if isinstance(after, list | tuple) else (), strict=False):
        if isinstance(arg, Tensor) and isinstance(new, Tensor):
            if not arg.is_meta and (arg.shape != new.shape or not torch.equal(arg.detach().cpu(), new)):
                with torch.no_grad():
                    if arg.shape == new.shape:
                        arg.copy_(new)
                    else:
                        arg.data = new.to(arg.dtype)
        elif isinstance(arg, torch.Generator) and isinstance(new, torch.Generator):
            arg.set_state(new.get_state())
        elif isinstance(arg, list) and isinstance(new, list) and len(arg) != len(new):
            arg[:] = new
        elif isinstance(arg, list | tuple):
            _write_back(arg, new)
            _write_items(arg, new)
        elif (
            isinstance(arg, dict | set)
            and type(arg) is type(new)
            and not values.same(values.plain(arg), values.plain(new))
        ):
            arg.clear()
            arg.update(new)


def _write_items(arg: Any, new: Any) -> None:
    if isinstance(arg, list) and isinstance(new, list):
        for index, (old, item) in enumerate(zip(arg, new, strict=True)):
            if (
                not isinstance(old, Tensor | list | tuple | dict | set)
                and old is not item
                and type(item) in (int, float, str, bool)
            ):
                arg[index] = item


def _signature(listed: Any) -> inspect.Signature:
    kinds = list(inspect._ParameterKind)
    made = [
        inspect.Parameter(str(name), kinds[int(kind)], default=... if default else inspect.Parameter.empty)
        for name, kind, default in listed
    ]
    return inspect.Signature(made)


def _told(error: Any) -> dict[str, Any]:
    """An error of a cell's, with texts that can be shown."""
    listed = error.items() if isinstance(error, dict) else ()
    return {name: wire.shown(value) if isinstance(value, str) else value for name, value in listed}


def _raise(error: dict[str, Any]) -> None:
    """Raise what an answer raised: an error of the same name and text, that knows where it was."""
    if error.get("timed_out"):
        raise sandbox.TimeIsUp
    name, text = wire.shown(error.get("type"))[:60], wire.shown(error.get("text"))[:600]
    kind = getattr(builtins, name, None)
    kind = kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError
    raised = type(name, (kind,), {"__init__": lambda self: None, "__str__": lambda self: text})()
    line = error.get("line")
    raised.where = (
        wire.shown(error.get("function")),
        line if isinstance(line, int) else None,
        wire.shown(error.get("code"))[:80],
    )
    raise raised
