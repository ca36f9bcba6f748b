"""Runs the statements of a charge. On SQLite its driver gets them: SQLAlchemy would take longer than SQLite does."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from dpselect.ledger.sqlite_connections import raw_of

_DIALECT = sqlite.dialect()  # type: ignore[no-untyped-call]


def run(connection: sa.Connection, statement: sa.Insert | sa.Update, values: Mapping[str, Any]) -> None:
    """Execute a statement that returns no rows.

    Args:
        connection: in a transaction.
        statement: always the same object, because its text is kept.
        values: of its columns and parameters; always with the same names.
    """
    if _is_sqlite(connection):
        text, names, fixed = _compiled(statement, tuple(values))
        raw_of(connection).execute(text, [values[name] if name in values else fixed[name] for name in names])
    else:
        connection.execute(statement, values)


def first(connection: sa.Connection, statement: sa.Select[Any], values: Mapping[str, Any]) -> Mapping[Any, Any] | None:
    """The only row that a query finds, by the names of its columns; None if it finds none. Arguments as in `run`."""
    if not _is_sqlite(connection):
        return connection.execute(statement, values).mappings().first()
    text, names, fixed = _compiled(statement, ())
    given = [values[name] if name in values else fixed[name] for name in names]
    found = raw_of(connection).execute(text, given).fetchall()  # all, so that the statement is finished
    return dict(zip(statement.selected_columns.keys(), found[0], strict=True)) if found else None


def _is_sqlite(connection: sa.Connection) -> bool:
    return connection.dialect.name == "sqlite"


@functools.lru_cache(maxsize=16)
def _compiled(
    statement: sa.Insert | sa.Update | sa.Select[Any], columns: tuple[str, ...]
) -> tuple[str, tuple[str, ...], Mapping[str, Any]]:
    """The text for SQLite, the names of its parameters in order, and the values of those that are fixed."""
    names = list(columns) if isinstance(statement, sa.Insert) else None
    compiled = cast(Any, statement.compile(dialect=_DIALECT, column_keys=names))
    return str(compiled), tuple(compiled.positiontup), compiled.params
