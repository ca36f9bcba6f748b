"""Rows read as numbers and classes: refused by shape and type only, never because of a row's contents.

How a row is read depends only on that row and on public facts: the type of its column and the number of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.backends.columns import Holds
from dpselect.backends.frames import READABLE, Cells, NumPyCells, ObjectCells, lineage, taken_apart
from dpselect.errors import InvalidDataError, Shown, describe

_MASKED: Any = ma.MaskedArray
_LIST_CELLS: Any = cast(Any, list).__iter__
_TUPLE_CELLS: Any = cast(Any, tuple).__iter__
_RESHAPE = "Reshape your data: X.reshape(-1, 1) is one feature."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Features:
    """The columns of a table, each by its own type.

    Attributes:
        columns: one at least.
        rows: how many there are.
    """

    columns: tuple[Cells, ...]
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.rows, len(self.columns)


def numbers(X: Any) -> Features:
    """`X` as columns of numbers.

    Raises:
        InvalidDataError: sparse, not of two dimensions, without a feature, or with a column of a type that is not of
            numbers. What is in the rows makes no difference, but for the first of a list: it says how many features
            there are.
    """
    if hasattr(X, "tocsr"):
        hint = "Sparse input is not supported: pass X.toarray()."
        raise InvalidDataError("X", Shown("<sparse>"), "a dense table", hint)
    columns = _columns(X)
    if not columns:
        raise InvalidDataError("X", Shown("<0 features>"), "at least one feature")
    for place, cells in enumerate(columns):
        if cells.holds not in READABLE or cells.holds is Holds.TEXT:
            hint = f"Column {place}, counted from 0, has a type that holds no numbers: leave it out."
            raise InvalidDataError("X", Shown(f"<{cells.holds}>"), "numbers", hint)
    return Features(tuple(columns), len(columns[0]))


def column(table: Features, place: int) -> NDArray[np.float64]:
    """The values of one feature, each read alone: the nearest double, or NaN for what is no number."""
    return table.columns[place].numbers()


def positions(y: Any, classes: Sequence[object], *, rows: int) -> NDArray[np.int64]:
    """Which of `classes` each row has, from 0, shape ``(rows,)``; -1: none of them.

    Raises:
        InvalidDataError: not one label for each row, or of a type that none of the classes has.
    """
    if y is None:
        hint = "PrivateSelectKBest requires y to be passed, but the target y is None."
        raise InvalidDataError("y", None, "the class of each row", hint)
    labels = _labels(y)
    if len(labels) != rows:
        raise InvalidDataError("y", Shown("<another number of labels than rows>"), "one label for each row")
    _check_kind(labels, classes)
    return labels.places({label: place for place, label in enumerate(classes)})


def _columns(X: Any) -> list[Cells]:
    if isinstance(X, list | tuple):
        return _columns_of_rows(cast("Sequence[object]", X))
    apart = taken_apart(X, argument="X")
    if isinstance(apart, list):
        return apart
    array = None if apart is not None else _array(X, "X")
    if array is not None and array.dtype.kind == "c":
        raise InvalidDataError("X", Shown("<complex numbers>"), "real numbers", "Complex data not supported.")
    if array is None or array.ndim != 2:
        dimensions = 1 if array is None else array.ndim
        raise InvalidDataError("X", Shown(f"<{dimensions} dimensions>"), "two: rows and features", _RESHAPE)
    return [_cells(array[:, place]) for place in range(array.shape[1])]


def _columns_of_rows(rows: Sequence[object]) -> list[Cells]:
    """A list has no type, and its first row says how many features there are; a row that does not fit has no values."""
    read = [_cells_of_row(row) for row in rows]
    if not read or read[0] is None:
        shown = Shown("<1 dimensions>" if read else "<an empty list>")
        raise InvalidDataError("X", shown, "two: rows and features", _RESHAPE)
    count = len(read[0])
    missing = (None,) * count
    fitting = [missing if row is None or len(row) != count else row for row in read]
    return [ObjectCells(cells) for cells in zip(*fitting, strict=True)]


def _cells_of_row(row: object) -> Sequence[object] | None:
    """By what the row is, not by what it says it is; see `dpselect.backends.frames.objects`."""
    kind = type(row)
    if kind is list or kind is tuple:
        return cast("Sequence[object]", row)
    if list in lineage(row):
        return list(_LIST_CELLS(row))
    if tuple in lineage(row):
        return list(_TUPLE_CELLS(row))
    if kind is np.ndarray:
        array = cast(Any, row)
        return cast("list[object]", array.tolist()) if array.ndim == 1 else None
    return None


def _labels(y: Any) -> Cells:
    if isinstance(y, list | tuple):
        return ObjectCells([_only(label) for label in cast("Sequence[object]", y)])
    apart = taken_apart(y, argument="y")
    if apart is None:
        array = _array(y, "y")
        apart = [_cells(array[:, place]) for place in range(array.shape[1])] if array.ndim == 2 else None
        if array.ndim == 1:
            apart = _cells(array)
    if isinstance(apart, list) and len(apart) == 1:
        (apart,) = apart
    if apart is None or isinstance(apart, list):
        raise InvalidDataError("y", Shown("<not 1 dimension>"), "one label for each row: y should be a 1d array")
    return apart


def _only(label: object) -> object:
    """What is alone in a list: the rows of one column."""
    inside = _cells_of_row(label)
    return inside[0] if inside is not None and len(inside) == 1 else label


def _array(given: Any, name: str) -> NDArray[Any]:
    """What knows its type keeps it; what is masked stays so."""
    if isinstance(given, _MASKED):
        return given
    foreign = hasattr(given, "__dataframe__") or not (hasattr(given, "dtype") or hasattr(given, "__array__"))
    if not foreign:
        try:
            return np.asarray(given)
        except Exception:  # noqa: BLE001 - it may run code that is not ours; what it says may quote a row
            foreign = True
    raise InvalidDataError(name, Shown(describe(given)), "an array, a data frame or a list of rows")


def _cells(values: NDArray[Any]) -> Cells:
    """An array of one dimension."""
    masked = isinstance(values, _MASKED)
    if values.dtype.kind == "O":
        return ObjectCells(np.asarray(cast(Any, values).filled(None) if masked else values))
    return NumPyCells(np.asarray(values), np.asarray(ma.getmaskarray(values)) if masked else None)


def _check_kind(labels: Cells, classes: Sequence[object]) -> None:
    """By the type that the labels have together; Python objects have none, and each is or is not one of the classes."""
    holds = labels.holds
    if holds not in READABLE:
        raise InvalidDataError("y", Shown(f"<{holds}>"), "numbers or text")
    if holds not in (Holds.ANYTHING, Holds.NOTHING) and (holds is Holds.TEXT) != isinstance(classes[0], str):
        hint = "Labels and classes have to be both text or both numbers; nothing is converted."
        raise InvalidDataError(
            "y", Shown("<text>" if holds is Holds.TEXT else "<numbers>"), "labels like the classes", hint
        )
