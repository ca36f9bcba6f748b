"""Samples from smoothed histograms: their law, their rate, their refusals."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpselect.accounting import BoundedRangeEvent, ComposedEvent, PureEvent
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import SmoothedHistogramMechanism
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.smoothed_histogram import law_of_one_draw

PRICES = [(1e-6, 10**6), (1e-6, 1), (0.1, 128), (1.0, 1), (1.0, 7), (20.0, 1), (1e300, 3)]


def _rate(mechanism: SmoothedHistogramMechanism, bins: int = 2) -> Fraction:
    """The rate it draws with, from the odds of a bin with one unit against empty ones."""
    weights = mechanism._weights(np.array([1] + [0] * (bins - 1)))
    return Fraction(int(weights[0]), int(weights[1])) - 1


@pytest.mark.parametrize(("epsilon", "k"), PRICES)
@pytest.mark.parametrize("bins", [1, 2, 64, 4096])
def test_the_rate_is_never_above_what_the_price_allows(epsilon: float, k: int, bins: int) -> None:
    rate = _rate(SmoothedHistogramMechanism(epsilon=epsilon, k=k), bins=max(bins, 2))
    assert k * mpmath.log1p(mpmath.mpf(rate.numerator) / rate.denominator) <= mpmath.mpf(epsilon)


@pytest.mark.parametrize(("epsilon", "k"), PRICES[:-2])
def test_the_rate_is_nearly_what_the_price_allows(epsilon: float, k: int) -> None:
    rate = _rate(SmoothedHistogramMechanism(epsilon=epsilon, k=k))
    assert float(rate) == pytest.approx(float(mpmath.expm1(mpmath.mpf(epsilon) / k)), rel=1e-3)


def test_the_rate_does_not_depend_on_the_counts() -> None:
    mechanism = SmoothedHistogramMechanism(epsilon=1.0, k=5)
    for counts in ([0, 0], [1, 0], [2**39, 17]):
        weights = mechanism._weights(np.array(counts)).astype(object)
        base = mechanism._weights(np.array([0, 0])).astype(object)
        step = mechanism._weights(np.array([1, 0])).astype(object)[0] - base[0]
        assert list(weights) == [base[0] + step * count for count in counts]


@pytest.mark.parametrize("counts", [[3, 0, 9], [0, 0, 0], [1]])
def test_probabilities_are_the_models(counts: list[int]) -> None:
    mechanism = SmoothedHistogramMechanism(epsilon=2.0, k=3)
    model = law_of_one_draw(counts, rate=_rate(mechanism, bins=max(len(counts), 2)))
    assert mechanism.probabilities(counts) == pytest.approx([float(each) for each in model], rel=1e-6)


def test_draws_follow_the_probabilities() -> None:
    counts = [40, 0, 10, 3]
    mechanism = SmoothedHistogramMechanism(epsilon=20_000.0, k=20_000)
    tally = mechanism.draw(counts)
    assert tally.sum() == 20_000
    assert p_value(tally, mechanism.probabilities(counts)) > NEVER
    wrong = SmoothedHistogramMechanism(epsilon=10_000.0, k=20_000).probabilities(counts)
    assert p_value(tally, wrong) < NEVER


def test_the_largest_counts_fit() -> None:
    counts = np.zeros(4096, dtype=np.int64)
    counts[7] = 2**40 - 1
    assert SmoothedHistogramMechanism(epsilon=1e300, k=2).draw(counts)[7] == 2


def test_events() -> None:
    together = SmoothedHistogramMechanism(epsilon=1.0, k=4).event
    assert together == ComposedEvent(event=BoundedRangeEvent(epsilon=0.25), count=4)
    assert SmoothedHistogramMechanism(epsilon=1.0, k=4, neighbours="replace_one").event == PureEvent(epsilon=1.0)


def test_it_is_a_value() -> None:
    mechanism = SmoothedHistogramMechanism(epsilon=1.0, k=4)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert repr(mechanism) == (
        "SmoothedHistogramMechanism(epsilon=1.0, k=4, neighbours=<Neighbours.ADD_REMOVE: 'add_remove'>)"
    )


@pytest.mark.parametrize(
    "arguments",
    [{"epsilon": 0.0, "k": 1}, {"epsilon": 1.0, "k": 0}, {"epsilon": 1.0, "k": 2**32 + 1}, {"epsilon": 1e-14, "k": 1}],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidParameterError):
        SmoothedHistogramMechanism(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "counts",
    [[], [-1, 2], [0.5], [float("nan")], [float("inf")], [2**40], [2**39, 2**39], [[1, 2]], "12", None, {1: 2}, ["a"]],
)
def test_what_is_no_histogram_is_refused_without_being_shown(counts: Sequence[object]) -> None:
    with pytest.raises(InvalidDataError) as refused:
        SmoothedHistogramMechanism(epsilon=1.0, k=1).draw(counts)
    assert "0.5" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None
