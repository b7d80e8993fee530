"""The world that a traced script sees: a root in memory with a list of programs, libraries and little else.

It is made from outside in two steps, since an own /proc needs the first process of the pid namespace:
``build`` lays it out beside the machine's root, ``move_in`` leaves the machine's root for good. What comes
from the repository, or is named by it, is written only after that.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from contextlib import suppress

from tipc.plan.trace.record import namespaces as ns

BASE = "/.tipc"
OLD, NEW = "/old", "/new"
MEETING_PLACE = "/tmp"  # any directory: the two roots meet on it, unseen from outside

LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
DATA = ("/usr/share/awk", "/usr/share/perl", "/usr/share/perl5", "/usr/share/zoneinfo", "/usr/share/misc")
STORES = ("/nix/store", "/gnu/store")
SETTINGS = """
    ld.so.cache localtime timezone os-release lsb-release debian_version redhat-release centos-release issue
    magic
"""
USERS = f"""\
root:x:0:0:root:/root:/bin/bash
tipc:x:{ns.INSIDE}:{ns.INSIDE}:tipc:/root:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
GROUPS = f"root:x:0:\ntipc:x:{ns.INSIDE}:\nnogroup:x:65534:\n"
HOST = b"localhost"
DEVICES = ("null", "zero", "full", "random", "urandom")
WRITABLE = ("tmp", "root", "home", "var", "run")
ALIASES = ("bin", "sbin", "usr/sbin", "usr/local/bin", "usr/local/sbin")
GUARDED = ("sys", "sysrq-trigger", "irq", "bus", "fs")  # of /proc: settings of the machine
# Of /proc: what tells of the kernel and of the caller's keys, and nothing that a script needs.
HIDDEN = ("cmdline", "kallsyms", "kcore", "key-users", "keys", "modules", "sched_debug", "timer_list")
STUBBED = ("tee", "sleep")  # core utilities that a stub stands before


def build(core: Mapping[str, str], repo: str, size: int, names: int) -> None:
    """Lay out the new root; ``core`` are the programs and where this machine has them.

    The repository's directory is there at its own path, empty, with room for ``size`` bytes and ``names``.
    """
    ns.mount("none", "/", flags=ns.MS_REC | ns.MS_PRIVATE)
    ns.memory(MEETING_PLACE, "1m", 16)
    os.mkdir(MEETING_PLACE + OLD)
    os.mkdir(MEETING_PLACE + NEW)
    ns.pivot(MEETING_PLACE, MEETING_PLACE + OLD)
    os.chdir("/")
    ns.memory(NEW, "16m", 8192)
    for directory in ("usr/bin", "usr/local", "proc", "dev", "etc", f"{BASE}/core"):
        os.makedirs(f"{NEW}/{directory}")
    for directory in WRITABLE:
        ns.memory(f"{NEW}/{directory}", "32m", 4096)
    for alias in ALIASES:
        os.symlink("/usr/bin", f"{NEW}/{alias}")
    shown = [*_show_directories(), *_show_settings(), *_show_programs(core)]
    ns.make_read_only(shown, f"{OLD}/proc")
    _show_devices()
    ns.memory(NEW + repo, str(size), names)


def _show_directories() -> list[str]:
    shown = []
    for path in (*LIBRARIES, *DATA, *STORES):
        if os.path.islink(OLD + path):
            os.symlink(os.readlink(OLD + path), NEW + path)
        elif os.path.isdir(OLD + path):
            os.makedirs(NEW + path)
            ns.bind(OLD + path, NEW + path)
            shown.append(NEW + path)
    return shown


def _show_settings() -> list[str]:
    """Of /etc the few files that libraries need or that tell the system's name, and users of our own."""
    ns.write(f"{NEW}/etc/passwd", USERS)
    ns.write(f"{NEW}/etc/group", GROUPS)
    ns.write(f"{NEW}/etc/nsswitch.conf", "passwd: files\ngroup: files\n")
    ns.write(f"{NEW}/etc/hostname", "localhost\n")
    shown = []
    for name in SETTINGS.split():
        path = f"/etc/{name}"
        if os.path.islink(OLD + path):
            os.symlink(os.readlink(OLD + path), NEW + path)
        elif os.path.isfile(OLD + path):
            ns.write(NEW + path)
            ns.bind(OLD + path, NEW + path)
            shown.append(NEW + path)
    return shown


def _show_programs(core: Mapping[str, str]) -> list[str]:
    """Each program once, and a link to it where scripts expect it; of two, the link leads to a stub."""
    shown = []
    for name, path in core.items():
        place = f"{NEW}{BASE}/core/{name}"
        ns.write(place)
        ns.bind(OLD + path, place)
        shown.append(place)
        if name not in STUBBED:
            os.symlink(f"{BASE}/core/{name}", f"{NEW}/usr/bin/{name}")
    return shown


def _show_devices() -> None:
    for device in DEVICES:
        ns.write(f"{NEW}/dev/{device}")
        ns.mount(f"{OLD}/dev/{device}", f"{NEW}/dev/{device}", flags=ns.MS_BIND)
    for name, target in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        os.symlink(f"/proc/self/fd{target}", f"{NEW}/dev/{name}")


def move_in() -> None:
    """For the first process of the pid namespace: an own /proc, and the machine's root is gone."""
    ns.mount("proc", f"{NEW}/proc", "proc", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    for name in GUARDED:
        place = f"{NEW}/proc/{name}"
        if os.path.exists(place):
            ns.mount(place, place, flags=ns.MS_BIND | ns.MS_REC)
            ns.remount_read_only(place)
    for name in HIDDEN:
        place = f"{NEW}/proc/{name}"
        if os.path.exists(place):
            ns.mount(f"{NEW}/dev/null", place, flags=ns.MS_BIND)
    ns.unmount(OLD)
    os.chdir(NEW)
    ns.pivot(".", ".")
    ns.unmount(".")  # the other root, which now lies on this one
    os.chdir("/")
    with suppress(OSError):
        ns.libc().sethostname(HOST, ctypes.c_size_t(len(HOST)))


def seal() -> None:
    """From now on only what ``memory`` made can be written: who removes everything keeps the tools."""
    ns.remount_read_only("/")
