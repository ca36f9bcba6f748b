"""Means of runs and of paired differences, their 95 % intervals, and the one rule that gives every verdict."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from examples.figures.figure import FloatArray
from examples.figures.table import Table
from scipy.stats import t as student

BETTER, WORSE, NEITHER = "better", "worse", "no difference found"

RULE = (
    "One way is called *better* than another where the 95 % interval of their mean difference lies above zero, *worse* "
    'where it lies below; otherwise the verdict is "no difference found". Differences are taken run by run, between '
    "runs of two ways with the same seed and the same rows. Intervals are those of Student's t."
)


def mean_and_half(values: FloatArray) -> tuple[float, float]:
    """The mean of runs, and half of its 95 % interval.

    >>> mean, half = mean_and_half(np.array([1.0, 2.0, 3.0]))
    >>> round(mean, 2), round(half, 2)
    (2.0, 2.48)
    """
    quantile = student.ppf(0.975, len(values) - 1)
    return float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(len(values)))


def verdict(difference: float, half: float, *, sign: float = 1.0) -> str:
    """What is found from a mean difference and half of its interval; `sign` is -1 where less is better.

    >>> verdict(0.2, 0.1), verdict(0.2, 0.1, sign=-1.0), verdict(0.2, 0.3)
    ('better', 'worse', 'no difference found')
    """
    if not abs(difference) > half:
        return NEITHER
    return BETTER if sign * difference > 0 else WORSE


def row(runs: Mapping[str, FloatArray], differences: Mapping[str, tuple[str, str]]) -> dict[str, float]:
    """The columns of a table: of each way its mean, of each pair their difference, each with half of its interval.

    >>> runs = {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 3.0])}
    >>> row(runs, {"gained": ("b", "a")})["gained"]
    1.0
    """
    found: dict[str, float] = {}
    for name, values in [*runs.items(), *((name, runs[a] - runs[b]) for name, (a, b) in differences.items())]:
        found[name], found[f"{name}_half_interval"] = mean_and_half(values)
    return found


def table_of(rows: list[dict[str, str | float]]) -> Table:
    """Rows as a table."""
    return Table({name: [each[name] for each in rows] for name in rows[0]})  # type: ignore[arg-type]


def average(values: FloatArray, halves: FloatArray) -> tuple[float, float]:
    """The mean over settings whose runs are independent, and half of its interval.

    >>> average(np.array([1.0, 3.0]), np.array([0.3, 0.4]))
    (2.0, 0.25)
    """
    return float(values.mean()), float(np.sqrt((halves**2).sum()) / len(values))


def shown(difference: float, half: float, style: str = "+.4f") -> str:
    """A difference with half of its interval.

    >>> shown(0.00251, 0.0004), shown(-0.0123, 0.002, "+.1%")
    ('+0.0025 ± 0.0004', '-1.2% ± 0.2%')
    """
    return f"{difference:{style.replace('+', '+z')}} ± {half:{style.removeprefix('+')}}"


def by_setting(labels: list[str], values: FloatArray, halves: FloatArray, *, sign: float = 1.0) -> str:
    """Where which verdict is found, in words.

    >>> by_setting(["0.1", "1"], np.array([0.3, 0.1]), np.array([0.1, 0.2]))
    'better at 0.1; no difference found at 1'
    """
    found = [verdict(value, half, sign=sign) for value, half in zip(values, halves, strict=True)]
    parts = []
    for word in (BETTER, WORSE, NEITHER):
        where = [label for label, each in zip(labels, found, strict=True) if each == word]
        if where:
            parts.append(f"{word} at {', '.join(where)}" if len(where) < len(found) else f"{word} at all of them")
    return "; ".join(parts)


def counted(values: FloatArray, halves: FloatArray, *, sign: float = 1.0) -> str:
    """How often which verdict is found.

    >>> counted(np.array([0.3, 0.1]), np.array([0.1, 0.2]))
    'better in 1, worse in 0, no difference found in 1 of 2 settings'
    """
    found = [verdict(value, half, sign=sign) for value, half in zip(values, halves, strict=True)]
    words = ", ".join(f"{word} in {found.count(word)}" for word in (BETTER, WORSE, NEITHER))
    return f"{words} of {len(found)} settings"
