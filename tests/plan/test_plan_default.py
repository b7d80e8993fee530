"""The default plan: what the documentation promises, each difference a named fix; and the machine."""

from __future__ import annotations

import pytest
from plan_samples import MODELS, SAMPLES, changed

from tipc.errors import UsageError
from tipc.plan.fixes import FIXES
from tipc.plan.model import Plan, Step
from tipc.plan.plan_text import plan_text
from tipc.plan.request import PlanOptions
from tipc.plan.shell_lines import commands_text
from tipc.plan.target.machine import Machine
from tipc.reasons import because

GPUS = Machine(cores=8, gpus=4)


def of(plan: Plan, kind: str, device: str = "") -> list[Step]:
    return [s for s in plan.steps if s.kind == kind and device in ("", s.settings.get("device", s.device))]


def fixes(plan: Plan) -> set[str]:
    return {fix.id for fix in plan.fixes}


def test_image_data_and_device_are_passed(plan) -> None:
    made = plan("models", machine=GPUS)
    assert "--data-path=./lite_data" in of(made, "train")[0].argv
    assert "--device=gpu" in of(made, "train")[0].argv
    assert "--data-path=./lite_data" in of(made, "eval")[0].argv
    assert all("--img-path=./images/demo.jpg" in step.argv for step in of(made, "infer"))
    assert fixes(made) >= {"TF001", "TF002", "TF003"}


def test_a_device_key_that_is_no_option_is_not_passed(plan) -> None:
    made = plan("models", {5: "use-gpu:True"})
    assert not any("use-gpu" in word for word in of(made, "train")[0].argv)
    assert "TF003" not in fixes(made)


def test_the_output_directory_is_not_a_log_and_inference_reads_what_export_wrote(plan) -> None:
    made = plan("models")
    for train, export in zip(of(made, "train"), of(made, "export"), strict=True):
        assert not any(word.endswith(".log") for word in train.argv)
        assert export.weights == train.weights
        assert train.produces == (train.weights,)
        assert export.produces == (f"{export.model_dir}/*.pdmodel|{export.model_dir}/*.json",
                                   f"{export.model_dir}/*.pdiparams")  # fmt: skip
    for infer in of(made, "infer"):
        (export,) = [step for step in of(made, "export") if step.id in infer.needs]
        assert infer.model_dir == export.model_dir
        assert f"--model-dir={infer.model_dir}" in infer.argv


def test_steps_share_what_they_have_in_common(plan) -> None:
    """A config may have ten thousand of them."""
    first, second = [step for step in plan("models").steps if step.kind == "infer"][:2]
    assert first.argv[0] is second.argv[0]
    assert first.env is second.env


def test_eval_and_export_need_the_training_and_inference_the_export(plan) -> None:
    made = plan("models", {4: "gpu_list:0", 29: "--batch-size:1"})
    assert [(step.id.split("/")[1], [need.split("/")[1] for need in step.needs]) for step in made.steps] == [
        ("train", []),
        ("eval", ["train"]),
        ("export", ["train"]),
        ("infer-cpu-bs1", ["export"]),
    ]


@pytest.mark.parametrize("dialect", SAMPLES)
@pytest.mark.parametrize("machine", [Machine(cores=2), GPUS])
def test_every_command_has_a_log_and_an_id_of_its_own_and_none_runs_twice(plan, dialect, machine) -> None:
    for mode in ("lite_train_lite_infer", "whole_train_whole_infer", "whole_infer"):
        made = plan(dialect, mode=mode, machine=machine)
        for values in (
            [s.log for s in made.steps],
            [s.id for s in made.steps],
            [(s.argv, s.cwd) for s in made.steps],
        ):
            assert len(values) == len(set(values))
        assert all("CUDA_VISIBLE_DEVICES" in step.env for step in made.steps)
        assert all(step.line for step in made.steps)
        assert fixes(made) <= set(FIXES)


