"""Further ways out of the sandbox, tried by a hostile script: what it inherits, what it can ask, how much."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from as_someone import Someone

Make = Callable[..., Path]
needs_perl = pytest.mark.skipif(not Path("/usr/bin/perl").exists(), reason="there is no perl here")
needs_x86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls are those of x86-64")
# Numbers of x86-64: each could be a way to the machine, or to another process.
CALLS = {
    "io_uring_setup": 425, "clone3": 435, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298,
    "open_by_handle_at": 304, "name_to_handle_at": 303, "pidfd_open": 434, "pidfd_getfd": 438,
    "process_vm_readv": 310, "process_vm_writev": 311, "fsopen": 430, "move_mount": 429, "open_tree": 428,
    "setns": 308, "chroot": 161, "pivot_root": 155, "init_module": 175, "kexec_load": 246, "add_key": 248,
    "socketpair": 53, "connect": 42, "shmget": 29, "msgget": 68, "semget": 64, "mq_open": 240, "swapon": 167,
    "settimeofday": 164, "sethostname": 170, "iopl": 172, "quotactl": 179, "fanotify_init": 300,
    "mount_setattr": 442, "landlock_create_ruleset": 444, "memfd_secret": 447, "process_madvise": 440,
}  # fmt: skip

ON_A_TERMINAL = """\
import fcntl, os, sys, termios
os.setsid()
terminal = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
os.dup2(terminal, 0)
os.set_inheritable(terminal, True)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def test_what_tipc_has_open_is_not_open_for_the_script(
    repository: Make, who: Someone, tmp_path: Path
) -> None:
    token = uuid.uuid4().hex
    secret = tmp_path / "secret"
    secret.write_text(token)
    secret.chmod(0o644)
    config = repository("""\
for number in $(ls /proc/self/fd) 9 77 200; do
    [ "$number" -gt 2 ] && { cat <&$number | head -c 100; } 2>/dev/null |
        while read -r line; do python3 leaked.py "$line"; done
done
ls -l /proc/$$/fd/ | while read -r line; do python3 fd.py "${line##* }"; done
python3 tools/fit.py
""")
    words = ["bash", "-c", f'exec 9<"{secret}" 77<"{tmp_path}" 200<"{secret}"; exec "$@"', "bash"]
    answer = who.trace(config, before=words)
    assert answer["commands"][-1] == ["python3", "tools/fit.py"]
    assert token not in str(answer)
    seen = {line[2] for line in answer["commands"] if line[1] == "fd.py"}
    assert not [name for name in seen if str(tmp_path) in name and "/repo" not in name]


def test_the_mounts_tell_nothing_about_the_user(repository: Make, who: Someone, tmp_path: Path) -> None:
    config = repository("""\
while read -r line; do python3 mount.py $line; done </proc/self/mountinfo
cat /proc/partitions /proc/diskstats /proc/net/unix /proc/net/tcp /proc/net/arp 2>/dev/null |
    while read -r line; do [ -n "$line" ] && python3 told.py $line; done
python3 tools/fit.py
""")
    commands = who.trace(config)["commands"]
    mounts = [words[2:] for words in commands if words[1] == "mount.py"]
    assert mounts
    # What lies below a mount point, as the machine names it: the fourth word, and the last but one.
    named = {name for words in mounts for name in (words[3], words[-2])}
    private = (str(tmp_path), "/root", "/home", "/var", "/work", "/mnt")
    assert not [name for name in named if name.startswith(private)]
    assert not [words for words in commands if words[1] == "told.py" and str(tmp_path) in " ".join(words)]


@needs_perl
@needs_x86
def test_no_call_leads_to_the_machine_or_to_another_process(repository: Make, who: Someone) -> None:
    lines = []
    for name, number in CALLS.items():
        # 38, "not implemented", or 1, "not permitted": anything else, and the kernel has looked at it.
        lines.append(
            f"perl -e '$! = 0; my $got = syscall({number}, 0, 0, 0, 0, 0); "
            f"exit(($got < 0 and ($! == 38 or $! == 1)) ? 1 : 0)' && python3 could.py {name}"
        )
    x32 = 0x40000000
    for name, number in {"getpid": 39, "socket": 41, "ptrace": 521, "execve": 520}.items():
        lines.append(
            f"perl -e 'exit(syscall({x32 + number}, 1, 1, 0, 0, 0) < 0 ? 1 : 0)' && python3 x32.py {name}"
        )
    lines.append("python3 tools/fit.py\n")
    assert who.trace(repository("\n".join(lines)))["commands"] == [["python3", "tools/fit.py"]]


