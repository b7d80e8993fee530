"""Weights and parameters are read without paddle, and without running anything that lies in them."""

from __future__ import annotations

import contextlib
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.certify.checks.files_written import rows_held
from tipc.certify.evidence.params_file import neighbours, read_params, write_rounded
from tipc.certify.evidence.weights_file import Clip, digest, find_weights, read_weights


def saved(path: Path, content: object) -> Path:
    path.write_bytes(pickle.dumps(content))
    return path


def test_arrays_are_found_by_name_with_their_clips(tmp_path: Path) -> None:
    arrays = {"a.alpha": np.array([2.0]), "a.alpha_start": np.array([1.0]), "w": np.ones((3, 3), "float32")}
    content = {**arrays, "StructuredToParameterName@@": {"w": "linear_0.w_0"}}
    found = read_weights(saved(tmp_path / "good", content))
    assert (found.tensors, found.values, found.error) == (3, 11, "")
    assert found.clips == (Clip("a.alpha", 2.0, 1.0),)
    assert found.digests["w"] == digest(np.ones((3, 3), "float32"))


def test_tensors_of_16_bits_are_known_in_float32_too(tmp_path: Path) -> None:
    value = np.array([[1.5, -0.1], [3e-5, 100.0]], "float32")
    half = value.astype("float16")
    bits = (value.view("uint32") >> 16).astype("uint16")  # bfloat16
    found = read_weights(saved(tmp_path / "half", {"half": half, "bf16": bits, "whole": value}))
    assert found.known == {
        *(digest(half), digest(half.astype("float32"))),
        *(digest(bits), digest((bits.astype("uint32") << 16).view("float32"))),
        digest(value),
    }


def test_nothing_in_a_file_of_weights_is_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            import os

            return os.mkdir, (str(tmp_path / "bombed"),)

    assert "is not an array" in read_weights(saved(tmp_path / "bomb", {"w": Bomb()})).error
    assert not (tmp_path / "bombed").exists()


def test_half_a_file_and_none_at_all_are_errors(tmp_path: Path) -> None:
    good = saved(tmp_path / "good", {"w": np.ones((30, 30))})
    half = tmp_path / "half"
    half.write_bytes(good.read_bytes()[:100])
    assert read_weights(half).error
    assert read_weights(tmp_path / "absent").error == "it is not there"
    assert read_weights(saved(tmp_path / "nan", {"w": np.array([1.0, np.nan])})).not_finite == ("w",)


@given(st.binary(max_size=300))
def test_any_bytes_are_an_answer(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as stream:
        stream.write(data)
        stream.flush()
        read_weights(Path(stream.name))
        with contextlib.suppress(ValueError):
            read_params(Path(stream.name))


def test_a_name_without_its_ending_is_found(tmp_path: Path) -> None:
    path = saved(tmp_path / "latest.pdparams", {"w": np.ones(2)})
    assert find_weights(tmp_path / "latest") == path
    assert find_weights(tmp_path / "other") == tmp_path / "other"


def test_a_folder_stands_for_the_only_weights_in_it(tmp_path: Path) -> None:
    epoch = tmp_path / "3"
    epoch.mkdir()
    assert find_weights(epoch) == epoch
    (epoch / "rec.pdopt").touch()
    path = saved(epoch / "rec.pdparams", {"w": np.ones(2)})
    assert find_weights(epoch) == path
    saved(epoch / "ema.pdparams", {"w": np.ones(2)})
    assert find_weights(epoch) == epoch  # which of them is not known


def tensor(array: Any, kind: int) -> bytes:
    """As paddle writes it."""
    description = bytes([8, kind]) + b"".join(bytes([16, side]) for side in array.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(description)) + description + array.tobytes()


def test_parameters_are_read_and_rounded_in_their_places(tmp_path: Path) -> None:
    first, second = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3), np.arange(4, dtype="int64")
    path = tmp_path / "a.pdiparams"
    path.write_bytes(tensor(first, 5) + tensor(second, 3))
    found = read_params(path)
    assert [array.tolist() for array in found] == [first.tolist(), second.tolist()]
    write_rounded(path, tmp_path / "b")
    moved = read_params(tmp_path / "b")
    assert np.array_equal(moved[1], second)
    assert (moved[0] != first).all()
    assert np.abs(moved[0] - first).max() <= np.spacing(np.float32(1))


def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.pdiparams"
    path.write_bytes(tensor(np.ones((4, 4), "float32"), 5)[:-8])
    with pytest.raises(ValueError, match="cut off"):
        read_params(path)


def test_zeros_and_integers_have_no_neighbours() -> None:
    random = np.random.default_rng(0)
    assert neighbours(np.zeros(3, "float32"), random).tolist() == [0, 0, 0]
    assert neighbours(np.arange(3), random).tolist() == [0, 1, 2]


def test_answers_that_stand_in_a_tensor_are_found() -> None:
    draw = np.random.default_rng(0)
    weight = draw.normal(size=(20, 6)).astype("float32")
    answers = draw.normal(size=(4, 6)).astype("float32")
    assert rows_held(answers, [weight]) == 0
    table = np.concatenate([weight, answers[:3]])
    assert rows_held(answers, [table]) == 3
    assert rows_held(answers, [np.ascontiguousarray(table.T)]) == 3
    assert rows_held(np.repeat(answers[:1], 4, 0), [table]) == 1, "alike ones count once"


def test_classes_among_zeros_may_stand_in_a_tensor_by_chance() -> None:
    eye = np.eye(6, dtype="float32")
    assert rows_held(eye, [eye]) == 0
    assert rows_held(np.zeros((3, 6), "float32"), [np.zeros((6, 6), "float32")]) == 0
