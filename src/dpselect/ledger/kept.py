"""Open connections to a SQLite file, kept between uses and never carried across a fork.

SQLite's locks belong to a process, and SQLite remembers which it holds. A child that inherits an open file would
believe to hold locks that it does not have, and write into a log that others delete; and a lock within SQLite that
another thread held at that moment stays locked in the child for ever. So what is idle is closed before a fork, and a
child of a process that was using a ledger at that moment is refused.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast
from weakref import WeakSet

import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerUnavailableError
from dpselect.ledger.file import LOST, FileConnection, Identity, has_lost_log

_FORKED = (
    "this process was forked from one that was using a ledger at that moment, in another thread, and cannot lock it"
    " safely. Nothing was written; start such processes by 'spawn' or 'forkserver', or fork before ledgers are used."
)


class Kept:
    """The connections to one file, through one engine.

    Args:
        ledger: how messages speak of it.
        find: the identity of the file now.
        connect: opens one more connection.
    """

    __slots__ = ("__weakref__", "_connect", "_find", "_idle", "_ledger", "_process")

    def __init__(self, ledger: str, find: Callable[[], Identity], connect: Callable[[], sa.Connection]) -> None:
        self._ledger, self._find, self._connect = ledger, find, connect
        self._idle: list[sa.Connection] = []
        self._process = os.getpid()
        with _guard:
            _all.add(self)

    @contextmanager
    def one(self) -> Generator[sa.Connection]:
        """A connection that nobody else uses meanwhile; let go of for good where the block fails.

        Raises:
            LedgerUnavailableError: a ledger was in use when this process was forked; or there is no file.
            LedgerDamagedError: the file's log was lost under this process.
        """
        token = object()  # known before it is entered: an interrupt at any point leaves no use behind
        try:
            connection = self._taken(token) or self._new()
            try:
                yield connection
            except BaseException:
                let_go(connection)
                raise
            if connection.in_transaction():
                connection.rollback()
            if _raw(connection).still is None:
                self._idle.append(connection)
            else:
                let_go(connection)  # SQLite would not look at the file again, and miss what others write
        finally:
            _used.discard(token)

    def close(self) -> None:
        """Let go of what is idle."""
        token = object()
        try:
            with _guard:
                self.leave_to_parent()
                _used.add(token)  # closing is a use as well
                idle, self._idle = self._idle, []
            for connection in idle:
                let_go(connection)
        finally:
            _used.discard(token)

    def leave_to_parent(self) -> None:
        """In a forked process: whatever is open here is not even closed. Only with `_guard` held."""
        global _is_forked_amid_use
        if os.getpid() != self._process:
            _is_forked_amid_use |= bool(self._idle)
            for connection in self._idle:
                _never_close(connection)
            self._idle, self._process = [], os.getpid()

    def _taken(self, token: object) -> sa.Connection | None:
        with _guard:
            _begin(token, self._ledger)
            self.leave_to_parent()  # done already, unless it was not Python that forked
            connection = self._idle.pop() if self._idle else None
        if connection is not None and _lost and _raw(connection).identity in _lost:
            raise LedgerDamagedError(self._ledger, LOST)
        return connection

    def _new(self) -> sa.Connection:
        if self._find() in _lost:
            raise LedgerDamagedError(self._ledger, LOST)
        return self._connect()


def _raw(connection: sa.Connection) -> FileConnection:
    return cast(FileConnection, connection.connection.dbapi_connection)


def _begin(token: object, ledger: str) -> None:
    if _is_forked_amid_use:
        raise LedgerUnavailableError(ledger, _FORKED)
    _used.add(token)


@contextmanager
def in_use(ledger: str) -> Generator[None]:
    """Within it SQLite may hold locks of its own.

    Raises:
        LedgerUnavailableError: it held some when this process was forked.
    """
    token = object()
    try:
        with _guard:
            _begin(token, ledger)
        yield
    finally:
        _used.discard(token)


def let_go(connection: sa.Connection) -> None:
    """Close it; but not one whose log was removed.

    Closing would write what is in that log over what others have written since; and SQLite would go on with the old
    log's index in this process. So the file is not used here any more.
    """
    raw = _raw(connection)
    if has_lost_log(raw):
        _lost.add(cast(Identity, raw.identity))
        _never_close(connection)
    else:
        connection.close()


def _never_close(connection: sa.Connection) -> None:
    """Not even when the interpreter ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_guard = threading.Lock()
_all: WeakSet[Kept] = WeakSet()
_used: set[object] = set()
_lost: set[Identity] = set()
_is_forked_amid_use = False


def _before_fork() -> None:
    for kept in list(_all):
        kept.close()
    _guard.acquire()  # nobody begins to use one until the fork is over


def _in_parent() -> None:
    _guard.release()


def _in_child() -> None:
    """Whatever another thread was using, or has put back in between."""
    global _is_forked_amid_use
    _is_forked_amid_use |= bool(_used)
    _used.clear()
    for kept in list(_all):
        kept.leave_to_parent()
    _guard.release()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
