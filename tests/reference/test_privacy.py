"""The one privacy lemma behind all mechanisms, in exact arithmetic.

Neighbouring scores multiply the weights ``exp(score / scale)`` by factors; if all factors lie in ``[1, factor]``, or in
any interval of that ratio, no probability may change by more than `factor`, which is ``exp(epsilon)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import exponential
from tests.reference.noisy_max import exponential_noise_law, gumbel_noise_law, laplace_noise_law
from tests.reference.permute_and_flip import law_by_integral
from tests.reference.strategies import few_examples, flip_probabilities

Law = Callable[[Sequence[Fraction]], tuple[Fraction, ...]]


def permute_and_flip_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return law_by_integral([weight / max(weights) for weight in weights])


def laplace_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(chance.value() for chance in laplace_noise_law(weights))


MECHANISMS = [exponential.law, gumbel_noise_law, permute_and_flip_law, exponential_noise_law, laplace_law]
ROUNDING = 1 + Fraction(1, 10**50)
FACTOR = Fraction(3, 2)


def largest_ratio(law: Law, weights: Sequence[Fraction], factors: Sequence[Fraction]) -> Fraction:
    """exp of the privacy loss: the most any probability is multiplied or divided by."""
    neighbour = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
    ratios = [a / b for a, b in zip(law(weights), law(neighbour), strict=True)]
    return max(*ratios, *(1 / ratio for ratio in ratios))


@pytest.mark.parametrize("law", MECHANISMS)
@few_examples
@given(data=st.data())
def test_factors_within_a_range_change_probabilities_within_that_range(law: Law, data: st.DataObject) -> None:
    weights = data.draw(flip_probabilities(max_size=4))
    common = data.draw(st.fractions(Fraction(1, 3), 3, max_denominator=5))
    within = st.fractions(1, FACTOR, max_denominator=8)
    factors = [common * data.draw(within) for _ in weights]
    assert largest_ratio(law, weights, factors) <= FACTOR * ROUNDING


@pytest.mark.parametrize("law", MECHANISMS)
def test_factors_in_both_directions_exceed_it(law: Law) -> None:
    """Each score moves by no more than before, but one up and one down: this needs twice the scale."""
    weights = [FACTOR**0, FACTOR**8, FACTOR**8]
    factors = [FACTOR, 1 / FACTOR, 1 / FACTOR]
    assert largest_ratio(law, weights, factors) > FACTOR * ROUNDING
    assert largest_ratio(law, weights, factors) <= FACTOR**2 * ROUNDING


@few_examples
@given(data=st.data())
def test_the_exponential_mechanism_has_bounded_range(data: st.DataObject) -> None:
    weights = data.draw(flip_probabilities(max_size=5))
    factors = [data.draw(st.fractions(1, FACTOR, max_denominator=8)) for _ in weights]
    neighbour = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
    ratios = [a / b for a, b in zip(exponential.law(weights), exponential.law(neighbour), strict=True)]
    assert max(ratios) / min(ratios) == max(factors) / min(factors) <= FACTOR


def test_permute_and_flip_has_not() -> None:
    before, after = (
        permute_and_flip_law([Fraction(1), Fraction(1, 2)]),
        permute_and_flip_law([Fraction(1, 2), Fraction(1)]),
    )
    ratios = [a / b for a, b in zip(before, after, strict=True)]
    assert max(ratios) / min(ratios) == 9  # the scores moved against each other by a factor of 4
    assert max(ratios) <= 4
    assert math.log(9) == pytest.approx(2 * math.log(2 * math.sqrt(4) - 1))
