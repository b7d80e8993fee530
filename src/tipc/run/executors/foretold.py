"""What a script does until it imports paddle, as its text tells: a server for it can be started before.

The repository's own modules that it imports are read in the order in which Python runs them. Only what is
plain is believed: where anything else is done to variables, or no import of paddle is found, nothing is
foretold, and the first script of its kind shows what it does.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

MOST_FILES = 24
LOOKED_AT = 1 << 20  # bytes of a file
PADDLE = re.compile(rb"\bpaddle\b")
VARIABLES = re.compile(rb"\b(environ|putenv|unsetenv)\b")
CHANGES = frozenset({"setdefault", "update", "pop", "popitem", "clear"})  # methods of os.environ


def variables_before_paddle(script: Path, cwd: Path) -> dict[str, str] | None:
    """The variables that a script sets before it imports paddle. None: it does not import it, or more than
    that is done, as far as can be told."""
    reading = _Reading((script.parent, cwd, script.parent.parent))
    try:
        if reading.comes_to_paddle(script):
            return reading.variables
        text = _read(script)
    except (_NotPlainError, OSError, RecursionError):  # of hundreds of `elif`, one in the other
        return None
    # Perhaps in a function. What that does before is not looked at.
    if PADDLE.search(text) and not VARIABLES.search(text):
        return {}
    return None


class _NotPlainError(Exception):
    """Variables are changed in a way that only running it shows."""


class _Reading:
    """Follows a script and the modules that it imports up to the first import of paddle."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = roots
        self.variables: dict[str, str] = {}
        self._seen: set[Path] = set()

    def comes_to_paddle(self, file: Path) -> bool:
        """Whether the top level of a file imports paddle, itself or by a module of the repository."""
        if file in self._seen or len(self._seen) == MOST_FILES:
            return False
        self._seen.add(file)
        try:
            with warnings.catch_warnings():  # of the repository's strings: they are for its own users
                warnings.simplefilter("ignore")
                tree = ast.parse(_read(file))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise _NotPlainError from error  # Python will say so
        return self._follow(tree.body, file, surely=True)

    def _follow(self, statements: Sequence[ast.stmt], file: Path, *, surely: bool) -> bool:
        """Statements in their order; those that are not ``surely`` run must leave variables alone."""
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if isinstance(statement, ast.If | ast.Try | ast.With):
                if any(self._follow(part, file, surely=False) for part in _parts(statement)):
                    return True
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                if self._is_import_of_paddle(statement, file):
                    return True
            else:
                self._look_at(statement, surely=surely)
        return False

    def _is_import_of_paddle(self, statement: ast.Import | ast.ImportFrom, file: Path) -> bool:
        names = [alias.name for alias in statement.names]
        if isinstance(statement, ast.ImportFrom):
            return self._import("." * statement.level + (statement.module or ""), names, file)
        return any(self._import(name, (), file) for name in names)

    def _import(self, module: str, names: Sequence[str], file: Path) -> bool:
        """Whether the import of a module, or of names from it, leads to paddle."""
        files = self._files_of(module, names, file)
        if not files:
            return module.startswith("paddle")  # a package: paddle itself, or one that stands on it
        return any(self.comes_to_paddle(one) for one in files)

    def _files_of(self, module: str, names: Sequence[str], file: Path) -> list[Path]:
        """The repository's own files that an import runs, in order."""
        words = module.lstrip(".").split(".") if module.strip(".") else []
        level = len(module) - len(module.lstrip("."))
        roots = self.roots
        if level:
            roots = (file.parents[min(level, len(file.parents)) - 1],)
        for root in roots:
            found = _modules(root, words)
            if found is not None:
                for name in names:
                    found += _modules(root.joinpath(*words), [name]) or []
                return found
        return []

    def _look_at(self, statement: ast.stmt, *, surely: bool) -> None:
        """Note a variable that is set to a constant; anything else that changes variables is not plain."""
        if surely and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            [target] = statement.targets
            value = statement.value
            if _is_variable(target) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                name = target.slice  # type: ignore[attr-defined]
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    self.variables[name.value] = value.value
                    return
        for node in ast.walk(statement):
            if _changes_variables(node):
                raise _NotPlainError


def _parts(statement: ast.If | ast.Try | ast.With) -> list[list[ast.stmt]]:
    """The blocks of a statement that runs in the same scope."""
    parts = [statement.body]
    if isinstance(statement, ast.Try):
        parts += [handler.body for handler in statement.handlers]
        parts.append(statement.finalbody)
    if not isinstance(statement, ast.With):
        parts.append(statement.orelse)
    return parts


def _modules(root: Path, words: Sequence[str]) -> list[Path] | None:
    """The files below a folder that are run to import ``words[0].words[1]…``; None: it is not there."""
    found = []
    folder = root
    for word in words:
        folder = folder / word
        if folder.is_dir():
            package = folder / "__init__.py"
            if package.is_file():
                found.append(package)
            continue
        module = folder.with_name(f"{word}.py")
        if not module.is_file():
            return None
        found.append(module)
    return found


def _is_variable(node: ast.AST) -> bool:
    """``os.environ[…]``"""
    return isinstance(node, ast.Subscript) and _is_environ(node.value)


def _is_environ(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "environ"
    return isinstance(node, ast.Attribute) and node.attr == "environ"


def _changes_variables(node: ast.AST) -> bool:
    if _is_variable(node):
        return not isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]
    if isinstance(node, ast.Attribute):
        return node.attr in ("putenv", "unsetenv") or (node.attr in CHANGES and _is_environ(node.value))
    return False


def _read(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(LOOKED_AT)
