"""The public bins of features and the public classes, and how rows are counted with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpselect.summaries.candidates import PublicCandidates
from dpselect.summaries.domain import GrowingBins, PublicBins
from dpselect.summaries.private import RuleCounts

HIGHEST_WEIGHT = 1 << 20
"""Of a class: weighted counts of any table that fits into memory stay far below 2^63."""

MOST_CELLS = 1 << 24
"""Of the table of bins and classes that is counted for one feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFeatures:
    """The features to choose from, the bins of each, and the weights of the classes.

    A rule assigns one class to each bin of one feature, and one to a missing value; the best rule of a feature assigns
    the class with the largest weight there. The rule itself is never released; only its number of correct rows is used.

    Attributes:
        names: of the features.
        bins: of each feature, in the order of `names`.
        weights: whole numbers >= 1, one for each class: what a row of it counts for.

    >>> cut = PublicBins.given((0, 10), 2)
    >>> features = PublicFeatures(names=PublicCandidates.given(["age"]), bins=(cut,), weights=(1, 1))
    >>> features.tally([np.array([1.0, 2.0, 3.0, 7.0, np.nan])], np.array([0, 0, 1, 1, -1])).right.tolist()
    [3]
    """

    names: PublicCandidates
    bins: tuple[PublicBins | GrowingBins, ...]
    weights: tuple[int, ...]

    def tally(self, columns: Iterable[NDArray[np.float64]], classes: NDArray[np.int64]) -> RuleCounts:
        """What the best rule of each feature gets right; decided for each row alone, summed in whole numbers.

        Args:
            columns: the values of each feature, shape ``(rows,)`` each; NaN is a missing value.
            classes: position of each row's class, shape ``(rows,)``; -1: none of them, and the row is left out.
        """
        known = classes >= 0
        known_classes = classes[known]
        right = [self._right(cut, column[known], known_classes) for cut, column in zip(self.bins, columns, strict=True)]
        return RuleCounts(np.array(right, dtype=np.int64))

    def _right(self, cut: PublicBins | GrowingBins, values: NDArray[np.float64], classes: NDArray[np.int64]) -> int:
        many = len(self.weights)
        places = np.where(np.isnan(values), cut.count, cut.places(values))
        cells = np.bincount(places * many + classes, minlength=(cut.count + 1) * many).astype(np.int64, copy=False)
        weighted = cells.reshape(cut.count + 1, many) * np.array(self.weights, dtype=np.int64)
        return int(weighted.max(axis=1).sum())
