"""The chain benchmark_train: a training config is run for each batch size, precision and number of GPUs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from posixpath import basename
from typing import NamedTuple

from tipc.config.bash import split
from tipc.config.chains import BENCHMARK_BLOCK
from tipc.config.dialects.training_benchmark import (
    BENCHMARKS,
    COPY,
    PROFILE_LINE,
    RUN_MODE,
    TrainingBenchmark,
)
from tipc.config.layout import Layout, Row, line_after, parse
from tipc.config.rules import Dialect
from tipc.config.source import Line, Source
from tipc.errors import wording
from tipc.kinds import BENCHMARK_CHAIN, FP32, PREPARE, TRAIN
from tipc.message import english_text
from tipc.plan.fixes import FIXES
from tipc.plan.join import joined, own_command, renamed
from tipc.plan.matrix import bounded
from tipc.plan.model import AppliedFix, Plan, Skip, Step
from tipc.plan.template import render
from tipc.plan.variables import Variables
from tipc.reasons import because

ANALYSIS = "scripts/analysis.py"  # below $BENCHMARK_ROOT: it reads the speed from a log
FILTER = "test_tipc/filter_log.py"
MOST_RUNS = 500  # of a benchmark: each has the plan of a training


class BenchmarkRun(NamedTuple):
    """One copy of the config that is trained."""

    values: Mapping[str, str]  # of the block, for this run
    device: str  # N1C8
    profiled: bool = False
    model: str = ""  # as the script names it by then

    @property
    def name(self) -> str:
        """Its part of the names of cells and folders."""
        words = [f"bs{self.values['batch_size']}", self.values["label"], self.device]
        if self.profiled:
            words.append("profiling")
        return "_".join(words)


# Plans a training config: (its text, the folder of its own for its files, what is put behind its command).
Part = Callable[[Source, str, str], Plan]


def plan_benchmark(source: Source, dialect: Dialect, repo: str, part: Part, *, as_upstream: bool) -> Plan:
    """The plans of all runs as one. ``part`` plans the training config that a run has."""
    table = BENCHMARKS[dialect.name]
    source = _replaced(source, table.replaced)
    variables = _block(source, dialect, table, repo, as_upstream=as_upstream)
    if not as_upstream:
        _check_keys(variables)
    flags = _flags(variables.values["flags"])
    plans: list[Plan] = []
    steps: list[Step] = []
    for run in bounded(_runs(table, variables), source.path, MOST_RUNS):
        lines = _edited(source, table, run, variables)
        folder = run.name
        if as_upstream:
            folder = ""
        plan = part(lines, folder, _options_of_last_line(table, lines))
        plan = renamed(plan, _free(run.name, plans), flags)
        plan = _with_the_speed(plan, run, table, variables, repo)
        plans.append(plan)
        steps += plan.steps
    if not plans and not as_upstream:
        place = variables.config.value("batch_size")
        raise source.error("the benchmark's block lists no batch size or no precision", place)
    if not plans:
        nothing = part(source, "", "")
        note = english_text("{path}: this mode runs nothing", path=source.path)
        return replace(nothing, cells=(), steps=(), skipped=(), notes=(note,))
    whole = joined(plans, steps)
    own = {AppliedFix(fix, FIXES[fix].title) for fix in variables.fixes}
    fixes = sorted(own | set(whole.fixes), key=lambda fix: fix.id)
    return replace(whole, fixes=tuple(fixes))


def _replaced(source: Source, texts: tuple[tuple[str, str], ...]) -> Source:
    """The file with other texts in it."""
    lines = []
    for line in source.lines:
        text = line.text
        for old, new in texts:
            text = text.replace(old, new)
        lines.append(Line(line.number, text))
    return Source(source.path, tuple(lines))


def _block(
    source: Source, dialect: Dialect, table: TrainingBenchmark, repo: str, *, as_upstream: bool
) -> Variables:
    """The variables of the script: the model's name and the lines of the block."""
    start = line_after(source, BENCHMARK_BLOCK)
    if as_upstream and not table.whole_word:
        start = _only_line_with(source, BENCHMARK_BLOCK)
    rows = [dialect.layout.row("model_name")]
    for offset, name in enumerate(table.block):
        rows.append(Row(start + offset, name, "kl"))
    config = parse(source, Layout(tuple(rows), value=dialect.layout.value))
    rules = dialect.rules_for(COPY, as_upstream)
    return Variables(config, rules, BENCHMARK_CHAIN, root=repo, upstream=dialect.rules)


