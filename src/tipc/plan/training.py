"""The modes that train: GPU entries, autocasts, trainers; for each train, eval, export, inference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tipc.config.rules import Trainer
from tipc.kinds import EVAL, EXPORT, PREPARE, TRAIN
from tipc.plan.bash_tests import bare, bare_both, pattern
from tipc.plan.matrix import Combination, Left, ScriptCommand, ScriptState, values_of
from tipc.plan.target.placement import MACHINES, Placement, by_ids, by_length
from tipc.reasons import because


def train_modes(state: ScriptState) -> Iterator[ScriptCommand | Left]:
    """Every command of a mode that trains, in the script's order."""
    variables, rules = state.variables, state.rules
    devices = variables.walked("train_use_gpu")
    for count, entry in enumerate(variables.walked("gpu_list")):
        placement = _placement(state, entry)
        variables.values.update(gpu=placement.gpu, infer_gpu=placement.gpu, ips=placement.ips)
        variables.values["nodes"] = str(placement.nodes)
        _set_device(state, devices, count, placement)
        if rules.env_at_gpu and len(entry) <= 1:
            state.visible = placement.visible
        autocasts = [""]
        if rules.autocast:
            autocasts = variables.walked("autocast")
        combinations = list(product(autocasts, variables.walked("trainer_list")))
        if variables.upstream.device_leaks and len(combinations) > 1:
            variables.fixed("TF011", upstream=True, ours=rules.device_leaks)
        for autocast, trainer in combinations:
            yield from _combination(state, entry, placement, autocast, trainer)


def _placement(state: ScriptState, entry: str) -> Placement:
    """Where an entry of the GPU list trains."""
    upstream, ours = by_length(entry, state.rules), by_ids(entry)
    if upstream.launch == ours.launch == MACHINES:  # the script understands it, and launches in another way
        launched = state.variables.fixed("TF032", upstream=(upstream, "--ips"), ours=(ours, "--master"))
        return launched[0]
    return state.variables.fixed("TF006", upstream=upstream, ours=ours)


def _set_device(state: ScriptState, devices: list[str], count: int, placement: Placement) -> None:
    """The training's device word for this GPU entry."""
    rules, variables = state.rules, state.variables
    word = values_of(devices, count)
    if rules.use_gpu == "whole":
        word = "|".join(devices)
        if placement.cpu and rules.cpu_use_gpu:
            word = rules.cpu_use_gpu
    elif rules.use_gpu == "each" and devices:
        if variables.upstream.use_gpu == "whole":
            word = "|".join(devices)
        last = len(devices) - 1
        word = variables.fixed("TF004", upstream=word, ours=devices[min(count, last)])
    variables.values["train_use_gpu"] = word


def _select(state: ScriptState, trainer: str) -> Trainer | None:
    for candidate in state.rules.trainers:
        if _matches(trainer, state.variables.keys.get(candidate.row, ""), candidate.compare):
            return candidate
    return state.rules.otherwise


def _matches(trainer: str, key: str, compare: str) -> bool:
    """Whether the script takes a word of the trainer list for a line's key, by the test that it makes."""
    if compare == "bare":
        return bare_both(trainer, key)
    if compare == "quoted":
        return trainer != "" and trainer == key
    return pattern(trainer, key)


def _combination(
    state: ScriptState, entry: str, placement: Placement, autocast: str, trainer: str
) -> Iterator[ScriptCommand | Left]:
    variables, rules = state.variables, state.rules
    values = variables.values
    values.update(autocast=autocast, trainer=trainer)
    values["train_model_name"] = variables.given.get("train_model_name", "")
    selected = _select(state, trainer)
    cell = Combination(trainer, entry, autocast, placement, bool(selected and selected.quant))
    if cell in state.trained and not variables.fixed("TF009", upstream=True, ours=False):
        yield Left(cell, TRAIN, because("same-combination"))
        return
    state.trained.add(cell)
    if selected is None:
        yield Left(cell, TRAIN, because("unknown-trainer", trainer=trainer))
        return
    chosen = {
        "run_train": variables.render(selected.train),
        "run_export": variables.render(selected.export),
        "quant": str(selected.quant),
    }
    for name, text in selected.sets.items():
        chosen[name] = variables.render(text)
    values.update(chosen)
    if bare(values["run_train"], "=", "null"):
        yield Left(cell, TRAIN, because("says-null", line=variables.lines.get(selected.row, 0)))
        return
    variables.choose([choice for choice in rules.choices if choice.name != "infer_dir"])
    values["save_dir"] = variables.render(rules.save_dir[int(placement.several)])
    values["save_model"] = values["save_dir"]
    _set_pretrained(state, selected, cell)
    env = state.exports()
    yield from _builds(state, cell)
    train = _train(state, cell, selected, env)
    _look_for_weights(state, train)
    yield train._replace(weights=variables.render(rules.weights))
    values["weights"] = variables.render(rules.weights)
    if bare_both(trainer, variables.keys.get("norm_train", "")) and placement.nodes <= 1:
        state.norm_weights = (entry, variables.render("{pretrain+weights}"))
    yield from _after_training(state, cell, env, selected)
    if rules.unset_at_end:
        state.visible = None


