"""One empty database for all the questions of a process: to open one takes 15 ms, longer than most questions do.

In `make test` only, and only where it is not the subject: rows are read as ever, each question by a connection of its
own, but the database behind it is not new. In `make test-slow` each question opens its own, as users' questions do.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache

from dpselect.backends.rows import connection
from dpselect.backends.rows.connection import Connection, connected

_PLAIN = dict(connection.SETTINGS)


@cache
def _database(_process: int) -> Connection:
    """Never that of the process that this one was forked from: its threads did not come along."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(connected())


@contextmanager
def kept(*, memory_limit: int | None = None, paths: Sequence[str] = ()) -> Generator[Connection]:
    """What `connected` gives, of the database that is kept, unless something else was asked for."""
    if memory_limit is not None or paths or connection.SETTINGS != _PLAIN:
        with connected(memory_limit=memory_limit, paths=paths) as own:
            yield own
    else:
        with _database(os.getpid()).cursor() as shared:
            yield shared
