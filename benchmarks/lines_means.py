"""Errors of the mean of a column, by peers and here, at the same epsilon: releases, not times."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import diffprivlib.tools
import numpy as np
import opendp.prelude as opendp
from tests.drawn_answers import planned

from benchmarks.line import Line
from dpselect.questions.moments import Mean
from dpselect.summaries import UnitValues

PEOPLE = Path(__file__).parents[1] / "examples" / "data" / "adult.csv"
COLUMNS = {"age": (0, 120), "education_num": (1, 16), "hours_per_week": (0, 80), "capital_gain": (0, 100_000)}
"""With public bounds."""

AT_AN_END = "capital_gain"
"""Its mean is a hundredth of the width from a bound, where ours errs like a mean over a public number of values."""

EPSILON = 1.0
DRAWS = 1500

opendp.enable_features("contrib")


def lines() -> Iterator[Line]:
    """One for each column and peer: the mean distance of its answers from the truth, in units of ours."""
    with PEOPLE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for column, bounds in COLUMNS.items():
        values = np.clip(np.array([float(row[column]) for row in rows]), *bounds)
        ours = _error(_ours(values, bounds), values, DRAWS)
        for name, (peer, draws) in PEERS.items():
            yield Line(
                what="error of the mean by peers / ours, same epsilon",
                case=f"{name}, {column}",
                n=values.size,
                dtype="rows",
                value=_error(peer(values, bounds), values, draws) / ours,
                unit="x",
                at_least=None if column == AT_AN_END else 1.0,
                runs=draws,
            )


def _ours(values: np.ndarray, bounds: tuple[int, int]) -> Callable[[], float]:
    """Without a public number of units, when one of them is added or removed."""
    question = planned(Mean, bounds=bounds, step=1, epsilon=EPSILON)
    summary = UnitValues(values, domain=question.domain, max_rows_per_unit=1)
    return lambda: float(question.released(summary).answer)  # type: ignore[arg-type]


def _diffprivlib(values: np.ndarray, bounds: tuple[int, int]) -> Callable[[], float]:
    """Takes the number of values for public."""
    return partial(diffprivlib.tools.mean, values, epsilon=EPSILON, bounds=bounds)


def _opendp(values: np.ndarray, bounds: tuple[int, int]) -> Callable[[], float]:
    """A sum and a count, each for half of epsilon, when a row is added or removed: what its documents show."""
    ends = (float(bounds[0]), float(bounds[1]))
    space = opendp.vector_domain(opendp.atom_domain(bounds=ends, nan=False)), opendp.symmetric_distance()
    total = opendp.binary_search_chain(
        lambda b: space >> opendp.t.then_sum() >> opendp.m.then_laplace(b), 1, EPSILON / 2
    )
    count = opendp.binary_search_chain(
        lambda b: space >> opendp.t.then_count() >> opendp.m.then_laplace(b), 1, EPSILON / 2
    )
    listed = values.tolist()
    return lambda: float(np.clip(total(listed) / max(count(listed), 1), *bounds))


def _opendp_sized(values: np.ndarray, bounds: tuple[int, int]) -> Callable[[], float]:
    """Over a public number of values, one of which may change, by its core."""
    ends = (float(bounds[0]), float(bounds[1]))
    space = (
        opendp.vector_domain(opendp.atom_domain(bounds=ends, nan=False), size=values.size),
        opendp.symmetric_distance(),
    )
    chain = opendp.binary_search_chain(
        lambda scale: space >> opendp.t.then_mean() >> opendp.m.then_laplace(scale), 2, EPSILON
    )
    return partial(chain, values.tolist())


def _error(mean: Callable[[], float], values: np.ndarray, draws: int) -> float:
    return float(np.mean([abs(mean() - values.mean()) for _ in range(draws)]))


PEERS: dict[str, tuple[Callable[[np.ndarray, tuple[int, int]], Callable[[], float]], int]] = {
    "diffprivlib, n public": (_diffprivlib, DRAWS),
    "OpenDP, n public": (_opendp_sized, 400),
    "OpenDP, sum and count": (_opendp, 400),
}
