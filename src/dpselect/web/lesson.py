"""What the *learn* page shows: two mechanisms on five numbers of the reader's own, drawn a thousand times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.web.forms import MOST_EPSILON, NOBODY

DRAWS = 1000
LETTERS = "ABCDE"
EXAMPLE = ("12", "10", "9", "6", "2")
_MECHANISMS: tuple[tuple[str, type[Mechanism]], ...] = (
    ("Permute-and-flip", PermuteAndFlip),
    ("Exponential mechanism", ExponentialMechanism),
)
_LARGEST = 1e9
_SMALLEST = 1e-290
"""Probabilities above it are accurate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One of the five: its letter and number, its exact probability, and how often it was drawn."""

    letter: str
    number: float
    probability: float
    drawn: int

    @property
    def expected(self) -> float:
        """How often it is drawn on average."""
        return self.probability * DRAWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """One mechanism on the five numbers.

    Attributes:
        name: of the mechanism.
        bars: one for each number.
        expected_error: how far the selected number is below the largest, on average.
        average_error: the same in the draws.
        largest_factor: by which any probability changes at most if one person is added or removed; None if some
            probabilities are too small for a double, so that it cannot be told.
    """

    name: str
    bars: tuple[Bar, ...]
    expected_error: float
    average_error: float
    largest_factor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Both mechanisms on the same numbers; `promised` is the factor that epsilon allows."""

    numbers: tuple[float, ...]
    epsilon: float
    demonstrations: tuple[Demonstration, ...]

    @property
    def promised(self) -> float:
        """``exp(epsilon)``; infinite if a double cannot hold it."""
        return math.exp(self.epsilon) if self.epsilon < 709 else math.inf


def lesson(texts: Sequence[str], epsilon: str) -> Lesson:
    """Draw from both mechanisms.

    The numbers are counts of people; one person changes each by at most 1, all in the same direction.

    Args:
        texts: the five numbers as they were typed.
        epsilon: likewise.

    Raises:
        InvalidParameterError: something is no number, or out of range; its name is a letter, or ``epsilon``.

    >>> [each.name for each in lesson(EXAMPLE, "1").demonstrations]
    ['Permute-and-flip', 'Exponential mechanism']
    """
    numbers = tuple(_number(text, letter) for text, letter in zip(texts, LETTERS, strict=True))
    value = positive_epsilon(_double(epsilon, "epsilon", "a finite number > 0"))
    if value > MOST_EPSILON:
        raise InvalidParameterError("epsilon", value, f"a number up to {MOST_EPSILON:g}", NOBODY)
    return Lesson(
        numbers=numbers,
        epsilon=value,
        demonstrations=tuple(_demonstration(name, kind, numbers, value) for name, kind in _MECHANISMS),
    )


def _demonstration(name: str, kind: type[Mechanism], numbers: tuple[float, ...], epsilon: float) -> Demonstration:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0, monotonic=True)
    scores = np.array(numbers)
    drawn = np.bincount(mechanism.select_many(scores, DRAWS), minlength=len(numbers))
    probabilities = mechanism.pmf(scores)
    bars = zip(LETTERS, numbers, probabilities.tolist(), drawn.tolist(), strict=True)
    return Demonstration(
        name=name,
        bars=tuple(
            Bar(letter=letter, number=number, probability=probability, drawn=count)
            for letter, number, probability, count in bars
        ),
        expected_error=mechanism.expected_error(scores),
        average_error=float((drawn * (max(numbers) - scores)).sum() / DRAWS),
        largest_factor=_largest_factor(mechanism, scores),
    )


def _largest_factor(mechanism: Mechanism, scores: np.ndarray) -> float | None:
    """The largest factor between two probabilities of the same answer, over all neighbours of the scores."""
    before, factors = mechanism.pmf(scores), [1.0]
    for changed in product((0.0, 1.0), repeat=scores.size):
        for direction in (-1.0, 1.0):
            after = mechanism.pmf(scores + direction * np.array(changed))
            if min(before.min(), after.min()) < _SMALLEST:
                return None
            factors += [float((before / after).max()), float((after / before).max())]
    return max(factors)


def _number(text: str, letter: str) -> float:
    expected = f"a number from 0 to {_LARGEST:,.0f}"
    number = _double(text, letter, expected)
    if not 0 <= number <= _LARGEST:
        raise InvalidParameterError(letter, number, expected)
    return number


def _double(text: str, name: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(name, Shown("<text>" if text else "<nothing>"), expected) from None
