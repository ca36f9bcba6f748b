"""Distinct units per candidate."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, check_match
from dpselect.backends.files.table import FileTable
from dpselect.backends.rows import engine, matching
from dpselect.backends.rows.arrow import pa
from dpselect.backends.rows.scan import Scan
from dpselect.summaries import CandidateCounts, CandidateKind, PublicCandidates


def count_distinct_units(
    table: FileTable,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates,
    progress: engine.Progress | None = None,
) -> CandidateCounts:
    """How many different units have at least one row with each candidate.

    Args:
        table: the files.
        unit: the column that names the unit; rows in which it is missing are left out.
        column: the column compared with the candidates; rows in which it is none of them are left out.
        candidates: the public set to count.
        progress: told how far the reading has come; about ten times a second.

    Returns:
        Counts in the order of the candidates. A unit counts once per candidate, however many rows it has.

    Raises:
        InvalidDataError: the candidates cannot match the column's type, or a file cannot be read to its end (any
            more). No row's content decides whether this happens.
        SelectionError: memory or temporary disk space ran out.

    Proof: ``proofs/counting.md``.
    """
    check_match(column, candidates.kind)
    query = partial(_counted, unit=unit, column=column, candidates=candidates)
    positions, numbers = engine.answer(Scan(table, unit=unit, column=column), query, progress=progress)
    counts = np.zeros(len(candidates), np.int64)
    counts[positions] = numbers
    return CandidateCounts(counts)


def _counted(
    connection: engine.Connection, *, unit: Column, column: Column, candidates: PublicCandidates
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the candidates that occur, and how many units have each."""
    who = matching.unit_expression(unit.holds)
    what = matching.value_expression(candidates.kind, column.holds)
    values = candidates.values
    if isinstance(values, range) and values.step == 1:
        source = (
            f"SELECT {who} AS who, CASE WHEN what BETWEEN {values[0]} AND {values[-1]} THEN what - {values[0]} END"
            f" AS position FROM (SELECT unit, {what} AS what FROM rows)"
        )
    else:
        connection.register("candidates", _table(candidates))
        source = (
            f"SELECT {who} AS who, position FROM (SELECT unit, {what} AS what FROM rows) JOIN candidates"
            " ON what = candidate"
        )
    found = connection.execute(
        f"SELECT position::BIGINT AS position, count(DISTINCT who)::BIGINT AS number FROM ({source})"
        " WHERE who IS NOT NULL AND position IS NOT NULL GROUP BY position"
    ).fetchnumpy()
    return np.asarray(found["position"], np.int64), np.asarray(found["number"], np.int64)


def _table(candidates: PublicCandidates) -> Any:
    values = candidates.values
    if isinstance(values, range):
        values = np.fromiter(values, np.int64, len(values))
    types = {
        CandidateKind.INTEGER: pa.int64(),
        CandidateKind.NUMBER: pa.float64(),
        CandidateKind.TEXT: pa.large_string(),
        CandidateKind.DATE: pa.date32(),
        CandidateKind.BOOLEAN: pa.bool_(),
    }
    return pa.table({"position": np.arange(len(values)), "candidate": pa.array(values, types[candidates.kind])})