def _only_line_with(source: Source, text: str) -> int:
    """Where ``lines[$(grep -n text file)]`` points: nowhere, if there are several such lines."""
    numbers = []
    for line in source.lines:
        if text in line.text:
            numbers.append(line.number)
    if len(numbers) == 1:
        return numbers[0]
    return len(source.lines)


def _check_keys(variables: Variables) -> None:
    """The script reads the block by the places of its lines: with one missing, all below it are misread."""
    for name, key in variables.keys.items():
        if key == name or name == "profile":
            continue
        message = wording("this line of the benchmark's block should be `{name}:…`", name=name)
        raise variables.config.source.error(message, variables.config.line(name))


def _flags(text: str) -> dict[str, str]:
    """What the script exports: ``FLAGS_a=1;FLAGS_b=2``. A word without a value sets nothing."""
    flags = {}
    for flag in split(text, ";"):
        name, equals, value = flag.partition("=")
        if equals:
            flags[name] = value
    return flags


def _runs(table: TrainingBenchmark, variables: Variables) -> Iterator[BenchmarkRun]:
    """Every run, in the script's order: on one GPU first with the profiler, then without it."""
    lists = [variables.walked(name) for name in table.loops]
    model = variables.values["model_name"]
    for items in product(*lists[:2], table.devices, *lists[2:]):
        batch_size, precision, device, *more = items
        values = {"batch_size": batch_size, "num_workers": variables.values.get("num_workers", "")}
        values["precision"] = _precision(precision, table, variables)
        values["label"] = _label(values["precision"], table)
        values["gpus"] = _gpus(device)
        values["epoch"] = _epochs(table, variables, device)
        values.update(zip(table.loops[2:], more, strict=True))
        one_gpu = len(values["gpus"]) <= 1
        if one_gpu:
            yield BenchmarkRun(values, device, profiled=True)
        if one_gpu or table.limits_several:
            variables.fixed("TF034", upstream="timeout 5m", ours="")
        yield BenchmarkRun(values, device, model=model)
        if table.forgets_model:
            model = ""


def _precision(word: str, table: TrainingBenchmark, variables: Variables) -> str:
    """The word of the block as the training is given it."""
    return variables.fixed("TF036", upstream=word, ours=dict(table.trains_in).get(word, word))


def _label(precision: str, table: TrainingBenchmark) -> str:
    """The precision in the names of results."""
    if not table.labels:
        return precision
    return dict(table.labels).get(precision, FP32)


def _gpus(device: str) -> str:
    """``N1C8``, one machine with eight GPUs, as their ids; of several machines those of one."""
    machines, count = device.removeprefix("N").split("C")
    last = (int(count) - 1) // int(machines)
    return ",".join(str(number) for number in range(last + 1))


def _epochs(table: TrainingBenchmark, variables: Variables, device: str) -> str:
    """PaddleDetection repeats its data set and trains one epoch; some models as many as there are GPUs."""
    epoch = variables.values["epoch"]
    if not table.scaled_epochs:
        return epoch
    if any(word in variables.values["model_name"] for word in table.scaled_epochs):
        if not epoch.isdecimal():
            return ""
        return str(int(epoch) * int(device.partition("C")[2]))
    if table.writes_data_sets:
        variables.fixed("TF033", upstream="repeat", ours="")
    return "1"


def _edited(source: Source, table: TrainingBenchmark, run: BenchmarkRun, variables: Variables) -> Source:
    """The copy of the config that a run trains."""
    texts = [(old, render(new, {}, run.values)) for old, new in table.replaced_in_runs]
    lines = {line.number: line for line in _replaced(source, tuple(texts)).lines}
    values = {edit.line: render(edit.value, {}, run.values) for edit in table.edits}
    values[PROFILE_LINE] = "null"
    for number, value in values.items():
        if number in lines:
            lines[number] = _with_value(lines[number], value)
    if 3 in lines:
        own = _with_value(lines[3], "python")
        lines[3] = variables.fixed("TF035", upstream=own, ours=lines[3])
    if run.profiled and PROFILE_LINE in lines:
        option = f"{variables.keys['profile']}:{variables.values['profile']}"
        if "/" not in option:  # there sed, which writes it, fails
            lines[PROFILE_LINE] = Line(PROFILE_LINE, f'"{option}"')
    for number, old, new in table.renamed_keys:
        if number in lines and lines[number].text.startswith(f"{old}:"):
            lines[number] = Line(number, new + lines[number].text.removeprefix(old))
    return Source(source.path, tuple(lines.values()))


