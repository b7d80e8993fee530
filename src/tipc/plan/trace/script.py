"""Which script of a repository reads a config file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tipc.errors import UsageError

USUAL = "test_train_inference_python.sh"
# Parts of a config's name -> the scripts that read it; the first that a repository has.
BY_NAME = (
    (("ptq",), ("test_ptq_inference_python.sh",)),
    (("paddle2onnx",), ("test_paddle2onnx.sh",)),
    (("serving", "cpp"), ("test_serving_infer_cpp.sh", "test_serving_cpp.sh")),
    (("serving",), ("test_serving_infer_python.sh", "test_serving_infer.sh", "test_serving.sh")),
    (("lite", "arm"), ("test_lite_arm_cpp.sh", "test_lite_arm_cpu_cpp.sh", "test_lite.sh")),
    (("cpp",), ("test_inference_cpp.sh",)),
    (("infer", "js"), ("test_inference_js.sh", "test_infer_js.sh")),
    (("infer", "python"), ("test_inference_python.sh",)),
)
HELPERS = ("prepare", "common", "benchmark", "func", "compile", "build", "download", "env", "install")
FOLDERS = ("test_tipc", "tests", "PTDN", "tipc")
_HELPER = re.compile(r"""^\s*(?:source|\.)\s+["']?\$\{?(\w+)\}?["']?/([\w./-]+)""", re.MULTILINE)


def find_script(config: Path, repo: Path, given: str | None = None) -> Path:
    """The script, relative to the repository: the one that is given, the usual one, or the only one."""
    if given:
        if not (repo / given).is_file():
            raise UsageError(f"there is no script `{given}` in {repo}")
        return Path(given)
    folders = [parent for parent in config.parents if repo in parent.parents]
    folders += [repo / name for name in FOLDERS if (repo / name).is_dir()]
    for folder in folders:
        for script in _by_name(config.name):
            if (folder / script).is_file():
                return (folder / script).relative_to(repo)
        if (folder / USUAL).is_file():
            return (folder / USUAL).relative_to(repo)
    for folder in folders:
        scripts = [
            path for path in sorted(folder.glob("*.sh")) if not any(word in path.name for word in HELPERS)
        ]
        if len(scripts) == 1:
            return scripts[0].relative_to(repo)
        if scripts:
            names = ", ".join(path.name for path in scripts)
            raise UsageError(
                f"{folder} has several scripts that could read this config: {names}",
                path=str(config),
                remedy="name one: TIPC_TRACE_SCRIPT=test_tipc/<script>.sh",
            )
    raise UsageError(
        "no dialect fits this file, and its repository has no script to trace",
        path=str(config),
        line=1,
        remedy="--dialect models|seg|ocr|clas|det, or --repo DIR for the repository's root",
    )


def _by_name(config: str) -> Iterator[str]:
    """The scripts that a config's name speaks of; ``train_infer_python`` is for the usual one."""
    words = set(re.split(r"[^a-z0-9]+", config.lower().replace("inference", "infer")))
    for parts, scripts in BY_NAME:
        if words.issuperset(parts) and not ("train" in words and parts == ("infer", "python")):
            yield from scripts


def roots(text: str, start: Path) -> dict[str, str]:
    """The variables by which a script expects its caller to say where the repository is.

    ``source ${TEST_DIR}/test_tipc/common_func.sh`` in a script that never sets TEST_DIR, where ``start`` has
    such a file: TEST_DIR is ``start``.
    """
    return {
        name: str(start)
        for name, helper in _HELPER.findall(text)
        if (start / helper).is_file() and not re.search(rf"(?m)^[^#\n]*\b{name}=", text)
    }
