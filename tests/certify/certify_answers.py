"""Answers of an honest model, for chains whose scripts only pretend to use paddle."""

from __future__ import annotations

from collections.abc import Iterable

from tipc.certify.answers import Answer, Comparison, Layer, Metric, ModelAnswer, ParityAnswer, WeightsAnswer
from tipc.certify.verdict import FAIL, UNCHECKED, Finding
from tipc.run.record import Run


def honest_answers(run: Run) -> dict[tuple[str, str, str], Answer]:
    """What the probe says about weights and a model that are as they should be."""
    key = run.plans[0].key
    layer = Layer(
        op="conv2d", weight="w", bits=8, activation_bits=8, per_channel=True, on_grid=True, dtype="int8"
    )
    rows = [
        Comparison(engine=engine, batch=batch, max_abs=1e-6, argmax_equal=8, argmax_total=8)
        for engine in ("native", "onednn", "int8")
        for batch in (8, 4, 1)
    ]
    return {
        ("weights", key, "cell/train"): WeightsAnswer(tensors=4, values=100),
        ("model", key, "cell/export"): ModelAnswer(
            structure="inference.pdmodel", parameters="inference.pdiparams", inputs={"x": [-1, 3, 16, 16]},
            outputs=1, layers=[layer], tensors=4, matched=4, comparable=4,
        ),
        ("parity", key, "cell/export"): ParityAnswer(
            samples=8, scale=3.0, table=rows, preprocess_shapes=[[8, 3, 16, 16]] * 2, preprocess_max_abs=0.0,
            metrics={name: Metric(name="top1", value=1.0) for name in ("reference", "native", "int8")},
        ),
    }  # fmt: skip


def alarms(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that keep a verdict from passing."""
    return [one for one in findings if one.status == FAIL or (one.status == UNCHECKED and one.required)]
