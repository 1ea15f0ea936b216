"""Where foreign code runs: in bubblewrap, without a network, with a read-only view of what Python needs, and no more.

What this keeps out is in the teacher's guide, and what it does not: a fault of the kernel, and the machine's time.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from coursekit import ROOMS, CourseError
from coursekit.grading import seccomp

MEMORY = 2 * 2**30  # bytes that an answer may take beyond what Python and torch have taken
FILES, FILE_SIZE, SECONDS = 256, 64 * 2**20, 120  # SECONDS of the processor, for a whole submission
SCRATCH = 64 * 2**20  # bytes of /tmp
USER = 1000
COURSE, ENVIRONMENT = Path("/course"), Path("/environment")  # names in there
PACKAGES = Path(__file__).resolve().parents[2]  # they lie side by side
RESULTS = PACKAGES.parent / "results"
IN_REPOSITORY = (PACKAGES.parent / "pyproject.toml").is_file()  # and not installed from the wheel
SECRET = [PACKAGES.parent] if IN_REPOSITORY else [PACKAGES / name for name in ROOMS]

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PROCESSES = 0x20000, 0x8000000, 0x10000000, 0x20000000  # linux/sched.h
_NEW_NETWORK = 0x40000000  # in which sockets without a file have names of their own
_NO_SUID_NO_DEV = 2 | 4  # sys/mount.h
_DIE_WITH_PARENT, _DUMPABLE = 1, 4  # sys/prctl.h
_SET_CAPABILITIES = {"x86_64": 126, "aarch64": 91}  # numbers of the system call capset
_CAPABILITIES_3 = 0x20080522  # linux/capability.h

REFUSED = (
    "submissions are foreign code, and on this machine nothing keeps it apart: {reason}. Install bubblewrap (Debian: "
    "`apt install bubblewrap`), or grade inside of a container that holds nothing else and say --without-isolation."
)
NO_FORKS = "each submission is graded in a fork of a process, which {system} lacks: grade on Linux, or in WSL"
NO_NAMESPACES = "bubblewrap may not make namespaces here, or not one inside of another ({said})"


def refuse_without_forks() -> None:
    """Raises CourseError where no submission can be run at all."""
    if not hasattr(os, "fork"):
        raise CourseError(NO_FORKS.format(system=sys.platform))


def refuse_without_isolation() -> None:
    """Raises CourseError, with the reason, where no isolation is to be had."""
    if reason := lacking():
        raise CourseError(REFUSED.format(reason=reason))


def lacking() -> str:
    """What this machine lacks for isolation, or an empty text."""
    if sys.platform != "linux" or platform.machine() not in _SET_CAPABILITIES:
        return f"it is known for Linux on x86_64 and aarch64 only, and this is {sys.platform} on {platform.machine()}"
    if shutil.which("bwrap") is None:
        return "bubblewrap (the program bwrap) is not installed"
    rehearsal = contained("from coursekit.grading import isolation; isolation.rehearse()", PACKAGES)
    tried = subprocess.run(rehearsal, capture_output=True, text=True)
    said = tried.stderr.strip().splitlines() or [f"it ended with {tried.returncode}"]
    return NO_NAMESPACES.format(said=said[-1]) if tried.returncode else ""


def rehearse() -> None:
    """Take each step that a process for answers takes. Raises OSError at the first that this machine refuses."""
    hide_from_answers()
    part_from_the_others()
    if child := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    give_up_rights()


def contained(code: str, packages: Path) -> list[str]:
    """The command that runs Python code in bubblewrap: it sees Python, its libraries, `packages` and results/.

    What lies anywhere here has a name of its own there, so that /tmp can be empty. Where the libraries hold the
    book, too, as after an installation from its wheel, an empty folder lies over it.
    """
    seen = {path: path for path in map(Path, ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts"))}
    seen |= {Path(sys.base_prefix).resolve(): Path(sys.base_prefix).resolve()}
    seen |= {packages: COURSE / "utils", RESULTS: COURSE / "results"}
    python = Path(sys.executable)
    if sys.prefix != sys.base_prefix:
        seen[Path(sys.prefix).resolve()] = ENVIRONMENT
        python = ENVIRONMENT / "bin" / "python"
    arguments = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "lab"]
    arguments += ["--uid", str(USER), "--gid", str(USER), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for path in map(Path, ("/bin", "/lib", "/lib64", "/sbin")):
        arguments += ["--symlink", os.readlink(path), str(path)] if path.is_symlink() else []
    for path, there in seen.items():
        arguments += ["--ro-bind", str(path), str(there)] if path.exists() else []
    for secret in SECRET if packages != PACKAGES else ():
        inside = [there / secret.relative_to(path) for path, there in seen.items() if secret.is_relative_to(path)]
        for there in inside if secret.exists() else ():
            arguments += ["--tmpfs", str(there), "--remount-ro", str(there)]
    for name, value in {"HOME": "/tmp", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "PATH": "/usr/bin:/bin"}.items():
        arguments += ["--setenv", name, value]
    arguments += [
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
    ]  # else what one submission leaves there, the next one finds
    path = COURSE / "utils"
    return [
        *arguments,
        "--chdir",
        "/",
        "--",
        str(python),
        "-I",
        "-c",
        f"import sys; sys.path[:0] = [{str(path)!r}]; {code}",
    ]


def hide_from_answers() -> None:
    """Make this process unreadable for others of the same user: the answers' processes are its children."""
    _call(ctypes.CDLL(None, use_errno=True).prctl, _DUMPABLE, 0, 0, 0, 0)


def part_from_the_others() -> None:
    """Before a student's first line: a private /tmp, no sight of other processes and their sockets, and no
    way back.

    The process must fork once more, since a new table of processes holds for children only. Raises OSError where the
    kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    taken = memory_taken()
    _call(libc.unshare, _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_NETWORK)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    for folder, size in (("/tmp", SCRATCH), ("/dev/shm", 2**20), ("/proc", 4096)):
        options = f"size={size},mode=0755".encode()
        _call(libc.mount, b"tmpfs", folder.encode(), b"tmpfs", _NO_SUID_NO_DEV, options)
    os.chdir("/tmp")
    limit(taken + MEMORY)


def give_up_rights() -> None:
    """The last step, in the process that runs the answers: die with the parent, keep no capability, and start no
    process."""
    libc = ctypes.CDLL(None, use_errno=True)
    _call(libc.prctl, _DIE_WITH_PARENT, 9, 0, 0, 0)
    head, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    _call(libc.syscall, _SET_CAPABILITIES[platform.machine()], head, none)
    seccomp.forbid_processes()


def limit(memory: int) -> None:
    """Limits that the process and its children cannot raise again."""
    import resource  # which Windows has not

    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_NOFILE: FILES,
        resource.RLIMIT_FSIZE: FILE_SIZE,
        resource.RLIMIT_CPU: SECONDS,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in limits.items():
        resource.setrlimit(kind, (value, value))


def memory_taken() -> int:
    """Bytes of address space that this process has taken."""
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _call(function: ctypes._NamedFuncPointer, *arguments: object) -> None:
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")
