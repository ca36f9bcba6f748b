"""Streams: what one question costs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import seconds

TEST_AT_MOST = 1.0
"""Microseconds."""


def lines() -> Iterator[Line]:
    """Far below the threshold, and near it, where the coin needs its exponential."""
    for case, value in (("far below", 10.5), ("near the threshold", 990.5), ("a whole number", 10)):
        stream = dps.AboveThreshold(1000, epsilon=1.0, sensitivity=1, moves="up", positives=2**40)
        yield Line.of(
            seconds(partial(stream.test, value)),
            factor=1e6,
            what="one question of a stream",
            case=f"`AboveThreshold.test`, {case}",
            n=1,
            dtype="float64",
            unit="us",
            at_most=TEST_AT_MOST,
        )
