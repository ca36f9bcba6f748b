"""Parquet: types from the footer, the asked columns streamed batch by batch.

Read with Arrow, which takes bytes as they come: a reader that checks text while it scans fails on the first value
that is not UTF-8, and then the failure (and its message) speaks of one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dpselect.backends.columns import Column
from dpselect.backends.failures import InOurWords
from dpselect.backends.rows.arrow import BATCH_ROWS, RecordBatch, holds_of, pa, plain, pq
from dpselect.errors import InvalidDataError, Shown


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The top-level columns of the file's schema.

    Raises:
        InvalidDataError: the footer cannot be read, or two columns have the same name.
    """
    damaged = InvalidDataError("source", shown, "a Parquet file that can be read", "Its footer is damaged.")
    with InOurWords(lambda _: damaged, OSError, pa.ArrowException):
        found = schema(path)
    if len(set(found.names)) < len(found.names):
        raise InvalidDataError("source", shown, "columns with different names")
    return columns_of(found)


def schema(path: str) -> Any:
    """The Arrow schema of the file, from its footer."""
    return pq.read_schema(path)


def columns_of(schema: Any) -> tuple[Column, ...]:
    """What the columns of a schema hold."""
    return tuple(Column(field.name, holds_of(field.type)) for field in schema)


def rows(path: str, columns: Sequence[Column], *, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches, in types that no later step can stumble over.

    Args:
        path: a file whose columns were read before.
        columns: those wanted, in this order.
        advance: called with the number of rows read since the last call.
    """
    names = [column.name for column in columns]
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=names):
            advance(batch.num_rows)
            found = [plain(batch.column(batch.schema.get_field_index(c.name)), c.holds) for c in columns]
            yield pa.RecordBatch.from_arrays(found, names=names)


def row_count(path: str) -> int:
    """Rows of the file, from its footer."""
    return pq.read_metadata(path).num_rows
