"""Polars lazy frames: queries run in Polars itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame
from dpselect.backends.lazy.matched import plain
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.row_rules import Dialect, RowValue, rules
from dpselect.errors import SelectionError
from dpselect.summaries import PublicCandidates

_SHOWN = "<Polars LazyFrame>"
MOST_DIGITS = 38
"""Files may have decimals with more digits; Polars can read their type but not their values."""


class _Polars(Dialect):
    """Polars computes every branch of a ``CASE`` for every row, so no cast may raise an error."""

    amount = "HUGEINT"

    def whole_double(self, number: str) -> str:
        return f"CASE WHEN {self.is_whole(number)} THEN TRY_CAST({number} AS BIGINT) END"  # null beyond 64 bits

    def nearest_double(self, decimal: str) -> str:
        return self.cast(self.text(decimal), "DOUBLE")  # a direct cast would round twice

    def half_even(self, number: str) -> str:
        return f"ROUND({number}, 0)"


POLARS = _Polars()


@dataclass(frozen=True, slots=True, repr=False)
class PolarsFrame:
    """A lazy frame.

    Attributes:
        frame: the lazy frame; None if it could fail because of a column that nobody asks about.
        columns: the columns of its schema.
        shown: its name in errors and ``repr``.
        valid: makes a lazy frame of the same rows, given `failed`. It is used if there is no `frame`, or if text is
            asked for and `frame` could fail at text that is not UTF-8. None if neither can happen.
        failed: sanitized errors in a frame that `valid` made for one query.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown: str = _SHOWN
    valid: Callable[[list[SelectionError]], Any] | None = None
    failed: list[SelectionError] = field(default_factory=list[SelectionError])
    counts_distinct = True
    in_filters = EVERY_KIND

    @classmethod
    def of(cls, frame: Any, shown: str = _SHOWN) -> PolarsFrame:
        """Read the schema of `frame`."""
        import polars as pl

        with reading(shown):
            schema = frame.collect_schema()
            unlike = {name: _held_otherwise(type_) for name, type_ in schema.items()}
            # Without rows, and without types that narwhals does not know.
            known = pl.LazyFrame(schema={name: schema[name] for name, held in unlike.items() if held is None})
            columns = columns_of(known, schema.names(), shown, unlike=unlike.get, capitals_count=True)
            return cls(frame, columns, shown)

    def query(self) -> PolarsFrame:
        """Itself, without the errors of another query."""
        return replace(self, failed=[])

    def rows(self, values: Mapping[str, RowValue]) -> Frame:
        """The rows, with a column for each name."""
        is_text = any(each.column.holds is Holds.TEXT for each in values.values())
        frame: Any = self.frame
        if self.valid is not None and (is_text or frame is None):
            frame = self.valid(self.failed)
        return nw.from_native(_read(frame, values))

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame."""
        import polars as pl

        return nw.from_native(pl.LazyFrame({name: plain(candidates)}))

    def different(self, frame: Frame) -> Frame:
        """The distinct rows."""
        return frame.unique()

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a ``lot`` in each row: 64 bits of the operating system's randomness."""
        import polars as pl

        return nw.from_native(frame.to_native().with_columns(lot=pl.col(by[0]).map_batches(_lots, pl.UInt64)))

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table, sums as text: Arrow has no 128-bit integers."""
        import polars as pl

        with reading(self.shown):
            query = frame.to_native().with_columns(pl.selectors.by_dtype(pl.Int128).cast(pl.String))
            try:
                return query.collect().to_arrow()
            except pl.exceptions.ComputeError:
                if self.failed:
                    raise self.failed[0] from None
                raise


def _held_otherwise(type_: Any) -> Holds | None:
    import polars as pl

    if type_ == pl.Null:
        return Holds.NOTHING
    if type_ == pl.Decimal and type_.precision is not None and type_.precision > MOST_DIGITS:
        return Holds.WIDE_DECIMALS
    return Holds.SHORT_FLOATS if type_ == pl.Float16 else None


def _lots(column: Any) -> Any:
    import polars as pl

    return pl.Series(np.frombuffer(os.urandom(8 * len(column)), np.uint64))


def _read(frame: Any, values: Mapping[str, RowValue]) -> Any:
    import polars as pl

    names, expressions = rules(values, POLARS)
    cells = frame.select(**{name: _cell(column) for column, name in names.items()})
    return cells.select(**{name: pl.sql_expr(sql) for name, sql in expressions.items()})


def _cell(column: Column) -> Any:
    """The cell of `column`, whatever its name is.

    Polars reads ``*`` and ``^...$`` as patterns of names; in older versions, selectors by name do so too. Such a name
    is written as a pattern that matches nothing else, with each letter as its code point.
    """
    import polars as pl

    name = column.name
    if name == "*" or name.startswith("^"):
        name = "^" + "".join(f"\\x{{{ord(letter):x}}}" for letter in name) + "$"
    return pl.col(name)
