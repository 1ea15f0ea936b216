"""A lock has one holder at a time, in this process and among several, and leaves nothing behind."""

import os
import subprocess
import sys
import textwrap

import pytest

from attnbook.locks import Taken, locked

HOLDER = """
    import sys
    from attnbook.locks import locked

    with locked(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of ``tmp_path / "a"`` until its input ends or it is killed."""
    path = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(tmp_path / "a")], env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_nobody_else_gets_a_lock_that_is_held(tmp_path):
    with locked(tmp_path / "new" / "a"):
        with pytest.raises(Taken, match=r"another process holds .*\.a\.lock"), locked(tmp_path / "new" / "a"):
            pass
        with locked(tmp_path / "new" / "b"):
            pass
    assert os.listdir(tmp_path / "new") == []
    with locked(tmp_path / "new" / "a"):
        pass


def test_another_process_holds_a_lock_until_it_ends_even_if_it_is_killed(tmp_path, holder):
    with pytest.raises(Taken), locked(tmp_path / "a"):
        pass
    holder.kill()
    holder.wait()
    with locked(tmp_path / "a"):
        assert os.listdir(tmp_path) == [".a.lock"]
    assert os.listdir(tmp_path) == []


def test_who_waits_gets_the_lock_when_the_holder_lets_go(tmp_path, holder):
    holder.stdin.close()
    with locked(tmp_path / "a", wait=True):
        assert holder.wait(timeout=60) == 0
    assert os.listdir(tmp_path) == []


def test_an_error_in_the_block_lets_go(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a"):
        1 / 0  # noqa: B018
    with locked(tmp_path / "a"):
        assert os.listdir(tmp_path) == [".a.lock"]


def test_where_nothing_can_be_written_there_is_no_lock(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"), locked(tmp_path / "file" / "a"):
        pass
