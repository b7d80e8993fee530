"""From links to a Plan: ids, cells, devices, settings, logs. The commands stay just what was called."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tipc.config.source import Source
from tipc.errors import UsageError, wording
from tipc.kinds import (
    ACCELERATORS,
    CPU,
    EXPORT,
    GPU,
    INFER,
    PREPARE,
    TRAIN,
    model_formats,
    precision_word,
)
from tipc.message import english_text
from tipc.plan.assemble import trained_files
from tipc.plan.cells import cell_id, make_cell, setting_word, unique_name
from tipc.plan.matrix import Combination
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.plan.target.devices import threads_of
from tipc.plan.target.machine import Machine
from tipc.plan.target.placement import MACHINES, MULTI, SINGLE, Placement
from tipc.plan.trace.read.calls import Call, results_log
from tipc.plan.trace.read.links import Link, link, save_name, setup_of
from tipc.plan.trace.read.purposes import purposes
from tipc.plan.trace.read.status import status_lines, text_of
from tipc.plan.trace.record.passes import Traced

WHOLE = "whole_infer"
PREPARING, UNTRAINED = -1, 0  # whose cell it is where that is no training
_FILE_NAME = re.compile(r"[^\w.,~-]")
_WILDCARD = re.compile(r"/\S*\*")  # of a path that the script's shell found no file for
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
    _refuse_own_caller(traced.calls, config, script)
    calls, skips = _steps_and_setup(traced.calls)
    links = link(calls, purposes(source), repo)
    model = _model(source, config)
    logs = {call.log for call in traced.calls}
    results = results_log(traced.tees, repo, logs)
    folder = f"test_tipc/output/{model}/{mode}"
    if results:
        folder = str(Path(results).parent)
    cells = _cells(links, _only_gpus(source))
    notes: list[str] = [
        english_text("traced: taken from what {script} called, not from a dialect", script=str(script))
    ]
    if not traced.calls:
        notes.append(
            english_text(
                "{script} called nothing in the mode {mode}: tipc lint may say why",
                script=str(script),
                mode=mode,
            )
        )
    return Plan(
        config=config,
        mode=mode,
        dialect="traced",
        model=model,
        repo=str(repo),
        as_upstream=True,
        cells=tuple(dict.fromkeys(cells.values())),
        steps=_steps(links, cells, folder, traced.stdout),
        skipped=skips,
        notes=(*notes, *traced.notes),
        results_log=results or f"{folder}/results_python.log",
        traced=True,
    )


def _refuse_own_caller(calls: Sequence[Call], config: str, script: Path) -> None:
    """A script that calls tipc has its plan from us: tracing it would go round for ever."""
    for call in calls:
        if os.path.basename(call.command.program) == "tipc" or call.command.module == "tipc":
            raise UsageError(
                wording("{script} calls tipc itself: there is nothing to trace", script=script),
                path=config,
                remedy="leave out --trace",
            )


def _steps_and_setup(calls: Sequence[Call]) -> tuple[list[Call], tuple[Skip, ...]]:
    """The calls that are steps; and those that set up or ask something, each of them once."""
    steps: list[Call] = []
    skips: dict[tuple[object, ...], Skip] = {}
    for call in calls:
        reason = setup_of(call)
        if reason is None:
            steps.append(call)
        else:
            skips.setdefault((call.argv, reason), Skip("", PREPARE, reason, argv=call.argv))
    return steps, tuple(skips.values())


def _model(source: Source, config: str) -> str:
    for line in source.lines:
        key, _, value = line.text.partition(":")
        if key.strip() in ("model_name", "model") and value.strip():
            return value.strip().split(":")[0]
    return Path(config).parent.name or Path(config).stem


def _only_gpus(source: Source) -> str:
    """The item of the config's ``gpu_list``, if it has just one: then every training is for it."""
    values = []
    for line in source.lines:
        if line.text.startswith("gpu_list:"):
            values.append(line.text.partition(":")[2].strip())
    if len(values) != 1 or "|" in values[0]:
        return ""
    return values[0]


