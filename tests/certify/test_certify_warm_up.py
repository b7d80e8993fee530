"""A few steps at the beginning of a warm-up, as detectors are trained with PACT: most of what is honest there
is too small for 32 bits, and what is not honest is found all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from certify_paddle_repo import make_paddle_repo, write_config
from certify_plain_repo import edit

pytestmark = [pytest.mark.paddle, pytest.mark.xdist_group("certify_paddle")]

# Paddle's own quantisers, whose statistics look trainable after the first call; clips of 100 that no gradient
# reaches and weight decay moves; a head that begins with zeros, so that the layers below it have next to no
# gradient, and two tensors none to speak of before the last step; a rate that begins with 0; an average that
# begins with zeros and is corrected by the last of several decays.
TRAIN = """
import argparse, os
import paddle
from paddle import nn
from paddle.quantization import ImperativeQuantAware

parser = argparse.ArgumentParser()
parser.add_argument("--output-dir")
args, _others = parser.parse_known_args()


class Clip(nn.Layer):
    def __init__(self):
        super().__init__()
        attr = paddle.ParamAttr(initializer=nn.initializer.Constant(100.0), learning_rate=1000.0)
        self.alpha = self.create_parameter([1], attr=attr)

    def forward(self, x):
        return x - nn.functional.relu(x - self.alpha) + nn.functional.relu(-self.alpha - x)


paddle.seed(1)
layers = []
for place in range(8):
    layers += [nn.Conv2D(8 if place else 3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU()]
zero = paddle.ParamAttr(initializer=nn.initializer.Constant(0.0))
model = nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 3, weight_attr=zero))
model.late, model.later = [model.create_parameter([8], is_bias=True) for _ in range(2)]
ImperativeQuantAware(
    weight_quantize_type="channel_wise_abs_max",
    activation_quantize_type="moving_average_abs_max",
    act_preprocess_layer=Clip,
).quantize(model)
model.train()
rate = paddle.optimizer.lr.LinearWarmup(1e-4, 1000, 0.0, 1e-4)
decay = paddle.regularizer.L2Decay(5e-4)
given = [item for item in model.parameters() if not item.stop_gradient]
optimiser = paddle.optimizer.Momentum(rate, parameters=given, weight_decay=decay)
average = {name: paddle.zeros_like(value) for name, value in model.state_dict().items()}
for step in range(4):
    logits = model(paddle.rand([4, 3, 16, 16]))
    loss = nn.functional.cross_entropy(logits, paddle.to_tensor([0, 1, 2, step % 3]))
    loss += model.late.sum() * (1e-4 if step == 3 else 1e-15)
    loss += model.later.sum() * (0.1 if step == 3 else 0.0)
    loss.backward()
    optimiser.step()
    optimiser.clear_grad()
    rate.step()
    share = (1 + step) / (10 + step)
    for name, value in model.state_dict().items():
        average[name] = share * average[name] + (1 - share) * value.detach()
average = {name: value / (1 - share**4) for name, value in average.items()}
os.makedirs(args.output_dir, exist_ok=True)
paddle.save(average, args.output_dir + "/latest.pdparams")
"""
OPTIMISER = "optimiser = paddle.optimizer.Momentum("
SAVE = "os.makedirs("
BY_HAND = """
class Mine(paddle.optimizer.Momentum):
    def step(self):
        {step}

"""
Edits = list[tuple[str, str]]
LIES: dict[str, tuple[Edits, str, str]] = {
    "a rate of 0, while the quantisers' statistics move": (
        [("Momentum(rate", "Momentum(0.0")],
        "TT901",
        "no weight has changed",
    ),
    "an optimiser that moves one tensor by hand": (
        [
            (
                OPTIMISER,
                BY_HAND.format(step="given[2].set_value(given[2].numpy() * 0.99)") + "optimiser = Mine(",
            )
        ],
        "TT901",
        "tensors that had a gradient are as they were",
    ),
    "an optimiser that moves the clips by hand, and the rest by less than rounding": (
        [
            (
                OPTIMISER,
                BY_HAND.format(
                    step="super().step()\n        for item in given:\n            if item.shape == [1]:\n"
                    "                item.set_value(item.numpy() * 0.99)"
                )
                + "optimiser = Mine(",
            )
        ],
        "TT901",
        "tensors that had a gradient are as they were",
    ),
    "noise of a hundredth in the file": (
        [
            (
                SAVE,
                "average = {name: value * (1 + 0.01 * paddle.randn(value.shape)) for name, value in "
                "average.items()}\n" + SAVE,
            )
        ],
        "TT902",
        "lie off the way",
    ),
}


def findings_of(tmp_path: Path, edits: Edits) -> dict[str, tuple[str, str]]:
    """Status and message of what is found of the training alone, by check."""
    repo = make_paddle_repo(tmp_path)
    (repo / "train.py").write_text(TRAIN)
    for old, new in edits:
        edit(repo, "train.py", old, new)
    config = write_config(repo, "pact", "int8")
    for line in ("eval:train.py --test-only", "norm_export:tools/export_model.py"):
        edit(repo, config, line, line.partition(":")[0] + ":null")
    env = {**os.environ, "FLAGS_enable_pir_api": "0", "TIPC_HOME": str(repo / ".tipc")}
    command = [sys.executable, "-m", "tipc", "run", config]
    done = subprocess.run(
        command, cwd=repo, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    paths = sorted(repo.glob(".tipc/runs/*/verdict.json"))
    assert paths, done.stdout + done.stderr
    findings = json.loads(paths[-1].read_text())["findings"]
    return {one["check"]: (one["status"], one["message"]) for one in findings}


def test_steps_that_rounding_swallows_and_their_averages_are_a_training(tmp_path: Path) -> None:
    found = findings_of(tmp_path, [])
    assert [found["TT901"][0], found["TT902"][0]] == ["pass", "pass"], found


def test_averages_of_weights_that_hardly_moved_are_no_other_networks(tmp_path: Path) -> None:
    """What rounding does to an average is far more than the way, where no clip goes by weight decay."""
    slower = [("1e-4, 1000, 0.0, 1e-4", "1e-6, 1000, 0.0, 1e-6"), ("5e-4", "0.0"), (", weight_attr=zero", "")]
    found = findings_of(tmp_path, slower)
    assert [found["TT901"][0], found["TT902"][0]] == ["unchecked", "pass"], found


@pytest.mark.parametrize("name", LIES)
def test_what_only_looks_like_small_steps_is_found(name: str, tmp_path: Path) -> None:
    edits, check, cause = LIES[name]
    status, message = findings_of(tmp_path, edits)[check]
    assert status in {"fail", "unchecked"}, message
    assert cause in message
