"""The claims of ``proofs/private_candidates.md``, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpselect.accounting import ApproximateEvent, BoundedRangeEvent, ComposedEvent, PrivateCandidatesEvent, compose
from dpselect.accounting.events import expected_runs
from dpselect.mechanisms.best_of_runs import candidates_epsilon
from tests.reference import private_candidates as model

HALF, TWO = Fraction(1, 2), Fraction(2)


def test_the_law_is_that_of_its_definition() -> None:
    run = [Fraction(1, 6), Fraction(1, 3), HALF]
    for counts in ([Fraction(0), HALF, Fraction(1, 4), Fraction(1, 4)], [HALF, Fraction(0), HALF]):
        assert model.best(run, counts) == model.best_by_enumeration(run, counts)
        assert sum(model.best(run, counts)) == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("eta", [0, 1])
@pytest.mark.parametrize("stop", [HALF, Fraction(1, 5)])
def test_the_cost_is_exact(eta: int, stop: Fraction) -> None:
    """Never more than claimed, also with a cap, and almost as much; and the closed form is the largest ratio."""
    long = model.runs(Fraction(eta), stop, 80)
    closed = model.exp_closed(eta, stop, TWO)
    assert model.exp_cost(long, TWO) == pytest.approx(float(closed), rel=1e-6)
    worst = model.exp_worst(long, TWO, sliver=Fraction(1, 10**6), steps=30)
    assert worst <= closed
    assert math.log(worst) >= 0.99 * math.log(closed)
    for cap in (1, 2, 5):
        assert model.exp_cost(model.runs(Fraction(eta), stop, cap), TWO) <= closed
    event = PrivateCandidatesEvent(epsilon=math.log(2), eta=eta, gamma=float(stop))
    assert math.log(closed) <= event.epsilon * (1 + 1e-15) <= math.log(closed) * (1 + 1e-9)
    assert event.epsilon < (2 + eta) * math.log(2)


def test_a_known_number_of_runs_costs_all_of_them() -> None:
    """The control: it is the secret that makes runs cheap."""
    fixed = [Fraction(0)] * 8 + [Fraction(1)]
    assert model.exp_cost(fixed, TWO) == TWO**8
    worst = model.exp_worst(fixed, TWO, sliver=Fraction(1, 10**6), steps=300)
    assert math.log2(worst) > 7


def stick(here: np.ndarray, there: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum())


def truncated(x: np.ndarray, eta: float, gamma: float) -> np.ndarray:
    """f of the truncated negative binomial law."""
    left = np.log1p(-(1.0 - gamma) * np.minimum(x, 1.0))
    return left / math.log(gamma) if eta == 0 else np.expm1(-eta * left) / math.expm1(-eta * math.log(gamma))


def test_runs_with_a_delta_of_their_own() -> None:
    """Claim 3 for random pairs of runs: the profile of the best is below the bound, which is nearly reached."""
    random, closest = np.random.default_rng(5), 0.0
    for _ in range(150):
        size = int(random.integers(2, 6))
        here, there = random.dirichlet(np.full(size, 0.6)), random.dirichlet(np.full(size, 0.6))
        there = 0.7 * here + 0.3 * there
        eta, gamma = float(random.choice([0.0, 0.5, 1.0])), float(random.choice([0.05, 0.3]))

        def profile(epsilon: float, here: np.ndarray = here, there: np.ndarray = there) -> float:
            return max(stick(here, there, epsilon), stick(there, here, epsilon))

        grid = np.linspace(0.0, 3.0, 301)
        second = min(max(e, math.log1p((1 - gamma) * profile(e) / gamma)) for e in grid)
        laws = [np.diff(truncated(np.concatenate([[0.0], np.cumsum(q)]), eta, gamma)) for q in (here, there)]
        for epsilon in (0.1, 0.5, 1.5, 3.0):
            bound = expected_runs(eta, gamma) * profile(max(0.0, epsilon - (1 + eta) * second))
            if epsilon < (1 + eta) * second:
                continue
            found = max(stick(*laws, epsilon), stick(laws[1], laws[0], epsilon))
            assert found <= bound + 1e-12
            closest = max(closest, found / bound if bound > 1e-6 else 0.0)
    assert closest > 0.05


@pytest.mark.sampled(1)
@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0])
def test_the_accountant_follows_the_claim(eta: float) -> None:
    run = ComposedEvent(event=BoundedRangeEvent(epsilon=0.05), count=100)
    gamma, delta = 0.1, 1e-6
    found = candidates_epsilon(run, eta=eta, gamma=gamma, delta=delta)
    alone = compose([run])
    first = alone.epsilon(delta / expected_runs(eta, gamma))
    seconds = [max(e, math.log1p((1 - gamma) * alone.delta(e) / gamma)) for e in np.linspace(0.2, 2.0, 60)]
    assert found <= first + (1 + eta) * min(seconds) + 1e-9
    assert found >= first + (1 + eta) * 0.9 * min(seconds)
    assert found < PrivateCandidatesEvent(epsilon=run.epsilon, eta=eta, gamma=gamma).epsilon
    hopeless = ApproximateEvent(epsilon=0.5, delta=1e-6)
    assert candidates_epsilon(hopeless, eta=eta, gamma=gamma, delta=1e-6) == math.inf