def _cells(links: Sequence[Link], only_gpus: str) -> dict[int, Cell]:
    """The cell of each link, by the link's identity; links of one training share it."""
    by_owner: dict[int, Cell] = {}
    cells = {}
    taken: set[str] = set()
    for here in links:
        owner = _owner(here)
        if owner not in by_owner:
            cell = _cell_of(here, links, only_gpus)
            by_owner[owner] = replace(cell, id=unique_name(cell.id, taken))
            taken.add(by_owner[owner].id)
        cells[id(here)] = by_owner[owner]
    return cells


def _owner(here: Link) -> int:
    """Whose cell a link shares: its training's, that of all preparing, or that of all without a training."""
    if here.kind == PREPARE:
        return PREPARING
    if here.train is None:
        return UNTRAINED
    return id(here.train)


def _cell_of(here: Link, links: Sequence[Link], only_gpus: str) -> Cell:
    if here.kind == PREPARE:
        return Cell(PREPARE, PREPARE, "-1", CPU)
    chain = [other for other in links if other.train is here.train]
    visible = _first_visible(chain)
    if here.train is None:
        untrained = Combination(WHOLE, visible, "", placement_of(visible or "-1"))
        return make_cell(untrained, WHOLE, GPU, Machine(gpus=1), ())
    return _training_cell(here.train, visible or only_gpus)


def _first_visible(chain: Sequence[Link]) -> str:
    """CUDA_VISIBLE_DEVICES of the first command that has any."""
    for here in chain:
        if here.call.cuda:
            return here.call.cuda
    return ""


def _training_cell(train: Link, usual_gpus: str) -> Cell:
    """The cell of a training; ``usual_gpus`` are for one that does not say its own."""
    trainer, saved_gpus, autocast = save_name(train)
    if not trainer:
        trainer = train.purpose.key if train.purpose else "train"
    asked = _asked_gpus(train, saved_gpus, usual_gpus)
    placement = placement_of(asked, launched=bool(train.command.launcher))
    quantised = "pact" in trainer or "quant" in trainer
    combination = Combination(trainer, asked, autocast, placement, quantised)
    return make_cell(combination, cell_id(combination), GPU, Machine(gpus=1), train.call.argv)


def _asked_gpus(train: Link, saved: str, usual: str) -> str:
    """The GPUs that a training is for: its launcher's, of the name it saves to, the visible or only ones."""
    command = train.command
    gpus = command.launch_option("--gpus") or command.launch_option("--devices")
    ips = command.launch_option("--ips")
    if gpus and ips:
        return f"{ips};{gpus}"
    if gpus or saved:
        return gpus or saved
    if device_of(train) == CPU:
        return "-1"
    return train.call.cuda or usual or "0"


def placement_of(asked: str, launched: bool | None = None) -> Placement:
    """What a cell's GPU item means: ids with commas, machines before a semicolon, -1 for the CPU."""
    ips, _, ids = asked.rpartition(";")
    machines = [ip for ip in ips.split(",") if ip]
    if launched is None:
        launched = "," in ids
    kind = SINGLE
    if len(machines) > 1:
        kind = MACHINES
    elif launched:
        kind = MULTI
    return Placement(ids, ips, ids.split(",")[0] or None, kind, max(1, len(machines)), ids == "-1")


def device_of(here: Link) -> str:
    """What the command's own words say: "cpu", "gpu", another device, or "" where they say nothing."""
    for name, value in here.command.values():
        if not _DEVICE.fullmatch(name):
            continue
        word = value.lower().split(":")[0]
        if word in _TRUE:
            return _switched_device(name)
        if word in _FALSE:
            return CPU
        if word.isalpha():
            return word
    return ""


def _switched_device(name: str) -> str:
    """The device that an option switches on: ``use_npu``; a name that tells none means the GPU."""
    last = re.split("[_-]", name)[-1]
    if last in ACCELERATORS:
        return last
    return GPU


