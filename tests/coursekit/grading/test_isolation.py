"""What foreign code may not do. Where there is no bubblewrap, what needs it is skipped with the reason."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from skips import skip_for_want_of

from coursekit import CourseError
from coursekit.grading import isolation
from coursekit.grading.apart import Warm
from coursekit.grading.remote import Remote, Session

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
FORBIDDEN = {
    "solutions": f"open({str(ROOT / 'solutions' / 'lab02_bahdanau' / 'lab02_bahdanau.ipynb')!r})",
    "tests": f"open({str(Path(__file__))!r})",
    "the repository": f"os.listdir({str(ROOT)!r})",
    "solutions by their name in there": "os.listdir('/course/solutions')",
    "tests by their name in there": "os.listdir('/course/tests')",
    "passwords": "open('/etc/shadow')",
    "the grader's memory": "open('/proc/1/mem')",
    "its own memory": "open('/proc/self/mem')",
    "write to the package": "open('/course/utils/attnbook/x', 'w')",
    "write to the environment": "open('/environment/x', 'w')",
    "write to the root": "open('/x', 'w')",
    "write to dev": "open('/dev/x', 'w')",
    "write to the course": "open('/course/x', 'w')",
    "write to usr": "open('/usr/x', 'w')",
    "more than tmp holds": "open('/tmp/x', 'wb').write(bytes(2**27))",
    "a shell": "os.posix_spawn('/bin/sh', ['sh'], {})",
    "a fork": "os.fork()",
    "a subprocess": "__import__('subprocess').run(['ls'])",
    "a process of multiprocessing": "__import__('multiprocessing').Process(target=print).start()",
    "much memory": "bytearray(4 * 2**30)",
    "the network": "socket.create_connection(('1.1.1.1', 53), 2)",
    "names of hosts": "socket.getaddrinfo('localhost.example.org', 80)",
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "another root": "os.chroot('/tmp')",
    "another user": "os.setuid(0)",
    "a kill of the process above": "os.kill(os.getppid() or 1, 9) or open('/nothing')",
    "higher limits": "__import__('resource').setrlimit(9, (-1, -1))",
    "a device": "os.mknod('/tmp/d', 0o60600, os.makedev(8, 0))",
    "a namespace": "os.unshare(0x10000000)" if hasattr(os, "unshare") else "open('/nothing')",
    "a mount": "__import__('ctypes').CDLL(None).mount(b'a', b'/tmp', b'tmpfs', 0, b'') and open('/nothing')",
}


@pytest.mark.parametrize("text", FORBIDDEN.values(), ids=list(FORBIDDEN))
def test_it_is_refused(text, contained):
    begun = contained(f"import os, socket\ndef f():\n    {text}\n    return 'done'\ndef g(): return 2")
    with pytest.raises((OSError, MemoryError, ValueError, RuntimeError)):
        Remote(begun, "f")()
    assert Remote(begun, "g")() == 2


def test_environment_and_arguments_of_the_grader_are_not_seen(contained):
    text = "import os\ndef f(): return list(os.environ)\ndef g(): return os.listdir('/proc'), os.listdir('/tmp')"
    begun = contained(text)
    harmless = {"HOME", "PATH", "PWD", "OMP_NUM_THREADS", "MPLBACKEND", "LC_CTYPE"}
    assert not [name for name in Remote(begun, "f")() if name not in harmless and not name.startswith("TORCH")]
    assert Remote(begun, "g")() == ([], [])


def test_scratch_may_be_written_and_the_next_submission_does_not_see_it(contained):
    text = (
        "import os\ndef f():\n    open('/tmp/mine', 'w').write('x')\n    return os.listdir('/tmp')\n"
        "def g(): return os.listdir('/tmp')"
    )
    assert Remote(contained(text), "f")() == ["mine"]
    assert Remote(contained(text), "g")() == []


def test_threads_are_bounded(contained):
    text = (
        "import threading\ndef f():\n    end, n = threading.Event(), 0\n    try:\n        for n in range(5000):\n"
        "            threading.Thread(target=end.wait, daemon=True).start()\n    except RuntimeError:\n        pass\n"
        "    end.set()\n    return n\n"
    )
    assert Remote(contained(text), "f")() < 1000


def descendants(pid: int) -> int:
    """How many processes a process and its descendants have started that still run."""
    children: list[int] = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            children += map(int, tasks.read_text(encoding="ascii").split())
    return len(children) + sum(map(descendants, children))


def test_nothing_goes_on_after_a_submission(contained, isolated):
    begun = contained(
        "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()\ndef f(): return 1"
    )
    assert Remote(begun, "f")() == 1
    idle = 2  # bubblewrap's own, and the warm process
    assert descendants(isolated.process.pid) > idle
    begun.close()
    until = time.monotonic() + 10
    while descendants(isolated.process.pid) > idle and time.monotonic() < until:
        time.sleep(0.05)
    assert descendants(isolated.process.pid) == idle


def test_right_answers_are_judged_as_outside(contained):
    import attnlabs as checks
    from misread.judge import judge

    begun = contained("def weight_sum(weights, value): return weights @ value")
    assert judge(checks.checks_of("lab02").exercise("weight_sum"), Remote(begun, "weight_sum")).passed


def test_without_bubblewrap_grading_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(isolation.shutil, "which", lambda name: None)
    with pytest.raises(CourseError, match=r"not installed.*apt install bubblewrap.*--without-isolation"):
        isolation.refuse_without_isolation()


def test_a_skip_for_want_of_isolation_is_a_failure_where_isolation_must_be_there(monkeypatch):
    monkeypatch.setenv("ATTNBOOK_NO_SKIPS", "a_card isolation")
    with pytest.raises(pytest.fail.Exception, match="demands isolation: no bwrap"):
        skip_for_want_of("isolation", "no bwrap")
    monkeypatch.delenv("ATTNBOOK_NO_SKIPS")
    with pytest.raises(pytest.skip.Exception, match="no bwrap"):
        skip_for_want_of("isolation", "no bwrap")


AS_ON_WINDOWS = """\
import os, sys
sys.modules["resource"] = None
from coursekit import CourseError
from coursekit.grading import apart, command, isolation
del os.fork, os.pidfd_open
sys.platform = "win32"
for begin in (isolation.refuse_without_isolation, lambda: apart.Warm(".", isolated=False)):
    try:
        begin()
    except CourseError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes away what Linux has")
