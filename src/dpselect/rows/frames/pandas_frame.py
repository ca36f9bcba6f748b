"""pandas frames: each column is read in chunks, by its dtype. Columns of Python objects are read as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, Array, RecordBatch, holds_of, pa, text_array
from dpselect.rows.duckdb.plain import PIECE_BYTES, cuts, plain, plain_batches
from dpselect.rows.frames.numpy_arrays import from_numpy, holds_of_numpy
from dpselect.rows.frames.objects import only_strings, text_of_objects
from dpselect.rows.frames.streams import check_unchanged, named_columns

Strings = list[str | None]
"""A text for each row."""

_EXTENSIONS = {"StringDtype": Holds.TEXT, "DatetimeTZDtype": Holds.TIMES, "PeriodDtype": Holds.TIMES}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PandasSource:
    """A ``pandas.DataFrame``. Its index is ignored.

    Attributes:
        frame: the frame.
        columns: its columns, by their dtypes.
        shown: its name in errors.
        listed: whether errors may list the columns.
    """

    frame: Any
    columns: tuple[Column, ...]
    shown: str = "<pandas DataFrame>"
    listed: bool = True

    @classmethod
    def of(cls, frame: Any) -> PandasSource:
        """The rows of a frame."""
        holds = [holds_of_dtype(dtype) for dtype in frame.dtypes]
        columns = named_columns(list(frame.columns), holds, shown="<pandas DataFrame>")
        both = zip(columns, frame.dtypes, strict=True)
        return cls(frame, tuple(replace(each, hint=_hint(each, dtype), stamp=_is_stamp(dtype)) for each, dtype in both))

    def size(self) -> int:
        """Rows."""
        return len(self.frame)

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the columns asked for."""
        taken = [self.frame.iloc[:, place] for place in range(self.frame.shape[1])]  # a snapshot of the present columns
        now = (Column(each.name, holds_of_dtype(each.dtype)) for each in taken)
        check_unchanged(now, self.columns, shown=self.shown)
        asked = [taken[self.columns.index(column)] for column in columns]
        readers = [_reader(series.dtype, column.holds) for series, column in zip(asked, columns, strict=True)]
        for start in range(0, len(asked[0]), BATCH_ROWS):
            slices = [series.array[start : start + BATCH_ROWS] for series in asked]
            advance(len(slices[0]))
            found = [read(each) for read, each in zip(readers, slices, strict=True)]
            for begin, end in _spans(
                [cast("Strings", each) for each in found if isinstance(each, list)], len(slices[0])
            ):
                arrays = [
                    text_array(cast("Strings", each)[begin:end])
                    if isinstance(each, list)
                    else each.slice(begin, end - begin)
                    for each in found
                ]
                yield from plain_batches(arrays, columns, [column.name for column in columns])


def _spans(texts: Sequence[Strings], rows: int) -> Iterator[tuple[int, int]]:
    """Starts and ends of runs of rows whose texts have at most `PIECE_BYTES` characters together, or of one row."""
    if sum(len(value) for each in texts for value in each if value) <= PIECE_BYTES:
        yield 0, rows
    else:
        yield from cuts(np.sum([[len(value or "") for value in each] for each in texts], axis=0))


def holds_of_dtype(dtype: Any) -> Holds:
    """What a column of a dtype holds. Timestamps are times, even if all of them are at midnight."""
    if isinstance(dtype, np.dtype):
        return holds_of_numpy(cast("np.dtype[Any]", dtype))
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        return Holds.NOTHING if dtype.categories is None else holds_of_dtype(dtype.categories.dtype)
    if name == "SparseDtype":
        return holds_of_dtype(dtype.subtype) if _keeps_its_type(dtype) else Holds.OTHER
    if name == "ArrowDtype":
        return holds_of(dtype.pyarrow_dtype)
    if name in _EXTENSIONS:
        return _EXTENSIONS[name]
    masked = getattr(dtype, "numpy_dtype", None)  # Int64, Float32, boolean, ...
    return Holds.NESTED if masked is None else holds_of_dtype(masked)


def _keeps_its_type(dtype: Any) -> bool:
    """Whether a sparse column has the same type when it is written out; for large unsigned numbers, rows decide it."""
    kind = dtype.subtype.kind
    return kind in "bif" and np.result_type(dtype.subtype, np.asarray(dtype.fill_value).dtype).kind == kind


def _is_stamp(dtype: Any) -> bool:
    categories = getattr(dtype, "categories", None)
    return (dtype if categories is None else categories.dtype).kind == "M"


def _holds_objects(dtype: Any) -> bool:
    return dtype.name == "object"


def _hint(column: Column, dtype: Any) -> str:
    """How to convert a column whose dtype counts as text or is refused."""
    cell = f"frame[{column.name!r}]"
    categories = getattr(dtype, "categories", None)
    if _holds_objects(dtype if categories is None else categories.dtype):
        is_category = categories is not None
        what = "It is a category over objects, which count" if is_category else "Its dtype is object, which counts"
        return (
            f"{what} as text. Convert it first: {cell} = pd.to_numeric({cell}), for dates "
            f"{cell}.astype('date32[pyarrow]'), for booleans {cell}.astype('boolean')."
        )
    is_sparse = column.holds is Holds.OTHER and type(dtype).__name__ == "SparseDtype"
    return f"Convert it first: {cell} = {cell}.sparse.to_dense()." if is_sparse else ""


def _reader(dtype: Any, holds: Holds) -> Callable[[Any], Array | Strings]:
    """Reads slices of a column into an Arrow array, or into Python strings, of which too many may be too long."""
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        values = _reader(dtype.categories.dtype, holds)(dtype.categories.array)
        known = plain(text_array(cast("Strings", values)) if isinstance(values, list) else values, holds)
        return lambda chunk: pa.DictionaryArray.from_arrays(_codes(chunk), known)
    if _holds_objects(dtype):
        return lambda chunk: text_of_objects(np.asarray(chunk, object))
    if name == "StringDtype" and dtype.storage == "python":  # else Arrow's, which need not be UTF-8
        return lambda chunk: only_strings(np.asarray(chunk, object))
    if name == "SparseDtype" or isinstance(dtype, np.dtype):
        return lambda chunk: from_numpy(np.asarray(chunk))
    return lambda chunk: _joined(pa.array(chunk), holds)


def _codes(chunk: Any) -> Array:
    codes = np.asarray(chunk.codes)
    return pa.array(codes, mask=codes < 0)


def _joined(array: Array, holds: Holds) -> Array:
    """One array from several. They are converted first: Arrow cannot join more than 2 GiB of text in some types."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays([plain(chunk, holds) for chunk in chunks])
