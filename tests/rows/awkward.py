"""Rows with everything in them that an engine may stumble over, and questions about them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

NAN, INF = float("nan"), float("inf")
BIG = 2**53 + 1


def decimals(cells: str) -> list[Decimal | None]:
    """Decimal numbers; a dash is a missing one."""
    return [None if cell == "-" else Decimal(cell) for cell in cells.split()]


COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int64(), [7, 7, 8, -(2**63), 2**63 - 1, None, BIG, 7, 0, 8, 7, 7]),
    "short": (pa.int16(), [7, 7, 8, -32768, 32767, None, 1, 7, 0, 8, 7, 7]),
    "number": (pa.float64(), [7.0, 7.5, NAN, INF, -INF, -0.0, 0.1, 1e300, 2.0**63, None, 8.0, 7.0]),
    "single": (pa.float32(), [7.0, 7.5, NAN, INF, -INF, -0.0, 0.1, 1e30, 2.0**63, None, 2.0**24, 7.0]),
    "exact": (
        pa.decimal128(20, 2),
        decimals("7.00 7.50 -0.00 123456789012345678.00 0.10 7 8.00 -7.00 - 7.01 8 99999999999999999.99"),
    ),
    "huge": (
        pa.decimal128(38, 0),
        decimals(f"{10**37} {2**63 - 1} {2**63} {-(2**63)} {-(2**63) - 1} - 7 7 8 -7 0 {BIG}"),
    ),
    "fine": (pa.decimal128(38, 30), decimals("7 7.000000000000000000000000000001 0 0.1 - -7 8.1 8 1e-30 7 7 99999999")),
    "text": (pa.string(), ["ann", " ann\t", "vAnnv", "", " ", "N/A", "ann", None, "ä", "a'\"\\%b", "7", "07"]),
    "day": (
        pa.date32(),
        [date(2026, 11, 21)] * 3 + [None, date(1, 1, 1), date(9999, 12, 31)] + [date(2026, 11, 22)] * 6,
    ),
    "flag": (pa.bool_(), [True, False, True, None] * 3),
    "bytes": (pa.binary(), [b"\xff", b"\xfe", b"", None] * 3),
    "group": (pa.string(), ["north", "south", "north", "east", None, "south"] * 2),
    'A b.c`"x': (pa.int64(), [1, 2, 3, 4] * 3),
}
UNITS = ["whole", "short", "number", "single", "exact", "huge", "fine", "text", "day", "flag", "bytes"]
QUESTIONS: list[tuple[str, Any]] = [
    ("whole", [7, 8, 5, 2**63 - 1, -(2**63), BIG, BIG - 1]),
    ("whole", range(20)),
    ("whole", range(20, -1, -4)),
    ("whole", range(-1, 3000)),
    ("whole", range(3001, -4000, -2)),
    ("whole", range(2**63 - 3000, 2**63)),
    ("whole", range(-(2**63), -(2**63) + 5000, 2)),
    ("whole", range(-(2**63), 2**63, 2**62)),
    ("whole", list(range(9, 5000)) + list(range(9))),
    ("short", [7, 8, 70000, -(2**63), 32767]),
    ("short", range(-(2**62), -(2**62) + 5000)),
    ("number", [7, 8, 0, 2**63 - 1, -(2**63)]),
    ("number", range(-5000, 5000)),
    ("number", [7.5, 0.1, 0.0, 1e300, 3.0]),
    ("number", [-0.0, *(each + 0.5 for each in range(1500))]),
    ("single", [7, 8, 0, 2**24, 2**24 + 1]),
    ("exact", [7, 8, -7, 0, 123456789012345678, 123456789012345679]),
    ("exact", [7.5, 0.1, 0.0, 7.01, 99999999999999999.99]),
    ("exact", range(-5000, 5000)),
    ("huge", [2**63 - 1, -(2**63), 7, -7, 0, BIG]),
    ("huge", range(2**63 - 4000, 2**63)),
    ("huge", [1e37, 7.0]),
    ("fine", [7, 8, 0, -7, 99999999]),
    ("fine", [7.0, 0.1, 1e-30, 8.1, 0.0]),
    ("text", ["ann", " ann\t", "vAnnv", "Ann", "ä", "a'\"\\%b", "7", "x", " ", "N/A"]),
    ("text", ["ann", *(f"name {each}" for each in range(1500)), "7"]),
    ("day", [date(2026, 11, 21), date(1, 1, 1), date(9999, 12, 31), date(2000, 1, 1)]),
    ("flag", [True, False]),
    ("flag", [False]),
    ('A b.c`"x', range(1, 4)),
]
NAMES = [f"{each[0]}-{i}" for i, each in enumerate(QUESTIONS)]
AWKWARD = pa.table({name: pa.array(cells, type_) for name, (type_, cells) in COLUMNS.items()})

LOST = dict.fromkeys(("csv", "csv-glob", "json", "json-glob", "pandas"), ("bytes",))
"""Columns that a kind of source has no type for: whatever stands in them, it is missing there."""


def carried(engine: str, rows: pa.Table = AWKWARD) -> pa.Table:
    """The rows as they are after they were put into that engine."""
    for name in LOST.get(engine, ()):
        missing = pa.nulls(rows.num_rows, rows.schema.field(name).type)
        rows = rows.set_column(rows.schema.get_field_index(name), name, missing)
    return rows
