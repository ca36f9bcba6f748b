"""A table on a PostgreSQL server, asked on a read-only connection that each question opens and closes."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from dpselect import errors
from dpselect.errors import InvalidDataError, SelectionError, Shown, TableUnavailableError, without_password
from dpselect.rows.arrow import pa
from dpselect.rows.columns import Column, Holds, Progress, TranslatedErrors, changed, check_names, unanswered
from dpselect.rows.duckdb import candidate_table
from dpselect.rows.row_rules import BLANKS, Dialect, column_of
from dpselect.rows.scan import quoted
from dpselect.rows.statements import Engine, Found, Statement
from dpselect.summaries import CandidateKind

_LARGEST, _SMALLEST = sys.float_info.max, "2.4703282292062328e-324"
"""Decimals beyond the first count as it; decimals below the second are nearest to zero."""


class PostgreSQL(Dialect):
    """The words of a database in UTF-8, in which a cast that does not fit is an error."""

    types: ClassVar = {**Dialect.types, CandidateKind.NUMBER: "double precision", CandidateKind.TEXT: "text"}
    amount = "numeric"
    matches = "{} ~ '^({})$'"
    digest = "encode(sha256(convert_to({}, 'UTF8')), 'hex') COLLATE \"C\""
    known_decimal = "{} <> 'NaN'"
    half_even = "round({})"

    def cast(self, cell: str, type_: str) -> str:
        if type_ == self.amount:
            cell = f"CAST({cell} AS bigint)"  # faster than from a double, which is converted through text
        return f"CAST({cell} AS {type_})"

    def text(self, cell: str) -> str:
        return f'CAST({cell} AS text) COLLATE "C"'

    def unit_text(self, cell: str) -> str:
        text = self.text(cell)
        # The server cannot normalize what takes a quarter of a gigabyte, and one cell may not end a question.
        is_long = f"OCTET_LENGTH({text}) > {1 << 20}"
        return f"CASE WHEN {is_long} THEN TRIM(BOTH '{BLANKS}' FROM {text}) ELSE {super().unit_text(cell)} END"

    def whole_decimal(self, number: str) -> str:
        within = f"{number} BETWEEN {-(2**63)} AND {2**63 - 1}"
        return f"CASE WHEN {within} AND {number} = trunc({number}) THEN CAST({number} AS bigint) END"

    def compared(self, number: str, sign: str, end: int) -> str:
        return f"{number} {sign} {end}"

    def nearest_double(self, decimal: str) -> str:
        near = f"CAST(GREATEST(-{_LARGEST!r}, LEAST({_LARGEST!r}, {decimal})) AS double precision)"
        return f"CASE WHEN abs({decimal}) < {_SMALLEST} THEN 0.0 WHEN {decimal} <> 'NaN' THEN {near} END"

    def product(self, number: str, factor: float) -> str:
        """Products beyond all doubles, or nearest to zero, are not computed; no amount needs them."""
        large, small = (self.double(min(end / factor, _LARGEST)) for end in (2.0**33, 2.0**-10))
        near = f"GREATEST(-{large}, LEAST({large}, {number})) * {self.double(factor)}"
        return f"CASE WHEN abs({number}) < {small} THEN 0.0 ELSE {near} END"


_TYPES = {
    Holds.INTEGERS: "int2 int4 int8",
    Holds.TEXT: "text varchar bpchar char name uuid macaddr macaddr8 citext",
    Holds.TIMES: "timestamp timestamptz time timetz interval",
    Holds.NESTED: "json jsonb hstore",
    Holds.SHORT_FLOATS: "float4",
    Holds.FLOATS: "float8",
    Holds.DECIMALS: "numeric",
    Holds.DATES: "date",
    Holds.BOOLEANS: "bool",
    Holds.BYTES: "bytea",
}

_FOUND = """\
SELECT nspname, relname, ARRAY(
    SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    AND has_column_privilege(attrelid, attnum, 'SELECT') ORDER BY attnum)
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE pg_class.oid = CAST(%s AS regclass) AND relkind = ANY('{r,v,m,f,p}')"""
"""Resolves a name now: later, a new table earlier on the search path may have the same name."""

_KNOWN = """\
SELECT oid, CASE WHEN typtype = 'e' THEN 'text' WHEN typcategory = 'A' OR typtype IN ('c', 'r', 'm') THEN 'json'
WHEN typnamespace = CAST('pg_catalog' AS regnamespace) OR typname IN ('citext', 'hstore') THEN CAST(typname AS text) END
FROM pg_catalog.pg_type WHERE oid = ANY(%s)"""
"""Which of the words above a type is read as. Those of two extensions may be in any schema."""


def check_unchanged(connection: Any, source: str, types: Mapping[str, int], shown: str) -> None:
    """Refuse a table if the `types` of its columns have changed; they cannot until the transaction ends."""
    with TranslatedErrors(lambda _: changed(shown), connection.ProgrammingError):  # no such column, no such table
        if types_of(connection, source, [*types]) != [*types.values()]:
            raise changed(shown)


def types_of(connection: Any, source: str, names: Sequence[str]) -> list[int]:
    """The server's numbers of the types of columns; for a domain, of its base type."""
    # The server locks the table before it describes a query. One of its catalogue might show an older state.
    described = connection.execute(f"SELECT {', '.join(map(quoted, names))} FROM {source} LIMIT 0").description
    return [column.type_code for column in described]


