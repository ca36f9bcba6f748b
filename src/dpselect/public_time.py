"""The public time of a question: the day or the hour, and nothing finer.

How long it takes to read a table depends on its rows. So a fine time in a release, or the difference between two such
times, would reveal something about private data. Only a ledger, which is for its owner alone, keeps milliseconds.
"""

from __future__ import annotations

import functools
from datetime import UTC, date, datetime
from enum import StrEnum

from dpselect.checks import one_of


class Times(StrEnum):
    """Precision of the request time in a release."""

    DAY = "day"
    HOUR = "hour"


def times_shown(value: object) -> Times:
    """`value` as one of them.

    Raises:
        InvalidParameterError: it is neither.

    >>> times_shown("hour")
    <Times.HOUR: 'hour'>
    """
    return Times(one_of(value, "times", Times))


def public_time(moment: datetime, times: Times = Times.DAY) -> datetime:
    """The start, in UTC, of the day or the hour in which `moment` lies.

    >>> public_time(datetime(2026, 11, 21, 13, 30, 5, 999, tzinfo=UTC)).isoformat()
    '2026-11-21T00:00:00+00:00'
    """
    hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour.replace(hour=0) if times is Times.DAY else hour


@functools.lru_cache(maxsize=8)
def day_text(day: date) -> str:
    """The start of a day in UTC, as `as_utc_text` writes it; kept, as a ledger needs it for every charge.

    >>> day_text(date(2026, 11, 21))
    '2026-11-21T00:00:00+00:00'
    """
    return as_utc_text(datetime(day.year, day.month, day.day, tzinfo=UTC))


def as_utc_text(moment: datetime) -> str:
    """As certificates and receipts write it, to the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
