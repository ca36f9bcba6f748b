"""What the columns of a table on a PostgreSQL server hold: asked of the server itself, by its own names of types.

Ibis and narwhals have a narrower idea of some of them, such as of decimals with many digits or with more places than
digits, and would refuse a table for a column that nobody asks about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.schema import check_names

_BUILT_IN = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), Holds.INTEGERS),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name"), Holds.TEXT),
    **dict.fromkeys(("uuid", "inet", "cidr", "macaddr", "macaddr8"), Holds.TEXT),
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
SELECT given, typname, typtype, typcategory, typnamespace = CAST('pg_catalog' AS regnamespace)
FROM types JOIN pg_catalog.pg_type ON pg_type.oid = type WHERE typtype <> 'd'"""
"""Of a domain the type that it is made of."""


def columns_of_table(connection: Any, source: str, shown: str) -> tuple[Column, ...]:
    """The columns of the table or view that SQL calls `source`."""
    return _columns(connection, connection.execute(_OF_TABLE, [source]).fetchall(), shown)


def columns_of_query(connection: Any, source: str, names: Sequence[str], shown: str) -> tuple[Column, ...]:
    """The columns of what may stand after ``FROM``; no row is read.

    Args:
        connection: of psycopg.
        source: SQL.
        names: what the columns are called, in the server's order.
        shown: how errors speak of it.
    """
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {source} LIMIT 0")
        types = [column.type_code for column in cursor.description]
        return _columns(connection, list(zip(names, types, strict=True)), shown)


def _columns(connection: Any, found: Sequence[tuple[str, int]], shown: str) -> tuple[Column, ...]:
    """Capitals tell names apart."""
    check_names([name for name, _ in found], shown)
    types = sorted({type_ for _, type_ in found})
    held = {given: _holds(*of_type) for given, *of_type in _rows(connection, types)}
    return tuple(Column(name, held.get(type_, Holds.OTHER)) for name, type_ in found)


def _rows(connection: Any, types: Sequence[int]) -> Iterable[Sequence[Any]]:
    return connection.execute(_TYPES, [list(types)]).fetchall()


def _holds(name: str, sort: str, category: str, is_built_in: bool) -> Holds:
    if sort == "e":
        return Holds.TEXT
    if category == "A" or sort in ("c", "r", "m"):
        return Holds.NESTED
    return _BUILT_IN.get(name, Holds.OTHER) if is_built_in else _MORE.get(name, Holds.OTHER)