@needs_perl
def test_a_terminal_cannot_be_typed_into(repository: Make, who: Someone) -> None:
    config = repository("""\
for number in 0 1 2; do [ -t $number ] && python3 terminal.py $number; done
[ -e /dev/tty ] && python3 terminal.py /dev/tty
perl -e 'my $c = "x"; exit((ioctl(STDIN, 0x5412, $c) or ioctl(STDERR, 0x5412, $c)) ? 0 : 1)' &&
    python3 typed.py
python3 tools/fit.py
""")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", ON_A_TERMINAL, os.ttyname(theirs)]
    try:
        answer = who.trace(config, before=words)
    finally:
        os.close(ours)
        os.close(theirs)
    assert answer["commands"] == [["python3", "tools/fit.py"]]


@needs_perl
@needs_x86
def test_no_memory_can_be_held_that_no_process_is_charged_for(repository: Make, who: Someone) -> None:
    # The pages of a shared mapping stay when a process lets go of them, and then belong to nobody.
    config = repository("""\
try() { perl -e 'open(my $zero, "+<", "/dev/zero") or exit 1; my ($flags, $file) = @ARGV;
$file = $file ? fileno($zero) : -1; exit(syscall(9, 0, 4096, 3, 0 + $flags, $file, 0) < 0 ? 1 : 0)' $1 $2; }
try 33 0 && python3 could.py shared
try 1 1 && python3 could.py zero
try 3 1 && python3 could.py validated
try $((0x40022)) 0 && python3 could.py huge
perl -e 'exit(syscall(294, 0) < 0 ? 1 : 0)' && python3 could.py events
try 34 0 && python3 private.py
""")
    assert who.trace(config)["commands"] == [["python3", "private.py"]]


@needs_perl
@needs_x86
def test_the_limits_of_the_first_process_cannot_be_changed(repository: Make, who: Someone) -> None:
    config = repository("""\
limit() { perl -e 'my $new = pack("QQ", 1, 1); exit(syscall(302, 0 + $ARGV[0], 0, $new, 0) < 0 ? 1 : 0)' $1; }
limit 1 && python3 could.py
limit 0 && python3 own.py
""")
    assert who.trace(config)["commands"] == [["python3", "own.py"]]


def test_neither_keys_nor_the_kernel_can_be_looked_at(repository: Make, who: Someone) -> None:
    config = repository("""\
for name in cmdline kallsyms kcore key-users keys modules sched_debug timer_list; do
    { head -c 1 /proc/$name | grep -q .; } 2>/dev/null && python3 could.py $name
done
grep -q processor /proc/cpuinfo && python3 tools/fit.py
""")
    assert who.trace(config)["commands"] == [["python3", "tools/fit.py"]]


def test_files_with_holes_and_their_copies_are_bounded(repository: Make, who: Someone) -> None:
    config = repository("""\
truncate -s 1T huge 2>/dev/null && python3 could.py truncate
dd if=/dev/null of=huge2 bs=1 seek=100G 2>/dev/null && python3 could.py dd
head -c 100M /dev/zero >huge3 2>/dev/null && python3 could.py write
for n in 1 2 3 4 5 6 7 8; do head -c 60M /dev/zero >many$n 2>/dev/null || python3 full.py $n; done
python3 tools/fit.py
""")
    commands = who.trace(config)["commands"]
    assert not [words for words in commands if words[1] == "could.py"]
    assert [words for words in commands if words[1] == "full.py"]
    assert commands[-1] == ["python3", "tools/fit.py"]


def test_a_fork_bomb_ends_and_leaves_nobody(repository: Make, who: Someone) -> None:
    token = f"bomb{uuid.uuid4().hex}"
    config = repository(f"""\
python3 tools/fit.py
bomb() {{ bomb {token} | bomb {token} & }}
bomb
exec -a {token} sleep 1000
""")
    answer = who.trace(config, environment={"TIPC_TRACE_SECONDS": "5"})
    assert "error" in answer or answer["commands"][0] == ["python3", "tools/fit.py"]
    left = [process for process in psutil.process_iter(["cmdline"]) if token in str(process.info["cmdline"])]
    assert left == []


def test_a_file_that_changes_while_the_repository_is_read_does_no_harm(
    repository: Make, who: Someone, tmp_path: Path
) -> None:
    token = uuid.uuid4().hex
    secret = tmp_path / "secret"
    secret.write_text(f"{token}\n")
    secret.chmod(0o600)
    config = repository('python3 told.py "$(cat data/* 2>/dev/null | head -c 4000)"\n')
    data = config.parents[2] / "data"
    data.mkdir()
    for number in range(50):
        (data / f"{number:02}").write_text("mine\n")
    swapping = (
        f"i=0; while [ -d '{data}' ]; do for f in '{data}'/*; do ln -sfn '{secret}' \"$f.new\"; "
        f'mv -fT "$f.new" "$f" 2>/dev/null; rm -f "$f"; echo mine >"$f"; done; done'
    )
    racer = subprocess.Popen(["sh", "-c", swapping], stderr=subprocess.DEVNULL)
    try:
        for number in range(3):
            config.write_text(config.read_text() + f"#{number}\n")  # another config: no kept trace
            assert token not in str(who.trace(config))
    finally:
        racer.kill()
        racer.wait()
