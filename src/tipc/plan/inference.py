"""The modes that train nothing: for each model an export, where there is one, and its inference."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, normpath

from tipc.kinds import CONVERT, EXPORT, INFER, PREPARE
from tipc.message import wording
from tipc.plan.matrix import Combination, Left, ScriptCommand, ScriptState, values_of
from tipc.plan.target.placement import SINGLE, Placement
from tipc.reasons import Reason, because

CHAIN_CHOICES = ("converts", "models", "convert1")  # the choices of chains that train nothing


def whole_modes(state: ScriptState) -> Iterator[ScriptCommand | Left]:
    """Every command of a mode that trains nothing, in the script's order."""
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    values["infer_gpu"] = values["gpu"] = "0"
    values["infer_config_dir"] = _dirname(values.get("infer_config", ""))
    visible: str | None = "0"
    if state.rules.mistakes:
        visible = None
    placement = Placement("", "", visible, SINGLE, 1)
    variables.choose(choice for choice in state.rules.choices if choice.name in CHAIN_CHOICES)
    if not variables.holds(whole.when):
        cell = Combination("whole_infer", "", "", placement)
        yield Left(cell, EXPORT, because("only-kl-quantised"))
        return
    scripts: list[str] = []
    quants: list[str] = []
    if whole.scripts:
        scripts = variables.walked(whole.scripts)
    if whole.quants:
        quants = variables.walked(whole.quants)
    items = [""]
    if whole.over:
        items = variables.walked(whole.over)
    count = 0  # of models that are not left out: the script counts only those
    for index, item in enumerate(items):
        values.update(item=item, item_dir=_dirname(item), index=str(count))
        flag = whole.quant or values_of(quants, count)
        cell = Combination("whole_infer", item, "", placement, flag == "True")
        reason = _not_of_this_kind(state, item, index)
        if reason is not None:
            yield Left(cell, EXPORT, reason)
            if reason.code == "no-kind-of-model":
                return
            continue
        _choose_script(state, item, values_of(scripts, count))
        _quant_flag(state, flag)
        yield from _exported_and_inferred(state, cell)
        count += 1


def _not_of_this_kind(state: ScriptState, item: str, index: int) -> Reason | None:
    """Why the script does not take a model in this mode, where it tells kinds of models apart.

    One that is of no kind at all stops the script; in a plan of our own it is an error.
    """
    variables, whole = state.variables, state.rules.whole
    mode = variables.values["mode"]
    kinds = whole.kinds.get(mode, {})
    if not whole.kinds or item in kinds:
        return None
    if item == "null" or any(item in other for other in whole.kinds.values()):
        return because("not-in-mode", mode=mode)
    if state.rules.mistakes:
        return because("no-kind-of-model", item=item)
    place = variables.places(whole.over)[index]
    known = ", ".join([*kinds, "null"])
    problem = wording("`{item}` is not a kind of model: the script stops here with exit code 1", item=item)
    raise variables.config.source.error(problem, place, remedy=wording("one of {names}", names=known))


def _choose_script(state: ScriptState, item: str, listed: str) -> None:
    """The script that exports a model, and the line that names it; ``listed``: its own of a list."""
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    if whole.kinds:
        template = whole.kinds[values["mode"]][item]
        values.update(script=variables.render(template), script_row=template.strip("{}"))
    elif whole.scripts:
        values.update(script=listed, script_row=whole.scripts)
    else:
        values.update(script=variables.render(whole.script), script_row=whole.script.strip("{}"))


def _quant_flag(state: ScriptState, flag: str) -> None:
    """The flag reaches the inference unquoted: where it is empty, the next argument takes its place."""
    values = state.variables.values
    values.update(quant=flag, infer_gpu="0")
    if flag == "" and state.rules.without_flag:
        values.update(state.rules.without_flag)
    elif state.rules.whole.quants:
        meant = str(flag.strip().lower() == "true")
        values["quant"] = state.variables.fixed("TF017", upstream=flag, ours=meant)


def _exported_and_inferred(state: ScriptState, cell: Combination) -> Iterator[ScriptCommand | Left]:
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    exports = variables.holds(whole.export_when)
    values["saved"] = variables.render(whole.kept)
    if exports:
        values["saved"] = variables.render(whole.saved)
    values["infer_dir"] = variables.render(whole.model)
    if exports:
        yield _export(state, cell)
    for conversion in whole.conversions:
        if variables.holds(conversion.when):
            made = variables.render(conversion.made)
            yield state.command(
                CONVERT, cell, conversion.command, state.log(conversion.log), "converter", model_dir=made
            )
    if not variables.holds(whole.infer_when):
        yield Left(cell, INFER, variables.no_script(INFER, "inference"))
        return
    variables.fixed("TF031", upstream=variables.upstream.status_of == "conversion", ours=False)
    values["image"] = variables.render("{image_dir}")
    folder = normpath(values["saved"])
    for source, name in whole.links:
        yield state.command(PREPARE, cell, f"ln -sf {source} {name}", "", "inference", cwd=folder)
    yield from state.inference(cell, {}, _inference_folder(state))


def _export(state: ScriptState, cell: Combination) -> ScriptCommand | Left:
    variables, whole = state.variables, state.rules.whole
    values = variables.values
    log = state.log(whole.export_log)
    if whole.commented_out and not variables.fixed(whole.commented_out, upstream=False, ours=True):
        return Left(cell, whole.kind, because("commented-out"))
    return state.command(
        whole.kind, cell, whole.export, log, values["script_row"],
        weights=cell.entry or values.get("infer_model", ""),
        model_dir=values["infer_dir"], visible=state.visible_for(EXPORT, cell),
    )  # fmt: skip


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
    """As ``dirname`` prints it; of nothing, nothing."""
    if not path:
        return ""
    stripped = path.rstrip("/") or "/"
    parent = dirname(stripped).rstrip("/")
    if parent:
        return parent
    if stripped.startswith("/"):
        return "/"
    return "."
