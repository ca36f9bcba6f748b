"""Parquet files read by Polars, and by way of our own reader where text is asked for.

Polars gives up on the first text that is not UTF-8, and whether a question is answered must not depend on a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from dpselect.backends.columns import Holds
from dpselect.backends.lazy.polars_frame import PolarsFrame
from dpselect.backends.lazy.reading import reading
from dpselect.backends.rows import Source
from dpselect.backends.rows.arrow import ARROW_TYPES, pa


def polars_files(files: Source, paths: Sequence[str]) -> PolarsFrame:
    """The files as a lazy frame.

    Args:
        files: the same rows as a stream.
        paths: where they are.
    """
    import polars as pl

    with reading(files.shown):
        scanned = pl.scan_parquet(list(paths), glob=False, hive_partitioning=False)
    found = PolarsFrame.of(scanned, files.shown)
    if all(column.holds is not Holds.TEXT for column in files.columns):
        return found
    return replace(found, valid=_streamed(files))


def _streamed(files: Source) -> Any:
    """A lazy frame of the stream's batches, in which every text is valid or null."""
    pl: Any = import_module("polars")
    from polars.io.plugins import register_io_source

    # By numbers, as Polars sends back conditions in which a name may be a pattern.
    columns = {f"c{at}": column for at, column in enumerate(files.columns) if column.holds in ARROW_TYPES}
    empty = pa.table({name: pa.array([], ARROW_TYPES[column.holds]) for name, column in columns.items()})

    def batches(names: list[str] | None, predicate: Any, most: int | None, _: int | None) -> Iterator[Any]:
        given = list(columns if names is None else names)
        asked = [columns[name] for name in given]
        for batch in files.batches(asked, lambda _: None):
            frame = pl.from_arrow(pa.Table.from_batches([batch]).rename_columns(given))
            frame = frame if most is None else frame.head(most)
            most = None if most is None else most - frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if most == 0:
                return

    source = register_io_source(batches, schema=pl.from_arrow(empty).schema)
    return source.rename({number: column.name for number, column in columns.items()})
