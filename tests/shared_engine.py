"""One empty database for each file of the examples: opening one takes 15 ms, longer than most questions.

It is used in `make test`, also by the examples of documents, but not in tests of the database itself. Each question has
its own connection, but not a new database. In `make test-slow` each question of a file opens its own, as for users.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from dpselect.rows import duckdb as engine
from dpselect.rows.duckdb import Connection, connected

_PLAIN = dict(engine.SETTINGS)


_EXAMPLES = Path(__file__).parents[1] / "examples" / "data"
"""Files that never change while tests run."""


@cache
def _database(_process: int, *paths: str) -> Connection:
    """One for each process: a forked process does not have the threads of its parent's database."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(connected(paths=paths))


@contextmanager
def shared(*, memory_limit: int | None = None, paths: Sequence[str] = ()) -> Generator[Connection]:
    """Like `connected`, on a shared database for a file of the examples; not with other settings."""
    others = not paths or any(not Path(path).is_relative_to(_EXAMPLES) for path in paths)
    if memory_limit is not None or others or engine.SETTINGS != _PLAIN:
        with connected(memory_limit=memory_limit, paths=paths) as own:
            yield own
    else:
        with _database(os.getpid(), *paths).cursor() as cursor:
            yield cursor


@contextmanager
def shared_databases() -> Generator[None]:
    """Until the block ends, questions share a database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "connected", shared)
        yield
