"""The k best by exponential noise once: its law, its scale, what is refused, and its parts."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError
from dpselect.mechanisms import PartialTopK
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


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [[5], [3, 5], [1, 2, 2, 4, 5]])
def test_parts_have_the_law_of_all(cuts: list[int]) -> None:
    mechanism = _mechanism()

    def draw() -> tuple[int, ...]:
        merged = PartialTopK.of(mechanism, [])
        for start, end in zip([0, *cuts], cuts, strict=False):
            part = PartialTopK.of(mechanism, _SCORES[start:end], partition=start)
            merged = PartialTopK.from_bytes(mechanism, part.to_bytes()).merged(merged)
        return tuple(winner.partition + winner.index for winner in merged.winners())

    draws = [draw() for _ in range(6_000)]
    assert _counts(draws, exponential_noise_once(flip_probabilities(_SCORES, scale=Fraction(4)), k=2)) >= NEVER
    assert _counts(draws, exponential_noise_once(flip_probabilities(_SCORES, scale=Fraction(2)), k=2)) < NEVER


def test_parts_are_used_once_and_belong_to_their_mechanism() -> None:
    mechanism, other = _mechanism(), _mechanism(epsilon=2.0)
    part = PartialTopK.of(mechanism, [1.0, 5e6, 3e6], partition=7)
    assert [(winner.partition, winner.index) for winner in part.so_far()] == [(7, 1), (7, 2)]
    for wrong in (part, PartialTopK.of(other, [1.0]), PartialTopK.of(mechanism, [1.0], count=3)):
        with pytest.raises(InvalidParameterError, match="other"):
            part.merged(wrong)
    data = part.to_bytes()
    for use in (part.to_bytes, part.winners, part.so_far):
        with pytest.raises(InvalidParameterError, match="used before"):
            use()
    for wrong_data in (data[:-1], b"", b"x" + data[1:]):
        with pytest.raises(InvalidDataError, match="other bytes"):
            PartialTopK.from_bytes(mechanism, wrong_data)
    with pytest.raises(InvalidParameterError, match="bytes"):
        PartialTopK.from_bytes(mechanism, data.decode("latin-1"))  # type: ignore[arg-type]
    with pytest.raises(InvalidDataError):
        PartialTopK.from_bytes(other, data)
    with pytest.raises(InvalidDataError):
        PartialTopK.from_bytes(mechanism, data, count=3)
    again = PartialTopK.from_bytes(mechanism, data)
    assert "5" not in repr(again)
    for copied in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            copied(again)
    with pytest.raises(InvalidParameterError, match="partition"):
        PartialTopK.of(mechanism, [1.0], partition=-1)
    with pytest.raises(InvalidParameterError, match="count"):
        PartialTopK.of(mechanism, [1.0], count=4)
    with pytest.raises(InvalidParameterError, match="mechanism"):
        PartialTopK.of(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [1.0], count=1)  # type: ignore[arg-type]


def test_one_more_winner_than_is_paid_for_needs_that_all_win() -> None:
    mechanism = _mechanism()  # of two

    def parts(*scores: list[float]) -> PartialTopK:
        drawn = [PartialTopK.of(mechanism, each, partition=at, count=3) for at, each in enumerate(scores)]
        again = [PartialTopK.from_bytes(mechanism, each.to_bytes(), count=3) for each in drawn]
        return reduce(PartialTopK.merged, again)

    assert len(parts([1.0, 2.0], [], [3.0]).winners()) == 3
    with pytest.raises(InvalidParameterError, match="count=3: expected at most 2, as there are 4 candidates"):
        parts([1.0, 2.0], [3.0, 4.0]).winners()


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
            share = _mechanism(epsilon=epsilon, k=k).terms[0]
            assert k * Fraction(share) <= Fraction(epsilon)
            assert share >= epsilon / k * (1 - 1e-15)


def test_it_is_a_value_and_refuses_what_is_out_of_range() -> None:
    mechanism = _mechanism(k=3)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism == copy.deepcopy(mechanism) != _mechanism()
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
    for step in (0.0, -1.0, math.inf, math.nan, "a", True):
        with pytest.raises(InvalidParameterError, match="step"):
            mechanism.select_with_gaps([1.0, 2.0, 3.0, 4.0], step=step)  # type: ignore[arg-type]


def test_gaps_come_with_the_order_and_the_last_of_all_has_none() -> None:
    scores = np.array([10.0, 4000.0, 7.0, 2000.0, 3000.0, 1.0])
    winners, gaps = _mechanism(k=3, epsilon=10.0).select_with_gaps(scores, list("abcdef"), step=0.5)
    assert winners == ["b", "e", "d"]
    assert all(gap % 0.5 == 0.0 and 980 < gap < 2010 for gap in gaps)
    leads = _mechanism(k=3, epsilon=10.0).select_with_gaps([5e6, 1e6, 3e6], ["x", "y", "z"])
    assert (leads.winners, len(leads.gaps)) == (["x", "z", "y"], 2)


def test_the_gap_of_the_last_winner_has_its_law() -> None:
    """Two of three equal scores: the third-largest of three exponentials is passed by b E."""
    gaps = [_mechanism().select_with_gaps([1.0, 1.0, 1.0], step=1.0).gaps[1] for _ in range(8_000)]
    counts = np.bincount(np.minimum(np.array(gaps), 4).astype(int), minlength=5)
    # The second-largest minus the smallest: an exponential of rate 2 per scale, and the scale is 4.
    for rate, is_its_own in ((2 / 4, True), (1 / 4, False)):
        tails = np.r_[np.exp(-rate * np.arange(5)), 0.0]
        assert (p_value(counts, -np.diff(tails)) >= NEVER) is is_its_own
