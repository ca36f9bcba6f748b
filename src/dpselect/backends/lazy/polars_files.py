"""Parquet files read by Polars, or through this package's reader if a column of text is asked for.

Polars stops at the first text that is not UTF-8, and whether a question is answered must not depend on a row. Before
1.40 it also panics at files that Arrow has written with 256-bit decimals, so this package's reader reads those too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.polars_frame import MOST_DIGITS, PolarsFrame
from dpselect.backends.lazy.reading import reading
from dpselect.backends.rows import Source
from dpselect.backends.rows.arrow import ARROW_TYPES, pa, pq
from dpselect.errors import SelectionError


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
