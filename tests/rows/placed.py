"""The same rows as files and as frames in memory."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.int16(): pd.Int16Dtype(), pa.bool_(): pd.BooleanDtype()}
"""How pandas keeps whole numbers and booleans if some are missing; as numpy's own they would become floats, objects."""


def in_pandas(type_: pa.DataType) -> Any:
    """The dtype of a column; pandas itself would keep dates and decimals as Python objects, which are text."""
    is_arrow = pa.types.is_date(type_) or pa.types.is_decimal(type_)
    return pd.ArrowDtype(type_) if is_arrow else NULLABLE.get(type_)


class Stranger:
    """A frame of a library nobody has heard of."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def in_chunks(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1), table.slice(1)])


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


FRAMES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, _: in_chunks(table),
    "batch": lambda table, _: pa.record_batch([one_chunk(column) for column in table.columns], table.column_names),
    "stranger": lambda table, _: Stranger(in_chunks(table)),
    "eager-polars": lambda table, _: pl.from_arrow(in_chunks(table)),
    "pandas": lambda table, _: table.to_pandas(types_mapper=in_pandas),
    "arrow-in-pandas": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
}


def parquet(rows: pa.Table, path: Path) -> None:
    """Two row groups, if there are two rows."""
    pq.write_table(rows, path.with_suffix(".parquet"), row_group_size=max(1, rows.num_rows // 2))


def csv_file(rows: pa.Table, path: Path) -> None:
    """Every cell as a person would write it; bytes as they are, which makes the field one that is left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows.column_names)
    for row in rows.to_pylist():
        writer.writerow([_written(cell) for cell in row.values()])
    path.with_suffix(".csv").write_bytes(text.getvalue().encode("utf-8", "surrogateescape"))


def json_lines(rows: pa.Table, path: Path) -> None:
    """A first line without values, so that all columns are there even without rows."""
    lines = [json.dumps(dict.fromkeys(rows.column_names)), *map(_json, rows.to_pylist())]
    path.with_suffix(".jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def delta_table(table: pa.Table, folder: Path) -> Any:
    """The path of a Delta table in two versions, for which a name may have any character."""
    from deltalake import write_deltalake  # here, as most tests of engines place no lakes

    write_deltalake(folder / "rows", table.slice(0, 2))
    write_deltalake(folder / "rows", table.slice(2), mode="append")
    return folder / "rows"


def iceberg_table(table: pa.Table, folder: Path) -> Any:
    """Two data files."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalogue = InMemoryCatalog("here", warehouse=f"file://{folder}")
    catalogue.create_namespace("shop")
    made = catalogue.create_table("shop.rows", schema=table.schema)
    made.append(table.slice(0, 2))
    made.append(table.slice(2))
    return made


LAKES: dict[str, Callable[[pa.Table, Path], Any]] = {"delta": delta_table, "iceberg": iceberg_table}


FILES: dict[str, tuple[Callable[[pa.Table, Path], None], str]] = {
    "csv": (csv_file, ".csv"),
    "json": (json_lines, ".jsonl"),
    "parquet": (parquet, ".parquet"),
}


def one_file(kind: str, rows: pa.Table, folder: Path) -> str:
    """The path of the rows in one file."""
    write, ending = FILES[kind]
    write(rows, folder / "rows")
    return str(folder / f"rows{ending}")


def several_files(kind: str, rows: pa.Table, folder: Path) -> str:
    """A glob of the rows in three files, the last of them without any."""
    write, ending = FILES[kind]
    half = (rows.num_rows + 1) // 2
    for name, part in (("a", rows.slice(0, half)), ("b", rows.slice(half)), ("c", rows.slice(0, 0))):
        write(part, folder / name)
    return str(folder / f"*{ending}")


def _written(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogateescape")
    if isinstance(cell, bool | date):
        return str(cell).lower()
    return cell if isinstance(cell, str) else _number(cell)


def _number(number: float | Decimal) -> str:
    """As text knows numbers: what no double can hold instead of an infinity, and decimals without an exponent."""
    if isinstance(number, Decimal):
        return format(number, "f")
    return f"{'-' * (number < 0)}1e999" if math.isinf(number) else repr(number)


def _json(row: dict[str, Any]) -> str:
    """Text is quoted, dates are texts; what JSON has no word for is null."""
    return "{" + ", ".join(f"{json.dumps(name)}: {_json_cell(cell)}" for name, cell in row.items()) + "}"


def _json_cell(cell: Any) -> str:
    if cell is None or isinstance(cell, bytes) or cell != cell:
        return "null"
    if isinstance(cell, bool) or not isinstance(cell, str | date):
        return _written(cell)
    return json.dumps(str(cell))
