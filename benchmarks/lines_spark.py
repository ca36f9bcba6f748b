"""Selection where Spark holds the scores, against Spark's own best candidate of the same scores."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.line import Line
from benchmarks.lines_tables import DELTA, HERE, ROWS, write_values
from benchmarks.timing import ratio
from dpselect import Dataset, PermuteAndFlip
from dpselect.backends.lazy.spark_selection import PersistedScores, scored, whole_numbers

CANDIDATES = 10_000_000
UNITS_PER_CANDIDATE = 1 / 3


def lines() -> Iterator[Line]:
    """Rows of a fixed shape are counted by distinct units, every candidate scored, one selected."""
    import pyspark.sql.functions as F  # noqa: N812

    spark = _session()
    units = int(CANDIDATES * UNITS_PER_CANDIDATE)
    rows = spark.range(CANDIDATES).select(
        (F.col("id") % units).alias("who"), F.pmod(F.xxhash64("id"), F.lit(CANDIDATES)).alias("what")
    )
    mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)

    def scores() -> Any:
        counted = rows.distinct().groupBy("what").agg(F.count("*").alias("number"))
        return scored(counted, whole_numbers(spark, range(CANDIDATES)))

    def selected() -> Any:
        with closing(PersistedScores(scores(), "<scores>")) as kept:
            return list(kept.drawn(mechanism, 1))

    yield Line.of(
        ratio(
            selected,
            lambda: scores().agg(F.max_by("what", "number")).collect(),
            pairs=5,
            budget=600.0,
        ),
        what="candidates scored and selected inside Spark, of its non-private `max_by`",
        case="PF, scores never leave Spark",
        n=CANDIDATES,
        dtype="int64",
        unit="x",
        at_most=1.5,
    )
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

        return Line.of(
            ratio(lambda: visits.top_k("page", 10, epsilon=1.0, delta=DELTA), own, pairs=3, budget=60.0),
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
