"""TD8xx: what the spec lists for a whole repository. ``tipc check`` shows them as a checklist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tipc.certify.checks.steps import CHAIN_LIMIT
from tipc.certify.evidence import lite_data
from tipc.certify.evidence.readable import MarkdownFile, read_document, read_text
from tipc.certify.levels import DOCUMENTS, Level, highest
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import RepoScene
from tipc.command import Command
from tipc.kinds import AMP, PACT, TRAIN_CHAIN, TRAININGS
from tipc.message import Message, wording
from tipc.plan.model import Plan
from tipc.run.record.results import Run

ENTRIES = {
    "training": ("train.py", "tools/train.py"),
    "evaluation": ("eval.py", "val.py", "tools/eval.py", "tools/val.py"),
    "prediction": ("predict.py", "tools/predict.py"),
    "export": ("tools/export_model.py", "export_model.py", "tools/export.py", "export.py"),
}
INFERENCE = ("deploy/*/infer.py", "deploy/infer.py", "deploy/*/predict*.py", "infer.py")
OWN_CONFIGS = {"train_amp_infer_python.txt": AMP, "train_pact_infer_python.txt": PACT}
TEMPLATE_MODEL = "mobilenet_v3_small"  # in the configs that the specification has one copy
RUNS_CHAIN = re.compile(r"test_train_inference_python\.sh|\b(paddle-)?tipc run\b")
PATH_OPTIONS = (
    "data_path",
    "data_dir",
    "dataset_root",
    "img_path",
    "image_path",
    "image_dir",
    "input",
    "infer_imgs",
)


NOT_THERE = wording("not there")


def item(what: str | Message, ok: bool, note: str | Message = "") -> dict[str, Any]:
    """One entry of a checklist. A note says more of it: of a good one as well."""
    return {"what": what, "ok": ok, "note": note}


def wanted(what: str | Message, there: bool, otherwise: str | Message = NOT_THERE) -> dict[str, Any]:
    """An entry that says something more only where it is not in order."""
    if there:
        return item(what, True)
    return item(what, False, otherwise)


def item_text(entry: Mapping[str, Any]) -> str | Message:
    """An entry in a line."""
    if not entry["note"]:
        return cast("str | Message", entry["what"])
    return wording("{what}: {note}", what=entry["what"], note=entry["note"])


def conclude(items: Iterable[dict[str, Any]], good: Message) -> Iterator[Outcome]:
    """Pass if every item of a list is there, else fail with the first that is not."""
    found = list(items)
    wrong = [entry for entry in found if not entry["ok"]]
    if not wrong:
        yield passed(good, items=found)
        return
    told = wording("{item}", item=item_text(wrong[0]))
    if len(wrong) > 1:
        told = wording("{item} (and {count} more)", item=item_text(wrong[0]), count=len(wrong) - 1)
    yield failed(told, items=found)


@check(
    "TD801",
    "The entry scripts are there",
    scope="repo",
    reads="train.py, eval.py, predict.py, tools/export_model.py, deploy/…/infer.py",
    remedy="add the script under one of the names that are listed",
)
def entry_scripts(scene: RepoScene) -> Iterator[Outcome]:
    """The spec names a script for training, evaluation, prediction, export and inference, so that everybody
    finds them in every repository."""
    items = []
    for purpose, names in entry_names(scene).items():
        there = [name for name in names if (scene.repo / name).is_file()]
        name = [*there, *names][0]
        items.append(wanted(wording("{purpose}: {name}", purpose=Message(purpose), name=name), bool(there)))
    yield from conclude(items, wording("all {count}", count=len(items)))


def entry_names(scene: RepoScene) -> dict[str, list[str]]:
    """Purpose → the names that a script for it may have; of the inference those that are there."""
    found = {purpose: list(names) for purpose, names in ENTRIES.items()}
    deployed: set[Path] = set()
    for pattern in INFERENCE:
        deployed.update(scene.repo.glob(pattern))
    found["inference"] = [path.relative_to(scene.repo).as_posix() for path in sorted(deployed)]
    if not deployed:
        found["inference"] = [INFERENCE[0]]
    return found


@check(
    "TD802",
    "test_tipc has its layout",
    scope="repo",
    reads="test_tipc/",
    remedy="`tipc init --tipc` makes what is missing",
)
def layout(scene: RepoScene) -> Iterator[Outcome]:
    """Configs, documents, README and the scripts have fixed names, so that a build server can run any model.
    The specification lists prepare.sh with PACT and not in its base documents: required at that level."""
    folder = scene.repo / "test_tipc"
    items = []
    for name in level_of(scene).layout:
        items.append(wanted(f"test_tipc/{name}", (folder / name).exists()))
    yield from conclude(items, wording("all {count}", count=len(items)))


def kinds_by_model(scene: RepoScene) -> dict[str, dict[str, str]]:
    """Model → kind of training (fp32, amp, pact) → config. A config of another chain trains nothing."""
    found: dict[str, dict[str, str]] = {}
    for plan in scene.plans:
        if plan.chain != TRAIN_CHAIN:
            continue
        kinds = found.setdefault(plan.model, {})
        for cell in plan.cells:
            kinds.setdefault(cell.precision, plan.config)
    return found


def level_of(scene: RepoScene) -> Level:
    """What the repository is held against: what was asked for, or the highest that every model has."""
    if scene.level is not None:
        return scene.level
    complete: set[str] | None = None
    for kinds in kinds_by_model(scene).values():
        if complete is None:
            complete = set(TRAININGS)
        complete.intersection_update(kinds)
    return highest(complete or set())


@check(
    "TD803",
    "Each model has the configs of its level",
    scope="repo",
    reads="test_tipc/configs/<model>/*.txt, as plans",
    remedy="`tipc init --tipc --model NAME` writes the missing ones",
)
def configs(scene: RepoScene) -> Iterator[Outcome]:
    """The chains of the specification: normal training, and where a repository claims more, mixed precision
    and quantisation. Each config must give a plan, and name its own model. Without --level: the highest that
    all models have."""
    items = [item(config, False, reason) for config, reason in scene.broken.items()]
    items += copied_names(scene)
    items += misnamed(scene)
    models = kinds_by_model(scene)
    level = level_of(scene)
    for model, kinds in models.items():
        for kind in level.kinds:
            name = f"{model} {TRAININGS[kind]}"
            if kind in kinds:
                items.append(item(name, True, kinds[kind]))
            else:
                items.append(item(name, False, wording("no config has such a cell")))
    if not items:
        items = [item("test_tipc/configs", False, wording("it has no config"))]
    good = wording(
        "level {level}: models {models}, chains {chains}",
        level=level.name,
        models=len(models),
        chains=len(items),
    )
    above = kinds_above(level, models)
    if above:
        good = wording("{message}; {above}", message=good, above=above)
    yield from conclude(items, good)


def copied_names(scene: RepoScene) -> Iterator[dict[str, Any]]:
    """The configs whose model_name was not changed when they were copied: it is that of another model's
    folder, or the one in the specification's template. A name that adds to its folder's, or shortens it, is
    the model's own."""
    folders = {TEMPLATE_MODEL}
    for plan in scene.plans:
        folders.add(Path(plan.config).parent.name)
    for plan in scene.plans:
        folder = Path(plan.config).parent.name
        mine, here = letters(plan.model), letters(folder)
        if plan.model in folders and mine not in here and here not in mine:
            note = wording("its model_name is {model}, another model's", model=plan.model)
            yield item(plan.config, False, note)


