"""Units of rows, and their division into a part for fitting and one for scoring.

Whether a row counts depends on its own unit alone. What is refused depends on types and shapes, and never on which rows
have a unit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms import RandomizedResponse
from dpselect.rows.columns import Holds
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.frames import single_columns
from dpselect.rows.frames.pandas_frame import of_numpy_array
from dpselect.rows.row_rules import BLANKS, MISSING
from dpselect.sklearn.reading import array_of

_EXPECTED = "the unit of each row of X, in one dimension"
_REFUSED = (Holds.NESTED, Holds.OTHER)
_NOBODY = frozenset({"", *MISSING})


def unit_of_rows(groups: Any, rows: int) -> NDArray[np.int64]:
    """A number for the unit of each row, from 0; -1: the row has none.

    Args:
        groups: the unit of each row, in a list, an array or a column of any library. A row has none if it is None, NaN,
            NaT or pandas' NA, text that `dpselect.Dataset` takes for a missing unit, or no hashable object. None: each
            row is a unit of its own.
        rows: how many rows there are.

    Raises:
        InvalidDataError: not one unit for each row, or of a type that holds no units. What the rows hold makes no
            difference, but for the first of a list: it may be no list.

    >>> unit_of_rows(["ann", None, " ann", float("nan"), "bob", "N/A"], 6).tolist()
    [0, -1, 0, -1, 1, -1]
    """
    if groups is None:
        return np.arange(rows)
    names, count = _names(groups)
    if count != rows:
        raise InvalidDataError("groups", Shown("<another length>"), "the unit of each row of X")
    known: dict[Hashable, int] = {}
    return np.fromiter((_place(name, known) for name in names), np.int64, rows)


def divided(units: NDArray[np.int64], *, share: float, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows for fitting and those for scoring: the first `most` of each unit, by a coin of the unit's own.

    Args:
        units: see `unit_of_rows`; rows without a unit are in neither part.
        share: of the units that are scored on.
        most: rows of each unit.

    Proof: ``proofs/private_search.md``.
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
    found = single_columns(groups, argument="groups")
    if isinstance(found, list):
        raise InvalidDataError("groups", Shown("<2 dimensions>"), _EXPECTED, "Give one column of the table.")
    if found is None:
        array = array_of(groups, "groups", expected=_EXPECTED)
        if array.ndim != 1:
            raise InvalidDataError("groups", Shown(f"<{array.ndim} dimensions>"), _EXPECTED)
        found = of_numpy_array(array)
    (column,) = found.columns
    if column.holds in _REFUSED:
        hint = column.hint or "Convert it first, for example to numbers or text."
        raise InvalidDataError("groups", Shown(f"<{column.holds}>"), "identifiers: numbers, text, bytes or times", hint)
    return _of_times(groups) if column.holds is Holds.TIMES else _of_column(found), found.size()


def _of_column(source: Source) -> Iterator[object]:
    (column,) = source.columns
    for batch in source.batches(source.columns, lambda _: None):
        values = batch.column(0)
        # Python has no dates before the year 1 or after 9999.
        yield from (values.view(pa.int32()) if column.holds is Holds.DATES else values).to_pylist()


def _of_times(groups: Any) -> Iterator[object]:
    """Whole numbers for times, which need not be in the years from 1 to 9999, the only ones that Python has."""
    if isinstance(groups, np.ndarray):
        times = cast("NDArray[np.datetime64]", np.asarray(cast(Any, groups)))
        missing = np.isnat(times) | ma.getmaskarray(cast(Any, groups))
        yield from ma.array(times.view(np.int64), mask=missing).tolist()
        return
    read = pa.array(pa.chunked_array(groups) if hasattr(groups, "__arrow_c_stream__") else groups)
    for chunk in read.chunks if isinstance(read, pa.ChunkedArray) else [read]:
        held = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
        times = held.dictionary_decode() if isinstance(held, pa.DictionaryArray) else held
        whole = {32: pa.int32(), 64: pa.int64()}.get(times.type.bit_width)
        yield from (times if whole is None else times.view(whole)).to_pylist()


def _place(name: object, known: dict[Hashable, int]) -> int:
    """The number of a unit, a new one if it is not known; -1: it is none."""
    try:
        unit = _unit(name)
        return -1 if unit is None else known.setdefault(unit, len(known))
    except Exception:  # noqa: BLE001 - an object's own methods; whatever it is, it is no unit
        return -1


def _unit(name: Any) -> Hashable | None:
    """What all names of a unit have in common; None if there is no unit."""
    if isinstance(name, str):
        text = name.strip(BLANKS)
        return None if text in _NOBODY else text
    if isinstance(name, tuple):
        parts = tuple(map(_unit, cast("tuple[object, ...]", name)))
        return None if any(part is None for part in parts) else parts
    return name if name == name else None  # NaN and NaT are not equal to themselves, and NA is not True
