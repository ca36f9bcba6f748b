"""Public dates to choose from: a list, or dates at regular intervals between a first and a last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, cast

import numpy as np

from dpselect.checks import positive_count
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.summaries.candidates import CandidateKind, PublicCandidates

_DATES = "dates such as 2026-11-21, or timestamps at midnight without a time zone"

DAY_ZERO = date(1970, 1, 1)
"""The day from which days are counted where dates are drawn as numbers."""

_MOST = 366 * 10_000  # no calendar has more days


def public_dates(dates: object, *, bounds: object = None, step: object = 1) -> PublicCandidates:
    """The dates given by the caller: a list, or each `step` days from the first of two `bounds` to the last.

    Args:
        dates: each a ``datetime.date``, a text such as ``"2026-11-21"`` or a timestamp at midnight; in a list, or an
            array as from ``pandas.date_range``.
        bounds: instead of a list, the first and the last date, both included.
        step: days from one to the next, with `bounds`.

    Raises:
        InvalidCandidatesError, InvalidParameterError: they are none of these, or not exactly one is given.

    >>> weekly = public_dates(None, bounds=("2026-11-02", "2026-11-30"), step=7)
    >>> len(weekly), str(weekly[-1])
    (5, '2026-11-30')
    """
    if (dates is None) == (bounds is None):
        got = Shown("None" if dates is None else "<given together with bounds>")
        expected = "either a public list of dates, or bounds: the first and the last date"
        raise InvalidCandidatesError("dates", got, expected, "They are never read from the column.")
    days = positive_count(step, "step", at_most=_MOST)
    if bounds is None:
        if days != 1:
            raise InvalidParameterError("step", days, "1 with a list of dates", "A step is for bounds.")
        public = PublicCandidates.given(_listed(dates), argument="dates")
        if public.kind is not CandidateKind.DATE:
            raise InvalidCandidatesError("dates", Shown(f"<{len(public):,} {public.kind}>"), _DATES)
        return public
    first, last = first_and_last(bounds)
    listed = [first + timedelta(days=day) for day in range(0, (last - first).days + 1, days)]
    return PublicCandidates.given(listed, argument="dates")


def are_dates(bounds: object) -> bool:
    """Whether bounds are meant as dates and not as numbers: at least one of them is a date or a text.

    >>> are_dates(("2026-11-21", None)), are_dates((0, 120))
    (True, False)
    """
    ends = cast("Sequence[object]", bounds) if isinstance(bounds, tuple | list) else ()
    return any(isinstance(end, str | date | np.datetime64) for end in ends)


def first_and_last(bounds: object) -> tuple[date, date]:
    """The first and the last date, or an error: the first may not be after the last."""
    pair = cast("Sequence[object]", bounds)
    ends = [as_date(end) for end in pair] if isinstance(bounds, tuple | list) and len(pair) == 2 else []
    match ends:
        case [date() as first, date() as last] if first <= last:
            return first, last
        case _:
            hint = "The first must not be after the last."
            raise InvalidParameterError("bounds", Shown("<no such dates>"), f"two {_DATES}", hint)


def _listed(dates: object) -> object:
    """Texts and timestamps converted to dates; anything else unchanged, to be refused with the reason."""
    values: Any = dates
    if isinstance(values, set | frozenset):  # in the same order in every process
        values = sorted(cast("set[Any]", values), key=str)
    if isinstance(dates, str | bytes) or not isinstance(dates, Iterable) or hasattr(values, "columns"):
        return values
    for method in ("to_list", "to_pylist"):  # pandas, Polars; Arrow. NumPy's would turn timestamps into numbers
        if callable(getattr(values, method, None)):
            values = getattr(values, method)()
            break
    if getattr(values, "ndim", 1) != 1:
        return values
    members: list[object] = list(islice(values, _MOST + 1))
    if not any(isinstance(member, str | datetime | np.datetime64) for member in members):
        return members
    read = [as_date(member) for member in members]
    if None in read:
        got = Shown(f"<{len(members):,} values, not all of them dates>")
        raise InvalidCandidatesError("dates", got, _DATES)
    return read


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
