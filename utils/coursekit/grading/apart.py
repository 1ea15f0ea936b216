"""The process that foreign code runs in: one warm process, from which each submission gets a fork of its own.

Python and torch are imported once. A fork takes milliseconds, has a namespace, a /tmp and a table of processes of its
own, and takes nothing along when it ends.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path

from coursekit import CourseError
from coursekit.grading import isolation, wire

READY = 300.0  # seconds in which it must have begun; it imports torch, which takes a loaded machine long
CALL = "from coursekit.grading.apart import wait_for_submissions; wait_for_submissions({number}, {isolated})"


class Warm:
    """The grader's handle on a warm process; use it with `with`. Isolated unless a person said otherwise.

    `view` is the folder in which its packages lie, see `given.lay_out`. Raises CourseError where no isolation is to be
    had, or no fork."""

    def __init__(self, view: Path, isolated: bool = True) -> None:
        isolation.refuse_without_forks()
        if isolated:
            isolation.refuse_without_isolation()
        self.isolated = isolated
        self.connection, theirs = socket.socketpair()
        call = CALL.format(number=theirs.fileno(), isolated=isolated)
        command = [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(view)!r}]; {call}"]
        if isolated:
            command = isolation.contained(call, view)
        silent = subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=silent, stdout=silent, env=_settings(), start_new_session=True
        )
        theirs.close()
        self.connection.settimeout(READY)
        try:
            ready = self.connection.recv(16)
        except OSError:
            ready = b""
        if not ready:
            self.__exit__()
            raise CourseError("the process for answers did not begin; what it said stands above")

    def submission(self) -> Fork:
        """A fresh process for one submission. Raises WireError if the warm one has ended."""
        ours, theirs = socket.socketpair()
        killed, kill = os.pipe()
        try:
            socket.send_fds(self.connection, [b"fork"], [theirs.fileno(), killed])
        except OSError as error:
            raise wire.WireError(f"the process for answers has ended: {error}") from None
        finally:
            theirs.close()
            os.close(killed)
        return Fork(ours, kill)

    @property
    def ended(self) -> bool:
        """Whether it is gone, so that no further submission can be graded with it."""
        return self.process.poll() is not None

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait()


class Fork:
    """The grader's end of one submission's process."""

    def __init__(self, connection: socket.socket, kill: int) -> None:
        self.connection, self._kill = connection, kill

    def close(self) -> None:
        """End the process and all that it started, whatever they do; a second time does nothing."""
        self.connection.close()
        if self._kill >= 0:
            os.close(self._kill)
            self._kill = -1


def wait_for_submissions(number: int, isolated: bool) -> None:
    """The warm process: import what answers need, then fork for each message on the socket `number`."""
    from coursekit.grading import answering

    answering.load()
    gc.collect()
    gc.freeze()  # else each fork that looks for garbage copies most of the memory that it shares
    if isolated:
        isolation.hide_from_answers()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a fork; its end is seen on its socket
    control = socket.socket(fileno=number)
    control.send(b"ready")
    while True:
        message, files, *_ = socket.recv_fds(control, 16, 2)
        if not message:
            return
        if os.fork() == 0:
            _forked(control, files, isolated)
        for file in files:
            os.close(file)


def _forked(control: socket.socket, files: list[int], isolated: bool) -> None:
    """Between the warm process and the answers: waits for the end of the one that runs them, or ends it."""
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        if isolated:
            isolation.part_from_the_others()
        ended, alive = os.pipe()  # of which the child alone holds the end that is written to, as long as it lives
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)  # what it sends to its group, as a stop, does not reach the process that ends it
            os.close(ended)
            _answer(files[0], files[1], isolated)
        os.close(files[0])
        os.close(alive)
        select.select([files[1], ended], [], [])
        os.kill(child, signal.SIGKILL)
    except BaseException:
        traceback.print_exc()  # for the teacher: this is not the answer's fault
        raise
    finally:
        os._exit(0)


def _answer(connection: int, killed: int, isolated: bool) -> None:
    from coursekit.grading import answering

    try:
        os.close(killed)
        if isolated:
            isolation.give_up_rights()
        quiet = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(quiet, standard)
        answering.serve(socket.socket(fileno=connection))
    finally:
        os._exit(0)


def _settings() -> dict[str, str]:
    """Nothing of the teacher's environment but where programs are found, and records."""
    records = {"ATTNBOOK_RESULTS": str(isolation.RESULTS)} if isolation.RESULTS.is_dir() else {}
    return {"PATH": os.environ.get("PATH", os.defpath), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"} | records