def test_without_a_gpu_cells_run_on_the_cpu_and_say_so(plan) -> None:
    made = plan("models")
    assert [cell.runs_on for cell in made.cells] == ["cpu", "2 × cpu (gloo)"]
    assert all(cell.not_certified == (because("no-device", device="gpu"),) for cell in made.cells)
    assert "--device=cpu" in of(made, "train")[0].argv
    launch = of(made, "train")[1]
    at = launch.argv.index("paddle.distributed.launch")
    assert launch.argv[at + 1 : at + 3] == ("--nproc_per_node=2", "train.py")
    assert launch.env["OMP_NUM_THREADS"] == "1"
    assert (launch.processes, launch.device, launch.gpus) == (2, "cpu", ())
    assert of(made, "infer", "gpu") == []
    assert sum(skip.reason.code == "no-device" for skip in made.skipped) == 4
    assert all(step.env["CUDA_VISIBLE_DEVICES"] is None for step in made.steps)


def test_with_gpus_each_step_holds_its_own_and_nothing_leaks(plan) -> None:
    made = plan("models", {22: "norm_export:null"}, machine=GPUS)
    first, second = of(made, "train")
    assert (first.env["CUDA_VISIBLE_DEVICES"], first.gpus) == ("0", ("0",))
    assert (second.env["CUDA_VISIBLE_DEVICES"], second.gpus) == (None, ("0", "1"))
    assert "TF007" in fixes(made)
    assert {cell.not_certified for cell in made.cells} == {()}


@pytest.mark.parametrize(
    ("entry", "runs_on", "processes"),
    [("10", "gpu:10", 1), ("0,1,2,3,4,5,6,7,8,9", "gpu:0,1,2,3,4,5,6,7,8,9", 10), ("12,13", "gpu:12,13", 2)],
)
def test_gpu_ids_above_nine_and_more_than_eight_gpus(plan, entry: str, runs_on: str, processes: int) -> None:
    made = plan("models", {4: f"gpu_list:{entry}"}, machine=Machine(cores=8, gpus=16))
    assert made.cells[0].runs_on == runs_on
    train = of(made, "train")[0]
    assert train.processes == processes
    assert of(made, "eval")[0].env["CUDA_VISIBLE_DEVICES"] == entry.split(",")[0]
    assert (f"--gpus={entry}" in train.argv) == (processes > 1)


def test_a_cell_that_asks_for_more_gpus_than_there_are_is_left_out(plan) -> None:
    made = plan("models", {4: "gpu_list:0|0,1"}, machine=Machine(cores=2, gpus=1))
    assert {step.cell for step in made.steps} == {"norm_train-gpu0"}
    assert "few-devices" in [skip.reason.code for skip in made.skipped]


def test_several_machines_become_one_and_that_is_not_certified(plan) -> None:
    made = plan("models", {4: "gpu_list:10.0.0.1,10.0.0.2;0,1"}, machine=GPUS)
    train = of(made, "train")[0]
    assert not any(word.startswith("--ips") for word in train.argv)
    assert "--gpus=0,1" in train.argv
    assert because("one-machine", asked=2) in made.cells[0].not_certified


# Addresses that no machine has (RFC 5737), and one that every machine has.
ELSEWHERE, HERE = "198.51.100.1", "127.0.0.1"


def launch(argv: tuple[str, ...]) -> list[str]:
    return [word for word in argv[: argv.index("train.py")] if word.startswith("--")]


def test_the_commands_of_all_machines_are_told(plan) -> None:
    made = plan("models", {4: f"gpu_list:{ELSEWHERE},198.51.100.2;0,1"}, machine=GPUS)
    others = [skip for skip in made.skipped if skip.reason.code == "other-machine"]
    assert [skip.reason["address"] for skip in others] == [ELSEWHERE, "198.51.100.2"]
    master = [f"--master={ELSEWHERE}:6170", "--nnodes=2"]
    assert [launch(skip.argv) for skip in others] == [
        [*master, "--rank=0", "--devices=0,1"],
        [*master, "--rank=1", "--devices=0,1"],
    ]
    last = commands_text(made, made.repo).splitlines()[-1]
    assert last.startswith("# 198.51.100.2: ")
    assert f"--master={ELSEWHERE}:6170 --nnodes=2 --rank=1 --devices=0,1 train.py" in last


@pytest.mark.parametrize("dialect", SAMPLES)
def test_the_launch_of_several_machines_is_a_fix_of_its_own(plan, dialect: str) -> None:
    told = {fix.id for fix in plan(dialect, {4: "gpu_list:192.168.0.1,192.168.0.2;0,1"}).fixes}
    assert "TF032" in told
    assert "TF006" not in told  # which is about ids that the scripts misread


