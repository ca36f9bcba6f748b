"""Report-noisy-max with Laplace noise: an exact law, checked against quadrature, and its privacy by counterexample."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import noisy_max
from tests.reference.noisy_max import (
    WithLogarithms,
    chance_above,
    exponential_noise_law,
    gumbel_noise_law,
    laplace_noise_law,
    law_by_levels,
)
from tests.reference.precision import exponential, flip_probabilities
from tests.reference.randomness import repeated_until_accepted
from tests.reference.strategies import few_examples, proper_fractions
from tests.reference.strategies import flip_probabilities as any_flip_probabilities


@few_examples
@given(any_flip_probabilities())
def test_the_law_sums_to_one_exactly(p: tuple[Fraction, ...]) -> None:
    total: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for chance in laplace_noise_law(p):
        for argument, coefficient in chance.logarithms.items():
            total[argument] += coefficient
    assert sum(chance.rational for chance in laplace_noise_law(p)) == 1
    assert not any(total.values())


@few_examples
@given(any_flip_probabilities(), proper_fractions)
def test_only_ratios_matter(p: tuple[Fraction, ...], factor: Fraction) -> None:
    scaled = laplace_noise_law([factor * weight for weight in p])
    for one, other in zip(laplace_noise_law(p), scaled, strict=True):
        assert abs(one.value() - other.value()) < Fraction(1, 10**50)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_scores_are_equally_likely(count: int) -> None:
    assert [chance.value() for chance in laplace_noise_law([Fraction(1, 3)] * count)] == [Fraction(1, count)] * count


@pytest.mark.parametrize("scores", [[0.0, 1.0], [0.0, -3.0, -3.0, -0.25], [5.0, 4.5, -2.0, 0.0, 4.0]])
def test_quadrature_agrees(scores: list[float]) -> None:
    def density(noisy: float, own: int) -> float:
        return (
            0.5
            * math.exp(-abs(noisy - scores[own]))
            * math.prod(below(noisy - score) for j, score in enumerate(scores) if j != own)
        )

    def below(distance: float) -> float:
        return 0.5 * math.exp(distance) if distance < 0 else 1 - 0.5 * math.exp(-distance)

    law = laplace_noise_law(flip_probabilities(scores, scale=Fraction(1)))
    knots = [min(scores) - 40.0, *sorted(set(scores)), max(scores) + 40.0]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for i, chance in enumerate(law):
        total = 0.0
        for start, end in pairwise(knots):
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                total += (end - start) / 2 * weight * density(start + (end - start) * (1 + node) / 2, i)
        assert float(chance.value()) == pytest.approx(total, abs=1e-12)


def test_the_three_noises_have_three_laws() -> None:
    p = (Fraction(1), Fraction(1, 2))
    laplace = tuple(chance.value() for chance in laplace_noise_law(p))
    assert len({laplace, exponential_noise_law(p), gumbel_noise_law(p)}) == 3


def test_half_the_scale_is_not_private_for_general_scores() -> None:
    epsilon = 1.0  # and scale 1 = sensitivity / epsilon, where 2 * sensitivity / epsilon is needed
    before = laplace_noise_law([exponential(Fraction(score)) for score in (0, 4, 4)])[0].value()
    after = laplace_noise_law([exponential(Fraction(score)) for score in (1, 3, 3)])[0].value()
    assert math.log(after / before) == pytest.approx(1.976, abs=5e-4)
    assert math.log(after / before) > epsilon


def near(one: tuple[WithLogarithms, ...], other: tuple[WithLogarithms, ...]) -> bool:
    return all(abs(a.value() - b.value()) < Fraction(1, 10**45) for a, b in zip(one, other, strict=True))


lower_levels = st.lists(st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=20), max_size=2, unique=True)


@few_examples
@given(any_flip_probabilities(max_size=4), lower_levels)
def test_any_levels_have_the_law(p: tuple[Fraction, ...], lower: list[Fraction]) -> None:
    levels = [max(p), *sorted((max(p) * level for level in lower), reverse=True)]
    assert near(law_by_levels(p, levels=levels), laplace_noise_law(p))


P = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
LEVELS = (Fraction(1), Fraction(2, 5), Fraction(1, 10))


def whole(weight: Fraction, *, level: Fraction, above: Fraction | None) -> Fraction:
    return min(Fraction(1), 2 * chance_above(weight, level=level, above=above))


def unconditional(weight: Fraction, *, level: Fraction, above: Fraction | None) -> Fraction:
    return weight / level / 2


def dropped(weight: Fraction, *, level: Fraction, above: Fraction | None) -> Fraction:
    return weight / level / 2 * (1 - (level / above if above is not None else 0))


@pytest.mark.parametrize("fault", [whole, unconditional, dropped])
def test_other_chances_have_other_laws(monkeypatch: pytest.MonkeyPatch, fault: object) -> None:
    """At whole weight; as if nothing were known from the level before; not drawn again where that is contradicted."""
    assert near(law_by_levels(P, levels=LEVELS), laplace_noise_law(P))
    monkeypatch.setattr(noisy_max, "chance_above", fault)
    assert not near(law_by_levels(P, levels=LEVELS), laplace_noise_law(P))


@few_examples
@given(proper_fractions, proper_fractions)
def test_drawing_again_until_below_the_last_level(weight: Fraction, level: Fraction) -> None:
    """A round finds it between the levels, above both (and starts again) or below both."""
    found = weight / 2
    once: dict[int | None, Fraction] = {1: found * (1 - level), None: found * level, 0: 1 - found}
    law = repeated_until_accepted(once, count=2)
    assert law[1] == chance_above(weight * level, level=level, above=Fraction(1))
