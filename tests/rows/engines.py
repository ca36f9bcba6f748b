"""The same rows in every engine."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

import dpselect as dps
from tests.rows import placed
from tests.rows.tables import Opened, opened
from tests.slow import SLOW

Opener = Callable[[pa.Table], Opened]
"""Puts rows into an engine and opens the table there."""


@dataclass(frozen=True)
class Source:
    """What a caller names: a table, and what else has to be said of it."""

    given: Any
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def opened(self) -> Opened:
        """The table behind it."""
        return opened(self.given, **self.options)

    def asked(self, unit: str, **others: Any) -> dps.Dataset:
        """The table as it can be asked."""
        return dps.Dataset(self.given, unit=unit, **self.options, **others)


Placer = Callable[[pa.Table, Path], Source]
"""Puts rows into an engine; what it writes goes into the folder, which is empty."""

# Ibis 12 calls DuckDB 2 by names that it had before.
deprecations = pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")


def polars_lazy(rows: pa.Table) -> pl.LazyFrame:
    """A lazy frame with a step in it, so that it is not just a table."""
    return pl.DataFrame(rows).lazy().with_columns(extra=pl.lit(1))


def duckdb_relation(rows: pa.Table) -> duckdb.DuckDBPyRelation:
    """A relation on a connection of its own."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE filled AS SELECT * FROM rows")
    return connection.sql("SELECT *, 1 AS extra FROM filled")


def ibis_on_duckdb(rows: pa.Table) -> Any:
    """An expression, not just a table."""
    import ibis

    connection = ibis.duckdb.connect()
    connection.con.register("given", rows)
    connection.con.execute("CREATE TABLE filled AS SELECT * FROM given")
    return connection.table("filled").mutate(extra=1)


def spark() -> Any:
    """One session for all tests, in the one worker that gets whatever has Spark in its name."""
    assert "spark" in os.environ["PYTEST_CURRENT_TEST"].lower(), "say in the name of the test that it needs Spark"
    return _started_spark()


_QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""By day Spark neither compiles its queries nor plans them anew half way: each is run once, on few rows. In slow tests
it does, as for users."""
_JAVA = ("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote")


@cache
def _started_spark() -> Any:
    """Local, two cores, nothing on the network but a port of this machine for Connect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library inside about one of its own
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        return (
            SparkSession.builder.master("local[2,2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            # Compiled quickly rather than well, by a Java that trusts what it loads: half the time of so short a life.
            .config("spark.driver.extraJavaOptions", " ".join(_JAVA))
            .config(map={} if SLOW else _QUICK)
            .config("spark.log.level", "OFF")
            .config("spark.scheduler.revive.interval", "20ms")
            .config("spark.python.daemon.module", "tests.rows.spark_workers")
            .config("spark.executorEnv.PYTHONPATH", str(Path(__file__).parents[2]))
            .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
            .config("spark.connect.grpc.binding.address", "127.0.0.1")
            .config("spark.connect.grpc.binding.port", "0")
            .getOrCreate()
        )


@cache
def spark_connect() -> Any:
    """A client of the same Spark: in a process of its own, usually; its frames are of other types."""
    from pyspark.sql.connect.session import SparkSession

    services = spark()._jvm.org.apache.spark.sql.connect.service
    port = getattr(getattr(services, "SparkConnectService$"), "MODULE$").localPort()
    return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


def spark_frame(rows: pa.Table) -> Any:
    """A data frame in two partitions."""
    return spark().createDataFrame(rows).repartition(2)


_NUMBERS = count()
_SQL_TYPES = {
    "int64": "bigint",
    "int16": "smallint",
    "double": "double precision",
    "float": "real",
    "string": "text",
    "date32[day]": "date",
    "bool": "boolean",
    "binary": "bytea",
}


def postgres_table(rows: pa.Table, server: sa.Engine) -> tuple[str, str]:
    """URL and name of a new table on the server."""
    name = f"rows_{next(_NUMBERS)}"
    types = [_SQL_TYPES.get(str(field.type), str(field.type).replace("decimal128", "numeric")) for field in rows.schema]
    columns = [
        f'"{field.name.replace(chr(34), 2 * chr(34))}" {type_}' for field, type_ in zip(rows.schema, types, strict=True)
    ]
    url = server.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({', '.join(columns).replace('decimal128', 'numeric')})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
                copy.write_row(row)
    return url, name


MAKERS = {"polars": polars_lazy, "duckdb": duckdb_relation, "spark": spark_frame, "ibis": ibis_on_duckdb}
"""Of engines in this process that compute when they are asked."""


def _made(make: Callable[[pa.Table], Any]) -> Placer:
    return lambda rows, folder: Source(make(rows))


def _framed(frame: Callable[[pa.Table, Path], Any]) -> Placer:
    return lambda rows, folder: Source(frame(rows, folder))


def _in_files(write: Callable[[str, pa.Table, Path], str], kind: str, **options: Any) -> Placer:
    return lambda rows, folder: Source(write(kind, rows, folder), options)


PLACERS: dict[str, Placer] = {
    **{kind: _in_files(placed.one_file, kind) for kind in placed.FILES},
    **{f"{kind}-glob": _in_files(placed.several_files, kind) for kind in placed.FILES},
    **{name: _framed(frame) for name, frame in (placed.FRAMES | placed.LAKES).items()},
    **{name: _made(make) for name, make in MAKERS.items()},
}
"""All engines but the server."""

ALL = (*PLACERS, "postgres")
IN_SHORT = () if SLOW else ("polars", "ibis")
"""By day these engines show in a few questions that they work at all."""
LAZY = tuple(engine for engine in (*MAKERS, "postgres") if engine not in IN_SHORT)
ASKED_EVERYTHING = ("csv", "parquet", "duckdb", "postgres", *(("polars",) if SLOW else ()))
"""One of each way that rows are read; other sources join one of these ways after a few steps of their own."""


def opener(engine: str) -> Opener:
    """How a table gets into an engine in this process that computes when it is asked."""
    return lambda rows: opened(MAKERS[engine](rows))


def on_server(server: sa.Engine, rows: pa.Table) -> Source:
    """The rows as a table on a server."""
    url, name = postgres_table(rows, server)
    return Source(url, {"table": name})
