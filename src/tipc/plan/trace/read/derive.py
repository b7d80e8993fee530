"""From links to a Plan: ids, cells, devices, settings, logs. The commands stay just what was called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tipc.config.source import Source
from tipc.errors import UsageError, wording
from tipc.kinds import ACCELERATORS, CPU, GPU, STRUCTURES, precision_word
from tipc.plan.assemble import WEIGHT_ENDINGS
from tipc.plan.cells import cell_id, make_cell
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.plan.target.devices import threads_of
from tipc.plan.target.machine import Machine
from tipc.plan.target.placement import MACHINES, MULTI, SINGLE, Placement
from tipc.plan.trace.read.calls import results_log
from tipc.plan.trace.read.links import Link, link, save_name, setup_of
from tipc.plan.trace.read.purposes import purposes
from tipc.plan.trace.read.status import status_lines, text_of
from tipc.plan.trace.record.passes import Traced

WHOLE = "whole_infer"
PREPARING = -1
_FILE_NAME = re.compile(r"[^\w.,~-]")
_WILDCARD = re.compile(r"/\S*\*")  # of a path that the script's shell found no file for
_SHORT = {"threads": "threads_{}", "batch_size": "bs{}", "precision": "{}", "use_trt": "trt_{}"}
_SETTINGS = (
    ("mkldnn", re.compile(r"(?:.*\.)?(?:enable|use)_mkldnn")),
    ("threads", re.compile(r"(?:.*\.)?(?:cpu|math_library)?_?(?:num_)?threads")),
    ("use_trt", re.compile(r"(?:.*\.)?use_(?:trt|tensorrt)")),
    ("precision", re.compile(r"(?:.*\.)?precision|run_mode|(?:.*\.)?use_fp16")),
    ("batch_size", re.compile(r"(?:.*[._-])?(?:batch[_-]?size|bs)")),
)
_BENCHMARK = re.compile(r"(?:.*\.)?(?:enable_|run_)?benchmark")
_DEVICE = re.compile(rf"(?:.*\.)?(?:use[_-](?:{'|'.join(ACCELERATORS)})|device|place|target|select_device)")
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


def derive(traced: Traced, source: Source, config: str, mode: str, repo: Path, script: Path) -> Plan:
    """The plan of a traced script, as the script has it."""
    for call in traced.calls:
        if Path(call.argv[0]).name == "tipc" or call.argv[1:3] == ("-m", "tipc"):
            raise UsageError(
                wording("{script} calls tipc itself: there is nothing to trace", script=script),
                path=config,
                remedy="leave out --trace",
            )
    setup = {call: setup_of(call) for call in traced.calls}
    links = link([call for call in traced.calls if not setup[call]], purposes(source), repo)
    model = _model(source, config)
    results = results_log(traced.tees, repo, {call.log for call in traced.calls})
    folder = str(Path(results).parent) if results else f"test_tipc/output/{model}/{mode}"
    cells = _cells(links, _only_gpus(source))
    steps = _steps(links, cells, folder, traced.stdout)
    seen = dict.fromkeys((call.argv, reason) for call, reason in setup.items() if reason)
    skips = tuple(Skip("", "prepare", reason, argv=argv) for argv, reason in seen)
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


def _only_gpus(source: Source) -> str:
    """The item of the config's ``gpu_list``, if it has just one: then every training is for it."""
    values = [
        line.text.partition(":")[2].strip() for line in source.lines if line.text.startswith("gpu_list:")
    ]
    return values[0] if len(values) == 1 and "|" not in values[0] else ""


def _cells(links: Sequence[Link], only: str) -> dict[int, Cell]:
    """The cell of each link, by the link's identity; links of one training share it."""
    by_train: dict[int, Cell] = {}
    cells = {}
    for here in links:
        owner = _owner(here)
        if owner not in by_train:
            chain = [other for other in links if other.train is here.train]
            cell = _cell(here.train, chain, only)
            if owner == PREPARING:
                cell = Cell("prepare", "prepare", "-1", CPU)
            by_train[owner] = replace(cell, id=unique(cell.id, [made.id for made in by_train.values()]))
        cells[id(here)] = by_train[owner]
    return cells


def _owner(here: Link) -> int:
    """Whose cell a link shares: its training's, that of all preparing, or that of all without a training."""
    if here.kind == "prepare":
        return PREPARING
    return id(here.train) if here.train else 0


def _cell(train: Link | None, chain: Sequence[Link], only: str) -> Cell:
    words: tuple[str, ...] = ()
    if train is None:
        visible = next((here.call.cuda for here in chain if here.call.cuda), "") or ""
        combination = Combination(WHOLE, visible, "", placement_of(visible or "-1"))
    else:
        name, gpus, autocast = save_name(train)
        trainer = name or (train.purpose.key if train.purpose else "train")
        asked = _asked(train, chain, gpus, only)
        placement = placement_of(asked, launched=train.command.launched)
        combination = Combination(
            trainer, asked, autocast, placement, "pact" in trainer or "quant" in trainer
        )
        words = train.command.words
    identity = cell_id(combination) if train else WHOLE
    return make_cell(combination, identity, GPU, Machine(gpus=1), words)


