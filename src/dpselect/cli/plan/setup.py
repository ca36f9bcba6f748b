"""What ``dpselect plan`` compares, and the checks of its arguments."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from dpselect.accounting import (
    calibrate_laplace_profile,
    calibrate_rounds,
    laplace_profile_epsilon,
    rounds_epsilon,
)
from dpselect.checks import delta_below_one, positive_count, positive_epsilon, positive_sensitivity, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.mechanisms.scores import NumericArray, finite_scores

_TABLES = {".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".arrow", ".feather", ".xlsx", ".db", ".sqlite"}
_LEAK = "Planning with private scores would itself leak data. Write public numbers into a text file, one per line."

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOST_DIGITS = 20
"""Digits of a 64-bit integer."""


def public_scores(path: str) -> NumericArray:
    """The numbers in a text file: UTF-8, one a line; blank lines and those that start with ``#`` do not count.

    Args:
        path: of a file whose name is not that of a table, because a table would be the private data.

    Returns:
        Shape ``(n,)``; 64-bit integers if all numbers are whole, else the doubles nearest to them.

    Raises:
        InvalidScoresError: a table, not such a file, no number in it, or a line that is no finite number, named by
            its place alone.

    >>> public_scores("examples/data/public_scores.txt")[:3]
    array([640, 625, 553])
    """
    names = (path, os.path.realpath(path)) if "\0" not in path else ()
    if any(suffix.lower() in _TABLES for name in names for suffix in PurePath(name).suffixes):
        raise InvalidScoresError("scores", Shown(repr(path)), "a file of public scores, not a table", _LEAK)
    numbers: list[int | float] = []
    try:
        with open(path, encoding="utf-8-sig") as file:
            for place, line in enumerate(file, 1):
                text = line.strip()
                if text and not text.startswith("#"):
                    numbers.append(_number(text, place))
    except InvalidScoresError:  # also a ValueError
        raise
    except (OSError, ValueError):  # also a NUL in the path, and bytes that are not UTF-8
        raise InvalidScoresError(
            "scores", Shown(repr(path)), "a readable text file in UTF-8, one number per line"
        ) from None
    if not numbers:
        raise InvalidScoresError("scores", Shown(repr(path)), "at least one number in it")
    return finite_scores(numbers)


def _number(text: str, place: int) -> int | float:
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("+-0")) <= _MOST_DIGITS:
            return int(text)
        raise InvalidScoresError("scores", Shown(f"<line {place}>"), "an integer of 64 bits")
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise InvalidScoresError("scores", Shown(f"<line {place}>"), "a finite number, and nothing else on its line")
    return number


class _Share(Protocol):
    def __call__(self, *, epsilon: float, delta: float, count: int) -> float: ...


class _Total(Protocol):
    def __call__(self, epsilon: float, *, count: int, delta: float) -> float: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A mechanism that can be chosen, and how its selections share a budget."""

    name: str
    kind: Callable[..., Mechanism]
    share: _Share
    """Takes a total and returns the epsilon of each selection."""
    total: _Total
    """The way back, rounded up."""

    @property
    def phrase(self) -> str:
        """Its name within a sentence."""
        return f"the {self.name}" if self.kind is ExponentialMechanism else self.name


CHOICES: dict[str, Choice] = {
    "PermuteAndFlip": Choice("permute-and-flip", PermuteAndFlip, calibrate_laplace_profile, laplace_profile_epsilon),
    "ExponentialMechanism": Choice("exponential mechanism", ExponentialMechanism, calibrate_rounds, rounds_epsilon),
    "ReportNoisyMax": Choice("Laplace noisy max", ReportNoisyMax, calibrate_laplace_profile, laplace_profile_epsilon),
}
"""Keys are the names under which `dpselect` exports them."""

DEFAULT_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setup:
    """What is planned, every argument checked. Made by `Setup.checked`."""

    n: int
    scores: NumericArray | None
    source: str | None
    sensitivity: float
    monotonic: bool
    epsilons: tuple[float, ...]
    confidence: float
    selections: int
    delta: float

    @classmethod
    def checked(
        cls,
        *,
        candidates_count: int | None,
        scores: str | None,
        sensitivity: float,
        monotonic: bool,
        epsilons: Sequence[float],
        confidence: float,
        selections: int,
        delta: float,
    ) -> Setup:
        """Read the scores, if there are any; last, because that takes longest.

        Raises:
            InvalidParameterError: an argument is out of range, or not exactly one of `candidates_count` and `scores`.
            InvalidScoresError: as for `public_scores`.
        """
        if candidates_count is None and scores is None:
            expected = "the number of candidates, or --scores with a file of public scores instead"
            raise InvalidParameterError("candidates-count", None, expected)
        if candidates_count is not None and scores is not None:
            raise InvalidParameterError("scores", Shown(repr(scores)), "--candidates-count or --scores, not both")
        n = 0 if candidates_count is None else positive_count(candidates_count, "candidates-count", at_most=sys.maxsize)
        sensitivity = positive_sensitivity(sensitivity)
        checked = tuple(sorted({positive_epsilon(epsilon) for epsilon in epsilons}))
        confidence = probability(confidence, "confidence")
        selections = positive_count(selections, "selections", at_most=sys.maxsize)
        delta = delta_below_one(delta)
        vector = None if scores is None else public_scores(scores)
        return cls(
            n=n if vector is None else vector.size,
            scores=vector,
            source=scores,
            sensitivity=sensitivity,
            monotonic=monotonic,
            epsilons=checked,
            confidence=confidence,
            selections=selections,
            delta=delta,
        )

    @property
    def is_shared(self) -> bool:
        """Whether epsilon is a total that differs from the epsilon of one selection."""
        return self.selections > 1 or self.delta > 0

    @property
    def count(self) -> int | None:
        """The number of candidates as the library takes it: only if there are no scores."""
        return self.n if self.scores is None else None
