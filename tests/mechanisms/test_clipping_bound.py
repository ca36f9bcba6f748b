"""A bound that few values are above."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import ClippingBoundMechanism
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import clipping_bound
from dpselect.privacy import Neighbours
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import clipping_bounds
from tests.reference.precision import exponential as exp

VALUES = [0.0, 1.0, 1.0, 2.0, 3.0, 7.0, 7.0, 9.0] * 4


def made(**changed: Any) -> ClippingBoundMechanism:
    return ClippingBoundMechanism(**{"epsilon": 2.0, "step": 1, **changed})


def counts_of(mechanism: ClippingBoundMechanism, values: list[float]) -> np.ndarray:
    return np.array([sum(value > point for value in values) for point in mechanism.candidates[:-1]])


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_law_is_that_of_the_model(neighbours: Neighbours) -> None:
    mechanism = made(neighbours=neighbours)
    counts = counts_of(mechanism, VALUES)
    ratio = exp(Fraction(-2 if neighbours is Neighbours.ADD_REMOVE else -1))
    rounded = ratio.limit_denominator(10**6)  # powers of the exact one would be too long
    expected = clipping_bounds.law(counts[:9].tolist(), margin=mechanism.margin, ratio=rounded)
    # The model's tests begin at the ninth candidate: there the product has passed all others, if none was stopped at.
    law = mechanism.pmf(counts)
    few = law[:10] / law[:10].sum()
    assert few == pytest.approx(np.array(list(map(float, expected))), rel=0.02, abs=1e-4)
    assert law[10:].sum() < clipping_bound.FAILURE


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_draws_have_the_law(neighbours: Neighbours) -> None:
    mechanism = made(neighbours=neighbours)
    counts = counts_of(mechanism, VALUES)
    drawn = np.bincount([mechanism.draw_place(counts) for _ in range(4000)], minlength=mechanism.candidates.size)
    expected = mechanism.pmf(counts)
    likely = expected > 1e-3

    def tallied(each: np.ndarray) -> np.ndarray:
        return np.array([*each[likely], each[~likely].sum()])

    assert p_value(tallied(drawn), tallied(expected)) > NEVER
    other = made(neighbours=neighbours, epsilon=0.7).pmf(counts)
    assert p_value(tallied(drawn), tallied(other)) < NEVER  # control


def test_values_are_counted_above_each_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    def noted(mechanism: ClippingBoundMechanism, above: np.ndarray) -> int:
        seen.append(above.tolist())
        return 1

    monkeypatch.setattr(ClippingBoundMechanism, "draw_place", noted)
    assert made().draw(VALUES) == 1.0
    assert seen == [counts_of(made(), VALUES).tolist()]


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_bounds_hold_as_often_as_they_say(neighbours: Neighbours) -> None:
    mechanism = made(neighbours=neighbours, epsilon=1.0)
    counts = np.array([*([1000] * 5), 60, 30, *([0] * (mechanism.candidates.size - 8))])
    law = mechanism.pmf(counts)
    assert law[8:].sum() <= clipping_bound.FAILURE
    for confidence in (0.5, 0.99):
        within = counts <= mechanism.above_bound(confidence)
        assert law[:-1][within].sum() >= confidence - 1e-9
    assert law[:-1][counts <= mechanism.margin - 20].sum() < 0.99  # control: a much smaller number


def test_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipping_bound, "one_sided", lambda sampler: 0)
    mechanism = made()
    values = [5.0] * (mechanism.margin + 20)
    assert mechanism.draw(values) == 8.0
    assert mechanism.draw([*values, *[1e6] * (mechanism.margin - 1)]) == 8.0  # fewer than the margin are left above
    assert mechanism.draw([*values, *[1e6] * mechanism.margin]) == 2.0**20
    assert mechanism.draw([]) == 1.0
    assert mechanism.draw([-5.0] * 100) == 1.0
    assert made(lower=-8).draw([-8.0] * 100) == -7.0


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1e-13}, "epsilon"),
        ({"step": 0}, "step"),
        ({"step": 1e-300, "lower": 1.0}, "step"),
        ({"lower": float("nan")}, "lower"),
        ({"step": Fraction(1, 3)}, "step"),
        ({"neighbours": "friends"}, "neighbours"),
    ],
)
def test_bad_arguments_are_refused(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameterError, match=named):
        made(**changed)


def test_bad_data_is_refused() -> None:
    with pytest.raises(InvalidDataError):
        made().draw([1.0, float("nan")])
    with pytest.raises(InvalidDataError):
        made().draw_place([0.5] * 51)
    with pytest.raises(InvalidParameterError, match="above"):
        made().draw_place([1, 2])


def test_it_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(made())) == made()
    assert made().event.epsilon == 2.0
    assert "sampler" not in repr(made()).lower()
