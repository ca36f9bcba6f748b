"""Opens a frame by the name of its type, so that no unused library is imported."""

from __future__ import annotations

from typing import cast

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.duckdb import Source
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.frames.arrow_tables import ArrowTableSource, DatasetSource, StreamSource
from dpselect.rows.frames.delta_tables import DeltaSource
from dpselect.rows.frames.iceberg_tables import IcebergSource
from dpselect.rows.frames.lazy_frames import IbisSource, PolarsLazySource, RelationSource
from dpselect.rows.frames.pandas_frame import PandasSource
from dpselect.rows.frames.polars_frame import PolarsSource


def frame_source(frame: object) -> Source | None:
    """The rows of a frame, which each question reads again; None if `frame` is not a frame in memory.

    Raises:
        InvalidDataError: the frame has no columns, two columns of the same name, or names that are not text; it can be
            read only once; or a dictionary holds something else than arrays of one length.
    """
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return ArrowTableSource.of(frame)
    if isinstance(frame, dict):
        return ArrowTableSource.of_arrays(cast("dict[object, object]", frame))
    if isinstance(frame, pa.RecordBatchReader):
        hint = "Give the table itself, for example reader.read_all()."
        raise InvalidDataError("source", Shown("<Arrow stream>"), "rows that can be read more than once", hint)
    if is_a(frame, "pyarrow", "Dataset"):
        return DatasetSource.of(frame)
    if is_a(frame, "deltalake", "DeltaTable"):
        return DeltaSource.of(frame)
    if is_a(frame, "pyiceberg", "Table"):
        return IcebergSource.of(frame)
    if is_a(frame, "pandas", "DataFrame"):
        return PandasSource.of(frame)
    if is_a(frame, "polars", "DataFrame"):
        return PolarsSource.of(frame)
    if is_a(frame, "polars", "LazyFrame"):
        return PolarsLazySource.of(frame)
    if is_a(frame, "_duckdb", "DuckDBPyRelation") or is_a(frame, "duckdb", "DuckDBPyRelation"):
        return RelationSource.of(frame)
    if is_a(frame, "ibis", "Table"):
        return IbisSource.of(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return StreamSource.of(frame)
    return None


def is_a(value: object, library: str, name: str) -> bool:
    """Whether `value` is an instance of the class `name` of `library`, by the names of its type's bases."""
    return any(each.__name__ == name and each.__module__.partition(".")[0] == library for each in type(value).__mro__)
