"""What a hostile script makes ``tipc`` itself do: read, hold and compute no more than for an honest one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from as_someone import Someone

from tipc.errors import UsageError
from tipc.plan.trace import tracing
from tipc.plan.trace.read.calls import Call
from tipc.plan.trace.record import demand, watch
from tipc.plan.trace.record.sandbox import _absolute_programs
from tipc.plan.trace.record.snapshot import WHOLE

Make = Callable[..., Path]
REPO = Path("/repo")
needs_perl = pytest.mark.skipif(not Path("/usr/bin/perl").exists(), reason="there is no perl here")


def trace(config: Path) -> tracing.Plan:
    return tracing.trace_upstream(config, "lite", config.parents[2])


def test_the_copy_of_the_repository_cannot_be_rewritten_for_the_next_run(
    repository: Make, who: Someone
) -> None:
    config = repository("""\
for link in /proc/self/fd/*; do
    case $(readlink $link) in
        *memfd:std*|*memfd:calls*|*memfd:xtrace*) ;;
        *memfd*) python3 has.py $link ;;
    esac
done
python3 tools/fit.py
""")
    assert who.trace(config)["commands"] == [["python3", "tools/fit.py"]]


def test_a_device_named_as_a_training_is_not_read(repository: Make, who: Someone) -> None:
    # Whether a training picks a best model is looked up in its script: here, in an endless file.
    config = repository("""\
python3 /dev/zero --save_dir=out
[ -f out/best_model/model.pdparams ] && python3 tools/fit.py
""")
    assert ["python3", "tools/fit.py"] in who.trace(config)["commands"]


def test_a_file_outside_the_repository_is_not_read_to_make_the_plan(
    repository: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside.py").write_text("--do_eval\n")
    read: list[Path] = []

    def reading(path: Path, errors: str) -> str:
        read.append(path)
        return ""

    monkeypatch.setattr(demand, "read_bounded_text", reading)
    script = """\
python3 {}/outside.py --save_dir=out
python3 ../outside.py --save_dir=out2
python3 way.py --save_dir=out3
python3 tools/fit.py --save_dir=out4
for n in "" 2 3 4; do [ -f out$n/best_model/model.pdparams ] && python3 tools/freeze.py $n; done
"""
    config = repository(script.format(tmp_path))
    (config.parents[2] / "way.py").symlink_to(tmp_path / "outside.py")
    trace(config)
    assert set(read) == {config.parents[2] / "tools/fit.py"}


def test_forged_records_are_no_calls_and_break_nothing(repository: Make, who: Someone) -> None:
    records = (
        "call nan / - 0 python",
        "call 1e999 / - 0 python",
        "call 1 / - 99999999999999999999999999 python x",
        "call 1 / - -1 python x",
        "call 1 / - 0 python novariable",
        "call 1",
        "tee nan - - -",
        "tee",
    )
    lines = [rf"printf '%s\0' {record} $'\x1etipc\x1e' >&218" for record in records]
    config = repository("\n".join([*lines, "python3 tools/fit.py\n"]))
    assert who.trace(config)["commands"] == [["python3", "tools/fit.py"]]


def test_a_directory_deeper_than_python_can_recurse_breaks_nothing(repository: Make, who: Someone) -> None:
    deep = "/".join(["d"] * 1500)
    answer = who.trace(repository(f"mkdir -p {deep} && python3 tools/fit.py\n"))
    assert answer["commands"] == [["python3", "tools/fit.py"]]


def test_a_repository_of_many_small_files_has_room(repository: Make) -> None:
    config = repository("python3 tools/fit.py $(ls labels | wc -l)\n")
    labels = config.parents[2] / "labels"
    labels.mkdir()
    count = watch.MOST_NEW * 2  # of a page each: more than a script may write by itself
    for number in range(count):
        (labels / f"{number}.txt").write_text("1\n")
    assert trace(config).steps[0].argv == ("python3", "tools/fit.py", str(count))


@pytest.mark.parametrize("size", [WHOLE + 1, 1 << 40])  # of the first the sandbox would show only zeros
def test_a_script_that_is_too_large_is_refused(repository: Make, size: int) -> None:
    config = repository()
    with (config.parents[1] / "go.sh").open("r+b") as script:
        script.truncate(size)
    with pytest.raises(UsageError, match="larger than"):
        trace(config)


def test_a_huge_script_beside_the_traced_one_is_not_read(
    repository: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = repository("python3 tools/fit.py\n")
    with (config.parents[1] / "huge.sh").open("wb") as script:
        script.truncate(1 << 40)
    monkeypatch.setenv("TIPC_TRACE_SCRIPT", "test_tipc/go.sh")
    assert trace(config).steps[0].argv == ("python3", "tools/fit.py")


def test_calls_of_endless_words_are_no_plan(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "printf 'call\\0001\\0/\\0\\0001\\0python\\0' >&218\n"
    script += "head -c 20000000 /dev/zero | sed 's/\\x00/a\\x00/g' >&218\n"
    with pytest.raises(UsageError, match="words"):
        trace(repository(script + "printf '\\x1etipc\\x1e\\0' >&218\n"))


@needs_perl
def test_pipes_full_of_data_are_bounded(repository: Make, who: Someone) -> None:
    # Memory of the kernel's, which no process is charged for.
    config = repository("""\
count=$(perl -e 'my @kept; my $n = 0;
while ($n < 5000) { pipe(my $r, my $w) or last; push @kept, $r, $w; $n++ }
print $n')
python3 count.py "$count"
""")
    (command,) = who.trace(config)["commands"]
    assert 10 < int(command[2]) <= 128


def test_thousands_of_calls_and_of_lookups_are_matched_in_no_time() -> None:
    calls = [
        Call(float(number), ("python3", "a.py", f"--out=o{number}"), ".", {}, key=(str(number),))
        for number in range(4000)
    ]
    lookups = [
        demand.Lookup(5000.0 + number, f"/repo/o{number % 8000}/{number}", False) for number in range(20_000)
    ]
    began = time.process_time()
    leave = demand.to_leave(lookups, calls, REPO, lambda path: False)
    demand.spoiled(lookups, calls, [], leave)
    assert time.process_time() - began < 10
    assert len(leave) == demand.MOST_LEFT


def test_a_path_belongs_to_the_last_call_that_names_a_directory_above_it() -> None:
    calls = [
        Call(1.0, ("python3", "a.py", "--save=out", "--deep=out/x"), ".", {}),
        Call(2.0, ("python3", "b.py", "--save=out"), ".", {}),
        Call(3.0, ("python3", "c.py", "--save=other"), ".", {}),
        Call(4.0, ("python3", "d.py", "--save=out"), ".", {}),
    ]

    def leaving(path: str, when: float) -> set[demand.Leaving]:
        found = demand.to_leave([demand.Lookup(when, path, False)], calls, REPO, lambda path: False)
        return set(found)

    assert leaving("/repo/out/x/model", 1.5) == {demand.Leaving("a.py", "deep", "/model")}
    assert leaving("/repo/out/x/model", 3.5) == {demand.Leaving("b.py", "save", "/x/model")}
    assert leaving("/repo/elsewhere", 3.5) == {demand.Leaving("c.py", "", "/repo/elsewhere")}
    assert leaving("/repo/out/model", 0.5) == set()


@pytest.mark.parametrize(
    "text", ["/a" * 500_000, "err." * 200_000 + "/x", "/" * 1_000_000, "a/" * 500_000 + "python"]
)
def test_long_texts_are_searched_in_no_time(text: str) -> None:
    began = time.process_time()
    _absolute_programs(text)
    list(demand.lookups(f"+ 1.0 /repo\t[ -f {text[:200_000]} ]", REPO))
    demand.programs(f"+ 1.0 /repo\t{text} x", REPO, lambda path: False)
    assert time.process_time() - began < 10


def test_interpreters_are_found_by_absolute_path() -> None:
    text = (
        'x="/opt/py/bin/python3.7" /usr/bin/pip3, /usr/bin/pythonic a/b/python /x/../bin/python3 /python/lib'
    )
    assert _absolute_programs(text) == {"/opt/py/bin/python3.7", "/usr/bin/pip3", "/b/python"}
