"""The same rows in every engine."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
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


@cache
def spark() -> Any:
    """One session for all tests: local, two cores, nothing on the network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library inside about one of its own
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        return (
            SparkSession.builder.master("local[2,4]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.log.level", "OFF")
            .getOrCreate()
        )


def spark_frame(rows: pa.Table) -> Any:
    """A data frame in two partitions."""
    return spark().createDataFrame(rows).repartition(2)
