"""The k best by exponential noise once: its law, its scale, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import permute_and_flip
from tests.reference.precision import flip_probabilities
from tests.reference.top_k import exponential_noise_once, peeled
from tests.slow import SLOW

_SCORES = [0.0, 3.0, 3.0, -1.0, 4.5]


def _mechanism(**changed: object) -> dps.ExponentialNoiseTopK:
    arguments = {"epsilon": 1.0, "sensitivity": 1.0, "k": 2} | changed
    return dps.ExponentialNoiseTopK(**arguments)  # type: ignore[arg-type]


def _counts(draws: list[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    counted = Counter(draws)
    return p_value(np.array([counted[order] for order in law]), np.array([float(chance) for chance in law.values()]))


def test_orders_have_the_exact_law() -> None:
    """By day with as many draws as leave each control unnoticed less than once in 10^15 runs."""
    mechanism = _mechanism()
    draws = [tuple(mechanism.select(_SCORES)) for _ in range(20_000 if SLOW else 5000)]
    law = exponential_noise_once(flip_probabilities(_SCORES, scale=Fraction(4)), k=2)
    assert _counts(draws, law) >= NEVER
    # The controls: at the scale of one selection, and peeled by permute-and-flip at the same scale.
    assert _counts(draws, exponential_noise_once(flip_probabilities(_SCORES, scale=Fraction(2)), k=2)) < NEVER
    rounds = peeled(permute_and_flip.law_by_heads, flip_probabilities([0.0, 0.0, -4.0], scale=Fraction(4)), k=2)
    draws = [tuple(mechanism.select([0.0, 0.0, -4.0])) for _ in range(60_000 if SLOW else 30_000)]
    assert _counts(draws, rounds) < NEVER


def test_for_one_it_is_permute_and_flip() -> None:
    mechanism = _mechanism(k=1)
    draws = [tuple(mechanism.select(_SCORES)) for _ in range(20_000)]
    law = permute_and_flip.law_by_heads(flip_probabilities(_SCORES, scale=Fraction(2)))
    assert _counts(draws, {(i,): chance for i, chance in enumerate(law)}) >= NEVER


def test_the_scale_is_k_times_that_of_one_selection() -> None:
    one = dps.PermuteAndFlip(epsilon=0.5, sensitivity=3.0)
    assert _mechanism(epsilon=0.5, sensitivity=3.0, k=4).scale == 4 * one.scale
    assert _mechanism(epsilon=0.5, sensitivity=3.0, k=4, monotonic=True).scale == 2 * one.scale
    # No k shares of it exceed epsilon, whatever the rounding.
    for epsilon in (0.1, 1 / 3, 5e-300, 7.7):
        for k in (3, 7, 11):
            share = _mechanism(epsilon=epsilon, k=k)._share
            assert k * Fraction(share) <= Fraction(epsilon)
            assert share >= epsilon / k * (1 - 1e-15)


def test_it_refuses_what_is_out_of_range() -> None:
    mechanism = _mechanism(k=3)
    assert mechanism != _mechanism()
    for k in (0, -1, 1.5, True, math.nan, "2"):
        with pytest.raises(InvalidParameterError, match="k="):
            _mechanism(k=k)
    with pytest.raises(InvalidScoresError, match="at least 3 scores"):
        mechanism.select([1.0, 2.0])
    for scores in ([], [1.0, math.nan, 2.0]):
        with pytest.raises(InvalidScoresError):
            mechanism.select(scores)
    with pytest.raises(InvalidParameterError):
        _mechanism(monotonic=True, neighbours="replace_one")
