"""Rows as they come, as numbers and classes: refused by shape and type only, never by what a row holds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown, describe

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_LABELS = (*_NUMBERS, str)
_MASKED: Any = ma.MaskedArray
_CELLS = (*_NUMBERS, Decimal, Fraction)


def numbers(X: Any) -> NDArray[Any]:
    """`X` as an array of shape ``(rows, features)``: of a type of numbers, or of objects.

    Raises:
        InvalidDataError: sparse, not of two dimensions, without a feature, or of a type that is not of numbers. Whether
            there are any rows, and how many, makes no difference.
    """
    if hasattr(X, "tocsr"):
        hint = "Sparse input is not supported: hand over X.toarray()."
        raise InvalidDataError("X", Shown("<sparse>"), "a dense table", hint)
    table = _array(X, "X")
    if table.dtype.kind == "c":
        raise InvalidDataError("X", Shown("<complex numbers>"), "real numbers", "Complex data not supported.")
    if table.dtype.kind not in "biufO":
        raise InvalidDataError("X", Shown(_kind(table)), "numbers")
    if table.ndim != 2:
        hint = "Reshape your data: X.reshape(-1, 1) is one feature."
        raise InvalidDataError("X", Shown(f"<{table.ndim} dimensions>"), "two: rows and features", hint)
    if table.shape[1] == 0:
        raise InvalidDataError("X", Shown("<0 features>"), "at least one feature")
    return table


def column(table: NDArray[Any], place: int) -> NDArray[np.float64]:
    """The values of one feature, each read alone: the nearest double, or NaN for what is no number."""
    values = table[:, place]
    with np.errstate(all="ignore"):  # a warning about a long double beyond all doubles would be about one row
        if values.dtype.kind != "O":
            return values.astype(np.float64)
        return np.array([_number(cell) for cell in values], dtype=np.float64)


def positions(y: Any, classes: Sequence[object], *, rows: int) -> NDArray[np.int64]:
    """Which of `classes` each row has, from 0, shape ``(rows,)``; -1: none of them.

    Raises:
        InvalidDataError: not one label for each row, or of a type that none of the classes has.
    """
    if y is None:
        hint = "PrivateSelectKBest requires y to be passed, but the target y is None."
        raise InvalidDataError("y", None, "the class of each row", hint)
    labels = _array(y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidDataError(
            "y", Shown(f"<{labels.ndim} dimensions>"), "one label for each row: y should be a 1d array"
        )
    if labels.shape[0] != rows:
        raise InvalidDataError("y", Shown("<another number of labels than rows>"), "one label for each row")
    _check_kind(labels, classes)
    known = {label: place for place, label in enumerate(classes)}
    if labels.dtype.kind == "O":
        found = [known.get(_plain(label), -1) if isinstance(label, _LABELS) else -1 for label in labels]
        return np.array(found, dtype=np.int64)
    distinct, places = np.unique(labels, return_inverse=True)
    found = [known.get(label, -1) for label in distinct.tolist()]
    return np.array(found, dtype=np.int64)[places] if found else np.zeros(0, dtype=np.int64)


def _array(given: Any, name: str) -> NDArray[Any]:
    """What knows its type keeps it; of lists the type would depend on what is in the rows."""
    try:
        held = _unmasked(given)
        typed = hasattr(held, "dtype") or hasattr(held, "__array__")
        array = np.asarray(held) if typed else np.asarray(held, dtype=object)
    except (ValueError, TypeError):
        array = None
    if array is None:
        raise InvalidDataError(name, Shown(describe(given)), "an array, a data frame or a list of rows")
    return array


def _kind(array: NDArray[Any]) -> str:
    """Without a length: that of a text type is that of the longest text in it."""
    return f"<{array.dtype.type.__name__}>"


def _unmasked(given: Any) -> Any:
    """What is masked is missing, whatever lies below the mask."""
    return given.astype(object).filled(None) if isinstance(given, _MASKED) else given


def _check_kind(labels: NDArray[Any], classes: Sequence[object]) -> None:
    kind = labels.dtype.kind
    if kind not in "biufUO":
        raise InvalidDataError("y", Shown(_kind(labels)), "numbers or text")
    if kind != "O" and (kind == "U") != isinstance(classes[0], str):
        hint = "Labels and classes have to be both text or both numbers; nothing is converted."
        raise InvalidDataError("y", Shown("<text>" if kind == "U" else "<numbers>"), "labels like the classes", hint)


def _plain(label: Any) -> object:
    return cast(object, label.item()) if isinstance(label, np.generic) else label


def _number(cell: object) -> float:
    if not isinstance(cell, _CELLS):
        return np.nan
    try:
        return float(cast(float, cell))
    except OverflowError:  # a whole number beyond all doubles, and so beyond a bound
        return np.inf if cast(int, cell) > 0 else -np.inf
    except ValueError:  # a decimal that signals that it is none
        return np.nan
