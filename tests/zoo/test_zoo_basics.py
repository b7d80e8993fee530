"""The parts of the library that need no paddle: arguments, errors, checkpoints, log, seeds, pictures,
transforms."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import pickle
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from paddlezoo import checkpoint, pictures, seeding, trainlog
from paddlezoo.arguments import Parser, str2bool
from paddlezoo.cls.transforms import Transform
from paddlezoo.errors import ZooError, run


@contextlib.contextmanager
def file_with(content: bytes) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield Path(file.name)


def test_both_spellings_of_an_option_are_taken() -> None:
    parser = Parser("test")
    parser.add_argument("--data-path")
    parser.add_argument("--num_workers", type=int)
    parser.add_switch("--test-only", False, "a switch")
    assert parser.parse_args(["--data_path=x", "--num-workers=2"]).data_path == "x"
    assert parser.parse_args(["--test_only"]).test_only is True
    assert parser.parse_args(["--test-only=False"]).test_only is False


@pytest.mark.parametrize(("text", "value"), [("True", True), ("1", True), ("false", False), ("OFF", False)])
def test_words_for_true_and_false_are_understood(text: str, value: bool) -> None:
    assert str2bool(text) is value


def test_a_word_that_is_neither_true_nor_false_is_an_error() -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        str2bool("maybe")


def test_an_expected_error_is_one_line_and_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise ZooError("lite_data: no such folder")

    assert run(main) == 1
    assert capsys.readouterr().err == "error: lite_data: no such folder\n"


def test_an_error_of_several_lines_is_told_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise ZooError("model.yml: damaged:\nline 3")

    assert run(main) == 1
    assert capsys.readouterr().err == "error: model.yml: damaged: line 3\n"


def test_a_full_disk_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out.bin")

    assert run(main) == 1
    assert "out.bin: the disk is full" in capsys.readouterr().err


def test_a_bug_keeps_its_traceback() -> None:
    def main() -> None:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run(main)


class TestCheckpoint:
    def test_what_is_written_is_read_again(self, tmp_path: Path) -> None:
        content = {
            "a.weight": np.arange(6, dtype="float32").reshape(2, 3),
            "epoch": 3,
            "name": "é",
            "rate": 0.5,
        }
        checkpoint.write(tmp_path / "x.pdparams", content)
        found = checkpoint.read(tmp_path / "x.pdparams")
        assert np.array_equal(found["a.weight"], content["a.weight"])
        assert (found["epoch"], found["name"], found["rate"]) == (3, "é", 0.5)

    @pytest.mark.parametrize("protocol", [2, 3, 4])
    def test_arrays_of_older_pickles_are_read(self, tmp_path: Path, protocol: int) -> None:
        path = tmp_path / "x.pdparams"
        path.write_bytes(pickle.dumps({"w": np.ones((2, 2), "float32")}, protocol=protocol))
        assert checkpoint.read(path)["w"].sum() == 4

    def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(self, tmp_path: Path) -> None:
        class Evil:
            def __reduce__(self) -> tuple[object, tuple[str]]:
                return os.mkdir, (str(tmp_path / "ran"),)

        path = tmp_path / "evil.pdparams"
        path.write_bytes(pickle.dumps({"w": Evil()}))
        with pytest.raises(ZooError, match="refused: not a checkpoint of arrays only"):
            checkpoint.read(path)
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize(
        "payload",
        [b"cbuiltins\neval\n(S'1'\ntR.", b"cnumpy\nload\n(S'x'\ntR.", b"cos\nsystem\n(S'true'\ntR."],
        ids=["eval", "numpy.load", "os.system"],
    )
    def test_every_other_global_is_refused_by_name(self, tmp_path: Path, payload: bytes) -> None:
        path = tmp_path / "x.pdparams"
        path.write_bytes(payload)
        with pytest.raises(ZooError, match=r"it names \w+\.\w+"):
            checkpoint.read(path)

    def test_old_pickles_cannot_choose_a_codec(self, tmp_path: Path) -> None:
        path = tmp_path / "x.pdparams"
        path.write_bytes(b"c_codecs\nencode\n(Vx\nVzlib\ntR.")
        with pytest.raises(ZooError, match="refused"):
            checkpoint.read(path)

    @settings(deadline=None)
    @given(cut=st.integers(min_value=0, max_value=400))
    def test_a_file_cut_short_anywhere_is_called_damaged(self, cut: int) -> None:
        whole = pickle.dumps({"w": np.arange(64, dtype="float32"), "b": np.zeros(3)}, protocol=4)
        with (
            file_with(whole[: min(cut, len(whole) - 1)]) as path,
            pytest.raises(ZooError, match=r"damaged|refused"),
        ):
            checkpoint.read(path)

    @settings(deadline=None)
    @given(noise=st.binary(max_size=200))
    def test_noise_never_gives_anything_but_a_zoo_error(self, noise: bytes) -> None:
        with file_with(noise) as path, contextlib.suppress(ZooError):
            checkpoint.read(path)

    def test_a_failed_write_keeps_the_earlier_file_and_leaves_no_other(self, tmp_path: Path) -> None:
        path = tmp_path / "latest.pdparams"
        checkpoint.write(path, {"w": np.ones(3)})
        before = path.read_bytes()

        def fill(file: io.BufferedWriter) -> None:
            file.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with pytest.raises(ZooError, match=r"the disk is full .*the earlier one is kept"):
            checkpoint.write_bytes(path, fill)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["latest.pdparams"]

    def test_a_folder_that_is_a_file_is_told_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "output").write_text("a file")
        with pytest.raises(ZooError, match="cannot write"):
            checkpoint.write(tmp_path / "output" / "latest.pdparams", {})

    def test_arrays_are_found_among_what_paddle_adds(self) -> None:
        content = {"w": np.ones(2), "b": ("b_0", np.zeros(2)), "StructuredToParameterName@@": {"w": "w_0"}}
        assert sorted(checkpoint.arrays_in(content)) == ["b", "w"]


class TestTrainingLog:
    def interval(
        self, monkeypatch: pytest.MonkeyPatch, times: list[float], world: int = 1
    ) -> trainlog.Interval:
        clock = iter(times)
        monkeypatch.setattr(trainlog.time, "perf_counter", lambda: next(clock))
        return trainlog.Interval(world_size=world, _mark=0.0)

    def test_a_line_has_every_field_of_the_spec_with_its_unit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        interval = self.interval(monkeypatch, [0.1, 1.0, 1.3, 2.0])
        for _ in range(2):
            interval.data_ready()
            interval.step_done(4, {"loss": 2.0})
        line = interval.finish().line("epoch: [1/5], iter: [2/4]", 0.001, steps_left=10)
        assert line == (
            "epoch: [1/5], iter: [2/4], loss: 2.00000, lr: 0.001, avg_reader_cost: 0.20000 sec, "
            "avg_batch_cost: 1.00000 sec, avg_samples: 4.0, avg_ips: 4.00000 images/sec, eta: 0:00:10"
        )

    def test_ips_is_samples_by_batch_cost_over_all_processes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        interval = self.interval(monkeypatch, [0.25, 0.5], world=2)
        interval.data_ready()
        interval.step_done(4, {"loss": 1.0})
        line = interval.finish().line("iter: 1/1", 0.1, 0)
        fields = dict(re.findall(r"(avg_\w+): ([\d.]+)", line))
        assert float(fields["avg_samples"]) == 8
        assert float(fields["avg_ips"]) == pytest.approx(8 / 0.5)

    def test_the_next_line_starts_from_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        interval = self.interval(monkeypatch, [0.0, 1.0, 1.0, 3.0])
        interval.data_ready()
        interval.step_done(1, {"loss": 8.0})
        interval.finish().line("a", 0.1, 0)
        interval.data_ready()
        interval.step_done(1, {"loss": 1.0})
        assert "loss: 1.00000" in (line := interval.finish().line("b", 0.1, 0))
        assert "avg_batch_cost: 2.00000" in line

    def test_what_is_said_goes_to_the_file_and_the_terminal(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        log = trainlog.Log(tmp_path / "deep" / "train.log")
        log("loss: 1.0")
        assert capsys.readouterr().out == (tmp_path / "deep" / "train.log").read_text()

    def test_other_processes_are_silent(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        log = trainlog.Log(tmp_path / "train.log", enabled=False)
        log("x")
        log.warn("y")
        assert capsys.readouterr().out == ""
        assert not (tmp_path / "train.log").exists()

    def test_a_log_on_a_full_disk_is_a_clear_error(self) -> None:
        log = trainlog.Log(Path("/dev/full"))
        with pytest.raises(ZooError, match=r"cannot write the log /dev/full: .*disk is full"):
            log("x")


class TestPictures:
    def test_a_truncated_jpeg_is_an_error_that_names_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.jpg"
        Image.new("RGB", (64, 64), "red").save(path)
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(ZooError, match=r"cut\.jpg: damaged image"):
            pictures.read(path)

    @settings(deadline=None)
    @given(
        noise=st.binary(min_size=0, max_size=120),
        prefix=st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]),
    )
    def test_noise_is_never_anything_but_a_zoo_error(self, noise: bytes, prefix: bytes) -> None:
        with file_with(prefix + noise) as path, pytest.raises(ZooError):
            pictures.read(path)

    def test_an_empty_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ZooError, match="no images in this folder"):
            pictures.find(tmp_path)

    def test_answers_are_drawn_below_the_image(self, tmp_path: Path) -> None:
        image = Image.new("RGB", (400, 300), "green")
        drawn = pictures.with_bars(image, [("disc", 0.9), ("stripes", 0.1)])
        assert drawn.width == 400
        assert drawn.height > 340
        assert drawn.getpixel((200, 150)) == image.getpixel((200, 150))
        pictures.write(drawn, tmp_path / "a" / "b.png")
        assert pictures.read(tmp_path / "a" / "b.png").size == drawn.size


class TestTransform:
    def test_evaluation_is_deterministic_and_normalised(self) -> None:
        image = Image.new("RGB", (300, 200), (255, 255, 255))
        array = Transform.for_size(64).evaluation(image)
        assert array.shape == (3, 64, 64)
        assert array.dtype == np.float32
        assert np.allclose(array[0], (1 - 0.485) / 0.229)

    @settings(deadline=None)
    @given(width=st.integers(1, 400), height=st.integers(1, 400), seed=st.integers(0, 100))
    def test_any_size_gives_the_same_shape_in_training_and_evaluation(
        self, width: int, height: int, seed: int
    ) -> None:
        transform = Transform.for_size(32)
        image = Image.new("RGB", (width, height), (10, 20, 30))
        assert transform.evaluation(image).shape == (3, 32, 32)
        assert transform.training(image, seeding.generator(seed)).shape == (3, 32, 32)

    def test_it_survives_the_way_through_a_file(self) -> None:
        transform = Transform.for_size(96)
        assert Transform.from_dict(transform.to_dict()) == transform

    def test_something_else_in_the_file_is_an_error(self) -> None:
        with pytest.raises(ZooError, match="not the transforms"):
            Transform.from_dict({"resize": 1, "colour": "red"})

    def test_a_random_crop_depends_only_on_its_place(self) -> None:
        noise = np.random.default_rng(0).integers(0, 255, (80, 90, 3)).astype("uint8")
        image = Image.fromarray(noise)
        transform = Transform.for_size(32)
        first, again = (transform.training(image, seeding.generator(1, 2, 3)) for _ in range(2))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, transform.training(image, seeding.generator(1, 2, 4)))