_UNICODE = "UTF8"
_OPTIONS = (
    "-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\\ read"
    " -c standard_conforming_strings=on -c enable_nestloop=off"
    " -c extra_float_digits=1 -c datestyle=ISO -c intervalstyle=postgres -c bytea_output=hex"
)
"""Settings that override those of a role. Columns and rows are read in one state of the table, at an isolation level
that never has to give up. Nested loops are off, because the planner does not know the sizes of subqueries, and with a
wrong guess a nested loop takes for ever. Values arrive as text, with all their digits."""


class PostgresTable(Engine):
    """The table or view called `name`, or ``schema.name``, on the server at `url`; only its columns are read."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.shown = url, errors.table_name(url, name)
        hint = "Give its name, or schema.name, without quotes, with the capitals it was created with."
        unknown = InvalidDataError("table", Shown(repr(name)), "a table with columns that this user may read", hint)
        with _connected(url) as connection:
            encoding = connection.info.parameter_status("server_encoding")
            with _translated(connection, url, lambda _: unknown):
                named = ".".join(quoted(part) for part in name.rpartition(".")[::2] if part)
                ((*found, names),) = connection.execute(_FOUND, [named])
                if not names:
                    raise PermissionError
                check_names(names, shown=self.shown)
                self.source = ".".join(map(quoted, found))
                self.types = dict(zip(names, types_of(connection, self.source, names), strict=True))
                known = {word: holds for holds, words in _TYPES.items() for word in words.split()}
                words = dict[int, str](connection.execute(_KNOWN, [[*self.types.values()]]))
        columns = (Column(name, known.get(words[type_], Holds.OTHER)) for name, type_ in self.types.items())
        if encoding != _UNICODE:  # whether text arrives, and is equal to other text, would be up to a row
            other = f"The encoding of the database is {encoding}: copy the table to a database in UTF8."
            columns = (
                replace(each, holds=Holds.OTHER, hint=other) if each.holds is Holds.TEXT else each for each in columns
            )
        self.columns = tuple(columns)

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, over one state of the table."""
        with _connected(self.url) as connection:
            say = partial(unanswered, shown=self.shown)
            with _translated(connection, self.url, say), connection.transaction():
                return [self._answer(connection, each) for each in asked]

    def _answer(self, connection: Any, statement: Statement) -> Found:
        """A result. This frame holds rows, so the caller must not let out errors with its traceback."""
        columns = dict[Column, str]()
        cells = statement.cells(column_of, columns)
        types = {each.name: self.types[each.name] for each in columns}
        check_unchanged(connection, self.source, types, self.shown)
        read = ", ".join(f"{quoted(column.name)} AS {name}" for column, name in columns.items())
        front, lists = "", dict[str, list[Any]]()
        for name, listed in statement.tables.items():
            arrays = (f"CAST(%({each})s AS {PostgreSQL.types[of.kind]}[])" for each, of in listed.items())
            given = f"unnest({', '.join(arrays)}) WITH ORDINALITY AS given ({', '.join(listed)}, place)"
            front += f"{name} AS (SELECT {', '.join(listed)}, place - 1 AS place FROM {given}), "
            for column, values in candidate_table(listed).to_pydict().items():  # no row on a server holds a zero byte
                lists[column] = [None if isinstance(each, str) and "\0" in each else each for each in values]
        sql = f"SELECT * FROM ({statement.sql(PostgreSQL(), cells, 'cells')}) AS answer"
        with connection.cursor(name="dpselect") as cursor:
            own = f"cells AS (SELECT {read} FROM {self.source}) {sql}".replace("%", "%%")
            cursor.execute(f"WITH {front}{own}", lists)
            names = [column.name for column in cursor.description]
            found: dict[str, Any] = {name: array("d") if name == "value" else [] for name in names}
            while rows := cursor.fetchmany(100_000):
                for kept, some in zip(found.values(), zip(*rows, strict=True), strict=True):
                    kept.extend(some)
        return {**found, "what": pa.array(found["what"])} if statement.named else found


def _translated(connection: Any, url: str, say: Callable[[BaseException], SelectionError]) -> TranslatedErrors:
    """A block in which errors are what `say` makes of them, unless the connection broke."""
    broke = "the connection broke before the answer arrived. Nothing was charged: ask again"
    lost = TableUnavailableError(without_password(url), broke)
    return TranslatedErrors(lambda error: lost if connection.closed else say(error))


@contextmanager
def _connected(url: str) -> Generator[Any]:
    missing = errors.MissingExtraError("tables on PostgreSQL", "postgres")
    said = "the server cannot be reached, or does not let this user in"
    shut = TableUnavailableError(without_password(url), said)
    with TranslatedErrors(lambda error: missing if isinstance(error, ImportError) else shut):
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        # From the URL or else from the environment, such as another search path.
        given = str(conninfo_to_dict(url).get("options") or os.environ.get("PGOPTIONS", ""))
        options = f"{given} {_OPTIONS}".strip()
        connection = psycopg.connect(url, options=options, client_encoding=_UNICODE, application_name="dpselect")
    try:
        yield connection
    finally:
        connection.close()
