"""Candidates in a query: the engine leaves out rows without one, and its results become positions in the list."""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from dpselect.backends.lazy.engine_contract import EngineQuery, Frame
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates

MOST_IN_A_FILTER = 1000
"""Longer lists are joined as a table."""


def matched(frame: Frame, name: str, candidates: PublicCandidates | DistantCandidates, query: EngineQuery) -> Frame:
    """The rows of `frame` with a candidate in column `name`, which is a `row_rules.Value` of the candidates' kind."""
    if isinstance(candidates, DistantCandidates):
        listed: Frame = nw.from_native(candidates.frame).rename({"what": name})
        return frame.join(listed, on=name, how="inner")
    values = candidates.values
    if isinstance(values, range) and (values.step == 1 or len(values) > MOST_IN_A_FILTER):
        low, high = min(values[0], values[-1]), max(values[0], values[-1])
        frame = frame.filter(nw.col(name) >= low, nw.col(name) <= high)
        step = abs(values.step)
        if step == 1:
            return frame
        # Differences might overflow, and the sign of a remainder depends on the engine.
        return frame.filter(((nw.col(name) % step) + step) % step == low % step)
    if len(values) <= MOST_IN_A_FILTER and candidates.kind in query.in_filters:
        return frame.filter(nw.col(name).is_in(plain(candidates)))
    return frame.join(query.candidates(name, candidates), on=name, how="inner")


def plain(candidates: PublicCandidates) -> list[Any]:
    """The candidates as plain Python values, with 0.0 for -0.0."""
    if candidates.kind is CandidateKind.NUMBER:
        return [cast("float", value) + 0.0 for value in candidates.values]
    return list(
        np.asarray(candidates.values).tolist() if candidates.kind is CandidateKind.INTEGER else candidates.values
    )


def positions(found: Any, candidates: PublicCandidates) -> NDArray[np.int64]:
    """The positions of the returned values in the list of candidates, which has all of them.

    Args:
        found: Arrow array of candidates, without nulls.
        candidates: the candidates of the query.
    """
    values = candidates.values
    if isinstance(values, tuple):
        places = {value: place for place, value in enumerate(values)}
        return np.array([places[value] for value in found.to_pylist()], np.int64)
    numbers = np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
    if isinstance(values, range):
        # Differences modulo 2^64, because they need not fit into 63 bits.
        first = np.uint64(values[0] % 2**64)
        away = numbers.astype(np.uint64) - first if values.step > 0 else first - numbers.astype(np.uint64)
        return (away // np.uint64(abs(values.step))).astype(np.int64)
    order = np.argsort(values)
    return order[np.searchsorted(values, numbers, sorter=order)].astype(np.int64, copy=False)
