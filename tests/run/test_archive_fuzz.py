"""Whatever bytes an archive has: it is unpacked, or refused in one sentence with nothing left behind."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from damage import Damage, damaged, several_damages
from tipc.errors import UsageError
from tipc.run.prepare.archive import unpack

FILES = {"data/a.txt": b"some text\n" * 12, "data/b.bin": bytes(range(200)), "top": b"x"}


def tar_bytes(mode: str) -> bytes:
    """A tar with files, a directory, a link and a hard link."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in FILES.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_000_000_000
            archive.addfile(info, io.BytesIO(data))
        others = {"folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE}
        for name, kind in others.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "top"
            archive.addfile(info)
    return raw.getvalue()


def zip_bytes(method: int) -> bytes:
    """A zip with files, a directory and a link."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, data in FILES.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
        archive.writestr("folder/", b"")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "top")
    return raw.getvalue()


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "tar": lambda: tar_bytes("w"),
    "tar.gz": lambda: tar_bytes("w:gz"),
    "tar.bz2": lambda: tar_bytes("w:bz2"),
    "tar.xz": lambda: tar_bytes("w:xz"),
    "zip, stored": lambda: zip_bytes(zipfile.ZIP_STORED),
    "zip, deflated": lambda: zip_bytes(zipfile.ZIP_DEFLATED),
    "zip, bzip2": lambda: zip_bytes(zipfile.ZIP_BZIP2),
    "zip, lzma": lambda: zip_bytes(zipfile.ZIP_LZMA),
}
# Digits, since numbers in a tar are written so; the rest to break what is binary.
DAMAGE = several_damages(b"\x00\xff0789/.", longest=600)


def refused(archive: Path, target: Path) -> str:
    """Why an archive was not unpacked; empty if it was."""
    try:
        unpack(archive, target, max_bytes=10_000_000)
    except UsageError as refusal:
        return refusal.message
    return ""


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_damaged_archive_is_unpacked_or_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, kind: str
) -> None:
    raw = ARCHIVES[kind]()
    base = tmp_path_factory.mktemp("fuzz")
    made, beside = base / "archive", base / "beside"
    beside.write_text("mine", encoding="utf-8")
    good = base / "good"
    made.write_bytes(raw)
    assert unpack(made, good)
    rounds = iter(range(1_000_000))

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(DAMAGE)
    def try_one(damage: Damage) -> None:
        made.write_bytes(damaged(raw, damage))
        out = base / f"out{next(rounds)}"
        refusal = refused(made, out)
        if refusal:
            assert "nothing was unpacked" in refusal
            assert refusal.isprintable()
            assert not out.exists() or list(out.iterdir()) == []
        assert beside.read_text(encoding="utf-8") == "mine"

    try_one()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (b"\x63\x00", "cannot be read here"),  # a method that nobody has
        (b"\x01\x00", "cannot be read here"),  # one of forty years ago
    ],
)
def test_a_zip_of_an_unknown_method_is_refused(tmp_path: Path, change: bytes, why: str) -> None:
    raw = bytearray(zip_bytes(zipfile.ZIP_DEFLATED))
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = raw.find(mark)
        raw[at + offset : at + offset + 2] = change
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(UsageError, match=why):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    raw = bytearray(zip_bytes(zipfile.ZIP_DEFLATED))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.find(mark) + offset] |= 1
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(UsageError, match=r"cannot be read here \(.*encrypted"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


@pytest.mark.parametrize("mtime", ["nan", "1e300", "-1e18", "inf"])
def test_a_time_that_is_none_does_not_matter(tmp_path: Path, mtime: str) -> None:
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("x")
        info.pax_headers = {"mtime": mtime}
        archive.addfile(info)
    assert unpack(tmp_path / "a.tar", tmp_path / "out")


def test_names_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for names in (["a", "a/b"], ["x" * 300], [""]):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name), b"1")
        with pytest.raises(UsageError, match="nothing was unpacked"):
            unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_directory_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        unpack(tmp_path, tmp_path / "out")
