"""``python -m field.plans``: every config of the checkouts planned as a user would, against the own bash.

A config is planned in its checkout, without ``--dialect``; what its script runs is recorded by
``field.recorder``. The recordings are kept, by the digests of script, helpers and config.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from field.recorder import BENCHMARK, SCRIPTS, Recorder, recorder
from field.work import held

# Checkout, folder of the model repository, family of its scripts (what a training leaves behind).
PLACES = (
    ("PaddleSeg", ".", "seg"),
    ("PaddleClas", ".", "clas"),
    ("PaddleDetection", ".", "det"),
    ("PaddleOCR", ".", "ocr"),
    ("models", "tutorials/mobilenetv3_prod/Step6", "models"),
    # Scripts of their own, which tipc traces.
    ("PaddleSeg", "contrib/MedicalSeg", ""),
    ("PaddleSeg", "contrib/PanopticSeg", ""),
    ("PaddleOCR", "benchmark/PaddleOCR_DBNet", "ocr"),
    ("PaddleGAN", ".", ""),
    ("PaddleRec", ".", ""),
    ("PaddleScience", ".", ""),
    ("PaddleSpeech", "tests", ""),
)
MODES = {
    "train": ("lite_train_lite_infer", "whole_infer"),
    "ptq": ("whole_infer",),
    "paddle2onnx": ("paddle2onnx_infer",),
    "infer": ("whole_infer",),
    "dy2static": ("lite_train_lite_infer",),
    BENCHMARK: (BENCHMARK,),
}
# Words in the names of files that belong to other chains.
OTHERS = ("serving", "_cpp", "cpp_", "lite_arm", "lite_cpp", "pipeline", "js_")
BLOCK = re.compile(r"\btrain_benchmark_params\b")  # what benchmark_train.sh reads of a training config
RIGHT, WRONG, REFUSED = "right", "wrong", "refused"


@dataclass(frozen=True)
class Outcome:
    """One config in one mode."""

    checkout: str
    chain: str
    config: str
    mode: str
    result: str
    why: str = ""


def chain_of(path: Path) -> str:
    """Which chain a config is for, by its name: the repositories' documentation names files so.

    The header of a quantisation says more than a name.
    """
    name = path.name
    first = path.read_text(encoding="utf-8", errors="replace").split("\n")[:5]
    if "kl_quant_params" in first[0]:
        return "ptq"  # two files of PaddleOCR that are named like published models
    if any(line.startswith("bs_item:") for line in first):
        return BENCHMARK  # the layout of PaddleScience, whatever the file is called
    if "paddle2onnx" in name:
        return "paddle2onnx"
    if any(word in name for word in OTHERS) or "infer_cpp" in name:
        return "other"
    if "ptq" in name:
        return "ptq"
    if "dy2static" in name:
        return "dy2static"
    if "train" in name:
        return "train"
    return "infer" if "infer_python" in name else "other"


def configs(root: Path) -> Iterator[tuple[str, str]]:
    """(chain, config) for every config of a model repository; one with the block of a benchmark twice."""
    for path in sorted((root / "test_tipc/configs").rglob("*.txt")):
        config = path.relative_to(root).as_posix()
        chain = chain_of(path)
        yield chain, config
        if chain != BENCHMARK and BLOCK.search(path.read_text(encoding="utf-8", errors="replace")):
            yield BENCHMARK, config


class Kept:
    """Recordings of one checkout, kept in a file."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.root = root
        self.known: dict[str, dict[str, Any]] = {}
        self.fresh = 0
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                self.known = json.load(file)

    def get(self, one: Recorder, chain: str, config: str, mode: str) -> dict[str, Any]:
        """The recording, made now where it is not known."""
        key = self._key(chain, config, mode)
        if key not in self.known:
            self.known[key] = one.record(chain, config, mode).as_json()
            self.fresh += 1
            if self.fresh % 100 == 0:
                self.save()
        return self.known[key]

    def save(self) -> None:
        """Write them all, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_suffix(".new")
        with gzip.open(scratch, "wt", encoding="utf-8") as file:
            json.dump(self.known, file)
        scratch.replace(self.path)

    def _key(self, chain: str, config: str, mode: str) -> str:
        digest = hashlib.sha256()
        tipc = self.root / "test_tipc"
        scripts = [self.root / SCRIPTS[chain], tipc / "common_func.sh", tipc / "utils_func.sh"]
        if chain == BENCHMARK:
            scripts.append(self.root / SCRIPTS["train"])  # which it has run its copies of the config
        for path in scripts:
            if path.exists():
                digest.update(path.read_bytes())
        digest.update((self.root / config).read_bytes())
        return f"{config} {mode} {digest.hexdigest()[:16]}"


def planned(root: Path, config: str, mode: str) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """The commands of the plan as upstream, as a user gets it in the checkout, and what it leaves out.

    What a trace names as left out is what sets up the environment (``pip install``).
    """
    from tipc.plan.build import build_plan
    from tipc.plan.request import PlanOptions

    plan = build_plan(root / config, mode, PlanOptions(as_upstream=True))
    here = str(root.resolve())
    left_out = [list(skip.argv) for skip in plan.skipped if skip.argv]
    steps = [
        {
            "argv": [word.replace(here, "<ROOT>") for word in step.argv],
            "cuda": step.env["CUDA_VISIBLE_DEVICES"],
            "cwd": step.cwd,
        }
        for step in plan.steps
        # prepare.sh is a script of its own, and `ln` no program that the recorder replaces.
        if step.id != "prepare" and step.argv[0] != "ln"
    ]
    return steps, left_out


def judge(root: Path, chain: str, config: str, mode: str, run: dict[str, Any]) -> tuple[str, str]:
    """Whether the plan is what the bash ran, and if not, how it differs."""
    from tipc.errors import TipcError

    try:
        steps, left_out = planned(root, config, mode)
    except TipcError as error:
        return REFUSED, str(error).splitlines()[0]
    wanted = [
        {"argv": call["argv"], "cuda": call["cuda"], "cwd": call.get("cwd", ".")}
        for call in run["commands"]
        if call["argv"] not in left_out
    ]
    if steps == wanted:
        return RIGHT, ""
    return WRONG, _difference(steps, wanted)


def _difference(steps: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> str:
    for ours, theirs in zip(steps, wanted, strict=False):
        for name in ("argv", "cuda", "cwd"):
            if ours[name] != theirs[name]:
                return f"{name}: {ours[name]} instead of {theirs[name]}"
    return f"{len(steps)} commands instead of {len(wanted)}"


def survey(checkouts: Path, kept: Path, only: list[str]) -> Iterator[Outcome]:
    """Every config of every checkout that is there."""
    for name, folder, family in PLACES:
        root = checkouts / name / folder
        if only and name not in only:
            continue
        if not (root / "test_tipc").is_dir():
            print(f"{name}: skipped, there is no {root}")
            continue
        place = _place_name(name, folder)
        store = Kept(kept / f"{place.replace('/', '+')}.json.gz", root)
        with recorder(root, family) as one:
            for chain, config in configs(root):
                if chain == "other":
                    yield Outcome(place, chain, config, "", *_other(root, config))
                    continue
                for mode in MODES[chain]:
                    run = store.get(one, chain, config, mode)
                    yield Outcome(place, chain, config, mode, *judge(root, chain, config, mode, run))
        store.save()


def _place_name(checkout: str, folder: str) -> str:
    """What a row of the table is called: the checkout, and the last folder of one that is inside it."""
    inside = Path(folder).name
    if not inside or checkout == "models":
        return checkout
    return f"{checkout}/{inside}"


def _other(root: Path, config: str) -> tuple[str, str]:
    """A config of another chain must not be taken for a training."""
    from tipc.config.identify import identify
    from tipc.config.source import read_source
    from tipc.errors import TipcError

    try:
        identity = identify(read_source(str(root / config)), str(root))
    except TipcError as error:
        return RIGHT, str(error)
    return (WRONG if identity.chain == "train" else RIGHT), identity.chain


def table(outcomes: list[Outcome]) -> str:
    """By repository and chain."""
    counts = Counter((one.checkout, one.chain, one.result) for one in outcomes)
    lines = ["| repository | chain | runs | as the bash | refused | different |", "| --- " * 6 + "|"]
    for name, chain in dict.fromkeys((one.checkout, one.chain) for one in outcomes):
        right, wrong, refused = (counts[name, chain, result] for result in (RIGHT, WRONG, REFUSED))
        lines.append(f"| {name} | {chain} | {right + wrong + refused} | {right} | {refused} | {wrong} |")
    runs = [one for one in outcomes if one.chain != "other"]
    share = sum(one.result == RIGHT for one in runs) / max(len(runs), 1)
    lines.append(f"\n{len(runs)} runs, {100 * share:.1f} % as the repository's own bash.")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """0 if at least 97 % of the runs are right and no config of another chain became a training."""
    parser = argparse.ArgumentParser(prog="python -m field.plans", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="REPOSITORY")
    parser.add_argument("--work", default=os.environ.get("TIPC_FIELD_WORK", ".field"), metavar="DIR")
    parser.add_argument(
        "--show", type=int, default=3, metavar="N", help="examples for each kind of difference"
    )
    options = parser.parse_args(argv)
    field = os.environ.get("TIPC_FIELD", "")
    if not field or not Path(field).is_dir():
        print("field-plan: skipped, TIPC_FIELD names no folder with checkouts")
        return 0
    kept = Path(options.work) / "recordings"
    with held(kept):
        outcomes = list(survey(Path(field).resolve(), kept, options.only))
    shown: Counter[tuple[str, str, str]] = Counter()
    for one in outcomes:
        key = (one.checkout, one.chain, one.result)
        shown[key] += 1
        if one.result != RIGHT and shown[key] <= options.show:
            print(f"{one.checkout} {one.chain} {one.result}: {one.config} {one.mode}\n    {one.why[:400]}")
    print(table(outcomes))
    runs = [one for one in outcomes if one.chain != "other"]
    right = sum(one.result == RIGHT for one in runs)
    strangers = [one for one in outcomes if one.chain == "other" and one.result == WRONG]
    return 0 if right >= 0.97 * len(runs) and not strangers else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
