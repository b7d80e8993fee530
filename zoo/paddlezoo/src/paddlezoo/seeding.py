"""Random numbers as a function of where training is, so that a resumed run draws what an uninterrupted one
draws.
"""

from __future__ import annotations

import random

import numpy as np


def seed_at(seed: int, step: int = 0, rank: int = 0) -> None:
    """Seed python, numpy and paddle for one place in training (an epoch or an iteration) and one process.

    Called at the start of every epoch (or iteration) it makes saved generator states needless: the state
    depends only on the arguments.
    """
    import paddle

    number = int(np.random.SeedSequence([seed, step, rank]).generate_state(1)[0])
    random.seed(number)
    np.random.seed(number)
    paddle.seed(number)


def generator(*place: int) -> np.random.Generator:
    """A generator of its own for one sample, e.g. (seed, epoch, index): the same in whichever worker it is
    read.
    """
    return np.random.default_rng(list(place))
