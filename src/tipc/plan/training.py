"""The modes that train: GPU entries, autocasts, trainers; for each train, eval, export, inference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tipc.config.rules import Trainer
from tipc.kinds import EVAL, EXPORT, PREPARE, TRAIN
from tipc.plan.bash_tests import bare, bare_both, pattern
from tipc.plan.matrix import Combination, Left, ScriptCommand, Walk, values_of
from tipc.plan.target.placement import Placement, by_ids, by_length
from tipc.reasons import because


def train_modes(walk: Walk) -> Iterator[ScriptCommand | Left]:
    """Every command of a mode that trains, in the script's order."""
    scope, rules = walk.scope, walk.rules
    devices = scope.walked("train_use_gpu")
    for count, entry in enumerate(scope.walked("gpu_list")):
        placement = scope.fixed("TF006", upstream=by_length(entry, rules), ours=by_ids(entry))
        scope.values.update(gpu=placement.gpu, infer_gpu=placement.gpu, ips=placement.ips)
        scope.values["nodes"] = str(placement.nodes)
        _set_device(walk, devices, count, placement)
        if rules.env_at_gpu and len(entry) <= 1:
            walk.visible = placement.visible
        autocasts = scope.walked("autocast") if rules.autocast else [""]
        combinations = list(product(autocasts, scope.walked("trainer_list")))
        if scope.upstream.device_leaks and len(combinations) > 1:
            scope.fixed("TF011", upstream=True, ours=rules.device_leaks)
        for autocast, trainer in combinations:
            yield from _combination(walk, entry, placement, autocast, trainer)


def _set_device(walk: Walk, devices: list[str], count: int, placement: Placement) -> None:
    """The training's device word for this GPU entry."""
    rules, values = walk.rules, walk.scope.values
    if rules.use_gpu == "whole":
        values["train_use_gpu"] = (
            rules.cpu_use_gpu if placement.cpu and rules.cpu_use_gpu else "|".join(devices)
        )
    elif rules.use_gpu == "each" and devices:
        whole = "|".join(devices) if walk.scope.upstream.use_gpu == "whole" else values_of(devices, count)
        own = devices[min(count, len(devices) - 1)]
        values["train_use_gpu"] = walk.scope.fixed("TF004", upstream=whole, ours=own)
    else:
        values["train_use_gpu"] = values_of(devices, count)


def _select(walk: Walk, trainer: str) -> Trainer | None:
    keys = walk.scope.keys
    for candidate in walk.rules.trainers:
        key = keys.get(candidate.row, "")
        if candidate.compare == "bare":
            matches = bare_both(trainer, key)
        elif candidate.compare == "quoted":
            matches = bool(trainer) and trainer == key
        else:
            matches = pattern(trainer, key)
        if matches:
            return candidate
    return walk.rules.otherwise


def _combination(
    walk: Walk, entry: str, placement: Placement, autocast: str, trainer: str
) -> Iterator[ScriptCommand | Left]:
    scope, rules = walk.scope, walk.rules
    values = scope.values
    values.update(autocast=autocast, trainer=trainer)
    values["train_model_name"] = scope.given.get("train_model_name", "")
    selected = _select(walk, trainer)
    cell = Combination(trainer, entry, autocast, placement, bool(selected and selected.quant))
    if cell in walk.trained and not scope.fixed("TF009", upstream=True, ours=False):
        yield Left(cell, TRAIN, because("same-combination"))
        return
    walk.trained.add(cell)
    if selected is None:
        yield Left(cell, TRAIN, because("unknown-trainer", trainer=trainer))
        return
    values.update(
        run_train=scope.render(selected.train),
        run_export=scope.render(selected.export),
        quant=str(selected.quant),
        **{name: scope.render(text) for name, text in selected.sets.items()},
    )
    if bare(values["run_train"], "=", "null"):
        yield Left(cell, TRAIN, because("says-null", line=scope.lines.get(selected.row, 0)))
        return
    scope.choose([choice for choice in rules.choices if choice.name != "infer_dir"])
    values["save_dir"] = scope.render(rules.save_dir[1 if placement.several else 0])
    values["save_model"] = values["save_dir"]
    _set_pretrained(walk, selected, cell)
    env = walk.exports()
    yield from _builds(walk, cell)
    train = _train(walk, cell, selected, env)
    _look_for_weights(walk, train)
    yield train._replace(weights=scope.render(rules.weights))
    values["weights"] = scope.render(rules.weights)
    if bare_both(trainer, scope.keys.get("norm_train", "")) and placement.nodes <= 1:
        walk.norm_weights = (entry, scope.render("{pretrain+weights}"))
    yield from _after_training(walk, cell, placement, env, selected)
    if rules.unset_at_end:
        walk.visible = None


