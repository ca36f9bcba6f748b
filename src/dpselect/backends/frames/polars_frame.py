"""Polars frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.frames.names import named_columns
from dpselect.backends.rows.arrow import BATCH_ROWS, RecordBatch, holds_of, pa
from dpselect.backends.rows.plain import plain_batches


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolarsSource:
    """A ``polars.DataFrame``, turned into Arrow slice by slice.

    Attributes:
        frame: what was given.
        columns: of its schema.
        shown: its kind.
        listed: whether errors may list them.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown: str = "<polars DataFrame>"
    listed: bool = True

    @classmethod
    def of(cls, frame: Any) -> PolarsSource:
        """The rows of a frame."""
        holds = [holds_of_series(frame.get_column(name)) for name in frame.columns]
        return cls(frame, named_columns(frame.columns, holds, shown="<polars DataFrame>"))

    def size(self) -> int:
        """Rows."""
        return self.frame.height

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the columns asked for."""
        import polars as pl

        asked, newest = [self.frame.get_column(column.name) for column in columns], pl.CompatLevel.newest()
        for start in range(0, self.size(), BATCH_ROWS):
            slices = [column.slice(start, BATCH_ROWS) for column in asked]
            advance(len(slices[0]))
            arrays = [each.to_arrow(compat_level=newest) for each in slices]  # text stays where it lies
            yield from plain_batches(arrays, columns, [column.name for column in columns])


def holds_of_series(column: Any) -> Holds:
    """By the type of no rows at all; what Arrow has no type for is not looked into."""
    if str(column.dtype) == "Object":  # addresses in memory, by the look of their Arrow type
        return Holds.NESTED
    try:
        return holds_of(column.slice(0, 0).to_arrow().type)
    except pa.ArrowException:
        return Holds.NESTED
