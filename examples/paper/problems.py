"""The paper's two problems on real data, mode and median, in the units in which it counts errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from examples.figures.figure import FloatArray
from examples.figures.table import Table
from examples.paper.dpbench import NAMES, Counts, load, median_scores, mode_scores
from examples.paper.mechanisms import EXPONENTIAL, MECHANISMS, PERMUTE_AND_FLIP, error_column

import dpselect as dps
from dpselect import planning

STEPS = 100
"""Equal steps of epsilon of one curve."""

_FIRST_STEP = (0.1, 0.25, 0.5, 0.75)
"""More places within the first step, where errors fall fastest."""

LEAST_ERROR = 1.0
"""Curves end below it, as in the paper."""

FIXED_ERROR = 50.0
"""The exponential mechanism's error at which permute-and-flip's is compared with it."""

SENSITIVITY = 1.0
"""Of both scores, in records: one record more or less changes a score by at most 1."""

RIVALS = "expected_heads_besides_best"


@dataclass(frozen=True)
class Problem:
    """A problem, and the unit in which the paper counts its errors.

    The paper gives a bin of x records the score 2x. dpselect gives it x and halves the noise, because counts are
    monotone. The law is the same, but the paper's errors are twice as large.
    """

    name: str
    scores: Callable[[Counts], Counts]
    monotonic: bool
    units_per_record: float
    unit: str
    axis: str

    def curve(self, mechanism: str, data: str, epsilons: FloatArray) -> FloatArray:
        """Expected errors in the paper's unit."""
        return self.units_per_record * planning.error_curve(
            MECHANISMS[mechanism],
            _scores(self, data),
            epsilons=epsilons,
            sensitivity=SENSITIVITY,
            monotonic=self.monotonic,
        )

    def epsilon_for(self, data: str, error: float) -> float:
        """Where the exponential mechanism's expected error is `error`, in the paper's unit."""
        return planning.epsilon_for(
            MECHANISMS[EXPONENTIAL],
            _scores(self, data),
            expected_error=error / self.units_per_record,
            sensitivity=SENSITIVITY,
            monotonic=self.monotonic,
        )

    def rivals(self, data: str, epsilon: float) -> float:
        """How many bins besides the best are expected to show heads in permute-and-flip."""
        scale = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=SENSITIVITY, monotonic=self.monotonic).scale
        scores = _scores(self, data)
        return float(np.exp((scores - scores.max()) / scale).sum()) - 1.0


MODE = Problem("mode", mode_scores, True, 2.0, "double_counts", "expected error (twice the count)")
MEDIAN = Problem("median", median_scores, False, 1.0, "records", "expected error (records)")


@cache
def _scores(problem: Problem, data: str) -> Counts:
    return problem.scores(load(data))


def curves(problem: Problem, data_sets: tuple[str, ...]) -> Table:
    """Both errors at epsilons from near 0 to where both are below `LEAST_ERROR`, for each data set."""
    errors: dict[str, list[FloatArray]] = {name: [] for name in MECHANISMS}
    words: list[str] = []
    epsilons: list[FloatArray] = []
    for data in data_sets:
        last = round_up(problem.epsilon_for(data, LEAST_ERROR))
        here = last * np.array([*_FIRST_STEP, *range(1, STEPS + 1)]) / STEPS
        words += [data] * len(here)
        epsilons.append(here)
        for name in MECHANISMS:
            errors[name].append(problem.curve(name, data, here))
    columns = {error_column(name, problem.unit): np.concatenate(errors[name]) for name in MECHANISMS}
    return Table({"data_set": words, "epsilon": np.concatenate(epsilons), **columns})


def fixed_error(problem: Problem, error: float = FIXED_ERROR) -> Table:
    """Permute-and-flip's error on each data set where the exponential mechanism's is `error`."""
    epsilons = [problem.epsilon_for(data, error) for data in NAMES]
    pairs = list(zip(NAMES, epsilons, strict=True))
    errors = {
        error_column(name, problem.unit): [problem.curve(name, data, np.array([epsilon]))[0] for data, epsilon in pairs]
        for name in MECHANISMS
    }
    rivals = [problem.rivals(data, epsilon) for data, epsilon in pairs]
    return Table({"data_set": NAMES, "epsilon": epsilons, **errors, RIVALS: rivals})


def ratios(table: Table, problem: Problem) -> FloatArray:
    """The exponential mechanism's error over permute-and-flip's."""
    return table[error_column(EXPONENTIAL, problem.unit)] / table[error_column(PERMUTE_AND_FLIP, problem.unit)]


def round_up(value: float) -> float:
    """The next number that is easily read on an axis.

    >>> round_up(0.0786), round_up(0.021), round_up(2.0)
    (0.08, 0.025, 2.0)
    """
    power = 10.0 ** math.floor(math.log10(value))
    steps = (float(f"{step * power:.3g}") for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10))
    return next(step for step in steps if step >= value)
