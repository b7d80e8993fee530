"""A network that makes much of every rounding is told from an int8 engine that computes something else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from certify_chain import plan_of, run_chain
from certify_facts import ANSWERS, EVALUATION, Honest
from certify_plain_repo import make_plain_repo

from tipc.certify.checks.parity import Compared, agrees_as_on_images
from tipc.certify.compare.agreement import INT8, Agreement, compare
from tipc.certify.engines.onednn_int8 import JOINS_SUMS
from tipc.certify.evidence.likeness import likenesses
from tipc.certify.evidence.params_file import _places
from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.question import Question, QuestionGroup
from tipc.certify.evidence.trials import NATIVE, SEEDED, SIMULATED, Answered, Trial
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding
from tipc.kinds import FP32, PACT
from tipc.run.record.results import Run

INT8_ENGINE = "onednn-int8"
# Blocks: enough for the rounding of weights to be more than half of the signal, and not so many that one sum
# on the edge between two steps, which two kinds of CPU round apart, becomes more than the signal (40 do).
DEPTH = 20
WIDTH = 16
SHORTCUTS = 6  # blocks that have one


def deep_network(depth: int, *, shortcuts: bool) -> Any:
    """Random blocks one behind the other: as ill-conditioned as a network that has learnt nothing."""
    import paddle

    class Block(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = paddle.nn.Conv2D(WIDTH, WIDTH, 3, padding=1, bias_attr=False)
            self.norm = paddle.nn.BatchNorm2D(WIDTH)
            self.relu = paddle.nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.relu(self.norm(self.conv(x)))

    class Shortcut(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.conv = paddle.nn.Conv2D(WIDTH, WIDTH, 3, padding=1, bias_attr=False)
            self.norm = paddle.nn.BatchNorm2D(WIDTH)
            self.relu = paddle.nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.relu(self.norm(self.conv(self.block(x))) + x)

    first = paddle.nn.Conv2D(3, WIDTH, 3, padding=1)
    kind = Shortcut if shortcuts else Block
    blocks = [kind() for _ in range(depth)]
    if shortcuts:
        # As in a ResNet, no shortcut is negative. One that is, joined to a convolution whose result is not,
        # comes out otherwise in oneDNN than in any simulation: that is no rounding.
        first = paddle.nn.Sequential(first, paddle.nn.ReLU())
    return paddle.nn.Sequential(first, *blocks, paddle.nn.Conv2D(WIDTH, 5, 1))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The prefix of a quantised model with int8 weights, and images for it."""
    return quantised_model(tmp_path_factory.mktemp("deep"), DEPTH)


@pytest.fixture(scope="module")
def with_shortcuts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The same of a network with shortcuts, of whose values the quantisers cut off one half."""
    return quantised_model(tmp_path_factory.mktemp("shortcuts"), SHORTCUTS, cut=0.5)


def quantised_model(folder: Path, depth: int, cut: float = 1.0) -> tuple[Path, Any]:
    import paddle

    from paddlezoo import batchnorm, export
    from paddlezoo.quant import pact

    paddle.seed(3)
    images = np.random.default_rng(3).normal(size=(8, 3, 16, 16)).astype("float32")
    batch = paddle.to_tensor(images)
    network = deep_network(depth, shortcuts=cut < 1.0)
    quantised = pact.quantise(network, shape=(1, 3, 16, 16))
    pact.calibrate(quantised, [batch])
    for layer in quantised.sublayers():
        if isinstance(layer, pact.PactActivationLayer):
            layer.start_from(float(layer.alpha) * cut)
    batchnorm.recompute(quantised, [batch])
    return export.save(quantised, [None, 3, 16, 16], folder), images


def answers(
    prefix: Path, images: Any, params: Path, evidence: Path, skip: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What the model answers by itself and in int8 with these parameters, and in the simulation of int8
    with its own; ``skip`` names the passes that int8 leaves out."""
    model, own = prefix.with_suffix(".pdmodel"), prefix.with_suffix(".pdiparams")
    feeds = {"x": images}
    trials = {
        NATIVE: Trial(EVALUATION, NATIVE, feeds, model, own),
        INT8_ENGINE: Trial(EVALUATION, INT8_ENGINE, feeds, model, params, skip=skip),
        SIMULATED: Trial(SIMULATED, INT8_ENGINE, feeds, model, own, skip=skip, simulated=True),
    }
    group = QuestionGroup(sys.executable, str(prefix.parent), str(prefix.parent), ())
    body = {
        "kind": "run",
        "structure": str(model),
        "model_dir": str(prefix.parent),
        "path": [],
        "legacy": True,
    }
    found = {}
    with closing(Prober(evidence)) as probes:
        asked = [Question(("run", "plan", name), group, body, (one,)) for name, one in trials.items()]
        probes.ask(asked)
        for question in asked:
            [one] = probes.tried(question)
            assert not one.error, one.error
            [found[question.key[2]]] = one.outputs.values()
    return found


