"""Runs one query over the rows of a source, on a thread of its own.

The engine's messages are never passed on, because they quote rows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, Protocol, TypeVar

from dpselect.rows.contract import Progress
from dpselect.rows.duckdb.connection import Connection, connected
from dpselect.rows.duckdb.scan import Scan, explained
from dpselect.rows.failures import TranslatedErrors

Answer = TypeVar("Answer")
Query = Callable[[Connection], Answer]

_POLL_SECONDS = 0.1


class Pass(Protocol):
    """One pass over the rows."""

    @property
    def paths(self) -> tuple[str, ...]: ...
    def attach(self, connection: Connection) -> None: ...
    def fraction(self, connection: Connection) -> float: ...
    def stop(self) -> None: ...


def answer(
    scan: Scan, query: Query[Answer], *, progress: Progress | None = None, memory_limit: int | None = None
) -> Answer:
    """The result of `query`, run on a thread of its own so that this thread can report progress and receive Ctrl-C.

    Args:
        scan: the rows; the query sees them as the table ``rows``.
        query: fetches its result from a database with this table.
        progress: called about ten times a second with the fraction that was read.
        memory_limit: bytes that the engine may use before it spills to disk; None: most of the machine's memory.

    Raises:
        InvalidDataError: the table cannot be read to its end. This never depends on a row's content.
        SelectionError: memory or temporary disk space ran out.
    """
    running = _first_to_end(scan, query, progress, memory_limit)
    with TranslatedErrors(lambda error: scan.failure or explained(_as_our_own(error), scan.source)):
        try:
            return running.result()
        finally:
            del running  # it holds a reference to the engine's error


def _first_to_end(
    scan: Scan, query: Query[Answer], progress: Progress | None, memory_limit: int | None
) -> Future[Answer]:
    """Try a direct scan first. If it fails, the stream may succeed, or give a precise error."""
    import duckdb

    direct = scan.direct()
    if direct is not None:
        running = _ask(direct, query, progress, memory_limit)
        error = running.exception()
        if error is None or isinstance(error, duckdb.OutOfMemoryException | MemoryError):
            return running
    return _ask(scan, query, progress, memory_limit)


def _ask(reading: Pass, query: Query[Answer], progress: Progress | None, memory_limit: int | None) -> Future[Answer]:
    """Run one pass to its end."""
    with connected(memory_limit=memory_limit, paths=reading.paths) as connection:
        running: Future[Answer] = Future()
        given = _fulfil, running, connection, reading, query
        worker = Thread(target=copy_context().run, args=given, daemon=True)  # knows of a seeded block
        try:
            worker.start()
            _wait(running, partial(reading.fraction, connection), progress)
        except BaseException:  # mainly Ctrl-C, which only this thread receives, also while the other one starts
            reading.stop()
            _outlast(running, connection)
            raise
        finally:
            with suppress(RuntimeError):  # it was never started
                worker.join()
    return running


def _fulfil(running: Future[Answer], connection: Connection, reading: Pass, query: Query[Answer]) -> None:
    if not running.set_running_or_notify_cancel():
        return
    try:
        answer = _run(connection, reading, query)
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        running.set_exception(error)
    else:
        running.set_result(answer)


def _run(connection: Connection, reading: Pass, query: Query[Answer]) -> Answer:
    reading.attach(connection)
    return query(connection)


def _wait(running: Future[Any], fraction: Callable[[], float], progress: Progress | None) -> None:
    while True:
        try:
            running.exception(timeout=_POLL_SECONDS)
        except TimeoutError:
            if progress is not None:
                progress(fraction())
        else:
            return


def _outlast(running: Future[Any], connection: Connection) -> None:
    """Stop the query and wait for its end in any case: a thread that outlives the interpreter would crash it."""
    while not running.cancel() and not running.done():
        with suppress(KeyboardInterrupt):
            connection.interrupt()  # repeated, because between two statements it has no effect
            wait([running], timeout=_POLL_SECONDS)


def _as_our_own(error: BaseException) -> BaseException:
    """The engine's error for full memory or disk as Python's `MemoryError`."""
    import duckdb

    return MemoryError() if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException) else error
