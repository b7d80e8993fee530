"""The modes that train: GPU entries, autocasts, trainers; for each train, eval, export, inference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tipc.config.rules import Trainer
from tipc.plan.bashtest import bare, bare_both, pattern
from tipc.plan.gpus import GPU_RULES, Placement
from tipc.plan.walk import Combination, Command, Left, Walk, values_of


def train_modes(walk: Walk) -> Iterator[Command | Left]:
    """Every command of a mode that trains, in the script's order."""
    scope, rules = walk.scope, walk.rules
    devices = scope.walked("train_use_gpu")
    for count, entry in enumerate(scope.walked("gpu_list")):
        placement = GPU_RULES[rules.gpu_rule](entry, rules)
        if placement != GPU_RULES["length"](entry, rules)._replace(visible=placement.visible):
            scope.fixes.add("TF006")
        scope.values.update(gpu=placement.gpu, infer_gpu=placement.gpu, ips=placement.ips)
        scope.values["nodes"] = str(placement.nodes)
        _set_device(walk, devices, count, placement)
        if rules.env_at_gpu and len(entry) <= 1:
            walk.visible = placement.visible
        autocasts = scope.walked("autocast") if rules.autocast else [""]
        combinations = list(product(autocasts, scope.walked("trainer_list")))
        if scope.upstream.device_leaks and not rules.device_leaks and len(combinations) > 1:
            scope.fixes.add("TF011")
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
        beyond = count >= len(devices)
        if beyond if walk.scope.upstream.use_gpu == "item" else len(devices) > 1:
            walk.scope.fixes.add("TF004")
        values["train_use_gpu"] = devices[min(count, len(devices) - 1)]
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
) -> Iterator[Command | Left]:
    scope, rules = walk.scope, walk.rules
    values = scope.values
    values.update(autocast=autocast, trainer=trainer)
    if not rules.lost_weights:
        values["train_model_name"] = scope.given.get("train_model_name", "")
    selected = _select(walk, trainer)
    cell = Combination(trainer, entry, autocast, placement, bool(selected and selected.quant))
    if cell in walk.trained and not rules.mistakes:
        scope.fixes.add("TF009")
        yield Left(cell, "train", trainer, "the same combination again")
        return
    walk.trained.add(cell)
    if selected is None:
        yield Left(cell, "train", trainer, "no line of the config has this trainer's name")
        return
    values.update(
        run_train=scope.render(selected.train),
        run_export=scope.render(selected.export),
        quant=str(selected.quant),
        **{name: scope.render(text) for name, text in selected.sets.items()},
    )
    if bare(values["run_train"], "=", "null"):
        yield Left(cell, "train", trainer, f"line {scope.lines.get(selected.row, 0)} says null")
        return
    scope.choose([choice for choice in rules.choices if choice.name != "infer_dir"])
    values["save_dir"] = scope.render(rules.save_dir[1 if placement.several else 0])
    values["save_model"] = values["save_dir"]
    _set_pretrained(walk, selected, cell)
    env = {name: scope.render(text) for name, text, when in rules.exported if scope.holds(when)}
    yield _train(walk, cell, selected, env)
    _look_for_weights(walk)
    values["weights"] = scope.render(rules.weights)
    if bare_both(trainer, scope.keys.get("norm_train", "")) and placement.nodes <= 1:
        walk.norm_weights = (entry, scope.render("{pretrain+weights}"))
    yield from _after_training(walk, cell, placement, env, selected)
    if rules.unset_at_end:
        walk.visible = None


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
        walk.scope.fixes.add("TF015")


def _train(walk: Walk, cell: Combination, selected: Trainer, env: dict[str, str]) -> Command:
    scope, rules = walk.scope, walk.rules
    if scope.upstream.status_of != rules.status_of:
        scope.fixes.add("TF013")
    if scope.upstream.time_limit != rules.time_limit:
        scope.fixes.add("TF016")
    log = walk.log(rules.train_log, "train.log")
    return walk.command(
        "train", cell, rules.train[cell.placement.launch], log, selected.row,
        visible=walk.visible_for("train", cell), env=env, weights=scope.render(rules.weights),
        model_dir=scope.values["save_dir"],
    )  # fmt: skip


def _look_for_weights(walk: Walk) -> None:
    """A weights name that cannot be a file makes PaddleSeg look for the last iteration's, from then on."""
    name = walk.scope.values.get("train_model_name", "")
    if walk.rules.lost_weights and (not name or name.endswith("/")):
        walk.scope.values["train_model_name"] = walk.scope.render(walk.rules.lost_weights)


def _after_training(
    walk: Walk, cell: Combination, placement: Placement, env: dict[str, str], selected: Trainer
) -> Iterator[Command | Left]:
    scope, rules = walk.scope, walk.rules
    values = scope.values
    weights = values["weights"]
    if bare(values.get("eval", ""), "!=", "null"):
        if rules.env_at_eval and placement.visible is not None:
            walk.visible = placement.visible
        log = walk.log(rules.eval_log, "eval.log")
        visible = walk.visible_for("eval", cell)
        yield walk.command("eval", cell, rules.eval, log, "eval", visible=visible, env=env, weights=weights)
    else:
        yield Left(cell, "eval", "eval", f"line {scope.lines.get('eval', 0)} names no script")
    export_row = selected.row.replace("_train", "_export").replace("trainer", "export")
    if not bare(values["run_export"], "!=", "null"):
        line = scope.lines.get(export_row, scope.lines.get("norm_export", 0))
        yield Left(cell, "export", "export and inference", f"line {line} names no export script")
        return
    values["infer_dir"] = values["save_dir"]
    scope.choose([choice for choice in rules.choices if choice.name == "infer_dir"])
    for export in rules.exports:
        if scope.holds(export.when):
            log = walk.log(export.log or rules.export_log, "export.log")
            yield walk.command(
                "export", cell, export.command, log, export_row,
                visible=walk.visible_for("export", cell), env=env, weights=weights,
                model_dir=values["infer_dir"], static=export.static,
            )  # fmt: skip
    if placement.visible is not None:
        walk.visible = placement.visible
    values["image"] = scope.render(rules.image)
    yield from walk.inference(cell, env, rules.infer_cwd)
    walk.visible = None
