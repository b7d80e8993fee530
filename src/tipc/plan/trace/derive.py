"""From links to a Plan: ids, cells, devices, settings, logs. The commands stay just what was called."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tipc.config.text import Source
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.plan.trace import paths
from tipc.plan.trace.calls import Call, results_log
from tipc.plan.trace.chain import Link, link, save_name, setup_of
from tipc.plan.trace.kinds import purposes
from tipc.plan.trace.passes import Traced
from tipc.plan.trace.status import status_lines, text_of

WHOLE = "whole_infer"
_SETTINGS = (
    ("batch_size", re.compile(r"(?:.*\.)?(?:\w*_)?(?:batch_?size|batch|bs)")),
    ("precision", re.compile(r"(?:.*\.)?precision|run_mode")),
    ("mkldnn", re.compile(r"(?:.*\.)?(?:enable|use)_mkldnn")),
    ("threads", re.compile(r"(?:.*\.)?(?:cpu|math_library)?_?(?:num_)?threads")),
    ("use_trt", re.compile(r"(?:.*\.)?use_(?:trt|tensorrt)")),
    ("benchmark", re.compile(r"(?:.*\.)?(?:enable_)?benchmark")),
)
_DEVICE = re.compile(r"(?:.*\.)?(?:use_gpu|device|place|target|use_xpu|use_npu|select_device)")
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


def derive(traced: Traced, source: Source, config: str, mode: str, repo: Path, script: Path) -> Plan:
    """The plan of a traced script, as the script has it."""
    setup = {call: setup_of(call) for call in traced.calls}
    links = link([call for call in traced.calls if not setup[call]], purposes(source), repo)
    model = _model(source, config)
    results = results_log(traced.recording, repo, {call.log for call in traced.calls})
    folder = str(Path(results).parent) if results else f"test_tipc/output/{model}/{mode}"
    cells = _cells(links)
    steps = _steps(links, cells, folder, traced.recording.stdout)
    seen = dict.fromkeys((call.argv, reason) for call, reason in setup.items() if reason)
    skips = tuple(Skip("", "prepare", " ".join(argv), reason) for argv, reason in seen)
    return Plan(
        config=config,
        mode=mode,
        dialect="traced",
        model=model,
        repo=str(repo),
        as_upstream=True,
        cells=tuple(dict.fromkeys(cells.values())),
        steps=tuple(steps),
        skipped=skips,
        notes=(
            f"traced: taken from what {script} called, not from a dialect",
            *traced.notes,
            *_wildcards(steps),
        ),
        results_log=results or f"{folder}/results_python.log",
        traced=True,
    )


def _model(source: Source, config: str) -> str:
    for line in source.lines:
        key, _, value = line.text.partition(":")
        if key.strip() in ("model_name", "model") and value.strip():
            return value.strip().split(":")[0]
    return Path(config).parent.name or Path(config).stem


def _cells(links: Sequence[Link]) -> dict[int, Cell]:
    """The cell of each link, by the link's identity; links of one training share it."""
    by_train: dict[int, Cell] = {}
    taken: dict[str, int] = {}
    cells = {}
    for here in links:
        owner = 1 if here.kind == "prepare" else id(here.train) if here.train else 0
        if owner not in by_train:
            chain = [other for other in links if other.train is here.train]
            cell = Cell("prepare", "prepare", "-1", "cpu") if owner == 1 else _cell(here.train, chain)
            taken[cell.id] = taken.get(cell.id, 0) + 1
            if taken[cell.id] > 1:
                cell = replace(cell, id=f"{cell.id}-{taken[cell.id]}")
            by_train[owner] = cell
        cells[id(here)] = by_train[owner]
    return cells


def _cell(train: Link | None, chain: Sequence[Link]) -> Cell:
    if train is None:
        visible = next((here.call.cuda for here in chain if here.call.cuda), "")
        return Cell(WHOLE, WHOLE, asked=visible, runs_on=f"gpu:{visible}" if visible else "cpu")
    name, gpus, autocast = save_name(train)
    trainer = name or (train.purpose.key if train.purpose else "train")
    asked = _asked(train, chain, gpus)
    text = " ".join((trainer, autocast, *train.words)).lower()
    precision, level = "fp32", ""
    if "pact" in trainer or "quant" in trainer:
        precision = "pact"
    elif re.search(r"amp_train|use_amp=true|--amp\b|amp_level|amp\.level|--use_amp\b|\bfp16\b", text):
        precision = "amp"
        level = "O2" if re.search(r"o2\b", text) else "O1"
    runs_on = "cpu" if asked == "-1" else f"gpu:{asked}"
    parts = [trainer, "cpu" if asked == "-1" else f"gpu{asked}", autocast]
    identity = re.sub(r"[^\w.,-]+", "_", "-".join(part for part in parts if part))
    return Cell(identity, trainer, asked, runs_on, autocast, precision, level)


