"""Causes and remedies for what really goes wrong in public repositories."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from run_plans import plan_of, step

from tipc.language import choose
from tipc.plan.model import Plan, Step
from tipc.reasons import because
from tipc.run import missing
from tipc.run.record.results import StepResult
from tipc.run.show.diagnose import Diagnosis, diagnose


@pytest.fixture(autouse=True)
def _english() -> None:
    choose("en")


def told(plan: Plan, one: Step, log: list[str], **changes: object) -> Diagnosis:
    fields: dict[str, object] = {"state": "failed", "exit_code": 1, **changes}
    return diagnose(plan, one, StepResult(plan.key, one.id, **fields), log)  # type: ignore[arg-type]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: (NotFound) Cannot open file ./out/model.pdmodel, please confirm.",
        "RuntimeError: (NotFound) Cannot open file ./gpus_0,1/../out/model.pdmodel, please confirm.",
        "ValueError: not find model.pdmodel or inference.pdmodel in out",
        "FileNotFoundError: [Errno 2] No such file or directory: './out/model.pdmodel'",
    ],
)
def test_a_script_that_reads_the_old_format_after_a_new_export_is_told_so(here: Path, line: str) -> None:
    (here / "out").mkdir()
    (here / "out/model.json").touch()
    (here / "out/model.pdiparams").touch()
    one = step("a", model_dir="out")
    known = told(plan_of(here, one), one, [line])
    assert known.cause.endswith("model.json: the format (PIR) of paddle 3")
    assert known.remedy.startswith("FLAGS_enable_pir_api=0 tipc run --resume,"), (
        "no new run: it would prepare"
    )


def test_data_that_a_script_misses_in_its_own_words_are_named(here: Path) -> None:
    """PaddleSeg's error says so in its third line."""
    log = [
        "RuntimeError: Tried to create a Dataset object, but the operation has failed. Please check it.",
        "The error message is:",
        "there is not `dataset_root`: test_tipc/data/mini.",
    ]
    (here / "test_tipc").mkdir()
    (here / "test_tipc/prepare.sh").write_text("rm -rf test_tipc/data/mini\n")
    one = step("a")
    known = told(plan_of(here, one), one, log)
    assert known.cause == "test_tipc/data/mini is not there"
    assert known.remedy.startswith("tipc prepare ")
    (here / "test_tipc/data/mini").mkdir(parents=True)
    assert told(plan_of(here, one), one, log).cause == log[2]


def test_a_download_that_failed_is_told_with_what_to_do(here: Path) -> None:
    """As PaddleClas and PaddleDetection end."""
    url = "https://data.example.org/dygraph/net_pretrained.pdparams"
    one = step("a")
    known = told(plan_of(here, one), one, [f"RuntimeError: Download from {url} failed. Retry limit reached"])
    assert known.cause == f"the download of {url} failed"
    assert "https_proxy" in known.remedy


def test_a_protobuf_that_paddle_cannot_use_is_named(here: Path) -> None:
    line = "AttributeError: 'google._upb._message.FieldDescriptor' object has no attribute 'label'"
    one = step("a")
    known = told(plan_of(here, one), one, [line])
    assert "protobuf 7" in known.cause
    assert known.remedy.endswith("-m pip install 'protobuf<7'")


@pytest.mark.parametrize("real", [False, True])
def test_what_pypis_paddle_asks_for_is_not_to_be_installed(here: Path, real: bool) -> None:
    packages = here / "lib/site-packages"
    (packages / "paddle").mkdir(parents=True)
    name = "paddlepaddle-3.1.1" if real else "paddle-1.4.4"
    (packages / f"{name}.dist-info").mkdir()
    log = [f'  File "{packages}/paddle/profile.py", line 3, in <module>', "    import torch"]
    one = step("a")
    known = told(plan_of(here, one), one, [*log, "ModuleNotFoundError: No module named 'torch'"])
    if real:
        assert known.remedy.endswith("-m pip install torch")
        return
    assert "is not PaddlePaddle, which is `paddlepaddle`" in known.cause
    assert known.remedy.endswith("-m pip install paddlepaddle")


def test_a_name_that_no_file_system_takes_is_no_cause(here: Path) -> None:
    line = f"RuntimeError: (NotFound) Cannot open file {'x' * 5000}/model.pdmodel, please confirm."
    one = step("a")
    assert told(plan_of(here, one), one, [line]) == Diagnosis()


