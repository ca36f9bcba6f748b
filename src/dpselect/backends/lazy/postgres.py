"""A table on a PostgreSQL server, queried through Ibis on a read-only connection that each question opens and closes.

Ibis writes the queries. The rows and long lists of candidates that they refer to are named subqueries in front.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame, plain
from dpselect.backends.lazy.extras import ibis
from dpselect.backends.lazy.postgres_dialect import (
    IBIS_TYPES,
    POSTGRESQL,
    UNICODE,
    Types,
    check_unchanged,
    check_unicode,
    columns_of_table,
    ibis_type,
    quoted,
    speak_unicode,
    storable,
)
from dpselect.backends.lazy.reading import unanswered
from dpselect.backends.row_rules import Name, RowValue, rules
from dpselect.backends.rows.arrow import pa
from dpselect.errors import InvalidDataError, MissingExtraError, SelectionError, Shown, TableUnavailableError
from dpselect.server_urls import without_password
from dpselect.summaries import CandidateKind, PublicCandidates

Connect = Callable[[], Any]
"""Makes a context with an Ibis backend, which is closed at the end."""

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
    """A table, view or query on a server.

    Attributes:
        connect: makes a connection.
        server: the URL without its password, or another name of the server.
        source: SQL for use after ``FROM``.
        shown: its name in errors and ``repr``.
        types: the columns, and their types when the table was opened.
    """

    connect: Connect
    server: str
    source: str
    shown: str
    types: Types

    @classmethod
    def at(cls, url: str, name: str) -> PostgresTable:
        """The table called `name` on the server at `url`."""
        server, shown = without_password(url), table_name(url, name)
        connect = _connector(url, server)
        schema, _, table = name.rpartition(".")
        with connect() as backend:

            def not_there(error: BaseException) -> SelectionError:
                if backend.con.closed:
                    return TableUnavailableError(server, _BROKE)
                if isinstance(error, backend.con.DataError):  # of a database that knows bytes only
                    return InvalidDataError("table", Shown(repr(name)), "columns whose names are valid UTF-8")
                expected = "a table with columns that this user may read"
                hint = "Give its name, or schema.name, with the capitals it was created with."
                return InvalidDataError("table", Shown(repr(name)), expected, hint)

            with TranslatedErrors(not_there):
                named = f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)
                ((readable, *found),) = backend.con.execute(_FOUND, [named])
                if not readable:
                    raise PermissionError
                source = ".".join(map(quoted, found))
                return cls(connect, server, source, shown, columns_of_table(backend.con, source, shown))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns as the server described them."""
        return tuple(self.types)

    def query(self) -> PostgresQuery:
        """Begin a query."""
        return PostgresQuery(self)