def _asked(train: Link, chain: Sequence[Link], saved: str) -> str:
    """The GPUs that a training is for: its launcher's, those in the name it saves to, or the visible ones."""
    launch = train.command.launch
    gpus = launch.get("--gpus") or launch.get("--devices") or ""
    ips = launch.get("--ips", "")
    if gpus:
        return f"{ips};{gpus}" if ips else gpus
    if saved:
        return saved
    if device_of(train) == "cpu":
        return "-1"
    seen = [here.call.cuda for here in (train, *chain) if here.call.cuda]
    return seen[0] if seen else "0"


def device_of(here: Link) -> str:
    """What the command's own words say: "cpu", "gpu", another device, or "" where they say nothing."""
    for name, value in paths.options(here.command.arguments):
        if _DEVICE.fullmatch(name):
            word = value.lower().split(":")[0]
            other = name.removeprefix("use_") if name in ("use_npu", "use_xpu") else "gpu"
            if word in _TRUE:
                return other
            if word in _FALSE:
                return "cpu"
            if word.isalpha():
                return word
    return ""


def settings_of(here: Link) -> dict[str, str]:
    """An inference's batch size, precision and so on, where its words tell."""
    found: dict[str, str] = {}
    for name, value in paths.options(here.command.arguments):
        for setting, pattern in _SETTINGS:
            if pattern.fullmatch(name) and value:
                found.setdefault(setting, value)
    return found


def _steps(links: Sequence[Link], cells: Mapping[int, Cell], folder: str, stdout: str) -> list[Step]:
    lines = status_lines(stdout, [here.call.argv for here in links])
    identities: dict[int, str] = {}
    for here in links:
        identities[id(here)] = _identity(here, cells[id(here)], identities.values())
    steps = []
    for here, printed in zip(links, lines, strict=True):
        identity, cell = identities[id(here)], cells[id(here)]
        device = device_of(here) or ("cpu" if cell.runs_on == "cpu" else "gpu")
        gpus = () if device == "cpu" else tuple(cell.asked.rpartition(";")[2].split(","))
        settings = settings_of(here) if here.kind == "infer" else {}
        steps.append(
            Step(
                id=identity,
                kind=here.kind,
                cell=cell.id,
                argv=here.call.argv,
                env=_environment(here.call),
                cwd=here.call.cwd,
                log=here.call.log or f"{folder}/{identity.replace('/', '__')}.log",
                needs=tuple(dict.fromkeys(identities[id(other)] for other in here.needs)),
                produces=_produces(here),
                status_line=printed or text_of(here.call.argv),
                device=device,
                gpus=gpus if here.command.launched else gpus[:1],
                processes=len(gpus) if here.command.launched and gpus else 1,
                measures=settings.get("benchmark", "").lower() in _TRUE,
                settings=settings,
                weights=here.weights,
                model_dir=here.model_dir,
                line=here.purpose.line if here.purpose else 0,
            )
        )
    return steps


def _environment(call: Call) -> dict[str, str | None]:
    return {"CUDA_VISIBLE_DEVICES": None, **call.env}


def _identity(here: Link, cell: Cell, taken: Collection[str]) -> str:
    words = [here.kind]
    if here.kind == "infer":
        settings = settings_of(here)
        words.append(device_of(here) or "device")
        words += [f"{name}_{value}" for name, value in settings.items() if name != "benchmark"]
    elif here.kind == "prepare":
        words.append(Path(here.command.program).stem)
    identity = f"{cell.id}/" + re.sub(r"[^\w.,=-]+", "_", "-".join(words))
    number, unique = 2, identity
    while unique in taken:
        unique, number = f"{identity}-{number}", number + 1
    return unique


def _produces(here: Link) -> tuple[str, ...]:
    """The weights that later commands read of a training; the model that inference reads of an export."""
    if here.kind == "train" and here.weights and "*" not in here.weights:
        name = here.weights
        return (name if name.endswith((".pdparams", ".pdopt", ".tar")) else f"{name}|{name}.pdparams",)
    return ()


def _wildcards(steps: Sequence[Step]) -> list[str]:
    found = [step.id for step in steps if any(re.search(r"/[^ ]*\*", word) for word in step.argv)]
    return [
        f"{identity}: its path has a wildcard, which the script's shell would fill in" for identity in found
    ]
