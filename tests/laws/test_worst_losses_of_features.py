"""The same claim of selected features: a row more, less or instead moves no probability by more than is stated."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.sklearn import PrivateSelectKBest
from tests.laws.fed import Fed, log_law, written_down

NAN, INF = float("nan"), float("inf")
SLACK = 1e-9

Row = tuple[float, float, Any]
"""Two features and the class."""

ALWAYS: list[Row] = [(0.2, 0.2, 0), (0.8, 0.2, 1), (0.8, 0.2, 1)]
COMMON: list[list[Row]] = [[], [(0.2, 0.8, 0)] * 2, [(0.8, 0.2, 1)] * 2, [(0.2, 0.2, 1), (0.2, 0.8, 0)]]
ODD: list[Row] = [
    (NAN, 0.8, 1),
    (INF, -INF, 0),
    (-0.0, 0.5, 1),
    (0.2, NAN, 9),
    (7.0, 0.5, None),
    (0.8, 0.2, 1),
    (0.2, 0.8, 0),
]

SETTINGS: dict[str, dict[str, Any]] = {
    "one": {"k": 1, "bins": 2},
    "both": {"k": 2, "bins": 2},
    "weighted": {"k": 1, "bins": 2, "class_weights": [1, 3]},
}


def handed(
    rows: list[Row], neighbours: Neighbours, *, epsilon: float, **settings: Any
) -> tuple[tuple[Fed, ...], float]:
    """What the mechanism is given, and the epsilon of the certificate."""
    selector = PrivateSelectKBest(
        epsilon=epsilon, classes=[0, 1], bounds=(0, 1), neighbours=str(neighbours), **settings
    )
    table = np.array([row[:2] for row in rows], dtype=float).reshape(-1, 2)
    with written_down() as fed:
        selector.fit(table, np.array([row[2] for row in rows], dtype=object))
    return tuple(fed), selector.release_.epsilon


def losses(neighbours: Neighbours, *, epsilon: float, times: int = 1, **settings: Any) -> Iterator[float]:
    """Between all neighbours. The row in which they differ is there so many times."""

    def law(rows: list[Row]) -> np.ndarray:
        fed, _ = handed(rows, neighbours, epsilon=epsilon, **settings)
        return log_law(((Fraction(1), fed),), ())

    for common in COMMON:
        rows = [*ALWAYS, *common]
        laws = [law([*rows, *[row] * times]) for row in ODD]
        pairs = product([law(rows)], laws) if neighbours is Neighbours.ADD_REMOVE else combinations(laws, 2)
        for first, second in pairs:
            yield float(np.abs(first - second).max())


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_no_more_is_lost_than_is_stated(name: str, neighbours: Neighbours) -> None:
    settings = SETTINGS[name]
    stated = handed(ALWAYS, neighbours, epsilon=2.0, **settings)[1]
    assert 0.0 < max(losses(neighbours, epsilon=2.0, **settings)) <= stated + SLACK
    assert max(losses(neighbours, epsilon=9.0, **settings)) > stated + SLACK  # control: less noise


def test_rows_that_count_twice_are_noticed() -> None:
    """Control."""
    assert max(losses(Neighbours.ADD_REMOVE, epsilon=2.0, times=3, **SETTINGS["one"])) > 2.0 + SLACK
