"""A hostile script finds no way out of its sandbox, whoever traces it: each test tries one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from as_someone import Someone

from tipc.plan.trace.record.world import SETTINGS

Make = Callable[..., Path]
needs_perl = pytest.mark.skipif(not Path("/usr/bin/perl").exists(), reason="there is no perl here")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the repository that everybody may write."""
    folder = tmp_path / "outside"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture
def secret(outside: Path) -> Iterator[str]:
    """What stands in a file beside the repository, which everybody may read."""
    token = uuid.uuid4().hex
    (outside / "secret").write_text(f"{token}\n", encoding="utf-8")
    (outside / "secret").chmod(0o644)
    return token


def test_a_path_in_a_comment_makes_nothing_outside(repository: Make, who: Someone, outside: Path) -> None:
    up = "/.." * 30
    config = repository(f"""\
# {up}{outside}/a/python3 and {outside}/b/python3
{outside}/c/python3 train.py
{up}{outside}/d/python3.9 eval.py
""")
    config.write_text(
        f"name:toy\npython:{up}{outside}/e/python3\nother:{outside}/f/python3\n", encoding="utf-8"
    )
    answer = who.trace(config)
    assert [f"{outside}/c/python3", "train.py"] in answer["commands"]
    assert list(outside.iterdir()) == []


def test_a_link_of_the_repository_leads_nothing_outside(
    repository: Make, who: Someone, outside: Path
) -> None:
    config = repository("""\
python3 tools/fit.py --save_dir=way/out
./way/tool/build --fast
way/out/python3 x.py
[ -f way/out/latest ] || exit 3
mkdir -p way/made; echo x >way/file
python3 tools/freeze.py
""")
    (config.parents[2] / "way").symlink_to(outside)
    who.trace(config)
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_a_result_leaks_no_file(
    repository: Make, who: Someone, outside: Path, secret: str
) -> None:
    config = repository(f"""\
for place in /.tipc/out /.tipc /tmp /.tipc/bin; do
    for name in exit calls result leave xtrace; do ln -sf {outside}/secret $place/$name; done
done 2>/dev/null
python3 tools/fit.py
exit 7
""")
    answer = who.trace(config)
    assert ["python3", "tools/fit.py"] in answer["commands"]
    assert any("exit code 7" in note for note in answer["notes"])
    assert secret not in str(answer)


def test_settings_of_the_machine_cannot_be_written(repository: Make, who: Someone) -> None:
    # What is written is what is there already: a hole would do no harm here, and be seen.
    config = repository("""\
for name in kernel/core_pattern kernel/hostname vm/swappiness kernel/panic net/ipv4/ip_forward; do
    file=/proc/sys/$name
    value=$(cat $file 2>/dev/null) || value=1
    { echo "$value" >$file; } 2>/dev/null && python3 wrote.py $file
done
{ echo h >/proc/sysrq-trigger; } 2>/dev/null && python3 wrote.py sysrq
python3 tools/fit.py
""")
    assert who.trace(config)["commands"] == [["python3", "tools/fit.py"]]


def test_what_is_mounted_below_a_library_cannot_be_written(repository: Make, who: Someone) -> None:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root can mount something below /usr/lib to try this")
    folder = next(
        path for path in sorted(Path("/usr/lib").iterdir()) if path.is_dir() and not path.is_symlink()
    )
    config = repository(f"""\
{{ echo x >{folder}/planted; }} 2>/dev/null && python3 wrote.py
{{ echo x >/usr/lib/planted; }} 2>/dev/null && python3 wrote.py
{{ echo x >/etc/passwd; }} 2>/dev/null && python3 wrote.py
[ -e {folder}/mounted ] && python3 tools/fit.py
""")
    mounting = f'mount -t tmpfs -o mode=777 tmpfs {folder} && touch {folder}/mounted && exec "$@"'
    answer = who.trace(config, before=["unshare", "--mount", "sh", "-c", mounting, "sh"])
    assert answer["commands"] == [["python3", "tools/fit.py"]]
    assert not (folder / "planted").exists()


def test_no_file_of_the_user_or_of_the_system_can_be_read(
    repository: Make, who: Someone, outside: Path, secret: str
) -> None:
    config = repository(f"""\
cat {outside}/secret ../outside/secret /etc/shadow /etc/gshadow /etc/sudoers /etc/hosts /etc/machine-id \\
    /root/.bashrc /root/.ssh/* /home/*/* /proc/1/environ /proc/1/root/etc/shadow /proc/1/cwd/etc/shadow \\
    /proc/kcore /sys/class/dmi/id/product_uuid /var/log/* /run/* "$TIPC_TEST_SECRET" 2>/dev/null |
    while read -r line; do python3 leaked.py "$line"; done
[ -n "$TIPC_TEST_SECRET" ] && python3 leaked.py environment
for file in /etc/*; do python3 etc.py $file; done
python3 tools/fit.py $(ls -A /root /home)
""")
    answer = who.trace(config, environment={"TIPC_TEST_SECRET": "hunter2"})
    assert not [words for words in answer["commands"] if "leaked.py" in words]
    assert answer["commands"][-1][:2] == ["python3", "tools/fit.py"]
    etc = {Path(words[2]).name for words in answer["commands"] if words[1] == "etc.py"}
    assert etc <= {"passwd", "group", "nsswitch.conf", "hostname", *SETTINGS.split()}
    assert secret not in str(answer)


@needs_perl
def test_memory_is_bounded_for_all_processes_together(repository: Make, who: Someone) -> None:
    # Each of them has less than one process may have.
    config = repository("""\
for n in 1 2 3 4 5 6; do perl -e '$size = 300_000_000; $all = "x" x $size; sleep 60' & done
wait
python3 tools/fit.py
""")
    assert "takes more memory" in who.trace(config)["error"]


