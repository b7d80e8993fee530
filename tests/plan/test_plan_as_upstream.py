"""The scripts' rules, bugs included, on configs written for this project."""

from __future__ import annotations

import pytest
from plan_samples import CLAS, MODELS, SAMPLES, SEG, changed

from tipc.errors import UsageError
from tipc.language import sentence
from tipc.plan.model import Plan
from tipc.reasons import because

OUT = "./test_tipc/output"


def argvs(plan: Plan, kind: str = "") -> list[str]:
    return [" ".join(step.argv) for step in plan.steps if kind in ("", step.kind)]


def visible(plan: Plan, kind: str = "") -> list[str | None]:
    return [step.env["CUDA_VISIBLE_DEVICES"] for step in plan.steps if kind in ("", step.kind)]


def test_models_gives_the_documented_chain(upstream) -> None:
    plan = upstream("models", {4: "gpu_list:0", 29: "--batch-size:1"})
    save = f"{OUT}/toy/lite_train_lite_infer/norm_train_gpus_0_autocast_False_nodes_1.log"
    assert argvs(plan) == [
        f"python3 train.py --seed 1 --output-dir={save} --epochs=2 --batch-size=4",
        f"python3 train.py --test-only --pretrained={save}/latest.pdparams",
        f"python3 tools/export_model.py --model=toy --pretrained={save}/latest.pdparams"
        f" --save-inference-dir={save}",
        f"python3 deploy/infer.py --use-gpu=True --model-dir={save} --batch-size=1 --benchmark=True",
        f"python3 deploy/infer.py --use-gpu=False --model-dir={save} --batch-size=1 --benchmark=True",
    ]
    assert visible(plan) == [None, "0", "0", "0", "0"]
    assert plan.steps[0].status_line == (
        f" Run successfully with command - toy - python3 train.py --seed 1 --output-dir={save}"
        " --epochs=2   --batch-size=4!  "
    )
    assert plan.steps[0].failed_line.startswith(" Run failed with command - toy - ")


def test_models_exports_its_variables(upstream) -> None:
    plan = upstream("models", {13: "trainer:amp_train", 14: "amp_train:train.py --amp_level=O2"})
    assert {name: plan.steps[0].env[name] for name in ("autocast", "nodes")} == {
        "autocast": "True",
        "nodes": "1",
    }


def test_models_passes_no_image_after_a_training_but_does_in_whole_infer(upstream) -> None:
    assert not any("--img-path" in line for line in argvs(upstream("models")))
    infers = argvs(upstream("models", mode="whole_infer"), "infer")
    assert infers
    assert all("--img-path=./images/demo.jpg" in line for line in infers)


@pytest.mark.parametrize(
    ("entry", "train", "cuda"),
    [
        ("0", "python3 train.py", "0"),
        ("10", "python3 train.py", "10"),
        ("-1", "python3 train.py", None),
        ("0,1", "python3 -m paddle.distributed.launch --gpus=0,1 train.py", "0"),
        ("0,1,2,3,4,5,6,7", "python3 -m paddle.distributed.launch --gpus=0,1,2,3,4,5,6,7 train.py", "0"),
        ("0,1,2,3,4,5,6,7,8", "python3 train.py", ""),
        ("10.0.0.1;0,1,2,3", "python3 -m paddle.distributed.launch --gpus=0,1,2,3 train.py", "0"),
        ("10.0.0.1,10.0.0.2;0,1",
         "python3 -m paddle.distributed.launch --ips=10.0.0.1,10.0.0.2 --gpus=0,1 train.py", "0"),
        ("10.0.0.1,10.0.0.2;0", "python3 train.py", "0"),
    ],
)  # fmt: skip
def test_a_gpu_entry_is_understood_by_its_length(upstream, entry: str, train: str, cuda: str | None) -> None:
    plan = upstream("models", {4: f"gpu_list:{entry}"})
    assert argvs(plan, "train")[0].startswith(train + " ")
    assert visible(plan, "eval")[0] == cuda


def test_a_mode_that_a_line_does_not_list_passes_no_option(upstream) -> None:
    line = argvs(upstream("models", mode="lite_train_whole_infer"), "train")[0]
    assert "--epochs" not in line
    assert "--batch-size" not in line


@pytest.mark.parametrize("line", ["--epochs:5", "--epochs:", "--epochs", "null:lite_train_lite_infer=5"])
def test_a_plain_an_empty_a_missing_and_a_null_epoch_are_dropped(upstream, line: str) -> None:
    assert "=5" not in argvs(upstream("models", {6: line}), "train")[0]


