"""The three statements of every charge, by the shortest way."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Mapping
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

_NAMED = sqlite.dialect(paramstyle="named")


def run(connection: sa.Connection, statement: sa.Executable, values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Execute, and return the rows if there are any.

    SQLite's own driver gets the text that SQLAlchemy makes of the statement: the bookkeeping in between would take
    longer than the disk does. It is the same transaction.
    """
    if connection.dialect.name != _NAMED.name:
        result = connection.execute(statement, values)
        return [dict(row) for row in result.mappings()] if result.returns_rows else []
    cursor = cast(sqlite3.Connection, connection.connection.dbapi_connection).execute(_text(statement), values)
    if cursor.description is None:
        return []
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


@functools.lru_cache(maxsize=16)
def _text(statement: sa.ClauseElement) -> str:
    return str(statement.compile(dialect=_NAMED))
