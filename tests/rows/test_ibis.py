"""Ibis: tables on any of its engines, and tables in memory, which it brings to one only when rows are asked for."""

from __future__ import annotations

import gc
from typing import Any

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect.errors import InvalidDataError
from tests.rows.engines import deprecations, ibis_on_duckdb
from tests.rows.tables import count, opened

ROWS = pd.DataFrame({"unit": ["ann", "bob", "cid"], "value": ["x", "x", "y"]})


def asked(expression: Any) -> list[int]:
    table = opened(expression)
    del expression
    gc.collect()  # Ibis takes its tables in memory away as soon as nobody speaks of them
    return count(table, ["x", "y"])


@deprecations
def test_tables_in_memory_that_nobody_asked_before() -> None:
    assert asked(ibis.memtable(ROWS)) == [2, 1]
    assert asked(ibis.memtable(ROWS).filter(ibis._.unit != "ann").mutate(more=1)) == [1, 1]
    filled = ibis_on_duckdb(pa.table({"unit": ["ann", "bob"]}))
    assert asked(filled.join(ibis.memtable(ROWS), "unit")) == [2, 0]


def test_any_engine_of_ibis_and_none() -> None:
    assert asked(ibis.polars.connect({"rows": pl.DataFrame(ROWS)}).table("rows")) == [2, 1]
    with pytest.raises(InvalidDataError, match="Its engine could not answer"):
        asked(ibis.table({"unit": "string", "value": "string"}, name="nowhere"))