@pytest.mark.paddle
@pytest.mark.filterwarnings("ignore")
def test_onednn_computes_its_simulation_where_rounding_takes_it_far_from_the_network(
    exported: tuple[Path, Any], tmp_path: Path
) -> None:
    prefix, images = exported
    found = answers(prefix, images, prefix.with_suffix(".pdiparams"), tmp_path)
    far = compare(found[NATIVE], found[INT8_ENGINE])
    near = compare(found[SIMULATED], found[INT8_ENGINE])
    assert not far.agrees(INT8), far.text()
    assert near.agrees(INT8), near.text()


@pytest.mark.paddle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("skip", [(), (JOINS_SUMS,)], ids=["sums joined", "sums in floats"])
def test_a_shortcut_is_rounded_in_the_simulation_where_onednn_rounds_it(
    skip: tuple[str, ...], with_shortcuts: tuple[Path, Any], tmp_path: Path
) -> None:
    """Where oneDNN computes sums in floats, it adds what no quantiser has cut off."""
    prefix, images = with_shortcuts
    own = prefix.with_suffix(".pdiparams")
    found = answers(prefix, images, own, tmp_path / "as-it-is", skip)
    otherwise = answers(prefix, images, own, tmp_path / "otherwise", () if skip else (JOINS_SUMS,))
    near = compare(found[SIMULATED], found[INT8_ENGINE])
    assert near.agrees(INT8), near.text()
    far = compare(otherwise[SIMULATED], found[INT8_ENGINE])
    assert far.noise > 3 * near.noise, (near.text(), far.text())


def scale_doubled(arrays: list[Any]) -> None:
    weights = layer_weights(arrays)
    channels = weights.shape[0]
    scales = next(one for one in arrays if one.dtype == np.float32 and one.shape == (channels,) and one.all())
    scales *= 2


def weights_of_one_layer_negated(arrays: list[Any]) -> None:
    layer_weights(arrays)[:] *= -1


def weights_of_one_layer_shuffled(arrays: list[Any]) -> None:
    np.random.default_rng(0).shuffle(layer_weights(arrays))


def one_weight_in_eight_lost(arrays: list[Any]) -> None:
    layer_weights(arrays).reshape(-1)[::8] = 0


