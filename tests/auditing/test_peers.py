"""Other people's methods are measured fairly: they find what they can, their bounds hold, their networks learn."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import audit_methods
from benchmarks.audit_methods import METHODS, Network, divergence_slopes
from benchmarks.audit_peers import drawn

from tests.auditing.broken import BROKEN
from tests.auditing.cases import Case
from tests.auditing.right import RIGHT

CASES = {case.what: case for case in [*BROKEN, *RIGHT]}


def _bound(method: str, what: str, draws: int, claim: float = 1.0) -> float:
    case: Case = CASES[what]
    return METHODS[method](*drawn(case, 1, draws), claim, case.delta, 0.001, 1)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_finds_what_it_can(method: str) -> None:
    what = "noisy sum over true count" if method == "DP-Sniper, bits" else "clipped after the noise"
    assert _bound(method, what, 6000) >= 1


@pytest.mark.parametrize("method", METHODS)
def test_a_bound_is_not_above_the_truth(method: str) -> None:
    """Half the scale is epsilon = 2 exactly."""
    assert _bound(method, "half the scale", 12_000, claim=0.5) <= 2
    assert _bound(method, "geometric noise", 4000) <= 1


def test_the_regression_finds_noise_that_is_too_small() -> None:
    """Control of the one before."""
    assert _bound("DP-Sniper, regression", "half the scale", 12_000) > 1.2


@pytest.mark.parametrize("tanh", [True, False])
def test_slopes_are_those_of_the_divergence(tanh: bool) -> None:
    rng = np.random.default_rng(1)
    rows, network = rng.normal(size=(40, 3)), Network([3, 6, 5, 1], 2, tanh=tanh)
    for weight in network.weights:  # away from the kinks of max(0, x)
        weight += 0.1 * rng.normal(size=weight.shape)

    def loss() -> float:
        first, second = np.split(audit_methods.LARGEST * np.tanh(network.of(rows)), 2)
        order = audit_methods.ORDER
        up, down = np.exp((order - 1) * first).mean(), np.exp(order * second).mean()
        return float(np.log(down) - order / (order - 1) * np.log(up))

    for weight, slope in zip(network.weights, network.slopes(rows, divergence_slopes), strict=True):
        at = tuple(rng.integers(each) for each in weight.shape)
        before, small = weight[at], 1e-6
        ends = []
        for change in (small, -small):
            weight[at] = before + change
            ends.append(loss())
        weight[at] = before
        assert slope[at] == pytest.approx((ends[0] - ends[1]) / (2 * small), rel=1e-4, abs=1e-7)
