"""An environment for each repository: the packages that it needs, from PyPI; nothing of it is installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from field.rows import COMMON, Repository

# The names by which configs call an interpreter.
NAMES = ("python3.7", "python3.8")
PROJECT = Path(__file__).parents[1]


def make_environment(repository: Repository, folder: Path) -> Path:
    """The folder of the repository's environment; made where it is not there yet."""
    packages = sorted({*COMMON, *repository.packages})
    mark = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:12]
    place = folder / f"{repository.name}-{mark}"
    done = place / "done"
    if done.exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    python = place / "bin" / "python"
    if shutil.which("uv"):
        _run(["uv", "venv", "-q", "--python", sys.executable, str(place)])
        pip = ["uv", "pip", "install", "-q", "--python", str(python)]
    else:
        _run([sys.executable, "-m", "venv", str(place)])
        pip = [str(python), "-m", "pip", "install", "-q"]
    _run([*pip, *packages])
    # The benchmark log that deploy scripts import, and nothing else of this project: a user's environment
    # need not have tipc, and what only works with it there is to be seen.
    [packages_folder] = place.glob("lib/python3*/site-packages")
    shutil.copytree(PROJECT / "src" / "auto_log", packages_folder / "auto_log")
    for name in NAMES:
        (place / "bin" / name).symlink_to("python")
    done.touch()
    return place


def _run(argv: list[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}\n{done.stdout}{done.stderr}")
