"""Each promise of the kernel's isolation, and somebody who tries to break it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from sandbox_app.errors import KernelKilledFromOutside, NoIsolation, StartFailed
from sandbox_app.kernels import isolation, privileges
from sandbox_app.kernels.isolation import Confined, Program, checked_tier
from sandbox_app.kernels.local import LocalHost
from sandbox_app.kernels.session import Limits, SessionSpec
from tasks_app.environments.state import State
from tests.sandbox_app.conftest import Opener, spec_of

SYSTEM_PYTHON = "/usr/bin/python3"
BIG = 256 * 1024**2


async def printed(opened: Opener, code: str, **limits: int) -> str:
    session = await opened(**limits)
    result = await session.execute(code)
    return result.returned + (result.error.traceback if result.error else "")


async def test_nothing_of_the_host_is_in_sight(opened: Opener) -> None:
    secret = Path.cwd() / "manage.py"
    text = await printed(opened, (
        "import os\n"
        f"print(os.path.exists({str(secret)!r}), os.path.exists('/root/.bashrc'), os.path.exists('/var'), "
        "os.path.exists('/home'), sorted(os.listdir('/')))"
    ))
    assert text.startswith("False False False False")
    assert "workspace" in text


async def test_a_checkout_below_tmp_is_shown_and_can_not_be_written_or_moved(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tempfile.TemporaryDirectory(dir="/tmp")  # where the kernel's own /tmp is mounted
    shown = Path(checkout.name, "venv")
    shown.mkdir()
    (shown / "module.py").write_text("there")
    folders = isolation.python_folders()
    monkeypatch.setattr(isolation, "python_folders", lambda: [*folders, str(shown)])
    text = await printed(opened, (
        "import os\n"
        f"print(open({str(shown / 'module.py')!r}).read())\n"
        f"for move in (lambda: open({str(shown / 'module.py')!r}, 'w'), "
        f"lambda: os.rename({checkout.name!r}, '/tmp/gone')):\n"
        "    try: move(); print('DONE')\n"
        "    except OSError as e: print(e.strerror)\n"
        "open('/tmp/own', 'w').write('x'); print(os.path.exists('/tmp/own'))\n"
    ))
    checkout.cleanup()
    assert text.startswith("there\n")
    assert "DONE" not in text
    assert text.endswith("True\n")


async def test_the_environment_is_scrubbed(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "very-secret-word")
    text = await printed(opened, (
        "import os, glob\n"
        "print(dict(os.environ))\n"
        "for p in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: print(open(p).read())\n"
        "    except OSError as e: print(e.strerror)\n"
    ))
    assert "very-secret-word" not in text
    assert "Permission denied" in text  # the launcher's own, closed to the kernel


async def test_there_is_no_network(opened: Opener) -> None:
    text = await printed(opened, (
        "import socket\n"
        "print([name for _, name in socket.if_nameindex()])\n"
        "for address in [('1.1.1.1', 53), ('169.254.169.254', 80)]:\n"
        "    try: socket.create_connection(address, timeout=1); print('CONNECTED')\n"
        "    except OSError as e: print(type(e).__name__)\n"
        "for family in (socket.AF_VSOCK, socket.AF_PACKET):\n"
        "    try: socket.socket(family, socket.SOCK_STREAM); print('MADE', family)\n"
        "    except OSError as e: print(e.strerror)\n"
        "socket.socketpair()\n"
        "try: socket.getaddrinfo('example.org', 80); print('RESOLVED')\n"
        "except OSError as e: print('unresolved')\n"
    ))
    assert text.startswith("['lo']")
    assert "CONNECTED" not in text
    assert text.count("Address family not supported") == 2
    assert "RESOLVED" not in text


async def test_a_service_of_this_machine_is_not_reached(opened: Opener) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    text = await printed(opened, f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=1)")
    server.close()
    assert "ConnectionRefusedError" in text


async def test_it_has_no_rights_and_can_get_none(opened: Opener) -> None:
    text = await printed(opened, (
        "import os, ctypes, subprocess\n"
        "status = open('/proc/self/status').read()\n"
        "names = ('CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs')\n"
        "print([line.split()[1] for line in status.splitlines() if line.startswith(names)])\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(os.getuid() != 0, libc.unshare(0x10000000), libc.ptrace(16, 1, 0, 0), end=' ')\n"
        "print(libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0))\n"
        "try: os.setuid(0); print('ROOT')\n"
        "except OSError: print('no')\n"
        "for p in ['/usr/x', '/etc/passwd', '/x']:\n"
        "    try: open(p, 'w'); print('WROTE', p)\n"
        "    except OSError: print('no')\n"
    ))
    assert "['0000000000000000', '0000000000000000', '0000000000000000', '1']" in text
    assert "True -1 -1 -1" in text
    assert "ROOT" not in text
    assert "WROTE" not in text


async def test_init_can_not_be_killed_or_stopped_from_within(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("import os, signal\nfor n in (9, 15, 19, 2): os.kill(1, n)\nprint('alive')")
    assert result.returned == "alive\n"
    assert (await session.execute("print('still')")).returned == "still\n"


async def test_two_episodes_do_not_see_each_other(opened: Opener) -> None:
    one, two = await opened(), await opened()
    await one.execute("open('mine.txt', 'w').write('x'); open('/tmp/mine.txt', 'w').write('x')\n"
        "import os; pid = os.getpid()")
    result = await two.execute(
        "import os\nprint(os.listdir('.'), os.listdir('/tmp'))\n"
        "print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))"
    )
    assert "mine.txt" not in result.returned
    assert result.returned.rstrip().endswith("[1, 2]")


async def test_a_fork_bomb_is_held_and_ends_with_its_episode(opened: Opener) -> None:
    session = await opened(processes=32, cell_seconds=8)
    result = await session.execute(
        "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(600)\n        n += 1\n"
        "except OSError as e: print(e.strerror, n < 40)"
    )
    assert "Resource temporarily unavailable True" in result.returned
    other = await opened()
    assert (await other.execute("print(1)")).returned == "1\n"
    before = time.monotonic()
    await session.close()
    assert time.monotonic() - before < 2


async def test_filling_the_disk_fills_only_the_quota(opened: Opener) -> None:
    session = await opened(workspace=4 * 2**20)
    result = await session.execute(
        "n = 0\ntry:\n    for i in range(100):\n        open(f'f{i}', 'wb').write(b'x' * 2**20); n += 1\n"
        "except OSError as e: print(e.strerror, n)"
    )
    assert result.returned.startswith("No space left on device")
    assert sum(len(body) for body in (await session.state()).files.values()) <= 4 * 2**20


async def test_many_small_files_are_bounded_too(opened: Opener) -> None:
    text = await printed(opened, (
        "try:\n    for i in range(100_000): open(f'f{i}', 'w').close()\nexcept OSError as e: print(e.strerror)"
    ))
    assert text == "No space left on device\n"


async def test_a_memory_hog_is_told_the_limit_and_the_peak(opened: Opener) -> None:
    session = await opened(memory=BIG)
    result = await session.execute("kept = 1\nx = bytearray(2**30)")
    assert result.outcome == "oom"
    assert "the limit is 256 MiB, the peak" in result.detail
    assert (await session.execute("print(kept)")).returned == "1\n"


async def test_processes_together_are_held_to_the_memory_limit(opened: Opener) -> None:
    session = await opened(memory=BIG, cell_seconds=20)
    result = await session.execute(
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
        "        x = bytearray(os.urandom(1)) * (100 * 2**20)\n"
        "        time.sleep(60)\ntime.sleep(10)"
    )
    assert (result.outcome, result.state_survived) == ("oom", False)
    assert "the peak was" in result.detail


@pytest.mark.parametrize("code", [
    "while True: print('x' * 100_000)",
    "while True: print('x' * 1000, flush=True)",
    "import os\nwhile True: os.write(1, b'x' * 1000)",
    "while True:\n    try: print('y' * 1000)\n    except Exception: pass",
])
async def test_endless_printing_is_ended_and_bounded(opened: Opener, code: str) -> None:
    session = await opened(output=200_000, cell_seconds=20)
    result = await session.execute(code)
    assert result.outcome == "output_limit"
    assert len(result.stdout) <= 200_000
    assert len(result.returned) < 50_100
    assert "characters left out" in result.returned


async def test_a_cell_that_swallows_interrupts_is_killed(opened: Opener) -> None:
    session = await opened(cell_seconds=0.5)
    result = await session.execute("import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass")
    assert (result.outcome, result.state_survived) == ("timeout", False)


@pytest.mark.parametrize("code", [
    "import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "import ctypes; ctypes.string_at(0)",
    "import subprocess; subprocess.run('kill -15 2', shell=True)",
])
async def test_ending_ones_own_kernel_is_the_policys_doing(opened: Opener, code: str) -> None:
    session = await opened()
    result = await session.execute(code)
    assert (result.outcome, result.state_survived) == ("kernel_dead", False)


def _left(processes: list[int], seconds: float = 2.0) -> list[int]:
    """Those that still run after a moment; a zombie has ended and waits for this machine's init."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(_runs(pid) for pid in processes):
        time.sleep(0.02)
    return [pid for pid in processes if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _below(pid: int) -> list[int]:
    """All processes started by `pid`."""
    below = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        below += [int(child), *_below(int(child))]
    return below


async def test_a_kernel_killed_from_outside_is_no_fault_of_the_policy(opened: Opener) -> None:
    session = await opened()
    running = asyncio.create_task(session.execute("import time\ntime.sleep(60)"))
    await asyncio.sleep(0.3)
    os.kill(_below(session.pid)[-1], 9)
    with pytest.raises(KernelKilledFromOutside):
        await running


async def test_a_launcher_killed_from_outside_takes_its_episode_with_it(opened: Opener) -> None:
    session = await opened()
    processes = _below(session.pid)
    assert len(processes) == 2
    running = asyncio.create_task(session.execute("import time\ntime.sleep(60)"))
    await asyncio.sleep(0.3)
    os.kill(session.pid, 9)
    with pytest.raises(KernelKilledFromOutside):
        await running
    assert not _left(processes)


async def test_nothing_is_left_after_an_episode(opened: Opener) -> None:
    session = await opened()
    await session.execute("import subprocess\n"
        "for _ in range(3): subprocess.Popen(['sleep', '600'], start_new_session=True)")
    processes = _below(session.pid)
    assert len(processes) >= 5
    descriptors = len(os.listdir("/proc/self/fd"))
    await session.close()
    assert not _left(processes)
    assert len(os.listdir("/proc/self/fd")) < descriptors


async def test_a_workspace_link_leads_nowhere_out(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "import os\nos.symlink('/etc/passwd', 'link')\nos.symlink('/', 'root')\nos.mkfifo('pipe')\nos.mkdir('d')\n"
        "os.symlink('../..', 'd/up')\nprint('ok')"
    )
    assert result.files == ()
    assert sorted((await session.state()).files) == ["file0.txt"]


async def test_equal_seeds_give_equal_hashes_and_random_numbers(opened: Opener) -> None:
    code = "import random\nimport numpy\nprint(hash('a'), random.random(), numpy.random.rand(), list({'a', 'b', 'c'}))"
    assert await printed(opened, code) == await printed(opened, code)


async def test_a_kernel_that_does_not_start_says_so(package: Path) -> None:
    with pytest.raises((StartFailed, NoIsolation)):
        await LocalHost().open(spec_of(package, start_seconds=0.01))


async def test_a_start_that_fails_leaves_nothing_behind(package: Path) -> None:
    before = set(_below(os.getpid())), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises((StartFailed, NoIsolation)):
            await LocalHost().open(spec_of(package, start_seconds=0.05))
        state = State(spec_of(package).state.image, {"../out.txt": b""})
        with pytest.raises(ValueError, match="no path inside"):
            await LocalHost().open(SessionSpec(package, (), state, 1, Limits()))
    assert (set(_below(os.getpid())), len(os.listdir("/proc/self/fd"))) == before


def test_tier_none_is_refused_without_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDBOX_ALLOW_NONE", raising=False)
    with pytest.raises(NoIsolation, match="SANDBOX_ALLOW_NONE=1"):
        checked_tier("none")
    with pytest.raises(NoIsolation, match="no isolation tier 'docker'"):
        checked_tier("docker")


async def test_tier_none_with_leave_runs_and_cleans_up(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_ALLOW_NONE", "1")
    session = await LocalHost(tier="none").open(spec_of(package))
    await session.execute("import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)")
    assert (await session.execute("print(open('file0.txt').read())")).returned == "file 0\n"
    processes = _below(session.pid)
    await session.close()
    assert not _left(processes)


@pytest.mark.skipif(os.geteuid() != 0, reason="as an ordinary user the other tests are this one")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason="needs an interpreter that any user can run")
def test_an_ordinary_user_gets_the_same_isolation_by_user_namespaces() -> None:
    code = (
        "import asyncio, os, sys\nos.setgroups([]); os.setresgid(*[12345] * 3); os.setresuid(*[12345] * 3)\n"
        "sys.path.insert(0, os.getcwd())\n"
        "from sandbox_app.kernels.isolation import Confined, Program\n"
        "async def main():\n"
        "    program = Program(('/bin/sh', '-c', 'id -u; ls /; grep CapEff /proc/self/status; touch made'), "
        "{'PATH': '/usr/bin:/bin'}, 2**28, 64, 2**20)\n"
        "    confined = await Confined.start(program)\n"
        "    print(await confined.ended, os.listdir(confined.workspace))\n"
        "    print(confined.log())\n"
        "    await confined.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([SYSTEM_PYTHON, "-c", code], capture_output=True, text=True, timeout=30)
    if "Permission denied" in done.stderr:
        pytest.skip("the project can't be read by another user here")
    assert "exited with code 0 ['made']" in done.stdout, done.stderr
    assert "1000" in done.stdout
    assert "CapEff:\t0000000000000000" in done.stdout


def test_the_filter_knows_this_architecture() -> None:
    assert privileges.filter_program("x86_64")
    assert privileges.filter_program("aarch64")
    assert privileges.filter_program("unheard-of") == b""


async def test_a_program_that_can_not_be_started_is_named() -> None:
    confined = await Confined.start(Program(("/no/such/program",), {}, 2**28, 8, 2**20))
    assert (await confined.ended).status == 127 << 8
    assert "No such file" in confined.log()
    await confined.close()
