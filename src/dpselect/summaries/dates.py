"""Public dates to choose from: a list, or every so many days from a first to a last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import islice
from typing import cast

from dpselect.arguments import positive_count
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.summaries.candidates import CandidateKind, PublicCandidates

_DATES = "dates such as '2026-11-21', or datetime.date"

_MOST = 366 * 10_000
"""No calendar has more days."""


def public_dates(dates: object, *, bounds: object = None, step: object = 1) -> PublicCandidates:
    """The dates as the caller gave them.

    Args:
        dates: a list of dates, each a ``datetime.date`` or a text such as ``"2026-11-21"``.
        bounds: instead of a list, the first and the last date, both included.
        step: days from one to the next, with `bounds`.

    Raises:
        InvalidCandidatesError: not such dates, or not exactly one of `dates` and `bounds` is given.
        InvalidParameterError: `bounds` are not two dates, the first not after the last; or `step` no whole number >= 1.

    >>> weekly = public_dates(None, bounds=("2026-11-02", "2026-11-30"), step=7)
    >>> len(weekly), str(weekly[-1])
    (5, '2026-11-30')
    """
    if (dates is None) == (bounds is None):
        got = Shown("None" if dates is None else "<given together with bounds>")
        expected = "either a public list of dates, or bounds instead, the first and the last"
        raise InvalidCandidatesError("dates", got, expected, "They are never read from the column.")
    days = positive_count(step, "step", at_most=_MOST)
    if bounds is None:
        if days != 1:
            raise InvalidParameterError("step", days, "1 with a list of dates", "It goes with bounds.")
        public = PublicCandidates.given(_listed(dates), argument="dates")
        if public.kind is not CandidateKind.DATE:
            raise InvalidCandidatesError("dates", Shown(f"<{len(public):,} {public.kind}>"), _DATES)
        return public
    pair = cast("Sequence[object]", bounds)
    ends = [_date(end) for end in pair] if isinstance(bounds, tuple | list) and len(pair) == 2 else []
    match ends:
        case [date() as first, date() as last] if first <= last:
            count = (last - first).days // days + 1
            listed = [first + timedelta(days=days * place) for place in range(count)]
            return PublicCandidates.given(listed, argument="dates")
        case _:
            expected = "two dates such as '2026-11-21', the first not after the last"
            raise InvalidParameterError("bounds", Shown("<no such dates>"), expected)


def _listed(dates: object) -> object:
    """Texts made dates; anything else as it is, to be refused with the reason."""
    if isinstance(dates, str | bytes) or not isinstance(dates, Iterable):
        return dates
    members = list(islice(cast("Iterable[object]", dates), _MOST + 1))
    if not any(isinstance(member, str) for member in members):
        return members
    read = [_date(member) for member in members]
    if None in read:
        got = Shown(f"<{len(members):,} dates>")
        raise InvalidCandidatesError("dates", got, _DATES)
    return read


def _date(value: object) -> date | None:
    if type(value) is date:
        return value
    if not isinstance(value, str):
        return None
    try:
        read = date.fromisoformat(value)
    except ValueError:
        return None
    return read if read.isoformat() == value else None
