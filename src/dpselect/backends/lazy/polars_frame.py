"""Polars lazy frames: summaries by Polars itself; where chance chooses among rows, those are streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column, Holds
from dpselect.backends.contract import Amount
from dpselect.backends.lazy.asked import BLANKS, Asked, Frame, Number, Unit, Value
from dpselect.backends.lazy.matched import plain
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.rows.arrow import ARROW_TYPES, RecordBatch, pa
from dpselect.backends.rows.matching import MISSING
from dpselect.summaries import CandidateKind, PublicCandidates

_WHOLE_NUMBER = r"^(-?[0-9]+)(?:\.0*)?$"


@dataclass(frozen=True, slots=True, repr=False)
class PolarsFrame:
    """A lazy frame, both as an engine that computes summaries and as a source of rows.

    Attributes:
        frame: the lazy frame.
        columns: from its schema.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown = "<Polars LazyFrame>"
    listed = True

    @classmethod
    def of(cls, frame: Any) -> PolarsFrame:
        """Read the schema of `frame`."""
        with reading(cls.shown):
            schema = frame.collect_schema()
            columns = columns_of(frame, schema.names(), cls.shown, unlike=lambda name: _held_otherwise(schema[name]))
            return cls(frame, columns)

    def rows(self, asked: Mapping[str, Asked]) -> Frame:
        """The rows, with a column for each name."""
        return nw.from_native(self.frame.select(**{name: _expression(each) for name, each in asked.items()}))

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame."""
        import polars as pl

        return nw.from_native(pl.LazyFrame({name: plain(candidates)}))

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table, sums as text: Arrow has no 128-bit integers."""
        import polars as pl

        with reading(self.shown):
            return frame.to_native().with_columns(pl.selectors.by_dtype(pl.Int128).cast(pl.String)).collect().to_arrow()

    def size(self) -> int:
        """Unknown before it was read."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, as far as they are asked for."""
        schema = pa.schema([(column.name, ARROW_TYPES[column.holds]) for column in columns])
        wanted = self.frame.select(*(_plain(column) for column in columns))
        with reading(self.shown):
            for batch in wanted.collect_batches(maintain_order=False):
                yield from batch.to_arrow().cast(schema).to_batches()
                advance(len(batch))


def _held_otherwise(type_: Any) -> Holds | None:
    import polars as pl

    if type_ == pl.Null:
        return Holds.NOTHING
    return Holds.SHORT_FLOATS if type_ == pl.Float16 else None


def _plain(column: Column) -> Any:
    """What goes to the rows' engine, in the one type that it reads this kind of column as."""
    import polars as pl

    types = {Holds.UNSIGNED: pl.UInt64, Holds.INTEGERS: pl.Int64, Holds.DATES: pl.Date, Holds.BOOLEANS: pl.Boolean}
    types |= {Holds.FLOATS: pl.Float64, Holds.SHORT_FLOATS: pl.Float64, Holds.BYTES: pl.Binary}
    return pl.col(column.name).cast(types.get(column.holds, pl.String))


def _expression(asked: Asked) -> Any:
    import polars as pl

    match asked:
        case Unit(column):
            return _unit(pl.col(column.name), column.holds)
        case Value(column, kind):
            return _value(pl.col(column.name), column.holds, kind)
        case Number(column):
            return _number(pl.col(column.name), column.holds)
        case Amount(column, scale, lower, upper):
            return _amount(_number(pl.col(column.name), column.holds), scale, lower, upper)


def _unit(cell: Any, holds: Holds) -> Any:
    import polars as pl

    if holds is Holds.TEXT:
        name = cell.cast(pl.String).str.strip_chars(BLANKS)
        return pl.when(~name.is_in(["", *MISSING])).then(name)
    return cell.fill_nan(None) if holds in (Holds.FLOATS, Holds.SHORT_FLOATS) else cell


def _value(cell: Any, holds: Holds, kind: CandidateKind) -> Any:
    import polars as pl

    match kind:
        case CandidateKind.TEXT:
            return cell.cast(pl.String)
        case CandidateKind.DATE:
            return cell.cast(pl.Date)
        case CandidateKind.BOOLEAN:
            return cell.cast(pl.Boolean)
        case CandidateKind.NUMBER:
            return _number(cell, holds)
        case CandidateKind.INTEGER if holds in (Holds.FLOATS, Holds.SHORT_FLOATS):
            number = cell.cast(pl.Float64)
            return pl.when(number == number.floor()).then(number).cast(pl.Int64, strict=False)
        case CandidateKind.INTEGER if holds is Holds.DECIMALS:
            return cell.cast(pl.String).str.extract(_WHOLE_NUMBER, 1).cast(pl.Int64, strict=False)
        case CandidateKind.INTEGER:
            return cell.cast(pl.Int64, strict=False)


def _number(cell: Any, holds: Holds) -> Any:
    import polars as pl

    if holds is Holds.DECIMALS:  # by way of text: the nearest double, where a cast would round twice
        return cell.cast(pl.String).cast(pl.Float64, strict=False)
    return cell.cast(pl.Float64).fill_nan(None)


def _amount(number: Any, scale: Fraction, lower: int, upper: int) -> Any:
    import polars as pl

    scaled = (number * float(scale)).round(0, mode="half_to_even").clip(float(lower), float(upper))
    return scaled.cast(pl.Int64).cast(pl.Int128)
