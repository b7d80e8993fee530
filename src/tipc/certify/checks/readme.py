"""TD81x: the documents are read, not only counted: chapters, commands, pictures, and whether they run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from tipc.bounded import read_bounded
from tipc.certify.checks.repo import NOT_THERE, conclude, entry_names, item, wanted
from tipc.certify.evidence.readable import MarkdownFile, all_documents, local_pictures, read_text, readmes
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import RepoScene
from tipc.message import Message, wording

# The chapters of the specification's README template, and how they may be called, in both languages.
CHAPTERS = {
    "introduction": r"introduc|about|overview|简介|介绍|概述",
    "data and accuracy": r"accurac|result|performance|benchmark|精度|结果|指标",
    "environment": r"environment|install|requirement|setup|环境|安装",
    "data": r"\bdata|数据",
    "model": r"\bmodel|pretrain|weights|模型|权重",
    "training": r"\btrain|训练",
    "evaluation": r"\beval|validat|评估|评测|验证",
    "prediction": r"predict|预测",
    "deployment": r"deploy|inference|export|部署|推理",
    "test script": r"\btest|tipc|测试",
    "licence": r"licen[cs]e|许可|协议",
    "references": r"reference|links|citation|acknowledg|参考|文献|链接|引用",
}
# What the introduction must say, anywhere in the text. A paper and a reference are links, not words.
MENTIONS = {
    "a link to the paper": r"arxiv\.org|doi\.org|openaccess|openreview|(\bpaper|论文).*https?://",
    "a link to the reference code": r"(reference|official|参考|官方).*\n?.*https?://",
    "thanks": r"\bthank|acknowledg|感谢|致谢",
}
FIGURES = "data and accuracy"
FIGURE = re.compile(r"\d\s*%|\d\.\d")
UNWRITTEN = "tipc:todo"  # in a comment of the template: what stands there is for its author to replace
REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*|-e\s|-r\s|\.|git\+)")
PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"BM")
PICTURE_LIMIT = 64 * 2**20
MIN_PICTURES = 2  # the sample, and what was predicted for it


@check(
    "TD810",
    "requirements.txt is there",
    scope="repo",
    reads="requirements.txt",
    remedy="list the packages that the scripts import, one a line",
)
def requirements(scene: RepoScene) -> Iterator[Outcome]:
    """The specification's first command after a clone is `pip install -r requirements.txt`."""
    text = read_text(scene.repo / "requirements.txt")
    lines = [line for line in text.splitlines() if REQUIREMENT.match(line)]
    if lines:
        yield passed(wording("{count} requirements", count=len(lines)))
    elif (scene.repo / "requirements.txt").is_file():
        yield failed("requirements.txt names no package")
    else:
        yield failed("there is no requirements.txt")


@check(
    "TD811",
    "README has the chapters of the specification's template",
    scope="repo",
    reads="README*.md: chapters and what stands in them, figures, links to the paper and the reference",
    remedy="write the chapter; `tipc init --template classification NAME` writes a README in the template",
)
def chapters(scene: RepoScene) -> Iterator[Outcome]:
    """Introduction with paper, reference and thanks; data and accuracy; environment, data, model; training,
    evaluation, prediction; deployment; test script; licence; references. A README in any one language
    will do."""
    found = readmes(scene.repo)
    if not found:
        yield failed("there is no README.md")
        return
    judged = {document: judge(document) for document in found}
    best = max(found, key=lambda document: list(judged[document].values()).count(None))
    items = []
    for name, note in judged[best].items():
        what = wording("{file}: {part}", file=best.name, part=Message(name))
        items.append(wanted(what, note is None, note or ""))
    yield from conclude(items, wording("{file}: all {count}", file=best.name, count=len(items)))


def judge(document: MarkdownFile) -> dict[str, Message | None]:
    """What is wrong with each chapter and each mention of a README; None where nothing is."""
    found: dict[str, Message | None] = {}
    for name, pattern in CHAPTERS.items():
        found[name] = judge_chapter(document, name, pattern)
    text = re.sub(r"^#.*$", "", document.text, flags=re.MULTILINE).lower()  # without the headings
    for name, pattern in MENTIONS.items():
        found[name] = None
        if not re.search(pattern, text):
            found[name] = NOT_THERE
    return found


