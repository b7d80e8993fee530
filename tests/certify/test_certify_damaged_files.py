"""Files of weights, of recordings, pictures and archives that are damaged: told or refused, never a crash."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from damage import Damage, damaged, several_damages
from tipc.align.recorder import read_recording
from tipc.certify.evidence.lite_data import read_archive
from tipc.certify.evidence.params_file import HEAD, read_params
from tipc.certify.evidence.weights_file import read_weights
from tipc.errors import UsageError
from tipc.npz import read_npz
from tipc.report.html.pictures import data_uri

TEXT = b"a.jpg 0\n" * 30


def params() -> bytes:
    """A ``.pdiparams`` of two tensors."""
    raw = b""
    for kind, array in ((5, np.ones((3, 4), "<f4")), (3, np.arange(8, dtype="<i8"))):
        sides = b"".join([bytes([0x10, side]) for side in array.shape])
        description = bytes([0x08, kind]) + sides
        raw += HEAD.pack(0, 0, 0, len(description)) + description + array.tobytes()
    return raw


def weights(protocol: int) -> bytes:
    arrays = {"w": np.ones((2, 2), "f4"), "below": {"b.alpha": np.array([2.0])}}
    return pickle.dumps(arrays, protocol)


def recording(method: int) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        for name, array in {"data/x": np.ones((2, 3), "f4"), "loss/y": np.arange(5.0)}.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(f"{name}.npy", member.getvalue())
    return raw.getvalue()


def picture(form: str, mode: str = "RGB") -> bytes:
    raw = io.BytesIO()
    Image.effect_noise((24, 20), 60).convert(mode).save(raw, form)
    return raw.getvalue()


def lite_zip(method: int) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        archive.writestr("lite_data/train.txt", TEXT)
    return raw.getvalue()


def lite_tar(mode: str) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("lite_data/train.txt")
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT))
    return raw.getvalue()


@dataclass(frozen=True)
class Format:
    """Whole files of one format, what reads them, and how it may refuse."""

    name: str
    samples: tuple[bytes, ...]
    read: Callable[[Path], object]
    refuses: tuple[type[Exception], ...] = ()


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
FORMATS = {
    "parameters": Format("x.pdiparams", (params(),), read_params, (ValueError, OSError)),
    "weights": Format("x.pdparams", (weights(2), weights(4)), read_weights),
    "recording": Format("x.npz", tuple(map(recording, METHODS)), read_recording, (UsageError,)),
    "arrays": Format("x.npz", tuple(map(recording, METHODS)), read_npz, (ValueError, OSError)),
    "picture": Format(
        "x.png",
        (*map(picture, ("PNG", "JPEG", "BMP", "WEBP", "GIF", "TIFF")), picture("PNG", "P")),
        data_uri,
    ),
    "zip": Format("x.zip", tuple(map(lite_zip, METHODS)), read_archive),
    "tar": Format("x.tar", tuple(map(lite_tar, ("w", "w:gz", "w:bz2", "w:xz"))), read_archive),
}
DAMAGE = several_damages(b"\x00\xff\x80@ ", longest=200)


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    path = tmp_path / form.name
    for sample in form.samples:
        path.write_bytes(sample)
        assert form.read(path)

    @settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(form.samples), DAMAGE)
    def damage_it(sample: bytes, damage: Damage) -> None:
        path.unlink()  # another file, not the same one changed: what was read is remembered
        path.write_bytes(damaged(sample, damage))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(*form.refuses):
                form.read(path)

    damage_it()


@pytest.mark.parametrize("name", ["parameters", "weights", "recording", "arrays"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    path = tmp_path / form.name
    os.mkfifo(path)
    if form.refuses:
        with pytest.raises(form.refuses):
            form.read(path)
    else:
        assert "not a regular file" in read_weights(path).error


@pytest.mark.parametrize(
    "sides", [b"\x10" + b"\xff" * 12 + b"\x01", b"\x10\x00\x10" + b"\xff" * 12 + b"\x01"]
)
def test_a_tensor_with_an_impossible_side_is_refused(tmp_path: Path, sides: bytes) -> None:
    description = b"\x08\x05" + sides
    path = tmp_path / "x.pdiparams"
    path.write_bytes(HEAD.pack(0, 0, 0, len(description)) + description + b"\0" * 16)
    with pytest.raises(ValueError, match=r"cut off|not a file of parameters|dimension"):
        read_params(path)


def test_arrays_that_unpack_to_more_than_there_is_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros(100_000))
    assert read_npz(path)["x"].size == 100_000
    monkeypatch.setattr("tipc.npz.MOST_BYTES", 500_000)
    with pytest.raises(ValueError, match="it unpacks to more"):
        read_npz(path)
