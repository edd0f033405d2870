"""Bridge: the one file of ours that enters a kernel. It imports nothing of ours and holds nothing worth reading.

Executed once in a fresh kernel, `install` puts `tools` and `ToolError` into the user's namespace and hooks the cells:
before each, what a cell may have shadowed is put back (tools, ToolError, print and every other builtin, sys.stdout,
sys.stderr); after each, the variables are described to the host.

Variables are described from type, length, shape and a bounded repr of *exact* builtin types: no method of a user's
class is ever called, its metaclass included. A frame is never half read: SIGINT is held back while a call is under way.

Everything here can be undone by the code in the kernel. That harms its own episode only: what counts (calls, quotas,
gates, state) is kept on the host's side.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import itertools
import json
import os
import random
import resource
import signal
import socket
import sys
import threading
from typing import Any

_NAMES, _ITEMS, _TEXT, _DEPTH = 200, 6, 120, 2
_ARGUMENTS, _MESSAGE = 1024**2, 20_000
_SIGNALS = {"kill", "tgkill", "tkill", "killpg", "syscall", "raise", "pthread_kill", "fork", "vfork", "clone"}
_PROCESSES = {
    "os.kill", "os.killpg", "signal.pthread_kill", "os.fork", "os.forkpty", "os.posix_spawn", "os.posix_spawnp",
    "os.system", "os.exec", "os.spawn", "subprocess.Popen", "pty.spawn", "os.pidfd_open", "signal.pidfd_send_signal",
}
_SKIPPED = ("module", "type", "function", "builtin_function_or_method", "method", "ABCMeta", "EnumType")


class ToolError(Exception):
    """A refused tool call: .code (NOT_FOUND, INVALID_ARGUMENT, …), .message, .retryable."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.retryable = code, message, retryable


class OutputLimit(KeyboardInterrupt):
    """The cell has printed more than is kept; like an interrupt, so that `except Exception` does not hold it up."""


