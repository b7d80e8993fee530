"""From the end of a log to a likely cause and something to try. Says nothing where it does not know."""

from __future__ import annotations

import os
import re
import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tipc.bounded import read_beginning
from tipc.config.scripts import SCRIPTS
from tipc.kinds import PREPARE, TIMEOUT, TRAIN_CHAIN
from tipc.language import sentence
from tipc.plan.model import Plan, Step
from tipc.plan.prepare import DECLARED, SCRIPT
from tipc.reasons import Reason, because
from tipc.run.guest.launch import NOT_FOUND
from tipc.run.missing import source_of_tipc
from tipc.run.prepare.data_at_risk import data_at_risk, not_put_back, some_of
from tipc.run.record.results import StepResult
from tipc.run.show import network
from tipc.run.show.prepare_notes import unreached_hosts
from tipc.run.show.shown import shown_config, shown_path

# Modules whose package has another name on PyPI.
PACKAGES = {
    "paddle": "paddlepaddle",
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "pkg_resources": "'setuptools<81'",
}
BENCHMARK_LOG = "auto_log"
# What a repository calls itself where it says how it is installed: name='paddleseg', name = "paddleocr".
_OWN_NAME = re.compile(r"""^\s*name\s*=\s*["']?([\w.-]+)""", re.MULTILINE)
_SETUP_LIMIT = 2**16
# A line that belongs to the one before it: indented, or an item of a list. How much of them is quoted.
_GOES_ON = re.compile(r"\s+\S|\d+[.)]\s")
_MORE_LINES, _MOST_QUOTED = 4, 400
_TRACEBACK_FILE = re.compile(r'^\s*File "([^"]+)", line \d+', re.MULTILINE)
_CONFIG_LIMIT = 2**20
# How far from where a file should be it is looked for, and how many folders are seen at most.
_UP, _DOWN, _FOLDERS = 2, 3, 500


class Diagnosis(NamedTuple):
    """One line each; empty where nothing is known."""

    cause: str = ""
    remedy: str = ""
    lacks: str = ""  # a file that is not there, and preparing should have made


Known = Callable[[Plan, Step, re.Match[str]], Diagnosis]


def _tell(cause: Reason, remedy: Reason | None = None) -> Diagnosis:
    return Diagnosis(sentence(cause), sentence(remedy))


