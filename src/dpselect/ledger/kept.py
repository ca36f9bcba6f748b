"""Open connections to a SQLite file, kept between uses and never carried across a fork.

SQLite's locks belong to a process, and SQLite remembers which it holds. A child that inherits an open file would
believe to hold locks that it does not have, and write into a log that others delete. So what is idle is closed before a
fork, and a file that was in use by another thread at that moment is refused in the child.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast
from weakref import WeakSet

import sqlalchemy as sa

from dpselect.errors import LedgerUnavailableError
from dpselect.ledger.file import FileConnection, Identity

_INHERITED = (
    "this process was forked from one that was using it at that moment, in another thread, and cannot lock it safely."
    " Nothing was written; start such processes by 'spawn' or 'forkserver', or fork before the ledger is used."
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
        """A connection that nobody else uses meanwhile; closed for good where the block fails.

        Raises:
            LedgerUnavailableError: the file was in use when this process was forked; or there is none.
        """
        connection, identity = self._taken()
        try:
            if connection is None:
                connection = self._connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            if connection.in_transaction():
                connection.rollback()
        except BaseException:
            self._given_back(None, identity)
            raise
        self._given_back(connection, identity)

    def close(self) -> None:
        """Close what is idle."""
        with _guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _taken(self) -> tuple[sa.Connection | None, Identity]:
        with _guard:
            self.leave_to_parent()  # done already, unless it was not Python that forked
            connection = self._idle.pop() if self._idle else None
            identity = cast(Identity, _raw(connection).identity) if connection is not None else self._find()
            if identity not in _inherited:
                _used[identity] += 1
                return connection, identity
        raise LedgerUnavailableError(self._ledger, _INHERITED)

    def _given_back(self, connection: sa.Connection | None, identity: Identity) -> None:
        with _guard:
            _used[identity] -= 1
            if connection is not None:
                self._idle.append(connection)

    def leave_to_parent(self) -> None:
        """In a forked process: whatever is open here is not even closed. Only with `_guard` held."""
        if os.getpid() != self._process:
            _inherited.update(cast(Identity, _raw(each).identity) for each in self._idle)
            _of_parents.append(self._idle)
            self._idle, self._process = [], os.getpid()


def _raw(connection: sa.Connection) -> FileConnection:
    return cast(FileConnection, connection.connection.dbapi_connection)


_guard = threading.Lock()
_all: WeakSet[Kept] = WeakSet()
_used: Counter[Identity] = Counter()
_inherited: set[Identity] = set()
_of_parents: list[list[sa.Connection]] = []


def _before_fork() -> None:
    for kept in list(_all):
        kept.close()
    _guard.acquire()  # nobody begins to use one until the fork is over


def _in_parent() -> None:
    _guard.release()


def _in_child() -> None:
    """What a connection of the parent's holds at this moment, idle ones included that came back in between."""
    _inherited.update(identity for identity, count in _used.items() if count)
    for kept in list(_all):
        kept.leave_to_parent()
    _used.clear()
    _guard.release()


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
