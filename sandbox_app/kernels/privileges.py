"""Privileges: the system calls that take a process its rights away. Standard library only (it runs before exec).

Order matters: capabilities leave the bounding set before the uid changes; PDEATHSIG is set after the uid changes, which
clears it; seccomp comes last, after no_new_privs.

Not covered: kernel bugs reachable through allowed system calls, CPU side channels, CPU time (cells have time limits).
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97

# System calls by architecture: its audit number, those the rules below name, and those refused whatever their arguments
# (new namespaces and mounts, tracing, kernel keys and modules, io_uring and bpf, memory that no quota counts).
# `clone3` (its flags are unseen by a filter) is said not to be there, so that the C library falls back to `clone`.
# `socket` makes no other families than these: AF_VSOCK, for one, knows no network namespace (it reaches a hypervisor).
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_CALLS: dict[str, tuple[int, dict[str, int], tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        {"clone": 56, "clone3": 435, "socket": 41, "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129,
         "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424, "setrlimit": 160, "prlimit64": 302, "fcntl": 72,
         "timer_create": 222, "mmap": 9, "memfd_create": 319},
        (29, 101, 103, 155, 161, 165, 166, 167, 168, 169, 175, 176, 246, 248, 249, 250, 272, 298, 303, 304, 308, 310,
         311, 313, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 447),
    ),
    "aarch64": (
        0xC00000B7,
        {"clone": 220, "clone3": 435, "socket": 198, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
         "rt_tgsigqueueinfo": 240, "pidfd_send_signal": 424, "setrlimit": 164, "prlimit64": 261, "fcntl": 25,
         "timer_create": 107, "mmap": 222, "memfd_create": 279},
        (194, 117, 116, 41, 51, 40, 39, 224, 225, 142, 105, 106, 104, 217, 218, 219, 97, 241, 264, 265, 268, 270, 271,
         273, 294, 280, 282, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 447),
    ),
}
_LOW, _SIGKILL, _F_SETSIG = 0xFFFFFFFF, int(signal.SIGKILL), 10
_SHARED_ANONYMOUS = 0x21    # MAP_SHARED | MAP_ANONYMOUS
_CPU, _REAL_TIME = 0, 15    # limits whose end is a SIGKILL

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError with `what` in its text when a libc call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, value: int, what: str, *more: int) -> None:
    arguments = [ctypes.c_ulong(a) for a in (value, *more, 0, 0, 0)[:4]]
    check(libc.prctl(option, *arguments), what)


def die_with_parent() -> None:
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "PR_SET_PDEATHSIG")


def adopt_orphans() -> None:
    prctl(_PR_SET_CHILD_SUBREAPER, 1, "PR_SET_CHILD_SUBREAPER")


def hide_from_siblings() -> None:
    """No process of the same uid may trace this one or read its /proc files."""
    prctl(_PR_SET_DUMPABLE, 0, "PR_SET_DUMPABLE")


def unshare(*, as_root: bool) -> None:
    """Enter new namespaces; as an ordinary user with a user namespace around them, mapped to uid 1000 inside."""
    uid, gid = os.getuid(), os.getgid()
    check(libc.unshare(NAMESPACES | (0 if as_root else CLONE_NEWUSER)), "unshare")
    if not as_root:
        for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {uid} 1"), ("gid_map", f"1000 {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def drop(uid: int | None) -> None:
    """Lose every capability for good and become `uid` (None: stay who we are, as in a user namespace)."""
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the last capability of this kernel
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("=Ii", 0x20080522, 0)
    check(libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0)), "capset")
    prctl(_PR_SET_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS")
    die_with_parent()


def limit(memory: int, processes: int, file_size: int) -> None:
    """Bounds of one process. RLIMIT_DATA holds what is written to; address space leaves room for reservations."""
    for kind, bound in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_AS, memory + 2 * 1024**3),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))


def _instruction(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


Condition = tuple[int, int, int]  # (argument, mask, value): holds when the argument's low half under the mask is that


def _rules(calls: dict[str, int], program: int) -> list[tuple[int, tuple[Condition, ...], int]]:
    """(call, conditions that hold together, what it gets) for calls refused for some arguments only.

    Nothing inside may end the program (pid `program`, leader of its group) by SIGKILL: that is how the host tells a
    death of the policy's own doing from one that came from outside, whatever became of the bridge's witness. Who kills
    the program directly ends by SIGSYS. Memory shared without a file is refused: no quota and no watch counts it.
    """
    own = [number & _LOW for number in (program, 0, -1, -program)]
    rules: list[tuple[int, tuple[Condition, ...], int]] = [
        *((calls["kill"], ((0, _LOW, pid), (1, _LOW, _SIGKILL)), _KILL) for pid in own),
        (calls["tkill"], ((1, _LOW, _SIGKILL),), _KILL),
        (calls["tgkill"], ((2, _LOW, _SIGKILL),), _KILL),
        (calls["rt_sigqueueinfo"], ((1, _LOW, _SIGKILL),), _KILL),
        (calls["rt_tgsigqueueinfo"], ((2, _LOW, _SIGKILL),), _KILL),
        (calls["pidfd_send_signal"], ((1, _LOW, _SIGKILL),), _KILL),
        (calls["clone"], ((0, CLONE_NEWUSER, CLONE_NEWUSER),), _ERRNO | _EPERM),
        (calls["clone"], ((0, 0xFF, _SIGKILL),), _ERRNO | _EPERM),  # the signal that its end would send us
        (calls["clone3"], (), _ERRNO | _ENOSYS),
        (calls["memfd_create"], (), _ERRNO | _ENOSYS),
        (calls["fcntl"], ((1, _LOW, _F_SETSIG),), _ERRNO | _EPERM),
        (calls["timer_create"], (), _ERRNO | _EPERM),
        (calls["mmap"], ((3, _SHARED_ANONYMOUS, _SHARED_ANONYMOUS),), _ERRNO | _EPERM),
    ]
    for kind in (_CPU, _REAL_TIME):
        rules.append((calls["setrlimit"], ((0, _LOW, kind),), _ERRNO | _EPERM))
        rules.append((calls["prlimit64"], ((1, _LOW, kind),), _ERRNO | _EPERM))
    return rules


def _rule(call: int, conditions: tuple[Condition, ...], given: int) -> list[bytes]:
    """One rule as BPF; it finds the call's number loaded and leaves it loaded for the next."""
    load, both, equal, give = 0x20, 0x54, 0x15, 0x06
    length = 3 * len(conditions) + 1
    steps = [_instruction(equal, 0, length + bool(conditions), call)]
    for at, (argument, mask, value) in enumerate(conditions):
        steps += [
            _instruction(load, 0, 0, 16 + 8 * argument), _instruction(both, 0, 0, mask),
            _instruction(equal, 0, length - 3 * (at + 1), value),
        ]
    steps.append(_instruction(give, 0, 0, given))
    return [*steps, _instruction(load, 0, 0, 0)] if conditions else steps


