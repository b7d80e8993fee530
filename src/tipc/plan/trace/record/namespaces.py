"""What the kernel offers to shut a process in, by ctypes: namespaces, mounts, capabilities, limits."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
from collections.abc import Sequence
from functools import cache

# user, mount, pid, network, ipc, host name, control groups
CLONE = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
PR_SET_CHILD_SUBREAPER = 36
CAPABILITY_VERSION_3 = 0x20080522
PIVOT_ROOT = {"x86_64": 155}  # 41 on the processors with the common table

INSIDE = 1000  # the script's id in its own eyes: bash keeps PS4 only for those who are not root
NOBODY = 65534  # whom root's scripts run as

_OCTAL = re.compile(rb"\\([0-7]{3})")  # how blanks and the like are written in mountinfo

FILE_LIMIT = 64 * 1024 * 1024
MEMORY_OF_ONE = 1024 * 1024 * 1024  # addresses of one process; ``watch`` limits the memory of all together
PROCESSES = 256
DESCRIPTORS = 256  # with the processes: pipes are memory that nobody else counts


@cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def write(path: str, text: str = "") -> None:
    """A file with that text. (``pathlib`` would take as long to import as all of this takes to run.)"""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path: str) -> bytes:
    """What is in a file."""
    with open(path, "rb") as file:
        return file.read()


def unshare() -> None:
    """Move this process into namespaces of its own; nobody is mapped in them yet."""
    _must(libc().unshare(CLONE), "unshare")


def map_ids(pid: int) -> None:
    """Let the namespaces of ``pid``, which this process has started, know one id that is not root's.

    A user can only map the own id. Root maps that of nobody: no process in there is root out here.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        user, group = NOBODY, NOBODY
    try:
        write(f"/proc/{pid}/setgroups", "deny")
        write(f"/proc/{pid}/uid_map", f"{INSIDE} {user} 1")
        write(f"/proc/{pid}/gid_map", f"{INSIDE} {group} 1")
    except OSError as error:
        raise OSError(error.errno, f"mapping the id {user} into a user namespace: {error.strerror}") from None


def become_inside_user() -> None:
    """Be the one user that is mapped, still with every right in the own namespaces."""
    os.setresgid(INSIDE, INSIDE, INSIDE)
    os.setresuid(INSIDE, INSIDE, INSIDE)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2); raises OSError with what was tried."""
    encoded = [os.fsencode(word) for word in (source, target, kind)]
    _must(libc().mount(*encoded, flags, data.encode()), f"mount {kind or source} on {target}")


def memory(path: str, size: str, names: int) -> None:
    """A directory in memory that can be written, up to a size and a number of names."""
    os.makedirs(path, exist_ok=True)
    mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},nr_inodes={names},mode=755")


def bind(source: str, target: str) -> None:
    """Show ``source``, with whatever is mounted below it, at ``target``; see ``make_read_only``."""
    mount(source, target, flags=MS_BIND | MS_REC)


def make_read_only(targets: Sequence[str], proc: str) -> None:
    """Make every mount at or below the targets read-only: a bind mount brings those below it along.

    ``proc`` is where the process file system is now.
    """
    for point in _mount_points(proc):
        if any(point == target or point.startswith(f"{target}/") for target in targets):
            remount_read_only(point)


def remount_read_only(point: str) -> None:
    """Make one mount read-only, and deaf to devices and to programs that change the user."""
    flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV
    # A user namespace may not lift a flag that the mount already has.
    if os.statvfs(point).f_flag & os.ST_NOEXEC:
        flags |= MS_NOEXEC
    mount("none", point, flags=flags)


def _mount_points(proc: str) -> list[str]:
    lines = read(f"{proc}/self/mountinfo").splitlines()
    written = [line.split()[4] for line in lines]
    return [os.fsdecode(_OCTAL.sub(lambda match: bytes([int(match[1], 8)]), path)) for path in written]


def pivot(root: str, old: str) -> None:
    """Make ``root`` the root, and show the old one at ``old`` below it."""
    number = PIVOT_ROOT.get(os.uname().machine, 41)
    _must(libc().syscall(number, os.fsencode(root), os.fsencode(old)), f"pivot_root to {root}")


def unmount(path: str) -> None:
    """Take a mount away, with all below it."""
    _must(libc().umount2(os.fsencode(path), MNT_DETACH), f"umount {path}")


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends. A change of rights undoes this: call it last."""
    libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Be the parent of every descendant that loses its own."""
    libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def give_up_rights() -> None:
    """No capability is left, none can come back, and no other process can look into this one."""
    for capability in range(64):
        if libc().prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # the kernel has no more of them
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _must(libc().capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _must(libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _must(libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable")


def limit_self(seconds: float) -> None:
    """For the script and all it starts: few processes, no large files, no core dump, no new rights."""
    libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    limits = {
        resource.RLIMIT_FSIZE: FILE_LIMIT,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: _most_processes(),
        resource.RLIMIT_AS: MEMORY_OF_ONE,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: DESCRIPTORS,
        resource.RLIMIT_CPU: int(seconds) + 1,
    }
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(limit, (most, most))


def _most_processes() -> int:
    """Since Linux 5.14 processes are counted for each user namespace; before, all those of the user are."""
    release = os.uname().release.split(".")
    if (int(release[0]), int(release[1].split("-")[0])) >= (5, 14):
        return PROCESSES
    existing = read("/proc/loadavg").split()[3].partition(b"/")[2]
    return PROCESSES + int(existing)