def test_a_machine_that_the_entry_names_takes_its_place(plan) -> None:
    first = plan("models", {4: f"gpu_list:{HERE},{ELSEWHERE};0"}, machine=GPUS)
    (train,) = of(first, "train")
    assert launch(train.argv) == [f"--master={HERE}:6170", "--nnodes=2", "--rank=0", "--devices=0"]
    assert first.cells[0].not_certified == ()
    assert {step.kind for step in first.steps} >= {"train", "eval", "export", "infer"}
    second = plan("models", {4: f"gpu_list:{ELSEWHERE},{HERE};0,1"})
    assert [step.kind for step in second.steps] == ["train"]  # the first machine keeps the weights
    assert launch(second.steps[0].argv) == [
        f"--master={ELSEWHERE}:6170",
        "--nnodes=2",
        "--rank=1",
        "--nproc_per_node=2",
    ]


def test_as_upstream_several_machines_keep_their_ips(plan) -> None:
    made = plan("models", {4: f"gpu_list:{ELSEWHERE},198.51.100.2;0,1"}, as_upstream=True)
    assert f"--ips={ELSEWHERE},198.51.100.2" in of(made, "train")[0].argv
    assert "other-machine" not in [skip.reason.code for skip in made.skipped]


def test_another_device_is_planned_for_even_if_it_is_not_here(plan) -> None:
    made = plan("seg", device="npu", machine=Machine(cores=2))
    assert "--device=npu" in of(made, "train")[0].argv
    assert "--devices=0,1" in of(made, "train")[1].argv
    assert any("--device=npu" in step.argv for step in of(made, "infer", "npu"))
    assert all(cell.not_certified[0]["device"] == "npu" for cell in made.cells)
    assert "Global.use_npu=True" in of(plan("ocr", device="npu"), "train")[0].argv


@pytest.mark.parametrize("family", ["models", "clas", "seg", "ocr", "det"])
def test_steps_of_another_device_are_called_by_it(plan, family: str) -> None:
    made = plan(family, device="npu", machine=Machine(cores=2))
    there = [step for step in of(made, "infer") if step.device == "npu"]
    assert there
    for step in there:
        assert step.settings["device"] == "npu"
        assert "/infer-npu" in step.id
    assert "gpu" not in {skip.device for skip in made.skipped}
    text = plan_text(made, Machine(cores=2))
    assert "infer npu" in text
    assert "infer gpu" not in text


def test_a_boolean_device_is_switched_off_on_a_cpu(plan) -> None:
    assert "Global.use_gpu=False" in of(plan("ocr"), "train")[0].argv
    assert "use_gpu=False" in of(plan("det"), "train")[0].argv


@pytest.mark.parametrize(
    ("dialect", "words"),
    [("clas", ["-o", "Global.device=cpu"]), ("det", ["use_gpu=False"]), ("ocr", ["Global.use_gpu=False"])],
)
def test_an_export_is_told_that_it_runs_on_a_cpu(plan, dialect: str, words: list[str]) -> None:
    for kind in ("eval", "export"):
        argv = of(plan(dialect), kind)[0].argv
        assert words[-1] in argv, kind
    export = " ".join(of(plan(dialect), "export")[0].argv)
    assert f" {' '.join(words)}" in export
    assert words[-1] not in of(plan(dialect, machine=GPUS), "export")[0].argv


def test_every_gpu_entry_has_a_device(plan) -> None:
    made = plan("seg", {5: "--device:gpu"}, machine=GPUS)
    assert all("--device=gpu" in step.argv for step in of(made, "train"))
    assert "TF004" in fixes(made)


def test_a_quantised_model_runs_int8_on_a_gpu(plan) -> None:
    made = plan("seg", {15: "trainer:pact_train"}, machine=GPUS)
    settings = [(s.settings["use_trt"], s.settings["precision"]) for s in of(made, "infer", "gpu")]
    assert ("True", "int8") in settings
    assert "TF005" in fixes(made)


