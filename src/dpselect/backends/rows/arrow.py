"""The Arrow types in which values reach the engine. Text is validated row by row, so that no row affects another.

Arrow has no type stubs, so it is imported as `Any`, only here.
"""

from __future__ import annotations

from typing import Any

import pyarrow  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.compute  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

from dpselect.backends.columns import Column, Holds

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
"""The Arrow type in which each readable type of column is read."""

BATCH_ROWS = 1 << 17
"""Rows in a batch, where there is a choice."""

_TESTS = (
    (pa.types.is_uint64, Holds.UNSIGNED),
    (pa.types.is_integer, Holds.INTEGERS),
    (pa.types.is_float64, Holds.FLOATS),
    (pa.types.is_floating, Holds.SHORT_FLOATS),
    (pa.types.is_decimal, Holds.DECIMALS),
    (pa.types.is_string, Holds.TEXT),
    (pa.types.is_large_string, Holds.TEXT),
    (pa.types.is_string_view, Holds.TEXT),
    (pa.types.is_date, Holds.DATES),
    (pa.types.is_boolean, Holds.BOOLEANS),
    (pa.types.is_null, Holds.NOTHING),
    (pa.types.is_temporal, Holds.TIMES),
    (pa.types.is_binary, Holds.BYTES),
    (pa.types.is_large_binary, Holds.BYTES),
    (pa.types.is_binary_view, Holds.BYTES),
    (pa.types.is_fixed_size_binary, Holds.BYTES),
)


def holds_of(type_: Any) -> Holds:
    """What a column of an Arrow type holds. Nested dictionaries and decimals of negative scale are refused."""
    if isinstance(type_, pa.BaseExtensionType):
        return holds_of(type_.storage_type)
    if pa.types.is_dictionary(type_):
        inside = type_.value_type
        is_plain = not (isinstance(inside, pa.BaseExtensionType) or pa.types.is_dictionary(inside))
        return holds_of(inside) if is_plain else Holds.OTHER
    if pa.types.is_decimal(type_) and type_.scale < 0:
        return Holds.OTHER
    return next((holds for matches, holds in _TESTS if matches(type_)), Holds.NESTED)


def column_of(name: str, type_: Any) -> Column:
    """A column of an Arrow type.

    >>> column_of("number", pa.decimal128(38, 0)).is_whole
    True
    """
    holds = holds_of(type_)
    inside = type_.value_type if pa.types.is_dictionary(type_) else type_
    return Column(name, holds, wide=holds is Holds.DECIMALS and getattr(inside, "scale", 1) == 0)


def valid_text(column: Array) -> Array:
    """`column` as Arrow strings, with nulls for bytes that are not UTF-8.

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


def text_array(values: list[str | None]) -> Array:
    """Python strings as Arrow text, with nulls for strings that UTF-8 cannot hold.

    >>> text_array(["ok", chr(0xD800), None]).to_pylist()
    ['ok', None, None]
    """
    try:
        return pa.array(values, pa.large_string())
    except UnicodeError:  # at least one has half of a surrogate pair: find out which ones
        return pa.array([None if value is None else _encodable(value) for value in values], pa.large_string())


def _encodable(value: str) -> str | None:
    try:
        str.encode(value)
    except UnicodeError:
        return None
    return value


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
