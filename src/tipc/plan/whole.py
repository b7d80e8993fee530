"""The modes that train nothing: for each model an export, where there is one, and its inference."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, normpath

from tipc.config.text import Value
from tipc.errors import UsageError
from tipc.plan.gpus import SINGLE, Placement
from tipc.plan.scope import Scope
from tipc.plan.walk import Combination, Command, Left, Walk, values_of


def whole_modes(walk: Walk) -> Iterator[Command | Left]:
    """Every command of a mode that trains nothing, in the script's order."""
    scope, whole = walk.scope, walk.rules.whole
    values = scope.values
    values["infer_gpu"] = values["gpu"] = "0"
    placement = Placement("", "", "0" if walk.rules.visible == "own" else None, SINGLE, 1)
    if not scope.holds(whole.when):
        cell = Combination("whole_infer", "", "", placement)
        yield Left(cell, "export", "everything", "the script runs this mode only for a KL-quantised model")
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
            if item == "null" or (item not in kinds and any(item in other for other in whole.kinds.values())):
                yield Left(cell, "export", item, f"this kind is not part of the mode {values['mode']}")
                continue
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
    if flag == "" and walk.rules.shift_without_flag:
        values.update(quant="0", infer_gpu="")
    elif walk.rules.whole.quants and not walk.rules.mistakes and flag not in ("True", "False"):
        values["quant"] = "True" if flag.strip().lower() == "true" else "False"
        walk.scope.fixes.add("TF017")


def _exported_and_inferred(walk: Walk, cell: Combination) -> Iterator[Command | Left]:
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
        yield walk.command(
            "export", cell, whole.export, log, values["script_row"],
            weights=weights, model_dir=values["infer_dir"], visible=walk.visible_for("export", cell),
        )  # fmt: skip
    values["image"] = scope.render("{image_dir}")
    # The script goes into the model's directory and from there to the other one; out of the repository it
    # cannot, and stays where it was.
    lost = walk.rules.mistakes and normpath(values["saved"]).startswith("..")
    yield from walk.inference(cell, {}, "." if lost else whole.cwd)


def _dirname(path: str) -> str:
    if not path:
        return ""
    stripped = path.rstrip("/") or "/"
    return dirname(stripped).rstrip("/") or ("/" if stripped.startswith("/") else ".")


def _unknown_kind(scope: Scope, place: Value, known: list[str]) -> UsageError:
    message = f"`{place.text}` is no kind of model: the script stops here with exit code 1"
    return scope.config.source.error(message, place, remedy=f"one of {', '.join(known)}")
