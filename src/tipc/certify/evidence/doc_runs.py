"""The shell blocks of a repository's documents, run in order in a copy of it: ``tipc check --run-docs``."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tipc.certify.evidence.readable import ShellBlock, all_documents
from tipc.errors import EnvironmentProblem, wording
from tipc.reasons import Reason, because

PATIENCE = 3600.0  # seconds for one block
# Not of the repository: what git, environments and earlier runs left in it.
LEFT_BEHIND = shutil.ignore_patterns(".git", ".tipc", ".venv", "venv", "__pycache__", "output", "*.egg-info")
INSTALLS = re.compile(r"^(sudo\s+)?((python[\d.]*\s+-m\s+)?pip[\d.]*\s+install|uv\s|conda\s|apt(-get)?\s)")
PLACEHOLDER = re.compile(r"\$\{?your_\w+\}?|<[a-z][\w ./-]*>|\S*path/to/\S*|\bxxx+\b", re.IGNORECASE)


@dataclass(frozen=True)
class DocRun:
    """What became of one block. ``status`` is its exit code; ``left_out`` says why it was not run."""

    block: ShellBlock
    status: int = 0
    seconds: float = 0.0
    log: str = ""
    left_out: Reason | None = None

    @property
    def name(self) -> str:
        return f"{self.block.file}:{self.block.line}"


def run_documents(
    repo: Path,
    logs: Path,
    interpreter: str,
    devices: Iterable[str] = (),
    say: Callable[[DocRun], None] = lambda run: None,
) -> tuple[DocRun, ...]:
    """Run every block in a copy of ``repo``; each has a log of its own in ``logs``.

    Commands that install something are left out: the environment is the user's to prepare. ``interpreter`` is
    what ``python`` and ``python3`` mean.
    """
    here = set(devices)
    found: list[DocRun] = []
    with tempfile.TemporaryDirectory(prefix="tipc-docs-") as scratch:
        copy = Path(scratch, repo.name)
        try:
            logs.mkdir(parents=True, exist_ok=True)
            shutil.copytree(repo, copy, ignore=LEFT_BEHIND, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise EnvironmentProblem(
                wording("{repo} cannot be copied to {copy}: {error}", repo=repo, copy=copy, error=error)
            ) from error
        environ = environment_for(interpreter, Path(scratch))
        environ["TIPC_HOME"] = str(logs / "tipc")  # runs of the test script are kept with the logs
        seen: set[str] = set()
        for document in all_documents(repo):
            for block in document.blocks:
                commands = [line for line in block.commands() if not INSTALLS.match(line)]
                text = "\n".join(commands or block.commands())
                if not text or text in seen:
                    continue  # the same commands in another language's document
                seen.add(text)
                log = logs / f"{len(found):02d}-{re.sub(r'[^0-9A-Za-z.]+', '-', block.file)}-{block.line}.log"
                run = run_block(block, commands, copy, log, environ, here)
                found.append(run)
                say(run)
    return tuple(found)


def environment_for(interpreter: str, scratch: Path) -> dict[str, str]:
    """The variables of the commands: ``python`` and ``python3`` are the interpreter, and its folder comes
    first."""
    bin_folder = scratch / "bin"
    bin_folder.mkdir()
    for name in ("python", "python3"):
        # A link would lose the virtual environment that the interpreter belongs to.
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec "{interpreter}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    path = os.pathsep.join([str(bin_folder), str(Path(interpreter).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "PYTHON": interpreter}


def run_block(
    block: ShellBlock,
    commands: list[str],
    copy: Path,
    log: Path,
    environ: Mapping[str, str],
    devices: set[str],
) -> DocRun:
    """One block in bash, which stops at the first command that fails."""
    if block.needs and block.needs not in devices:
        return DocRun(block, left_out=because("no-device", device=block.needs))
    if not commands:
        return DocRun(block, left_out=because("only-installs"))
    placeholder = PLACEHOLDER.search("\n".join(commands))
    if placeholder:
        return DocRun(block, left_out=because("placeholder", text=placeholder[0]))
    script = "set -eo pipefail\n" + "\n".join(commands) + "\n"
    began = time.monotonic()
    with log.open("wb") as sink:
        sink.write(script.encode() + b"--\n")
        sink.flush()
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=copy,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = 124  # as coreutils' timeout says it
        finally:
            # Whatever the block left running, and everything of it where this is interrupted.
            end_group(process)
    return DocRun(block, status, time.monotonic() - began, str(log))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End every process of the block's session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
