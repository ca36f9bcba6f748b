"""A limit of memory is kept or refused, and never taken without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import dpselect as dps
from tests.backends import engines

ROWS = pa.table({"unit": [1, 2], "value": [1, 1]})

REFUSED = r"^memory_limit=<134217728 bytes>: expected nothing, because Polars, Spark and servers hold their own rows"


def limited(source: Any, **options: Any) -> dps.Dataset:
    return dps.Dataset(source, unit="unit", memory_limit="128MiB", **options)


@pytest.mark.parametrize("options", [{"engine": "polars"}, {"engine": "spark"}, {}, {"engine": "duckdb"}], ids=str)
def test_files(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path)
    if options.get("engine", "duckdb") == "duckdb":
        assert limited(path, **options).most_common("value", candidates=[1, 2], epsilon=99.0).value == 1
    else:
        with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
            limited(path, **options)


@pytest.mark.parametrize("make", [engines.polars_lazy, engines.spark_frame])
def test_lazy_frames(make: Callable[[pa.Table], Any]) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited(make(ROWS))


def test_a_server(postgres: sa.Engine) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited("postgresql://ann@db.invalid/shop", table="clicks")  # before anybody is asked
    url, name = engines.postgres_table(ROWS, postgres)
    backend = ibis.postgres.connect(conninfo=url, port=None)
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited(backend.table(name))
    backend.disconnect()


@pytest.mark.parametrize("make", [lambda rows: rows, duckdb.from_arrow, engines.ibis_on_duckdb, pl.from_arrow])
@engines.deprecations
def test_what_is_read_in_this_process(make: Callable[[pa.Table], Any]) -> None:
    assert limited(make(ROWS)).most_common("value", candidates=[1, 2], epsilon=99.0).value == 1