def misnamed(scene: RepoScene) -> Iterator[dict[str, Any]]:
    """The configs under the specification's names for mixed precision and PACT that train otherwise: without
    this, a config that lost its option would only lower the level."""
    for plan in scene.plans:
        kind = OWN_CONFIGS.get(Path(plan.config).name)
        if kind is not None and not any(cell.precision == kind for cell in plan.cells):
            yield item(plan.config, False, wording("it has no cell of {kind}", kind=TRAININGS[kind]))


def letters(name: str) -> str:
    """A name without its punctuation: PP-OCRv2 and pp_ocrv2 are one."""
    return re.sub(r"[\W_]", "", name.lower())


def kinds_above(level: Level, models: dict[str, dict[str, str]]) -> tuple[Message, ...]:
    """The trainings beyond a level that some of the models have."""
    found = []
    for kind, title in TRAININGS.items():
        count = sum(kind in kinds for kinds in models.values())
        if kind not in level.kinds and count:
            found.append(
                wording("{kind} has {count} of {models} models", kind=title, count=count, models=len(models))
            )
    return tuple(found)


@check(
    "TD804",
    "The documents of test_tipc mention each config and its command",
    scope="repo",
    reads="test_tipc/README.md, test_tipc/docs/*.md",
    remedy="name the model in the document of its chain, with the command that runs it; "
    "`tipc docs` writes the tables from runs",
)
def documents(scene: RepoScene) -> Iterator[Outcome]:
    """A chain that no document mentions is one that nobody will run."""
    folder = scene.repo / "test_tipc"
    readme = read_text(folder / "README.md")
    items = []
    documented: dict[str, MarkdownFile] = {}
    for model, kinds in kinds_by_model(scene).items():
        what = wording("{file} on {model}", file="test_tipc/README.md", model=model)
        items.append(wanted(what, model in readme, wording("not mentioned")))
        for kind in kinds:
            names = DOCUMENTS.get(kind, ())
            if not names:
                continue
            path = document_of(folder / "docs", names)
            if path is None:
                items.append(
                    wanted(
                        wording("{file} on {model}", file=f"test_tipc/docs/{names[0]}", model=model), False
                    )
                )
                continue
            document = documented.setdefault(kind, read_document(scene.repo, path))
            what = wording("{file} on {model}", file=document.name, model=model)
            note = wording("{model} is not mentioned", model=model)
            items.append(wanted(what, model in document.text, note))
    for document in documented.values():
        what = wording("{file} gives the command", file=document.name)
        note = wording("no shell block runs test_train_inference_python.sh or tipc run")
        items.append(wanted(what, runs_chain(document), note))
    if items:
        yield from conclude(items, wording("mentions: {count}", count=len(items)))
    else:
        yield unchecked("there is no config to be mentioned")


