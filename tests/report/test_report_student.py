"""Student's quantiles against the values of printed tables, and against the distribution itself."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.report.history.student import incomplete_beta, quantile, tail

# One-sided chance, degrees of freedom, t: from printed tables, three digits behind the point.
TABLE = (
    (0.10, 1, 3.078),
    (0.05, 1, 6.314),
    (0.005, 1, 63.657),
    (0.001, 1, 318.309),
    (0.05, 2, 2.920),
    (0.005, 2, 9.925),
    (0.001, 2, 22.327),
    (0.0005, 2, 31.599),
    (0.05, 3, 2.353),
    (0.001, 3, 10.215),
    (0.0005, 3, 12.924),
    (0.001, 4, 7.173),
    (0.001, 5, 5.893),
    (0.05, 10, 1.812),
    (0.005, 10, 3.169),
    (0.001, 20, 3.552),
    (0.0005, 30, 3.646),
    (0.001, 120, 3.160),
)


@pytest.mark.parametrize(("chance", "freedom", "value"), TABLE)
def test_the_quantiles_are_those_of_the_tables(chance: float, freedom: float, value: float) -> None:
    assert math.isclose(quantile(chance, freedom), value, abs_tol=6e-4)


def test_two_degrees_of_freedom_have_a_closed_form() -> None:
    for chance in (0.2, 0.01, 1e-4, 1e-6):
        p = 1 - chance
        exact = (2 * p - 1) * math.sqrt(2 / (1 - (2 * p - 1) ** 2))
        assert math.isclose(quantile(chance, 2), exact, rel_tol=1e-9)


def integrated_tail(t: float, freedom: float) -> float:
    """The chance beyond t by Simpson's rule over the density, with t = sqrt(freedom) * tan(angle)."""
    count = 4000
    first, last = math.atan(t / math.sqrt(freedom)), math.pi / 2
    width = (last - first) / count
    total = 0.0
    for number in range(count + 1):
        weight = 1 if number in (0, count) else 2 + 2 * (number % 2)
        total += weight * max(math.cos(first + number * width), 0.0) ** (freedom - 1)
    constant = math.gamma((freedom + 1) / 2) / (math.gamma(freedom / 2) * math.sqrt(math.pi))
    return constant * total * width / 3


@pytest.mark.parametrize("freedom", [2, 2.67, 3.33, 4.5, 7 * 0.37, 12.5])
@pytest.mark.parametrize("chance", [0.05, 0.002, 0.0005])
def test_fractions_of_degrees_of_freedom_are_exact_too(freedom: float, chance: float) -> None:
    found = integrated_tail(quantile(chance, freedom), freedom)
    assert math.isclose(found, chance, rel_tol=1e-6)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    for chance in (0.3, 0.01, 0.0005):
        assert math.isclose(quantile(chance, 1e7), NormalDist().inv_cdf(1 - chance), rel_tol=1e-5)


@given(st.floats(1e-7, 0.499), st.floats(1, 500))
def test_the_quantile_is_the_inverse_of_the_tail(chance: float, freedom: float) -> None:
    assert math.isclose(tail(quantile(chance, freedom), freedom), chance, rel_tol=1e-6)


@given(st.floats(0.2, 50), st.floats(0.2, 50), st.floats(0, 1))
def test_the_incomplete_beta_function_is_symmetric(a: float, b: float, x: float) -> None:
    x = 1 - (1 - x)  # else 1 - x is rounded, and the two sides are not asked about the same place
    assert math.isclose(incomplete_beta(a, b, x), 1 - incomplete_beta(b, a, 1 - x), abs_tol=1e-9)


def test_fewer_degrees_of_freedom_ask_for_more() -> None:
    values = [quantile(0.001, freedom) for freedom in (1, 2, 2.67, 4, 8, 16, 64)]
    assert values == sorted(values, reverse=True)
