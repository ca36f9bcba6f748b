"""Distinct units per candidate: rows streamed into an in-memory DuckDB, which spills to disk what memory cannot hold.

Nothing the engine says is passed on: its messages quote rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from dpselect.backends.files import matching
from dpselect.backends.files.arrow import pa
from dpselect.backends.files.columns import Column, check_match
from dpselect.backends.files.scan import Scan
from dpselect.backends.files.table import FileTable
from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.summaries import CandidateCounts, CandidateKind, PublicCandidates

Progress = Callable[[float], None]
"""Called now and then, on the caller's thread, with the fraction of the input that has been read, from 0 to 1."""

_POLL_SECONDS = 0.1

_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "enable_progress_bar": "false",
    "preserve_insertion_order": "false",
    # The candidates are the small side of the join; of a stream of rows the planner cannot know that.
    "disabled_optimizers": "join_order,build_side_probe_side",
}


def count_distinct_units(
    table: FileTable,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates,
    progress: Progress | None = None,
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
    scan = Scan(table, unit=unit, column=column)
    with _engine() as connection, ThreadPoolExecutor(max_workers=1) as executor:
        query = executor.submit(_run, connection, scan, candidates)
        try:
            error = _wait(query, scan, progress)
        except BaseException:  # above all Ctrl-C, which only this thread hears of
            scan.stop()
            connection.interrupt()
            _outlast(query)
            raise
    if error is not None:
        raise scan.failure or _explained(error, table)
    positions, numbers = query.result()
    counts = np.zeros(len(candidates), np.int64)
    counts[positions] = numbers
    return CandidateCounts(counts)


@contextmanager
def _engine() -> Generator[duckdb.DuckDBPyConnection]:
    """An empty database in memory that can reach nothing but a folder to spill to, which only this user can read."""
    with (
        tempfile.TemporaryDirectory(prefix="dpselect-", ignore_cleanup_errors=True) as spill,
        duckdb.connect(":memory:") as connection,
    ):
        for name, value in {**_SETTINGS, "temp_directory": spill}.items():
            connection.execute(f"SET {name} = {_literal(value)}")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield connection


def _wait(query: Future[Any], scan: Scan, progress: Progress | None) -> BaseException | None:
    while True:
        try:
            return query.exception(timeout=_POLL_SECONDS)
        except TimeoutError:
            if progress is not None:
                progress(scan.fraction)


def _outlast(query: Future[Any]) -> None:
    """Wait for a stopped query, whatever happens: engine threads that outlive the interpreter would crash it."""
    while not query.done():
        with suppress(KeyboardInterrupt):
            wait([query])


def _run(
    connection: duckdb.DuckDBPyConnection, scan: Scan, candidates: PublicCandidates
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    who = matching.unit_expression(scan.unit.holds)
    what = matching.value_expression(candidates.kind, scan.column.holds)
    values = candidates.values
    connection.register("rows", scan.reader())
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


def _explained(error: BaseException, table: FileTable) -> SelectionError:
    """The little that may be said: whether it was the machine or the data, never which data."""
    if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException | MemoryError):
        return SelectionError("Counting needs more memory or temporary disk space than there is.")
    return InvalidDataError("source", Shown(repr(table.source)), "files that can be read to their end")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
