"""What a repository's own bash runs for a config: its script, run with stubs that record every call.

The script runs in a scratch copy of the folders that it knows. ``python`` and ``paddle2onnx`` are stubs:
each writes its words, its folder and its exported variables to a file and ends well, after leaving behind
what a successful training leaves (the log that the script copies, the weights that it looks for). Nothing
is trained, and the checkout is only read.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BENCHMARK = "benchmark_train"
SCRIPTS = {
    "train": "test_tipc/test_train_inference_python.sh",
    "ptq": "test_tipc/test_ptq_inference_python.sh",
    "paddle2onnx": "test_tipc/test_paddle2onnx.sh",
    "infer": "test_tipc/test_inference_python.sh",
    "dy2static": "test_tipc/test_train_dy2static_python.sh",
    BENCHMARK: "test_tipc/benchmark_train.sh",
}
# What a training leaves in its output folder, where the script looks for it.
LEAVES = {
    "seg": ("best_model/model.pdparams", "iter_N/model.pdparams"),
    "ocr": ("train.log",),
    "clas": ("MODEL/train.log", "RecModel/train.log"),
}
# Where the scripts of the known families go. Of any other it is not known: they get every folder, and the
# scripts in them.
KNOWN_FAMILIES = ("seg", "clas", "det", "ocr", "models")
FOLDERS = ("deploy", "log", "ppdet/modeling/transformers/ext_op")
STUBS = ("python", "python3", "python3.7", "python3.10", "paddle2onnx", "pip", "pip3", "pip3.7")
SILENT = ("sleep", "wget", "curl", "git", "apt", "apt-get", "nvidia-smi", "tar", "unzip")
# Set by bash itself, by this recorder, or a mere counter of the script's loop.
NOT_EXPORTED = {"CUDA_VISIBLE_DEVICES", "Count", "OLDPWD", "PWD", "SHLVL", "_"}
# What benchmark_train.sh notes of the machine, of the checkout and of the time that a run took.
NOTED = {"str_tmp", "frame_version", "frame_commit", "model_branch", "model_commit", "model_run_time"}
SECONDS = 120

_END, _UNSET = "\x1e", "\x1f"
_STATUS = re.compile("\x1b\\[33m( Run (?:successfully|failed).*?)\x1b\\[0m", re.DOTALL)

STUB = r"""#!/bin/bash
{
  unset_mark=$'\x1f'
  printf '%s\0' "${CUDA_VISIBLE_DEVICES-$unset_mark}" "$PWD"
  for name in $(compgen -e); do printf '%s=%s\0' "$name" "${!name}"; done
  printf '\x1e\0'
  printf '%s\0' "${0##*/}" "$@"
  printf '\x1e\0'
} >> "$FIELD_CALLS"
folder= iterations= evaluates=
for word in "$@"; do
  case "$word" in
    "$FIELD_SAVE="*) folder=${word#*=} ;;
    --iters=*) iterations=${word#*=} ;;
    --do_eval) evaluates=yes ;;
  esac
done
[ -n "$folder" ] || exit 0
while IFS= read -r leaf; do
  case "$leaf" in
    "") continue ;;
    best_model/*) [ -n "$evaluates" ] || continue ;;
    iter_N/*) [ -n "$iterations" ] || continue; leaf="iter_$iterations/${leaf#*/}" ;;
    MODEL/*) leaf="$FIELD_MODEL/${leaf#*/}" ;;
  esac
  leaf="$folder/$leaf"
  mkdir -p "${leaf%/*}" && : > "$leaf"
done <<< "$FIELD_LEAVES"
exit 0
"""


@dataclass(frozen=True)
class Call:
    """One command that the script ran, as the program received it."""

    argv: list[str]
    cuda: str | None
    cwd: str = "."
    env: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The call, without what is usual."""
        record: dict[str, Any] = {"argv": self.argv, "cuda": self.cuda}
        if self.cwd != ".":
            record["cwd"] = self.cwd
        if self.env:
            record["env"] = self.env
        return record


@dataclass(frozen=True)
class Recording:
    """What the script did with one config in one mode."""

    config: str
    mode: str
    commands: list[Call]
    status: list[str]
    exit: int
    trouble: str = ""  # it did not end by itself

    def as_json(self) -> dict[str, Any]:
        """One line of a file of recordings."""
        return {
            "config": self.config,
            "mode": self.mode,
            "commands": [call.as_json() for call in self.commands],
            "status": self.status,
            "exit": self.exit,
        }


