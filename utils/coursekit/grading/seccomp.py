"""Which calls of the kernel foreign code may not make: those that start processes, and those that reach for others.

A limit of processes (RLIMIT_NPROC) doesn't hold for root, and counts what else a user runs; so none may be started
at all. Threads may: each takes address space, which is limited.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # bytes in the kernel's struct seccomp_data
_ALLOW, _END, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000  # linux/seccomp.h
_THREAD = 0x10000  # a flag of clone, linux/sched.h
_OTHER_NUMBERS = 0x40000000  # x86_64 knows each call by a second number from here on
_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER = 38, 22, 2  # sys/prctl.h, linux/seccomp.h

# the audit code of the architecture, the number of clone, and those of calls that are refused
_KNOWN = {
    "x86_64": (0xC000003E, 56, {
        "fork": 57, "vfork": 58, "ptrace": 101, "mount": 165, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
        "setns": 308, "process_vm_readv": 310, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425,
    }),
    "aarch64": (0xC00000B7, 220, {
        "ptrace": 117, "mount": 40, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "setns": 268,
        "process_vm_readv": 270, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425,
    }),
}  # fmt: skip
_CLONE_3 = 435  # its flags lie where a filter cannot read; without it, libc calls clone


def forbid_processes() -> None:
    """From now on this process and its threads start no process and reach for no other. Raises OSError where the
    kernel has no filters."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = _program(*_KNOWN[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(program))
    address = ctypes.addressof(code)
    about = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), address))  # struct sock_fprog
    for call in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SET_FILTER, _FILTER, about, 0, 0)):
        if libc.prctl(*call) != 0:
            number = ctypes.get_errno()
            raise OSError(number, "no filter of calls: needs a kernel with seccomp")


def _program(architecture: int, clone: int, refused: dict[str, int]) -> list[bytes]:
    no = _step(_RETURN, _ERROR | errno.EPERM)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _END),
        _step(_LOAD, _NUMBER),
    ]
    steps += [_step(_AT_LEAST, _OTHER_NUMBERS, 0, 1), no]
    steps += [_step(_EQUAL, _CLONE_3, 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    for number in refused.values():
        steps += [_step(_EQUAL, number, 0, 1), no]
    steps += [_step(_EQUAL, clone, 0, 3), _step(_LOAD, _FIRST_ARGUMENT), _step(_ANY_BIT, _THREAD, 1, 0), no]
    return [*steps, _step(_RETURN, _ALLOW)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)  # struct sock_filter
