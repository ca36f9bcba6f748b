"""A table on a PostgreSQL server, asked on a read-only connection that each question opens and closes.

The rows and the public lists are named subqueries in front of a statement; lists are sent as parameters.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect.errors import InvalidDataError, MissingExtraError, SelectionError, Shown, TableUnavailableError
from dpselect.rows.columns import Column, Holds, Progress
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.connection import quoted
from dpselect.rows.failures import TranslatedErrors, unanswered
from dpselect.rows.postgres_dialect import (
    POSTGRESQL,
    UNICODE,
    Types,
    check_unchanged,
    check_unicode,
    columns_of_table,
    speak_unicode,
)
from dpselect.rows.row_rules import named_cells
from dpselect.rows.statements import Found, Statement, is_interval
from dpselect.server_urls import without_password
from dpselect.summaries import CandidateKind, PublicCandidates

_FOUND = """\
SELECT has_any_column_privilege(pg_class.oid, 'SELECT'), nspname, relname
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE pg_class.oid = CAST(%s AS regclass)"""
"""Resolves a name now: later, a new table earlier on the search path may have the same name."""

_CHUNK = 100_000
_BROKE = "the connection broke before the answer arrived. Nothing was charged: ask again"
_OPTIONS = (
    "-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\\ read"
    " -c standard_conforming_strings=on -c enable_nestloop=off"
    " -c extra_float_digits=1 -c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex"
)
"""Settings that override those of a role. Columns and rows are read in one state of the table, at an isolation level
that never has to give up. Nested loops are off, because the planner does not know the sizes of subqueries, and with a
wrong guess a nested loop takes for ever. Values arrive as text, with all their digits."""


@dataclass(frozen=True, slots=True, repr=False)
class PostgresTable:
    """A table or view on a server; see `dpselect.rows.table.Engine`.

    Attributes:
        url: ``postgresql://user@host:port/database``, or anything else that libpq understands.
        source: SQL for use after ``FROM``.
        shown: its name in errors and ``repr``, without the password.
        types: the columns, and their types when the table was opened.
    """

    url: str
    source: str
    shown: str
    types: Types
    listed = True
    format = None

    @classmethod
    def at(cls, url: str, name: str) -> PostgresTable:
        """The table called `name`, or ``schema.name``, on the server at `url`; only its columns are read.

        Raises:
            TableUnavailableError: the server cannot be reached.
            InvalidDataError: there is no such table, or it has no columns.
            MissingExtraError: the extra ``postgres`` is not installed.
        """
        shown = table_name(url, name)
        schema, _, table = name.rpartition(".")
        with _connected(url) as connection:

            def not_there(error: BaseException) -> SelectionError:
                if connection.closed:
                    return TableUnavailableError(without_password(url), _BROKE)
                if isinstance(error, connection.DataError):  # of a database that knows bytes only
                    return InvalidDataError("table", Shown(repr(name)), "columns whose names are valid UTF-8")
                expected = "a table with columns that this user may read"
                hint = "Give its name, or schema.name, with the capitals it was created with."
                return InvalidDataError("table", Shown(repr(name)), expected, hint)

            with TranslatedErrors(not_there):
                named = f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)
                ((readable, *found),) = connection.execute(_FOUND, [named])
                if not readable:
                    raise PermissionError
                source = ".".join(map(quoted, found))
                return cls(url, source, shown, columns_of_table(connection, source, shown))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns as the server described them."""
        return tuple(self.types)

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, over one state of the table."""
        found: list[Found] = []
        with _connected(self.url) as connection, self._answering(connection), connection.transaction():
            speak_unicode(connection)
            for statement in asked:
                if any(each.holds is Holds.TEXT for value in statement.reads.values() for each in value.column.sources):
                    check_unicode(connection)
                found.append(self._answer(connection, statement))
                if progress is not None:
                    progress(len(found) / len(asked))
        return found

    def _answer(self, connection: Any, statement: Statement) -> Found:
        """A result. This frame holds rows, so the caller must not let out errors with its traceback."""
        columns, cells = named_cells(statement.reads)
        check_unchanged(connection, self.source, {each: self.types[each] for each in columns}, self.shown)
        read = ", ".join(f"{quoted(column.name)} AS {name}" for column, name in columns.items())
        parts, lists = {"cells": f"SELECT {read} FROM {self.source}"}, dict[str, list[Any]]()
        for name, listed in statement.lists.items():
            if not is_interval(listed):
                parts[f"{name}_list"] = (
                    "SELECT candidate, place - 1 AS place FROM"
                    f" unnest(CAST(%({name})s AS {POSTGRESQL.types[listed.kind]}[]))"
                    " WITH ORDINALITY AS given (candidate, place)"
                )
                lists[name] = _sent(listed)
        sql = statement.sql(POSTGRESQL, cells, "cells")
        parts = {name: part if name.endswith("_list") else part.replace("%", "%%") for name, part in parts.items()}
        front = ", ".join(f"{name} AS ({part})" for name, part in parts.items())
        with connection.cursor(name="dpselect") as cursor:
            cursor.execute(f"WITH {front} SELECT * FROM ({sql.replace('%', '%%')}) AS answer", lists)
            columns = [column.name for column in cursor.description]
            found: list[Any] = [array("d") if name == "value" else [] for name in columns]
            while rows := cursor.fetchmany(_CHUNK):
                for kept, cells in zip(found, zip(*rows, strict=True), strict=True):
                    kept.extend(cells)
        is_name = {"what"} if statement.named is not None else set[str]()
        return {
            name: pa.array(kept) if name in is_name else np.array(kept, np.float64 if name == "value" else np.int64)
            for name, kept in zip(columns, found, strict=True)
        }

    def _answering(self, connection: Any) -> TranslatedErrors:
        """Like `reading`, but a broken connection is reported as such."""

        def said(error: BaseException) -> SelectionError:
            if connection.closed:
                return TableUnavailableError(without_password(self.url), _BROKE)
            return unanswered(error, self.shown)

        return TranslatedErrors(said)


def _sent(listed: PublicCandidates) -> list[Any]:
    """The members of a list, with null for a text that no row on a server of this kind can hold."""
    values = np.asarray(listed.values).tolist() if listed.kind is CandidateKind.INTEGER else list(listed.values)
    return [None if isinstance(value, str) and "\0" in value else value for value in values]


def table_name(url: str, name: str) -> str:
    """The name of a table on a server in messages, and in the identity of a question."""
    return f"{without_password(url)!r}, table={name!r}"


@contextmanager
def _connected(url: str) -> Generator[Any]:
    shown = without_password(url)
    with TranslatedErrors(lambda error: _unreachable(error, shown)):
        import psycopg

        options = f"{_options_of(url)} {_OPTIONS}".strip()
        connection = psycopg.connect(url, options=options, client_encoding=UNICODE, application_name="dpselect")
    try:
        yield connection
    finally:
        connection.close()


def _options_of(url: str) -> str:
    """Options from the URL or else from the environment, such as another search path."""
    from psycopg.conninfo import conninfo_to_dict

    return str(conninfo_to_dict(url).get("options") or os.environ.get("PGOPTIONS", ""))


def _unreachable(error: BaseException, shown: str) -> SelectionError:
    if isinstance(error, ImportError):
        return MissingExtraError("tables on PostgreSQL", "postgres")
    return TableUnavailableError(shown, "the server cannot be reached, or does not let this user in")
