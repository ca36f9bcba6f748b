"""SQLAlchemy's pool of connections to a SQLite file; no connection is passed on to a forked process.

SQLite's locks belong to a process, and SQLite remembers which ones it holds. A child that used an inherited connection
would write without the locks that it believes it holds, and a mutex of SQLite that another thread held during the fork
would stay locked in the child for ever. So a fork waits until no connection is being opened or returned, and closes the
idle ones. A child is refused if its parent was using a ledger during the fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, cast
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from dpselect.errors import LedgerUnavailableError
from dpselect.ledger.sqlite_file import FileConnection, Identity, refuse_lost

_FORKED = (
    "this process was forked from one that was using a ledger at that moment, in another thread, and cannot lock it"
    " safely. Nothing was written; start such processes by 'spawn' or 'forkserver', or fork before ledgers are used."
)

Opened = TypeVar("Opened")


class SqliteConnections:
    """The connections of one ledger.

    Args:
        ledger: the ledger's address in messages.
        open_file: opens another connection.
    """

    __slots__ = ("__weakref__", "_engine", "_ledger")

    def __init__(self, ledger: str, open_file: Callable[[], FileConnection]) -> None:
        self._ledger = ledger
        # A pool size of 0 means no limit: threads never wait for a connection, only for their turn to write.
        self._engine = sa.create_engine(
            "sqlite://", creator=open_file, poolclass=QueuePool, pool_size=0, pool_use_lifo=True
        )
        with _guard:
            _all.add(self)

    @contextmanager
    def one(self) -> Generator[sa.Connection]:
        """A connection for this block alone; closed for good if the block fails.

        Raises:
            LedgerUnavailableError: a ledger was in use when this process was forked, or there is no file.
            LedgerDamagedError: the file's log was lost under this process.
        """
        with in_use(self._ledger, self._engine.connect, sa.Connection.close) as connection:
            raw = raw_of(connection)
            try:
                refuse_lost(cast(Identity, raw.identity), ledger=self._ledger)
                yield connection
            except BaseException:
                connection.invalidate()
                raise
            if raw.still is not None:
                connection.invalidate()  # SQLite would not read the file again, and would miss what others write

    def close(self) -> None:
        """Close the idle connections."""
        with _guard:  # not `engine.dispose`: connections in use would return to a pool that is never closed
            self._engine.pool.dispose()


def raw_of(connection: sa.Connection) -> FileConnection:
    """The connection of SQLite's driver."""
    return cast(FileConnection, connection.connection.dbapi_connection)


@contextmanager
def in_use(ledger: str, open_one: Callable[[], Opened], close: Callable[[Opened], None]) -> Generator[Opened]:
    """What `open_one` returns, counted as in use until it is closed, because SQLite may hold locks through it.

    Raises:
        LedgerUnavailableError: a ledger was in use when this process was forked.
    """
    with _guard:
        if os.getpid() != _process:
            _leave_to_parent()  # forked without Python's hooks
        if _is_forked_amid_use:
            raise LedgerUnavailableError(ledger, _FORKED)
        opened = open_one()
        _used.add(opened)
    try:
        yield opened
    finally:
        with _guard:
            close(opened)
            _used.discard(opened)


_guard = threading.RLock()
"""Held while a connection is opened, closed or returned, and while the process forks."""
_all: WeakSet[SqliteConnections] = WeakSet()
_used: WeakSet[object] = WeakSet()
"""Weak references: after an interrupt, an object counts as in use only while somebody can still use it."""
_process = os.getpid()
_is_forked_amid_use = False


def _before_fork() -> None:
    _guard.acquire()  # nobody opens or returns a connection until the fork is over
    for each in list(_all):
        each.close()


def _in_parent() -> None:
    _guard.release()


def _in_child() -> None:
    global _guard, _is_forked_amid_use
    _guard = threading.RLock()
    _is_forked_amid_use |= bool(_used)
    _used.clear()
    _leave_to_parent()


def _leave_to_parent() -> None:
    """In a child: close connections that were idle in the parent, which does nothing to the file."""
    global _process
    _process = os.getpid()
    for each in list(_all):
        each.close()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
