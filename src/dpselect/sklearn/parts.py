"""Rows, labels and units of a search: divided at random, taken anew for each run, counted where predicted correctly.

What is refused, and whether a run fails, depends on types and shapes and never on what one row holds. Whether a row
counts depends on its own unit alone.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dpselect.errors import InvalidDataError, Shown, describe
from dpselect.mechanisms import RandomizedResponse
from dpselect.rows.columns import Holds
from dpselect.rows.row_rules import BLANKS, MISSING
from dpselect.sklearn.reading import LABELS, array_of, column_of, doubles, only, require_labels

_ROWS = "rows: an array, a data frame or a list"


def checked_rows(X: Any, *, sparse: bool) -> tuple[Any, int]:
    """`X` as rows, and how many there are; the estimator says whether it may be `sparse`."""
    if hasattr(X, "tocsr") and not sparse:
        raise InvalidDataError("X", Shown("<sparse>"), "dense rows: the estimator does not take sparse input")
    table = X if hasattr(X, "shape") or isinstance(X, (list, tuple)) else array_of(X, "X", expected=_ROWS)
    if getattr(getattr(table, "dtype", None), "kind", "") == "c":
        raise InvalidDataError("X", Shown("<complex>"), "real numbers. Complex data not supported")
    if isinstance(table, (list, tuple)) and not table:
        raise InvalidDataError("X", Shown("<an empty list>"), "rows: the first one says how many features there are")
    return table, _checked(table, "X")


def checked_labels(y: Any, *, rows: int) -> Any:
    """`y` as one label for each row. Those of a list have no common type: each stays what it is."""
    if isinstance(require_labels(y), (list, tuple)):
        labels: Any = [only(label) for label in cast("Sequence[object]", y)]
    else:
        labels = y if hasattr(y, "shape") else array_of(y, "y", expected=LABELS)
        shape, is_sparse = tuple(labels.shape), hasattr(labels, "tocsr")
        if is_sparse or not shape or shape[1:] not in ((), (1,)):
            raise InvalidDataError("y", Shown("<sparse>" if is_sparse else f"<{len(shape)} dimensions>"), LABELS)
        if len(shape) == 2:
            said = "A column-vector y was passed when a 1d array was expected: y.ravel()"
            warnings.warn(said, DataConversionWarning, stacklevel=3)
            labels = labels.iloc[:, 0] if hasattr(labels, "iloc") else np.asanyarray(labels).reshape(-1)
        elif not hasattr(labels, "iloc") and isinstance(getattr(labels, "dtype", None), np.dtype):
            # An index of pandas is changed by nobody, but the objects in it could be.
            labels = np.asanyarray(labels)
    if _checked(labels, "y") != rows:
        raise InvalidDataError("y", Shown("<another length>"), "one label for each row of X")
    return labels


def taken(given: Any, part: NDArray[np.int64]) -> Any:
    """Some of the rows, as the kind of table that they are: a copy, down to the objects in cells.

    Objects are copied one by one; one that cannot be copied becomes None, so that no row makes a run fail. The index of
    a frame is left out, because it may hold objects too.
    """
    if isinstance(given, (list, tuple)):
        return [_copied(given[place]) for place in part.tolist()]
    if hasattr(given, "iloc"):
        return _with_copies(given.iloc[part].reset_index(drop=True).copy())
    rows = given[part]
    if isinstance(rows, np.ndarray):
        if rows.dtype.kind == "O":
            return _each_copied(rows)
        if not rows.dtype.hasobject:
            return rows
    elif "object" not in [str(kind).lower() for kind in getattr(rows, "dtypes", [getattr(rows, "dtype", None)])]:
        return rows
    raise TypeError  # objects in cells that cannot be reached one by one


def rows_right(predicted: Any, labels: Any) -> int:
    """How many labels are predicted, each compared by itself.

    A prediction that cannot be compared with its label is wrong, and all are if there is not one for each row.
    """
    if not _is_one_for_each(predicted, len(labels)):
        return 0
    pairs = zip(predicted, labels, strict=True)  # what is missing, or holds several, is no label
    return sum(_tried(False, lambda pair: bool(pair[0] == pair[1]), pair) for pair in pairs)


def sum_of_scores(scores: Any, *, rows: int, steps: int) -> int:
    """The sum of a number for each row, clipped to 0 and 1, in whole parts of ``1 / steps``."""
    if not _is_one_for_each(scores, rows):
        raise ValueError
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "biuf":
        found = np.asarray(ma.filled(scores.astype(np.float64), np.nan))
    else:
        found = doubles(cast("Sequence[object]", scores))
    return int(np.rint(np.clip(np.nan_to_num(found, nan=0.0), 0.0, 1.0) * steps).sum())


def _checked(given: Any, name: str) -> int:
    """How many rows there are, if they can be taken by their numbers."""
    try:
        taken(given, np.zeros(0, np.int64))
        return len(given) if isinstance(given, (list, tuple)) else int(given.shape[0])
    except Exception:  # noqa: BLE001 - whatever a table's own methods raise without a row
        raise InvalidDataError(name, Shown(describe(given)), _ROWS) from None


def _with_copies(part: Any) -> Any:
    """A frame or column of pandas, with copies of the objects in columns of them."""
    columns = [part] if part.ndim == 1 else [part.iloc[:, place] for place in range(part.shape[1])]
    for place, column in enumerate(columns):
        if isinstance(column.dtype, np.dtype) and column.dtype.hasobject:
            copied = type(column)(_each_copied(column.to_numpy()), index=column.index, name=column.name, dtype=object)
            if part.ndim == 1:
                return copied
            part.isetitem(place, copied)
    return part


def _tried(otherwise: Any, work: Callable[[Any], Any], given: object) -> Any:
    """What objects' own methods make of them, or `otherwise`, whatever they raise."""
    try:
        return work(given)
    except Exception:  # noqa: BLE001 - it may be anything
        return otherwise


