"""One-dimensional NumPy arrays: their types, and their values in Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, Array, RecordBatch, pa, text_array
from dpselect.rows.duckdb.plain import plain_batches

_KINDS = {
    "b": Holds.BOOLEANS,
    "i": Holds.INTEGERS,
    "u": Holds.INTEGERS,
    "f": Holds.FLOATS,
    "U": Holds.TEXT,
    "O": Holds.TEXT,
    "S": Holds.BYTES,
    "M": Holds.TIMES,
    "m": Holds.TIMES,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArraySource:
    """A one-dimensional array of numbers, booleans or text. Masked values are missing.

    Attributes:
        values: the array.
        shown: its name in errors.
        listed: whether errors may list the column.
    """

    values: NDArray[Any]
    shown: str = "<array>"
    listed: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its only column."""
        return (Column("values", holds_of_numpy(self.values.dtype)),)

    def size(self) -> int:
        """Rows."""
        return len(self.values)

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the array."""
        for start in range(0, len(self.values), BATCH_ROWS):
            found = from_numpy(self.values[start : start + BATCH_ROWS])
            advance(len(found))
            yield from plain_batches([found], columns, [column.name for column in columns])


def holds_of_numpy(dtype: np.dtype[Any]) -> Holds:
    """What an array of a dtype holds; Python objects count as text."""
    if dtype.kind == "u" and dtype.itemsize == 8:
        return Holds.UNSIGNED
    return Holds.SHORT_FLOATS if dtype.kind == "f" and dtype.itemsize < 8 else _KINDS.get(dtype.kind, Holds.NESTED)


def from_numpy(values: NDArray[Any]) -> Array:
    """The values, with nulls where they are masked; long doubles become the nearest doubles."""
    if values.dtype.kind == "U":
        return text_array(cast("list[str | None]", values.tolist()))
    mask = ma.getmaskarray(values) if isinstance(values, ma.MaskedArray) else None
    values = np.asarray(values)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # a warning about overflow would depend on a row
            values = values.astype(np.float64)
    return pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")), mask=mask)
