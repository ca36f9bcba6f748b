"""Columns of frames: their names, that they do not change, and their batches in the types of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import RecordBatch, column_of
from dpselect.rows.duckdb.plain import plain_batches
from dpselect.rows.duckdb.scan import explained
from dpselect.rows.failures import TranslatedErrors, changed


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


def named_columns(
    names: Sequence[object], holds: Iterable[Holds], *, shown: str, capitals_count: bool = True
) -> tuple[Column, ...]:
    """The columns of a frame, after a check that each has a name of its own.

    Raises:
        InvalidDataError: no columns, two of the same name for its engine, or a name that is not text.
    """
    if not names:
        raise InvalidDataError("source", Shown(shown), "a table with columns")
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        raise InvalidDataError("source", Shown(shown), "columns whose names are text", "Rename the others first.")
    if len(set(texts)) < len(texts):
        raise InvalidDataError("source", Shown(shown), "columns with different names", "Two of them have the same.")
    if not capitals_count and len({name.casefold() for name in texts}) < len(texts):
        hint = "Two of them differ only in capitals, and names are case-insensitive here: rename one of them."
        raise InvalidDataError("source", Shown(shown), "columns with different names", hint)
    return tuple(map(Column, texts, holds))


def check_unchanged(now: Iterable[Column], opened: Sequence[Column], *, shown: str) -> None:
    """Refuse a frame whose columns, or their types, changed after it was opened.

    Questions refer to the columns at that time. A position may now be that of another column, and if a column changed
    its type, one row may decide how the others are read.

    Args:
        now: the columns that are about to be read.
        opened: the columns when the frame was opened.
        shown: the kind of frame.

    Raises:
        InvalidDataError: they differ in names, order or types.
    """
    if tuple(now) != tuple(opened):
        raise changed(shown)