def filter_program(machine: str, program: int = 2) -> bytes:
    """The seccomp filter for an architecture, as BPF; b"" where we have no list (documented in `tier`)."""
    if machine not in _CALLS:
        return b""
    arch, calls, refused = _CALLS[machine]
    load, equal, greater_equal, give = 0x20, 0x15, 0x35, 0x06
    steps = [
        _instruction(load, 0, 0, 4),                      # architecture
        _instruction(equal, 1, 0, arch),
        _instruction(give, 0, 0, _KILL),
        _instruction(load, 0, 0, 0),                      # number of the system call
        _instruction(greater_equal, 0, 1, 0x40000000),    # x32 calls
        _instruction(give, 0, 0, _ERRNO | _EPERM),
    ]
    for number in refused:
        steps += _rule(number, (), _ERRNO | _EPERM)
    for rule in _rules(calls, program):
        steps += _rule(*rule)
    steps += [_instruction(equal, 0, len(_FAMILIES) + 2, calls["socket"]), _instruction(load, 0, 0, 16)]
    steps += [_instruction(equal, len(_FAMILIES) - at, 0, family) for at, family in enumerate(_FAMILIES)]
    steps += [_instruction(give, 0, 0, _ERRNO | _EAFNOSUPPORT), _instruction(give, 0, 0, _ALLOW)]
    return b"".join(steps)


def filter_calls() -> None:
    """Refuse what the rules say from now on, children included; this process is the program. Needs no_new_privs."""
    program = filter_program(platform.machine(), os.getpid())
    if not program:
        return
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    check(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0), "PR_SET_SECCOMP")
