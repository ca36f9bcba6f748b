"""Polars frames in memory, through Arrow and without copying text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, columns_of, pa, taken, ways_of
from dpselect.rows.duckdb.plain import plain_batches
from dpselect.rows.frames.streams import check_unchanged, named_columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolarsSource:
    """A ``polars.DataFrame``, converted to Arrow slice by slice.

    Attributes:
        frame: the frame.
        columns: the columns of its schema, and the fields of its structs.
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
        found = columns_of(_schema(frame))
        named_columns([each.name for each in found], [each.holds for each in found], shown="<polars DataFrame>")
        return cls(frame, found)

    def size(self) -> int:
        """Rows."""
        return self.frame.height

    def places(self, columns: Sequence[Column]) -> list[int]:
        """Where the columns stand in the frame; the fields of a struct where the struct stands."""
        ways = ways_of(_schema(self.frame))
        return list(dict.fromkeys(self.frame.columns.index(ways[column.name][0][0]) for column in columns))

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the columns asked for."""
        frame, schema = self.frame.select(self.frame.get_columns()), _schema(self.frame)  # a snapshot
        check_unchanged(columns_of(schema), self.columns, shown=self.shown)
        names, ways = [column.name for column in columns], ways_of(schema)
        first = list(dict.fromkeys(ways[name][0][0] for name in names))
        asked = [frame.get_column(name) for name in first]
        for start in range(0, frame.height, BATCH_ROWS):
            arrays = [_in_arrow(each.slice(start, BATCH_ROWS)) for each in asked]
            batch = pa.RecordBatch.from_arrays(arrays, first)
            advance(batch.num_rows)
            yield from plain_batches(taken(batch, names), columns, names)


def _schema(frame: Any) -> Any:
    return pa.schema([(column.name, _type_in_arrow(column)) for column in frame.get_columns()])


def _type_in_arrow(column: Any) -> Any:
    """By an empty slice; of objects, whose Arrow type would be that of memory addresses, one that no question takes."""
    import polars as pl

    nested = pa.list_(pa.null())
    try:
        return nested if column.dtype == pl.Object else _in_arrow(column.slice(0, 0)).type
    except pa.ArrowException:  # Arrow has no such type
        return nested


def _in_arrow(column: Any) -> Any:
    """The column without its name, because Polars panics at a name with a zero byte."""
    import polars as pl

    return column.alias("").to_arrow(compat_level=pl.CompatLevel.newest())