class _Channel:
    """The socket to the host; one call at a time, whichever thread makes it."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._number = 0

    def send(self, value: dict[str, Any]) -> None:
        body = json.dumps(value, default=_plain, separators=(",", ":")).encode()
        if len(body) > _ARGUMENTS:
            raise ValueError(f"the arguments hold {len(body):,} bytes; at most {_ARGUMENTS:,} go through")
        self._socket.sendall(len(body).to_bytes(4, "big") + body)

    def say(self, value: dict[str, Any]) -> None:
        """Send something that is not answered."""
        if os.getpid() == self._owner:
            with self._lock:
                self.send(value)

    def ask(self, value: dict[str, Any]) -> dict[str, Any]:
        if os.getpid() != self._owner:
            raise ToolError("FAILED_PRECONDITION", "tools can only be called in the kernel's own process")
        with self._lock, _Held():
            self._number += 1
            self.send({**value, "id": self._number})
            while True:
                size = int.from_bytes(self._exactly(4), "big")
                answer: dict[str, Any] = json.loads(self._exactly(size))
                if answer.get("id") == self._number:
                    return answer

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise ToolError("UNAVAILABLE", "the tools are gone")
            parts += part
        return bytes(parts)


class _Held:
    """SIGINT comes after the block, not within it (only the main thread receives it in Python)."""

    def __enter__(self) -> None:
        self._main = threading.current_thread() is threading.main_thread()
        self._seen: list[Any] = []
        if self._main:
            self._old = signal.signal(signal.SIGINT, lambda *arguments: self._seen.append(arguments))

    def __exit__(self, *_: object) -> None:
        if self._main:
            signal.signal(signal.SIGINT, self._old)
            if self._seen and callable(self._old):
                self._old(*self._seen[0])


def _plain(value: Any) -> Any:
    """numpy's and pandas' scalars as plain ones; anything else is no argument."""
    if type(value).__module__ in ("numpy", "pandas") and hasattr(value, "item"):
        return value.item()
    if type(value) is set or type(value) is frozenset:
        raise TypeError("a set is no JSON value: give a list")
    raise TypeError(f"a {_type_name(value)} is no JSON value: give text, a number, a list or a dict")


class _Tools:
    """`tools.name(argument=value)` or `tools["name"](…)`."""

    __slots__ = ("_Tools__made",)

    def __init__(self, channel: _Channel, names: list[str]) -> None:
        object.__setattr__(self, "_Tools__made", {name: _tool(channel, name) for name in names})

    def __getattr__(self, name: str) -> Any:
        made = object.__getattribute__(self, "_Tools__made")
        if name in made:
            return made[name]
        raise AttributeError(f"there is no tool {name!r}; there are: {', '.join(made)}")

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("tools can't be replaced")

    def __dir__(self) -> list[str]:
        return list(object.__getattribute__(self, "_Tools__made"))

    def __repr__(self) -> str:
        return f"<tools: {', '.join(dir(self))}>"


def _tool(channel: _Channel, name: str) -> Any:
    def tool(*positional: Any, **arguments: Any) -> Any:
        if positional:
            raise ToolError("INVALID_ARGUMENT", f"arguments of {name} go by name: {name}(argument=value)")
        try:
            answer = channel.ask({"call": name, "arguments": arguments})
        except (TypeError, ValueError) as fault:
            raise ToolError("INVALID_ARGUMENT", f"{name}: {fault}") from None
        if answer["ok"]:
            return answer["value"]
        error = answer["error"]
        raise ToolError(error["code"], error["message"], error["retryable"])

    tool.__name__ = tool.__qualname__ = name
    return tool


def _type_name(value: object) -> str:
    kind = type(value)
    return str(type.__dict__["__name__"].__get__(kind))[:_TEXT]  # a metaclass has no say


def _shape(value: object) -> tuple[int, ...] | None:
    """The shape of exactly a pandas or numpy object, by the types those modules hold."""
    kind = type(value)
    for module, names in (("pandas", ("DataFrame", "Series", "Index")), ("numpy", ("ndarray",))):
        loaded = sys.modules.get(module)
        if loaded is not None and any(kind is loaded.__dict__.get(name) for name in names):
            return tuple(value.shape)  # type: ignore[attr-defined]
    return None


def _repr(value: object, depth: int = _DEPTH) -> str:
    """A bounded repr of exact builtin types; of anything else, the name of its type."""
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if kind is int:
        bits = value.bit_length()  # type: ignore[attr-defined]
        return repr(value) if bits <= 256 else f"<int of {bits} bits>"
    if kind is str or kind is bytes:
        text = repr(value[:_TEXT])  # type: ignore[index]
        return text if len(value) <= _TEXT else text + "…"  # type: ignore[arg-type]
    if kind in (list, tuple, dict, set, frozenset):
        return _container(value, depth)
    return f"<{_type_name(value)}>"


def _container(value: Any, depth: int) -> str:
    kind = type(value)
    marks = "[]" if kind is list else "()" if kind is tuple else "{}"
    if depth == 0:
        return marks[0] + ("…" if len(value) else "") + marks[1]
    if kind is dict:
        inner = [f"{_repr(k, depth - 1)}: {_repr(v, depth - 1)}" for k, v in itertools.islice(value.items(), _ITEMS)]
    else:
        inner = [_repr(item, depth - 1) for item in itertools.islice(value, _ITEMS)]
    more = [f"… {len(value) - _ITEMS} more"] if len(value) > _ITEMS else []
    return marks[0] + ", ".join(inner + more) + marks[1]


def _describe(name: str, value: object) -> list[Any]:
    """[name, type, size, repr, identity]; the identity tells two equal-looking opaque objects apart."""
    kind = type(value)
    shape = _shape(value)
    if shape is not None:
        return [name, _type_name(value), " × ".join(str(n) for n in shape), f"<{_type_name(value)}>", id(value)]
    if kind in (str, bytes, list, tuple, dict, set, frozenset):
        return [name, _type_name(value), str(len(value)), _repr(value)[:400], 0]  # type: ignore[arg-type]
    return [name, _type_name(value), "", _repr(value)[:400], 0 if kind in (int, float, bool) else id(value)]


class _Bounded:
    """Bounds what a cell prints: beyond `limit` characters the printing raises, and a flood waits for its sending.

    The host counts too; this only keeps a flood from filling the kernel's memory before the host has seen any of it.
    IPython puts each stream's `write` back after a cell, so it is bounded anew before each.
    """

    def __init__(self, streams: tuple[Any, ...], limit: int) -> None:
        self._streams, self._limit, self.room, self._unsent = streams, limit, limit, 0

    def renew(self) -> None:
        self.room = self._limit
        for stream in self._streams:
            stream.write = self._writer(stream, stream.write)

    def _writer(self, stream: Any, write: Any) -> Any:
        def bounded(text: str) -> int:
            if type(text) is not str:
                return int(write(text))
            if not text.isascii():
                text = text.encode("utf-8", "backslashreplace").decode()  # half a character can't be sent
            if self.room < 0:
                raise OutputLimit(f"more than {self._limit} characters were printed")
            written: int = write(text[: self.room + 1])
            self.room -= len(text)
            self._unsent += len(text)
            if self._unsent > 1 << 18:
                self._unsent = 0
                stream.flush()
            return written

        return bounded


class _Hooks:
    """What happens before and after each cell."""

    def __init__(self, shell: Any, channel: _Channel, names: list[str], printed: int) -> None:
        self._shell, self._channel = shell, channel
        self._builtins = dict(builtins.__dict__)
        self._streams = sys.stdout, sys.stderr
        self._bounded = _Bounded(self._streams, printed)
        self._given = {"tools": _Tools(channel, names), "ToolError": ToolError}
        self._hidden = set(shell.user_ns) | set(self._given)

    def _restore(self) -> None:
        for name, value in self._builtins.items():
            builtins.__dict__[name] = value
        sys.stdout, sys.stderr = self._streams

    def before(self, *_: object) -> None:
        self._restore()
        for name in ("print", "input", "open"):
            self._shell.user_ns.pop(name, None)
        self._shell.user_ns.update(self._given)
        self._bounded.renew()

    def after(self, *_: object) -> None:
        self._restore()
        described = []
        for name, value in list(self._shell.user_ns.items()):
            shown = type(name) is str and not name.startswith("_") and name not in self._hidden
            if shown and _type_name(value) not in _SKIPPED:
                described.append(_describe(name[:80], value))
        self._shell.history_manager.outputs.clear()  # IPython keeps a copy of all that is printed
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self._channel.say({"variables": described[:_NAMES], "peak": peak})


class _Witness:
    """Tells the host, once, that this kernel has signalled or started a process: its death may be its own doing."""

    def __init__(self, channel: _Channel) -> None:
        self._channel, self._told = channel, False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._told:
            return
        if event in _PROCESSES or (event == "ctypes.dlsym" and arguments[1:2] and arguments[1] in _SIGNALS):
            self._told = True
            self._channel.say({"evidence": event})


def _only_printed(shell: Any) -> None:
    """Only printed text is given back: nothing else is made into messages, and an error's text is bounded."""
    shell.displayhook.compute_format_data = lambda result: ({}, {})
    shell.display_pub.publish = lambda *arguments, **named: None
    show = shell._showtraceback

    def bounded(kind: Any, error: Any, lines: list[str]) -> None:
        text = str(error)
        short = error if len(text) <= _MESSAGE else text[:_MESSAGE] + "…"
        show(kind, short, [line if len(line) <= _MESSAGE else line[:_MESSAGE] + "…" for line in lines])

    shell._showtraceback = bounded


class _Seeder:
    """An import hook that seeds numpy's global generator when a cell first imports it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        loader: Any = spec.loader if spec is not None else None
        if loader is None:
            return None
        execute, seed = loader.exec_module, self._seed

        def seeded(module: Any) -> None:
            execute(module)
            module.seed(seed)

        loader.exec_module = seeded
        return spec


def install(shell: Any, names: list[str], seed: int, descriptor: int, printed: int) -> None:
    """Make the kernel an episode's: tools, hooks, seeds. Called once, before the first cell; `printed`: characters."""
    channel = _Channel(descriptor)
    random.seed(seed)
    sys.meta_path.insert(0, _Seeder(seed % 2**32))
    hooks = _Hooks(shell, channel, names, printed)
    hooks.before()
    _only_printed(shell)
    shell.events.register("pre_run_cell", hooks.before)
    shell.events.register("post_run_cell", hooks.after)
    sys.addaudithook(_Witness(channel))
