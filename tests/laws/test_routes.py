"""Draws follow the law whatever route they take: sizes, types and shapes at random, more of them by `make test-slow`.

Which route is taken depends on how many scores there are, how many are near the top and where these lie. The law of an
item is known, so that of all items with the same score is, and where among these a draw lies is uniform.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.subjects import KINDS
from tests.slow import EXAMPLES, SLOW

DRAWS = 4000
PLACES = 16

INSTANCES = range(2 * EXAMPLES if SLOW else EXAMPLES)
TYPES = ("f8", "f4", "i8", "i4", "u4", "i2", "u2", "i1", "u1")


def a_size(rng: np.random.Generator) -> int:
    """On a line of logarithms, or close to where one layout of the index ends and the next begins."""
    if rng.random() < 0.5:
        return int(10 ** rng.uniform(0.3, 4.3))
    beside = int(rng.integers(-40, 40)) if rng.random() < 0.5 else int(rng.integers(1, 6))
    return int(rng.choice([32, 64, 1024, 2048, 4096, 8192, 16384, 32768])) + beside


def few_near(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    """Some leaders, alone or side by side, neither surely heads nor seldom; the others add up to much or to little."""
    leaders = min(n, int(rng.integers(2, 60)))
    places = rng.choice(n, leaders, replace=False) if rng.random() < 0.6 else rng.integers(n) + np.arange(leaders)
    return under_the_top(n, places % n, unit, rng)


def few_apart(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    """Leaders that are far apart from each other, so that hardly two of them lie in one stripe."""
    leaders = min(n, int(rng.integers(2, 10)))
    return under_the_top(n, np.arange(leaders) * (n // leaders) + rng.integers(n // leaders), unit, rng)


def among_the_last(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    """The best somewhere, and one of the last few near it: a last stripe may be that short."""
    scores = under_the_top(n, np.array([rng.integers(n)]), unit, rng)
    scores[n - 1 - rng.integers(min(n, 3))] = 110 - np.rint(unit * rng.uniform(0.5, 3.0))
    return scores


def under_the_top(n: int, places: np.ndarray, unit: float, rng: np.random.Generator) -> np.ndarray:
    """One of `places` at the top, the others at least one and up to eight times `unit` below it; then all others."""
    scores = 110 - np.rint(unit * rng.choice([8.0, 13.0, 25.0])) - rng.integers(0, 3, n)
    scores[places] = 110 - np.rint(unit * rng.uniform(0.3, rng.choice([1.0, 3.0, 8.0]), places.size))
    scores[rng.choice(places)] = 110
    return scores


def steps(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    """Each score many times in a row."""
    return (np.arange(n) // max(1, n // int(rng.integers(1, 50)))) * int(rng.integers(0, 3))


def even(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    """As many of each score as of any other, in any order or sorted."""
    scores = rng.integers(0, rng.integers(2, 120), n)
    return np.sort(scores) if rng.random() < 0.3 else scores


def two_levels(n: int, unit: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(n) < rng.random() ** 6, int(rng.integers(1, 100)), 0) + rng.integers(0, 5, n)


SHAPES: tuple[Callable[[int, float, np.random.Generator], np.ndarray], ...]
SHAPES = (few_near, few_near, few_apart, few_apart, among_the_last, among_the_last, steps, even, two_levels)


def one_by_one(mechanism: Any, scores: np.ndarray) -> np.ndarray:
    return np.array([mechanism.select(scores) for _ in range(DRAWS if SLOW else DRAWS // 2)])


def some_at_a_time(mechanism: Any, scores: np.ndarray) -> np.ndarray:
    return np.concatenate([mechanism.select_many(scores, 20) for _ in range(DRAWS // 20)])


def all_at_once(mechanism: Any, scores: np.ndarray) -> np.ndarray:
    return np.asarray(mechanism.select_many(scores, 5 * DRAWS))


def first_of_two(mechanism: Any, scores: np.ndarray) -> np.ndarray:
    return np.array([mechanism.peel(scores, 2)[0] for _ in range(DRAWS // 4)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("draw", [one_by_one, some_at_a_time, all_at_once, first_of_two])
@pytest.mark.parametrize("name", ["exponential mechanism", "permute-and-flip", "Laplace noise"])
def test_every_route_has_the_law(name: str, draw: Callable[..., np.ndarray]) -> None:
    kind, told_apart = KINDS[name], 0
    for seed in INSTANCES:
        rng = np.random.default_rng(seed)
        n, dtype, shape = a_size(rng), str(rng.choice(TYPES)), SHAPES[rng.integers(len(SHAPES))]
        epsilon = float(rng.choice([0.02, 0.3, 1.0, 2.0]))
        scores = np.clip(shape(n, 2 / epsilon, rng), 0, 127).astype(dtype)
        mechanism, wrong = kind(epsilon=epsilon, sensitivity=1), kind(epsilon=1.6 * epsilon, sensitivity=1)
        context = f"instance {seed}: {n} scores of type {dtype}, {shape.__name__}, epsilon {epsilon}"

        _, class_of = np.unique(scores, return_inverse=True)
        drawn = draw(mechanism, scores)
        counts = np.bincount(class_of[drawn], minlength=class_of.max() + 1)
        law, other_law = (np.bincount(class_of, weights=each.pmf(scores)) for each in (mechanism, wrong))
        assert p_value(counts, law) >= NEVER, context
        told_apart += p_value(counts, other_law) < NEVER

        # Among those of the score that came most often every place is as likely as any other.
        members = np.flatnonzero(class_of == counts.argmax())
        parts = np.arange(members.size) * min(PLACES, members.size) // members.size
        places = np.bincount(parts[np.searchsorted(members, drawn[np.isin(drawn, members)])], minlength=parts[-1] + 1)
        assert p_value(places, np.bincount(parts) / members.size) >= NEVER, f"{context}: places"
    assert told_apart > len(INSTANCES) // 4, "too few instances tell another epsilon"
