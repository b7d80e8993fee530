"""A repository's documents as data: chapters, shell blocks with their place, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tipc.bounded import read_beginning

SHELLS = ("bash", "sh", "shell")  # a block in another language, or in none, is an example or an output
FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)[^)]*\)|<img[^>]+src=[\"']([^\"']+)")
NEEDS = re.compile(r"<!--\s*tipc:needs\s+(\w+)\s*-->")  # before a block: it runs only where there is one
TEXT_LIMIT = 4 * 2**20


@dataclass(frozen=True)
class ShellBlock:
    """A fenced block of shell commands."""

    file: str  # relative to the repository
    line: int  # of its first command
    text: str
    needs: str = ""  # a device that it needs, as its author says

    def commands(self) -> list[str]:
        """Its commands: no comments, continued lines joined."""
        commands = []
        for line in re.sub(r"\\\n\s*", " ", self.text).splitlines():
            command = line.strip().removeprefix("$ ")
            if command and not command.startswith("#"):
                commands.append(command)
        return commands


@dataclass(frozen=True)
class Chapter:
    """A heading and what stands below it, down to the next heading that is not below this one."""

    heading: str
    level: int
    text: str  # without the headings in it


@dataclass(frozen=True)
class MarkdownFile:
    """One Markdown file."""

    name: str
    text: str
    chapters: tuple[Chapter, ...]
    blocks: tuple[ShellBlock, ...]
    pictures: tuple[str, ...]  # as the links say


def read_text(path: Path) -> str:
    """The text of a file; empty where there is none that can be read."""
    try:
        return read_beginning(path, TEXT_LIMIT)
    except OSError:
        return ""


def read_document(repo: Path, path: Path) -> MarkdownFile:
    """A Markdown file of a repository."""
    name = path.relative_to(repo).as_posix()
    text = read_text(path)
    blocks: list[ShellBlock] = []
    prose: list[str] = []
    fence, language, start, needs = "", "", 0, ""
    inside: list[str] = []
    headings: list[tuple[int, int, str]] = []  # line, level, words
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2]:
                if language in SHELLS:
                    blocks.append(ShellBlock(name, start, "\n".join(inside) + "\n", needs))
                fence, needs, inside = "", "", []
            else:
                inside.append(line)
        elif match:
            fence, language, start = match[1], match[2].lower(), number + 1
        else:
            prose.append(line)
            wanted = NEEDS.search(line)
            if wanted:
                needs = wanted[1]
            heading = HEADING.match(line)
            if heading:
                headings.append((number, len(heading[1]), heading[2]))
    links = [match[1] or match[2] for match in PICTURE.finditer("\n".join(prose))]
    return MarkdownFile(
        name, text, tuple(chapters_of(text.splitlines(), headings)), tuple(blocks), tuple(links)
    )


def chapters_of(lines: list[str], headings: list[tuple[int, int, str]]) -> Iterator[Chapter]:
    """The chapters of a document whose headings are at these lines."""
    at = {number for number, _, _ in headings}
    for index, (start, level, words) in enumerate(headings):
        below = []
        for number in range(start + 1, _end_of_chapter(headings[index + 1 :], level, len(lines) + 1)):
            if number not in at:
                below.append(lines[number - 1])
        yield Chapter(words, level, "\n".join(below).strip())


def _end_of_chapter(later: list[tuple[int, int, str]], level: int, last: int) -> int:
    """The line of the next heading that is not below this one; ``last`` where there is none."""
    for number, deep, _ in later:
        if deep <= level:
            return number
    return last


def readmes(repo: Path) -> list[MarkdownFile]:
    """The README of a repository in all its languages."""
    return _documents(repo, "README*.md")


def _documents(repo: Path, pattern: str) -> list[MarkdownFile]:
    return [read_document(repo, path) for path in sorted(repo.glob(pattern))]


def all_documents(repo: Path) -> list[MarkdownFile]:
    """READMEs first, then what lies in docs/ and test_tipc/."""
    found = list(readmes(repo))
    for pattern in ("docs/**/*.md", "test_tipc/README*.md", "test_tipc/docs/**/*.md"):
        found += _documents(repo, pattern)
    return found


def local_pictures(repo: Path, document: MarkdownFile) -> Iterator[Path]:
    """The pictures of a document that lie in the repository."""
    for link in dict.fromkeys(document.pictures):
        if "://" not in link:
            path = (repo / document.name).parent / link.partition("#")[0]
            if path.is_file():
                yield path
