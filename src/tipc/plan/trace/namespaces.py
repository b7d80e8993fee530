"""Linux namespaces by ctypes: a world with no network, no other processes, and a root of its own."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

CLONE = (
    0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
)  # user, mount, pid, net, ipc, uts
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
INSIDE = 1000  # nobody in particular: bash keeps PS4 only for those who are not root
FILE_LIMIT = 64 * 1024 * 1024
COPY_LIMIT = "768m"

LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
READ_ONLY = (
    *LIBRARIES,
    "/usr/share/awk",
    "/usr/share/perl",
    "/usr/share/perl5",
    "/usr/share/zoneinfo",
    "/nix",
    "/gnu",
    "/etc",
)
DEVICES = ("null", "zero", "full", "random", "urandom")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2); raises OSError with what was tried."""
    result = _libc().mount(source.encode(), target.encode(), kind.encode(), flags, data.encode())
    _must(result, f"mount {kind or source} on {target}")


def unshare_all() -> None:
    """Move this process into namespaces of its own, as an unprivileged user of them."""
    user, group = os.geteuid(), os.getegid()
    _must(_libc().unshare(CLONE), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1", encoding="ascii")
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


def make_root(root: str) -> None:
    """A new root in memory at ``root``: libraries and /etc to read, a few devices, /tmp; nothing else."""
    memory(root, "16m")
    for directory in ("usr/bin", "usr/local", "proc", "dev"):
        os.makedirs(f"{root}/{directory}")
    for directory in ("tmp", "root", "home", "var", "run"):
        memory(f"{root}/{directory}", "64m")
    for path in READ_ONLY:
        if os.path.islink(path):
            os.symlink(os.readlink(path), root + path)
        elif os.path.isdir(path):
            os.makedirs(root + path, exist_ok=True)
            bind(path, root + path)
    for alias in ("bin", "sbin", "usr/sbin", "usr/local/bin", "usr/local/sbin"):
        os.symlink("/usr/bin", f"{root}/{alias}")
    for device in DEVICES:
        Path(f"{root}/dev/{device}").touch()
        mount(f"/dev/{device}", f"{root}/dev/{device}", flags=MS_BIND)
    for name, target in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        os.symlink(f"/proc/self/fd{target}", f"{root}/dev/{name}")


def memory(path: str, size: str) -> None:
    """A directory that can be written, in memory; it goes with the namespace."""
    os.makedirs(path, exist_ok=True)
    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},mode=755")


def seal(root: str) -> None:
    """From now on only what ``memory`` made can be written: who removes everything keeps the tools."""
    mount("none", root, flags=MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def bind(source: str, target: str) -> None:
    """Show ``source`` at ``target``, read-only."""
    mount(source, target, flags=MS_BIND | MS_REC)
    flags = MS_BIND | MS_REMOUNT | MS_RDONLY
    # A user namespace may not lift the flags that the mount already has.
    status = os.statvfs(target)
    for own, kernel in ((os.ST_NOSUID, MS_NOSUID), (os.ST_NODEV, MS_NODEV), (os.ST_NOEXEC, MS_NOEXEC)):
        flags |= kernel if status.f_flag & own else 0
    mount("none", target, flags=flags)


def enter(root: str) -> None:
    """For the first process of the new pid namespace: make ``root`` the root, with a /proc of its own."""
    _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(OSError):  # a container that masks parts of /proc forbids it; only log files go unseen
        mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chroot(root)


def limit_self() -> None:
    """For the script and all it starts: no new privileges, no large files, no core, few processes."""
    _libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (1024, 1024))
