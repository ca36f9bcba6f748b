"""Tables whose queries run in their own engine: lazy frames, relations, clusters and database servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.backends.contract import Table
    from dpselect.backends.lazy.scanning import scanned_parquet as scanned_parquet
    from dpselect.backends.lazy.table import LazyTable as LazyTable
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect.backends.lazy.scanning": "scanned_parquet",
            "dpselect.backends.lazy.table": "LazyTable",
        },
    )


def lazy_table(frame: Any, *, memory_limit: int | None = None) -> Table | None:
    """The table behind a lazy frame; only its schema is read. None if `frame` is not a lazy frame.

    Args:
        frame: a Polars ``LazyFrame``, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table.
        memory_limit: bytes that streamed rows may use here before they spill to disk.

    Raises:
        InvalidDataError: there are no columns, or two with the same name; or an Ibis table is on an unsupported engine.
    """
    import narwhals.stable.v2 as nw

    from dpselect.backends.lazy.table import LazyTable
    from dpselect.backends.rows import StreamTable

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
    """A table on a PostgreSQL server; only its columns are read.

    Args:
        url: ``postgresql://user@host:port/database``, or anything else that libpq understands.
        table: name of the table, or ``schema.name``.

    Raises:
        TableUnavailableError: the server cannot be reached.
        InvalidDataError: there is no such table, or it has no columns.
        MissingExtraError: the extra ``postgres`` is not installed.
    """
    from dpselect.backends.lazy.postgres import PostgresTable
    from dpselect.backends.lazy.table import LazyTable

    return LazyTable(PostgresTable.at(url, table))


def postgres_table_name(url: str, table: str) -> str:
    """The name of a table from `postgres_table`, without a connection to the server."""
    from dpselect.backends.lazy.postgres import table_name

    return table_name(url, table)
