"""UCI Adult in codes: features cut into public bins, and the classes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

Codes = NDArray[np.int64]

TABLE = Path(__file__).parents[1] / "data" / "adult_income.parquet"

EDGES = {
    "age": range(20, 75, 5),
    "education_num": range(2, 17),
    "hours_per_week": range(10, 71, 10),
    "capital_gain": (1, 3000, 5000, 7000, 10_000, 20_000),
    "capital_loss": (1, 1500, 1800, 2000, 2500),
}
"""Where the bins of a number begin; public: nothing was taken from the rows."""

WORDS = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
"""Columns of words, whose lists of values the census publishes."""

TRAINING = 24_421
"""Three rows in four, which trees are grown from; the others are for testing."""


@cache
def _columns() -> dict[str, NDArray[np.object_]]:
    table = pq.read_table(TABLE)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _numbers(name: str) -> Codes:
    return np.searchsorted(list(EDGES[name]), _columns()[name].astype(np.int64), side="right")


@cache
def income() -> tuple[Codes, tuple[int, ...], Codes]:
    """Codes of numbers in bins and of each word as yes or no; the number of bins; whether the income is high.

    >>> codes, bins, labels = income()
    >>> codes.shape == (32561, len(bins)), round(float(labels.mean()), 3)
    (True, 0.241)
    """
    columns, bins = [], []
    for name, edges in EDGES.items():
        columns.append(_numbers(name))
        bins.append(len(edges) + 1)
    for name in WORDS:
        for word in sorted(set(_columns()[name])):
            columns.append((_columns()[name] == word).astype(np.int64))
            bins.append(2)
    labels = np.array([str(each).strip().startswith(">50K") for each in _columns()["income"]], np.int64)
    order = np.argsort(np.arange(len(labels)) % 4 == 3, kind="stable")  # every fourth row is for testing
    return np.stack(columns, axis=1)[order], tuple(bins), labels[order]


@cache
def attributes() -> tuple[Codes, tuple[int, ...], tuple[str, ...]]:
    """Seven attributes with few values each, for synthetic tables and networks.

    >>> codes, sizes, names = attributes()
    >>> codes.shape, sizes
    ((32561, 7), (4, 4, 3, 7, 5, 2, 2))
    """
    found = {
        "age": np.searchsorted([25, 40, 55], _columns()["age"].astype(np.int64), side="right"),
        "education": np.searchsorted([9, 10, 13], _columns()["education_num"].astype(np.int64), side="right"),
        "hours": np.searchsorted([35, 45], _columns()["hours_per_week"].astype(np.int64), side="right"),
    }
    for name in ("marital_status", "race", "sex", "income"):
        words = sorted(set(_columns()[name]))
        found[name] = np.array([words.index(each) for each in _columns()[name]])
    sizes = (4, 4, 3, *(int(found[name].max()) + 1 for name in list(found)[3:]))
    return np.stack(list(found.values()), axis=1).astype(np.int64), sizes, tuple(found)