def test_one_process_cannot_have_it_all_either(repository: Make, who: Someone) -> None:
    config = repository("tail -n 1 /dev/zero >/dev/null 2>&1 || python3 failed.py\n")
    answer = who.trace(config, environment={"TIPC_TRACE_SECONDS": "50"})
    assert answer.get("commands") == [["python3", "failed.py"]] or "takes more memory" in answer["error"]


@needs_perl
def test_processes_are_bounded(repository: Make, who: Someone) -> None:
    config = repository("""\
count=$(perl -e 'my $n = 0; my @all;
while ($n < 3000) { my $p = fork(); last unless defined $p; if (!$p) { sleep 60; exit } push @all, $p; $n++ }
kill "KILL", @all; print $n')
python3 count.py "$count"
""")
    (command,) = who.trace(config)["commands"]
    assert 50 < int(command[2]) <= 256


def test_the_script_is_nobody_and_can_do_nothing_special(repository: Make, who: Someone) -> None:
    config = repository("""\
while read -r name value; do
    case $name in Cap*|NoNewPrivs:|Seccomp:) python3 status.py $name $value ;; esac
done </proc/self/status
read -r inside outside count </proc/self/uid_map
python3 map.py $inside $outside $count
for file in /dev/*; do python3 dev.py $file; done
while read -r _ point kind flags _; do
    case $kind,$flags in proc,*|tmpfs,*|devtmpfs,*) ;; *,ro*) ;; *) python3 writable.py $point ;; esac
done </proc/mounts
""")
    commands = who.trace(config)["commands"]
    status = {words[2]: words[3] for words in commands if words[1] == "status.py"}
    assert all(set(status[f"Cap{kind}:"]) == {"0"} for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"))
    assert status["NoNewPrivs:"] == "1"
    assert status["Seccomp:"] == "2"
    (ids,) = [words[2:] for words in commands if words[1] == "map.py"]
    assert ids[0] == "1000"
    assert ids[2] == "1"
    devices = {Path(words[2]).name for words in commands if words[1] == "dev.py"}
    assert devices == {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr"}
    assert not [words for words in commands if words[1] == "writable.py"]


@needs_perl
def test_no_new_world_and_no_socket_can_be_made(repository: Make, who: Someone) -> None:
    calls = {"unshare": 272, "socket": 41, "mount": 165, "ptrace": 101, "keyctl": 250, "memfd_create": 319}
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of these calls are those of x86-64")
    tries = "\n".join(
        f"perl -e 'exit(syscall({number}, 0x10000000, 0, 0, 0, 0) < 0 ? 1 : 0)' && python3 could.py {name}"
        for name, number in calls.items()
    )
    new_user = "perl -e 'exit(syscall(56, 0x10000011, 0, 0, 0, 0) < 0 ? 1 : 0)' && python3 could.py clone\n"
    plain = "perl -e 'exit(syscall(39) < 0 ? 1 : 0)' && python3 could.py getpid\n"
    answer = who.trace(repository(f"{tries}\n{new_user}{plain}"))
    assert answer["commands"] == [["python3", "could.py", "getpid"]]


def test_the_first_process_cannot_be_ended_or_looked_into(repository: Make, who: Someone) -> None:
    config = repository("""\
for signal in INT TERM HUP KILL QUIT USR1 ALRM; do kill -$signal 1 2>/dev/null; done
for name in environ mem maps fd/0 root cwd exe; do
    { head -c 1 /proc/1/$name || ls /proc/1/$name/; } >/dev/null 2>&1 && python3 could.py $name
done
python3 tools/fit.py
""")
    assert who.trace(config)["commands"] == [["python3", "tools/fit.py"]]


def test_a_script_that_leads_out_of_the_repository_is_not_traced(
    repository: Make, who: Someone, outside: Path
) -> None:
    config = repository(name="test_tipc/go.sh")
    (outside / "run.sh").write_text("python3 outside.py\n", encoding="utf-8")
    (config.parents[1] / "go.sh").unlink()
    (config.parents[1] / "go.sh").symlink_to(outside / "run.sh")
    assert "leads out of the repository" in who.trace(config)["error"]


def test_a_home_is_no_repository(repository: Make, who: Someone) -> None:
    config = repository()
    answer = who.trace(config, environment={"HOME": str(config.parents[2] / "somebody")})
    assert "somebody's home" in answer["error"]


# Starts a command in a user namespace that has every id, as the machine has, and in which no other one can be
# made: the limit holds for it and all below it, and for nobody else.
FORBIDDING = """
import ctypes, os, sys
CLONE_NEWUSER = 0x10000000
done, told = os.pipe()
mapped, go = os.pipe()
child = os.fork()
if child == 0:
    os.close(go)
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
        os._exit(99)
    os.write(told, b"x")
    os.read(mapped, 1)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(told)
if os.read(done, 1):
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w") as file:
            file.write("0 0 65536")
os.write(go, b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_machine_without_user_namespaces_refuses_with_the_reason(repository: Make, who: Someone) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can forbid user namespaces to try this")
    words = [sys.executable, "-I", "-S", "-c", FORBIDDING]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no user namespace can be made here to forbid others in")
    config = repository("touch ran\npython3 tools/fit.py\n")
    answer = who.trace(config, before=words)
    assert "cannot be isolated on this machine (" in answer["error"]
    assert "TIPC_TRACE_UNISOLATED=1" in answer["error"]
    assert not list(config.parents[2].rglob("ran"))
