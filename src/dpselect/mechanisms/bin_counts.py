"""The histogram a caller gives: how many units are in each of the public bins."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, InvalidScoresError, Shown
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores

MOST_UNITS = 1 << 40


def bin_counts(counts: object, name: str = "counts") -> NDArray[np.int64]:
    """`counts` as int64, shape ``(m,)``, each >= 0, with a sum below 2^40.

    Raises:
        InvalidDataError: something else. Its text shows no count.

    >>> bin_counts([3, 0, 2.0])
    array([3, 0, 2])
    """
    expected = "whole numbers >= 0, one for each bin, at least one"
    try:
        given = native_scores(cast(ScoresLike, counts))
    except InvalidScoresError as refused:
        problem = InvalidDataError(name, refused.got, expected)
    else:
        if given.size == 0:
            problem = InvalidDataError(name, Shown("<no bins>"), expected)
        elif not _are_counts(given):
            problem = InvalidDataError(name, Shown("<numbers that are no counts>"), expected)
        elif given.sum(dtype=np.float64) >= MOST_UNITS:
            problem = InvalidDataError(name, Shown("<too many units>"), "counts with a sum below 2^40")
        else:
            return given.astype(np.int64)
    raise problem


def _are_counts(given: NDArray[Any]) -> bool:
    return bool(np.all((given >= 0) & (given < MOST_UNITS) & (given == np.floor(given))))  # also false of NaN
