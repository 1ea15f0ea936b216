"""The warm process and its forks."""

import time

import pytest

from coursekit import CourseError
from coursekit.grading import apart, wire
from coursekit.grading.apart import Warm
from coursekit.grading.given import given
from coursekit.grading.remote import Remote, Session

pytestmark = pytest.mark.slow


def test_submissions_share_nothing(session):
    one, other = (
        session("x = 1\nimport torch\ntorch.ours = 3"),
        session("def f(): return 'x' in globals(), hasattr(torch, 'ours')\nimport torch"),
    )
    one.ask("about", name="x")
    assert Remote(other, "f")() == (False, False)


def test_closing_twice_does_nothing(warm):
    fork = warm.submission()
    fork.close()
    fork.close()
    assert not warm.ended


def test_a_process_that_does_not_begin_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(apart, "CALL", "raise SystemExit # {number} {isolated}")
    with pytest.raises(CourseError, match="did not begin"):
        Warm(tmp_path, isolated=False)


def test_after_its_end_a_submission_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(apart, "CALL", "import socket; socket.socket(fileno={number}).send(b'ready') # {isolated}")
    with Warm(tmp_path, isolated=False) as process:
        process.process.wait()
        assert process.ended
        with pytest.raises(wire.WireError, match="has ended"):
            process.submission()


def test_without_isolation_too_it_begins_without_checks_and_references(session):
    begun = session("import sys\ndef f(): return [n for n in sys.modules if n.startswith(('attnlabs.', 'misread'))]")
    parts = ("", ".by_hand", ".fakes", ".messages", ".near_names", ".sandbox", ".tensor_sizes", ".values")
    engine = {f"misread{part}" for part in parts}
    handed = {f"{module}." for lab in ("lab02", "lab12", "lab13") for module in given(lab)}  # with their packages
    assert {name for name in Remote(begun, "f")() if not any(one.startswith(f"{name}.") for one in handed)} == engine


def test_nothing_of_the_teachers_environment_reaches_it(monkeypatch, session):
    monkeypatch.setenv("SECRET_OF_THE_TEACHER", "x")
    assert "SECRET_OF_THE_TEACHER" not in apart._settings()


@pytest.mark.parametrize("way", ["session", "contained"])
def test_what_stops_its_group_is_gone_when_its_session_closes(way, request):
    source = "import os, signal, threading\ndef f(): return os.open('/tmp', os.O_RDONLY) >= 0\n"
    stop = "def g():\n    threading.Timer(0.2, lambda: os.kill(0, signal.SIGSTOP)).start()\n"
    begun: Session = request.getfixturevalue(way)(source + stop)
    Remote(begun, "g")()
    assert begun.fork is not None
    connection = begun.fork.connection.dup()
    time.sleep(0.5)  # till it has stopped
    begun.close()
    connection.settimeout(20)
    assert connection.recv(1) == b""  # the kernel ends what it held: nobody has the other end any more
