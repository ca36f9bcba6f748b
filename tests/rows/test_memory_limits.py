"""A limit of memory is kept or refused, and never taken without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import dpselect as dps
from tests.rows import engines

ROWS = pa.table({"unit": [1, 2], "value": [1, 1]})

MAKERS = (lambda rows: rows, duckdb.from_arrow, engines.ibis_on_duckdb, pl.from_arrow, engines.polars_lazy)

REFUSED = r"^memory_limit=<134217728 bytes>: expected nothing, because Spark and servers hold their own rows"


def limited(source: Any, **options: Any) -> dps.Dataset:
    return dps.Dataset(source, unit="unit", memory_limit="128MiB", **options)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(ROWS, path)
    assert limited(path).most_common("value", candidates=[1, 2], epsilon=99.0).value == 1


def test_a_frame_of_spark() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited(engines.spark_frame(ROWS))


def test_a_server(postgres: sa.Engine) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited("postgresql://ann@db.invalid/shop", table="clicks")  # before anybody is asked
    url, name = engines.postgres_table(ROWS, postgres)
    with pytest.raises(dps.errors.InvalidParameterError, match=REFUSED):
        limited(url, table=name)


@pytest.mark.parametrize("make", MAKERS)
@engines.deprecations
def test_what_is_read_in_this_process(make: Callable[[pa.Table], Any]) -> None:
    assert limited(make(ROWS)).most_common("value", candidates=[1, 2], epsilon=99.0).value == 1
