"""The support matrix of the spec's documents: from runs, claiming nothing that was not shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored

from tipc.cli.main import main
from tipc.errors import UsageError
from tipc.report.documents import algorithms, begin, documents, end
from tipc.report.markdown import escaped, job_summary, matrix_markdown
from tipc.report.view import RunView, view_of
from tipc.report.wording import EN, ZH


def view(tmp_path: Path, recipe: Recipe) -> RunView:
    return view_of(*fabricate(tmp_path, recipe))


def rows(text: str) -> dict[str, list[str]]:
    """The rows of all tables by the first column's text, headers aside."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| :"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found[cells[1]] = found.get(cells[1], []) + cells[2:]
    return found


def on_gpu(recipe: Recipe, tmp_path: Path, device: str = "gpu") -> RunView:
    """The same run as if it had been made on a machine with GPUs, or with other devices."""
    run, verdict = fabricate(tmp_path, recipe)
    plans = []
    for plan in run.plans:
        cells = [replace(cell, not_certified=(), runs_on=f"{device}:{cell.asked}") for cell in plan.cells]
        steps = [replace(step, device=device) for step in plan.steps]
        plans.append(replace(plan, cells=tuple(cells), steps=tuple(steps), skipped=()))
    return view_of(replace(run, plans=tuple(plans)), verdict)


def test_the_tables_have_the_columns_of_the_spec(tmp_path: Path) -> None:
    text = matrix_markdown([view(tmp_path, Recipe())], ZH)
    assert "| 算法名称 | 模型名称 | 单机单卡 | 单机多卡 |" in text
    assert "| 算法名称 | 模型名称 | device_CPU | device_GPU | batchsize |" in text
    assert text.startswith("- 训练相关：")


def test_what_ran_on_a_cpu_only_is_not_claimed_for_a_gpu(tmp_path: Path) -> None:
    text = matrix_markdown([view(tmp_path, Recipe(batch_sizes=("1", "6")))], ZH)
    assert rows(text)["mobilenet_v3_small"] == [
        *("正常训练（仅CPU，GPU未认证）", "正常训练（仅CPU，GPU未认证）"),
        *("支持", "未认证", "1/6"),
    ]


def test_what_was_certified_reads_as_in_the_spec(tmp_path: Path) -> None:
    text = matrix_markdown([on_gpu(Recipe(precisions=("pact",)), tmp_path)], ZH)
    assert rows(text)["mobilenet_v3_small"] == ["PACT量化训练", "PACT量化训练", "未测试", "支持", "1"]


def test_a_device_that_is_no_gpu_has_a_column_of_its_own(tmp_path: Path) -> None:
    text = matrix_markdown([on_gpu(Recipe(), tmp_path, "npu")], EN)
    assert "| Algorithm | Model | device_CPU | device_GPU | device_NPU | batchsize |" in text
    assert rows(text)["mobilenet_v3_small"][2:] == ["not tested", "not tested", "supported", "1"]


def test_failed_unrun_and_unchecked_are_shown_as_such(tmp_path: Path) -> None:
    text = matrix_markdown([view(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))], EN)
    assert rows(text)["mobilenet_v3_small"][0] == "normal training: failed"
    assert rows(text)["mobilenet_v3_small"][2] == "failed"  # inference was blocked
    text = matrix_markdown([view(tmp_path, Recipe(checks=False))], EN)
    assert rows(text)["mobilenet_v3_small"][0] == "normal training: ran, not checked"
    assert rows(text)["mobilenet_v3_small"][2] == "ran, not checked"
    text = matrix_markdown([view(tmp_path, Recipe(states={"": "pending"}))], EN)
    assert rows(text)["mobilenet_v3_small"][0] == "normal training: not tested"


def test_text_stays_inside_its_cell() -> None:
    assert escaped("a|b `c` <d>\n&e") == "a\\|b \\`c\\` &lt;d&gt; &amp;e"