def _builds(state: ScriptState, cell: Combination) -> Iterator[ScriptCommand | Left]:
    """What some models need to be built before they can be trained."""
    for word, command, folder in state.rules.builds:
        if word not in state.variables.values["model_name"]:
            continue
        if command.startswith("pip ") and not state.rules.mistakes:
            yield Left(cell, PREPARE, because("asks-only"))
            continue
        visible = None
        if state.rules.mistakes:
            visible = state.visible
        yield state.command(PREPARE, cell, command, "", "python", visible=visible, cwd=folder)


def _set_pretrained(state: ScriptState, selected: Trainer, cell: Combination) -> None:
    """The weights that the training starts from: its own, or what the norm training has left."""
    rules, values = state.rules, state.variables.values
    values["pretrained"] = state.variables.render("{+pretrain}")
    values["inherits"] = ""
    if not rules.norm_pretrain or selected.row not in ("pact_train", "fpgm_train"):
        return
    if cell.placement.nodes > 1:
        return
    entry, option = state.norm_weights or ("", "")
    if rules.norm_pretrain == "last":
        values["pretrained"] = option
    elif option and entry == cell.entry:
        values["pretrained"] = option
        values["inherits"] = "norm"
    else:
        values["pretrained"] = state.variables.fixed("TF015", upstream=option, ours=values["pretrained"])


def _train(state: ScriptState, cell: Combination, selected: Trainer, env: dict[str, str]) -> ScriptCommand:
    variables, rules = state.variables, state.rules
    variables.fixed("TF013", upstream=variables.upstream.status_of, ours=rules.status_of)
    variables.fixed("TF016", upstream=variables.upstream.time_limit, ours=rules.time_limit)
    log = state.log(rules.train_log, "train.log")
    return state.command(
        TRAIN, cell, rules.train[cell.placement.launch], log, selected.row,
        visible=state.visible_for(TRAIN, cell), env=env, weights=variables.render(rules.weights),
        model_dir=variables.values["save_dir"],
    )  # fmt: skip


def _look_for_weights(state: ScriptState, train: ScriptCommand) -> None:
    """PaddleSeg's script looks after a training: where its weights are not there, it takes others.

    From then on, for later cells, too, which is a mistake. Whether they are there follows from the options
    of the training.
    """
    variables, rules = state.variables, state.rules
    if not rules.lost_weights:
        return
    words = train.text.split()
    left = set()
    for name, asked in rules.leaves:
        if any(word.startswith(asked) for word in words):
            left.add(variables.render(name))
    lost = variables.render(rules.lost_weights)
    ours = variables.given.get("train_model_name", "")
    if ours not in left and left and "best_model" in ours:
        ours = lost
    told = variables.render("{+save_model}").strip() != ""  # else it trains into a folder of its own
    if not told or state.weights_name not in left:
        state.weights_name = lost
    variables.values["train_model_name"] = variables.fixed("TF024", upstream=state.weights_name, ours=ours)


def _after_training(
    state: ScriptState, cell: Combination, env: dict[str, str], selected: Trainer
) -> Iterator[ScriptCommand | Left]:
    variables, placement = state.variables, cell.placement
    yield _evaluation(state, cell, env)
    export_row = selected.row.replace("_train", "_export").replace("trainer", "export")
    if export_row == selected.row:  # a trainer that shares the export of the plain training
        export_row = "norm_export"
    if not bare(variables.values["run_export"], "!=", "null"):
        yield Left(cell, EXPORT, variables.no_script(EXPORT, export_row, "norm_export"))
        return
    yield from _exports(state, cell, env, export_row)
    if placement.visible is not None:
        state.visible = placement.visible
    variables.values["image"] = variables.render(state.rules.image)
    yield from state.inference(cell, env, state.rules.infer_cwd)
    state.visible = None


def _evaluation(state: ScriptState, cell: Combination, env: dict[str, str]) -> ScriptCommand | Left:
    variables, rules = state.variables, state.rules
    if not bare(variables.values.get("eval", ""), "!=", "null"):
        return Left(cell, EVAL, variables.no_script(EVAL, "eval"))
    if rules.env_at_eval and cell.placement.visible is not None:
        state.visible = cell.placement.visible
    return state.command(
        EVAL, cell, rules.eval, state.log(rules.eval_log, "eval.log"), "eval",
        visible=state.visible_for(EVAL, cell), env=env, weights=variables.values["weights"],
    )  # fmt: skip


def _exports(state: ScriptState, cell: Combination, env: dict[str, str], row: str) -> Iterator[ScriptCommand]:
    variables, rules = state.variables, state.rules
    values = variables.values
    values["infer_dir"] = values["save_dir"]
    variables.choose([choice for choice in rules.choices if choice.name == "infer_dir"])
    for export in rules.exports:
        if variables.holds(export.when):
            log = state.log(export.log or rules.export_log, "export.log")
            yield state.command(
                EXPORT, cell, export.command, log, row,
                visible=state.visible_for(EXPORT, cell), env=env, weights=values["weights"],
                model_dir=values["infer_dir"], static=export.static,
            )  # fmt: skip
