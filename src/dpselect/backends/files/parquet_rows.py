"""Parquet: types from the footer, the asked columns streamed batch by batch.

Read with Arrow, which takes bytes as they come: a reader that checks text while it scans fails on the first value
that is not UTF-8, and then the failure (and its message) speaks of one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.rows.arrow import ARROW_TYPES, Array, RecordBatch, pa, pq, valid_text
from dpselect.errors import InvalidDataError, Shown

_BATCH = 1 << 17

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


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The top-level columns of the file's schema.

    Raises:
        InvalidDataError: the footer cannot be read, or two columns have the same name.
    """
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        raise InvalidDataError("source", shown, "a Parquet file that can be read", "Its footer is damaged.") from None
    if len(set(schema.names)) < len(schema.names):
        raise InvalidDataError("source", shown, "columns with different names")
    return tuple(Column(field.name, _holds(field.type)) for field in schema)


def _holds(type_: Any) -> Holds:
    if isinstance(type_, pa.BaseExtensionType):
        return _holds(type_.storage_type)
    if pa.types.is_dictionary(type_):
        return _holds(type_.value_type)
    return next((holds for matches, holds in _TESTS if matches(type_)), Holds.NESTED)


def rows(path: str, columns: Sequence[Column], *, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches, in types that no later step can stumble over.

    Args:
        path: a file whose columns were read before.
        columns: those wanted, in this order.
        advance: called with the number of rows read since the last call.
    """
    names = [column.name for column in columns]
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_BATCH, columns=names):
            advance(batch.num_rows)
            found = [_plain(batch.column(batch.schema.get_field_index(c.name)), c.holds) for c in columns]
            yield pa.RecordBatch.from_arrays(found, names=names)


def row_count(path: str) -> int:
    """Rows of the file, from its footer."""
    return pq.read_metadata(path).num_rows


def _plain(column: Array, holds: Holds) -> Array:
    """The column in the one type its kind is read as, in every file alike; no cast here can refuse a value."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    return valid_text(column) if holds is Holds.TEXT else column.cast(ARROW_TYPES[holds], safe=False)