def _no_file(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    path = found["what"]
    if _named(step, path):
        cause = because("cause-no-file-named", path=path, config=shown_config(plan), line=step.line)
    else:
        cause = because("cause-no-file", path=path)
    remedy = _way_to_file(plan, step, path)
    if remedy is not None and remedy.code == "try-other-data":
        return Diagnosis(sentence(cause), sentence(remedy), path)
    return _tell(cause, remedy)


def _way_to_file(plan: Plan, step: Step, path: str) -> Reason | None:
    """What makes a missing file: nothing is named that would not."""
    if step.kind == PREPARE:
        return None  # what to call is said below each of its failures
    if not Path(plan.repo).is_dir():
        return None  # a report that is read on another machine
    if path.endswith(".py"):
        return because("try-script-path", config=shown_config(plan))
    for script in (DECLARED, SCRIPT):
        if not Path(plan.repo, script).is_file():
            continue
        if any(other.kind == PREPARE for other in plan.steps):
            return because("try-other-data", script=script, path=path)
        config = shlex.quote(shown_config(plan))
        paths = data_at_risk(plan)
        if paths:
            return because("try-prepare-removes", config=config, mode=plan.mode, paths=some_of(paths))
        return because("try-prepare", config=config, mode=plan.mode)
    return because("try-provide", script=SCRIPT)


def _way_to_data(plan: Plan, step: Step, path: str, prepared: StepResult) -> Reason | None:
    """What makes a file that preparing did not, where it is known why not."""
    hosts = unreached_hosts(prepared.log)
    removed = _removed_with(Path(plan.repo, step.cwd, path), plan, prepared)
    if removed and hosts:
        return because("try-restore-data", path=path, removed=removed, hosts=hosts)
    if removed:
        return because("try-put-back", path=path, removed=removed)
    if hosts:
        return because("try-fetch", path=path, hosts=hosts)
    return None


def _removed_with(path: Path, plan: Plan, prepared: StepResult) -> str:
    """The data that preparing removed, and that the file belongs to."""
    place = Path(os.path.normpath(path))
    for removed in not_put_back(plan, prepared.removed):
        if place.is_relative_to(Path(plan.repo, removed)):
            return removed
    return ""


def _no_module(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    module, python = found["what"].split(".")[0], step.argv[0]
    if _imported_by_other_paddle(found):
        return _tell(because("cause-other-paddle", python=python), because("try-paddle", python=python))
    if _belongs_to(plan, module):
        return _own_module(plan, python, module)
    package = PACKAGES.get(module, module)
    if module == BENCHMARK_LOG:
        package = shlex.quote(source_of_tipc())
    return _tell(
        because("cause-no-module", python=python, module=module),
        because("try-install", python=python, package=package),
    )


def _imported_by_other_paddle(found: re.Match[str]) -> bool:
    """Whether a module is asked for by the ``paddle`` of PyPI, which is not PaddlePaddle."""
    for name in _TRACEBACK_FILE.findall(found.string[: found.start()]):
        packages, inside, _ = name.rpartition("/site-packages/paddle/")
        if inside:
            place = Path(packages, "site-packages")
            return any(place.glob("paddle-*.dist-info")) and not any(place.glob("paddlepaddle*.dist-info"))
    return False


def _own_module(plan: Plan, python: str, module: str) -> Diagnosis:
    root = shlex.quote(shown_path(plan.repo))
    return _tell(
        because("cause-own-module", python=python, module=module),
        because("try-install-repository", python=python, path=root, module=module),
    )


def _no_package(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    """``paddleclas.py`` at the root of a checkout stands for the package that only an installation makes."""
    files = _TRACEBACK_FILE.findall(found.string[: found.start()])
    if files:
        path = Path(plan.repo, step.cwd, files[-1])
        if path.suffix == ".py" and os.path.realpath(path.parent) == os.path.realpath(plan.repo):
            return _own_module(plan, step.argv[0], path.stem)
    return Diagnosis(found[0])


def _belongs_to(plan: Plan, module: str) -> bool:
    """Whether a module is the repository's own: a file or folder of it, or the name that it is known by."""
    root = Path(plan.repo)
    if (root / f"{module}.py").exists() or (root / module / "__init__.py").exists():
        return True
    return module.lower() in (root.name.lower(), *_distributions(root))


def _distributions(root: Path) -> Iterator[str]:
    """The names under which a repository installs itself."""
    for name in ("setup.py", "setup.cfg", "pyproject.toml"):
        try:
            text = read_beginning(root / name, _SETUP_LIMIT)
        except OSError:
            continue
        for found in _OWN_NAME.finditer(text):
            yield found[1].lower().replace("-", "_")


def _no_legacy_model(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    """paddle 3 exports ``model.json`` unless it is told otherwise; older scripts read ``model.pdmodel``."""
    written = _new_format(plan, step, found["what"])
    if written is None:
        return _no_file(plan, step, found)
    wanted = Path(plan.repo, step.cwd, found["what"])
    if os.path.realpath(wanted.parent) == os.path.realpath(Path(written).parent):
        written = Path(written).name
    return _tell(
        because("cause-new-format", wanted=found["what"], found=written),
        because("try-legacy-format"),
    )


def _new_format(plan: Plan, step: Step, wanted: str) -> str | None:
    """The ``.json`` that was exported where the script looks for a ``.pdmodel``."""
    here = Path(plan.repo, step.cwd)
    folders = [(here / wanted).parent]
    if step.model_dir:
        folders.append(Path(plan.repo, step.model_dir))
    for folder in folders:
        if folder.is_dir() and not list(folder.glob("*.pdmodel")):
            for weights in sorted(folder.glob("*.pdiparams")):
                if weights.with_suffix(".json").exists():
                    return shown_path(weights.with_suffix(".json"))
    return None


def _no_room(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(because("cause-no-room"), because("try-room"))


def _no_network(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(because("cause-no-network", host=found["what"]), because("try-network"))


def _no_memory(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(because("cause-no-memory"), because("try-fewer-at-once"))


def _illegal_instruction(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(because("cause-illegal-instruction"), because("try-fewer-instructions"))


def _no_download(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(because("cause-no-download", url=found["what"]), because("try-network"))


def _new_protobuf(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return _tell(
        because("cause-new-protobuf"), because("try-install", python=step.argv[0], package="'protobuf<7'")
    )


def _no_data(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    """A script's own words for a path that is not there; what else they may be of is quoted by others."""
    if Path(plan.repo, step.cwd, found["what"]).exists():
        return Diagnosis(found[0].strip())
    return _no_file(plan, step, found)


def _bad_argument(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    word = found["what"]
    if _named(step, word):
        return _tell(because("cause-bad-option-named", word=word, config=shown_config(plan), line=step.line))
    return _tell(because("cause-bad-option", word=word))


def _quoted(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    """What was said; where that sentence is not at its end, with the lines that belong to it."""
    said = [found["what"].strip()]
    if not said[0].endswith((".", "!", "?")):
        for line in found.string[found.end() :].splitlines()[1 : _MORE_LINES + 1]:
            if not _GOES_ON.match(line):
                break
            said.append(line.strip())
    return Diagnosis(" ".join(said)[:_MOST_QUOTED])


def _wants_package(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    remedy = because("try-install", python=step.argv[0], package=found["package"])
    return Diagnosis(found["what"].strip(), sentence(remedy))


# What a script says of itself, whatever its exit code is.
_SAID: tuple[tuple[re.Pattern[str], Known], ...] = (
    (re.compile(r"(?P<what>Unable to .*pip3? install (?P<package>[\w.-]+).*)"), _wants_package),
    (re.compile(r"\b(?:ERROR|CRITICAL|FATAL)\b\s*[:\]|-]*\s*(?P<what>\S.*)"), _quoted),
)
# The last line that matches counts; among patterns for one line, the first.
_KNOWN: tuple[tuple[re.Pattern[str], Known], ...] = (
    (re.compile(r"No space left on device|Disk quota exceeded"), _no_room),
    (
        re.compile(r"(?:Cannot open file|not find|such file or directory:)\s*'?(?P<what>[^\s']*\.pdmodel)"),
        _no_legacy_model,
    ),
    (re.compile(r"FileNotFoundError: .*?No such file or directory: '(?P<what>[^']+)'"), _no_file),
    (re.compile(r"FileNotFoundError: (?P<what>\S+)"), _no_file),
    (re.compile(r"can't open file '(?P<what>[^']+)'"), _no_file),
    (re.compile(r"(?P<what>\S+): No such file or directory"), _no_file),
    (
        re.compile(
            r"^.*(?:there is not|not found|n[o']t exists?)\b[^:]*:\s*(?P<what>[\w.-]*/[\w./-]*\w)\W*$",
            re.MULTILINE,
        ),
        _no_data,
    ),
    (re.compile(r"Error: Download from (?P<what>https?://\S+) failed"), _no_download),
    (re.compile(r"FieldDescriptor' object has no attribute 'label'"), _new_protobuf),
    *[(pattern, _no_network) for pattern in network.PATTERNS],
    (re.compile(r"ModuleNotFoundError: No module named '(?P<what>[^']+)'"), _no_module),
    (re.compile(r"error: unrecognized arguments: (?P<what>\S+)"), _bad_argument),
    (re.compile(r"MemoryError|[Oo]ut of memory|ResourceExhaustedError"), _no_memory),
    (re.compile(r"FatalError: `Illegal instruction`"), _illegal_instruction),
    (re.compile(r"ImportError: attempted relative import with no known parent package"), _no_package),
    (re.compile(r"^(?P<what>\w[\w.]*(?:Error|Exception)\b.*)", re.MULTILINE), _quoted),
    # As programs say it: `error: …`, `train.py: error: …`.
    (re.compile(r"^(?:[\w./-]+: )?[Ee]rror: (?P<what>\S.*)", re.MULTILINE), _quoted),
    *_SAID,
)


def diagnose(
    plan: Plan, step: Step, result: StepResult, log: Sequence[str], prepared: StepResult | None = None
) -> Diagnosis:
    """The likely cause of a failure; ``prepared`` is what came of preparing its data."""
    try:
        known = _likely(plan, step, result, log)
        if prepared is None or step.kind == PREPARE or not known.lacks:
            return known
        remedy = _way_to_data(plan, step, known.lacks, prepared)
        if remedy is None:
            return known
        return Diagnosis(known.cause, sentence(remedy))
    except OSError:  # a name out of a log that no file system takes
        return Diagnosis()


def _likely(plan: Plan, step: Step, result: StepResult, log: Sequence[str]) -> Diagnosis:
    if result.state == TIMEOUT:
        return _tell(because("cause-no-end"), because("try-more-time"))
    if result.reason is not None and result.reason.code == "not-started" and result.exit_code == NOT_FOUND:
        return _tell(result.reason, because("try-python"))
    if result.exit_code == 0:
        return _nothing_left(plan, step, result, log)
    said = _said(plan, step, log, _KNOWN)
    if said is not None:
        return said
    if result.signal == signal.SIGKILL:
        return _tell(because("cause-killed"), because("try-fewer-at-once"))
    return Diagnosis()


def _said(
    plan: Plan, step: Step, log: Sequence[str], patterns: Sequence[tuple[re.Pattern[str], Known]]
) -> Diagnosis | None:
    text = "\n".join(log)  # a match knows by it what stands before and after its line
    end = len(text)
    for line in reversed(log):
        for pattern, known in patterns:
            found = pattern.search(text, end - len(line), end)
            if found:
                return known(plan, step, found)
        end -= len(line) + 1
    return None


def _nothing_left(plan: Plan, step: Step, result: StepResult, log: Sequence[str]) -> Diagnosis:
    """It ended with 0 and did not leave what it should: it said why, or it left it elsewhere."""
    said = _said(plan, step, log, _SAID)
    if said is not None:
        return said
    if result.reason is not None and result.reason.code == "no-artefact":
        wanted = str(result.reason["path"]).split(" | ")[0]
        elsewhere = _nearby(Path(plan.repo), Path(plan.repo, wanted), result.since)
        if elsewhere is not None:
            return _left_elsewhere(plan, Path(plan.repo, wanted), elsewhere)
    if step.line:
        return _tell(because("cause-nothing-left"), because("try-compare-line", line=step.line))
    return _tell(because("cause-nothing-left"), because("try-compare"))


def _left_elsewhere(plan: Plan, wanted: Path, elsewhere: Path) -> Diagnosis:
    """Say where it is, and what has to change: a name in the config, or the folder that the script takes."""
    if _script_adds_folder(plan, wanted, elsewhere):
        script = _tipc_script(plan)
        return _tell(
            because(
                "cause-script-reads",
                wanted=shown_path(wanted),
                found=shown_path(elsewhere),
                script=script,
            ),
            because("try-save-below", folder=shown_path(wanted.parent), script=script),
        )
    from_there = os.path.relpath(elsewhere, wanted.parent)
    remedy = because("try-name-it", config=shown_config(plan), path=from_there)
    if from_there.startswith(".."):
        # A name cannot climb out of a folder that was never made.
        remedy = because("try-other-folder", folder=shown_path(wanted.parent))
    return _tell(
        because("cause-elsewhere", wanted=shown_path(wanted), found=shown_path(elsewhere)),
        remedy,
    )


def _script_adds_folder(plan: Plan, wanted: Path, elsewhere: Path) -> bool:
    """Whether the file lies above the folder where it is read, and the config does not name that folder."""
    if elsewhere.parent == wanted.parent or not wanted.parent.is_relative_to(elsewhere.parent):
        return False
    try:
        text = read_beginning(Path(plan.repo, plan.config), _CONFIG_LIMIT)
    except OSError:
        return False
    return str(wanted.relative_to(elsewhere.parent).with_suffix("")) not in text


def _tipc_script(plan: Plan) -> str:
    """The script that puts the paths together, as the repository has it; else by its usual name."""
    names = SCRIPTS.get(plan.chain, SCRIPTS[TRAIN_CHAIN])
    for name in names:
        path = Path("test_tipc", name)
        if Path(plan.repo, path).is_file():
            return str(path)
    return names[0]


def _nearby(root: Path, wanted: Path, since: float) -> Path | None:
    """A new file of the same name not far from where it should be; the nearest."""
    place = wanted.parent
    for _ in range(_UP + 1):
        for path in _files(place):
            if path.name == wanted.name and path.stat().st_mtime >= since:
                return path
        place = place.parent
        if place == root or not place.is_relative_to(root):
            break
    return None


def _files(place: Path) -> Iterator[Path]:
    """The files below a folder, the shallow ones first, as far as it is reasonable to look."""
    folders, seen = [(place, 0)], 0
    while folders and seen < _FOLDERS:
        folder, depth = folders.pop(0)
        seen += 1
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            continue
        yield from (entry for entry in entries if entry.is_file())
        if depth < _DOWN:
            folders += [(entry, depth + 1) for entry in entries if entry.is_dir() and not entry.is_symlink()]


def _named(step: Step, word: str) -> bool:
    """Whether the command names this word, and the config the command."""
    return bool(step.line) and any(word.lstrip("./") in argument for argument in step.argv)
