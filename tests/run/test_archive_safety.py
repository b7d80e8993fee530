"""An archive is unpacked whole and inside its target, or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tipc.errors import TipcError, UsageError
from tipc.run.prepare.archive import unpack


def entry(name: str, text: str = "text", **changes: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    for key, value in changes.items():
        setattr(info, key, value)
    data = text.encode() if info.type == tarfile.REGTYPE else b""
    info.size = len(data)
    return info, data


def tar(path: Path, *entries: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return path


def everything(target: Path) -> list[str]:
    return sorted(str(path.relative_to(target)) for path in target.rglob("*")) if target.exists() else []


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_good_archive_is_unpacked(tmp_path: Path, mode: str) -> None:
    made = tar(tmp_path / "a.tar", entry("data/x", "1", mode=0o755), entry("data/y", "2"), mode=mode)
    assert unpack(made, tmp_path / "out")
    assert everything(tmp_path / "out") == ["data", "data/x", "data/y"]
    assert os.access(tmp_path / "out/data/x", os.X_OK)


def test_a_zip_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("data/", "")
        archive.writestr("data/x", "1")
    assert unpack(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out/data/x").read_text() == "1"
    assert not unpack(tmp_path / "a.zip", tmp_path / "out")


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    made = tar(
        tmp_path / "a.tar", entry("x", "1", mtime=1000), entry("l", type=tarfile.SYMTYPE, linkname="x")
    )
    assert unpack(made, tmp_path / "out")
    inode = (tmp_path / "out/x").stat().st_ino
    assert not unpack(made, tmp_path / "out")
    assert (tmp_path / "out/x").stat().st_ino == inode
    (tmp_path / "out/x").write_text("changed")
    assert unpack(made, tmp_path / "out")
    assert (tmp_path / "out/x").read_text() == "1"


def test_other_files_of_the_target_stay(tmp_path: Path) -> None:
    (tmp_path / "out/data").mkdir(parents=True)
    (tmp_path / "out/data/mine").write_text("mine")
    unpack(tar(tmp_path / "a.tar", entry("data/x")), tmp_path / "out")
    assert everything(tmp_path / "out") == ["data", "data/mine", "data/x"]


BAD = {
    "a path upwards": [entry("../evil")],
    "a path upwards inside": [entry("data/../../evil")],
    "an absolute path": [entry("/tmp/tipc-evil")],
    "a link upwards": [entry("l", type=tarfile.SYMTYPE, linkname="../../etc")],
    "an absolute link": [entry("l", type=tarfile.SYMTYPE, linkname="/etc/passwd")],
    "a file through a link": [entry("l", type=tarfile.SYMTYPE, linkname="d"), entry("l/x")],
    "a hard link upwards": [entry("l", type=tarfile.LNKTYPE, linkname="../secret")],
    "an absolute hard link": [entry("l", type=tarfile.LNKTYPE, linkname="/etc/passwd")],
    "a hard link to a link": [
        entry("s", type=tarfile.SYMTYPE, linkname="x"),
        entry("x"),
        entry("h", type=tarfile.LNKTYPE, linkname="s"),
    ],
    "a hard link to nothing": [entry("l", type=tarfile.LNKTYPE, linkname="nothing")],
    "links that lead out together": [
        entry("top", type=tarfile.DIRTYPE),
        entry("a/b", type=tarfile.DIRTYPE),
        entry("a/b/t", type=tarfile.SYMTYPE, linkname="../../top"),
        entry("a/b/s", type=tarfile.SYMTYPE, linkname="t/../../w"),
    ],
    "a device": [entry("dev", type=tarfile.CHRTYPE)],
    "a block device": [entry("dev", type=tarfile.BLKTYPE)],
    "a pipe": [entry("pipe", type=tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_member_is_refused_and_nothing_is_left(tmp_path: Path, what: str) -> None:
    (tmp_path / "secret").write_text("secret")
    made = tar(tmp_path / "a.tar", entry("fine"), *BAD[what])
    with pytest.raises(UsageError, match="nothing was unpacked"):
        unpack(made, tmp_path / "in/out")
    assert everything(tmp_path / "in/out") == []
    assert everything(tmp_path) in (["a.tar", "secret"], ["a.tar", "in", "in/out", "secret"])


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    made = tar(tmp_path / "a.tar.gz", entry("zeros", "0" * 100_000), mode="w:gz")
    with pytest.raises(UsageError, match="more than 99,999 bytes"):
        unpack(made, tmp_path / "out", max_bytes=99_999)
    many = tar(tmp_path / "b.tar", *(entry(str(number), "") for number in range(11)))
    with pytest.raises(UsageError, match="more than 10 files"):
        unpack(many, tmp_path / "out", max_files=10)
    assert everything(tmp_path / "out") == []


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_every_half_of_an_archive_is_refused(tmp_path: Path, mode: str) -> None:
    whole = tar(
        tmp_path / "whole", *(entry(str(number), os.urandom(300).hex()) for number in range(4)), mode=mode
    )
    raw = whole.read_bytes()
    end = len(raw) if mode != "w" else 4 * (512 + 1024)  # what follows is the end mark and padding
    cut = tmp_path / "cut"
    for length in {*range(0, end, 97), *range(0, end, 512), end - 1}:
        cut.write_bytes(raw[:length])
        with pytest.raises(UsageError, match="nothing was unpacked"):
            unpack(cut, tmp_path / "out")
        assert everything(tmp_path / "out") == []


def test_something_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    with pytest.raises(UsageError, match="broken or cut off"):
        unpack(tmp_path / "x", tmp_path / "out")
    with pytest.raises(UsageError, match="no such archive"):
        unpack(tmp_path / "nowhere.tar", tmp_path / "out")


NAMES = st.sampled_from(["a", "b", "a/b", "a/c", "../x", "/x", "a/../b", ".", "a/b/c", "l", "l/x"])
TYPES = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, TYPES, NAMES), max_size=6))
def test_no_archive_ever_writes_outside(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, bytes, str]]
) -> None:
    base = tmp_path_factory.mktemp("any")
    made = tar(base / "a.tar", *(entry(name, type=kind, linkname=link) for name, kind, link in entries))
    with contextlib.suppress(TipcError):
        unpack(made, base / "in/out")
    assert {path.name for path in base.iterdir()} <= {"a.tar", "in"}
    out = base / "in/out"
    assert {path.name for path in (base / "in").iterdir()} <= {"out"} if (base / "in").exists() else True
    for path in out.rglob("*") if out.exists() else ():
        assert Path(os.path.realpath(path)).is_relative_to(os.path.realpath(out))