def test_a_pact_training_starts_from_its_own_entrys_norm_training_or_keeps_its_weights(plan) -> None:
    made = plan("seg", {15: "trainer:norm_train|pact_train"}, machine=GPUS)
    norm, pact = of(made, "train")[:2]
    assert f"--model_path={norm.weights}" in pact.argv
    assert pact.needs == (norm.id,)
    alone = plan("seg", {15: "trainer:pact_train"})
    assert "--model_path=base.pdparams" in of(alone, "train")[0].argv
    assert "TF015" in fixes(alone)


def test_without_do_eval_the_last_iterations_weights_are_exported(plan) -> None:
    made = plan("seg", {16: "norm_train:train.py --config tinyseg.yml"})
    assert all(step.weights.endswith("/iter_20/model.pdparams") for step in of(made, "export"))
    assert "TF024" not in fixes(made)  # the script takes them, too
    assert all("best_model" in step.weights for step in of(plan("seg"), "export"))


def test_a_training_that_keeps_no_best_model_does_not_change_the_weights_of_the_next_one(plan) -> None:
    lines = {15: "trainer:norm_train|pact_train", 16: "norm_train:train.py --config tinyseg.yml"}
    made = plan("seg", lines)
    exports = {step.cell.partition("-")[0]: step.weights for step in of(made, "export")}
    assert exports["norm_train"].endswith("/iter_20/model.pdparams")
    assert exports["pact_train"].endswith("/best_model/model.pdparams")
    assert "TF024" in fixes(made)


def test_an_operator_is_built_once_before_the_first_training_that_needs_it(plan) -> None:
    made = plan("det", {2: "model_name:dino_r50_4scale_1x_coco", 4: "gpu_list:0|0,1"})
    (build,) = [step for step in made.steps if step.kind == "prepare"]
    assert build.argv[1:] == ("setup_ms_deformable_attn_op.py", "install")
    assert build.cwd == "ppdet/modeling/transformers/ext_op"
    assert len(of(made, "train")) == 4
    assert all(build.id in step.needs for step in of(made, "train"))
    assert not [step for step in plan("det").steps if step.kind == "prepare"]


def test_a_quantised_model_of_clas_is_linked_to_the_names_that_inference_looks_for(plan) -> None:
    lines = {34: "kl_quant:quant_post.py -c tiny.yaml", 37: "infer_model:./inference/tiny"}
    made = plan("clas", lines, mode="whole_infer")
    links = [step for step in made.steps if step.kind == "prepare"]
    assert [step.argv for step in links] == [
        ("ln", "-sf", "model.pdmodel", "inference.pdmodel"),
        ("ln", "-sf", "model.pdiparams", "inference.pdiparams"),
    ]
    assert {step.cwd for step in links} == {"inference/tiny/quant_post_static_model"}
    (export,) = [step for step in made.steps if step.kind in ("export", "quantise")]
    assert all(export.id in step.needs for step in links)
    assert all(set(step.needs) >= {link.id for link in links} for step in of(made, "infer"))


def test_a_kind_of_model_that_the_script_does_not_know_is_an_error(plan) -> None:
    with pytest.raises(UsageError) as caught:
        plan("det", {38: "infer_mode:norm|turbo"}, mode="whole_infer")
    assert (caught.value.line, caught.value.column) == (38, 17)


def test_clas_uses_its_epochs_drops_duplicates_and_really_trains_with_amp(plan) -> None:
    made = plan("clas", {15: "trainer:amp_train", 16: "amp_train:tools/train.py -o AMP.level=O2"})
    assert "Global.epochs=3" in of(made, "train")[0].argv
    assert "AMP.use_amp=True" in of(made, "train")[0].argv
    assert (made.cells[0].precision, made.cells[0].amp_level) == ("amp", "O2")
    assert "same-command" in [skip.reason.code for skip in made.skipped]
    assert fixes(made) >= {"TF009", "TF010", "TF013", "TF026"}


def test_a_recognition_model_is_exported_with_its_weights(tmp_path) -> None:
    from plan_samples import CLAS, write

    from tipc.plan.build import build_plan

    path = write(tmp_path, CLAS, "GeneralRecognition_x.txt")
    made = build_plan(path, "lite_train_lite_infer", PlanOptions(machine=GPUS))
    assert any("RecModel/latest" in word for word in of(made, "export")[0].argv)
    assert "TF023" in fixes(made)
    bare = build_plan(path, "lite_train_lite_infer", PlanOptions(as_upstream=True))
    assert not any("latest" in word for word in of(bare, "export")[0].argv)


