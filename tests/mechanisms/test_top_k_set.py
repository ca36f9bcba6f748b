"""`TopKSet`: its law against the model, what it costs, its bound, awkward scores, bad input."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import TopKSet
from dpselect.accounting import BoundedRangeEvent
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError
from dpselect.mechanisms.exponential import _SetDraw
from dpselect.mechanisms.numbers import uniform_below, uniform_subset
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential
from tests.reference.top_k_sets import law
from tests.slow import SLOW

SECRET = 7919.125
DRAWS = 800
SHAPES = [
    ([3, 1, 4, 1, 5, 9], 2),
    ([5, 5, 4, 4, 4, 3, 2], 3),
    ([0, 0, 0, 0], 2),
    ([2, 1], 1),
    ([9, 8, 7, 7], 3),
    ([-4, -4, 50, 3], 1),
    ([100, 99, 5, 5, 4, 4], 3),
]


def made(k: int = 2, *, epsilon: float = 1.0, **options: Any) -> TopKSet:
    return TopKSet(**({"sensitivity": 1.0, "monotonic": True} | options), k=k, epsilon=epsilon)


def counts_of(mechanism: TopKSet, scores: Any, n: int) -> np.ndarray:
    found = Counter(tuple(mechanism.select(scores)) for _ in range(DRAWS))
    return np.array([found[each] for each in combinations(range(n), mechanism.k)])


def law_of(mechanism: TopKSet, scores: list[int]) -> np.ndarray:
    return np.array([float(p) for p in law(scores, mechanism.k, exponential(mechanism.rate)).values()])


@pytest.mark.parametrize(("scores", "k"), SHAPES if SLOW else SHAPES[1::3])
def test_draws_have_the_law_of_all_sets(scores: list[int], k: int) -> None:
    mechanism = made(k)
    counts, probabilities = counts_of(mechanism, scores, len(scores)), law_of(mechanism, scores)
    assert p_value(counts, probabilities) >= NEVER
    if 0.01 < probabilities.max() < 0.99 and len(set(scores)) > 1:
        # A flatter law: of a steeper one nearly all sets are rare, and `p_value` would put them together into one cell.
        assert p_value(counts, law_of(made(k, epsilon=0.1), scores)) < NEVER


def test_equal_scores_drawn_unevenly_would_be_noticed() -> None:
    counts = counts_of(made(), [0, 0, 0, 0], 4)
    assert p_value(counts, np.array([5.0, 1, 1, 1, 1, 1]) / 10) < NEVER


@pytest.mark.slow
def test_scores_within_one_stretch_are_told_apart_by_the_coin() -> None:
    scores, mechanism = np.array([1.0, 0.0, -3.4, -3.4, -3.4]), made(1, epsilon=0.2)
    draw = _SetDraw(mechanism, scores)
    assert draw._bounds()[1].tolist()[:2] == [1, 5]
    drawn = np.bincount([mechanism.select(scores)[0] for _ in range(5000)], minlength=5)
    weights = np.exp(np.array([1.0, -1.0, -4.4, -4.4, -4.4]) * float(mechanism.rate))
    assert p_value(drawn, weights / weights.sum()) >= NEVER
    weights[2:] = weights[1]  # control: every proposal accepted
    assert p_value(drawn, weights / weights.sum()) < NEVER


@pytest.mark.parametrize("k", [1, 2, 3])
def test_exponents_are_distances_from_the_best_set(k: int) -> None:
    scores = [9, 7, 4, 4, -1]
    draw, mechanism = _SetDraw(made(k), np.array(scores)), made(k)
    for h in range(1, k + 1):
        for t in range(k + 1, 6):
            below = (scores[k - 1] - scores[k]) - (scores[t - 1] - scores[h - 1])
            assert draw._exponent(h, t) == below * mechanism.rate


@pytest.mark.sampled(1)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "i2", "u8", "f8"])
def test_scales_and_types(monotonic: bool, dtype: str) -> None:
    scores, mechanism = [6, 3, 4, 1], made(monotonic=monotonic, epsilon=1.5, sensitivity=0.5)
    assert mechanism.rate == (Fraction(3, 2) if monotonic else Fraction(3, 4))
    assert mechanism.scale == float(1 / mechanism.rate)
    counts = counts_of(mechanism, np.array(scores, dtype), 4)
    assert p_value(counts, law_of(mechanism, scores)) >= NEVER
    other = made(monotonic=not monotonic, epsilon=1.5, sensitivity=0.5)
    assert p_value(counts, law_of(other, scores)) < NEVER


def chances_by_proposals(scores: np.ndarray, k: int) -> dict[str, Any]:
    """What the bounds of a draw claim, checked against the exact weights of all that they stand for."""
    draw = _SetDraw(made(k), np.sort(scores)[::-1])
    weights, edges = draw._bounds()
    rate, ranked = made(k).rate, np.sort(scores)[::-1]
    lead = 2 * Fraction(ranked[k - 1].item()) - 2 * Fraction(ranked[k].item())
    worst, total = -math.inf, 1
    for row, h in enumerate(range(1, k + 1)):
        for stretch in range(edges.size - 1):
            first, last = int(edges[stretch]) + 1, int(edges[stretch + 1])
            number = draw.number(h, first, last) if first <= last else 0
            total += number
            if number:
                gap = Fraction(ranked[h - 1].item()) - Fraction(ranked[k - 1].item())
                gap += Fraction(ranked[k].item()) - Fraction(ranked[first - 1].item()) + lead
                exact = math.log2(number) - float(gap * rate) / math.log(2.0)
                worst = max(worst, exact - float(weights[row, stretch]))
    return {"worst": worst, "total": total, "stretches": edges.size - 1}


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("shape", ["normal", "zipf", "equal", "whole", "far"])
def test_bounds_are_bounds_and_cover_every_set(k: int, shape: str) -> None:
    rng = np.random.default_rng(8)
    scores = {
        "normal": rng.normal(scale=30.0, size=200),
        "zipf": 1e5 / np.arange(1, 201),
        "equal": np.zeros(200),
        "whole": rng.integers(0, 9, 200).astype(float),
        "far": np.r_[1e6 * np.arange(10, 0, -1), rng.normal(size=190)],
    }[shape]
    found = chances_by_proposals(scores, k)
    assert found["worst"] <= 0.0
    assert found["total"] == math.comb(200, k)


def test_those_far_ahead_are_in_every_set_and_the_others_keep_their_law() -> None:
    scores = np.array([1e9, 1e8, 5.0, 4.0, 0.0])
    drawn = Counter(tuple(made(3).select(scores)) for _ in range(DRAWS))
    weights = np.exp(np.array([1.0, -1.0, -5.0]) / 2.0)  # of the sets of both with one of the others
    counts = np.array([drawn[0, 1, last] for last in (2, 3, 4)])
    assert counts.sum() == DRAWS
    assert p_value(counts, weights / weights.sum()) >= NEVER
    assert p_value(counts, np.full(3, 1 / 3)) < NEVER


def test_large_inputs_give_the_head_where_it_is_far_ahead() -> None:
    rng = np.random.default_rng(2)
    scores = rng.permutation(np.r_[np.full(90_000, 3.0), np.arange(1000.0, 1200.0, 20.0)])
    head = np.flatnonzero(scores >= 1000.0).tolist()
    assert made(10).select(scores) == head
    assert len(set(made(5000).select(scores))) == 5000
    assert made(10).select(scores.astype(np.int64) - 10**6) == head


def test_the_answer_is_in_public_order_and_names_candidates() -> None:
    assert made().select([900, 20, 1800, 30], candidates=["a", "b", "c", "d"]) == ["a", "c"]
    assert made().select([1800, 20, 900, 30], candidates=["a", "b", "c", "d"]) == ["a", "c"]
    with pytest.raises(InvalidCandidatesError):
        made().select([1, 2, 3], candidates=["a"])


def test_cost_and_bound() -> None:
    assert made(5, epsilon=0.3).event == BoundedRangeEvent(epsilon=0.3)
    assert made(5).error_bound(6, 0.1) == 0.0
    bound = made(2).error_bound(5, 0.9)
    others = math.comb(5, 2) - 1
    failing = others * math.exp(-bound / made(2).scale)
    assert failing / (1 + failing) == pytest.approx(0.1, rel=1e-6)
    assert failing / (1 + failing) <= 0.1
    assert made(2, monotonic=False).error_bound(5, 0.9) == pytest.approx(2 * bound)


def test_uniform_numbers_and_sets_are_uniform() -> None:
    numbers = np.bincount([uniform_below(5) for _ in range(1500)], minlength=5)
    assert p_value(numbers, np.full(5, 0.2)) >= NEVER
    big = 3 << 100
    thirds = np.bincount([uniform_below(big) // (1 << 100) for _ in range(1200)], minlength=3)
    assert p_value(thirds, np.full(3, 1 / 3)) >= NEVER
    assert p_value(thirds, np.array([0.6, 0.2, 0.2])) < NEVER
    for size, k in ((6, 2), (5, 3)):
        found = Counter(tuple(sorted(uniform_subset(size, k).tolist())) for _ in range(1500))
        counts = np.array([found[each] for each in combinations(range(size), k)])
        assert p_value(counts, np.full(counts.size, 1 / counts.size)) >= NEVER


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_a_bad_k_is_refused(k: Any) -> None:
    with pytest.raises(InvalidParameterError, match="k="):
        made(k)


def test_all_candidates_and_more_are_refused() -> None:
    for k in (4, 5):
        with pytest.raises(InvalidParameterError, match=r"k=.*less than the number"):
            made(k).select([1, 2, 3, 4])
        with pytest.raises(InvalidParameterError, match="k="):
            made(k).error_bound(4)


@pytest.mark.parametrize(
    "scores", [[], [SECRET, math.nan, 1.0], [SECRET, math.inf, 1.0], [[SECRET, 1.0]], ["7919"], None]
)
def test_bad_scores_are_refused_without_a_word_of_them(scores: Any) -> None:
    with pytest.raises(InvalidScoresError) as caught:
        made(1).select(scores)
    assert "7919" not in str(caught.value)


def test_a_set_by_top_k() -> None:
    scores = [0.0, 900.0, 5.0, 1800.0, 905.0]
    asked: dict[str, Any] = {"epsilon": 50.0, "sensitivity": 1.0, "monotonic": True}
    assert dps.top_k(scores, 3, method="set", **asked) == [1, 3, 4]
    assert dps.top_k(scores, 3, method="set", candidates=list("edcba"), **asked) == ["d", "b", "a"]
    assert dps.top_k(scores, 3, **asked) == [3, 4, 1]
    for wrong, named in (({"method": "best"}, "method"), ({"method": "set", "delta": 1e-6}, "delta")):
        with pytest.raises(dps.errors.InvalidParameterError, match=f"^{named}="):
            dps.top_k(scores, 3, **asked, **wrong)
    with pytest.raises(dps.SelectionError):
        dps.top_k(scores, 5, method="set", **asked)