def test_null_with_a_blank_before_it_is_not_null(upstream) -> None:
    # The option is passed with an empty value, and the word after the blank stands alone.
    words = upstream("models", {9: "--pretrained: null"}).steps[0].argv
    assert words[words.index("--pretrained=") + 1] == "null"


def test_an_empty_list_runs_nothing(upstream) -> None:
    for number, line in ((4, "gpu_list:"), (13, "trainer:")):
        plan = upstream("models", {number: line})
        assert plan.steps == ()
        assert plan.notes


def test_an_inner_empty_item_is_an_item_and_a_trailing_one_is_not(upstream) -> None:
    plan = upstream("models", {4: "gpu_list:0||1|"})
    assert [step.env["CUDA_VISIBLE_DEVICES"] for step in plan.steps if step.kind == "eval"] == ["0", "", "1"]


def test_a_value_ends_at_its_second_colon(upstream) -> None:
    plan = upstream("models", {9: "--pretrained:https://host/weights"})
    assert "--pretrained=https" in plan.steps[0].argv


def test_a_blank_line_shifts_nothing_but_counts_for_the_limit(upstream) -> None:
    text = MODELS.replace("python:python3\n", "\n\npython:python3\n")
    assert "--benchmark=True" not in argvs(upstream("models", text=text), "infer")[0]
    assert argvs(upstream("models", text=text), "train") == argvs(upstream("models"), "train")


def test_a_line_of_blanks_is_a_line(upstream) -> None:
    text = MODELS.replace("gpu_list:0|0,1\n", "  \ngpu_list:0|0,1\n")
    assert argvs(upstream("models", text=text)) != argvs(upstream("models"))


def test_without_an_export_there_is_no_inference_and_the_gpu_leaks(upstream) -> None:
    plan = upstream("models", {22: "norm_export:null"})
    assert {step.kind for step in plan.steps} == {"train", "eval"}
    assert visible(plan, "train") == [None, "0"]
    assert because("no-script", line=22, kind="export") in [skip.reason for skip in plan.skipped]


def test_an_empty_export_line_skips_the_stage(upstream) -> None:
    assert argvs(upstream("models", {22: "norm_export:"}), "export") == []


def test_a_pipe_in_a_script_divides_the_test_and_skips_the_stage(upstream) -> None:
    assert argvs(upstream("models", {17: "eval:train.py|x"}), "eval") == []


def test_a_pipe_in_an_option_becomes_a_blank(upstream) -> None:
    assert upstream("models", {32: "--benchmark:True|False"}, mode="whole_infer").steps[-1].argv[-2:] == (
        "--benchmark=True",
        "False",
    )