_copied = partial(_tried, None, copy.deepcopy)
_each_copied = np.frompyfunc(_copied, 1, 1)


def _is_one_for_each(given: Any, rows: int) -> bool:
    if isinstance(given, (list, tuple)):
        return len(cast("Sequence[object]", given)) == rows
    return getattr(given, "shape", None) == (rows,)


_EXPECTED = "the unit of each row of X, in one dimension"
_NOBODY = frozenset({"", *MISSING})


def unit_of_rows(groups: Any, rows: int) -> NDArray[np.int64]:
    """A number for the unit of each row, from 0; -1: the row has none. Without `groups` each row is a unit of its own.

    Groups are a list, an array or a column of any library. A row has no unit if its group is None, NaN, NaT or pandas'
    NA, text that `dpselect.Dataset` takes for a missing unit, or no hashable object.
    """
    if groups is None:
        return np.arange(rows)
    names, count = _names(groups)
    if count != rows:
        raise InvalidDataError("groups", Shown("<another length>"), "the unit of each row of X")
    known: dict[Hashable, int] = {}

    def place(name: object) -> int:
        unit = _unit(name)
        return -1 if unit is None else known.setdefault(unit, len(known))

    return np.fromiter((_tried(-1, place, name) for name in names), np.int64, rows)


def divided(units: NDArray[np.int64], *, share: float, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows for fitting and those for scoring: the first `most` of each unit, by a coin of the unit's own.

    A `share` of the `units` is scored on; rows without a unit are in neither part. Proof: ``proofs/private_search.md``.
    """
    rows = np.flatnonzero(units >= 0)
    units = units[rows]
    count = int(units.max()) + 1 if units.size else 0
    # Any probability is private: what matters is that each unit's coin is its own. A bit that is turned is such a coin.
    odds = max(math.log((1.0 - share) / share), 1e-9)
    scores = RandomizedResponse(epsilon=odds).draw(np.zeros(count, bool)) if count else np.zeros(0, bool)
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(count))
    rank = np.empty(units.size, np.int64)
    rank[order] = np.arange(units.size) - np.repeat(starts, np.bincount(units, minlength=count))
    kept = rank < most
    return rows[kept & ~scores[units]], rows[kept & scores[units]]


def _names(groups: Any) -> tuple[Iterable[object], int]:
    """What stands for the unit of each row, and how many rows there are."""
    dtype = getattr(groups, "dtype", None)
    if isinstance(groups, (list, tuple)) or (isinstance(dtype, np.dtype) and dtype.kind == "O" and groups.ndim == 1):
        names = cast("Sequence[object]", groups if isinstance(groups, (list, tuple)) else groups.tolist())
        first = names[0] if names else None
        if isinstance(first, (list, Mapping, Set)) or (isinstance(first, np.ndarray) and first.ndim):
            raise InvalidDataError("groups", Shown("<2 dimensions>"), _EXPECTED)
        return names, len(names)
    found = column_of(groups, "groups", expected=_EXPECTED)
    if isinstance(found, list):
        return found, len(found)
    (column,) = found.columns
    if column.holds in (Holds.NESTED, Holds.OTHER, Holds.DATES, Holds.TIMES):
        hint = column.hint or "Convert it first, for example to numbers or text."
        raise InvalidDataError("groups", Shown(f"<{column.holds}>"), "identifiers: numbers, text or bytes", hint)
    batches = found.batches(found.columns)
    return chain.from_iterable(batch[column].to_pylist() for batch in batches), found.size


def _unit(name: Any) -> Hashable | None:
    """What all names of a unit have in common; None if there is no unit."""
    if isinstance(name, str):
        text = name.strip(BLANKS)
        return None if text in _NOBODY else text
    if isinstance(name, tuple):
        parts = tuple(map(_unit, cast("tuple[object, ...]", name)))
        return None if any(part is None for part in parts) else parts
    return name if name == name else None  # NaN and NaT are not equal to themselves, and NA is not True
