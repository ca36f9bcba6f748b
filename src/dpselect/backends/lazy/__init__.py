"""Tables that are computed elsewhere, and only when asked: lazy frames, relations, clusters, database servers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.contract import Table
from dpselect.backends.lazy.table import LazyTable
from dpselect.backends.rows import StreamTable


def lazy_table(frame: Any) -> Table | None:
    """The table behind a lazy frame; its schema is read, and no row. None if it is nothing of the kind.

    Args:
        frame: a Polars ``LazyFrame``, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table.

    Raises:
        InvalidDataError: no columns, or two with the same name.
    """
    if nw.dependencies.is_polars_lazyframe(frame):
        from dpselect.backends.lazy.polars_frame import PolarsFrame

        return LazyTable(PolarsFrame.of(frame))
    if nw.dependencies.is_duckdb_relation(frame):
        from dpselect.backends.lazy.duckdb_relation import DuckDBRelation

        return StreamTable(DuckDBRelation.of(frame))
    if nw.dependencies.is_pyspark_dataframe(frame) or nw.dependencies.is_pyspark_connect_dataframe(frame):
        from dpselect.backends.lazy.spark_frame import SparkFrame

        return LazyTable(SparkFrame.of(frame))
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
