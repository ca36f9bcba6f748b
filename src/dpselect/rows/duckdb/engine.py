"""Rows of any source, asked of DuckDB, on a thread of its own. Its messages quote rows, and are never passed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from dpselect.errors import SelectionError
from dpselect.formats import Format
from dpselect.rows.columns import Progress
from dpselect.rows.duckdb.arrow import of_numpy, pa
from dpselect.rows.duckdb.cells import Cell
from dpselect.rows.duckdb.connection import Connection, connected
from dpselect.rows.duckdb.dialect import DuckDB
from dpselect.rows.duckdb.scan import Scan, Source
from dpselect.rows.failures import TranslatedErrors, unanswered
from dpselect.rows.row_rules import Name, Unit, Value
from dpselect.rows.statements import Engine, Found, Statement
from dpselect.summaries import CandidateKind, PublicCandidates

Answer = TypeVar("Answer")
Query = Callable[[Connection], Answer]

_POLL_SECONDS = 0.1


class Embedded(Engine):
    """DuckDB over a source of rows. It may use `memory_limit` bytes before it spills; None: most of the machine's."""

    def __init__(self, source: Source, memory_limit: int | None = None, format: Format | None = None) -> None:
        self.source, self.memory_limit, self.format = source, memory_limit, format
        self.shown, self.columns, self.listed = source.shown, source.columns, source.listed

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements. For several, the engine keeps the rows that it has read.

        If these do not fit into memory and temporary disk space together, they are read for each statement.
        """
        names: dict[Cell, str] = {}
        mine = [_cells(each, names) for each in asked]
        scan = Scan(self.source, {name: cell for cell, name in names.items()}, format=self.format, kept=len(asked) > 1)
        query = partial(_found, asked=asked, cells=mine)
        try:
            return answer(scan, query, progress=progress, memory_limit=self.memory_limit)
        except SelectionError as error:
            if len(asked) == 1 or type(error) is not SelectionError:  # what is said of rows depends on no way to read
                raise
        return [found for each in asked for found in self.answers([each], progress)]


def _cells(statement: Statement, names: dict[Cell, str]) -> dict[str, tuple[str, ...]]:
    """The names of the cells of a statement, which are added to those of others; alike cells are read once."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in statement.reads.items():
        column = value.column
        if isinstance(value, Unit):
            cells = [Cell(column.source)]
        elif column.parts:
            cells = [Cell.of(*both) for both in zip(column.sources, statement.parts, strict=True)]
        elif column.days:
            cells = [Cell.of(column.sources[0], CandidateKind.DATE)]
        else:
            kind = value.kind if isinstance(value, Value | Name) else None
            cells = [Cell.of(column, statement.lists.get(name, kind))]
        found[name] = tuple(names.setdefault(cell, f"c{len(names)}") for cell in cells)
    return found


def _found(
    connection: Connection, asked: Sequence[Statement], cells: Sequence[Mapping[str, Sequence[str]]]
) -> list[Found]:
    found: list[Found] = []
    for statement, names in zip(asked, cells, strict=True):
        for name, listed in statement.tables.items():
            connection.register(name, candidate_table(listed))
        sql = statement.sql(DuckDB(connection), names, "rows")
        if statement.named is None:
            found.append(connection.execute(sql).fetchnumpy())
        else:
            table = connection.sql(sql).to_arrow_table()
            found.append(dict(zip(table.column_names, table.columns, strict=True)))
    return found


def candidate_table(candidates: PublicCandidates) -> Any:
    """The candidates as an Arrow table of each ``candidate`` and its ``place``, the position."""
    values = candidates.values
    if isinstance(values, range):
        values = np.fromiter(values, np.int64, len(values))
    type_ = pa.large_string() if candidates.kind is CandidateKind.TEXT else None
    listed = of_numpy(values) if isinstance(values, np.ndarray) else pa.array(values, type_)
    return pa.table({"place": of_numpy(np.arange(len(values))), "candidate": listed})


def answer(
    scan: Scan, query: Query[Answer], *, progress: Progress | None = None, memory_limit: int | None = None
) -> Answer:
    """The result of `query`, run on a thread of its own so that this thread can report progress and receive Ctrl-C.

    The query sees the rows as the table ``rows``. Progress is reported about ten times a second.

    Raises:
        InvalidDataError: the table cannot be read to its end. This never depends on a row's content.
        SelectionError: memory or temporary disk space ran out.
    """
    import duckdb

    running = _ask(scan, query, progress, memory_limit)
    if scan.paths and not isinstance(running.exception(), duckdb.OutOfMemoryException | MemoryError | None):
        scan.paths = ()  # the engine cannot read the files: the stream may succeed, or give a precise error
        running = _ask(scan, query, progress, memory_limit)

    def said(error: BaseException) -> SelectionError:
        ran_out = isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException)  # of memory or of disk
        return scan.failure or unanswered(MemoryError() if ran_out else error, scan.shown, hint="")

    with TranslatedErrors(said):
        try:
            return running.result()
        finally:
            del running  # it holds a reference to the engine's error


def _ask(scan: Scan, query: Query[Answer], progress: Progress | None, memory_limit: int | None) -> Future[Answer]:
    """Run one pass to its end."""
    running: Future[Answer] = Future()
    is_long = False
    with suppress(_UsedUpError), connected(memory_limit=memory_limit, paths=scan.paths) as connection:
        given = _fulfil, running, connection, scan, query
        worker = Thread(target=copy_context().run, args=given, daemon=True)  # knows of a seeded block
        try:
            worker.start()
            while True:
                with suppress(TimeoutError):
                    running.exception(timeout=_POLL_SECONDS)
                    break
                is_long = True
                if progress is not None:
                    progress(scan.fraction(connection))
        except BaseException:  # mainly Ctrl-C, which only this thread receives, also while the other one starts
            scan.stop()
            _outlast(running, connection)
            raise
        finally:
            with suppress(RuntimeError):  # it was never started
                worker.join()
        if is_long or running.exception() is not None:
            raise _UsedUpError
    return running


class _UsedUpError(Exception):
    """A question that failed leaves things behind, and a long one memory: the next one opens a new database."""


def _fulfil(running: Future[Answer], connection: Connection, scan: Scan, query: Query[Answer]) -> None:
    if not running.set_running_or_notify_cancel():
        return
    try:
        scan.attach(connection)
        answer = query(connection)
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        running.set_exception(error)
    else:
        running.set_result(answer)


def _outlast(running: Future[Any], connection: Connection) -> None:
    """Stop the query and wait for its end in any case: a thread that outlives the interpreter would crash it."""
    while not running.cancel() and not running.done():
        with suppress(KeyboardInterrupt):
            connection.interrupt()  # repeated, because between two statements it has no effect
            wait([running], timeout=_POLL_SECONDS / 5)
