"""TD8xx: what the spec lists for a whole repository. ``tipc check`` shows them as a checklist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tipc.certify.checks.steps import CHAIN_LIMIT
from tipc.certify.evidence import lite_data
from tipc.certify.evidence.readable import MarkdownFile, read_document, read_text
from tipc.certify.levels import DOCUMENTS, Level, highest
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import RepoScene
from tipc.kinds import TRAININGS

ENTRIES = {
    "training": ("train.py", "tools/train.py"),
    "evaluation": ("eval.py", "val.py", "tools/eval.py", "tools/val.py"),
    "prediction": ("predict.py", "tools/predict.py"),
    "export": ("tools/export_model.py", "export_model.py", "tools/export.py", "export.py"),
}
INFERENCE = ("deploy/*/infer.py", "deploy/infer.py", "deploy/*/predict*.py", "infer.py")
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


def item(what: str, ok: bool, note: str = "") -> dict[str, Any]:
    return {"what": what, "ok": ok, "note": note}


def conclude(items: Iterable[dict[str, Any]], good: str) -> Iterator[Outcome]:
    """Pass if every item of a list is there, else fail with the first that is not."""
    found = list(items)
    wrong = [entry for entry in found if not entry["ok"]]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        note = f": {wrong[0]['note']}" if wrong[0]["note"] else ""
        yield failed(f"{wrong[0]['what']}{note}{more}", items=found)
    else:
        yield passed(good, items=found)


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
    for purpose, names in ENTRIES.items():
        found = next((name for name in names if (scene.repo / name).is_file()), "")
        items.append(entry(scene, purpose, found or names[0]))
    deployed = sorted({path for pattern in INFERENCE for path in scene.repo.glob(pattern)})
    name = deployed[0].relative_to(scene.repo).as_posix() if deployed else INFERENCE[0]
    items.append(entry(scene, "inference", name))
    yield from conclude(items, f"all {len(items)}")


def entry(scene: RepoScene, purpose: str, name: str) -> dict[str, Any]:
    """One entry script: it is there."""
    there = (scene.repo / name).is_file()
    return item(f"{purpose}: {name}", there, "" if there else "not there")


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
    level = level_of(scene)
    items = []
    for name in level.layout:
        there = (folder / name).exists()
        items.append(item(f"test_tipc/{name}", there, "" if there else "not there"))
    yield from conclude(items, f"all {len(items)}")


def kinds_by_model(scene: RepoScene) -> dict[str, dict[str, str]]:
    """Model → kind of training (fp32, amp, pact) → config."""
    found: dict[str, dict[str, str]] = {}
    for plan in scene.plans:
        kinds = found.setdefault(plan.model, {})
        for cell in plan.cells:
            kinds.setdefault(cell.precision, plan.config)
    return found


def level_of(scene: RepoScene) -> Level:
    """What the repository is held against: what was asked for, or the highest that every model has."""
    if scene.level is not None:
        return scene.level
    models = kinds_by_model(scene).values()
    complete = {kind for kind in TRAININGS if models and all(kind in kinds for kinds in models)}
    return highest(complete)


@check(
    "TD803",
    "Each model has the configs of its level",
    scope="repo",
    reads="test_tipc/configs/<model>/*.txt, as plans",
    remedy="`tipc init --tipc --model NAME` writes the missing ones",
)
def configs(scene: RepoScene) -> Iterator[Outcome]:
    """The chains of the specification: normal training, and where a repository claims more, mixed precision
    and quantisation. Each config must give a plan. Without --level: the highest that all models have."""
    items = [item(config, False, reason) for config, reason in scene.broken.items()]
    models = kinds_by_model(scene)
    level = level_of(scene)
    for model, kinds in models.items():
        for kind in level.kinds:
            config = kinds.get(kind, "")
            items.append(
                item(f"{model} {TRAININGS[kind]}", bool(config), config or "no config has such a cell")
            )
    if not items:
        items = [item("test_tipc/configs", False, "it has no config")]
    above = [
        f"{TRAININGS[kind]} has {count} of {len(models)} models"
        for kind in TRAININGS
        if kind not in level.kinds and (count := sum(kind in kinds for kinds in models.values()))
    ]
    note = f"; {', '.join(above)}" if above else ""
    yield from conclude(items, f"level {level.name}: {len(models)} models, {len(items)} chains{note}")


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
        mentioned = model in readme
        note = "" if mentioned else "not mentioned"
        items.append(item(f"test_tipc/README.md on {model}", mentioned, note))
        for kind in kinds:
            names = DOCUMENTS.get(kind, ())
            if not names:
                continue
            path = next(
                (folder / "docs" / name for name in names if (folder / "docs" / name).is_file()), None
            )
            if path is None:
                items.append(item(f"test_tipc/docs/{names[0]} on {model}", False, "not there"))
                continue
            document = documented.setdefault(kind, read_document(scene.repo, path))
            mentioned = model in document.text
            note = "" if mentioned else f"{model} is not mentioned"
            items.append(item(f"{document.name} on {model}", mentioned, note))
    for document in documented.values():
        runs = any(RUNS_CHAIN.search(line) for block in document.blocks for line in block.commands())
        note = "" if runs else "no shell block runs test_train_inference_python.sh or tipc run"
        items.append(item(f"{document.name} gives the command", runs, note))
    if items:
        yield from conclude(items, f"{len(items)} mentions")
    else:
        yield unchecked("there is no config to be mentioned")


def archive_of(scene: RepoScene) -> lite_data.Archive | None:
    path = lite_data.find_archive(scene.repo)
    return lite_data.read_archive(path) if path else None


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
        yield failed("there is no lite_data.tar", items=[item("lite_data.tar", False, "not there")])
        return
    name = archive.path.relative_to(scene.repo).as_posix()
    small = archive.size <= lite_data.SIZE_LIMIT
    missing = [] if archive.error else lite_data.dangling(archive)
    items = [
        item(f"{name} unpacks", not archive.error, archive.error),
        item(f"{name} has at most 20 MB", small, f"{archive.size / 1e6:.2f} MB"),
        item("every listed image is in it", not missing, missing[0] if missing else ""),
    ]
    yield from conclude(items, f"{name}: {len(archive.files)} files, {archive.size / 1e6:.2f} MB")


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
    items = [item(name, low <= count <= high, f"{count} images") for name, count in sorted(counts.items())]
    kinds = {lite_data.split_of(name) for name in counts}
    items += [item(f"a {kind} split", False, "not found") for kind in ("train", "val") if kind not in kinds]
    yield from conclude(items, ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))


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
                note = f"the command of line {step.line} of {plan.config} has it as --{option}"
                items.setdefault(
                    value, item(value, there, "" if there else f"neither there nor in the archive; {note}")
                )
    if items:
        yield from conclude(items.values(), f"{len(items)} paths")
    else:
        yield unchecked("no command names its data", required=False)


def path_options(argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The options of a command that name data or images."""
    for index, word in enumerate(argv):
        key, equals, value = word.partition("=")
        name = key.lstrip("-").rpartition(".")[2].lower().replace("-", "_")
        if name in PATH_OPTIONS and (equals or key.startswith("-")):
            value = value if equals else next(iter(argv[index + 1 : index + 2]), "")
            if value and value not in ("null", "None"):
                yield name, value


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
    for plan in scene.plans:
        run = scene.runs.get(plan.config)
        mine = next((other for other in run.plans if other.config == plan.config), None) if run else None
        if run is None or mine is None:
            items.append(item(plan.config, False, "never run"))
            continue
        results = [run.result(mine, step) for step in mine.steps]
        seconds = sum(result.wall for result in results)
        whole = all(result.ok for result in results)
        note = f"{seconds:.0f} s in run {run.id}" + ("" if whole else ", in which not every step passed")
        items.append(item(plan.config, whole and seconds <= CHAIN_LIMIT, note))
    never = [entry for entry in items if entry["note"] == "never run"]
    if len(never) == len([entry for entry in items if not entry["ok"]]) and (never or not items):
        yield unchecked(
            f"{len(never)} of {len(items)} configs were never run here",
            remedy="tipc run test_tipc/configs",
            items=items,
        )
    else:
        yield from conclude(items, f"{len(items)} configs")


@check(
    "TD809",
    "test_tipc/parity.py is written, where there is one",
    scope="repo",
    reads="test_tipc/parity.py",
    remedy="write test_tipc/parity.py, or remove it (docs/parity.md tells the protocol)",
)
def parity_protocol(scene: RepoScene) -> Iterator[Outcome]:
    """It adds what no witness can see: the metric, and the same image through both preprocessings."""
    source = read_text(scene.repo / "test_tipc" / "parity.py")
    if not source:
        yield unchecked("there is no test_tipc/parity.py", required=False)
    elif "NotImplementedError" in source:
        yield failed("test_tipc/parity.py is still the skeleton")
    else:
        yield passed("test_tipc/parity.py")