def test_quotes_and_variables_are_the_shells(upstream, monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    line = "--seed \"1 2\" $HOME/x '$HOME' a\\ b ${nothing_of_the_kind}"
    words = upstream("models", {14: f"norm_train:train.py {line}"}).steps[0].argv
    assert words[1:7] == ("train.py", "--seed", "1 2", "/home/someone/x", "$HOME", "a b")


def test_a_comment_hides_the_rest_of_the_command(upstream) -> None:
    assert upstream("models", {14: "norm_train:train.py # later"}).steps[0].argv == ("python3", "train.py")


@pytest.mark.parametrize(
    "text", ["train.py; rm -rf x", "train.py && x", "train.py $(x)", "train.py `x`", "train.py > x"]
)
def test_what_needs_a_shell_is_refused_with_its_line(upstream, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        upstream("models", {14: f"norm_train:{text}"})
    assert caught.value.line == 14
    assert caught.value.column > len("norm_train:")
    plan = upstream("models", {14: f"norm_train:{text}"}, allow_shell=True)
    assert plan.steps[0].shell.startswith(f"python3 {text}")


def test_what_bash_cannot_parse_or_start_is_left_out_and_the_rest_is_planned(upstream) -> None:
    plan = upstream("models", {17: 'eval:train.py "x'})
    assert argvs(plan, "eval") == []
    assert argvs(plan, "export")
    assert any("never closed" in sentence(skip.reason) for skip in plan.skipped)


@pytest.mark.parametrize("line", ["python:python3\r", "python:", "python:null", "python:0|0,1"])
def test_an_interpreter_that_bash_cannot_find_runs_nothing(upstream, line: str) -> None:
    plan = upstream("models", {3: line})
    assert plan.steps == ()
    assert all("line 3" in sentence(skip.reason) for skip in plan.skipped if skip.kind == "train")


def test_seg_passes_its_device_by_entry_and_the_weights_of_the_norm_training(upstream) -> None:
    plan = upstream("seg", {5: "--device:gpu", 15: "trainer:norm_train|pact_train"})
    trains = [step.argv for step in plan.steps if step.kind == "train"]
    assert ["--device=gpu" in words for words in trains] == [True, True, False, False]
    assert "--model_path=base.pdparams" in trains[0]
    norm = f"{OUT}/tinyseg/lite_train_lite_infer/norm_train_gpus_0_autocast_null/best_model/model.pdparams"
    assert f"--model_path={norm}" in trains[1]


def test_seg_loses_the_pretrained_weights_of_a_pact_training_without_a_norm_training(upstream) -> None:
    words = upstream("seg", {15: "trainer:pact_train"}).steps[0].argv
    assert not any(word.startswith("--model_path") for word in words)


def test_seg_never_runs_int8_on_a_gpu(upstream) -> None:
    plan = upstream("seg", {15: "trainer:pact_train"})
    on_gpu = [step for step in plan.steps if step.settings.get("device") == "gpu"]
    assert {step.settings["precision"] for step in on_gpu} == {"fp32"}
    assert {step.settings["use_trt"] for step in on_gpu} == {"True"}


def test_seg_on_a_cpu_runs_fp32_or_for_a_quantised_model_int8_with_mkldnn(upstream) -> None:
    def settings(trainer: str) -> list[tuple[str, str]]:
        plan = upstream("seg", {15: f"trainer:{trainer}", 4: "gpu_list:0"})
        found = [step.settings for step in plan.steps if step.settings.get("device") == "cpu"]
        return [(one["mkldnn"], one["precision"]) for one in found]

    assert settings("norm_train") == [("True", "fp32"), ("False", "fp32")]
    assert settings("pact_train") == [("True", "int8")]


def test_seg_takes_the_last_iteration_for_a_name_that_cannot_be_a_file(upstream) -> None:
    plan = upstream("seg", {11: "train_model_name:"})
    assert all("/iter_20/model.pdparams" in line for line in argvs(plan, "export"))


def test_seg_reads_the_model_beside_deploy_yaml_after_a_doubled_slash(upstream) -> None:
    assert all(
        "autocast_null//deploy.yaml" in line for line in argvs(upstream("seg", {4: "gpu_list:0"}), "infer")
    )


def test_seg_exports_beside_the_weights_in_whole_infer(upstream) -> None:
    plan = upstream("seg", mode="whole_infer")
    assert argvs(plan, "export") == [
        "python3 export.py --config tinyseg.yml --model_path=./pretrained/model.pdparams"
        " --save_dir=./pretrained"
    ]
    assert plan.steps[0].status_line.endswith(" -   ")


def test_an_unknown_trainer_is_a_norm_training_except_in_det(upstream) -> None:
    assert argvs(upstream("seg", {15: "trainer:whatever"}), "train")
    plan = upstream("det", {15: "trainer:whatever"})
    assert plan.steps == ()
    assert plan.skipped


def test_ocr_switches_amp_on_and_never_passes_the_autocast_key(upstream) -> None:
    trains = argvs(upstream("ocr", {4: "gpu_list:0"}), "train")
    assert ["Global.use_amp=True" in line for line in trains] == [False, True]
    assert not any("auto_cast" in line for line in trains)


def test_ocr_appends_the_line_after_the_to_static_header(upstream) -> None:
    lines = argvs(
        upstream("ocr", {15: "trainer:to_static_train", 4: "gpu_list:0", 6: "Global.auto_cast:null"}), "train"
    )
    assert lines[0].startswith("python3 tools/train.py -c tiny.yml -o Global.to_static=true ")


def test_ocr_sets_the_gpu_only_before_eval(upstream) -> None:
    plan = upstream("ocr", {4: "gpu_list:0", 6: "Global.auto_cast:null"})
    assert visible(plan, "train") == [None]
    assert visible(plan, "eval") == ["0"]


def test_ocr_writes_the_export_log_of_whole_infer_beside_the_directory(upstream) -> None:
    plan = upstream("ocr", mode="whole_infer")
    assert [step.log for step in plan.steps if step.kind == "export"] == [
        f"{OUT}/tinyocr/whole_infer_export_0.log"
    ]
    assert {step.settings["precision"] for step in plan.steps if "/b" in step.model_dir} == {"fp32", "int8"}


def test_a_missing_quantisation_flag_shifts_the_arguments(upstream) -> None:
    plan = upstream("ocr", {39: "infer_quant:False"}, mode="whole_infer")
    second = [step.log for step in plan.steps if step.kind == "infer" and step.model_dir.endswith("/b")]
    assert second
    assert all("_gpus__use" in log for log in second)


def test_clas_trains_two_epochs_whatever_its_line_says(upstream) -> None:
    for mode in ("lite_train_lite_infer", "whole_train_whole_infer"):
        assert all("Global.epochs=2" in line for line in argvs(upstream("clas", mode=mode), "train"))


def test_clas_switches_amp_off_again(upstream) -> None:
    lines = {15: "trainer:amp_train", 16: "amp_train:tools/train.py -o AMP.level=O2"}
    plan = upstream("clas", lines)
    assert all("AMP.use_amp=False" in line for line in argvs(plan, "train"))
    assert {cell.precision for cell in plan.cells} == {"fp32"}


def test_clas_repeats_commands_and_infers_in_deploy(upstream) -> None:
    plan = upstream("clas", {4: "gpu_list:0"})
    on_cpu = [step for step in plan.steps if step.settings.get("device") == "cpu"]
    assert len(on_cpu) == 2
    assert on_cpu[0].argv == on_cpu[1].argv
    assert {step.cwd for step in on_cpu} == {"deploy"}


def test_clas_runs_nothing_in_whole_infer_without_kl_quantisation(upstream) -> None:
    plan = upstream("clas", mode="whole_infer")
    assert plan.steps == ()
    assert plan.skipped


def test_clas_quantises_first_and_is_lost_outside_the_repository(upstream) -> None:
    plan = upstream("clas", {34: "kl_quant:deploy/quant.py -c x"}, mode="whole_infer")
    assert argvs(plan, "export") == ["python3 deploy/quant.py -c x"]
    assert {step.cwd for step in plan.steps if step.kind == "infer"} == {"."}
    inside = upstream("clas", {34: "kl_quant:q.py", 37: "infer_model:inference"}, mode="whole_infer")
    assert {step.cwd for step in inside.steps if step.kind == "infer"} == {"deploy"}


def test_det_overwrites_the_trainings_device_in_its_inference(upstream) -> None:
    lines = argvs(upstream("det", {4: "gpu_list:0"}), "train")
    assert "use_gpu=True" in lines[0].split()
    assert "use_gpu=cpu" in lines[1].split()


def test_det_keeps_a_whole_value_and_a_line_without_a_colon(upstream) -> None:
    plan = upstream("det")
    assert "pretrain_weights=https://example.com/tinydet.pdparams" in plan.steps[0].argv
    assert upstream("det", {2: "tinydet"}).model == "tinydet"


def test_det_leaves_a_pipe_alive_and_reports_a_failure(upstream) -> None:
    plan = upstream("det", {5: "use_gpu:True|False", 4: "gpu_list:0", 15: "trainer:norm_train"})
    assert plan.steps[0].argv[-1] == "use_gpu=True"
    assert plan.steps[0].status_line.startswith(" Run failed with command - tinydet - ")


def test_det_exports_for_onnx_first_where_line_35_says_so(upstream) -> None:
    exports = argvs(upstream("det", {4: "gpu_list:0", 15: "trainer:norm_train"}), "export")
    assert ["export_onnx=True" in line for line in exports] == [True, False]


def test_det_exports_each_kind_of_model_and_leaves_kl_to_its_own_mode(upstream) -> None:
    assert argvs(upstream("det", mode="whole_infer"), "export") == [
        "python3 tools/export_model.py -c tiny.yml -o weights=https://example.com/tinydet.pdparams"
        " filename=tinydet --output_dir=./output_inference"
    ]
    assert argvs(upstream("det", mode="klquant_whole_infer"), "export")[0].startswith(
        "python3 tools/post_quant.py"
    )


def test_det_stops_at_a_kind_it_does_not_know(upstream) -> None:
    stopped = upstream("det", {38: "infer_mode:norm|turbo|pact"}, mode="whole_infer")
    alone = upstream("det", {38: "infer_mode:norm"}, mode="whole_infer")
    assert argvs(stopped) == argvs(alone)
    assert stopped.skipped[-1].reason.code == "no-kind-of-model"


@pytest.mark.parametrize("dialect", SAMPLES)
def test_a_device_that_is_neither_is_left_out_with_a_reason(upstream, dialect: str) -> None:
    number = 28 if dialect == "models" else 41
    key = SAMPLES[dialect].split("\n")[number - 1].split(":")[0]
    plan = upstream(dialect, {number: f"{key}:tpu"})
    assert argvs(plan, "infer") == []
    assert "unknown-device-word" in [skip.reason.code for skip in plan.skipped]


def test_the_samples_are_of_the_length_that_their_scripts_read() -> None:
    assert len(MODELS.splitlines()) == 32
    assert len(SEG.splitlines()) == 52
    assert len(CLAS.splitlines()) == 51
    assert changed("a\nb\n", {2: "c"}) == "a\nc\n"
