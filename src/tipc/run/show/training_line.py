"""What a training says about itself, in a few words: epoch, loss, speed, and how long it still takes.

Made for the forms of the known families; a log of another form shows its last line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_EPOCH = re.compile(r"[Ee]poch\W{0,3}(\d{1,9})(?:/(\d{1,9}))?")
_ITERATION = re.compile(r"(?:iter|Iter|global_step)\W{0,3}(\d{1,9})(?:/(\d{1,9}))?")
_LOSS = re.compile(rf"\b(?:CELoss|loss)\W{{1,3}}{_NUMBER}")
_SPEED = re.compile(rf"\b(?:avg_ips|ips)\W{{1,3}}{_NUMBER}\s*([a-z]+/s(?:ec)?)?")
_ETA = re.compile(r"\b(?:ETA|eta)\W{1,2}((?:\d+ days?, )?\d+:\d\d(?::\d\d)?)")
LEAST_DONE = 0.05  # of a training, before it tells how long the rest takes
# Warnings, rules, the lines of paddle's C++ (`I1118 03:47:11.183208 13699 …`) and of its launcher.
_NOISE = re.compile(r"[Ww]arn|^\s*$|^\s*[-=*~^]+\s*$|^[IWE]\d{4} \d\d:\d\d:|^LAUNCH INFO")
ROOM = 200  # columns


def training_line(lines: Sequence[str], elapsed: float = 0.0, room: int = ROOM) -> str:
    """``epoch 3/5 loss 1.204 14.1 images/s eta 0:09`` from the end of a log, else its last line.

    Where the log does not say how long it still takes, ``elapsed`` seconds for what is done tell. In less
    ``room`` the iteration is left out first, then the speed.
    """
    for line in reversed(lines):
        loss = _LOSS.search(line)
        if loss:
            return _fitting(_summary(line, loss[1], elapsed), room)
    for line in reversed(lines):
        if not _NOISE.search(line):
            return line.strip()
    return ""


def _summary(line: str, loss: str, elapsed: float) -> dict[str, str]:
    """What a line of the log tells, by its kind."""
    told = {}
    epoch, iteration = _EPOCH.search(line), _ITERATION.search(line)
    if epoch:
        told["epoch"] = "epoch " + _of(epoch)
    if iteration:
        told["iter"] = "iter " + _of(iteration)
    told["loss"] = f"loss {float(loss):.4g}"
    speed = _SPEED.search(line)
    if speed:
        told["speed"] = f"{float(speed[1]):.4g} {speed[2] or '/s'}"
    eta = _ETA.search(line)
    if eta:
        told["eta"] = f"eta {eta[1]}"
    else:
        told["eta"] = _expected(_done(epoch, iteration), elapsed)
    return told


def _fitting(told: dict[str, str], room: int) -> str:
    """As much as there is room for; how long it still takes is what people look for."""
    spare = ["speed", "loss"]
    if "epoch" in told:
        spare.insert(0, "iter")
    while True:
        line = " ".join(filter(None, told.values()))
        if len(line) <= room or not spare:
            return line
        told.pop(spare.pop(0), None)


def _done(epoch: re.Match[str] | None, iteration: re.Match[str] | None) -> float:
    """The share of the training that is done; 0 where the line does not tell."""
    inside = 0.0
    if iteration and iteration[2] and int(iteration[2]):
        inside = min(1.0, int(iteration[1]) / int(iteration[2]))
    if not epoch:
        return inside
    if not epoch[2] or not int(epoch[2]):
        return 0.0
    return min(1.0, (max(int(epoch[1]) - 1, 0) + inside) / int(epoch[2]))


def _expected(done: float, elapsed: float) -> str:
    """How long the rest takes if it goes on like this; nothing as long as hardly anything is done."""
    if not LEAST_DONE <= done < 1 or elapsed <= 0:
        return ""
    left = round(elapsed * (1 - done) / done)
    return f"eta ~{left // 60}:{left % 60:02d}"


def _of(found: re.Match[str]) -> str:
    if not found[2]:
        return found[1]
    return f"{found[1]}/{found[2]}"
