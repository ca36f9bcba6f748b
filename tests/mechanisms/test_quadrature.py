"""Nodes and weights of quadrature against forty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpselect.mechanisms.numbers import gauss_legendre

COUNTS = [*range(1, 21), 24]


def exact(start: np.ndarray) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """The roots of the Legendre polynomial near `start`, and the weights that go with them."""
    count = start.size
    roots = [mp.findroot(lambda x: mp.legendre(count, x), mp.mpf(float(2 * each - 1))) for each in start]
    slopes = [
        count * (x * mp.legendre(count, x) - mp.legendre(count - 1, x)) / (x * x - 1) if count > 1 else mp.mpf(1)
        for x in roots
    ]
    weights = [1 / ((1 - x * x) * slope**2) for x, slope in zip(roots, slopes, strict=True)]
    return [(1 + x) / 2 for x in roots], weights


def worst(computed: np.ndarray, right: list[mp.mpf]) -> float:
    return max(float(abs(mp.mpf(float(c)) / r - 1)) for c, r in zip(computed, right, strict=True))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("count", COUNTS)
def test_nodes_and_weights_are_right_to_twelve_digits(count: int) -> None:
    rule = gauss_legendre(count)
    with mp.workdps(40):
        nodes, weights = exact(rule.nodes)
        assert worst(rule.nodes, nodes) < 5e-14
        assert worst(rule.weights, weights) < 3e-13
    assert np.all(np.diff(rule.nodes, prepend=0.0, append=1.0) > 0.0)  # so no root was found twice


def test_the_comparison_can_fail() -> None:
    rule = gauss_legendre(20)
    with mp.workdps(40):
        nodes, weights = exact(rule.nodes)
        assert worst(rule.nodes + 1e-13, nodes) > 5e-14
        assert worst(rule.weights.astype(np.float32), weights) > 3e-13


@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_polynomials_up_to_degree_twice_the_nodes_less_one_are_integrated(count: int) -> None:
    rule = gauss_legendre(count)
    for degree in range(2 * count):
        assert rule.weights @ rule.nodes**degree == pytest.approx(1.0 / (degree + 1), rel=1e-14)
    assert rule.weights @ rule.nodes ** (2 * count) < 1.0 / (2 * count + 1)


def test_a_shared_rule_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        gauss_legendre(5).nodes[0] = 0.0
