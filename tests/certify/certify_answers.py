"""Answers of an honest model, for chains whose scripts only pretend to use paddle."""

from __future__ import annotations

from collections.abc import Iterable

from tipc.certify.evidence.answers import Answer, Layer, MetricAnswer, ModelAnswer, ParityAnswer
from tipc.certify.verdict import FAIL, UNCHECKED, Finding
from tipc.run.record.results import Run


def honest_answers(run: Run) -> dict[tuple[str, str, str], Answer]:
    """What the probe says about weights and a model that are as they should be."""
    key = run.plans[0].key
    layer = Layer(
        op="conv2d", weight="w", bits=8, activation_bits=8, per_channel=True, on_grid=True, dtype="int8"
    )
    return {
        ("model", key, "cell/export"): ModelAnswer(
            structure="inference.pdmodel", parameters="inference.pdiparams", inputs={"x": [-1, 3, 16, 16]},
            outputs=1, layers=[layer],
        ),
        ("parity", key, "cell/export"): ParityAnswer(
            samples=8, preprocess_shapes=[[8, 3, 16, 16]] * 2, preprocess_max_abs=0.0,
            metrics={name: MetricAnswer(name="top1", value=1.0) for name in ("native", "onednn-int8")},
        ),
    }  # fmt: skip


def alarms(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that keep a verdict from passing."""
    return [one for one in findings if one.status == FAIL or (one.status == UNCHECKED and one.required)]