def settings_of(here: Link) -> dict[str, str]:
    """An inference's batch size, precision and so on, where its words tell; of several the last holds."""
    found = {}
    for setting, pattern in _SETTINGS:
        for name, value in here.command.values():
            if value and pattern.fullmatch(name):
                found[setting] = value
    if "precision" in found:
        found["precision"] = precision_word(found["precision"])
    return found


def _steps(links: Sequence[Link], cells: dict[int, Cell], folder: str, stdout: str) -> tuple[Step, ...]:
    printed = status_lines(stdout, [here.call.argv for here in links])
    ids: dict[int, str] = {}  # of each link, by its identity
    taken: set[str] = set()
    steps = []
    for here, status in zip(links, printed, strict=True):
        cell = cells[id(here)]
        identity = unique_name(f"{cell.id}/{_suffix(here)}", taken)
        taken.add(identity)
        ids[id(here)] = identity
        needs = dict.fromkeys(ids[id(other)] for other in here.needs)
        step = _step(here, identity, cell, folder)
        steps.append(replace(step, needs=tuple(needs), status_line=status or step.status_line))
    return tuple(steps)


def _step(here: Link, identity: str, cell: Cell, folder: str) -> Step:
    """The step of a command, as far as it depends on that alone."""
    device = device_of(here)
    settings: dict[str, str] = {}
    if here.kind == INFER:
        settings = settings_of(here)
        if device:
            settings = {"device": device, **settings}
    if not device:
        device = CPU if cell.asked == "-1" else GPU
    gpus = _gpus(device, cell)
    processes = max(1, len(gpus))
    if not here.command.launcher:
        gpus, processes = gpus[:1], 1
    log = here.call.log
    if not log:
        log = f"{folder}/{_FILE_NAME.sub('_', identity)}.log"
    return Step(
        id=identity,
        kind=here.kind,
        cell=cell.id,
        argv=here.call.argv,
        env={"CUDA_VISIBLE_DEVICES": None, **here.call.env},
        cwd=here.call.cwd,
        log=log,
        needs=(),
        produces=_produces(here),
        status_line=text_of(here.call.argv),
        device=device,
        gpus=gpus,
        threads=threads_of(device, settings.get("threads", ""), processes),
        processes=processes,
        measures=_measures(here),
        settings=settings,
        weights=here.weights,
        model_dir=here.model_dir,
        line=here.purpose.line if here.purpose else 0,
        globs=tuple(word for word in here.call.argv if _WILDCARD.search(word)),
    )


def _gpus(device: str, cell: Cell) -> tuple[str, ...]:
    """The GPUs of a step: those that its cell asks for, the first one where it asks for none."""
    if device == CPU:
        return ()
    if not cell.asked:
        return ("0",)
    return tuple(cell.asked.rpartition(";")[2].split(","))


def _measures(here: Link) -> bool:
    if here.kind != INFER:
        return False
    for name, value in here.command.values():
        if value.lower() == "true" and _BENCHMARK.fullmatch(name):
            return True
    return False


def _suffix(here: Link) -> str:
    """The step's part of its id, as native plans write it: ``infer-cpu-threads_1-bs1``."""
    words = [here.kind]
    if here.kind == INFER:
        words.append(device_of(here) or "device")
        for name, value in settings_of(here).items():
            words.append(setting_word(name, value))
    elif here.kind == PREPARE:
        words.append(Path(here.command.entry).stem)
    return _FILE_NAME.sub("_", "-".join(words))


def _produces(here: Link) -> tuple[str, ...]:
    """The weights that later commands read of a training; the model that inference reads of an export."""
    if here.kind == TRAIN and here.weights:
        return trained_files(here.weights)
    if here.kind == EXPORT and here.model_dir:
        inside, beside = [], []
        for one in model_formats():
            inside.append(f"{here.model_dir}/*{one.structure}")
            beside.append(f"{here.model_dir}{one.structure}")
        return ("|".join([*inside, *beside]),)
    return ()
