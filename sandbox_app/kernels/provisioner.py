"""Provisioner: how jupyter_client gets a confined ipykernel, and speaks to it across the namespaces.

The kernel has no network: it listens on unix sockets in its own run folder. The host connects to the same sockets as
/proc/self/fd/N/k-1 …, through the descriptor of that folder, so no path on a disk is shared, nothing is left behind,
and no path grows over the 107 bytes a unix socket may have.

The seam for other starts: whatever gives a `Confined` (a zygote's fork, a pool) takes the place of `Confined.start`.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from typing import Any

import zmq
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from sandbox_app.errors import StartFailed
from sandbox_app.kernels.isolation import Confined, Program
from sandbox_app.kernels.session import Limits
from sandbox_app.kernels.view import SCRATCH

_MESSAGE = 16 * 1024**2     # the bridge has what is printed sent in parts far below this
_PORTS = ("shell", "iopub", "stdin", "hb", "control")
_ARGV = (
    "-s", "-m", "ipykernel_launcher", "-f", "{run}/connection.json", "--colors=NoColor",
    "--InteractiveShell.xmode=Plain", "--HistoryManager.enabled=False", "--IPCompleter.use_jedi=False",
)


def environment(seed: int) -> dict[str, str]:
    """The whole environment of a kernel: nothing of the host's own goes in."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": SCRATCH, "TMPDIR": SCRATCH, "LANG": "C.UTF-8", "TZ": "UTC",
        "PYTHONHASHSEED": str(seed % 2**32), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
        "IPYTHONDIR": f"{SCRATCH}/.ipython", "JUPYTER_CONFIG_DIR": f"{SCRATCH}/.jupyter", "MPLBACKEND": "agg",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
    }


class EpisodeProvisioner(KernelProvisionerBase):
    """Starts one confined kernel; `prepare` says with what limits and seed."""

    confined: Confined | None = None
    _limits = Limits()
    _seed = 0
    _tier: str | None = None

    def prepare(self, limits: Limits, seed: int, tier: str | None) -> None:
        self._limits, self._seed, self._tier = limits, seed, tier

    @property
    def has_process(self) -> bool:
        return self.confined is not None and not self.confined.ended.done()

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        kwargs = await super().pre_launch(**{**kwargs, "env": environment(self._seed)})
        kwargs["cmd"] = [sys.executable, *_ARGV]
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        key = secrets.token_hex(16)
        shared: dict[str, Any] = {
            "transport": "ipc", "signature_scheme": "hmac-sha256", "kernel_name": "",
            **{f"{name}_port": number for number, name in enumerate(_PORTS, start=1)},
        }
        program = Program(
            argv=tuple(cmd), env=kwargs["env"], memory=self._limits.memory, processes=self._limits.processes,
            workspace=self._limits.workspace,
            run_files={"connection.json": json.dumps({**shared, "ip": "{run}/k", "key": key})},
        )
        self.confined = await Confined.start(program, tier=self._tier, seconds=self._limits.start_seconds)
        where: Any = {**shared, "ip": f"/proc/self/fd/{self.confined.run}/k", "key": key.encode()}
        self.connection_info = where
        return self.connection_info

    async def poll(self) -> int | None:
        return None if self.has_process else 1

    async def wait(self) -> int | None:
        if self.confined is not None:
            await asyncio.shield(self.confined.ended)
        return await self.poll()

    async def send_signal(self, signum: int) -> None:
        if self.confined is not None:
            self.confined.signal(signum)

    async def kill(self, restart: bool = False) -> None:
        if self.confined is not None:
            await self.confined.close()

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        await self.kill(restart)


class EpisodeKernelManager(AsyncKernelManager):
    """jupyter_client's manager without a connection file on the host: the provisioner's word is taken as it is."""

    def _reconcile_connection_info(self, info: KernelConnectionInfo) -> None:
        for name in _PORTS:
            setattr(self, f"{name}_port", 0)
        self.load_connection_info(info)


async def start(limits: Limits, seed: int, tier: str | None = None) -> tuple[EpisodeKernelManager, Confined]:
    """A starting kernel (it may not answer yet). Raises `NoIsolation`, `StartFailed`."""
    manager = EpisodeKernelManager(transport="ipc", autorestart=False)
    manager.context.setsockopt(zmq.MAXMSGSIZE, _MESSAGE)  # of every socket made on it: a flood ends its connection
    provisioner = EpisodeProvisioner(parent=manager)
    provisioner.prepare(limits, seed, tier)
    provisioner.kernel_spec = manager._kernel_spec = KernelSpec(argv=[], display_name="episode", language="python")
    manager.provisioner = provisioner
    try:
        await manager.start_kernel()
    except BaseException:
        await provisioner.kill()
        release(manager)
        raise
    if provisioner.confined is None:
        raise StartFailed("the provisioner started nothing")
    return manager, provisioner.confined


def release(manager: EpisodeKernelManager) -> None:
    """Close the manager's sockets and its zmq context."""
    manager._close_control_socket()
    manager.context.destroy(linger=0)
