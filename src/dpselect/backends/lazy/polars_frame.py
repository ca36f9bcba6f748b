"""Polars lazy frames: queries run in Polars itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.engine_contract import EVERY_KIND, Frame, plain
from dpselect.backends.lazy.reading import reading
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.row_rules import Dialect, RowValue, rules
from dpselect.backends.rows import Source
from dpselect.backends.rows.arrow import ARROW_TYPES, pa, pq
from dpselect.errors import SelectionError
from dpselect.summaries import PublicCandidates


def polars_files(files: Source, paths: Sequence[str]) -> PolarsFrame:
    """The files as a lazy frame.

    Args:
        files: the same rows as a stream.
        paths: paths of the files.
    """
    import polars as pl

    with reading(files.shown):
        types = [pq.read_schema(path).types for path in paths] if _has_decimals(files.columns) else []
    if any("decimal256" in str(type_) for each in types for type_ in each):
        columns = tuple(map(_held, files.columns, zip(*types, strict=True)))
        return PolarsFrame(None, columns, files.shown, valid=partial(_streamed, files))
    with reading(files.shown):
        scanned = pl.scan_parquet(list(paths), glob=False, hive_partitioning=False)
    found = PolarsFrame.of(scanned, files.shown)
    if all(column.holds is not Holds.TEXT for column in files.columns):
        return found
    return replace(found, valid=partial(_streamed, files))


def _has_decimals(columns: Sequence[Column]) -> bool:
    """Whether there may be decimals, also nested in other values."""
    return any(column.holds in (Holds.DECIMALS, Holds.NESTED) for column in columns)


def _held(column: Column, types: Sequence[Any]) -> Column:
    """The column as Polars would describe it, with these types in the files."""
    is_wide = column.holds is Holds.DECIMALS and any(_digits(type_) > MOST_DIGITS for type_ in types)
    return Column(column.name, Holds.WIDE_DECIMALS) if is_wide else column


def _digits(type_: Any) -> int:
    return _digits(type_.value_type) if pa.types.is_dictionary(type_) else type_.precision


def _streamed(files: Source, failed: list[SelectionError]) -> Any:
    """A lazy frame of the stream's batches, in which every text is valid or null.

    Args:
        files: the stream.
        failed: list to which errors are added: Polars 1 raises an error of its own, which only quotes the first.
    """
    pl: Any = import_module("polars")
    from polars.io.plugins import register_io_source

    # Columns are numbered, because Polars returns conditions in which a name may be a pattern.
    columns = {f"c{at}": column for at, column in enumerate(files.columns) if column.holds in ARROW_TYPES}
    empty = pa.table({name: pa.array([], ARROW_TYPES[column.holds]) for name, column in columns.items()})

    def batches(names: list[str] | None, predicate: Any, most: int | None, _: int | None) -> Iterator[Any]:
        given = list(columns if names is None else names)
        asked = [columns[name] for name in given]
        try:
            with reading(files.shown):
                for batch in files.batches(asked, lambda _: None):
                    frame = pl.from_arrow(pa.Table.from_batches([batch]).rename_columns(given))
                    frame = frame if most is None else frame.head(most)
                    most = None if most is None else most - frame.height
                    yield frame if predicate is None else frame.filter(predicate)
                    if most == 0:
                        return
        except SelectionError as error:
            failed.append(error)
            raise

    source = register_io_source(batches, schema=pl.from_arrow(empty).schema)
    return source.rename({number: column.name for number, column in columns.items()})


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
    numbered = pl.int_range(pl.len(), dtype=pl.Int64)
    read = {name: numbered if POLARS.row_number in sql else pl.sql_expr(sql) for name, sql in expressions.items()}
    return cells.select(**read)


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
