"""The claims of ``proofs/above_threshold.md``, by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpselect.accounting import BoundedRangeEvent, LossIntervalEvent, PureEvent, compose
from dpselect.accounting.divergence import renyi
from tests.reference import above_threshold as model


@pytest.mark.parametrize("root", [1, 2])
@pytest.mark.parametrize("leads", [[0], [-2, 1], [2, -1, 1], [-1, 3]])
def test_the_law_is_that_of_its_definition(leads: list[int], root: int) -> None:
    """Offsets and noises summed on a fine grid, where the model integrates."""
    exact = model.law(leads, root=root)
    assert sum(exact.values()) == 1
    v = ((np.arange(20_000) + 0.5) / 20_000) ** (1.0 / root)
    still, chances = np.ones_like(v), []
    for lead in leads:
        above = np.minimum(1.0, 2.0**lead * v)
        chances.append(float(np.mean(still * above)))
        still *= 1.0 - above
    first = {(-1,) * place + (0,): chance for place, chance in enumerate(chances)}
    for answers, chance in first.items():
        assert float(exact[answers]) == pytest.approx(chance, abs=1e-4)


@pytest.mark.parametrize("root", [1, 2])
@pytest.mark.parametrize("kind", ["any", "up"])
def test_one_positive(kind: str, root: int) -> None:
    """No more is lost than claimed, in either direction, and as much as claimed."""
    found = model.worst_losses(kind, queries=3, highest=1, root=root)
    assert tuple(map(math.log2, found)) == model.claimed(kind, positives=1, root=root)


@pytest.mark.parametrize("kind", ["any", "up"])
def test_two_positives(kind: str) -> None:
    found = model.worst_losses(kind, queries=3, highest=1, positives=2)
    assert tuple(map(math.log2, found)) == model.claimed(kind, positives=2, root=1)


def test_the_claims_above_can_fail() -> None:
    """A fresh offset after each no, and an answer more than was paid for, lose more than what is claimed."""
    lost = []
    for n in (1, 4, 8):
        here, there = (model.law([lead] * n, fresh=True)[(-1,) * n] for lead in (-1, 0))
        lost.append(math.log2(here / there))
    assert lost[0] <= 2 < lost[1] < lost[2]
    paid = model.claimed("any", positives=1, root=1)
    assert math.log2(model.worst_losses("any", queries=3, highest=1, positives=2)[1]) > paid[1]


def two_losses(below: float, above: float) -> tuple[float, float]:
    """Probabilities of the losses ``above`` and ``-below`` under the first law."""
    chance = -math.expm1(-below) / -math.expm1(-below - above)
    return chance, 1.0 - chance


def exact_delta(runs: int, below: float, above: float, epsilon: float) -> float:
    """Of so many runs of the pair, by the binomial law."""
    p, q = two_losses(below, above)
    return math.fsum(
        math.comb(runs, up)
        * p**up
        * q ** (runs - up)
        * max(0.0, -math.expm1(epsilon - up * above + (runs - up) * below))
        for up in range(runs + 1)
    )


@pytest.mark.parametrize(("below", "above"), [(0.05, 0.1), (0.1, 0.05), (0.1, 0.1), (0.3, 0.01)])
@pytest.mark.parametrize("runs", [1, 10, 100])
def test_composition_is_that_of_the_pair(below: float, above: float, runs: int) -> None:
    """Never less than the worse direction, and with the recursion hardly more."""
    total = compose([LossIntervalEvent(below=below, above=above)] * runs, tight=True)
    for epsilon in (0.0, 0.2 * max(below, above) * runs, 0.7 * max(below, above) * runs):
        exact = max(exact_delta(runs, below, above, epsilon), exact_delta(runs, above, below, epsilon))
        assert exact <= total.delta(epsilon) * (1 + 1e-12) <= 1.1 * exact + 1e-3
    assert (
        total.epsilon(1e-6) <= compose([PureEvent(epsilon=max(below, above))] * runs, tight=True).epsilon(1e-6) + 0.02
    )
    wide = compose([BoundedRangeEvent(epsilon=below + above)] * runs, work=0)  # without the exact recursion
    assert total.rho <= wide.rho * (1 + 1e-12)
    assert compose([LossIntervalEvent(below=below, above=above)] * runs).epsilon(1e-6) <= wide.epsilon(1e-6)


def test_directions_are_not_mixed_up() -> None:
    """Runs in both directions: the total is between that of all alike and that of the pair that covers both."""
    one, other = LossIntervalEvent(below=0.05, above=0.1), LossIntervalEvent(below=0.1, above=0.05)
    assert one.mirrored == other
    mixed = compose([one, other] * 20, tight=True, work=2e7)
    p, q = two_losses(0.05, 0.1)
    r, s = two_losses(0.1, 0.05)
    exact = math.fsum(
        math.comb(20, i)
        * p**i
        * q ** (20 - i)
        * math.comb(20, j)
        * r**j
        * s ** (20 - j)
        * max(0.0, -math.expm1(0.8 - (0.1 * i - 0.05 * (20 - i) + 0.05 * j - 0.1 * (20 - j))))
        for i in range(21)
        for j in range(21)
    )
    assert exact <= mixed.delta(0.8) <= 1.05 * exact


@pytest.mark.parametrize(("below", "above"), [(0.05, 0.1), (1.0, 0.5), (1e-7, 2e-7), (30.0, 1e-3)])
def test_divergences_are_those_of_the_pair(below: float, above: float) -> None:
    from mpmath import mp, mpf

    orders = np.array([1.001, 2.0, 7.5, 300.0])
    with mp.workdps(60):
        b, c = mpf(below), mpf(above)
        p = (mp.exp(b) - 1) / (mp.exp(b) - mp.exp(-c))
        for order, found in zip(
            orders, renyi(LossIntervalEvent, [np.array(below), np.array(above)], orders), strict=True
        ):
            a = mpf(float(order))
            exact = mp.log(p * mp.exp((a - 1) * c) + (1 - p) * mp.exp(-(a - 1) * b)) / (a - 1)
            assert exact <= found <= exact * (1 + mpf("1e-6")) + mpf("1e-13") * c
