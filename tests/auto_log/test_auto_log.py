"""AutoLogger: the blocks of the spec, the stop-watch, memory, and a script that ends however it likes."""

from __future__ import annotations

import io
import logging
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import auto_log
from auto_log import AutoLogger, Times
from auto_log.device import Sampler, gpu_names, process_ids
from auto_log.env import conf_info, driver_version, paddle_info
from auto_log.times import percentile

# Every field name of the spec's sample log, in its order.
NAMES = [
    *("OS_version", "CUDA_version", "CUDNN_version", "drivier_version"),
    *("paddle_version", "paddle_commit", "log_api_version"),
    *("runtime_device", "ir_optim", "enable_memory_optim", "enable_tensorrt", "enable_mkldnn"),
    *("cpu_math_library_num_threads", "model_name", "precision", "batch_size", "input_shape", "data_num"),
    *("cpu_rss(MB)", "gpu_rss(MB)", "gpu_util", "total time spent(s)"),
    *("preprocess_time(ms)", "inference_time(ms)", "postprocess_time(ms)"),
]
TITLES = [
    "---------------------- Env info ----------------------",
    "---------------------- Paddle info ----------------------",
    "----------------------- Conf info -----------------------",
    "----------------------- Model info ----------------------",
    "----------------------- Data info -----------------------",
    "----------------------- Perf info -----------------------",
]


class Lines(list[str]):
    """The least that a caller's logger can be."""

    def info(self, message: str) -> None:
        self.append(message)


def measured(iterations: int = 3, **arguments: object) -> tuple[AutoLogger, Lines]:
    lines = Lines()
    log = AutoLogger(**{"model_name": "toy", "logger": lines, **arguments})  # type: ignore[arg-type]
    for _ in range(iterations):
        log.times.start()
        log.times.stamp()
        log.times.stamp()
        log.times.end(stamp=True)
    return log, lines


def field(lines: list[str], name: str) -> str:
    found = re.search(rf"(?:^|, | ){re.escape(name)}: ([^,\n]*)", "\n".join(lines))
    assert found, name
    return found[1]


def clock(monkeypatch: pytest.MonkeyPatch, *moments: float) -> None:
    ticks = iter(moments)
    monkeypatch.setattr("auto_log.times.perf_counter", lambda: next(ticks))


def test_the_report_has_the_fields_and_titles_of_the_spec_in_their_order() -> None:
    log, lines = measured()
    log.report()
    text = "\n".join(lines)
    assert [line for line in lines if line.startswith("-")] == TITLES
    positions = [text.index(f"{name}: ") for name in NAMES]
    assert positions == sorted(positions)
    assert field(lines, "data_num") == "3"


def test_an_identifier_stands_before_every_field() -> None:
    log, lines = measured()
    log.report(identifier="det")
    assert "[det] model_name: toy" in lines


def test_the_first_iterations_are_warm_up_and_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 0, 5, 10, 15, 20, 20.001, 20.003, 20.006)
    log, lines = measured(2, warmup=1)
    log.report()
    assert field(lines, "preprocess_time(ms)") == "1.0"
    assert field(lines, "inference_time(ms)") == "2.0"
    assert field(lines, "postprocess_time(ms)") == "3.0"
    assert field(lines, "total time spent(s)") == "0.006"
    assert field(lines, "data_num") == "1"


def test_with_nothing_but_warm_up_there_are_no_figures_rather_than_invented_ones() -> None:
    log, lines = measured(1, warmup=1)
    log.report()
    assert field(lines, "inference_time(ms)") == "None"


def test_median_and_95th_percentile_stand_on_lines_of_their_own() -> None:
    log, lines = measured()
    log.times.times["inference_time"] = [0.001 * n for n in range(1, 102)]
    log.report()
    mean = next(line for line in lines if " preprocess_time(ms): " in line)
    assert "_p50" not in mean
    assert "_p95" not in mean
    assert field(lines, "inference_time_p50(ms)") == "51.0"
    assert field(lines, "inference_time_p95(ms)") == "96.0"


def test_stage_names_can_be_chosen_and_a_stamp_too_many_is_not_reported() -> None:
    lines = Lines()
    log = AutoLogger("toy", time_keys=["load", "run"], logger=lines)
    log.times.start()
    for _ in range(3):
        log.times.stamp()
    log.times.end()
    log.report()
    assert field(lines, "load(ms)")
    assert log.times.keys == ["load", "run"]
    assert log.times.times["stamps_3"]
    assert not any("stamps_3" in line for line in lines)


def test_an_iteration_that_was_not_ended_is_forgotten() -> None:
    times = Times()
    times.start()
    times.start()
    times.stamp()
    times.end()
    assert len(times.total_time) == 1


def test_the_percentile_is_that_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    samples = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6]
    for percent in (0, 5, 50, 95, 100):
        assert percentile(samples, percent) == pytest.approx(np.percentile(samples, percent))
    assert percentile([], 50) is None


@pytest.mark.parametrize(
    ("asked", "visible", "meant"),
    [
        (None, "0", ()),
        (0, None, ("0",)),
        (10, None, ("10",)),
        (10, "10", ("10",)),
        (1, "10", ("10",)),  # a script that took the first digit of "10"
        (0, "2,3", ("2",)),
        ([0, 11], None, ("0", "11")),
        ("auto", "12,13", ("12",)),
        ("auto", None, ("0",)),
        (0, "GPU-5f", ("GPU-5f",)),
    ],
)
def test_the_gpu_that_is_watched_is_the_one_that_the_process_sees(
    asked: int | str | None, visible: str | None, meant: tuple[str, ...]
) -> None:
    assert gpu_names(asked, visible) == meant


