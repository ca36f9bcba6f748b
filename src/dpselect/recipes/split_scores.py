"""How well a split of a node separates classes: three scores in whole numbers, with exact sensitivities.

A split sends each row of a node to one of its children. `counts` has shape ``(splits, children, classes)``: how many
rows of each class go where. A further row reaches just one child of each split, and moves every score in the same
direction, or not at all. So the scores are *monotone*, and need half the noise that is published for them
(``proofs/split_scores.md``).

Terms with fractions are computed in whole multiples of 1/65536, in such a way that the sensitivities hold exactly for
what is computed, not only for the formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import positive_count
from dpselect.errors import InvalidParameterError

Counts = NDArray[np.int64]

_UNIT = 1 << 16
_MOST_SQUARED = math.isqrt((1 << 63) - 1)
"""Rows of a child whose square is within 64 bits: three thousand million. Beyond, Python's whole numbers are used."""
_MOST_ROWS = 1 << 24
"""Of the bound on rows of the entropy, whose table of as many entries is kept in memory."""


@dataclass(frozen=True, slots=True)
class MostFrequentClass:
    """How many rows have the most frequent class of their child: minus the training error. Sensitivity 1.

    >>> import numpy as np
    >>> MostFrequentClass().scores(np.array([[[5, 1], [0, 4]], [[3, 3], [2, 2]]])).tolist()
    [9, 5]
    """

    @property
    def sensitivity(self) -> int:
        return 1

    def scores(self, counts: Counts) -> Counts:
        # A further row never lowers it: these scores rise together, where the other two fall together.
        return counts.max(axis=2).sum(axis=1)


@dataclass(frozen=True, slots=True)
class Gini:
    r"""Minus the sum over the children of :math:`N_j - \sum_c N_{jc}^2 / N_j`. Sensitivity 2 rows.

    >>> import numpy as np
    >>> (Gini().scores(np.array([[[5, 0], [0, 4]], [[2, 2], [3, 2]]])) / 65536).round(2).tolist()
    [0.0, -4.4]
    """

    @property
    def sensitivity(self) -> int:
        return 2 * _UNIT

    def scores(self, counts: Counts) -> Counts:
        rows = counts.sum(axis=2)
        if rows.max(initial=0) > _MOST_SQUARED:  # else a square wraps around, and one row moves a score by any amount
            counts, rows = counts.astype(object), rows.astype(object)
        squares, some = (counts * counts).sum(axis=2), np.maximum(rows, 1)
        whole, left = squares // some, squares % some  # apart, or the product below would leave 64 bits
        pure = whole * _UNIT - (-left * _UNIT // some)  # rounded up: the impurity is rounded down
        return (pure - rows * _UNIT).sum(axis=1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Entropy:
    r"""Minus the sum over the children of :math:`\sum_c N_{jc} \log_2(N_j / N_{jc})`, in bits.

    Args:
        most_rows: a public bound on the number of rows, which sets the sensitivity: about ``log2(most_rows) + 1.44``
            bits. If there are more, the guarantee still holds, and the score grows more slowly beyond the bound.

    Raises:
        InvalidParameterError: `most_rows` is not a whole number from 2 to 2^24.

    >>> import numpy as np
    >>> score = Entropy(most_rows=1000)
    >>> (score.scores(np.array([[[5, 0], [0, 4]], [[2, 2], [3, 3]]])) / 65536).round(2).tolist()
    [0.0, -10.0]
    >>> round(score.sensitivity / 65536, 2)
    11.41
    """

    most_rows: int
    _steps: Counts = field(init=False, repr=False, compare=False)
    _table: Counts = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        most = positive_count(self.most_rows, "most_rows", at_most=_MOST_ROWS)
        if most < 2:
            raise InvalidParameterError("most_rows", most, "at least 2")
        below = np.arange(1.0, most)
        # What the term N log2 N gains from N to N + 1. The proof needs only that these never fall.
        gains = np.log2(below + 1.0) + below * np.log1p(1.0 / below) / np.log(2.0)
        steps = np.maximum.accumulate(np.concatenate([[0], np.rint(gains * _UNIT)]).astype(np.int64))
        object.__setattr__(self, "most_rows", most)
        object.__setattr__(self, "_steps", steps)
        object.__setattr__(self, "_table", np.concatenate([[0], np.cumsum(steps)]))

    @property
    def sensitivity(self) -> int:
        return int(self._steps[-1])

    def scores(self, counts: Counts) -> Counts:
        return (self._terms(counts).sum(axis=2) - self._terms(counts.sum(axis=2))).sum(axis=1)

    def _terms(self, counts: Counts) -> Counts:
        """N log2 N of each number, and on from the bound in steps as large as the last one."""
        return (
            self._table[np.minimum(counts, self.most_rows)] + np.maximum(counts - self.most_rows, 0) * self._steps[-1]
        )


SplitScore = MostFrequentClass | Gini | Entropy
"""A score of splits, higher is better, in whole numbers; `sensitivity`: the most by which one row changes one score."""
