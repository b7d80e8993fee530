"""Every option of a call that goes on with a run: refused, or honoured so that it can be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import toy_repo
from toy_repo import events, journals, states

from tipc.cli.main import main
from tipc.cli.run import parser
from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
from tipc.run.record.run_store import load_run
from tipc.run.schedule import scheduler

# What would make it another run. A value stands for `CONFIG` itself.
REFUSED: dict[str, tuple[str, ...]] = {
    "config": ("another.txt",),
    "mode": ("--mode", "whole_infer"),
    "repo": ("--repo", "."),
    "dialect": ("--dialect", "models"),
    "as_upstream": ("--as-upstream",),
    "trace": ("--trace",),
    "shard": ("--shard", "1/2"),
    "output": ("--output", "elsewhere"),
    "paddle": ("--paddle", "3.1"),
    "envs": ("--envs", "elsewhere"),
    "rerun_failed": ("--rerun-failed",),
}
Show = pytest.CaptureFixture[str]


class Toy:
    """A run of the toy repository to go on with."""

    def __init__(self, place: Path, config: Path, show: Show, patch: pytest.MonkeyPatch) -> None:
        self.place, self.config, self.show, self.patch = place, config, show, patch
        self.repo = config.parents[3]

    def run(self, *words: str | Path) -> int:
        return main(["run", "--cold", *map(str, words)])

    def begin(self, *words: str) -> None:
        self.run(self.config, "--no-checks", *words)
        self.show.readouterr()

    def resume(self, *words: str | Path) -> int:
        return self.run("--resume", "--no-checks", *words)

    def rerun(self, *words: str | Path) -> int:
        return self.run("--rerun-failed", "--no-checks", *words)

    def behave(self, how: str) -> None:
        (self.repo / "behave").write_text(how)

    def change(self) -> None:
        """All that has passed is outdated now."""
        (self.repo / "other.py").write_text("")

    @property
    def states(self) -> dict[str, str]:
        return states(journals(self.place)[0])

    @property
    def begun(self) -> list[str]:
        steps = []
        for event in events(journals(self.place)[0]):
            if event["event"] == "start":
                steps.append(event["step"].rpartition("/")[2])
        return steps


@pytest.fixture
def toy(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Show) -> Toy:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_HOME", raising=False)
    return Toy(tmp_path, toy_repo.make(repo), capsys, monkeypatch)


def expression(toy: Toy) -> None:
    toy.begin("--only", "train")
    assert toy.resume("-k", "eval") == 0
    assert toy.begun == ["train", "eval"]


def only(toy: Toy) -> None:
    toy.begin("--only", "train")
    assert toy.resume("--only", "export") == 0
    assert toy.begun == ["train", "export"]


def resume(toy: Toy) -> None:
    toy.begin("--only", "train")
    first = load_run(None).id
    toy.run(toy.config, "--no-checks", "--only", "train")
    assert toy.run("--resume", first, "--no-checks", "--only", "eval") == 0
    assert "eval" in toy.begun, "of the first run"
    assert "eval" not in states(journals(toy.place)[1])


def outdated(toy: Toy) -> None:
    good = (toy.repo / "infer.py").read_text()
    (toy.repo / "infer.py").write_text("raise SystemExit(1)")
    toy.begin()
    (toy.repo / "infer.py").write_text(good)
    toy.rerun()
    assert toy.begun.count("train") == 1
    toy.rerun("--outdated")
    assert toy.begun.count("train") == 2


def verbosity(toy: Toy) -> None:
    toy.begin("--only", "train")
    toy.resume("--only", "eval", "-v")
    assert "… norm_train-cpu/eval" in toy.show.readouterr().out
    toy.resume("--only", "export", "-q")
    assert "/6]" not in toy.show.readouterr().out


def dry_run(toy: Toy) -> None:
    toy.begin("--only", "train")
    before = journals(toy.place)[0].read_bytes()
    assert toy.resume("--only", "eval", "--dry-run") == 0
    assert "train.py --test-only" in toy.show.readouterr().out
    assert toy.resume("--only", "train,eval", "--dry-run") == 0
    shown = toy.show.readouterr().out
    assert "norm_train-cpu/eval" in shown
    assert "norm_train-cpu/train" not in shown, "it has passed, and nothing has changed"
    toy.change()
    toy.resume("--only", "train,eval", "--dry-run")
    assert "norm_train-cpu/train" in toy.show.readouterr().out
    assert journals(toy.place)[0].read_bytes() == before


def fail_fast(toy: Toy) -> None:
    toy.begin("--only", "train")
    (toy.repo / "infer.py").write_text("raise SystemExit(1)")
    assert toy.resume("--only", "train,export,infer", "-x", "--jobs", "1") == 1
    assert len([name for name in toy.begun if name.startswith("infer")]) == 1
    toy.rerun()
    assert len([name for name in toy.begun if name.startswith("infer")]) == 1 + 3


def timeout(toy: Toy) -> None:
    toy.behave("fail")
    toy.begin()
    toy.behave("hang")
    assert toy.rerun("--timeout", "1") == 1
    assert toy.states["train"] == "timeout"


def retries(toy: Toy) -> None:
    toy.behave("fail")
    toy.begin("--only", "train")
    toy.behave("flaky")
    assert toy.rerun("--retries", "1") == 0
    assert toy.states["train"] == "flaky"


def strict(toy: Toy) -> None:
    toy.behave("fail")
    toy.begin("--only", "train")
    toy.behave("flaky")
    assert toy.rerun("--retries", "1", "--strict") == 1
    assert toy.states["train"] == "flaky"


def jobs(toy: Toy) -> None:
    asked: list[int | None] = []

    class Resources(scheduler.Resources):
        def __init__(self, cores: int, jobs: int | None, whole_cores: int) -> None:
            asked.append(jobs)
            super().__init__(cores, jobs, whole_cores)

    toy.begin("--only", "train")
    toy.patch.setattr(scheduler, "Resources", Resources)
    assert toy.resume("--jobs", "1") == 0
    assert toy.resume() == 0
    assert asked == [1, None]


def cold(toy: Toy) -> None:
    asked: list[bool] = []
    start = LocalExecutor.start

    def watched(self: LocalExecutor, task: Task) -> int:
        asked.append(task.warm)
        return start(self, task)

    toy.begin("--only", "train")
    toy.patch.setattr(LocalExecutor, "start", watched)
    assert main(["run", "--resume", "--no-checks", "--only", "eval"]) == 0
    assert main(["run", "--resume", "--no-checks", "--only", "export", "--cold"]) == 0
    assert asked == [True, False]


def executor(toy: Toy) -> None:
    toy.begin("--only", "train")
    assert toy.resume("--executor", "nonesuch") == 2
    assert "there is no executor `nonesuch`" in toy.show.readouterr().err


def prepare(toy: Toy) -> None:
    (toy.repo / "test_tipc/prepare.sh").write_text("echo x >> prepared\n")
    toy.begin("--only", "train")
    toy.resume()
    assert (toy.repo / "prepared").read_text() == "x\n"
    toy.resume("--prepare")
    assert (toy.repo / "prepared").read_text() == "x\nx\n"
    toy.change()
    toy.resume("--no-prepare")
    assert (toy.repo / "prepared").read_text() == "x\nx\n"
    assert "prepare" not in {step.id for step in load_run(None).plans[0].steps}


def checks(toy: Toy) -> None:
    toy.begin()
    directory = load_run(None).directory
    toy.run("--resume", "--no-checks")
    assert not (directory / "verdict.json").exists()
    toy.run("--resume")
    assert (directory / "verdict.json").exists()


def html(toy: Toy) -> None:
    _report(toy, "html", "<html")


def junit(toy: Toy) -> None:
    _report(toy, "junit", "<testsuite")


def json(toy: Toy) -> None:
    _report(toy, "json", '"steps"')


def _report(toy: Toy, name: str, has: str) -> None:
    toy.begin("--only", "train")
    toy.resume(f"--{name}", toy.place / "file")
    assert has in (toy.place / "file").read_text()


def python(toy: Toy) -> None:
    toy.begin("--only", "train")
    (toy.repo / "python").symlink_to("/usr/bin/env")  # `env train.py …` cannot be: the step fails
    assert toy.resume("--python", toy.repo / "python") == 1
    assert toy.states["train"] == "failed"


def device(toy: Toy) -> None:
    toy.config.write_text(toy_repo.CONFIG.replace("gpu_list:-1", "gpu_list:0"))
    toy.begin("--only", "train", "--device", "cpu")
    assert load_run(None).plans[0].cells[0].runs_on == "cpu"
    assert toy.resume("--only", "train", "--device", "npu", "--dry-run") == 0
    assert "npu" in toy.show.readouterr().out
    assert toy.resume("--only", "train", "--dry-run") == 0
    assert "npu" not in toy.show.readouterr().out, "a dry run changes nothing"
    toy.resume("--only", "train", "--device", "npu")
    assert toy.begun == ["train", "train"]
    assert load_run(None).plans[0].cells[0].runs_on == "npu:0"


def allow_shell(toy: Toy) -> None:
    toy.begin("--only", "train")
    text = toy.config.read_text()
    toy.config.write_text(text.replace("eval:train.py --test-only", "eval:train.py --test-only; true"))
    assert toy.resume("--only", "eval") == 2
    assert toy.resume("--only", "eval", "--allow-shell") == 0


HONOURED: dict[str, Callable[[Toy], None]] = {
    one.__name__: one
    for one in (
        *(expression, only, resume, outdated, verbosity, dry_run, fail_fast, timeout, retries, strict),
        *(jobs, cold, executor, prepare, checks, html, junit, json, python, device, allow_shell),
    )
}


def test_the_two_tables_have_every_option_of_run() -> None:
    options = {action.dest for action in parser()._actions} - {"help"}
    assert options == REFUSED.keys() | HONOURED.keys()


@pytest.mark.parametrize("document", ["running.md", "running.zh-CN.md"])
def test_the_documents_name_each_option_that_is_refused(document: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / document).read_text(encoding="utf-8")
    (paragraph,) = [part for part in text.split("\n\n") if "report.1.html" in part]
    for name in REFUSED.keys() - {"config", "rerun_failed"}:
        assert f"`--{name.replace('_', '-')}`" in paragraph


@pytest.mark.parametrize("name", REFUSED)
def test_an_option_that_would_make_another_run_is_refused(toy: Toy, name: str) -> None:
    toy.begin("--only", "train")
    before = journals(toy.place)[0].read_bytes()
    assert toy.run("--resume", load_run(None).id, *REFUSED[name]) == 2
    assert toy.show.readouterr().err
    assert journals(toy.place)[0].read_bytes() == before
    assert len(journals(toy.place)) == 1


@pytest.mark.parametrize("name", HONOURED)
def test_an_option_is_honoured(toy: Toy, name: str) -> None:
    HONOURED[name](toy)