def document_of(folder: Path, names: Iterable[str]) -> Path | None:
    """The first of several documents that is there."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    return None


def runs_chain(document: MarkdownFile) -> bool:
    """A shell block of the document runs a chain."""
    for block in document.blocks:
        for line in block.commands():
            if RUNS_CHAIN.search(line):
                return True
    return False


def archive_of(scene: RepoScene) -> lite_data.Archive | None:
    path = lite_data.find_archive(scene.repo)
    if path is None:
        return None
    return lite_data.read_archive(path)


@check(
    "TD805",
    "lite_data is there, whole, and at most 20 MB",
    scope="repo",
    reads="lite_data.tar (or .tar.gz, .zip): every byte, without unpacking it",
    remedy="tar -zcf lite_data.tar lite_data, with a few small images",
)
def lite_archive(scene: RepoScene) -> Iterator[Outcome]:
    """The chain must run from a fresh clone with no download. Half a tar unpacks, prints an error that nobody
    reads, and training goes on with the images that came out."""
    archive = archive_of(scene)
    if archive is None:
        yield failed("there is no lite_data.tar", items=[wanted("lite_data.tar", False)])
        return
    name = archive.path.relative_to(scene.repo).as_posix()
    megabytes = archive.size / 1e6
    missing: list[str] = []
    if not archive.error:
        missing = lite_data.dangling(archive)
    small = archive.size <= lite_data.SIZE_LIMIT
    items = [
        item(wording("{archive} unpacks", archive=name), not archive.error, archive.error),
        item(
            wording("{archive} has at most 20 MB", archive=name),
            small,
            wording("{size:.2f} MB", size=megabytes),
        ),
        item(wording("every listed image is in it"), not missing, "".join(missing[:1])),
    ]
    good = wording(
        "{archive}: {files} files, {size:.2f} MB", archive=name, files=len(archive.files), size=megabytes
    )
    yield from conclude(items, good)


@check(
    "TD806",
    "lite_data has 8 to 16 images a split",
    scope="repo",
    reads="the lists (train_list.txt, val.txt, …) or the folders in the archive",
    remedy="8 to 16 images each for training and validation",
)
def lite_images(scene: RepoScene) -> Iterator[Outcome]:
    """Fewer images than a batch train nothing, and more make the lite chain slow."""
    archive = archive_of(scene)
    if archive is None or archive.error:
        yield unchecked("there is no archive that can be read", required=False)
        return
    low, high = lite_data.IMAGE_LIMITS
    counts = lite_data.splits(archive)
    items = []
    for name, count in sorted(counts.items()):
        items.append(item(name, low <= count <= high, wording("images: {count}", count=count)))
    kinds = {lite_data.split_of(name) for name in counts}
    for kind in ("train", "val"):
        if kind not in kinds:
            items.append(item(wording("a {split} split", split=kind), False, wording("not found")))
    figures = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    yield from conclude(items, wording("{figures}", figures=figures))


@check(
    "TD807",
    "The data that the configs name are there after unpacking",
    scope="repo",
    reads="the commands of the plans, the repository, the names in the archive",
    remedy="unpack to the folder that the configs name, or change the configs' data and image lines",
)
def data_paths(scene: RepoScene) -> Iterator[Outcome]:
    """prepare.sh unpacks lite_data; the commands must find their data there and nowhere else."""
    archive = archive_of(scene)
    items: dict[str, dict[str, Any]] = {}
    for plan in scene.plans:
        for step in plan.steps:
            for option, value in path_options(step.argv):
                there = (scene.repo / step.cwd / value).exists() or bool(archive and archive.has(value))
                note = wording(
                    "neither there nor in the archive; the command of line {line} of {config} has it as "
                    "--{option}",
                    line=step.line,
                    config=plan.config,
                    option=option,
                )
                items.setdefault(value, wanted(value, there, note))
    if items:
        yield from conclude(items.values(), wording("paths: {count}", count=len(items)))
    else:
        yield unchecked("no command names its data", required=False)


def path_options(argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The options of a command that name data or images."""
    for option in Command(argv).options():
        if option.key in PATH_OPTIONS and option.value not in ("", "null", "None"):
            yield option.key, option.value