def judge_chapter(document: MarkdownFile, name: str, pattern: str) -> Message | None:
    """A chapter of that name has something in it, of its author."""
    chapters = document.chapters[1:]  # the first is the title
    named = [chapter for chapter in chapters if re.search(pattern, chapter.heading.lower())]
    written = [chapter for chapter in named if chapter.text]
    if not named:
        return wording("no such chapter")
    if not written:
        return wording("there is nothing in it")
    if all(UNWRITTEN in chapter.text for chapter in written):
        return wording("it is still the template's")
    if name == FIGURES and not any(FIGURE.search(chapter.text) for chapter in written):
        return wording("there is no figure in it")
    return None


@check(
    "TD812",
    "The documents give the commands",
    scope="repo",
    reads="the ```bash blocks of README*.md, docs/ and test_tipc/",
    remedy="show the command in a ```bash block",
)
def commands(scene: RepoScene) -> Iterator[Outcome]:
    """A reader must be able to train, evaluate, predict, export and infer by copying what stands there."""
    lines = []
    for document in all_documents(scene.repo):
        for block in document.blocks:
            lines += block.commands()
    words = [set(line.split()) for line in lines]
    items = []
    for purpose, names in scripts(scene).items():
        shown = any(not line.isdisjoint(names) for line in words)
        items.append(
            wanted(Message(purpose), shown, wording("no command runs {scripts}", scripts=tuple(names)))
        )
    yield from conclude(items, wording("all {count}", count=len(items)))


def scripts(scene: RepoScene) -> dict[str, list[str]]:
    """Purpose → the scripts of the repository for it, or the name that the specification gives it."""
    found = {}
    for purpose, names in entry_names(scene).items():
        there = [name for name in names if (scene.repo / name).is_file()]
        found[purpose] = there or names[:1]
    return found


def picture_digest(path: Path) -> str:
    """Tells one picture from another; "" for a file that is none."""
    try:
        content = read_bounded(path, PICTURE_LIMIT)
    except OSError:
        return ""
    if not content.startswith(PICTURES):
        return ""
    return hashlib.sha256(content).hexdigest()


@check(
    "TD813",
    "README shows a sample and what is predicted for it",
    scope="repo",
    reads="the pictures that README*.md and docs/ show and the repository holds",
    remedy="add a sample image and the picture that the prediction script makes of it, and show both",
)
def pictures(scene: RepoScene) -> Iterator[Outcome]:
    """The specification wants a sample picture and the visualised result of the command that is given."""
    contents = set()
    for document in all_documents(scene.repo):
        for path in local_pictures(scene.repo, document):
            contents.add(picture_digest(path.resolve()))
    contents.discard("")
    if len(contents) >= MIN_PICTURES:
        yield passed(wording("{count} pictures", count=len(contents)))
    elif contents:
        yield failed("there is one picture: it is either the sample or the result")
    else:
        yield failed("no document shows a picture that lies in the repository")


@check(
    "TD814",
    "The commands of the documents run",
    scope="repo",
    reads="the ```bash blocks of README*.md, docs/ and test_tipc/, run in order in a copy of the repository",
    remedy="see the log of the block; <!-- tipc:needs gpu --> before a block marks one that needs a device",
)
def documents_run(scene: RepoScene) -> Iterator[Outcome]:
    """Following the documents, the whole flow must run: so end three documents of the specification."""
    if scene.doc_runs is None:
        yield unchecked("not run", required=False, remedy="tipc check --run-docs")
        return
    ran = [run for run in scene.doc_runs if run.left_out is None]
    if not ran:
        yield failed("no document has a ```bash block that could be run")
        return
    items = []
    for run in scene.doc_runs:
        if run.left_out:
            items.append(item(run.name, True, wording("left out: {why}", why=run.left_out)))
            continue
        note = wording(
            "exit {status} after {seconds:.0f} s, {log}",
            status=run.status,
            seconds=run.seconds,
            log=str(run.log),
        )
        items.append(item(run.name, run.status == 0, note))
    good = wording(
        "{count} blocks of commands, {left_out} left out",
        count=len(ran),
        left_out=len(scene.doc_runs) - len(ran),
    )
    yield from conclude(items, good)
