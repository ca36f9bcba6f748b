"""How values travel from the files to the engine; text is made valid row by row, so that no row spoils another.

Arrow comes without type stubs, so this is also where it enters the typed world: as `Any`, here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import pyarrow  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.compute  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

from dpselect.backends.columns import Holds

pa: Any = pyarrow
pc: Any = pyarrow.compute
pq: Any = pyarrow.parquet
Array = Any
RecordBatch = Any

ARROW_TYPES: dict[Holds, Any] = {
    Holds.ANYTHING: pa.large_string(),
    Holds.TEXT: pa.large_string(),
    Holds.DECIMALS: pa.large_string(),
    Holds.NOTHING: pa.large_string(),
    Holds.INTEGERS: pa.int64(),
    Holds.UNSIGNED: pa.uint64(),
    Holds.FLOATS: pa.float64(),
    Holds.SHORT_FLOATS: pa.float64(),
    Holds.DATES: pa.date32(),
    Holds.BOOLEANS: pa.bool_(),
    Holds.BYTES: pa.large_binary(),
}
"""Kinds of columns that can be read, and the one Arrow type each is read as."""


def valid_text(column: Array) -> Array:
    """`column` as Arrow strings, with a null where the bytes are not UTF-8.

    Args:
        column: Arrow binary or string array of any width, possibly with nulls; strings may be invalid.

    Returns:
        Array of type ``large_string`` (no total length can overflow it), as long as `column`.

    >>> valid_text(pa.array([b"ok", bytes([255]), None])).to_pylist()
    ['ok', None, None]
    """
    column = column.cast(pa.large_binary())
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:  # at least one row is not UTF-8: find out which ones
        return pa.array([_decoded(value) for value in column.to_pylist()], pa.large_string())


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