def test_where_python_is_as_on_windows_grading_is_refused_in_a_sentence():
    found = subprocess.run([sys.executable, "-c", AS_ON_WINDOWS], capture_output=True, text=True)
    assert not found.stderr
    isolated, forked = found.stdout.splitlines()
    assert "it is known for Linux on x86_64 and aarch64 only, and this is win32" in isolated
    assert forked == "each submission is graded in a fork of a process, which win32 lacks: grade on Linux, or in WSL"


def test_a_fork_needs_nothing_of_linux_alone(monkeypatch, view):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    with Warm(view, isolated=False) as warm:
        begun = Session(warm.submission, [("cell", "import os\ndef f(): os._exit(0)\ndef g(): return 2")])
        with pytest.raises(RuntimeError, match="nothing came back"):
            Remote(begun, "f")()
        assert Remote(begun, "g")() == 2
        begun.close()


def test_a_namespace_inside_of_a_namespace_is_tried_too(monkeypatch):
    if reason := isolation.lacking():
        skip_for_want_of("isolation", reason)
    outer = isolation.contained

    def without_inner(*given):
        command = outer(*given)
        return [command[0], "--unshare-user", "--disable-userns", *command[1:]]

    monkeypatch.setattr(isolation, "contained", without_inner)
    assert "not one inside of another (OSError: " in isolation.lacking()


def test_where_the_libraries_hold_the_book_an_empty_folder_lies_over_it(monkeypatch, tmp_path):
    library = Path(sys.prefix).resolve() / "lib" / "site-packages"
    monkeypatch.setattr(isolation, "SECRET", [library / "attnbook", Path("/nowhere/attnbook")])
    monkeypatch.setattr(Path, "exists", lambda self: True)
    command = isolation.contained("pass", tmp_path)
    where = isolation.ENVIRONMENT / "lib" / "site-packages" / "attnbook"
    at = command.index(str(where))
    assert command[at - 1 : at + 3] == ["--tmpfs", str(where), "--remount-ro", str(where)]
    assert "/nowhere/attnbook" not in command


def test_on_other_systems_grading_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert "win32" in isolation.lacking()


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_where_namespaces_are_forbidden_grading_is_refused(monkeypatch):
    monkeypatch.setattr(isolation.shutil, "which", lambda name: "/usr/bin/bwrap")
    monkeypatch.setattr(isolation, "contained", lambda *_: [sys.executable, "-c", "raise SystemExit('not here')"])
    assert isolation.lacking().endswith("may not make namespaces here, or not one inside of another (not here)")


def test_a_socket_without_a_file_is_not_seen_by_another_submission(contained):
    named = "import socket\nheld = socket.socket(socket.AF_UNIX)\ndef f():\n    "
    one = contained(f"{named}held.bind('\\0friend')\n    held.listen()")
    other = contained(f"{named}held.connect('\\0friend')")
    Remote(one, "f")()
    with pytest.raises(ConnectionRefusedError):
        Remote(other, "f")()