class Recorder:
    """Records the scripts of one checkout."""

    def __init__(self, repository: Path, family: str, scratch: Path) -> None:
        self.repository = repository
        self.family = family
        self.scratch = scratch
        # benchmark_train.sh names its logs after the folder of the repository, or the one above it.
        self.root = scratch / repository.resolve().parent.name / repository.resolve().name
        self.folders = FOLDERS
        self.scripts: tuple[Path, ...] = ()
        if family not in KNOWN_FAMILIES:
            self.folders, self.scripts = _whole(repository)
        self.bin = scratch / "bin"
        self._make_stubs(STUBS)
        for name in SILENT:
            _executable(self.bin / name, "#!/bin/sh\nexit 0\n")

    def record(self, chain: str, config: str, mode: str, text: bytes | None = None) -> Recording:
        """Run the chain's script for a config of the checkout, or for a text under that name."""
        self._fresh_root()
        path = self.root / config
        path.parent.mkdir(parents=True, exist_ok=True)
        content = (self.repository / config).read_bytes() if text is None else text
        path.write_bytes(content)
        lines = [line for line in content.decode("utf-8", "surrogateescape").split("\n") if line]
        self._prepare(lines)
        calls = self.scratch / "calls"
        calls.write_bytes(b"")
        env = self._environment(lines, calls)
        output, code, trouble = _run(["bash", SCRIPTS[chain], config, mode], self.root, env)
        hidden = set(env) | NOT_EXPORTED | NOTED
        commands = [self._call(*parts) for parts in _read_calls(calls, hidden)]
        if chain == BENCHMARK:
            commands = [call for call in commands if not _asks_only(call)]
        return Recording(config, mode, commands, [self._plain(line) for line in output], code, trouble)

    def _environment(self, lines: list[str], calls: Path) -> dict[str, str]:
        return {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(self.scratch),
            "LANG": "C.UTF-8",
            "FIELD_CALLS": str(calls),
            "FIELD_SAVE": _save_key(self.family, lines),
            "FIELD_MODEL": _value(lines, 1),
            "FIELD_LEAVES": "\n".join(LEAVES.get(self.family, ())),
        }

    def _fresh_root(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "test_tipc").mkdir(parents=True)
        for script in sorted((self.repository / "test_tipc").iterdir()):
            if script.suffix in (".sh", ".py"):
                shutil.copy(script, self.root / "test_tipc" / script.name)
        for folder in self.folders:
            if (self.repository / folder).is_dir():
                (self.root / folder).mkdir(parents=True, exist_ok=True)
        for script in self.scripts:
            shutil.copy(self.repository / script, self.root / script)

    def _prepare(self, lines: list[str]) -> None:
        """What the config needs that no stub can make: its interpreter's name, a folder to change into."""
        python = _value(lines, 2)
        if re.fullmatch(r"[\w.+-]+", python):
            self._make_stubs((python,))
        if self.family == "clas":
            model = _value(lines, 36)
            if re.fullmatch(r"(\./)?\w[\w./-]*", model):
                (self.root / model / "quant_post_static_model").mkdir(parents=True, exist_ok=True)

    def _make_stubs(self, names: tuple[str, ...]) -> None:
        for name in names:
            _executable(self.bin / name, STUB)

    def _call(self, cuda: str, cwd: str, env: dict[str, str], argv: list[str]) -> Call:
        place = os.path.relpath(cwd, os.path.realpath(self.root))
        return Call([self._plain(word) for word in argv], None if cuda == _UNSET else cuda, place, env)

    def _plain(self, text: str) -> str:
        return text.replace(os.path.realpath(self.root), "<ROOT>").replace(str(self.root), "<ROOT>")


@contextmanager
def recorder(repository: Path, family: str) -> Iterator[Recorder]:
    """A recorder whose scratch folder goes when it is done."""
    with tempfile.TemporaryDirectory(prefix="field-") as folder:
        yield Recorder(repository, family, Path(folder))


def _whole(repository: Path) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Every folder and every script of a checkout, relative to it."""
    folders: list[str] = []
    scripts: list[Path] = []
    for here, names, files in os.walk(repository):
        names[:] = [name for name in names if not name.startswith(".")]
        place = Path(here).relative_to(repository)
        folders += [str(place / name) for name in names]
        scripts += [place / name for name in files if name.endswith(".sh")]
    return tuple(folders), tuple(scripts)


def _run(argv: list[str], cwd: Path, env: dict[str, str]) -> tuple[list[str], int, str]:
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    trouble = ""
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        trouble = f"not done after {SECONDS} s"
    return _STATUS.findall(output.decode("utf-8", "surrogateescape")), process.returncode, trouble


def _asks_only(call: Call) -> bool:
    """Whether a call of benchmark_train.sh only asks which paddle there is."""
    if call.argv[1:2] == ["-c"]:
        return call.argv[0].startswith("python")
    return call.argv == ["pip", "list"] and call.cwd == "."


def _read_calls(path: Path, hidden: set[str]) -> Iterator[tuple[str, str, dict[str, str], list[str]]]:
    words = path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
    while words:
        end = words.index(_END)
        cuda, cwd, *pairs = words[:end]
        rest = words[end + 1 :]
        last = rest.index(_END)
        env = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        yield cuda, cwd, {k: v for k, v in env.items() if k not in hidden}, rest[:last]
        words = rest[last + 1 :]


def _save_key(family: str, lines: list[str]) -> str:
    """The option by which a training is told its folder: the last word of the line's key."""
    index = 6 if family == "models" else 7
    line = lines[index] if index < len(lines) else ""
    words = line.split(":", 1)[0].split()
    return words[-1] if words else "none"


def _value(lines: list[str], index: int) -> str:
    line = lines[index] if index < len(lines) else ""
    return line.split(":")[1] if ":" in line else ""


def _executable(path: Path, text: str) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