def layer_weights(arrays: list[Any]) -> Any:
    """The stored weights of a layer in the middle."""
    stored = [one for one in arrays if one.dtype == np.int8 and one.ndim == 4]
    return stored[len(stored) // 2]


@pytest.mark.paddle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "sabotage",
    [scale_doubled, weights_of_one_layer_negated, weights_of_one_layer_shuffled, one_weight_in_eight_lost],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("network", ["exported", "with_shortcuts"])
def test_an_engine_that_has_one_layer_wrong_is_wrong_all_the_same(
    sabotage: Callable[[list[Any]], None], network: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    prefix, images = request.getfixturevalue(network)
    skip = (JOINS_SUMS,) if network == "with_shortcuts" else ()
    data = bytearray(prefix.with_suffix(".pdiparams").read_bytes())
    places = list(_places(bytes(data)))
    arrays = [array.copy() for array, _ in places]
    sabotage(arrays)
    for array, (_, start) in zip(arrays, places, strict=True):
        data[start : start + array.nbytes] = array.tobytes()
    params = tmp_path / "sabotaged.pdiparams"
    params.write_bytes(data)
    found = answers(prefix, images, params, tmp_path, skip)
    for reference in (NATIVE, SIMULATED):
        agreement: Agreement = compare(found[reference], found[INT8_ENGINE])
        assert not agreement.agrees(INT8), agreement.text()


# ---------------------------------------------------------------------------------------------- the verdict
@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    repo = make_plain_repo(tmp_path_factory.mktemp("plain"))
    done = run_chain(repo, plan_of(repo))
    [plan] = done.plans
    cells = tuple(replace(cell, precision="pact") for cell in plan.cells)
    environment = {**done.environment, "cpu": {"flags": ["avx512_vnni"]}}
    return replace(done, plans=(replace(plan, cells=cells),), environment=environment)


def int8_finding(run: Run, judge: Callable[..., list[Finding]], int8: Any, simulated: Any) -> Finding:
    def edit(honest: Honest) -> None:
        honest.answers[f"{EVALUATION}/{INT8_ENGINE}"] = int8
        honest.answers[f"{SIMULATED} {EVALUATION}/{INT8_ENGINE}"] = simulated

    return next(one for one in judge(run, edit) if one.check == "TP305" and "noise" in one.message)


def sure(share: float) -> Any:
    """Answers that are as far away, with every decision as it was: the least likely classes move."""
    answers = ANSWERS.copy()
    lowest = answers.argmin(1)
    answers[np.arange(len(answers)), lowest] -= 4 * share * answers.std()
    return answers


def test_noise_that_the_engines_own_rounding_makes_is_no_failure(
    run: Run, judge: Callable[..., list[Finding]]
) -> None:
    int8 = sure(0.8)
    finding = int8_finding(run, judge, int8, int8)
    assert finding.status == PASS
    assert "it is the rounding" in finding.message


def test_without_instructions_for_int8_noise_is_not_certified(
    run: Run, judge: Callable[..., list[Finding]]
) -> None:
    """A limit that oneDNN was given counts as much as what the processor has."""
    limited = {"flags": ["avx512_vnni"], "onednn_limit": "AVX512_CORE"}
    without = replace(run, environment={**run.environment, "cpu": limited})
    assert int8_finding(without, judge, sure(0.8), ANSWERS).status == NOT_CERTIFIED


def test_noise_of_the_engines_own_rounding_passes_without_instructions_for_int8_as_well(
    run: Run, judge: Callable[..., list[Finding]]
) -> None:
    without = replace(run, environment={**run.environment, "cpu": {"flags": ["avx2"]}})
    int8 = sure(0.8)
    finding = int8_finding(without, judge, int8, int8)
    assert finding.status == PASS
    assert "it is the rounding" in finding.message


def test_noise_that_the_engines_own_rounding_does_not_make_fails(
    run: Run, judge: Callable[..., list[Finding]]
) -> None:
    finding = int8_finding(run, judge, sure(0.8), ANSWERS)
    assert finding.status == FAIL
    assert "from a simulation with the steps of onednn-int8" in finding.message


def test_a_network_whose_decisions_rounding_turns_is_not_certified_in_int8(
    run: Run, judge: Callable[..., list[Finding]]
) -> None:
    int8 = np.roll(ANSWERS, 1, axis=1)  # another class for every image
    finding = int8_finding(run, judge, int8, int8)
    assert (finding.status, finding.required) == (UNCHECKED, True), finding.message
    assert "turns the decisions" in finding.message


def answered(source: str, engine: str, values: Any) -> Answered:
    trial = Trial(source, engine, {}, Path("m"), Path("p"))
    return Answered(trial, {"y": np.array(values, "float32")})


@pytest.mark.parametrize(
    ("precision", "moved", "agrees"),
    [
        (PACT, 0.02, True),  # all that the two pictures of noise differ by, and little of what images do
        (PACT, 2.0, False),
        (FP32, 0.02, False),
    ],
)
def test_an_engine_is_held_to_what_images_make_of_a_quantised_network(
    precision: str, moved: float, agrees: bool
) -> None:
    images = answered(EVALUATION, NATIVE, [[1.0, -2.0], [-3.0, 2.0], [4.0, 0.0]])
    noise = answered(SEEDED, NATIVE, [[0.5, 0.1], [0.52, 0.12]])
    engine = answered(SEEDED, "onednn", np.array([[0.5, 0.1], [0.52, 0.12]]) + moved)
    scene: Any = SimpleNamespace(
        cell=SimpleNamespace(precision=precision), step=None, trials=lambda _step: (images, noise, engine)
    )
    found = likenesses(noise.outputs, engine.outputs, 2)
    compared = Compared(engine, found, INT8)
    assert compared.wrong is not None
    assert agrees_as_on_images(scene, compared) is agrees
