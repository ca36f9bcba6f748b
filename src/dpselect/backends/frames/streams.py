"""Arrow schemas and batches of all libraries, in the columns and types of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.rows.arrow import RecordBatch, column_of
from dpselect.backends.rows.plain import plain_batches
from dpselect.backends.rows.scan import explained
from dpselect.errors import InvalidDataError, Shown


def columns_in(schema: Any) -> tuple[Column, ...]:
    """The columns of an Arrow schema."""
    return tuple(column_of(field.name, field.type) for field in schema)


def converted(
    batches: Iterable[RecordBatch], columns: Sequence[Column], advance: Callable[[int], None]
) -> Iterator[RecordBatch]:
    """Batches whose columns are `columns`, in their order; ``advance`` is told the rows of each."""
    names = [str(at) for at in range(len(columns))]
    for batch in batches:
        advance(batch.num_rows)
        yield from plain_batches(batch.columns, columns, names)


def read_by(library: str, shown: str, hint: str) -> TranslatedErrors:
    """Turns the errors of a library that reads tables into one that names the table and gives a hint, and no row."""
    expected = f"a table that {library} can read"
    table = Shown(shown)
    return TranslatedErrors(
        lambda error: (
            explained(error, table)
            if isinstance(error, MemoryError)
            else InvalidDataError("source", table, expected, hint)
        )
    )
