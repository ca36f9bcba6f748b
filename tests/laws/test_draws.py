"""What is drawn follows the probabilities, in every way of drawing and for every type of scores.

Each comparison comes with its control: the same draws held against a law that is a little wrong must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.subjects import KINDS, every_kind

Kind = Callable[..., Any]

RNG = np.random.default_rng(5)
SHAPES = {
    "one": np.array([7.0]),
    "two": np.array([0.0, -1.0]),
    "seven": np.array([3.0, -2.0, 0.5, 3.0, 1.0, -9.0, 2.25]),
    "spike": np.r_[np.zeros(300), 9.0, np.zeros(400)],
    "few on top of many": np.r_[np.full(1500, -40.0), np.arange(6.0), np.full(700, -45.0)],
    "ties": RNG.integers(0, 12, 900).astype(float),
    "all different": RNG.permutation(1300) / 60.0,
    "equal": np.full(64, -3.0),
    "zipf": 12.0 / np.arange(1, 1200),
}


def counts_of(draws: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(draws, minlength=n)


@every_kind
@pytest.mark.parametrize("scores", SHAPES.values(), ids=SHAPES)
def test_many_draws(kind: Kind, scores: np.ndarray) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    draws = mechanism.select_many(scores, 40_000)
    assert draws.dtype == np.int64
    assert draws.shape == (40_000,)
    assert p_value(counts_of(draws, scores.size), mechanism.pmf(scores)) >= NEVER
    if np.ptp(scores) > 0:
        wrong = kind(epsilon=1.5, sensitivity=1.0)
        assert p_value(counts_of(draws, scores.size), wrong.pmf(scores)) < NEVER


def test_equal_scores_drawn_unevenly_would_be_noticed() -> None:
    draws = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select_many(np.zeros(64), 40_000)
    first_favoured = np.r_[2.2, np.ones(63)]
    assert p_value(counts_of(draws, 64), first_favoured / first_favoured.sum()) < NEVER
    one_dropped = np.r_[np.ones(63), 0.0]
    assert p_value(counts_of(draws, 64), one_dropped / 63) < NEVER


@every_kind
@pytest.mark.parametrize("name", ["seven", "few on top of many", "ties"])
def test_single_draws(kind: Kind, name: str) -> None:
    scores = SHAPES[name]
    mechanism, wrong = (kind(epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 2.0))
    draws = np.array([mechanism.select(scores) for _ in range(2500)])
    assert p_value(counts_of(draws, scores.size), mechanism.pmf(scores)) >= NEVER
    assert p_value(counts_of(draws, scores.size), wrong.pmf(scores)) < NEVER


@every_kind
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_scale_of_the_draws_is_that_of_the_probabilities(kind: Kind, monotonic: bool) -> None:
    scores = np.array([10, 4, 7, 10, 1])
    mechanism = kind(epsilon=0.75, sensitivity=1.5, monotonic=monotonic)
    counts = counts_of(mechanism.select_many(scores, 40_000), 5)
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
    other = kind(epsilon=0.75, sensitivity=1.5, monotonic=not monotonic)
    assert p_value(counts, other.pmf(scores)) < NEVER


def as_strided(scores: np.ndarray) -> np.ndarray:
    return np.repeat(scores, 3)[::3]


def as_unaligned(scores: np.ndarray) -> np.ndarray:
    table = np.zeros(scores.size, dtype=[("flag", "u1"), ("score", "f8")])
    table["score"] = scores
    return table["score"]


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    **{
        dtype: (lambda scores, dtype=dtype: scores.astype(dtype))
        for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">f8", ">f4", ">i8", ">i2")
    },
    "list": lambda scores: scores.tolist(),
    "tuple of integers": lambda scores: tuple(int(score) for score in scores),
    "backwards": lambda scores: scores[::-1].copy()[::-1],
    "strided": as_strided,
    "unaligned": as_unaligned,
    "subclass": lambda scores: scores.view(np.recarray),
    "read only": lambda scores: np.frombuffer(scores.tobytes()),
    "pyarrow": lambda scores: pa.array(scores),
    "pyarrow slice": lambda scores: pa.array(np.r_[99.0, scores, 99.0]).slice(1, scores.size),
    "pyarrow chunks": lambda scores: pa.chunked_array([scores[:5].astype("i4"), scores[5:].astype("i4")]),
    "polars": lambda scores: pl.Series(scores.astype("u2")),
}


@every_kind
@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
def test_every_type_of_scores_draws_from_the_same_law(kind: Kind, convert: Callable[[np.ndarray], Any]) -> None:
    scores = np.array([4.0, 9.0, 0.0, 7.0, 9.0, 8.0, 3.0, 1.0, 6.0])
    mechanism, wrong = (kind(epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 1.6))
    converted = convert(scores)
    counts = counts_of(mechanism.select_many(converted, 20_000), scores.size)
    np.testing.assert_array_equal(mechanism.pmf(converted), mechanism.pmf(scores))
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
    assert p_value(counts, wrong.pmf(scores)) < NEVER
    assert 0 <= mechanism.select(converted) < scores.size


@every_kind
def test_peeled_pairs_follow_the_product_of_two_laws(kind: Kind) -> None:
    """First winner, then the best of the rest with fresh noise; control: both from the full vector."""
    scores = np.array([2.0, 0.0, 1.0, 2.0, -1.0])
    mechanism, wrong = (kind(epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 1.5))
    pairs = np.array([mechanism.peel(scores, 2) for _ in range(12_000)])
    counts = np.bincount(pairs[:, 0] * 5 + pairs[:, 1], minlength=25)
    assert p_value(counts, pair_law(mechanism, scores)) >= NEVER
    assert p_value(counts, pair_law(wrong, scores)) < NEVER


def pair_law(mechanism: Any, scores: np.ndarray) -> np.ndarray:
    """Probability of (first, second), flattened."""
    n = scores.size
    law = np.zeros((n, n))
    for first, probability in enumerate(mechanism.pmf(scores)):
        rest = np.delete(np.arange(n), first)
        law[first, rest] = probability * mechanism.pmf(scores[rest])
    return law.ravel()


def test_exponential_noise_once_would_be_noticed() -> None:
    """Keeping the noise of the first round gives another law than permute-and-flip peeling."""
    scores, mechanism = np.array([2.0, 2.0, 0.0, 0.0]), dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)
    noisy = scores + np.random.default_rng(0).exponential(1.0, (40_000, 4))
    pairs = np.argsort(-noisy, axis=1)[:, :2]
    counts = np.bincount(pairs[:, 0] * 4 + pairs[:, 1], minlength=16)
    assert p_value(counts, pair_law(mechanism, scores)) < NEVER


@every_kind
def test_peeling_everything_gives_every_index_once(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    scores = RNG.integers(0, 5, 1500)
    winners = mechanism.peel(scores, scores.size)
    assert winners.dtype == np.int64
    assert sorted(winners.tolist()) == list(range(scores.size))


@pytest.mark.parametrize("name", ["exponential mechanism", "permute-and-flip"])
def test_two_million_scores_on_all_cores(name: str) -> None:
    """Few enough at the top for their law to be seen, spread over the whole array."""
    top = np.linspace(0, 1_999_999, 9).astype(int)
    scores = np.full(2_000_000, -5000, dtype=np.int16)
    scores[top] = [3, 1, 2, 3, 0, 1, 2, 0, 3]
    mechanism, wrong = (KINDS[name](epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 3.0))
    draws = np.array([mechanism.select(scores) for _ in range(600)])
    counts = np.array([(draws == index).sum() for index in top])
    assert counts.sum() == 600
    assert p_value(counts, mechanism.pmf(scores[top])) >= NEVER
    assert p_value(counts, wrong.pmf(scores[top])) < NEVER


@every_kind
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_beyond_doubles_are_not_rounded(kind: Kind, dtype: type[np.int64]) -> None:
    """Rounded to doubles, all of them would tie."""
    scores = np.array([2**62, 2**62 + 1, 2**62 + 2, 2**62 + 3], dtype=dtype)
    mechanism = kind(epsilon=200.0, sensitivity=1.0)
    assert np.all(mechanism.select_many(scores, 2000) == 3)
    assert mechanism.pmf(scores)[2] < 1e-40
    gentle = kind(epsilon=1.0, sensitivity=1.0)
    counts = counts_of(gentle.select_many(scores, 20_000), 4)
    assert p_value(counts, gentle.pmf([0, 1, 2, 3])) >= NEVER
    assert p_value(counts, np.full(4, 0.25)) < NEVER


@every_kind
@pytest.mark.parametrize(
    ("epsilon", "sensitivity"),
    [(1e300, 1.0), (5e-324, 1.0), (1.0, 1e300), (1.0, 5e-324), (5e-324, 1e300), (1e300, 5e-324), (5e-324, 5e-324)],
)
@pytest.mark.parametrize(
    "scores", [[0.0, 1.0, 2.0], [-1.7e308, 1.7e308, 0.0], [5e-324, 0.0, 1e-300], [2**63 - 1, -(2**63), 0]]
)
def test_extreme_arguments(kind: Kind, scores: list[float], epsilon: float, sensitivity: float) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=sensitivity)
    pmf = mechanism.pmf(scores)
    assert abs(pmf.sum() - 1.0) <= 1e-12
    draws = mechanism.select_many(scores, 1500)
    assert p_value(counts_of(draws, 3), pmf) >= NEVER
    assert 0.0 <= mechanism.scale <= np.inf
    assert mechanism.error_bound(3) > 0.0
    assert mechanism.expected_error(scores) >= 0.0
