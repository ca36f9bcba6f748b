"""The types of a PostgreSQL table's columns, as the server itself names them.

Ibis and narwhals support fewer types, for example no decimals with very many digits, and would refuse a table because
of a column that nobody asks about.
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
"""The columns in the server's order, with the server's number of each type; for a domain, of its base type."""

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
"""Types of extensions, in any schema."""

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
"""Types by number; a domain is replaced by its base type."""


def columns_of_table(connection: Any, source: str, shown: str) -> Types:
    """The columns of the table or view that SQL calls `source`."""
    return _columns(connection, connection.execute(_OF_TABLE, [source]).fetchall(), shown)


def columns_of_query(connection: Any, source: str, names: Sequence[str], shown: str) -> Types:
    """The columns of SQL for use after ``FROM``; no row is read.

    Args:
        connection: a psycopg connection.
        source: the SQL.
        names: names of the columns, in the server's order.
        shown: its name in errors.
    """
    with connection.transaction():
        speak_unicode(connection)
        return _columns(connection, list(zip(names, _types(connection, "*", source), strict=True)), shown)


def check_unchanged(connection: Any, source: str, types: Types, shown: str) -> None:
    """Refuse a table if the `types` of its columns have changed. They cannot change until the transaction ends.

    The server locks the table before it describes the columns of a query. A separate query of its catalogue might show
    an older state.
    """
    names = ", ".join(quoted(column.name) for column in types)
    with TranslatedErrors(lambda _: changed(shown), connection.ProgrammingError):  # no such column, no such table
        if _types(connection, names, source) != list(types.values()):
            raise changed(shown)


def _types(connection: Any, names: str, source: str) -> list[int]:
    return [column.type_code for column in connection.execute(f"SELECT {names} FROM {source} LIMIT 0").description]


def _columns(connection: Any, found: Sequence[tuple[str, int]], shown: str) -> Types:
    """The columns with their types; names may differ in capitals only."""
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
