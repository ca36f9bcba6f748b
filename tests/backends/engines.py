"""The same rows in every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

Maker = Callable[[pa.Table], Any]


def polars_lazy(rows: pa.Table) -> pl.LazyFrame:
    """A lazy frame with a step in it, so that it is not just a table."""
    return pl.DataFrame(rows).lazy().with_columns(extra=pl.lit(1))


def duckdb_relation(rows: pa.Table) -> duckdb.DuckDBPyRelation:
    """A relation on a connection of its own."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE filled AS SELECT * FROM rows")
    return connection.sql("SELECT *, 1 AS extra FROM filled")
