"""What the columns of a table on a PostgreSQL server hold: asked of the server itself, by its own names of types.

Ibis and narwhals have a narrower idea of some of them, such as of decimals with many digits or with more places than
digits, and would refuse a table for a column that nobody asks about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.postgres_dialect import quoted
from dpselect.backends.lazy.postgres_text import speak_unicode
from dpselect.backends.lazy.reading import changed
from dpselect.backends.lazy.schema import check_names

Types = Mapping[Column, int]
"""The columns in the server's order, and the number the server has given to the type of each; of a domain, to the type
that it is made of."""

_BUILT_IN = {
    **dict.fromkeys(("int2", "int4", "int8"), Holds.INTEGERS),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name"), Holds.TEXT),
    **dict.fromkeys(("uuid", "macaddr", "macaddr8"), Holds.TEXT),
    **dict.fromkeys(("timestamp", "timestamptz", "time", "timetz", "interval"), Holds.TIMES),
    **dict.fromkeys(("json", "jsonb"), Holds.NESTED),
    "float4": Holds.SHORT_FLOATS,
    "float8": Holds.FLOATS,
    "numeric": Holds.DECIMALS,
    "date": Holds.DATES,
    "bool": Holds.BOOLEANS,
    "bytea": Holds.BYTES,
}

_MORE = {"citext": Holds.TEXT, "hstore": Holds.NESTED}
"""Of extensions, in whichever schema these are."""

_OF_TABLE = """\
SELECT attname, atttypid FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON attrelid = pg_class.oid
WHERE attrelid = CAST(%s AS regclass) AND relkind = ANY('{r,v,m,f,p}') AND attnum > 0 AND NOT attisdropped
ORDER BY attnum"""

_TYPES = """\
WITH RECURSIVE types AS (
  SELECT given, given AS type FROM unnest(CAST(%s AS oid[])) AS asked (given)
  UNION ALL
  SELECT given, typbasetype FROM types JOIN pg_catalog.pg_type ON pg_type.oid = type WHERE typtype = 'd'
)
SELECT given, type, typname, typtype, typcategory, typnamespace = CAST('pg_catalog' AS regnamespace)
FROM types JOIN pg_catalog.pg_type ON pg_type.oid = type WHERE typtype <> 'd'"""
"""Of a domain the type that it is made of."""


def columns_of_table(connection: Any, source: str, shown: str) -> Types:
    """The columns of the table or view that SQL calls `source`."""
    return _columns(connection, connection.execute(_OF_TABLE, [source]).fetchall(), shown)


def columns_of_query(connection: Any, source: str, names: Sequence[str], shown: str) -> Types:
    """The columns of what may stand after ``FROM``; no row is read.

    Args:
        connection: of psycopg.
        source: SQL.
        names: what the columns are called, in the server's order.
        shown: how errors speak of it.
    """
    with connection.transaction():
        speak_unicode(connection)
        return _columns(connection, list(zip(names, _types(connection, "*", source), strict=True)), shown)


def check_unchanged(connection: Any, source: str, types: Types, shown: str) -> None:
    """Refuse a table whose columns `types` are of other types now; they stay what they are until the transaction ends.

    The server describes the columns, and has locked what they are in before it does. Its catalogue, asked in a
    statement of its own, might be seen as it was before.
    """
    names = ", ".join(quoted(column.name) for column in types)
    with TranslatedErrors(lambda _: changed(shown), connection.ProgrammingError):  # no such column, no such table
        if _types(connection, names, source) != list(types.values()):
            raise changed(shown)


def _types(connection: Any, names: str, source: str) -> list[int]:
    return [column.type_code for column in connection.execute(f"SELECT {names} FROM {source} LIMIT 0").description]


def _columns(connection: Any, found: Sequence[tuple[str, int]], shown: str) -> Types:
    """Capitals tell names apart."""
    check_names([name for name, _ in found], shown)
    types = sorted({type_ for _, type_ in found})
    made_of = {given: (number, _holds(*of_type)) for given, number, *of_type in _rows(connection, types)}
    described = [(name, *made_of.get(type_, (type_, Holds.OTHER))) for name, type_ in found]
    return {Column(name, holds): number for name, number, holds in described}


def _rows(connection: Any, types: Sequence[int]) -> Iterable[Sequence[Any]]:
    return connection.execute(_TYPES, [list(types)]).fetchall()


def _holds(name: str, sort: str, category: str, is_built_in: bool) -> Holds:
    if sort == "e":
        return Holds.TEXT
    if category == "A" or sort in ("c", "r", "m"):
        return Holds.NESTED
    return _BUILT_IN.get(name, Holds.OTHER) if is_built_in else _MORE.get(name, Holds.OTHER)
