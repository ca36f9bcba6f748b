"""Fields of structs, as ``address.city``: in files and frames; a column of that name comes first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, orc
from pyarrow import parquet as pq

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.formats.reading import counts, numbers
from tests.rows.tables import opened

ROWS: list[dict[str, Any]] = [
    {"unit": 1, "address": {"city": "Oslo", "at": {"floor": 3}}, "value": 1},
    {"unit": 2, "address": {"city": "Rome", "at": {"floor": 4}}, "value": 1},
    {"unit": 3, "address": {"city": "Oslo", "at": None}, "value": 1},
    {"unit": 4, "address": None, "value": 1},
    {"unit": 5, "address": {"city": None, "at": {"floor": 3}}, "value": 1},
]
TABLE = pa.Table.from_pylist(ROWS)


def written(write: Callable[[pa.Table, str], Any], name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        write(TABLE, str(folder / name))
        return folder / name

    return place


def json_lines(folder: Path) -> Path:
    (folder / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return folder / "t.jsonl"


WAYS: dict[str, Callable[[Path], Any]] = {
    "parquet": written(pq.write_table, "t.parquet"),
    "short groups": written(lambda table, path: pq.write_table(table, path, row_group_size=2), "t.parquet"),
    "arrow": written(feather.write_feather, "t.arrow"),
    "orc": written(orc.write_table, "t.orc"),
    "json": json_lines,
    "table": lambda folder: TABLE,
    "sliced": lambda folder: pa.concat_tables([TABLE.slice(3, 2), TABLE.slice(0, 3)]),
    "pandas": lambda folder: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda folder: pl.from_arrow(TABLE),
    "lazy": lambda folder: pl.from_arrow(TABLE).lazy(),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("way", WAYS)
def test_fields_of_structs_are_columns(way: str, tmp_path: Path) -> None:
    source = WAYS[way](tmp_path)
    assert counts(source, ["Oslo", "Rome", "Bonn"], column="address.city") == [2, 1, 0]
    assert counts(source, [3, 4], column="address.at.floor") == [2, 1]
    assert counts(source, [1], unit="address.city") == [2]
    data = dps.Dataset(source, unit="unit").where({"address.city": ["Oslo"]})
    assert data.count(epsilon=1000.0).value == 2


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_field_is_refused(way: str, tmp_path: Path) -> None:
    table = opened(WAYS[way](tmp_path))
    for name in ("address.street", "address.", ".city", "address.at.floor.x", "city"):
        with pytest.raises(InvalidDataError, match="a column of the data"):
            table.holds(name)


def test_a_column_comes_before_a_field(tmp_path: Path) -> None:
    both = TABLE.append_column("address.city", pa.array(["Bonn"] * 5))
    pq.write_table(both, tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row | {"address.city": "Bonn"}) + "\n" for row in ROWS))
    for source in (both, tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        assert counts(source, ["Oslo", "Bonn"], column="address.city") == [0, 5]


def test_two_fields_of_one_name_are_none() -> None:
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "b"])
    table = pa.table({"unit": [1], "s": twice})
    assert numbers(table.append_column("value", pa.array([7])), None) == [7]
    assert counts(table, [3], column="s.b") == [1]
    with pytest.raises(InvalidDataError, match="a column of the data"):
        counts(table, [1], column="s.a")
