"""The modes that train nothing: for each model an export, where there is one, and its inference."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, normpath

from tipc.config.source import Value
from tipc.errors import UsageError
from tipc.kinds import CONVERT, EXPORT, INFER, PREPARE
from tipc.plan.matrix import Combination, Left, ScriptCommand, Walk, values_of
from tipc.plan.target.placement import SINGLE, Placement
from tipc.plan.variables import Scope
from tipc.reasons import because

CHAIN_CHOICES = ("converts", "models", "convert1")  # the choices of chains that train nothing


def whole_modes(walk: Walk) -> Iterator[ScriptCommand | Left]:
    """Every command of a mode that trains nothing, in the script's order."""
    scope, whole = walk.scope, walk.rules.whole
    values = scope.values
    values["infer_gpu"] = values["gpu"] = "0"
    placement = Placement("", "", None if walk.rules.mistakes else "0", SINGLE, 1)
    values["infer_config_dir"] = _dirname(values.get("infer_config", ""))
    scope.choose(choice for choice in walk.rules.choices if choice.name in CHAIN_CHOICES)
    if not scope.holds(whole.when):
        cell = Combination("whole_infer", "", "", placement)
        yield Left(cell, EXPORT, because("only-kl-quantised"))
        return
    scripts = scope.walked(whole.scripts) if whole.scripts else []
    quants = scope.walked(whole.quants) if whole.quants else []
    kinds = whole.kinds.get(values["mode"], {})
    count = 0
    places = scope.places(whole.over) if whole.over else []
    for index, item in enumerate(scope.walked(whole.over) if whole.over else [""]):
        values.update(item=item, item_dir=_dirname(item), index=str(count))
        flag = whole.quant or values_of(quants, count)
        cell = Combination("whole_infer", item, "", placement, flag == "True")
        if whole.kinds:
            elsewhere = item == "null" or any(item in other for other in whole.kinds.values())
            if item not in kinds and elsewhere:
                yield Left(cell, EXPORT, because("not-in-mode", mode=values["mode"]))
                continue
            if item not in kinds and walk.rules.mistakes:
                problem = f"`{item}` is no kind of model: the script stops here with exit code 1"
                yield Left(cell, EXPORT, because("cannot-start", problem=problem))
                return
            if item not in kinds:
                raise _unknown_kind(scope, places[index], [*kinds, "null"])
            values.update(script=scope.render(kinds[item]), script_row=kinds[item].strip("{}"))
        else:
            values["script"] = values_of(scripts, count) if whole.scripts else scope.render(whole.script)
            values["script_row"] = whole.scripts or whole.script.strip("{}")
        _quant_flag(walk, flag)
        yield from _exported_and_inferred(walk, cell)
        count += 1


def _quant_flag(walk: Walk, flag: str) -> None:
    """The flag reaches the inference unquoted: where it is empty, the next argument takes its place."""
    values = walk.scope.values
    values.update(quant=flag, infer_gpu="0")
    if flag == "" and walk.rules.without_flag:
        values.update(walk.rules.without_flag)
    elif walk.rules.whole.quants:
        meant = "True" if flag.strip().lower() == "true" else "False"
        values["quant"] = walk.scope.fixed("TF017", upstream=flag, ours=meant)


def _exported_and_inferred(walk: Walk, cell: Combination) -> Iterator[ScriptCommand | Left]:
    scope, whole = walk.scope, walk.rules.whole
    values = scope.values
    values["saved"] = scope.render(whole.kept)
    exports = scope.holds(whole.export_when)
    if exports:
        values["saved"] = scope.render(whole.saved)
    values["infer_dir"] = scope.render(whole.model)
    if exports:
        log = walk.log(whole.export_log)
        weights = cell.entry or values.get("infer_model", "")
        if whole.commented_out and not scope.fixed(whole.commented_out, upstream=False, ours=True):
            yield Left(cell, whole.kind, because("commented-out"))
        else:
            yield walk.command(
                whole.kind, cell, whole.export, log, values["script_row"],
                weights=weights, model_dir=values["infer_dir"], visible=walk.visible_for(EXPORT, cell),
            )  # fmt: skip
    for conversion in whole.conversions:
        if scope.holds(conversion.when):
            made = scope.render(conversion.made)
            yield walk.command(
                CONVERT, cell, conversion.command, walk.log(conversion.log), "converter", model_dir=made
            )
    if not scope.holds(whole.infer_when):
        yield Left(cell, INFER, because("no-script", line=scope.lines.get("inference", 0), kind=INFER))
        return
    scope.fixed("TF031", upstream=scope.upstream.status_of == "conversion", ours=False)
    values["image"] = scope.render("{image_dir}")
    folder = normpath(values["saved"])
    for source, name in whole.links:
        yield walk.command(PREPARE, cell, f"ln -sf {source} {name}", "", "inference", cwd=folder)
    yield from walk.inference(cell, {}, _inference_folder(walk))


def _inference_folder(walk: Walk) -> str:
    """Where inference runs.

    PaddleClas' script goes into the model's folder and from there by ``../..`` to the other one. Out of the
    repository it cannot go, and from a folder that lies deeper it does not get there: it stays where it is.
    """
    whole = walk.rules.whole
    if not walk.rules.mistakes or whole.cwd == "." or not whole.links:
        return whole.cwd
    model = normpath(walk.scope.values["saved"])
    if model.startswith(".."):
        return "."
    if normpath(f"{model}/../../{whole.cwd}") != whole.cwd:
        return model
    return whole.cwd


def _dirname(path: str) -> str:
    if not path:
        return ""
    stripped = path.rstrip("/") or "/"
    return dirname(stripped).rstrip("/") or ("/" if stripped.startswith("/") else ".")


def _unknown_kind(scope: Scope, place: Value, known: list[str]) -> UsageError:
    message = f"`{place.text}` is no kind of model: the script stops here with exit code 1"
    return scope.config.source.error(message, place, remedy=f"one of {', '.join(known)}")