def test_the_job_summary_says_what_needs_attention(tmp_path: Path) -> None:
    text = job_summary([view(tmp_path, Recipe(precisions=("amp",)))])
    assert text.startswith("## ✔ tipc: PASSED on cpu")
    assert "| not certified | TA201 |" in text


def test_the_job_summary_says_once_why_a_step_failed(tmp_path: Path) -> None:
    text = job_summary([view(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))])
    assert "./lite_data/train_list.txt is not there" in text
    assert "TS001" not in text


def test_documents_are_made_and_then_kept_up_to_date(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, verdict = fabricate(home, Recipe(precisions=("fp32", "amp")))
    stored(run, verdict)
    repo = home / "repo"
    (repo / "test_tipc").mkdir(parents=True)
    readme = repo / "test_tipc" / "README.md"
    readme.write_text(f"# mine\n\n{begin('train')}\n{end('train')}\n\nafter\n", encoding="utf-8")
    assert main(["docs", "--repo", str(repo), "--check"]) == 1
    assert main(["docs", "--repo", str(repo)]) == 0
    assert main(["docs", "--repo", str(repo), "--check"]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    assert text.endswith("\n\nafter\n")
    assert "混合精度训练" in text
    assert begin("infer") not in text  # its author did not ask for that table
    base = (repo / "test_tipc/docs/test_train_inference_python.md").read_text(encoding="utf-8")
    assert "正常训练" in base
    assert "混合精度训练" not in base
    assert "paddlepaddle 3.1.1" in base
    stored(*fabricate(home, Recipe(precisions=("fp32", "amp"), name="again", started=run.started + 500)))
    assert main(["docs", "--repo", str(repo), "--check"]) == 0  # another run that shows the same
    assert not (repo / "test_tipc/docs/test_train_pact_inference_python.md").exists()
    assert "created" in capsys.readouterr().out


def test_the_name_of_an_algorithm_is_kept(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    one = view(tmp_path, Recipe())
    (repo / "test_tipc").mkdir(parents=True)
    table = (
        "| 算法名称 | 模型名称 | 单机单卡 | 单机多卡 |\n| :--: | :--: | :--: | :--: |\n"
        "| MobileNet\\|V3 | mobilenet_v3_small | ? | ? |\n"
    )
    readme = repo / "test_tipc" / "README.md"
    readme.write_text(f"{begin('train')}\n{table}{end('train')}\n", encoding="utf-8")
    (first, *_) = documents(repo, [one], ZH)
    assert "| MobileNet\\|V3 | mobilenet_v3_small | 正常训练" in first.new
    assert algorithms(first.new) == {"mobilenet_v3_small": "MobileNet|V3"}


def test_a_marker_without_its_end_is_an_error_with_a_line_and_nothing_is_written(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "test_tipc").mkdir(parents=True)
    readme = repo / "test_tipc" / "README.md"
    readme.write_text(f"# x\n\n{begin('train')}\nrest", encoding="utf-8")
    with pytest.raises(UsageError, match=r"README\.md:3: .*tipc:end train"):
        documents(repo, [view(tmp_path, Recipe())], ZH)


def test_without_a_run_there_is_one_clear_message(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--repo", str(home)]) == 2
    assert "there is no finished run of a config in" in capsys.readouterr().err


def test_documents_are_written_from_finished_runs_only(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, verdict = fabricate(home, Recipe(name="whole"))
    stored(whole, verdict)
    stored(
        *fabricate(home, Recipe(name="part", started=whole.started + 500, states={"infer": "not selected"}))
    )
    stored(
        *fabricate(home, Recipe(name="stopped", started=whole.started + 600, states={"eval": "interrupted"}))
    )
    repo = home / "repo"
    repo.mkdir(exist_ok=True)
    assert main(["docs", "--repo", str(repo)]) == 0
    text = (repo / "test_tipc/README.md").read_text(encoding="utf-8")
    assert "未测试" not in text, "the newer runs would say so of what they did not get to"
    assert main(["docs", "stopped", "--repo", str(repo)]) == 2
    assert "the run stopped is not finished" in capsys.readouterr().err
