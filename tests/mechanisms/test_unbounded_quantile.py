"""Quantiles without an upper bound: the product's draw against the model's law."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.grids import growing_grid
from dpselect.mechanisms import UnboundedQuantileMechanism, above_threshold
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import unbounded_quantiles as model
from tests.reference.precision import exponential as exp
from tests.slow import SLOW

LEVELS = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0]
VALUES = [0.0, 1.0, 1.0, 2.5, 3.0, 7.0, 7.0, 40.0]


def made(**changed: Any) -> UnboundedQuantileMechanism:
    return UnboundedQuantileMechanism(**{"epsilon": 1.0, "level": 0.5, "step": 1, **changed})


def exact_law(mechanism: UnboundedQuantileMechanism, values: list[float], tested: int) -> list[float]:
    """Of the first so many candidates and of all others together, by the model."""
    share = Fraction(str(mechanism.level))
    places = tuple((int(np.searchsorted(mechanism.candidates, value)),) for value in values)
    reached = model.scores(places, tested, level=share)
    rates = (Fraction(rate) / (share.denominator * mechanism.values_per_unit) for rate in mechanism._rates)
    first, second = (exp(-rate).limit_denominator(10**12) for rate in rates)
    return [float(chance) for chance in model.law(reached, first=first, second=second)]


@pytest.mark.parametrize("level", [0.0, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.7, 3.0])
def test_the_pmf_is_the_models(level: float, neighbours: str, epsilon: float) -> None:
    mechanism = made(level=level, neighbours=neighbours, epsilon=epsilon, growth=2)
    tested = 7
    expected = exact_law(mechanism, VALUES, tested)
    found = mechanism.pmf(VALUES)
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found[:tested], expected[:tested], rtol=1e-8)
    assert found[tested:].sum() == pytest.approx(expected[-1], rel=1e-8)


@pytest.mark.parametrize(("level", "most"), [(0.1, 1), (0.9, 1), (1.0, 3)] if SLOW else [(0.9, 1)])
def test_draws_have_the_law(level: float, most: int) -> None:
    mechanism = made(level=level, epsilon=2.0, values_per_unit=most)
    law = mechanism.pmf(VALUES)
    drawn = [mechanism.draw(VALUES) for _ in range(3000 if SLOW else 1000)]
    tally = np.bincount(np.searchsorted(mechanism.candidates, drawn), minlength=law.size)
    assert p_value(tally, law) > NEVER
    other = made(level=level, epsilon=0.5, values_per_unit=most).pmf(VALUES)
    assert p_value(tally, other) < NEVER


@pytest.mark.slow
def test_a_threshold_beyond_machine_integers_has_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """No draw ever gets there; so "far" is moved near."""
    monkeypatch.setattr(above_threshold, "_FAR", -1)
    mechanism = made(level=0.9, epsilon=2.0, growth=2)
    law = mechanism.pmf(VALUES)
    drawn = [mechanism.draw(VALUES) for _ in range(3000)]
    assert p_value(np.bincount(np.searchsorted(mechanism.candidates, drawn), minlength=law.size), law) > NEVER


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1 / 3, 1.0, 7.7, 1e6])
@pytest.mark.parametrize("most", [1, 3])
def test_the_scales_cost_epsilon_and_hardly_less(level: float, epsilon: float, most: int) -> None:
    share = Fraction(str(level))
    for neighbours in Neighbours:
        mechanism = made(level=level, epsilon=epsilon, neighbours=neighbours, values_per_unit=most)
        first, second = map(Fraction, mechanism._rates)
        assert mechanism.threshold_scale == pytest.approx(most / float(first))
        assert mechanism.noise_scale == pytest.approx(most / float(second))
        replaced = neighbours is Neighbours.REPLACE_ONE
        loss = first + second if replaced else max(share * first + second, (1 - share) * first)
        assert loss <= Fraction(epsilon)
        assert loss >= Fraction(epsilon) * (1 - Fraction(1, 10**12))


def test_the_scales_of_the_theory() -> None:
    """No other two of the same cost have a smaller sum of squares."""
    for level, expected in ((0.1, (0.9, 1.125)), (0.5, (1.294, 1.630)), (0.9, (1.865, 1.932)), (1.0, (2.0, 2.0))):
        mechanism = made(level=level)
        assert (mechanism.threshold_scale, mechanism.noise_scale) == pytest.approx(expected, abs=1e-3)
        for first in np.linspace(0.01, 1.0 / max(level, 1e-9), 300):
            if (1 - level) * first <= 1 and level * first < 1:
                assert first**-2 + (1 - level * first) ** -2 >= sum(each**2 for each in expected) - 0.01


def test_candidates() -> None:
    points = made(step=0.01, lower=-3).candidates
    assert points[:3].tolist() == [-3.0, -2.99, -2.98]
    assert points[-1] == float(Fraction(-3) + 2**50 * Fraction(1, 100))
    assert np.all(np.diff(points) > 0)
    far = points[200:] + 3.0
    assert np.all(far[1:] / far[:-1] < 1.0101 + 0.005)
    assert not points.flags.writeable
    coarse = made(growth=2).candidates
    assert coarse.tolist() == [0.0, *(2.0**power for power in range(51))]
    _, _, doubled = growing_grid(0.1, step=0.1, growth=Fraction(2))
    assert (doubled[:3], len(doubled)) == ((0.1, 0.2, 0.3), 52)


def test_what_lies_outside_counts_as_the_ends() -> None:
    mechanism = made(level=1.0, epsilon=1e6)
    assert mechanism.draw([-5.0, -math.inf]) == 0.0
    assert mechanism.draw([3.0, 1e30]) == mechanism.draw([math.inf]) == 2.0**50
    assert mechanism.draw([2.0, 3.0, 3.0]) == 3.0
    assert mechanism.draw([2.5]) == 3.0
    assert mechanism.draw([150.0]) == mechanism.candidates[np.searchsorted(mechanism.candidates, 150.0)]
    assert mechanism.draw([]) == 0.0
    assert made(level=0.5, epsilon=1e6).draw(np.arange(101)) == 50.0


def test_an_error_bound_in_ranks() -> None:
    assert round(made(level=1, epsilon=1.0).error_bound()) == 24


@pytest.mark.slow
def test_an_error_bound_that_holds() -> None:
    rng = np.random.default_rng(5)
    for level in LEVELS:
        mechanism = made(level=level, epsilon=0.5)
        bound = mechanism.error_bound(0.9)
        assert mechanism.error_bound(0.99) > bound
        values = rng.lognormal(4, 1, 400)
        law = mechanism.pmf(values)
        counted = np.searchsorted(mechanism.candidates, values)
        up_to = np.cumsum(np.bincount(counted, minlength=law.size))
        target = level * 400
        away = np.maximum(0.0, np.maximum(target - up_to, np.concatenate([[0], up_to[:-1]]) - target))
        assert law[away > bound].sum() <= 0.1
        assert law[away > bound / 2.5].sum() > 1e-5  # not far from where it is needed


def test_at_most_so_many_candidates_beyond_the_largest() -> None:
    mechanism = made(level=1.0, epsilon=0.05)
    law = mechanism.pmf([50.0] * 5000)
    for further in (1, 9, 99):
        assert law[50 + further :].sum() <= 1 / (further + 1)
        assert law[50 + further :].sum() > 0.5 / (further + 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"epsilon": 1e-300}, "epsilon=1e-300"),
        ({"level": 1.5}, "level=1.5"),
        ({"level": 1 / 3}, "level=0.333"),
        ({"level": math.nan}, "level=nan"),
        ({"step": 0}, "step=0"),
        ({"step": -1}, "step=-1"),
        ({"step": math.inf}, "step=inf"),
        ({"step": None}, "step=None"),
        ({"step": Fraction(1, 3)}, "step=<Fraction>"),
        ({"step": 1e300}, "step=1e+300"),
        ({"step": 1e-3, "lower": 1e15}, "step=0.001"),
        ({"lower": math.nan}, "lower=nan"),
        ({"lower": "0"}, "lower=<str>"),
        ({"lower": Fraction(1, 3)}, "lower=<Fraction>"),
        ({"growth": 1.0}, "growth=1.0"),
        ({"growth": 3}, "growth=3"),
        ({"values_per_unit": 0}, "values_per_unit=0"),
        ({"neighbours": "twins"}, "neighbours='twins'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        made(**arguments)
    assert str(raised.value).startswith(named)


@pytest.mark.parametrize("values", [[math.nan], [[1.0]], ["a"], None])
def test_bad_values_draw_nothing(values: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> int:
        raise AssertionError("drawn")

    monkeypatch.setattr(above_threshold, "one_sided", none)
    with pytest.raises(InvalidDataError) as raised:
        made().draw(values)
    assert "nan" not in str(raised.value)


def test_what_is_shown() -> None:
    mechanism = made(level=0.9, step=0.5, lower=10)
    assert repr(mechanism) == (
        "UnboundedQuantileMechanism(epsilon=1.0, level=0.9, step=0.5, lower=10.0, growth=1.01, "
        "neighbours=<Neighbours.ADD_REMOVE: 'add_remove'>, values_per_unit=1)"
    )