def test_a_missing_old_format_without_a_new_one_is_just_missing(here: Path) -> None:
    one = step("a")
    known = told(plan_of(here, one), one, ["Cannot open file ./out/model.pdmodel, please confirm"])
    assert known.cause == "./out/model.pdmodel is not there"


def test_weights_one_folder_away_are_found_and_named(here: Path) -> None:
    started = time.time() - 5
    (here / "out/run").mkdir(parents=True)
    (here / "out/run/latest.pdparams").touch()
    one = step("a")
    reason = because("no-artefact", path="out/run/net/latest.pdparams | out/run/net/latest")
    known = told(plan_of(here, one), one, [], exit_code=0, reason=reason, started=started)
    assert "wrote out/run/latest.pdparams" in known.cause
    assert "out/run/net/latest.pdparams" in known.cause
    assert "out/run/net" in known.remedy


@pytest.mark.parametrize("named", [True, False])
def test_a_folder_that_only_the_script_puts_into_the_path_is_no_matter_of_the_config(
    here: Path, named: bool
) -> None:
    """As in PaddleDetection and PaddleClas: SAVE/MODEL/NAME is read, and no line of the config has MODEL."""
    (here / "config.txt").write_text(f"train_model_name:{'toy/' * named}latest\n")
    (here / "test_tipc").mkdir()
    (here / "test_tipc/test_train_inference_python.sh").touch()
    (here / "out/run").mkdir(parents=True)
    (here / "out/run/latest.pdparams").touch()
    one = step("a")
    reason = because("no-artefact", path="out/run/toy/latest.pdparams | out/run/toy/latest")
    known = told(plan_of(here, one), one, [], exit_code=0, reason=reason)
    if named:
        assert "the config says" in known.cause
        assert "change what the config says" in known.remedy
        return
    script = "test_tipc/test_train_inference_python.sh"
    assert known.cause.endswith(f"wrote out/run/latest.pdparams; {script} reads out/run/toy/latest.pdparams")
    assert known.remedy.startswith(f"let the training save below out/run/toy: {script} puts that folder")


def test_weights_one_folder_deeper_are_found_and_the_name_to_write_is_given(here: Path) -> None:
    started = time.time() - 5
    (here / "out/best").mkdir(parents=True)
    (here / "out/best/model.pdparams").touch()
    one = step("a")
    reason = because("no-artefact", path="out/model.pdparams")
    known = told(plan_of(here, one), one, [], exit_code=0, reason=reason, started=started)
    assert "`best/model.pdparams`" in known.remedy


def test_a_file_from_before_does_not_count_as_left_elsewhere(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out/latest.pdparams").touch()
    one = step("a")
    reason = because("no-artefact", path="out/net/latest.pdparams")
    known = told(plan_of(here, one), one, [], exit_code=0, reason=reason, started=time.time() + 60)
    assert known.cause.startswith("the command said that it succeeded")


def test_the_repositorys_own_module_is_installed_from_the_repository(here: Path) -> None:
    (here / "paddleclas.py").touch()
    one = step("a", argv=("python3", "deploy/predict.py"))
    known = told(plan_of(here, one), one, ["ModuleNotFoundError: No module named 'paddleclas'"])
    assert "this repository's own" in known.cause
    assert known.remedy.startswith("python3 -m pip install -e .")


@pytest.mark.parametrize("name", ["paddleclas.py", "ppcls/x.py"])
def test_a_file_of_the_root_that_is_imported_in_place_of_its_package_is_installed(
    here: Path, name: str
) -> None:
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).touch()
    one = step("a", argv=("python3", "python/predict.py"))
    log = [
        "Traceback (most recent call last):",
        '  File "python/predict.py", line 8, in <module>',
        "    import paddleclas",
        f'  File "{here / name}", line 33, in <module>',
        "    from .ppcls.arch import backbone",
        "ImportError: attempted relative import with no known parent package",
        "bye",
    ]
    known = told(plan_of(here, one), one, log)
    if name == "paddleclas.py":
        assert "this repository's own" in known.cause
        assert known.remedy.startswith("python3 -m pip install -e . (PyPI's paddleclas is another")
    else:
        assert known == Diagnosis(log[-2])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("setup.py", "setup(\n    name='paddleseg',\n    version='2')\n"),
        ("setup.cfg", "[metadata]\nname = paddleseg\n"),
        ("pyproject.toml", '[project]\nname = "paddleseg"\n'),
    ],
)
def test_the_name_by_which_a_repository_is_installed_is_its_own(here: Path, file: str, text: str) -> None:
    """Whatever the folder of the checkout is called: PyPI has an older one of the same name."""
    (here / file).write_text(text)
    one = step("a", argv=("python3", "train.py"))
    known = told(plan_of(here, one), one, ["ModuleNotFoundError: No module named 'paddleseg.utils'"])
    assert known.remedy.startswith("python3 -m pip install -e .")


