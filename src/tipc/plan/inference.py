"""The modes that train nothing: for each model an export, where there is one, and its inference."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, normpath

from tipc.config.source import Value
from tipc.errors import UsageError
from tipc.kinds import CONVERT, EXPORT, INFER, PREPARE
from tipc.plan.matrix import Combination, Left, ScriptCommand, ScriptState, values_of
from tipc.plan.target.placement import SINGLE, Placement
from tipc.plan.variables import Variables
from tipc.reasons import because

CHAIN_CHOICES = ("converts", "models", "convert1")  # the choices of chains that train nothing


def whole_modes(state: ScriptState) -> Iterator[ScriptCommand | Left]:
    """Every command of a mode that trains nothing, in the script's order."""
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    values["infer_gpu"] = values["gpu"] = "0"
    placement = Placement("", "", None if state.rules.mistakes else "0", SINGLE, 1)
    values["infer_config_dir"] = _dirname(values.get("infer_config", ""))
    variables.choose(choice for choice in state.rules.choices if choice.name in CHAIN_CHOICES)
    if not variables.holds(whole.when):
        cell = Combination("whole_infer", "", "", placement)
        yield Left(cell, EXPORT, because("only-kl-quantised"))
        return
    scripts = variables.walked(whole.scripts) if whole.scripts else []
    quants = variables.walked(whole.quants) if whole.quants else []
    kinds = whole.kinds.get(values["mode"], {})
    count = 0
    places = variables.places(whole.over) if whole.over else []
    for index, item in enumerate(variables.walked(whole.over) if whole.over else [""]):
        values.update(item=item, item_dir=_dirname(item), index=str(count))
        flag = whole.quant or values_of(quants, count)
        cell = Combination("whole_infer", item, "", placement, flag == "True")
        if whole.kinds:
            elsewhere = item == "null" or any(item in other for other in whole.kinds.values())
            if item not in kinds and elsewhere:
                yield Left(cell, EXPORT, because("not-in-mode", mode=values["mode"]))
                continue
            if item not in kinds and state.rules.mistakes:
                problem = f"`{item}` is no kind of model: the script stops here with exit code 1"
                yield Left(cell, EXPORT, because("cannot-start", problem=problem))
                return
            if item not in kinds:
                raise _unknown_kind(variables, places[index], [*kinds, "null"])
            values.update(script=variables.render(kinds[item]), script_row=kinds[item].strip("{}"))
        else:
            values["script"] = values_of(scripts, count) if whole.scripts else variables.render(whole.script)
            values["script_row"] = whole.scripts or whole.script.strip("{}")
        _quant_flag(state, flag)
        yield from _exported_and_inferred(state, cell)
        count += 1


def _quant_flag(state: ScriptState, flag: str) -> None:
    """The flag reaches the inference unquoted: where it is empty, the next argument takes its place."""
    values = state.variables.values
    values.update(quant=flag, infer_gpu="0")
    if flag == "" and state.rules.without_flag:
        values.update(state.rules.without_flag)
    elif state.rules.whole.quants:
        meant = "True" if flag.strip().lower() == "true" else "False"
        values["quant"] = state.variables.fixed("TF017", upstream=flag, ours=meant)


def _exported_and_inferred(state: ScriptState, cell: Combination) -> Iterator[ScriptCommand | Left]:
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    values["saved"] = variables.render(whole.kept)
    exports = variables.holds(whole.export_when)
    if exports:
        values["saved"] = variables.render(whole.saved)
    values["infer_dir"] = variables.render(whole.model)
    if exports:
        log = state.log(whole.export_log)
        weights = cell.entry or values.get("infer_model", "")
        if whole.commented_out and not variables.fixed(whole.commented_out, upstream=False, ours=True):
            yield Left(cell, whole.kind, because("commented-out"))
        else:
            yield state.command(
                whole.kind, cell, whole.export, log, values["script_row"],
                weights=weights, model_dir=values["infer_dir"], visible=state.visible_for(EXPORT, cell),
            )  # fmt: skip
    for conversion in whole.conversions:
        if variables.holds(conversion.when):
            made = variables.render(conversion.made)
            yield state.command(
                CONVERT, cell, conversion.command, state.log(conversion.log), "converter", model_dir=made
            )
    if not variables.holds(whole.infer_when):
        yield Left(cell, INFER, because("no-script", line=variables.lines.get("inference", 0), kind=INFER))
        return
    variables.fixed("TF031", upstream=variables.upstream.status_of == "conversion", ours=False)
    values["image"] = variables.render("{image_dir}")
    folder = normpath(values["saved"])
    for source, name in whole.links:
        yield state.command(PREPARE, cell, f"ln -sf {source} {name}", "", "inference", cwd=folder)
    yield from state.inference(cell, {}, _inference_folder(state))


def _inference_folder(state: ScriptState) -> str:
    """Where inference runs.

    PaddleClas' script goes into the model's folder and from there by ``../..`` to the other one. Out of the
    repository it cannot go, and from a folder that lies deeper it does not get there: it stays where it is.
    """
    whole = state.rules.whole
    if not state.rules.mistakes or whole.cwd == "." or not whole.links:
        return whole.cwd
    model = normpath(state.variables.values["saved"])
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


def _unknown_kind(variables: Variables, place: Value, known: list[str]) -> UsageError:
    message = f"`{place.text}` is no kind of model: the script stops here with exit code 1"
    return variables.config.source.error(message, place, remedy=f"one of {', '.join(known)}")
