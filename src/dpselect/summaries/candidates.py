"""The public set a selection chooses from, checked once before any row is read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from hashlib import sha256
from itertools import islice
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import CandidateKind
from dpselect.errors import InvalidCandidatesError, Shown, describe, wrong

MOST_CANDIDATES = 100_000_000  # more are refused: the counts alone would need gigabytes
MOST_WRITTEN = 100  # members of a list that certificates write down
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1

_NOT_LISTS: tuple[type, ...] = (str, bytes, bytearray, Mapping)

_LISTS = "a range, a list or a one-dimensional array"
_FRAME = "Or a frame in memory of one column."
_LAZY = f"{_FRAME} dpselect.candidates_from(frame, column=...) lists a public one of Spark."
DATES = "dates such as 2026-11-21, or timestamps at midnight without a time zone"
UNLISTED = "values and top-k, with a `delta`, name what enough units have."
"""What to ask without a public list of candidates."""
_OF_64_BITS = "whole numbers from -2^63 to 2^63 - 1; others have to be text, in a column of text"
_DISTINCT = "candidates without duplicates"
_MADE_DISTINCT = (
    "The result of unique() or value_counts() on the private column cannot be distinguished from a public list, but"
    f" reveals people's data all the same. Take candidates from a public source. Without one, {UNLISTED}"
)
_ACCEPTED = "whole numbers, finite numbers, non-empty text, dates or booleans, all of one kind"

_KINDS: dict[type, CandidateKind] = dict(zip((int, float, str, date, bool), CandidateKind, strict=True))
Member = int | float | str | bool | date


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublicCandidates:
    """Candidates of one kind, without duplicates, in the caller's order.

    `values` is a ``range`` (kept unchanged, so that a million page numbers cost nothing), a read-only int64 array for
    other whole numbers, else a tuple. Of a list of which a certificate states a hash, `sha256`, they are not known.
    """

    kind: CandidateKind
    values: range | NDArray[np.int64] | tuple[Member, ...]
    sha256: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> Member:
        value = self.values[position]
        return int(cast("int", value)) if self.kind is CandidateKind.INTEGER else value

    def __repr__(self) -> str:
        return f"PublicCandidates(<{len(self)} {self.kind}>)"

    def words(self, *, whole: bool = False) -> Any:
        """The list as certificates and ledgers write it: the same however it was given.

        Whole numbers in equal steps are a range: ``{"range": [first, last]}``, with a step other than 1 as a third
        number. Other lists stand as they are, dates as ``{"dates": [...]}``; with more than 100 members only as
        ``{"count", "kind", "sha256"}``, unless all are needed: see `hashed`.
        """
        steps = _steps(self.values)
        if steps is not None:
            return {"range": [steps[0], steps[-1], *([] if steps.step == 1 else [steps.step])]}
        if len(self) > MOST_WRITTEN and not whole:
            sha256 = hashed(self.stated()) if self.sha256 is None else self.sha256
            return {"count": len(self), "kind": str(self.kind), "sha256": sha256}
        if self.sha256 is not None:
            return {}  # what no list is written as
        return {"dates": self.stated()} if self.kind is CandidateKind.DATE else self.stated()

    def stated(self) -> list[int | float | str | bool]:
        """All of them as in a certificate: dates as ISO 8601 text."""
        if isinstance(self.values, np.ndarray):
            return self.values.tolist()
        return [*map(stated, self.values)]

    def may_hold(self, members: list[Any]) -> bool:
        """Whether `members` are different ones of them, as far as they are known."""
        if len(members) > len(self) or any(_KINDS.get(each) is not self.kind for each in map(type, members)):
            return False
        if len(set(members)) < len(members) or "" in members:
            return False
        known = set(self.values) if isinstance(self.values, tuple) else self.values
        return self.sha256 is not None or all(each in known for each in members)

    @classmethod
    def given(cls, candidates: object, *, argument: str = "candidates", days: bool = False) -> PublicCandidates:
        """`candidates` as the caller gave them; `argument` is their name in errors. With `days`, what is read as dates.

        A ``range``, or a list, tuple, set (which is sorted), iterator or one-dimensional array (NumPy, pandas, Polars,
        Arrow) of whole numbers (64-bit), finite floats, non-empty text, dates or booleans; or a frame of one such
        column. No error quotes one of them: someone will pass the private column itself by mistake.
        """
        if isinstance(candidates, PublicCandidates):
            return candidates
        if candidates is None:
            hint = "They are never read from the column: which values occur there is private. Give a range, a code book"
            hint += f" or a catalogue, such as `{argument}=range(1, 101)`; not unique() or value_counts() of it."
            groups = "values, with a `delta`, names the groups that enough units have."
            if (unlisted := {"candidates": UNLISTED, "groups": groups}.get(argument)) is not None:
                hint += f" Without such a list, {unlisted}"
            of = "values to choose from" if argument == "candidates" else argument
            raise InvalidCandidatesError(argument, None, f"the public list of {of}", hint)
        try:
            return cls._checked(candidates, days=days)
        except InvalidCandidatesError as error:
            refused = error  # raised below, so that the other one is not its context
        raise InvalidCandidatesError(
            argument, refused.got, refused.expected.replace("candidates", argument), refused.hint
        )

    @classmethod
    def _checked(cls, candidates: object, *, days: bool) -> PublicCandidates:
        if isinstance(candidates, range):
            # Its length may be more than `len` can say.
            _check_count(candidates, len(candidates[: MOST_CANDIDATES + 1]))
            if not all(SMALLEST_INTEGER <= end <= LARGEST_INTEGER for end in (candidates[0], candidates[-1])):
                raise _refusal(candidates, _OF_64_BITS)
            return cls(CandidateKind.INTEGER, candidates)
        given: Any = candidates
        array = cast("NDArray[Any] | None", given if isinstance(given, np.ndarray) else None)
        if array is not None and array.ndim != 1:
            raise _refusal(array, "a one-dimensional array")
        if array is not None and array.dtype.kind in "iu":
            _check_count(array, array.shape[0])
            return cls(CandidateKind.INTEGER, _distinct_integers(array))
        members = _as_list(candidates, days=days)
        if days and None in members:
            raise InvalidCandidatesError("dates", Shown(f"<{len(members)} values, not all of them dates>"), DATES)
        kind = _kind_of(members, candidates)
        if type(candidates) in (set, frozenset):  # whose order differs between processes
            members = sorted(members)
        if kind is CandidateKind.INTEGER:
            return cls(kind, _distinct_integers(members))
        if len(set(members)) != len(members):
            raise _refusal(candidates, _DISTINCT, _MADE_DISTINCT)
        return cls(kind, tuple(members))

    @classmethod
    def stated_as(cls, kind: CandidateKind, count: int | None = None, sha256: str = "") -> PublicCandidates:
        """So many of them, or as many as there may be, which are not known; refused if there cannot be so many."""
        most = 2 if kind is CandidateKind.BOOLEAN else MOST_CANDIDATES
        count = most if count is None else count
        if not 1 <= count <= most:
            raise _refusal([], f"1 to {MOST_CANDIDATES:,} candidates, of which so many exist")
        return cls(kind, np.broadcast_to(np.int64(0), count), sha256)


def _steps(values: object) -> range | None:
    """Two or more whole numbers in equal steps as a range, which ends with the last; None: they are not.

    A range is not run through.
    """
    if isinstance(values, range):
        return values if len(values) > 1 else None
    if not isinstance(values, np.ndarray) or values.size < 2 or not values.strides[0]:
        return None
    listed = cast("NDArray[np.int64]", values)
    first, last, step = int(listed[0]), int(listed[-1]), int(listed[1]) - int(listed[0])
    wrapped = (step + 2**63) % 2**64 - 2**63  # if both ends fit the step, no wrap-around can hide another number
    if first + step * (len(listed) - 1) != last or not (np.diff(listed) == wrapped).all():
        return None
    return range(first, last + (1 if step > 0 else -1), step)


def stated(member: Any) -> Any:
    """A member as JSON has it: a date as ISO 8601 text."""
    return member.isoformat() if isinstance(member, date) else member


def hashed(listed: list[Any]) -> str:
    """The hash of a list's JSON text without spaces."""
    return sha256(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def _as_list(candidates: Any, *, days: bool) -> list[Any]:
    if isinstance(candidates, _NOT_LISTS):
        raise _refusal(candidates, _LISTS)
    members = _only_column(candidates)
    is_kept = days and getattr(getattr(members, "dtype", None), "kind", "") == "M"  # NumPy would make numbers of dates
    for method in () if is_kept else ("to_list", "tolist", "to_pylist"):  # pandas, Polars; NumPy; Arrow
        convert = getattr(members, method, None)
        if callable(convert):
            members = convert()
            break
    if not isinstance(members, Iterable):
        raise _refusal(candidates, _LISTS)
    # Not list(): the iterator may have no end.
    members = list(islice(cast("Iterable[Any]", members), MOST_CANDIDATES + 1))
    _check_count(candidates, len(members))
    return [(as_date if days else plain)(member) for member in members]


def plain(member: Any) -> Any:
    """A member as Python has it: a decimal as the number that is written so."""
    if isinstance(member, Decimal) and member.is_finite():
        nearest = float(member)
        return nearest if math.isfinite(nearest) and Decimal(repr(nearest)) == member else member
    return cast("Any", member).item() if isinstance(member, np.generic) else member


def _only_column(candidates: Any) -> Any:
    """The one column of a frame; anything else unchanged."""
    if hasattr(candidates, "collect"):  # a lazy frame
        raise _refusal(candidates, _LISTS, _LAZY)
    names = getattr(candidates, "column_names", getattr(candidates, "columns", None))  # the first of Arrow
    if names is None:
        return candidates
    if len(names) != 1:
        raise _refusal(candidates, _LISTS, _FRAME)
    return candidates[names[0]]


def _kind_of(members: list[Any], candidates: object) -> CandidateKind:
    types = set(map(type, members))
    kinds = {_KINDS.get(kind) for kind in types}
    if None in kinds or len(kinds) != 1:
        hint = "One of them is missing (None or NaN): leave it out." if any(map(_is_missing, members)) else ""
        raise _refusal(candidates, _ACCEPTED, hint)
    (kind,) = kinds
    assert kind is not None
    if kind is CandidateKind.NUMBER and not all(map(math.isfinite, members)):
        raise _refusal(candidates, _ACCEPTED, "One of them is NaN or infinite: leave it out.")
    if kind is CandidateKind.TEXT and not all(map(_is_encodable, members)):
        raise _refusal(candidates, _ACCEPTED, "One of them is empty or not valid Unicode: leave it out.")
    return kind


def _is_missing(member: object) -> bool:
    is_nan = isinstance(member, float) and math.isnan(member)
    return is_nan or member is None or type(member).__name__ in ("NAType", "NaTType")  # pandas


def _is_encodable(text: str) -> bool:
    return bool(text) and (text.isascii() or text.encode(errors="replace").decode() == text)


def _distinct_integers(members: list[int] | NDArray[Any]) -> NDArray[np.int64]:
    given = np.asarray(members)
    if not SMALLEST_INTEGER <= int(given.min()) <= int(given.max()) <= LARGEST_INTEGER:
        raise _refusal(members, _OF_64_BITS)
    integers = given.astype(np.int64)
    if np.unique(integers).shape != integers.shape:
        raise _refusal(members, _DISTINCT, _MADE_DISTINCT)
    integers.setflags(write=False)
    return integers


def _check_count(candidates: object, count: int) -> None:
    if count == 0:
        raise _refusal(candidates, "at least one candidate")
    if count > MOST_CANDIDATES:
        raise _refusal(candidates, f"at most {MOST_CANDIDATES:,} candidates")


def _refusal(candidates: object, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("candidates", Shown(describe(candidates)), expected, hint)


def members(held: object, name: str = "list") -> Any:
    """The public list that `PublicCandidates.words` wrote."""
    about: Any = held
    match about:
        case list():
            return cast("list[object]", about)
        case {"range": [int() as first, int() as last, *steps]} if len(about) == 1:
            step = steps[0] if steps else 1
            if len(steps) < 2 and type(step) is int and step:
                return range(first, last + (1 if step > 0 else -1), step)
        case {"dates": [*dates]} if len(about) == 1:
            days = [as_date(each) for each in dates if isinstance(each, str)]
            if len(days) == len(dates) and None not in days:
                return days
        case {"count": int() as count, "kind": kind, "sha256": str() as hash} if len(about) == 3 and type(count) is int:
            if kind in [*CandidateKind] and re.fullmatch("[0-9a-f]{64}", hash):
                return PublicCandidates.stated_as(CandidateKind(kind), count, hash)
        case _:
            pass  # said below
    raise wrong(name, "a public list: its members, a range, dates, or a count, a kind and a hash")


def as_date(value: Any) -> date | None:
    """The day that a date, a text such as ``"2026-11-21"`` or a timestamp at midnight is; None: it is none."""
    if isinstance(value, np.datetime64):
        day = value.astype("datetime64[D]")
        return day.item() if day == value else None
    if isinstance(value, datetime):  # also a timestamp of pandas, which may be none at all, or have nanoseconds
        is_whole = value == value and value.tzinfo is None and not getattr(value, "nanosecond", 0)
        return value.date() if is_whole and value.time() == time() else None
    if type(value) is date:
        return value
    if not isinstance(value, str):
        return None
    try:
        read = date.fromisoformat(value)
    except ValueError:
        return None
    return read if read.isoformat() == value else None


class PrivateNumbers:
    """Shows nothing and cannot be pickled or copied."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<private>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} are private and cannot be pickled or copied")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateTotals(PrivateNumbers):
    """A number for each candidate, in the candidates' order: of units that have it, or a sum of amounts or weights.

    Adding all rows of one more unit raises each count by 0 or 1 (proof: ``proofs/counting.md``), and moves each sum by
    a whole number between the lower and the upper bound of one unit's amount, or by 0 (``proofs/clipped_sums.md``).
    """

    totals: NDArray[np.int64]