@pytest.mark.parametrize(
    ("module", "package"),
    [("paddle", "paddlepaddle"), ("cv2.gapi", "opencv-python-headless"), ("tqdm", "tqdm")],
)
def test_a_missing_module_is_installed_by_its_package(here: Path, module: str, package: str) -> None:
    one = step("a", argv=("python3", "train.py"))
    known = told(plan_of(here, one), one, [f"ModuleNotFoundError: No module named '{module}'"])
    assert known.remedy == f"python3 -m pip install {package}"


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        ('{"url": "file:///home/a%20b/tipc", "dir_info": {}}', "'/home/a b/tipc'"),
        ('{"url": "https://h/tipc", "vcs_info": {"vcs": "git", "commit_id": "1"}}', "git+https://h/tipc"),
        (None, "tipc"),
    ],
)
def test_the_benchmark_log_comes_from_where_tipc_was_installed_from(
    here: Path, monkeypatch: pytest.MonkeyPatch, recorded: str | None, source: str
) -> None:
    installed = SimpleNamespace(read_text=lambda name: recorded)
    monkeypatch.setattr(missing.metadata, "distribution", lambda name: installed)
    one = step("a", argv=("python3", "infer.py"))
    known = told(plan_of(here, one), one, ["ModuleNotFoundError: No module named 'auto_log'"])
    assert known.remedy == f"python3 -m pip install {source}"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "[2024/06/05 11:00:00] ppocr ERROR: No Images in train dataset, please ensure",
            "No Images in train dataset, please ensure",
        ),
        ("2024-06-05 11:00:00 [ERROR] the list is empty", "the list is empty"),
    ],
)
def test_what_a_script_calls_an_error_is_quoted_though_it_ended_with_0(
    here: Path, line: str, cause: str
) -> None:
    one = step("a")
    reason = because("no-artefact", path="out/latest.pdparams")
    known = told(plan_of(here, one), one, ["start", line, "bye"], exit_code=0, reason=reason)
    assert known.cause == cause


def test_an_error_is_quoted_with_the_lines_that_end_its_sentence(here: Path) -> None:
    one = step("a")
    items = ["\t1. The images are fewer than a batch.", "2. The annotation file is not there.", "bye"]
    log = ["ppocr ERROR: No Images in train dataset, please ensure", *items]
    known = told(plan_of(here, one), one, log, exit_code=0, reason=because("no-artefact", path="out/x"))
    assert known.cause == (
        "No Images in train dataset, please ensure 1. The images are fewer than a batch. "
        "2. The annotation file is not there."
    )
    whole = told(plan_of(here, one), one, ["ERROR: it is empty.", *items])
    assert whole.cause == "it is empty."
    endless = told(plan_of(here, one), one, ["ERROR: why", *(["  " + "x" * 90] * 50)])
    assert len(endless.cause) < 400


def test_a_script_that_asks_for_a_package_gets_it_named(here: Path) -> None:
    one = step("a", argv=("python3", "train.py"))
    line = "Unable to QAT, please install paddleslim, for example: `pip install paddleslim`"
    reason = because("no-artefact", path="out/latest.pdparams")
    known = told(plan_of(here, one), one, [line], exit_code=0, reason=reason)
    assert known.cause == line
    assert known.remedy == "python3 -m pip install paddleslim"


def test_the_cause_is_told_in_chinese_too(here: Path) -> None:
    choose("zh")
    one = step("a", argv=("python3", "train.py"))
    known = told(plan_of(here, one), one, ["ModuleNotFoundError: No module named 'paddle'"])
    choose("")
    assert known.cause == "python3 没有模块 `paddle`"


def test_an_illegal_instruction_is_told_with_the_setting_that_avoids_it(here: Path) -> None:
    one = step("a")
    log = [
        "FatalError: `Illegal instruction` is detected by the operating system.",
        "  [SignalInfo: *** SIGILL (@0x7f45) received by PID 3772 (TID 0x7f45) from PID 31977562 ***]",
    ]
    known = told(plan_of(here, one), one, log, exit_code=-4)
    assert "an instruction that this CPU does not have" in known.cause
    assert "ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16" in known.remedy
