"""The system calls that a traced script may use: what bash and the core utilities need, and no others.

A call that is not in the list answers "not implemented", for which libraries have a fallback. So there are no
sockets, no new namespaces, no mounts, no keys, no tracing of other processes, no shared memory that outlives
its owner. Nor is there memory that no process is charged for: neither shared mappings, whose pages stay when
a process lets go of them, nor huge pages, nor queues of file events. The filter binds the script and all that
it starts, and cannot be taken off again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

# Name, number on x86-64, number on the processors that share one table (aarch64, riscv64, loongarch64).
CALLS = """
    # Files and directories
    read 0 63, write 1 64, open 2 -, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, lseek 8 62,
    pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, preadv 295 69, pwritev 296 70,
    preadv2 327 286, pwritev2 328 287, access 21 -, pipe 22 -, pipe2 293 59, dup 32 23, dup2 33 -,
    dup3 292 24, fcntl 72 25, flock 73 32, fsync 74 82, fdatasync 75 83, truncate 76 45,
    ftruncate 77 46, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50,
    rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -, mkdirat 258 34, rmdir 84 -,
    creat 85 -, link 86 -, linkat 265 37, unlink 87 -, unlinkat 263 35, symlink 88 -, symlinkat 266 36,
    readlink 89 -, readlinkat 267 78, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452,
    chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54, umask 95 166, mknod 133 -, mknodat 259 33,
    utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, statfs 137 43, fstatfs 138 44,
    openat 257 56, openat2 437 437, newfstatat 262 79, statx 332 291, faccessat 269 48,
    faccessat2 439 439, close_range 436 436, copy_file_range 326 285, sendfile 40 71, fallocate 285 47,
    fadvise64 221 223, readahead 187 213, sync_file_range 277 84, getxattr 191 8, lgetxattr 192 9,
    fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13, setxattr 188 5,
    lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
    ioctl 16 29,
    # Waiting
    select 23 -, pselect6 270 72, poll 7 -, ppoll 271 73, nanosleep 35 101, clock_nanosleep 230 115,
    pause 34 -, alarm 37 -, getitimer 36 102, setitimer 38 103, timer_create 222 107,
    timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
    restart_syscall 219 128,
    # Memory
    mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214, mremap 25 216, msync 26 227,
    madvise 28 233,
    # Processes
    clone 56 220, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93,
    exit_group 231 94, wait4 61 260, waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131,
    getpid 39 172, getppid 110 173, gettid 186 178, getpgid 121 155, setpgid 109 154, getpgrp 111 -,
    getsid 124 156, setsid 112 157, set_tid_address 218 96, set_robust_list 273 99, rseq 334 293,
    futex 202 98, sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity 203 122,
    sched_getscheduler 145 120, sched_getparam 143 121, sched_get_priority_max 146 125,
    sched_get_priority_min 147 126, getpriority 140 141, setpriority 141 140, ioprio_get 252 31,
    ioprio_set 251 30, getrlimit 97 163, setrlimit 160 164, prlimit64 302 261, getrusage 98 165,
    times 100 153, prctl 157 167, arch_prctl 158 -, rt_sigaction 13 134, rt_sigprocmask 14 135,
    rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133,
    sigaltstack 131 132,
    # Who and when
    getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148,
    getresgid 120 150, getgroups 115 158, capget 125 90, uname 63 160, sysinfo 99 179,
    getrandom 318 278, getcpu 309 168, gettimeofday 96 169, time 201 -, clock_gettime 228 113,
    clock_getres 229 114,
"""
X86_64, GENERIC = 1, 2
# What the kernel calls a processor, and the column of its numbers.
PROCESSORS = {
    "x86_64": (0xC000003E, X86_64),
    "aarch64": (0xC00000B7, GENERIC),
    "riscv64": (0xC00000F3, GENERIC),
    "loongarch64": (0xC0000102, GENERIC),
}

# Classic BPF: load a word of the call, compare, return.
_LOAD, _EQUAL, _MASKED, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST_ARGUMENT, _SECOND_ARGUMENT, _FOURTH_ARGUMENT = 16, 24, 40
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_UNCOUNTED_MEMORY = 0x40001  # MAP_SHARED (MAP_SHARED_VALIDATE, too), MAP_HUGETLB
_ITSELF = 0  # the process id of prlimit64 that means the caller
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def numbers(machine: str) -> dict[str, int]:
    """The allowed calls of a processor with their numbers; KeyError for one that is not known."""
    column = PROCESSORS[machine][1]
    found = {}
    for line in CALLS.splitlines():
        if line.strip().startswith("#"):
            continue
        for item in line.split(","):
            words = item.split()
            if words and words[column] != "-":
                found[words[0]] = int(words[column])
    return found


def program(machine: str) -> bytes:
    """The filter of a processor."""
    allowed = numbers(machine)
    refuse = _ERROR | errno.EPERM
    code = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_EQUAL, PROCESSORS[machine][0], then=1),
        _instruction(_RETURN, _KILL_PROCESS),  # the calls of another processor have other numbers
        _instruction(_LOAD, _NUMBER),
    ]
    clone, ioctl = allowed["clone"], allowed["ioctl"]
    code += _unless(clone, _FIRST_ARGUMENT, [_instruction(_MASKED, _NEW_NAMESPACES, otherwise=1)], refuse)
    for request in _TYPE_INTO_TERMINAL:
        code += _unless(ioctl, _SECOND_ARGUMENT, [_instruction(_EQUAL, request, otherwise=1)], refuse)
    mmap, prlimit = allowed["mmap"], allowed["prlimit64"]
    code += _unless(mmap, _FOURTH_ARGUMENT, [_instruction(_MASKED, _UNCOUNTED_MEMORY, otherwise=1)], refuse)
    code += _unless(prlimit, _FIRST_ARGUMENT, [_instruction(_EQUAL, _ITSELF, then=1)], refuse)
    for number in sorted(allowed.values()):
        code += [_instruction(_EQUAL, number, otherwise=1), _instruction(_RETURN, _ALLOW)]
    code.append(_instruction(_RETURN, _ERROR | errno.ENOSYS))
    return b"".join(code)


def _unless(number: int, argument: int, test: Iterable[bytes], refuse: int) -> list[bytes]:
    """Refuse a call whose argument passes a test of one instruction; go on with the call's number."""
    body = [_instruction(_LOAD, argument), *test, _instruction(_RETURN, refuse), _instruction(_LOAD, _NUMBER)]
    return [_instruction(_EQUAL, number, otherwise=len(body)), *body]


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def filter_self(libc: ctypes.CDLL) -> None:
    """Bind this process and its children to the list; OSError where that cannot be."""
    machine = os.uname().machine
    if machine not in PROCESSORS or struct.calcsize("P") != 8:
        raise OSError(errno.ENOSYS, f"no list of system calls for the processor {machine}")
    code = program(machine)
    whole = _Program(len(code) // 8, code)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(whole), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
