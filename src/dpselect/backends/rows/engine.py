"""One question to the rows of a source, on a thread of its own.

Nothing the engine says is passed on: its messages quote rows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

import duckdb

from dpselect.backends.contract import Progress
from dpselect.backends.failures import InOurWords
from dpselect.backends.rows.connection import Connection, connected
from dpselect.backends.rows.scan import Scan, explained

Answer = TypeVar("Answer")
Query = Callable[[Connection], Answer]

_POLL_SECONDS = 0.1

_FULL = (duckdb.OutOfMemoryException, MemoryError)


class Pass(Protocol):
    """One way to read the rows once."""

    @property
    def paths(self) -> tuple[str, ...]: ...
    def attach(self, connection: Connection) -> None: ...
    def fraction(self, connection: Connection) -> float: ...
    def stop(self) -> None: ...


def answer(
    scan: Scan, query: Query[Answer], *, progress: Progress | None = None, memory_limit: int | None = None
) -> Answer:
    """What `query` finds, run on a thread of its own so that this one can report progress and hear Ctrl-C.

    Args:
        scan: the rows; the query sees them as the table ``rows``.
        query: given an empty database with that table, fetches its answer.
        progress: told how far the reading has come; about ten times a second.
        memory_limit: bytes that the engine may use before it spills to disk; None: most of the machine's.

    Raises:
        InvalidDataError: the table cannot be read to its end (any more). No row's content decides whether this happens.
        SelectionError: memory or temporary disk space ran out.
    """
    running = _first_to_end(scan, query, progress, memory_limit)
    with InOurWords(lambda error: scan.failure or explained(_as_our_own(error), scan.source)):
        try:
            return running.result()
        finally:
            del running  # it holds on to the engine's error


def _first_to_end(
    scan: Scan, query: Query[Answer], progress: Progress | None, memory_limit: int | None
) -> Future[Answer]:
    """What the engine could not read by itself, the stream may read, or say what is wrong with it."""
    direct = scan.direct()
    if direct is not None:
        running = _ask(direct, query, progress, memory_limit)
        error = running.exception()
        if error is None or isinstance(error, _FULL):
            return running
    return _ask(scan, query, progress, memory_limit)


def _ask(reading: Pass, query: Query[Answer], progress: Progress | None, memory_limit: int | None) -> Future[Answer]:
    """One pass, over when this returns."""
    with (
        connected(memory_limit=memory_limit, paths=reading.paths) as connection,
        ThreadPoolExecutor(max_workers=1) as executor,
    ):
        running = executor.submit(_run, connection, reading, query)
        try:
            _wait(running, partial(reading.fraction, connection), progress)
        except BaseException:  # above all Ctrl-C, which only this thread hears of
            reading.stop()
            connection.interrupt()
            _outlast(running)
            raise
    return running


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


def _outlast(running: Future[Any]) -> None:
    """Wait for a stopped query, whatever happens: engine threads that outlive the interpreter would crash it."""
    while not running.done():
        with suppress(KeyboardInterrupt):
            wait([running])


def _as_our_own(error: BaseException) -> BaseException:
    """The engine's word for a full memory or disk as Python's own."""
    return MemoryError() if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException) else error
