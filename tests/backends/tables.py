"""Small tables as files, and what a few lines of Python get from them: what the backend has to equal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpselect.backends.contract import Table
from dpselect.backends.opening import open_table
from dpselect.summaries import PublicCandidates, PublicDomain

Row = tuple[Any, Any]


def count(source: object, candidates: object, *, unit: str = "unit", column: str = "value") -> list[int]:
    """What the backend counts."""
    table: Table = open_table(source)
    (counts,) = table.count(
        unit=table.unit(unit), column=table.column(column), candidates=PublicCandidates.given(candidates)
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
    (values,) = table.gather(unit=table.unit(unit), column=table.column(column), domain=domain, max_rows_per_unit=most)
    return sorted(values.values.tolist())


def brute_force(rows: Sequence[Row], candidates: Sequence[Any]) -> list[int]:
    """Distinct units per candidate of rows in which a missing unit is None."""
    return [len({unit for unit, value in rows if unit is not None and value == each}) for each in candidates]


def write_parquet(path: Path, rows: Sequence[Row], *, types: tuple[Any, Any] = (None, None), groups: int = 2) -> Path:
    """`rows` as a Parquet file of several row groups."""
    units, values = ([row[i] for row in rows] for i in (0, 1))
    table = pa.table({"unit": pa.array(units, types[0]), "value": pa.array(values, types[1])})
    pq.write_table(table, path, row_group_size=max(1, len(rows) // groups))
    return path


def write_csv(path: Path, lines: Sequence[bytes], *, header: bytes = b"unit,value\n") -> Path:
    """`lines` (without line breaks) under `header`."""
    path.write_bytes(header + b"".join(line + b"\n" for line in lines))
    return path
