"""``tipc plan CONFIG benchmark_train``: what the repository's own benchmark_train.sh runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine

Make = Callable[..., Path]
CONFIG = """\
===train_params===
model_name:toy
python:python3
gpu_list:0
norm_train:tools/fit.py -c toy.yml
===train_benchmark_params===
batch_size:4|8
"""
SCRIPT = """\
IFS='|'
for size in $(sed -n 7p $1 | cut -d: -f2); do
    python tools/fit.py -c toy.yml --batch_size=$size --save_dir=out/$size
    python ${BENCHMARK_ROOT}/scripts/analysis.py --base_batch_size $size
done
"""


def planned(config: Path, **options: object) -> Plan:
    options = {"repo": str(config.parents[2]), "machine": Machine(cores=2), **options}
    return build_plan(config, "benchmark_train", PlanOptions(**options))  # type: ignore[arg-type]


def test_the_trainings_are_those_of_the_repositorys_own_script(repository: Make) -> None:
    config = repository(SCRIPT, CONFIG, name="test_tipc/benchmark_train.sh")
    plan = planned(config)
    assert plan.chain == "benchmark_train"
    assert [step.argv[4] for step in plan.steps] == ["--batch_size=4", "--batch_size=8"]
    assert {step.kind for step in plan.steps} == {"train"}
    left_out = [skip.reason for skip in plan.skipped if skip.reason.code == "script-elsewhere"]
    assert [reason["path"] for reason in left_out] == ["/scripts/analysis.py"] * 2
    assert len(planned(config, as_upstream=True).steps) == 4


def test_without_its_block_or_its_script_there_is_nothing_to_plan(repository: Make) -> None:
    config = repository(
        SCRIPT, CONFIG.partition("===train_benchmark")[0], name="test_tipc/benchmark_train.sh"
    )
    with pytest.raises(UsageError, match="no block `train_benchmark_params`"):
        planned(config)
    config.write_text(CONFIG)
    (config.parents[1] / "benchmark_train.sh").unlink()
    with pytest.raises(UsageError, match="its repository has no script to trace"):
        planned(config)
