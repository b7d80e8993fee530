"""``tipc run --paddle``: releases are resolved, environments are kept, and one table says what came out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from run_plans import plan_of, step
from toy_repo import make

from tipc.cli.main import main
from tipc.cli.releases import labelled, without
from tipc.cli.releases import main as releases_main
from tipc.cli.run import parser
from tipc.errors import INTERRUPTED, EnvironmentProblem, UsageError
from tipc.plan.target.output import with_output
from tipc.run import paddle_releases as releases

VERSIONS = ("3.3.1", "3.3.0", "3.2.2", "3.1.1", "3.1.0", "2.6.2")


def test_a_short_release_is_the_newest_of_its_series() -> None:
    assert releases.resolve(["3.1", "3.3.0", "3"], VERSIONS) == ["3.1.1", "3.3.0", "3.3.1"]


def test_an_unknown_release_is_named_with_those_that_are_there() -> None:
    with pytest.raises(UsageError) as caught:
        releases.resolve(["3.4"], VERSIONS)
    assert "no release 3.4" in str(caught.value)
    assert "3.3.1" in caught.value.remedy


@pytest.mark.parametrize("text", ["", "latest", "3.1,x", "3.1.1.1", ">=3"])
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        releases.parse(text)


def test_a_list_of_releases_may_have_blanks() -> None:
    assert releases.parse(" 3.1, 3.2 ") == ["3.1", "3.2"]


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every program that would be started; each ends well and makes what it would make."""
    started: list[list[str]] = []

    def run(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        started.append(argv)
        if "venv" in argv:
            python = Path(argv[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.symlink_to(sys.executable)
        text = f"Available versions: {', '.join(VERSIONS)}\n" if "versions" in argv else ""
        return subprocess.CompletedProcess(argv, 0, text, "")

    monkeypatch.setattr(releases, "_run", run)
    return started


def test_an_environment_is_made_once(tmp_path: Path, programs: list[list[str]]) -> None:
    first = releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    made = len(programs)
    assert releases.make("3.1.1", [tmp_path], tmp_path / "envs") == first
    assert len(programs) == made
    assert any("paddlepaddle==3.1.1" in argv for argv in programs)


@pytest.mark.parametrize(("version", "pinned"), [("2.6.2", True), ("3.3.1", True), ("3.4.0", False)])
def test_a_release_gets_the_protobuf_that_it_can_use(
    tmp_path: Path, programs: list[list[str]], version: str, pinned: bool
) -> None:
    (tmp_path / "requirements.txt").write_text("visualdl\n")
    releases.make(version, [tmp_path], tmp_path / "envs")
    asked = [argv for argv in programs if f"paddlepaddle=={version}" in argv]
    assert len(asked) == 2
    assert all(("protobuf<7" in argv) == pinned for argv in asked)


@pytest.mark.parametrize("theirs", [False, True])
def test_inference_scripts_find_the_benchmark_log_in_an_environment(
    tmp_path: Path, programs: list[list[str]], monkeypatch: pytest.MonkeyPatch, theirs: bool
) -> None:
    plain = releases._run

    def run(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = plain(argv, seconds, cwd)
        if "venv" in argv:
            (Path(argv[-1]) / "lib/python3.11/site-packages").mkdir(parents=True)
        if "-c" in argv and not theirs:
            return subprocess.CompletedProcess(argv, 1, "", "")
        return done

    monkeypatch.setattr(releases, "_run", run)
    release = releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    found = release.folder / "lib/python3.11/site-packages/auto_log/autolog.py"
    assert found.exists() != theirs  # one that the requirements bring is left alone
    assert ("psutil" in programs[-1]) != theirs


def test_other_requirements_are_another_environment(tmp_path: Path, programs: list[list[str]]) -> None:
    first = releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    (tmp_path / "requirements.txt").write_text("tqdm\n")
    second = releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    assert first.folder != second.folder
    wanted = ["paddlepaddle==3.1.1", "protobuf<7"]
    assert programs[-3][-4:] == ["-r", "requirements.txt", *wanted]
    assert programs[-2][-2:] == wanted


def test_requirements_that_name_a_folder_belong_to_their_checkout(tmp_path: Path) -> None:
    keys = {}
    for text in ("tqdm\n", "-e ../lib\n", ".\n"):
        for name in ("one", "two"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "requirements.txt").write_text(text)
            keys[text, name] = releases.planned("3.1.1", [tmp_path / name], tmp_path).folder
    assert keys["tqdm\n", "one"] == keys["tqdm\n", "two"]
    assert keys["-e ../lib\n", "one"] != keys["-e ../lib\n", "two"]
    assert keys[".\n", "one"] != keys[".\n", "two"]


def test_what_requirements_include_is_part_of_them(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r more.txt\n")
    (tmp_path / "more.txt").write_text("tqdm\n-r requirements.txt\n")  # round and round
    first = releases.planned("3.1.1", [tmp_path], tmp_path)
    (tmp_path / "more.txt").write_text("scipy\n")
    assert releases.planned("3.1.1", [tmp_path], tmp_path) != first


def test_an_environment_holds_what_all_repositories_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    wanted = ["paddlepaddle==3.2.2", "protobuf<7"]

    def run(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        if "-c" in argv:  # whether the benchmark log is there
            return subprocess.CompletedProcess(argv, 0, "", "")
        seen.append((argv[argv.index("install") + 2 :] if "install" in argv else ["venv"], cwd))
        if "venv" in argv:
            Path(argv[-1]).mkdir()
        # The second repository pins another release: pip refuses the two together.
        refused = cwd == two and argv[-3:] == ["requirements.txt", *wanted]
        return subprocess.CompletedProcess(argv, int(refused), "", "")

    monkeypatch.setattr(releases, "_run", run)
    monkeypatch.setattr(releases.shutil, "which", lambda name: None)
    one, two = tmp_path / "one", tmp_path / "two"
    for repo in (one, two):
        repo.mkdir()
        (repo / "requirements.txt").write_text("tqdm\n")
    releases.make("3.2.2", [one, two], tmp_path / "envs")
    assert seen == [
        (["venv"], one),
        (["-r", "requirements.txt", *wanted], one),
        (["-r", "requirements.txt", *wanted], two),
        (["-r", "requirements.txt"], two),
        (wanted, one),
    ]


def test_an_environment_that_another_call_is_making_is_left_alone(
    tmp_path: Path, programs: list[list[str]]
) -> None:
    held = releases.planned("3.1.1", [tmp_path], tmp_path)
    held.folder.mkdir()
    lock = tmp_path / f".{held.folder.name}.lock"
    code = "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX)"
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}; print('held', flush=True); sys.stdin.read()", str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match="another tipc makes this environment"):
            releases.make("3.1.1", [tmp_path], tmp_path)
        other.stdin.close()
    assert held.folder.exists()
    assert not programs


def test_what_is_kept_needs_no_index(tmp_path: Path, programs: list[list[str]]) -> None:
    assert releases.kept(["3.1"], [tmp_path], tmp_path / "envs") is None
    releases.make("3.1.0", [tmp_path], tmp_path / "envs")
    made = releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    assert releases.kept(["3.1"], [tmp_path], tmp_path / "envs") == [made]
    assert releases.kept(["3.1", "3.1.1"], [tmp_path], tmp_path / "envs") == [made], "each runs once"
    assert releases.kept(["3.1", "3.2"], [tmp_path], tmp_path / "envs") is None


def test_an_environment_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 1, "", "error: no wheel for this platform\n")

    monkeypatch.setattr(releases, "_run", refuse)
    with pytest.raises(EnvironmentProblem, match="no wheel for this platform"):
        releases.make("3.1.1", [tmp_path], tmp_path / "envs")
    assert not list((tmp_path / "envs").glob("paddle-*"))


def go_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the index of packages cannot be asked."""

    def offline(argv: list[str], seconds: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 1, "", "ERROR: no connection\n")

    monkeypatch.setattr(releases, "_run", offline)
    monkeypatch.setattr(releases, "_pip", lambda: ["pip"])


def test_without_an_index_there_is_one_clear_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_offline(monkeypatch)
    assert main(["env", "--paddle"]) == 3
    assert "the releases of paddlepaddle cannot be listed: ERROR: no connection" in capsys.readouterr().err


def test_without_an_index_it_is_said_which_releases_are_kept_and_which_are_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    releases.make("3.1.1", [tmp_path], tmp_path / "envs")

    go_offline(monkeypatch)
    call = ["run", str(config), "--envs", "envs", "--paddle"]
    assert main([*call, "3.1,3.2,3.3"]) == 3
    told = capsys.readouterr().err
    assert "the releases of paddlepaddle cannot be listed: ERROR: no connection" in told
    assert f"3.2,3.3 must be fetched, 3.1 is kept in {tmp_path / 'envs'}: " in told
    assert main([*call, "3.2"]) == 3
    assert (
        f"connect to the network: nothing for 3.2 is kept in {tmp_path / 'envs'}" in capsys.readouterr().err
    )


def test_the_own_options_do_not_reach_the_runs() -> None:
    argv = ["a.txt", "--paddle", "3.1,3.2", "--envs=/x", "--cold", "-k", "infer"]
    assert without(argv) == ["a.txt", "--cold", "-k", "infer"]


def test_own_options_that_are_shortened_do_not_reach_the_runs_either() -> None:
    assert without(["a.txt", "--padd", "3.1", "--env=/x", "--executor", "ray"]) == [
        "a.txt",
        "--executor",
        "ray",
    ]


def test_an_output_folder_of_its_own_moves_only_what_the_plan_writes(tmp_path: Path) -> None:
    own = "./test_tipc/output/toy/lite"
    one = step(
        "a",
        argv=("python3", "train.py", f"--out={own}/x", "--start=test_tipc/output/toy_weights/a"),
        produces=(f"{own}/x/latest",),
    )
    plan = plan_of(tmp_path, one, results_log=f"{own}/results_python.log")
    moved = with_output(plan, "paddle-3.1.1")
    assert moved.steps[0].argv[2:] == (
        "--out=./test_tipc/output/paddle-3.1.1/toy/lite/x",
        "--start=test_tipc/output/toy_weights/a",
    )
    assert moved.steps[0].produces == ("./test_tipc/output/paddle-3.1.1/toy/lite/x/latest",)
    assert moved.results_log.startswith("./test_tipc/output/paddle-3.1.1/toy")


def test_two_releases_run_side_by_side_and_end_in_one_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    repo = tmp_path / "repo"
    config = make(repo)
    monkeypatch.chdir(repo)
    code = main(["run", str(config), "--paddle", "3.1,3.2", "--no-prepare", "--no-checks", "--cold"])
    text = capsys.readouterr().out
    assert code == 0, text
    for version in ("3.1.1", "3.2.2"):
        assert list((repo / f"test_tipc/output/paddle-{version}").rglob("*.pdparams"))
    table = [line.split() for line in text.splitlines() if line.strip().startswith("toy  ")]
    assert [row[3:5] for row in table] == [["3.1.1", "✔"], ["3.2.2", "✔"]]
    assert "paddle 3.1.1 → 3.2.2" in text


def test_who_interrupts_one_release_stops_the_whole_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: list[list[str]]
) -> None:
    repo = tmp_path / "repo"
    config = make(repo)
    monkeypatch.chdir(repo)
    calls: list[list[str]] = []

    def interrupted(argv: list[str]) -> int:
        calls.append(argv)
        return INTERRUPTED

    argv = [str(config), "--paddle", "3.1,3.2"]
    assert releases_main(parser().parse_args(argv), argv, interrupted) == INTERRUPTED
    assert len(calls) == 1, "3.2 is not begun"


@pytest.mark.parametrize("option", ["--python", "--output"])
def test_what_a_release_brings_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    repo = tmp_path / "repo"
    config = make(repo)
    monkeypatch.chdir(repo)
    assert main(["run", str(config), "--paddle", "3.1", option, "python3"]) == 2
    assert f"leave {option} out" in capsys.readouterr().err


def test_an_empty_list_of_releases_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a variable that is not set: the one paddle that is there was not meant."""
    config = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(config), "--paddle", "", "--dry-run"]) == 2
    assert "--paddle takes releases, not ``" in capsys.readouterr().err


def test_environments_without_a_release_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(make(tmp_path)), "--envs", "x"]) == 2
    assert "--envs goes with --paddle" in capsys.readouterr().err


def test_an_interpreter_of_the_settings_gives_way_to_those_of_the_releases(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = make(tmp_path)
    (tmp_path / "tipc.toml").write_text('python = "python9"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(config), "--paddle", "3.1", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "/.tipc/envs/paddle-3.1.1-" in text
    assert "python9" not in text
    assert not any("venv" in argv or "install" in argv for argv in programs), "a dry run makes nothing"


def test_each_release_has_report_files_of_its_own() -> None:
    assert labelled("out/report.xml", "paddle-3.1.1") == "out/report-paddle-3.1.1.xml"
