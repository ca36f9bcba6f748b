"""Polars frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpselect.backends.columns import Column, Holds
from dpselect.backends.frames.names import check_unchanged, named_columns
from dpselect.backends.rows.arrow import BATCH_ROWS, RecordBatch, holds_of, pa
from dpselect.backends.rows.plain import PIECE_BYTES, cuts, plain_batches


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolarsSource:
    """A ``polars.DataFrame``, converted to Arrow slice by slice.

    Attributes:
        frame: the frame.
        columns: the columns of its schema.
        shown: its name in errors.
        listed: whether errors may list the columns.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown: str = "<polars DataFrame>"
    listed: bool = True

    @classmethod
    def of(cls, frame: Any) -> PolarsSource:
        """The rows of a frame."""
        columns = frame.get_columns()
        holds = [holds_of_series(each) for each in columns]
        named = named_columns([each.name for each in columns], holds, shown="<polars DataFrame>")
        return cls(
            frame,
            tuple(
                replace(one, wide=_is_wide(each), stamp=_is_stamp(each))
                for one, each in zip(named, columns, strict=True)
            ),
        )

    def size(self) -> int:
        """Rows."""
        return self.frame.height

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the columns asked for."""
        import polars as pl

        taken, newest = self.frame.get_columns(), pl.CompatLevel.newest()  # a snapshot of the present columns
        now = (Column(each.name, holds_of_series(each)) for each in taken)
        check_unchanged(now, self.columns, shown=self.shown)
        asked = [taken[self.columns.index(column)] for column in columns]
        for start in range(0, len(asked[0]), BATCH_ROWS):
            slices = [column.slice(start, BATCH_ROWS) for column in asked]
            advance(len(slices[0]))
            for begin, end in _spans(slices):
                found = [_with_text(each.slice(begin, end - begin)) for each in slices]
                arrays = [each.to_arrow(compat_level=newest) for each in found]  # without copying text
                yield from plain_batches(arrays, columns, [column.name for column in columns])


def _spans(columns: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Starts and ends of runs of rows whose categories take at most `PIECE_BYTES` as text."""
    categories = [column for column in columns if _has_categories(column)]
    taken = [each.cat.len_bytes().fill_null(0).to_numpy().astype(np.int64) for each in categories]
    if sum(int(each.sum()) for each in taken) <= PIECE_BYTES:
        yield 0, len(columns[0])
    else:
        yield from cuts(np.sum(taken, axis=0))


def _with_text(column: Any) -> Any:
    """Categories as text: otherwise Polars would give Arrow all categories, however few the rows have.

    The column loses its name, because Polars panics at a name with a zero byte.
    """
    import polars as pl

    return (column.cast(pl.String) if _has_categories(column) else column).alias("")


def _has_categories(column: Any) -> bool:
    import polars as pl

    return column.dtype in (pl.Categorical, pl.Enum)


def _is_wide(column: Any) -> bool:
    """Whether its type is for decimals without a fraction."""
    return getattr(column.dtype, "scale", None) == 0


def _is_stamp(column: Any) -> bool:
    import polars as pl

    return column.dtype == pl.Datetime


def holds_of_series(column: Any) -> Holds:
    """What a column holds, by the Arrow type of an empty slice; nested values if Arrow has no such type."""
    import polars as pl

    if column.dtype == pl.Object:  # its Arrow type would be that of memory addresses
        return Holds.NESTED
    try:
        return holds_of(_with_text(column.slice(0, 0)).to_arrow().type)
    except pa.ArrowException:
        return Holds.NESTED
