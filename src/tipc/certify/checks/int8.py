"""TP305: int8 engines answer what the trained network answered, as well as their rounding allows."""

from __future__ import annotations

from collections.abc import Iterator

from tipc.certify.abilities import has_vnni
from tipc.certify.checks.parity import (
    NO_EVALUATION,
    Compared,
    against_evaluation,
    against_network,
    broken_engine,
    evidence_of,
    undecided,
)
from tipc.certify.compare.agreement import Bound
from tipc.certify.evidence.answers import ParityAnswer
from tipc.certify.evidence.likeness import Likeness, likenesses
from tipc.certify.evidence.parity_bounds import bound_for, engine_precision, trial_of
from tipc.certify.evidence.trials import EVALUATION, NATIVE, SEEDED, SIMULATED, Answered, samples_of
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.certify.verdict import PASS
from tipc.kinds import INT8, PACT
from tipc.message import wording

DROP = 0.015  # of the metric, int8 against the reference; at least one image of those compared


@check(
    "TP305",
    "int8 loses no more than allowed",
    scope="export",
    reads="the exported model in int8 on what the evaluation fed; metric() of test_tipc/parity.py, "
    "if it is there",
    remedy="train the quantised model longer or with a smaller learning rate, store its weights as "
    "real int8, keep sensitive layers in fp32",
)
def int8_drop(scene: StepScene) -> Iterator[Outcome]:
    """An int8 model is used only if it is as good. oneDNN's int8 pass silently misreads weights that are
    stored as integers in float32: it runs, and the accuracy is that of guessing."""
    if scene.cell.precision != PACT:
        return
    tried = tried_in_int8(scene)
    if not tried:
        yield unchecked("the model was not tried in int8: only the older form (.pdmodel) can be quantised")
        return
    broken = [one for one in tried if one.error]
    if broken:
        yield broken_engine(broken[0])
        return
    metric = metric_drop(scene)
    if metric is not None:
        yield metric
    engine = tried[0].trial.engine
    compared = against_evaluation(scene, engine) or against_network(scene, engine)
    if compared is not None:
        yield answers_in_int8(scene, compared)
    elif metric is None:
        yield unchecked("nothing could be compared in int8", remedy=NO_EVALUATION)


def answers_in_int8(scene: StepScene, compared: Compared) -> Outcome:
    """The exported model in int8 against what it should answer."""
    evidence = evidence_of(compared)
    wrong = compared.wrong
    if wrong is None:
        return passed(wording("in int8: {figures}", figures=compared.best.text()), evidence=evidence)
    if wrong.is_undecided:
        return undecided(wrong, evidence)
    judged = beyond_bound(scene, compared, wrong)
    if judged.status == PASS or not lacks_vnni(scene):
        return judged
    told = wording(
        "in int8: {figures}; oneDNN had no VNNI here, without which its sums can saturate",
        figures=wrong.text(),
    )
    return not_certified(
        told,
        remedy="run it on a CPU with AVX512 VNNI or AVX VNNI, and no limit in ONEDNN_MAX_CPU_ISA",
        evidence=judged.evidence,
    )


def tried_in_int8(scene: StepScene) -> list[Answered]:
    """The trials of the model in int8 engines."""
    found = []
    for one in scene.trials(scene.step):
        if engine_precision(one.trial.engine) == INT8 and not one.trial.simulated:
            found.append(one)
    return found


def against_simulation(scene: StepScene, engine: str) -> Compared | None:
    """An int8 engine against the exported model in paddle's own kernels, rounded as that engine rounds."""
    for source in (EVALUATION, SEEDED):
        trial = trial_of(scene, source, engine)
        simulated = trial_of(scene, f"{SIMULATED} {source}", engine)
        if trial is None or simulated is None or trial.error or simulated.error:
            continue
        found = likenesses(simulated.outputs, trial.outputs, samples_of(trial.trial.feeds))
        if found:
            return Compared(trial, found, bound_for(scene, source))
    return None


def beyond_bound(scene: StepScene, compared: Compared, wrong: Likeness) -> Outcome:
    """int8 is further from the trained network than allowed: is the engine wrong, or does the network make so
    much of a rounding?

    An engine may round a model in its own steps. Where it computes what paddle's kernels compute with those
    steps, within the same bound, it is right. Then the network is held to its decisions, of which as many
    as ever must be those of the trained one, near ties included.
    """
    engine = compared.trial.trial.engine
    simulated = against_simulation(scene, engine)
    evidence = evidence_of(compared, simulated)
    if simulated is None:
        told = wording(
            "in int8: {figures}, allowed is {noise:.2g}", figures=wrong.text(), noise=compared.bound.noise
        )
        return failed(told, evidence=evidence)
    if simulated.wrong is not None:
        told = wording(
            "in int8: {figures}, allowed is {noise:.2g}; "
            "from a simulation with the steps of {engine}: {other}",
            figures=wrong.text(),
            noise=compared.bound.noise,
            engine=engine,
            other=simulated.wrong.text(),
        )
        return failed(told, evidence=evidence)
    told = wording(
        "in int8: {figures}; it is the rounding: from a simulation with the steps of {engine}, {other}",
        figures=wrong.text(),
        engine=engine,
        other=simulated.best.text(),
    )
    if keeps_decisions(wrong, compared.bound):
        return passed(told, evidence=evidence)
    told = wording("{figures}. Rounding alone turns the decisions of this network", figures=told)
    return unchecked(told, evidence=evidence)


def keeps_decisions(likeness: Likeness, bound: Bound) -> bool:
    """Whether enough decisions are the same, with no allowance for ties."""
    agreement = likeness.agreement
    return agreement is not None and agreement.kept >= bound.decisions * agreement.decisions


def metric_drop(scene: StepScene) -> Outcome | None:
    """The repository's own metric of the exported model, in int8 against its simulation; None: it has
    none."""
    answer = scene.answer("parity", scene.step)
    if not isinstance(answer, ParityAnswer) or not answer.metrics:
        return None
    reference = answer.metrics.get(NATIVE)
    measured = [metric for name, metric in answer.metrics.items() if name != NATIVE]
    if reference is None or not measured:
        return None
    bound = max(DROP, 1.01 / max(answer.samples, 1))
    drop = reference.value - measured[0].value
    told = wording(
        "{name} {reference:.4g} → {int8:.4g} in int8",
        name=reference.name,
        reference=reference.value,
        int8=measured[0].value,
    )
    evidence = {
        "metric": reference.name,
        "reference": reference.value,
        "int8": measured[0].value,
        "drop": drop,
        "bound": bound,
    }
    if drop <= bound:
        return passed(told, evidence=evidence)
    if lacks_vnni(scene):
        told = wording("{metric}: a loss of {drop:.3g}; oneDNN had no VNNI here", metric=told, drop=drop)
        return not_certified(told, evidence=evidence)
    told = wording(
        "{metric}: a loss of {drop:.3g}, allowed are {bound:.3g}", metric=told, drop=drop, bound=bound
    )
    return failed(told, evidence=evidence)


def lacks_vnni(scene: StepScene) -> bool:
    """The processor that the run happened on is known, and oneDNN had no instructions for int8 there."""
    known = bool(scene.run.environment.get("cpu", {}).get("flags"))
    return known and not has_vnni(scene.run.environment)
