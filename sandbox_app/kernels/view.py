"""View: the file system that an episode sees. Standard library only (it runs between fork and exec).

    /usr /bin /lib …        of the host, read-only        the interpreter and the venv   read-only, at their own paths
    /etc                    six small files made here     /dev   null full random urandom
    /proc                   of its own pid namespace      /tmp   private, 32 MB
    /workspace              private, sized: the quota     /run/kernel   sockets of the kernel, 8 MB

Nothing else exists in it: no home, no data folder, no repository, no other episode. Everything writable is tmpfs, so
that a dead episode leaves nothing on a disk. The host reaches /workspace and /run/kernel through descriptors of the two
folders, never through a path.

Not covered: the host's own paths of interpreter and venv can be read in /proc/self/mountinfo.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path

from sandbox_app.kernels.privileges import check, libc

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
_KEPT = 8 | 1024 | 2048 | (1 << 21)  # noexec, noatime, nodiratime, relatime: may be locked, so they are kept
WORKSPACE, RUN, SCRATCH = "/workspace", "/run/kernel", "/tmp"  # noqa: S108 - a tmpfs of the episode's own
ROOT = SCRATCH  # of the machine: where the new root is put together, inside the private mount namespace
_DEVICES = ("null", "full", "random", "urandom")  # a shared mapping of zero is memory that nothing counts
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    result = libc.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode() or None)
    check(result, f"mount {kind or 'bind'} {target}")


def build(read_only: Sequence[str], uid: int, workspace: int) -> None:
    """Make the view and step into it. `read_only` are host folders shown at their own paths; `uid` owns the rest."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    system = [name for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib32") if os.path.exists(name)]
    links = {name: os.readlink(name) for name in system if os.path.islink(name)}
    folders = ["/usr", *(name for name in system if name not in links), *read_only]
    files = [*(f"/dev/{name}" for name in _DEVICES), "/etc/ld.so.cache"]
    opened = {path: os.open(path, os.O_PATH) for path in [*folders, *files] if os.path.exists(path)}
    mount("tmpfs", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for name, target in links.items():
        os.symlink(target, ROOT + name)
    own = f"mode=700,uid={uid},gid={uid}"
    for path, size, mode in ((WORKSPACE, workspace, own), (RUN, 8 << 20, own), (SCRATCH, 32 << 20, "mode=1777")):
        os.makedirs(ROOT + path, exist_ok=True)
        mount("tmpfs", ROOT + path, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},nr_inodes=20000,{mode}")
    for path, source in opened.items():  # after the tmpfs: a venv may itself lie below /tmp
        _show(source, path)
        os.close(source)
    _etc(uid)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{ROOT}/dev/{name}")
    os.makedirs(f"{ROOT}/proc")
    mount("proc", f"{ROOT}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chdir(ROOT)
    check(libc.pivot_root(b".", b"."), "pivot_root")
    check(libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir("/")
    mount("none", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _show(source: int, path: str) -> None:
    """Bind an opened host path into the new root, read-only; devices stay devices."""
    target = Path(ROOT + path)
    if os.path.isdir(f"/proc/self/fd/{source}"):
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(f"/proc/self/fd/{source}", str(target), "", MS_BIND)
    kept = os.statvfs(target).f_flag & _KEPT
    device = 0 if path.startswith("/dev/") else MS_NODEV
    mount("none", str(target), "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | device | kept)


def _etc(uid: int) -> None:
    folder = Path(ROOT, "etc")
    folder.mkdir(exist_ok=True)
    (folder / "passwd").write_text(f"root:x:0:0::/:/bin/sh\nkernel:x:{uid}:{uid}::{SCRATCH}:/bin/sh\n")
    (folder / "group").write_text(f"root:x:0:\nkernel:x:{uid}:\n")
    (folder / "hosts").write_text("127.0.0.1 localhost sandbox\n")
    (folder / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")


def loopback() -> None:
    """Name the machine and bring its only network interface up."""
    socket.sethostname("sandbox")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(probe, _SIOCGIFFLAGS, request))[0]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))
