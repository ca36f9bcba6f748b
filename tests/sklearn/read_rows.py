"""Rows as the estimators read them: numbers of a table, places of labels, and scores of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpselect.sklearn import reading
from dpselect.summaries import PublicBins


def numbers(table: Any) -> list[np.ndarray]:
    """Each column of a table, as doubles."""
    return [reading.values_of(each) for each in reading.numbers(table)]


def positions(labels: Any, classes: Sequence[Any], *, rows: int) -> list[int]:
    """The place of each label in the public list of classes; -1 for any other."""
    return reading.positions(labels, classes, rows=rows).tolist()


def names_of(given: Any, count: int) -> Any:
    """What the features are called, by what a table calls its columns."""
    return reading.feature_names(given, count).values


def scores(
    values: Any, classes: Any, *, bounds: tuple[float, float], bins: Sequence[int], weights: Sequence[int] = (1, 1)
) -> list[int]:
    """Of each feature: how many rows, by their weight, the most frequent class in their bin is right about."""
    cuts = [PublicBins.given(bounds, many) for many in bins]
    return reading.tally(
        reading.numbers(np.column_stack([*values])), classes, bins=cuts, weights=weights
    ).totals.tolist()