@check(
    "TD808",
    "The lite chains take at most ten minutes",
    scope="repo",
    reads="the newest run of each config",
    remedy="`tipc run` the config; then fewer epochs or smaller images",
)
def newest_chain(scene: RepoScene) -> Iterator[Outcome]:
    """The time is that of the newest run of each config, all its commands one after the other."""
    items = []
    never = 0  # of the configs that were not run here
    for plan in scene.plans:
        run = scene.runs.get(plan.config)
        mine = plan_in(run, plan.config)
        if run is None or mine is None:
            never += 1
            items.append(item(plan.config, False, wording("never run")))
            continue
        results = [run.result(mine, step) for step in mine.steps]
        if any(result.left_out for result in results):
            never += 1
            items.append(item(plan.config, False, wording("only a part was ever run")))
            continue
        seconds = sum(result.wall for result in results)
        whole = all(result.ok for result in results)
        note = wording("{seconds:.0f} s in run {run}", seconds=seconds, run=run.id)
        if not whole:
            note = wording("{message}, in which not every step passed", message=note)
        items.append(item(plan.config, whole and seconds <= CHAIN_LIMIT, note))
    wrong = [entry for entry in items if not entry["ok"]]
    if never == len(wrong) and (never or not items):
        told = wording("{never} of {configs} configs were never run here", never=never, configs=len(items))
        yield unchecked(told, remedy="tipc run test_tipc/configs", items=items)
    else:
        yield from conclude(items, wording("configs: {count}", count=len(items)))


def plan_in(run: Run | None, config: str) -> Plan | None:
    """The plan of a config in a run; None: there is none."""
    if run is not None:
        for plan in run.plans:
            if plan.config == config:
                return plan
    return None


@check(
    "TD809",
    "test_tipc/parity.py is written, where there is one",
    scope="repo",
    reads="test_tipc/parity.py",
    remedy="write test_tipc/parity.py, or remove it (docs/parity.md has the protocol)",
)
def parity_protocol(scene: RepoScene) -> Iterator[Outcome]:
    """It adds what no witness can see: the metric, and the same image through both preprocessings."""
    source = read_text(scene.repo / "test_tipc" / "parity.py")
    if not source:
        yield passed("there is none, and none is needed")
    elif "NotImplementedError" in source:
        yield failed("test_tipc/parity.py is still the skeleton")
    else:
        yield passed("test_tipc/parity.py")
