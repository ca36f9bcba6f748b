"""Candidates: checked before anything is drawn, and returned as the caller gave them.

The candidate set is public (it comes from the caller, never from the data), so errors may mention its length. They
never mention its members: someone will pass a private column here by mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import combinations
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dpselect.errors import InvalidCandidatesError, Shown

Candidate = TypeVar("Candidate")
Pick = Callable[[int], Any]
"""Takes the index of a score and returns its candidate."""

_SETS: Any = (Set,)
_NOT_SEQUENCES: Any = (str, bytes, bytearray, memoryview, Mapping, *_SETS)


def checked_candidates(candidates: object, *, count: int, name: str = "candidates") -> Pick:
    """Check that `candidates` fits `count` scores, and return the way from an index to a candidate.

    Args:
        candidates: a sequence or one-dimensional array (NumPy, pandas, Polars, Arrow) without duplicates.
        count: the number of scores.
        name: what errors call them.

    Returns:
        A function of the index. For a sequence it returns the member itself; for an array, the member as the Python
        value that the library returns (NumPy dates stay NumPy dates, because Python's are not as fine).

    Raises:
        InvalidCandidatesError: another length, duplicates, or not a sequence.
    """
    try:
        return _checked(candidates, count)
    except InvalidCandidatesError as error:
        if name == error.name:
            raise
        expected = error.expected.replace("candidate", name[:-1])
        raise InvalidCandidatesError(name, error.got, expected, error.hint) from None


def all_candidates(candidates: Any, name: str = "candidates") -> tuple[int, Pick]:
    """How many there are, at least one; and, checked, the way from a place to each: see `checked_candidates`."""
    try:
        count = len(candidates)
    except TypeError:
        raise InvalidCandidatesError(name, candidates, "a sequence") from None
    if count == 0:
        raise InvalidCandidatesError(name, Shown("<none>"), f"at least one {name[:-1]}")
    return count, checked_candidates(candidates, count=count, name=name)


def _checked(candidates: object, count: int) -> Pick:
    if isinstance(candidates, range):
        _check_count(candidates, len(candidates), count)
        return candidates.__getitem__
    if isinstance(candidates, np.ndarray):
        return _from_array(cast("npt.NDArray[Any]", candidates), count=count)
    members = _as_sequence(candidates)
    _check_count(candidates, len(members), count)
    if _has_duplicates(members, candidates):
        raise _refusal(candidates, "candidates without duplicates")
    return members.__getitem__


def _as_sequence(candidates: object) -> Sequence[object]:
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; Polars and pandas; other arrays
        convert = getattr(candidates, method, None)
        if callable(convert):
            converted = convert()
            if isinstance(converted, list):
                return cast("list[object]", converted)
    if isinstance(candidates, _NOT_SEQUENCES) or not isinstance(candidates, Sequence):
        hint = "A set has no order." if isinstance(candidates, _SETS) else ""
        raise _refusal(candidates, "a list, tuple or one-dimensional array", hint)
    return cast("Sequence[object]", candidates)


def _from_array(candidates: npt.NDArray[Any], *, count: int) -> Pick:
    if candidates.ndim != 1:
        raise _refusal(candidates, "a list, tuple or one-dimensional array")
    _check_count(candidates, candidates.shape[0], count)
    if candidates.dtype.kind == "O":
        duplicated = _has_duplicates(cast("list[object]", candidates.tolist()), candidates)
    else:
        duplicated = np.unique(candidates).size != count
    if duplicated:
        raise _refusal(candidates, "candidates without duplicates")
    return candidates.__getitem__ if candidates.dtype.kind in "OMmV" else candidates.item


def _check_count(candidates: object, length: int, count: int) -> None:
    if length != count:
        got = Shown(f"<{type(candidates).__name__} of length {length}>")
        raise InvalidCandidatesError("candidates", got, f"one candidate for each of the {count} scores")


def _has_duplicates(members: Sequence[object], candidates: object) -> bool:
    try:
        return len(set(members)) != len(members)
    except TypeError:  # some members cannot be hashed
        pairs = combinations(members, 2)
    for one, other in pairs:
        equal = _equal(one, other)
        if equal is None:
            raise _refusal(candidates, "members that can be compared with ==")
        if equal:
            return True
    return False


def _equal(one: object, other: object) -> bool | None:
    """Whether two members are equal; None where ``==`` does not answer True or False (arrays, tables)."""
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return None


def _refusal(candidates: object, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("candidates", Shown(f"<{type(candidates).__name__}>"), expected, hint)
