"""One question to a stream of rows: an in-memory DuckDB that reaches nothing, and spills what memory cannot hold.

Nothing the engine says is passed on: its messages quote rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import duckdb

from dpselect.backends.contract import Progress
from dpselect.backends.rows.scan import Scan, explained

Answer = TypeVar("Answer")
Connection = duckdb.DuckDBPyConnection

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


def answer(scan: Scan, query: Callable[[Connection], Answer], *, progress: Progress | None = None) -> Answer:
    """What `query` finds, run on a thread of its own so that this one can report progress and hear Ctrl-C.

    Args:
        scan: the stream; the query sees it as the table ``rows``.
        query: given an empty database with that table, fetches its answer.
        progress: told how far the reading has come; about ten times a second.

    Raises:
        InvalidDataError: the table cannot be read to its end (any more). No row's content decides whether this happens.
        SelectionError: memory or temporary disk space ran out.
    """
    with _engine() as connection, ThreadPoolExecutor(max_workers=1) as executor:
        running = executor.submit(_run, connection, scan, query)
        try:
            error = _wait(running, scan, progress)
        except BaseException:  # above all Ctrl-C, which only this thread hears of
            scan.stop()
            connection.interrupt()
            _outlast(running)
            raise
    if error is not None:
        raise scan.failure or explained(_memory_error_of(error), scan.source)
    return running.result()


@contextmanager
def _engine() -> Generator[Connection]:
    """An empty database in memory that can reach nothing but a folder to spill to, which only this user can read."""
    with (
        tempfile.TemporaryDirectory(prefix="dpselect-", ignore_cleanup_errors=True) as spill,
        duckdb.connect(":memory:") as connection,
    ):
        for name, value in {**_SETTINGS, "temp_directory": spill}.items():
            connection.execute(f"SET {name} = {_literal(value)}")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield connection


def _run(connection: Connection, scan: Scan, query: Callable[[Connection], Answer]) -> Answer:
    connection.register("rows", scan.reader())
    return query(connection)


def _wait(running: Future[Any], scan: Scan, progress: Progress | None) -> BaseException | None:
    while True:
        try:
            return running.exception(timeout=_POLL_SECONDS)
        except TimeoutError:
            if progress is not None:
                progress(scan.fraction)


def _outlast(running: Future[Any]) -> None:
    """Wait for a stopped query, whatever happens: engine threads that outlive the interpreter would crash it."""
    while not running.done():
        with suppress(KeyboardInterrupt):
            wait([running])


def _memory_error_of(error: BaseException) -> BaseException:
    """The engine's word for a full memory or disk as Python's own."""
    return MemoryError() if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException) else error


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
