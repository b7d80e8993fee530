"""Student's t distribution, exactly: how many standard deviations are exceeded with so small a chance."""

from __future__ import annotations

import math
from functools import lru_cache

_STEPS = 300  # of the continued fraction; a few dozen are enough for every freedom from 0.5 on
_TINY = 1e-300


@lru_cache(maxsize=4096)
def quantile(chance: float, freedom: float) -> float:
    """The t that is exceeded with this chance (one-sided, below one half), by bisection of the tail.

    The freedom need not be a whole number: the spreads of ``history.spread`` have fractions. Below 1 it is
    taken as 1: a spread that is known by less than two values is not known.
    """
    assert 0 < chance <= 0.5, chance
    freedom = max(freedom, 1.0)
    low, high = 0.0, 1.0
    while tail(high, freedom) > chance:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if tail(middle, freedom) > chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def tail(t: float, freedom: float) -> float:
    """The chance that Student's t exceeds a value of at least 0."""
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    # The fraction converges fast on this side of the mean only; the function is symmetric.
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's method for 1 / (1 + d1 / (1 + d2 / …)) with the coefficients of incomplete beta."""
    ratio, inverse = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = inverse
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for coefficient in (even, odd):
            inverse = 1 / _not_zero(1 + coefficient * inverse)
            ratio = _not_zero(1 + coefficient / ratio)
            value *= ratio * inverse
        if abs(value - before) <= 1e-15 * abs(value):
            break
    return value


def _not_zero(number: float) -> float:
    if abs(number) <= _TINY:
        return _TINY
    return number
