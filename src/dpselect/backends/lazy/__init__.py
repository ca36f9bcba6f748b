"""Tables that are computed elsewhere, and only when asked: lazy frames, relations, clusters, database servers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.contract import Table
from dpselect.backends.lazy.table import LazyTable
from dpselect.backends.rows import StreamTable


def lazy_table(frame: Any, *, memory_limit: int | None = None) -> Table | None:
    """The table behind a lazy frame; its schema is read, and no row. None if it is nothing of the kind.

    Args:
        frame: a Polars ``LazyFrame``, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table.
        memory_limit: bytes that streamed rows may use here before they spill to disk.

    Raises:
        InvalidDataError: no columns, or two with the same name; an Ibis table on an engine that is not known.
    """
    if nw.dependencies.is_polars_lazyframe(frame):
        from dpselect.backends.lazy.polars_frame import PolarsFrame

        return LazyTable(PolarsFrame.of(frame))
    if nw.dependencies.is_duckdb_relation(frame):
        from dpselect.backends.lazy.duckdb_relation import DuckDBRelation

        return StreamTable(DuckDBRelation.of(frame), memory_limit)
    if nw.dependencies.is_pyspark_dataframe(frame) or nw.dependencies.is_pyspark_connect_dataframe(frame):
        from dpselect.backends.lazy.spark_frame import SparkFrame

        return LazyTable(SparkFrame.of(frame))
    if nw.dependencies.is_ibis_table(frame):
        from dpselect.backends.lazy.ibis_table import ibis_table

        return ibis_table(frame, memory_limit=memory_limit)
    return None


def postgres_table(url: str, table: str) -> Table:
    """A table on a PostgreSQL server; its columns are looked up, no row is read.

    Args:
        url: ``postgresql://user@host:port/database``, or anything else that libpq understands.
        table: its name, or ``schema.name``.

    Raises:
        TableUnavailableError: the server cannot be reached.
        InvalidDataError: no such table, no columns.
        MissingExtraError: the extra ``postgres`` is not installed.
    """
    from dpselect.backends.lazy.postgres import PostgresTable

    return LazyTable(PostgresTable.at(url, table))


def postgres_table_name(url: str, table: str) -> str:
    """What `postgres_table` would be called, without asking the server."""
    from dpselect.backends.lazy.postgres import table_name

    return table_name(url, table)
