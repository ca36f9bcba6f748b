"""Ibis tables on DuckDB, Spark and PostgreSQL, treated as tables of these engines. Other engines are refused.

The sensitivity of an answer depends on how an engine treats numbers that are too large, and spellings that it considers
equal. For the engines named here this is known.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from importlib import import_module
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.contract import Table
from dpselect.backends.lazy.duckdb_relation import DuckDBRelation
from dpselect.backends.lazy.extras import ibis
from dpselect.backends.lazy.postgres import PostgresTable
from dpselect.backends.lazy.postgres_dialect import columns_of_query
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.spark_frame import SparkFrame
from dpselect.backends.lazy.table import LazyTable
from dpselect.backends.rows import StreamTable
from dpselect.errors import InvalidDataError, Shown


def ibis_table(table: Any, *, memory_limit: int | None = None) -> Table:
    """The table behind an Ibis expression.

    Raises:
        InvalidDataError: the table has no engine or an unsupported one, or it has no columns.
    """
    shown = "<Ibis table>"
    if not _is_bound(table):
        hint = "Give a table of a connection, such as ibis.duckdb.connect(...).table(...)."
        raise InvalidDataError("source", Shown(shown), "a table on one engine", hint)
    with reading(shown):
        backend = table.get_backend()
        if backend.name in ("duckdb", "pyspark", "postgres"):
            _hand_over(table)
    if backend.name == "duckdb":
        with reading(shown):
            relation = backend.con.sql(ibis().to_sql(table, dialect="duckdb"))
        return StreamTable(DuckDBRelation.of(relation, kept=table), memory_limit)
    if backend.name == "pyspark":
        with reading(shown):
            frame = backend.raw_sql(ibis().to_sql(table, dialect="pyspark"))
        return LazyTable(SparkFrame.of(frame))
    if backend.name == "postgres":
        with reading(shown):
            # Left out: Ibis turns JSON into text, and reads geometries by functions that most servers do not have.
            types = table.schema()
            nested = [Column(name, Holds.NESTED) for name in types if types[name].is_json()]
            shapes = [Column(name, Holds.OTHER) for name in types if types[name].is_geospatial()]
            rest = table.drop(*(column.name for column in (*nested, *shapes)))
            source = f"({ibis().to_sql(rest, dialect='postgres', pretty=False)}) AS asked"
            columns = columns_of_query(backend.con, source, rest.columns, shown)
            unasked = dict.fromkeys((*nested, *shapes), 0)
        return LazyTable(PostgresTable(lambda: nullcontext(backend), shown, source, shown, {**columns, **unasked}))
    expected = "a table on PostgreSQL, Spark or DuckDB"
    hint = "Write the columns you ask about to a Parquet file, and give its path."
    raise InvalidDataError("source", Shown(f"<Ibis table on {backend.name}>"), expected, hint)


def _is_bound(table: Any) -> bool:
    """Whether the table has a connection; a table only in memory belongs to Ibis itself."""
    with suppress(ibis().common.exceptions.IbisError):
        return table.get_backend() is not None
    return False


def _hand_over(table: Any) -> None:
    """Make Ibis copy its tables in memory to the engine, as it does for every query; this one asks for no rows."""
    in_memory = import_module("ibis.expr.operations").InMemoryTable
    if table.op().find(in_memory):
        table.limit(0).to_pyarrow()