def placement_of(asked: str, launched: bool | None = None) -> Placement:
    """What a cell's GPU item means: ids with commas, machines before a semicolon, -1 for the CPU."""
    ips, _, ids = asked.rpartition(";")
    machines = [ip for ip in ips.split(",") if ip]
    several = "," in ids if launched is None else launched
    kind = MULTI if several else SINGLE
    if len(machines) > 1:
        kind = MACHINES
    return Placement(ids, ips, ids.split(",")[0] or None, kind, max(1, len(machines)), ids == "-1")


def _asked(train: Link, chain: Sequence[Link], saved: str, only: str) -> str:
    """The GPUs that a training is for: its launcher's, of the name it saves to, the visible or only ones."""
    launch = train.command.launch
    gpus = launch.get("--gpus") or launch.get("--devices") or ""
    ips = launch.get("--ips", "")
    if gpus:
        return f"{ips};{gpus}" if ips else gpus
    if saved:
        return saved
    if device_of(train) == CPU:
        return "-1"
    seen = [here.call.cuda for here in (train, *chain) if here.call.cuda]
    return seen[0] if seen else only or "0"


def device_of(here: Link) -> str:
    """What the command's own words say: "cpu", "gpu", another device, or "" where they say nothing."""
    for name, value in here.options:
        if _DEVICE.fullmatch(name):
            word = value.lower().split(":")[0]
            named = re.split("[_-]", name)[-1]  # of use_npu
            other = named if named in ACCELERATORS else GPU
            if word in _TRUE:
                return other
            if word in _FALSE:
                return CPU
            if word.isalpha():
                return word
    return ""


def settings_of(here: Link) -> dict[str, str]:
    """An inference's batch size, precision and so on, where its words tell."""
    found = {}
    for setting, pattern in _SETTINGS:
        values = [value for name, value in here.options if pattern.fullmatch(name) and value]
        if values:
            found[setting] = precision_word(values[-1]) if setting == "precision" else values[-1]
    return found


def _settings(here: Link) -> dict[str, str]:
    """What an inference is told; its device only where its words say one."""
    if here.kind != "infer":
        return {}
    told = device_of(here)
    return {"device": told, **settings_of(here)} if told else settings_of(here)


def _steps(links: Sequence[Link], cells: Mapping[int, Cell], folder: str, stdout: str) -> list[Step]:
    lines = status_lines(stdout, [here.call.argv for here in links])
    identities: dict[int, str] = {}
    for here in links:
        name = f"{cells[id(here)].id}/{_suffix(here)}"
        identities[id(here)] = unique(name, list(identities.values()))
    steps = []
    for here, printed in zip(links, lines, strict=True):
        identity, cell = identities[id(here)], cells[id(here)]
        device = device_of(here) or (CPU if cell.asked == "-1" else GPU)
        ids = _gpus(device, cell)
        count = max(1, len(ids)) if here.command.launched else 1
        settings = _settings(here)
        steps.append(
            Step(
                id=identity,
                kind=here.kind,
                cell=cell.id,
                argv=here.call.argv,
                env={"CUDA_VISIBLE_DEVICES": None, **here.call.env},
                cwd=here.call.cwd,
                log=here.call.log or f"{folder}/{_FILE_NAME.sub('_', identity)}.log",
                needs=tuple(dict.fromkeys(identities[id(other)] for other in here.needs)),
                produces=_produces(here),
                status_line=printed or text_of(here.call.argv),
                device=device,
                gpus=ids if here.command.launched else ids[:1],
                threads=threads_of(device, settings.get("threads", ""), count),
                processes=count,
                measures=here.kind == "infer" and _measures(here),
                settings=settings,
                weights=here.weights,
                model_dir=here.model_dir,
                line=here.purpose.line if here.purpose else 0,
                globs=tuple(word for word in here.call.argv if _WILDCARD.search(word)),
            )
        )
    return steps


def _gpus(device: str, cell: Cell) -> tuple[str, ...]:
    """The GPUs of a step: those that its cell asks for, the first one where it asks for none."""
    if device == CPU:
        return ()
    return tuple(cell.asked.rpartition(";")[2].split(",")) if cell.asked else ("0",)


def _measures(here: Link) -> bool:
    return any(_BENCHMARK.fullmatch(name) and value.lower() == "true" for name, value in here.options)


def _suffix(here: Link) -> str:
    """The step's part of its id, as native plans write it: ``infer-cpu-threads_1-bs1``."""
    words = [here.kind]
    if here.kind == "infer":
        words.append(device_of(here) or "device")
        words += [_SHORT.get(name, name + "_{}").format(value) for name, value in settings_of(here).items()]
    elif here.kind == "prepare":
        words.append(Path(here.command.program).stem)
    return _FILE_NAME.sub("_", "-".join(words))


def _produces(here: Link) -> tuple[str, ...]:
    """The weights that later commands read of a training; the model that inference reads of an export."""
    if here.kind == "train" and here.weights:
        ending = here.weights.endswith(WEIGHT_ENDINGS)
        return (here.weights if ending else f"{here.weights}.pdparams|{here.weights}",)
    if here.kind == "export" and here.model_dir:
        inside = [f"{here.model_dir}/*{end}" for end in STRUCTURES]
        beside = [f"{here.model_dir}{end}" for end in STRUCTURES]
        return ("|".join([*inside, *beside]),)
    return ()


def unique(name: str, taken: Sequence[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}~{number}", number + 1
    return found