def _builds(walk: Walk, cell: Combination) -> Iterator[ScriptCommand | Left]:
    """What some models need to be built before they can be trained."""
    for word, command, folder in walk.rules.builds:
        if word not in walk.scope.values["model_name"]:
            continue
        if command.startswith("pip ") and not walk.rules.mistakes:
            yield Left(cell, PREPARE, because("asks-only"))
            continue
        visible = walk.visible if walk.rules.mistakes else None
        yield walk.command(PREPARE, cell, command, "", "python", visible=visible, cwd=folder)


def _set_pretrained(walk: Walk, selected: Trainer, cell: Combination) -> None:
    """The weights that the training starts from."""
    rules, values = walk.rules, walk.scope.values
    values["pretrained"] = walk.scope.render("{+pretrain}")
    values["inherits"] = ""
    if (
        not rules.norm_pretrain
        or selected.row not in ("pact_train", "fpgm_train")
        or cell.placement.nodes > 1
    ):
        return
    entry, option = walk.norm_weights or ("", "")
    if rules.norm_pretrain == "last":
        values["pretrained"] = option
    elif option and entry == cell.entry:
        values["pretrained"], values["inherits"] = option, "norm"
    else:
        values["pretrained"] = walk.scope.fixed("TF015", upstream=option, ours=values["pretrained"])


def _train(walk: Walk, cell: Combination, selected: Trainer, env: dict[str, str]) -> ScriptCommand:
    scope, rules = walk.scope, walk.rules
    scope.fixed("TF013", upstream=scope.upstream.status_of, ours=rules.status_of)
    scope.fixed("TF016", upstream=scope.upstream.time_limit, ours=rules.time_limit)
    log = walk.log(rules.train_log, "train.log")
    return walk.command(
        TRAIN, cell, rules.train[cell.placement.launch], log, selected.row,
        visible=walk.visible_for(TRAIN, cell), env=env, weights=scope.render(rules.weights),
        model_dir=scope.values["save_dir"],
    )  # fmt: skip


def _look_for_weights(walk: Walk, train: ScriptCommand) -> None:
    """PaddleSeg's script looks after a training: where its weights are not there, it takes others.

    From then on, for later cells, too, which is a mistake. Whether they are there follows from the options
    of the training.
    """
    scope, rules = walk.scope, walk.rules
    if not rules.lost_weights:
        return
    words = train.text.split()
    left = set()
    for name, asked in rules.leaves:
        if any(word.startswith(asked) for word in words):
            left.add(scope.render(name))
    lost = scope.render(rules.lost_weights)
    ours = scope.given.get("train_model_name", "")
    if ours not in left and left and "best_model" in ours:
        ours = lost
    told = scope.render("{+save_model}").strip() != ""  # else it trains into a folder of its own
    if not told or walk.weights_name not in left:
        walk.weights_name = lost
    scope.values["train_model_name"] = scope.fixed("TF024", upstream=walk.weights_name, ours=ours)


def _after_training(
    walk: Walk, cell: Combination, placement: Placement, env: dict[str, str], selected: Trainer
) -> Iterator[ScriptCommand | Left]:
    scope, rules = walk.scope, walk.rules
    values = scope.values
    weights = values["weights"]
    if bare(values.get("eval", ""), "!=", "null"):
        if rules.env_at_eval and placement.visible is not None:
            walk.visible = placement.visible
        log = walk.log(rules.eval_log, "eval.log")
        visible = walk.visible_for(EVAL, cell)
        yield walk.command(EVAL, cell, rules.eval, log, "eval", visible=visible, env=env, weights=weights)
    else:
        yield Left(cell, EVAL, because("no-script", line=scope.lines.get("eval", 0), kind=EVAL))
    export_row = selected.row.replace("_train", "_export").replace("trainer", "export")
    if not bare(values["run_export"], "!=", "null"):
        line = scope.lines.get(export_row, scope.lines.get("norm_export", 0))
        yield Left(cell, EXPORT, because("no-script", line=line, kind=EXPORT))
        return
    values["infer_dir"] = values["save_dir"]
    scope.choose([choice for choice in rules.choices if choice.name == "infer_dir"])
    for export in rules.exports:
        if scope.holds(export.when):
            log = walk.log(export.log or rules.export_log, "export.log")
            yield walk.command(
                EXPORT, cell, export.command, log, export_row,
                visible=walk.visible_for(EXPORT, cell), env=env, weights=weights,
                model_dir=values["infer_dir"], static=export.static,
            )  # fmt: skip
    if placement.visible is not None:
        walk.visible = placement.visible
    values["image"] = scope.render(rules.image)
    yield from walk.inference(cell, env, rules.infer_cwd)
    walk.visible = None
