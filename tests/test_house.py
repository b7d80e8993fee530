"""The rules of the house that a machine can check: the way of the data, small files, plain lines, no eval."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
ZOO_LIBRARY = ROOT / "zoo" / "paddlezoo" / "src"
STAGES = ("config", "plan", "run", "certify", "report", "cli")
FILES = sorted([*SOURCE.rglob("*.py"), *ZOO_LIBRARY.rglob("*.py")])
TOOL_FILES = sorted((SOURCE / "tipc").rglob("*.py"))
# Run by the config's interpreter in processes of their own; they are the only ones that may meet paddle.
GUESTS = ("run/guest", "certify/probes")


def imports(path: Path) -> list[str]:
    """Every module that a file imports, at the top or inside a function."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def is_guest(path: Path) -> bool:
    return any(guest in path.as_posix() for guest in GUESTS)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_only_the_stages_before_it(stage: str) -> None:
    later = STAGES[STAGES.index(stage) + 1 :]
    for path in (SOURCE / "tipc" / stage).rglob("*.py"):
        for module in imports(path):
            parts = module.split(".")
            assert not (parts[0] == "tipc" and len(parts) > 1 and parts[1] in later), f"{path}: {module}"


def test_the_tool_never_imports_paddle_nor_the_zoo() -> None:
    for path in TOOL_FILES:
        if not is_guest(path):
            roots = {module.split(".")[0] for module in imports(path)}
            assert not roots & {"paddle", "paddlezoo"}, path


def test_what_a_probe_loads_imports_nothing_of_tipc() -> None:
    """It runs under the config's own interpreter, where tipc need not be installed."""
    engines = [path for path in (SOURCE / "tipc/certify/engines").glob("*.py") if path.stem != "__init__"]
    assert engines
    for path in [*engines, *(SOURCE / "tipc/certify/probes").glob("*.py")]:
        assert "tipc" not in {module.split(".")[0] for module in imports(path)}, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_has_at_most_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_there_is_no_shell_and_no_eval() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            name = node.func.attr if isinstance(node.func, ast.Attribute) and not name else name
            where = f"{path}:{node.lineno}"
            assert not (isinstance(node.func, ast.Name) and name in ("eval", "exec")), where
            assert not (name == "system" and isinstance(node.func, ast.Attribute)), where
            for keyword in node.keywords:
                constant = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                assert not (keyword.arg == "shell" and constant), where


def test_no_conditional_expression_stands_in_another() -> None:
    for path in TOOL_FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.IfExp):
                inner = (node.test, node.body, node.orelse)
                assert not any(isinstance(part, ast.IfExp) for part in inner), f"{path}:{node.lineno}"


def test_sentences_are_made_only_where_people_read() -> None:
    """A stage that made one could compare it; then a translation would change a verdict."""
    readers = ("config/lint/finding.py", "config/lint/lint_text.py", "pytest_checks.py", "plan/plan_text.py")
    readers += ("run/show", "run/pytest_plugin.py", "certify/check_text.py")
    readers += ("certify/evidence/log_text.py", "report", "cli", "language", "errors.py", "message.py")
    for path in TOOL_FILES:
        place = path.relative_to(SOURCE / "tipc").as_posix()
        if not place.startswith(readers):
            assert "tipc.language" not in imports(path), path


def repeated(names: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that stand in several places, and where."""
    places: dict[str, list[str]] = {}
    for name, place in names:
        places.setdefault(name, []).append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_a_module_name_is_used_once() -> None:
    """But in cli/, where a file has the name of its command."""
    modules = [path for path in TOOL_FILES if path.name != "__init__.py" and path.parent.name != "cli"]
    assert not repeated([(path.name, path.relative_to(SOURCE).as_posix()) for path in modules])


def test_a_public_class_name_is_used_once() -> None:
    classes = []
    for path in TOOL_FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.append((node.name, path.relative_to(SOURCE).as_posix()))
    assert not repeated(classes)


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Per 1,000 lines: conditional expressions, comprehensions. What was reached: lower them, do not raise them.
# Well-kept command-line tools have 4 to 10 and 7 to 18.
DENSITY = {
    "": (1, 12),  # beside the rooms
    "config": (4, 19),
    "plan": (4, 20),
    "run": (9, 19),
    "certify": (6, 22),
    "certify/checks": (2, 28),
    "report": (1, 22),
    "cli": (2, 18),
}


def room_of(path: Path) -> str:
    place = path.relative_to(SOURCE / "tipc").as_posix()
    if place.startswith("certify/checks/"):
        return "certify/checks"
    room = place.partition("/")[0]
    return room if room in DENSITY else ""


@pytest.mark.parametrize("room", DENSITY)
def test_code_is_no_denser_than_it_was(room: str) -> None:
    """A line that holds a condition or a loop inside an expression has to be read twice."""
    lines = conditional = comprehensions = 0
    for path in TOOL_FILES:
        if room_of(path) != room or "language" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        lines += sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())
        for node in ast.walk(ast.parse(text)):
            conditional += isinstance(node, ast.IfExp)
            comprehensions += isinstance(node, COMPREHENSIONS)
    most_conditional, most_comprehensions = DENSITY[room]
    assert 1000 * conditional / lines <= most_conditional
    assert 1000 * comprehensions / lines <= most_comprehensions
