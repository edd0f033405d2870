"""Launcher: the little process that confines a program, starts it and tells the host how it ended.

    host ──starts──► launcher ──forks──► init (PID 1 of the episode) ──forks──► the program (a kernel, a verifier)

The launcher enters new namespaces and waits; init builds the view, loses all rights, starts the program, reaps
orphans, watches the memory of all together and passes signals on. Each dies with its parent (PDEATHSIG), init also when
the host's end of the control socket closes; with init dies everything in its pid namespace. Run with
`python -S -E -s -m sandbox_app.kernels.launcher FD`; standard library only, so that it starts in milliseconds.

Control socket (SEQPACKET, JSON): host → config, then {"signal": n}; launcher → {"ready": true} with the descriptors of
workspace and run folder, or {"failed": text}; at the end {"status": wait status, "oom": bytes or 0, "peak": bytes}.

Tier `none` (no namespaces) is for tests and machines where a setting allows it: it bounds resources and ends what was
started, but hides neither files nor network.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from typing import Any

from sandbox_app.kernels import privileges, view

_WATCH_SECONDS = 0.2
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main(descriptor: int) -> int:
    control = socket.socket(fileno=descriptor)
    privileges.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal or from within: it is meant for the program
    config = json.loads(control.recv(1 << 20) or b"{}")
    if not config or os.getppid() != config["parent"]:
        return 1  # the host died before we were bound to it
    isolated = config["tier"] == "namespaces"
    try:
        if isolated:
            privileges.unshare(as_root=config["uid"] is not None)
    except OSError as fault:
        control.send(json.dumps({"failed": str(fault)}).encode())
        return 1
    child = os.fork()
    if child == 0:
        os._exit(_init(control, config, isolated))
    control.close()
    os.close(config["channel"])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


def _init(control: socket.socket, config: dict[str, Any], isolated: bool) -> int:
    """PID 1 of the episode: confine, start, watch. Returns its exit code."""
    try:
        folders = _confine(config, isolated)
        program = _start(control, config)
    except OSError as fault:
        control.send(json.dumps({"failed": str(fault)}).encode())
        return 1
    os.close(config["channel"])
    socket.send_fds(control, [json.dumps({"ready": True}).encode()], folders)
    for folder in folders:
        os.close(folder)
    return _watch(control, config, program)


def _confine(config: dict[str, Any], isolated: bool) -> list[int]:
    """Make this process an unprivileged one in its own view; descriptors of workspace and run folder."""
    privileges.die_with_parent()
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("500")  # under pressure the machine takes an episode before the studio
    uid = config["uid"]
    if isolated:
        view.loopback()
        view.build(config["read_only"], 1000 if uid is None else uid, config["workspace"])
    paths = (view.WORKSPACE, view.RUN) if isolated else config["folders"]
    folders = [os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in paths]
    for name, text in config["run_files"].items():
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folders[1])
        os.write(target, text.encode())
        os.close(target)
    if isolated:
        privileges.drop(uid)
        privileges.hide_from_siblings()
    else:
        privileges.adopt_orphans()
    return folders


def _start(control: socket.socket, config: dict[str, Any]) -> int:
    """Fork and exec the program; its pid as seen here."""
    child = os.fork()
    if child:
        return child
    try:
        control.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        privileges.die_with_parent()
        log = os.open(config["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        null = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2), (config["channel"], 3)):
            os.dup2(source, target, inheritable=True)
        os.closerange(4, 4096)
        os.chdir(config["cwd"])
        privileges.limit(config["memory"], config["processes"], config["file_size"])
        if config["tier"] == "namespaces":
            privileges.filter_calls()
        os.execve(config["argv"][0], config["argv"], config["env"])  # noqa: S606 - no shell is what is wanted
    except BaseException as fault:  # noqa: BLE001 - after fork there is nobody to raise to; the log tells
        os.write(2, f"start failed: {fault!r}\n".encode())
    os._exit(127)


def _watch(control: socket.socket, config: dict[str, Any], program: int) -> int:
    """Reap, watch memory and pass signals on until the program has ended or the host is gone."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.set_blocking(reader, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control, select.POLLIN | select.POLLHUP)
    poll.register(reader, select.POLLIN)
    peak = oom = 0
    while True:
        ready = dict(poll.poll(_WATCH_SECONDS * 1000))
        if reader in ready:
            os.read(reader, 4096)
        status = _reap(program)
        if status is not None:
            control.send(json.dumps({"status": status, "oom": oom, "peak": peak}).encode())
            _end_all()
            return 0
        if control.fileno() in ready:
            order = control.recv(4096)
            if not order:
                _end_all()
                return 0
            os.kill(program, json.loads(order)["signal"])
        used = _memory(config)
        peak = max(peak, used)
        if used > config["memory"] and not oom:
            oom = used
            os.kill(program, signal.SIGKILL)


def _reap(program: int) -> int | None:
    """Collect what has ended; the wait status of the program once it has."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid == 0:
            return None
        if pid == program:
            return status


def _others() -> list[int]:
    """Processes of this episode beside init: all of the pid namespace, or our children where there is none."""
    if os.getpid() == 1:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(pid) for pid in file.read().split()]


def _memory(config: dict[str, Any]) -> int:
    """Bytes that the episode's processes hold for themselves, and its files."""
    pages = 0
    for pid in _others():
        try:
            with open(f"/proc/{pid}/statm") as file:
                fields = file.read().split()
        except OSError:
            continue  # it ended meanwhile
        pages += int(fields[1]) - int(fields[2])
    files = 0
    if config["tier"] == "namespaces":
        for path in (view.WORKSPACE, view.SCRATCH, view.RUN):
            usage = os.statvfs(path)
            files += (usage.f_blocks - usage.f_bfree) * usage.f_frsize
    return pages * _PAGE + files


def _end_all() -> None:
    """Kill what is left; in a pid namespace the kernel does the same again when we exit."""
    for _ in range(100):
        left = _others()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it ended meanwhile
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
