"""An upper bound with a quarter of epsilon, and then the quantile below it."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import PrivateBoundsMechanism, QuantileMechanism
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import unbounded_quantile
from dpselect.privacy import Neighbours
from tests.laws.goodness_of_fit import NEVER, p_value

VALUES = [0.0, 1.0, 1.0, 2.0, 3.0, 7.0, 7.0, 9.0]


def made(**changed: Any) -> PrivateBoundsMechanism:
    return PrivateBoundsMechanism(**{"epsilon": 1.0, "level": 0.5, "step": 1, **changed})


def law(mechanism: PrivateBoundsMechanism, values: list[float], points: int) -> np.ndarray:
    """Of the first so many answers, and of all others together: over the bounds that are likely."""
    of_bound, found = mechanism.bound.pmf(values), np.zeros(points + 1)
    of_bound[1] += of_bound[0]
    for place, chance in enumerate(of_bound.tolist()):
        if place == 0 or chance < 1e-12:
            continue
        bound = 2 ** (place - 1)
        if bound > 10**6:
            found[-1] += chance
            continue
        second = QuantileMechanism(
            epsilon=mechanism.epsilon * 0.75,
            level=mechanism.level,
            bounds=(0, bound),
            step=1,
            neighbours=mechanism.neighbours,
            values_per_unit=mechanism.values_per_unit,
        ).pmf(values)
        found[: min(points, second.size)] += chance * second[:points]
        found[-1] += chance * second[points:].sum()
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("level", [0.5, 1.0])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_draws_have_the_law(level: float, neighbours: Neighbours) -> None:
    mechanism = made(level=level, neighbours=neighbours, epsilon=4.0)
    points = 12
    drawn = np.minimum([mechanism.draw(VALUES) for _ in range(1200)], points).astype(int)
    tally = np.bincount(drawn, minlength=points + 1)
    expected = law(mechanism, VALUES, points)
    # Bounds beyond a million are taken to give an answer beyond all points; they are that rare.
    assert p_value(tally, expected / expected.sum()) > NEVER
    other = law(made(level=level, neighbours=neighbours, epsilon=1.5), VALUES, points)
    assert p_value(tally, other / other.sum()) < NEVER


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1 / 3, 1.0, 7.7])
def test_both_draws_together_cost_epsilon(epsilon: float) -> None:
    mechanism = made(epsilon=epsilon)
    parts = Fraction(mechanism.bound.epsilon) + Fraction(mechanism._below(3).epsilon)
    assert Fraction(epsilon) * (1 - Fraction(1, 10**12)) <= parts <= Fraction(epsilon)
    assert mechanism.bound.epsilon == epsilon / 4
    assert mechanism.event.epsilon == epsilon


def test_both_draws_are_for_the_same_units() -> None:
    mechanism = made(neighbours="replace_one", values_per_unit=3, lower=5, level=1.0)
    for part in (mechanism.bound, mechanism._below(4)):
        assert part.neighbours is Neighbours.REPLACE_ONE
        assert part.values_per_unit == 3
    assert mechanism._below(4).bounds == (5.0, 13.0)
    assert mechanism._below(51).step == 1.0  # the largest grid there is


@pytest.mark.parametrize("step", [1, 0.01, None])
def test_without_noise_it_is_the_quantile(step: float | None) -> None:
    mechanism = made(epsilon=1e5, step=step)
    assert mechanism.draw(np.arange(1001) / 10) == pytest.approx(50.0, abs=0.2)
    assert made(epsilon=1e5, step=step, lower=-100).draw([-20.0] * 5 + [-30.0, -10.0]) == pytest.approx(-20.0, abs=10.0)
    assert made(epsilon=1e5, level=0.9, step=step).draw(np.arange(1001) * 1e6) == pytest.approx(9e8, rel=2e-3)


def test_all_values_at_the_lower_bound() -> None:
    assert made(epsilon=1e5).draw([0.0, -4.0, 0.0]) == 0.0
    assert 0.0 <= made(epsilon=1e5).draw([]) <= 1.0


def test_an_error_bound_that_holds() -> None:
    rng = np.random.default_rng(5)
    for level in (0.5, 0.95, 1.0):
        mechanism = made(level=level, epsilon=1.0)
        values = np.round(rng.lognormal(3, 1, 600))
        bound = mechanism.error_bound(0.9)
        assert bound is not None
        far = 0
        for _ in range(200):
            answer = mechanism.draw(values)
            low, high = (values < answer).sum(), (values <= answer).sum()
            far += max(low - level * 600, level * 600 - high) > bound
        assert far < 70  # 20 at most are expected
    assert made(step=None).error_bound() is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0"),
        ({"level": -1}, "level=-1"),
        ({"level": math.nan}, "level=nan"),
        ({"step": 0}, "step=0"),
        ({"step": Fraction(1, 3)}, "step=<Fraction>"),
        ({"lower": math.inf}, "lower=inf"),
        ({"step": 1e-3, "lower": 1e15}, "step=0.001"),
        ({"values_per_unit": 0}, "values_per_unit=0"),
        ({"neighbours": "twins"}, "neighbours='twins'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        made(**arguments)
    assert str(raised.value).startswith(named)


def test_bad_values_draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> int:
        raise AssertionError("drawn")

    monkeypatch.setattr(unbounded_quantile, "one_sided", none)
    with pytest.raises(InvalidDataError):
        made().draw([1.0, math.nan])


def test_it_is_a_value() -> None:
    mechanism = made(level=0.25, step=0.5, lower=10)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