def test_det_trains_every_trainer_on_its_own_device_and_without_a_limit(plan) -> None:
    made = plan("det", machine=GPUS)
    assert all("use_gpu=True" in step.argv for step in of(made, "train"))
    assert fixes(made) >= {"TF011", "TF016"}


def test_a_pipe_inside_a_value_stays_in_it(plan) -> None:
    made = plan("models", {32: "--benchmark:True|x"})
    assert of(made, "infer")[0].argv[-1] == "--benchmark=True|x"
    assert "TF012" in fixes(made)


def test_a_pipe_in_a_script_line_needs_a_shell(plan) -> None:
    with pytest.raises(UsageError) as caught:
        plan("models", {14: "norm_train:train.py | tee log"})
    assert (caught.value.line, caught.value.column) == (14, 21)
    assert of(plan("models", {14: "norm_train:train.py | tee log"}, allow_shell=True), "train")[0].shell


def test_an_unset_variable_is_an_error_with_its_place(plan, monkeypatch) -> None:
    monkeypatch.delenv("NO_SUCH_PLACE", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_PLACE") as caught:
        plan("models", {11: "--data-path:$NO_SUCH_PLACE/x"})
    assert caught.value.line == 11
    monkeypatch.setenv("NO_SUCH_PLACE", "/data")
    assert "--data-path=/data/x" in of(plan("models", {11: "--data-path:$NO_SUCH_PLACE/x"}), "train")[0].argv


def test_an_open_quote_is_an_error_with_its_place(plan) -> None:
    with pytest.raises(UsageError, match="never closed") as caught:
        plan("models", {17: 'eval:train.py "x'}, allow_shell=True)
    assert (caught.value.line, caught.value.column) == (17, 15)


def test_windows_line_ends_and_blanks_around_null_are_no_part_of_a_value(plan) -> None:
    made = plan(
        "models", text=MODELS.replace("\n", "\r\n").replace("--pretrained:null", "--pretrained: null")
    )
    assert not any("\r" in word or "null" in word for step in made.steps for word in step.argv)
    assert "TF019" in fixes(made)


def test_a_value_goes_on_after_its_second_colon(plan) -> None:
    made = plan("models", {9: "--pretrained:https://host/weights.pdparams"})
    assert "--pretrained=https://host/weights.pdparams" in of(made, "train")[0].argv
    assert "TF020" in fixes(made)


@pytest.mark.parametrize("line", ["--epochs:lite_train_lite_infer=7|whole_train_whole_infer=9", "--epochs:7"])
def test_a_mode_that_is_not_listed_takes_the_nearest_entry(plan, line: str) -> None:
    made = plan("models", {6: line}, mode="lite_train_whole_infer")
    assert "--epochs=7" in of(made, "train")[0].argv
    assert "TF021" in fixes(made)


def test_a_misspelt_flag_means_not_quantised(plan) -> None:
    made = plan("ocr", {39: "infer_quant:Fasle"}, mode="whole_infer", machine=GPUS)
    assert {step.settings["precision"] for step in of(made, "infer", "gpu")} == {"fp32"}
    assert "TF017" in fixes(made)


def test_the_same_combination_is_trained_once(plan) -> None:
    made = plan("models", {4: "gpu_list:0|0"})
    assert len(of(made, "train")) == 1
    assert because("same-combination") in [skip.reason for skip in made.skipped]


@pytest.mark.parametrize(
    ("line", "place"),
    [("gpu_list:", 4), ("gpu_list", 4), ("trainer:", 13)],
)
def test_an_empty_list_is_an_error_with_its_place(plan, line: str, place: int) -> None:
    with pytest.raises(UsageError, match="nothing would run") as caught:
        plan("models", {place: line})
    assert caught.value.line == place


def test_a_benchmark_measures_and_asks_for_its_threads(plan) -> None:
    made = plan("ocr")
    assert all(step.measures and step.threads == 6 for step in of(made, "infer"))
    assert not any(step.measures for step in of(plan("clas"), "infer"))


def test_a_switch_for_half_precision_is_called_by_the_precision(plan) -> None:
    made = plan("clas")
    steps = of(made, "infer")
    named = {one.settings["precision"] for one in (*steps, *made.skipped)}
    assert named == {"fp32", "fp16"}
    assert not [step.id for step in steps if step.id.endswith(("True", "False"))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({}, ("fp32", "")),
        ({13: "trainer:amp_train", 14: "amp_train:train.py --amp_level=O2"}, ("amp", "O2")),
        ({13: "trainer:amp_train", 14: "amp_train:train.py"}, ("amp", "O1")),
        ({14: "norm_train:train.py --precision fp16 --amp_level O2"}, ("amp", "O2")),
        ({14: "norm_train:train.py --precision fp32"}, ("fp32", "")),
        ({14: "norm_train:train.py --amp"}, ("amp", "O1")),
        ({14: "norm_train:train.py Global.use_amp=False"}, ("fp32", "")),
        ({13: "trainer:pact_train", 14: "pact_train:train.py --pact_quant"}, ("pact", "")),
    ],
)
def test_the_precision_of_a_cell_comes_from_its_name_and_its_arguments(plan, lines, expected) -> None:
    cell = plan("models", lines).cells[0]
    assert (cell.precision, cell.amp_level) == expected


