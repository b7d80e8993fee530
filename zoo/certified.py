"""README's table of the zoo, from one run: the columns of its release of paddle, and the sentence on the run.

`python zoo/certified.py [RUN]` (the newest, if none is named) writes README.md and README.zh-CN.md.
It refuses a run that does not have every config. `make certify-docs` calls it, and then `tipc docs`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- certify:begin -->", "<!-- certify:end -->"
KINDS = {"fp32": 0, "amp": 1, "pact": 2}  # the order of the columns; three releases each
MODELS = {
    "mobilenet_v3_small": "MobileNetV3-small",
    "pphumanseg_lite": "PP-HumanSeg-Lite",
    "pp_liteseg_stdc1": "PP-LiteSeg-STDC1",
    "pp_liteseg_stdc2": "PP-LiteSeg-STDC2",
    "fcn_hrnetw18_small": "FCN-HRNet-W18-small",
    "fcn_hrnetw18": "FCN-HRNet-W18",
    "ocrnet_hrnetw18": "OCRNet-HRNet-W18",
    "ocrnet_hrnetw48": "OCRNet-HRNet-W48",
    "deeplabv3p_resnet50": "DeepLabV3P-ResNet50",
}
EXTENSIONS = (("amx_int8", "AMX"), ("avx512_vnni", "AVX512-VNNI"), ("avx512f", "AVX512"), ("avx2", "AVX2"))
ENGLISH = (
    "The columns {release} are one run of `make certify`, {date}: {good} of {configs} configs certified, "
    "{passed} of {steps} steps passed, {minutes} minutes on {cores} cores ({cpu}); paddle {paddle}."
)
CHINESE = (
    "{release} 各列来自一次 `make certify`（{date}）：{configs} 个配置中 {good} 个通过认证，{steps} 个步骤中 "
    "{passed} 个通过，在 {cores} 个核（{cpu}）上用了 {minutes} 分钟；paddle {paddle}。"
)
READMES = {"README.md": ENGLISH, "README.zh-CN.md": CHINESE}


def main(names: list[str]) -> int:
    """Read the run, write both files, and name what was not certified."""
    command = [sys.executable, "-m", "tipc", "report", *names, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (run,) = json.loads(done.stdout)["runs"]
    missing = sorted(set(all_configs()) - {place(plan) for plan in run["plans"]})
    if missing:
        told = f"{run['id']} is not a run of the whole zoo: {missing[0]} is not in it"
        if len(missing) > 1:
            told += f", and {len(missing) - 1} more"
        print(told, file=sys.stderr)
        return 2
    figures = figures_of(run)
    signs = {}
    for plan in run["plans"]:
        problems = list(problems_of(plan))
        signs[plan["model"], kind_of(plan)] = "✘" if problems else "✔"
        for problem in problems:
            print(f"✘ {plan['config']}: {problem}")
    for name, sentence in READMES.items():
        path = ROOT / name
        text = with_signs(path.read_text(encoding="utf-8"), signs, str(figures["release"]))
        path.write_text(with_sentence(text, sentence.format(**figures)), encoding="utf-8")
    print(ENGLISH.format(**figures))
    return 0


def all_configs() -> list[str]:
    """The configs of both repositories, by their place below zoo/."""
    return [
        path.relative_to(ROOT / "zoo").as_posix() for path in ROOT.glob("zoo/*/test_tipc/configs/*/*.txt")
    ]


def place(plan: dict[str, Any]) -> str:
    """The place of a plan's config below zoo/."""
    return f"{Path(plan['repo']).name}/{plan['config']}"


def kind_of(plan: dict[str, Any]) -> str:
    """How a config trains."""
    kinds = {cell["precision"] for cell in plan["cells"] if cell["trainer"] != "prepare"}
    (kind,) = kinds
    return str(kind)


def problems_of(plan: dict[str, Any]) -> Iterator[str]:
    """What keeps a config from being certified: a step, a check that failed, or a required one not made."""
    findings = list(plan["findings"])
    for cell in plan["cells"]:
        findings += cell["findings"]
        for step in cell["steps"]:
            findings += step["findings"]
            if step["result"] != "passed":
                yield f"{step['id']} {step['result']}"
    for finding in findings:
        unchecked = finding["status"] == "unchecked" and finding["required"]
        if finding["status"] == "fail" or unchecked:
            yield f"{finding['check']} {finding['message']}"


def figures_of(run: dict[str, Any]) -> dict[str, object]:
    """What the sentence says."""
    environment = run["environment"]
    (interpreter,) = environment["interpreters"].values()
    paddle = interpreter["packages"]["paddlepaddle"]
    steps = [step for plan in run["plans"] for cell in plan["cells"] for step in cell["steps"]]
    flags = environment["cpu"]["flags"]
    extensions = [name for flag, name in EXTENSIONS if flag in flags]
    return {
        "release": ".".join(paddle.split(".")[:2]),
        "date": datetime.fromtimestamp(run["started"], UTC).date().isoformat(),
        "configs": len(run["plans"]),
        "good": sum(not list(problems_of(plan)) for plan in run["plans"]),
        "steps": len(steps),
        "passed": sum(step["result"] == "passed" for step in steps),
        "minutes": round(run["seconds"] / 60),
        "cores": environment["cpu"]["cores"],
        "cpu": f"{environment['cpu']['model']}, {extensions[0]}",
        "paddle": paddle,
    }


def with_signs(text: str, signs: dict[tuple[str, str], str], release: str) -> str:
    """The table with new signs in the columns of a release."""
    header = next(line for line in text.splitlines() if re.match(r"\| \| \S+ 3\.1 \|", line))
    releases = [cell.split()[-1] for cell in header.split("|")[2:-1]]
    offset = releases.index(release)
    for model, title in MODELS.items():
        old = next(line for line in text.splitlines() if line.startswith(f"| {title} |"))
        cells = old.split("|")
        for kind, order in KINDS.items():
            cells[2 + 3 * order + offset] = f" {signs[model, kind]} "
        text = text.replace(old, "|".join(cells))
    return text


def with_sentence(text: str, sentence: str) -> str:
    """The text with another sentence between the markers."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"README has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{sentence}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
