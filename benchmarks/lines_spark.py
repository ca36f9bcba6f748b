"""Questions about a table in Spark, against Spark's own queries for the same counts."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.line import Line
from benchmarks.lines_tables import DELTA, HERE, ROWS, write_values
from benchmarks.timing import ratio
from dpselect import Dataset


def lines() -> Iterator[Line]:
    """The rows stay in Spark; counts are fetched."""
    spark = _session()
    yield _unlisted(spark)
    spark.stop()


def _unlisted(spark: Any) -> Line:
    """The top ten without a public list of candidates, beside Spark's own counts."""
    import pyspark.sql.functions as F  # noqa: N812

    with tempfile.TemporaryDirectory(prefix=".spark-", dir=HERE) as folder:
        rows = spark.read.parquet(str(write_values(Path(folder) / "values.parquet", ROWS)))
        visits = Dataset(rows, unit="session")

        def own() -> object:
            counted = rows.groupBy("page").agg(F.countDistinct("session").alias("number"))
            return counted.orderBy(F.desc("number")).limit(10).collect()

        def ours() -> object:
            return visits.top_k("page", 10, epsilon=1.0, delta=DELTA)

        ours()  # the first query starts what all later ones use
        return Line.of(
            ratio(ours, own, pairs=3, budget=120.0),
            what="top 10 without a public list, 10^6 different values / Spark's own counts",
            case="one value per unit chosen",
            n=ROWS,
            dtype="int64",
            unit="x",
            at_most=1.3,
        )


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "3g")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