def test_a_word_that_is_no_interpreter_at_all_is_refused(plan) -> None:
    with pytest.raises(UsageError, match="is a line missing") as caught:
        plan("models", text=changed(MODELS, {}).replace("model_name:toy\n", ""))
    assert caught.value.line in (3, 13)


def test_an_unknown_mode_is_an_error_and_one_that_the_config_lists_is_not(plan) -> None:
    with pytest.raises(UsageError, match="unknown mode `lite_train_lite_infr`"):
        plan("models", mode="lite_train_lite_infr")
    line = "--epochs:lite_train_lite_infer=2|nightly=4"
    assert "--epochs=4" in of(plan("models", {6: line}, mode="nightly"), "train")[0].argv


def test_whole_infer_needs_no_gpu_list_and_exports_first(plan) -> None:
    made = plan("models", {4: "gpu_list:"}, mode="whole_infer")
    assert [step.kind for step in made.steps] == ["export", "infer", "infer"]
    assert made.steps[0].weights == "./weights/toy.pdparams"
    assert made.steps[1].needs == (made.steps[0].id,)


def test_whole_infer_on_a_gpu_machine_holds_its_first_gpu(plan) -> None:
    made = plan("models", mode="whole_infer", machine=GPUS)
    on_gpu = [step for step in made.steps if step.device == "gpu"]
    assert {(step.gpus, step.env["CUDA_VISIBLE_DEVICES"]) for step in on_gpu} == {(("0",), "0")}
    assert {step.kind for step in on_gpu} == {"export", "infer"}


def test_the_status_line_tells_what_really_ran(plan) -> None:
    train = of(plan("models"), "train")[0]
    assert " ".join(("python3", *train.argv[1:])) in train.status_line


def test_a_device_that_does_not_exist_is_refused_with_the_one_that_was_meant(plan) -> None:
    with pytest.raises(UsageError, match="there is no device `gup`") as caught:
        plan("models", device="gup")
    assert "did you mean `gpu`?" in caught.value.remedy


def test_commands_that_stand_twice_are_told_in_one_line(plan) -> None:
    made = plan("clas", {42: "-o Global.enable_mkldnn:True|True", 43: "-o Global.cpu_num_threads:1|1"})
    repeated = [skip for skip in made.skipped if skip.reason.code == "same-command"]
    assert len(repeated) > 1
    lines = [line for line in plan_text(made, GPUS).splitlines() if "exactly the command" in line]
    assert lines == [f"  left out: infer ×{len(repeated)}: each is exactly the command of another step"]


@pytest.mark.parametrize("upstream", [False, True])
@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "WANDB_API_KEY"])
def test_a_config_does_not_get_the_secrets_of_its_reader(
    plan, monkeypatch: pytest.MonkeyPatch, name: str, upstream: bool
) -> None:
    monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("DATA_ROOT", "/data")
    changes = {14: f"norm_train:train.py --root=$DATA_ROOT --key=${name}"}
    with pytest.raises(UsageError, match=f"{name} is named like a secret") as refused:
        plan("models", changes, as_upstream=upstream)
    assert "hunter2" not in str(refused.value)
