"""Small tables as files, and what a few lines of Python get from them: what the backend has to equal."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpselect.rows import statements
from dpselect.rows.columns import Amount, Grouping, Progress
from dpselect.rows.opening import open_table
from dpselect.rows.table import Table
from dpselect.summaries import PublicCandidates, PublicDomain

Row = tuple[Any, Any]

NAMES = ("unit", "value", "part", "amount")


def scanned(table: Table, name: str, progress: Progress | None = None, **asked: Any) -> Any:
    """The summary in each group that a function of `dpselect.rows.statements` asks a table for."""
    return table.answers([partial(getattr(statements, name), **asked)], progress)[0]


def count(source: object, candidates: object, *, unit: str = "unit", column: str = "value") -> list[int]:
    """What the backend counts."""
    table: Table = open_table(source)
    (counts,) = scanned(
        table,
        "count",
        unit=table.unit(unit),
        column=table.column(column),
        candidates=PublicCandidates.given(candidates),
    )
    return counts.counts.tolist()


def gather(
    source: object,
    *,
    bounds: tuple[float, float] = (-1e18, 1e18),
    most: int = 1,
    unit: str = "unit",
    column: str = "value",
) -> list[float]:
    """The values that the backend keeps, in increasing order."""
    table: Table = open_table(source)
    domain = PublicDomain.given(bounds)
    (values,) = scanned(
        table, "gather", unit=table.unit(unit), column=table.column(column), domain=domain, max_rows_per_unit=most
    )
    return sorted(values.values.tolist())


def count_groups(
    source: object, candidates: object, groups: object, *, most: int = 1, names: Sequence[str] = NAMES
) -> list[list[int]]:
    """What the backend counts in each group."""
    table: Table = open_table(source)
    unit, column = table.unit(names[0]), table.column(names[1])
    grouping = Grouping(table.column(names[2]), PublicCandidates.given(groups), most)
    asked = PublicCandidates.given(candidates)
    return [
        each.counts.tolist()
        for each in scanned(table, "count", unit=unit, column=column, candidates=asked, grouping=grouping)
    ]


def usable_units(
    source: object,
    candidates: object,
    *,
    number: str | None = None,
    groups: object = None,
    most: int = 1,
) -> list[int]:
    """How many units in ``unit`` have a candidate in ``value``, and a number; for each group in ``part``."""
    table = open_table(source)
    matched = (table.column("value"), PublicCandidates.given(candidates))
    needed: dict[str, Any] = {"matched": matched, "number": None if number is None else table.column(number)}
    grouping = None if groups is None else Grouping(table.column("part"), PublicCandidates.given(groups), most)
    return scanned(table, "units", unit=table.unit("unit"), **needed, grouping=grouping)


def total(
    source: object,
    candidates: object,
    *,
    bounds: tuple[int, int],
    scale: int | Fraction = 1,
    groups: object = None,
    most: int = 1,
    names: Sequence[str] = NAMES,
) -> list[list[int]]:
    """What the backend adds up in each group."""
    table: Table = open_table(source)
    unit, column = table.unit(names[0]), table.column(names[1])
    amount = Amount(table.column(names[3]), Fraction(scale), *bounds)
    grouping = None if groups is None else Grouping(table.column(names[2]), PublicCandidates.given(groups), most)
    asked = PublicCandidates.given(candidates)
    totals = scanned(table, "total", unit=unit, column=column, candidates=asked, amount=amount, grouping=grouping)
    return [each.totals.tolist() for each in totals]


def gather_groups(
    source: object,
    groups: object,
    *,
    most: int = 1,
    rows: int = 1,
    bounds: tuple[float, float] = (-1e18, 1e18),
    names: Sequence[str] = NAMES,
) -> list[list[float]]:
    """The values that the backend keeps in each group, in increasing order."""
    table: Table = open_table(source)
    unit, column = table.unit(names[0]), table.column(names[1])
    grouping = Grouping(table.column(names[2]), PublicCandidates.given(groups), most)
    domain = PublicDomain.given(bounds)
    found = scanned(table, "gather", unit=unit, column=column, domain=domain, max_rows_per_unit=rows, grouping=grouping)
    return [sorted(each.values.tolist()) for each in found]


def brute_force(rows: Sequence[Row], candidates: Sequence[Any]) -> list[int]:
    """Distinct units per candidate of rows in which a missing unit is None."""
    return [len({unit for unit, value in rows if unit is not None and value == each}) for each in candidates]


def write_rows(folder: Path, rows: Sequence[Sequence[Any]], *, kind: str, types: Sequence[Any] = ()) -> Path:
    """Rows with up to four cells, a unit, a value, a group and an amount, as a table of either kind of file."""
    names = NAMES[: len(rows[0]) if rows else 4]
    if kind == "csv":
        lines = [",".join("" if cell is None else str(cell) for cell in row).encode() for row in rows]
        return write_csv(folder / "t.csv", lines, header=",".join(names).encode() + b"\n")
    kinds = types or (None,) * len(names)
    columns = {name: pa.array([row[i] for row in rows], kinds[i]) for i, name in enumerate(names)}
    pq.write_table(pa.table(columns), folder / "t.parquet", row_group_size=max(1, len(rows) // 2))
    return folder / "t.parquet"


def write_parquet(path: Path, rows: Sequence[Row], *, types: tuple[Any, Any] = (None, None), groups: int = 2) -> Path:
    """`rows` as a Parquet file of several row groups."""
    units, values = ([row[i] for row in rows] for i in (0, 1))
    if types[1] == pa.string_view():
        table = pa.table({"unit": pa.array(units, types[0]), "value": pa.array(values)})
        return _write_as_if(table, pa.schema([("unit", types[0]), ("value", types[1])]), path)
    table = pa.table({"unit": pa.array(units, types[0]), "value": pa.array(values, types[1])})
    pq.write_table(table, path, row_group_size=max(1, len(rows) // groups))
    return path


def _write_as_if(table: pa.Table, schema: pa.Schema, path: Path) -> Path:
    """The file that newer versions of Arrow write of a table with the types of `schema`, also by older ones."""
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())})
        writer.write_table(table)
    return path


def write_csv(path: Path, lines: Sequence[bytes], *, header: bytes = b"unit,value\n") -> Path:
    """`lines` (without line breaks) under `header`."""
    path.write_bytes(header + b"".join(line + b"\n" for line in lines))
    return path
