"""One column of a table in memory as numbers or as places in a list of labels, each cell read alone.

For readers that want arrays of as many numbers as there are rows. The type of the column decides how its cells are
read, and a missing cell never changes that type, as it would in an array made of the whole column: there a null among
whole numbers makes floats of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Holds
from dpselect.backends.frames.objects import number_of_object, place_of_object
from dpselect.backends.rows.arrow import Array, holds_of, pa, pc, valid_text

READABLE = frozenset(
    {
        Holds.ANYTHING,
        Holds.INTEGERS,
        Holds.UNSIGNED,
        Holds.FLOATS,
        Holds.SHORT_FLOATS,
        Holds.DECIMALS,
        Holds.BOOLEANS,
        Holds.TEXT,
        Holds.NOTHING,
    }
)
"""What a cell can be a number or a label of; no cell of a column of another type is looked at."""

_OF_NUMPY = {
    "b": Holds.BOOLEANS,
    "i": Holds.INTEGERS,
    "u": Holds.UNSIGNED,
    "f": Holds.FLOATS,
    "U": Holds.TEXT,
    "S": Holds.BYTES,
    "M": Holds.TIMES,
    "m": Holds.TIMES,
}


class Cells(Protocol):
    """A column."""

    @property
    def holds(self) -> Holds:
        """What its type says it holds."""
        ...

    def __len__(self) -> int: ...

    def numbers(self) -> NDArray[np.float64]:
        """The nearest doubles; NaN for what is no number."""
        ...

    def places(self, known: Mapping[object, int]) -> NDArray[np.int64]:
        """What `known` has for each cell; -1 where it has nothing."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumPyCells:
    """An array of one dimension and of a type of NumPy's own; where it is masked it is missing."""

    values: NDArray[Any]
    masked: NDArray[np.bool_] | None = None

    @property
    def holds(self) -> Holds:
        """By its dtype."""
        return _OF_NUMPY.get(self.values.dtype.kind, Holds.NESTED)

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        """The nearest doubles."""
        with np.errstate(all="ignore"):  # a warning about a long double beyond all doubles would be about one row
            doubles = self.values.astype(np.float64)
        if self.masked is not None:
            doubles[self.masked] = np.nan
        return doubles

    def places(self, known: Mapping[object, int]) -> NDArray[np.int64]:
        """By the value of each cell; a long double by the nearest double."""
        values = self.values
        if values.dtype.kind == "f" and values.dtype.itemsize > 8:
            values = self.numbers()
        distinct, where = np.unique(values, return_inverse=True)
        places = _looked_up(distinct.tolist(), known)[where.reshape(-1)]
        return places if self.masked is None else np.where(self.masked, -1, places)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArrowCells:
    """An Arrow array: without dictionary or extension, and text valid and of one type."""

    values: Array
    holds: Holds

    @classmethod
    def of(cls, column: Array) -> ArrowCells:
        """Any Arrow array, in chunks or not."""
        holds = holds_of(column.type)
        if holds not in READABLE:
            return cls(pa.nulls(len(column)), holds)
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        laid_out = [_laid_out(chunk, holds) for chunk in chunks]
        return cls(pa.concat_arrays(laid_out) if laid_out else pa.nulls(0), holds)

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        """The nearest doubles."""
        values = self.values.cast(pa.uint8()) if self.holds is Holds.BOOLEANS else self.values
        return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)

    def places(self, known: Mapping[object, int]) -> NDArray[np.int64]:
        """By the value of each cell."""
        listed = self.values.dictionary_encode()
        found = np.append(_looked_up(listed.dictionary.to_pylist(), known), -1)
        return found[np.asarray(pc.fill_null(listed.indices, len(found) - 1))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoryCells:
    """For each row which of the categories it is of, -1 if of none."""

    categories: Cells
    codes: NDArray[np.integer[Any]]

    @property
    def holds(self) -> Holds:
        """What the categories are."""
        return self.categories.holds

    def __len__(self) -> int:
        return len(self.codes)

    def numbers(self) -> NDArray[np.float64]:
        """Those of the categories."""
        return np.append(self.categories.numbers(), np.nan)[self.codes]

    def places(self, known: Mapping[object, int]) -> NDArray[np.int64]:
        """Those of the categories."""
        return np.append(self.categories.places(known), -1)[self.codes]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ObjectCells:
    """Python objects, whose types are their own."""

    values: Sequence[object] | NDArray[Any]
    holds: Holds = Holds.ANYTHING

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        """Numbers of any type; text is none."""
        return np.fromiter(map(number_of_object, self.values), np.float64, len(self))

    def places(self, known: Mapping[object, int]) -> NDArray[np.int64]:
        """Strings and numbers of any type."""
        return np.fromiter((place_of_object(value, known) for value in self.values), np.int64, len(self))


def _laid_out(chunk: Array, holds: Holds) -> Array:
    if isinstance(chunk, pa.ExtensionArray):
        chunk = chunk.storage
    if isinstance(chunk, pa.DictionaryArray):
        chunk = chunk.dictionary_decode()
    return valid_text(chunk) if holds is Holds.TEXT else chunk


def _looked_up(values: Sequence[object], known: Mapping[object, int]) -> NDArray[np.int64]:
    return np.array([known.get(value, -1) for value in values], dtype=np.int64)