def test_gpu_ten_is_asked_for_by_its_whole_number(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = ModuleType("pynvml")
    opened: list[int] = []
    nvml.NVMLError = RuntimeError  # type: ignore[attr-defined]
    nvml.nvmlInit = lambda: None  # type: ignore[attr-defined]
    nvml.nvmlDeviceGetHandleByIndex = lambda index: opened.append(index) or index  # type: ignore[attr-defined]
    nvml.nvmlDeviceGetMemoryInfo = lambda handle: SimpleNamespace(used=handle * 2**20)  # type: ignore[attr-defined]
    nvml.nvmlDeviceGetUtilizationRates = lambda handle: SimpleNamespace(gpu=50)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    log, lines = measured(gpu_ids=10)
    log.report()
    assert opened == [10]
    assert field(lines, "gpu_rss(MB)") == "10.0"
    assert field(lines, "gpu_util") == "50.0%"


def test_memory_is_that_of_the_processes_named_and_a_dead_one_does_no_harm() -> None:
    sampler = Sampler([os.getpid(), 2**22 - 1], [])
    sampler.sample()
    sampler.stop()
    sampler.stop()
    assert sampler.summary()["cpu_rss"] > 1  # type: ignore[operator]
    assert sampler.summary()["gpu_rss"] is None
    assert process_ids(None, None) == (os.getpid(),)
    assert process_ids([1, 2], None) == (1, 2)
    assert process_ids(None, "no such process at all") == ()


def test_the_config_may_be_missing_a_dict_or_a_stranger() -> None:
    assert set(conf_info(None).values()) == {"None"}
    assert conf_info({"runtime_device": "npu"})["runtime_device"] == "npu"
    assert set(conf_info(object()).values()) == {"None"}


def test_a_config_is_asked_its_own_questions() -> None:
    config = SimpleNamespace(
        use_gpu=lambda: False,
        use_xpu=lambda: True,
        ir_optim=lambda: True,
        tensorrt_engine_enabled=lambda: False,
        mkldnn_enabled=lambda: True,
        cpu_math_library_num_threads=lambda: 6,
        summary=lambda: "| ir_optim | true |\n| memory_optim      | false |",
    )
    assert conf_info(config) == {
        "runtime_device": "xpu",
        "ir_optim": "True",
        "enable_memory_optim": "False",
        "enable_tensorrt": "False",
        "enable_mkldnn": "True",
        "cpu_math_library_num_threads": "6",
    }


def test_without_paddle_its_fields_say_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata as metadata

    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    monkeypatch.delitem(sys.modules, "paddle", raising=False)
    assert paddle_info() == {"paddle_version": "None", "paddle_commit": "None"}


def test_the_loaded_paddle_tells_its_version_and_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    paddle = ModuleType("paddle")
    paddle.__version__ = "9.9"  # type: ignore[attr-defined]
    paddle.version = SimpleNamespace(commit="abc", cuda=lambda: "False")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "paddle", paddle)
    assert paddle_info() == {"paddle_version": "9.9", "paddle_commit": "abc"}


def test_the_driver_is_read_from_proc(tmp_path: Path) -> None:
    line = (
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  460.27.04  Fri Dec 11 23:35:05 2020\nGCC version: 9"
    )
    path = tmp_path / "version"
    path.write_text(line, encoding="utf-8")
    assert driver_version(str(path)) == "460.27.04"
    assert driver_version(str(tmp_path / "none")) == "None"


def test_without_a_logger_the_report_goes_to_stdout_and_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    before = list(logging.getLogger().handlers)
    path = tmp_path / "new" / "auto_log.log"
    for _ in range(2):  # two of them, yet every line once
        log = AutoLogger(model_name="toy", save_path=path)
    log.report()
    assert re.search(r"^\[\d{4}/\d\d/\d\d [\d:]{8}\] root INFO:  model_name: toy$", out.getvalue(), re.M)
    assert out.getvalue().count("model_name: toy") == 1
    assert path.read_text(encoding="utf-8") == out.getvalue()
    assert logging.getLogger().handlers == before


def test_the_import_is_light() -> None:
    heavy = ["psutil", "numpy", "paddle", "logging"]
    code = f"import sys, auto_log; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("end", ["log.report()", "pass", "raise SystemExit(3)", "os.fork() or os._exit(0)"])
def test_a_script_ends_at_once_whether_it_reported_or_not(end: str) -> None:
    script = textwrap.dedent(
        f"""
        import os, auto_log
        log = auto_log.AutoLogger(
            model_name="toy", model_precision="fp32", batch_size=1, data_shape="dynamic", save_path=None,
            inference_config=None, pids=os.getpid(), process_name=None, gpu_ids=None,
            time_keys=["preprocess_time", "inference_time", "postprocess_time"], warmup=0, logger=None)
        {end}
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == (3 if "SystemExit" in end else 0)
    assert done.stderr == ""


def test_the_class_is_where_existing_scripts_look_for_it() -> None:
    from auto_log.autolog import AutoLogger as by_module

    assert auto_log.AutoLogger is AutoLogger is by_module


@pytest.mark.paddle
def test_a_real_inference_config_fills_the_conf_block() -> None:
    pytest.importorskip("paddle")
    from paddle.inference import Config

    config = Config()
    config.disable_gpu()
    config.enable_memory_optim()
    config.set_cpu_math_library_num_threads(3)
    log, lines = measured(inference_config=config)
    log.report()
    assert field(lines, "runtime_device") == "cpu"
    assert field(lines, "enable_memory_optim") == "True"
    assert field(lines, "cpu_math_library_num_threads") == "3"
    assert field(lines, "paddle_commit") != "None"