@dataclass(frozen=True, slots=True, repr=False)
class PostgresQuery:
    """The state of one query.

    Attributes:
        table: the table.
        types: the columns that are read, and their types.
        parts: SQL of the subqueries in front, by name.
        lists: long lists of candidates, by name; they are sent as parameters.
        named: the kinds of names from the rows that are returned.
    """

    table: PostgresTable
    types: dict[Column, int] = field(default_factory=dict[Column, int])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    lists: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    named: set[CandidateKind] = field(default_factory=set[CandidateKind])
    counts_distinct = False
    in_filters = EVERY_KIND - {CandidateKind.TEXT}  # text is always sent as a parameter

    def rows(self, values: Mapping[str, RowValue]) -> Frame:
        """The rows, with a column for each name."""
        names, expressions = rules(values, POSTGRESQL)
        self.named.update(value.kind for value in values.values() if isinstance(value, Name))
        self.types.update((column, self.table.types[column]) for column in names)
        cells = ", ".join(f"{quoted(column.name)} AS {name}" for column, name in names.items())
        columns = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in expressions.items())
        rows = f"SELECT {columns} FROM (SELECT {cells} FROM {self.table.source}) AS shown"
        self.parts["dpselect_rows"] = rows.replace("%", "%%")
        types = {name: ibis_type(value) for name, value in values.items()}
        return nw.from_native(ibis().table(types, name="dpselect_rows"))

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame."""
        sql, type_ = POSTGRESQL.types[candidates.kind], IBIS_TYPES[candidates.kind]
        part = f"dpselect_{name}"
        self.parts[part] = f"SELECT unnest(CAST(%({part})s AS {sql}[])) AS {quoted(name)}"
        # A zero byte is in no text on a server of this kind.
        self.lists[part] = [each for each in plain(candidates) if not isinstance(each, str) or "\0" not in each]
        return nw.from_native(ibis().table({name: type_}, name=part))

    def different(self, frame: Frame) -> Frame:
        """The different rows, in the server's own words: narwhals would number them in windows."""
        return nw.from_native(frame.to_native().distinct())

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a ``lot`` in each row: 122 bits of the server's cryptographic randomness."""
        return nw.from_native(frame.to_native().mutate(lot=ibis().uuid()))

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table."""
        query = ibis().to_sql(frame.to_native(), dialect="postgres", pretty=False).replace("%", "%%")
        parts = ", ".join(f"{quoted(name)} AS ({sql})" for name, sql in self.parts.items())
        with self.table.connect() as backend, _answering(backend, self.table), backend.con.transaction():
            speak_unicode(backend.con)
            if CandidateKind.TEXT in self.named:
                check_unicode(backend.con)
            check_unchanged(backend.con, self.table.source, self.types, self.table.shown)
            lists = {name: _held(backend.con, name, each) for name, each in self.lists.items()}
            return _answer(backend, f"WITH {parts} SELECT * FROM ({query}) AS answer", lists)


def _held(connection: Any, name: str, public: list[Any]) -> list[Any]:
    """The members of a list that a row can hold."""
    if not public or not isinstance(public[0], str):
        return public
    return storable(connection, public, argument="groups" if name == "dpselect_part" else "candidates")


def _answer(backend: Any, query: str, lists: Mapping[str, list[Any]]) -> Any:
    """An Arrow table. This frame holds rows, so the caller must not let out errors with its traceback."""
    with backend.con.cursor(name="dpselect") as cursor:
        cursor.execute(query, lists)
        found: dict[str, Any] = {
            column.name: array("d") if column.name == "value" else [] for column in cursor.description
        }
        while rows := cursor.fetchmany(_CHUNK):
            for name, cells in zip(found, zip(*rows, strict=True), strict=True):
                found[name].extend(cells)
    return pa.table({name: _arrow(name, cells) for name, cells in found.items()})


def _arrow(name: str, cells: Any) -> Any:
    """A column as an Arrow array. Sums become text, because they may need more than 64 bits."""
    if name == "value":
        return pa.array(np.frombuffer(cells, np.float64) if cells else np.empty(0))
    return pa.array([str(int(cell)) for cell in cells]) if name == "number" else pa.array(cells)


def table_name(url: str, name: str) -> str:
    """The name of a table on a server in messages, and in the identity of a question."""
    return f"{without_password(url)!r}, table={name!r}"


def _connector(url: str, shown: str) -> Connect:
    @contextmanager
    def connect() -> Generator[Any]:
        postgres = ibis().postgres
        with TranslatedErrors(lambda error: _unreachable(error, shown)):
            options = f"{_options_of(url)} {_OPTIONS}".strip()
            ours = {"options": options, "client_encoding": UNICODE, "application_name": "dpselect"}
            backend = postgres.connect(conninfo=url, port=None, **ours)
        try:
            yield backend
        finally:
            backend.disconnect()

    return connect


def _options_of(url: str) -> str:
    """Options from the URL or else from the environment, such as another search path."""
    from psycopg.conninfo import conninfo_to_dict

    return str(conninfo_to_dict(url).get("options") or os.environ.get("PGOPTIONS", ""))


def _unreachable(error: BaseException, shown: str) -> SelectionError:
    if isinstance(error, ImportError):
        return MissingExtraError("tables on PostgreSQL", "postgres")
    return TableUnavailableError(shown, "the server cannot be reached, or does not let this user in")


def _answering(backend: Any, table: PostgresTable) -> TranslatedErrors:
    """Like `reading`, but a broken connection is reported as such."""

    def said(error: BaseException) -> SelectionError:
        if backend.con.closed:
            return TableUnavailableError(table.server, _BROKE)
        return unanswered(error, table.shown)

    return TranslatedErrors(said)