def _with_value(line: Line, value: str) -> Line:
    """The line with another value. Sed writes it, and fails at a slash: then the line stays as it is."""
    text = f"{line.text.partition(':')[0]}:{value}"
    if "/" in text:
        return line
    return Line(line.number, text)


def _options_of_last_line(table: TrainingBenchmark, source: Source) -> str:
    """What PaddleSeg's training script puts behind its command in this mode."""
    options = _last_line(source)
    words = []
    for name in table.last_line:
        if options.get(name):
            words.append(f" --{name} {options[name]}")
    return "".join(words)


def _last_line(source: Source) -> dict[str, str]:
    """``log_iters:15;repeats:500`` by name."""
    options = {}
    for item in split(source.seen()[-1].text, ";"):
        fields = item.split(":")
        if len(fields) > 1:
            options[fields[0]] = fields[1]
    return options


def _free(name: str, plans: list[Plan]) -> str:
    """The name as the beginning of ids; with a number where a run of that name is there."""
    taken = set()
    for plan in plans:
        for cell in plan.cells:
            taken.add(cell.id)
    prefix, number = f"{name}-", 2
    while any(cell.startswith(prefix) for cell in taken):
        prefix, number = f"{name}~{number}-", number + 1
    return prefix


def _with_the_speed(
    plan: Plan, run: BenchmarkRun, table: TrainingBenchmark, variables: Variables, repo: str
) -> Plan:
    """The plan of a run with the commands that read its speed. In a plan of our own they are left out.

    They read logs that only the script writes, by a program that is no part of the repository.
    """
    if not plan.as_upstream:
        steps = [replace(step, measures=step.kind == TRAIN) for step in plan.steps]
        plan = replace(plan, steps=tuple(steps))
    if run.profiled:
        return plan
    commands = _speed_commands(run, table, variables, repo)
    if plan.as_upstream:
        return replace(plan, steps=(*plan.steps, *commands))
    left = [Skip(run.name, PREPARE, because("reads-own-logs"), argv=step.argv) for step in commands]
    return replace(plan, skipped=(*plan.skipped, *left))


def _speed_commands(
    run: BenchmarkRun, table: TrainingBenchmark, variables: Variables, repo: str
) -> Iterator[Step]:
    model = run.model
    batch, label = run.values["batch_size"], run.values["label"]
    one_gpu = len(run.values["gpus"]) <= 1
    unit, has_name = table.units[0], table.names_model[0]
    if not one_gpu:
        unit, has_name = table.units[1], table.names_model[1]
    static = ""
    if run.values.get("model_type") == "to_static_train":
        static = "d2sT_"
    folder = os.environ.get("BENCHMARK_LOG_DIR") or repo
    name = f"{basename(repo)}_{model}_bs{batch}_{label}_{RUN_MODE}_{run.device}_{static}"
    flags = _flags(variables.values["flags"])
    log = f"{folder}/train_log/{name}log"
    skipped = _last_line(variables.config.source).get("skip_iters", "")
    if table.filters_log and one_gpu and skipped:
        logs = ("--in_log_path", log, "--out_log_path", f"{log}_filtered")
        argv = ("python", FILTER, *logs, "--skip_iters", skipped)
        yield own_command(f"{run.name}-filter", run.name, argv, flags)
        log = f"{log}_filtered"
    words = (
        f"python {os.environ.get('BENCHMARK_ROOT', '')}/{ANALYSIS} --filename {log}",
        f"--speed_log_file '{folder}/index/{name}speed'",
        f"--model_name {model}_bs{batch}_{label}_{RUN_MODE}",
        f"--base_batch_size {batch}",
        f"--run_mode {RUN_MODE}",
        f"--fp_item {label}",
        "--keyword ips:",
        f"--skip_steps {table.skip_steps}",
        f"--device_num {run.device}",
        f"--speed_unit {unit}",
        "--convergence_key loss: ",
    )
    command = (" " + table.indent * " ").join(words)
    named = ""
    if has_name:
        named = model
    line = render(variables.rules.status, {}, {"model_name": named, "command": command})
    yield own_command(f"{run.name}-speed", run.name, tuple(shlex.split(command)), flags, line)
