"""Every check is described, and a plug-in can add one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tipc import hooks
from tipc.certify.certifier import repo_findings
from tipc.certify.registry import ID, SCOPES, all_checks
from tipc.certify.scene import RepoScene
from tipc.cli.main import main
from tipc.errors import EnvironmentProblem

DOCUMENT = Path(__file__).parents[2] / "docs" / "checks.md"


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    all_checks.cache_clear()
    hooks.forget()
    yield
    all_checks.cache_clear()
    hooks.forget()


@pytest.mark.parametrize("check", all_checks().values(), ids=lambda check: check.id)
def test_a_check_says_what_it_reads_why_and_what_to_do(check) -> None:  # type: ignore[no-untyped-def]
    assert ID.fullmatch(check.id)
    assert check.scope in SCOPES
    assert check.title
    assert check.reads
    assert len(check.reason) > 60
    assert check.remedy
    assert check.id in DOCUMENT.read_text(encoding="utf-8") or check.id.startswith("TD8")


def test_tipc_checks_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checks"]) == 0
    text = capsys.readouterr().out
    assert all(id in text for id in all_checks())


def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    (tmp_path / "tipc_house_rules.py").write_text(source)
    info = tmp_path / "tipc_house_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tipc-house-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tipc]\nhouse = tipc_house_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tipc_house_rules", raising=False)


GOOD = """
from tipc.hooks import hookimpl
from tipc.certify.registry import check, failed, passed

@check("HR001", "There is a licence", scope="repo", reads="LICENSE", remedy="add one")
def licence(scene):
    "The house wants one."
    yield passed("it is there") if (scene.repo / "LICENSE").is_file() else failed("there is none")

@hookimpl
def tipc_checks():
    return [licence]
"""


@pytest.mark.usefixtures("fresh_registry")
def test_a_plug_in_adds_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(tmp_path, monkeypatch, GOOD)
    assert all_checks()["HR001"].title == "There is a licence"
    [finding] = [one for one in repo_findings(RepoScene(tmp_path)) if one.check == "HR001"]
    assert (finding.status, finding.message, finding.remedy) == ("fail", "there is none", "add one")


@pytest.mark.usefixtures("fresh_registry")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import nowhere_at_all", "does not load"),
        ("1 / 0", "does not load"),
        (GOOD.replace("return [licence]", "return [licences]"), "does not load"),
        (GOOD.replace("HR001", "TP301"), "`TP301`, a name that is taken"),
        (GOOD.replace("return [licence]", "return ['licence']"), "is no Check of tipc"),
        (GOOD.replace('scope="repo"', 'scope="moon"'), "scope moon"),
    ],
)
def test_a_broken_plug_in_is_told_in_one_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plug_in(tmp_path, monkeypatch, source)
    with pytest.raises(EnvironmentProblem, match=words):
        all_checks()
    assert main(["checks"]) == 3
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.usefixtures("fresh_registry")
def test_a_check_that_breaks_says_so_and_never_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plug_in(tmp_path, monkeypatch, GOOD.replace("yield passed", "raise KeyError('x')\n    yield passed"))
    [finding] = [one for one in repo_findings(RepoScene(tmp_path)) if one.check == "HR001"]
    assert (finding.status, finding.required) == ("unchecked", True)
    assert "the check itself broke: KeyError" in finding.message
    assert "tipc_house_rules.py:8" in finding.message
