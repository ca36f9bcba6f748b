"""The parts of a privacy claim: the neighbouring relation, the sensitivity and the guarantee; and its public time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, cast

from dpselect.checks import one_of, probability
from dpselect.errors import InvalidParameterError, Shown


class Neighbours(StrEnum):
    """Which two data sets the guarantee compares."""

    ADD_REMOVE = "add_remove"
    """One has all rows of one more unit than the other; the number of units is private."""

    REPLACE_ONE = "replace_one"
    """Same number of units, with all rows of one unit replaced; the number of units is public."""

    def __init__(self, word: str) -> None:
        """It is `one_way` if counts all change in one direction: ``proofs/counting.md`` has the counterexample."""
        self.one_way = word == "add_remove"

    def changed(self, parts: int, at_most: int | None = None) -> int:
        """How many parts change if one unit has so many, of all that there are: a replaced one leaves and joins some.

        Proof: ``proofs/counting.md``, claim 6.

        >>> Neighbours.ADD_REMOVE.changed(3), Neighbours.REPLACE_ONE.changed(3), Neighbours.REPLACE_ONE.changed(3, 5)
        (3, 6, 5)
        """
        both = parts if self is Neighbours.ADD_REMOVE else 2 * parts
        return both if at_most is None else min(both, at_most)


class EachRow:
    """The type of `ROWS`."""

    def __repr__(self) -> str:
        return "ROWS"


ROWS: Final = EachRow()
"""As the unit of a table: each row is another person, and no column says whose it is."""

EACH_ROW = "table row"  # what sentences, certificates and ledgers call the unit then


def is_each_row(unit: object, columns: Iterable[str] = ()) -> bool:
    """Whether a unit is `ROWS` (``proofs/counting.md``, claim 7), or ``rows``, unless that is the name of a column."""
    return unit is ROWS or (isinstance(unit, str) and unit == "rows" and "rows" not in columns)


def neighbouring_relation(value: object) -> Neighbours:
    """`value` as a `Neighbours`, or an error that lists the choices."""
    return value if isinstance(value, Neighbours) else Neighbours(one_of(value, "neighbours", Neighbours))


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a release promises: (epsilon, delta)-differential privacy of one `unit` under `neighbours`."""

    epsilon: float
    delta: float
    neighbours: Neighbours
    unit: str

    def power(self, significance: float) -> float:
        r"""At most how often somebody who knows all other data finds from the release that a unit is present.

        Of any test of "absent" against "present" (under replace-one, "this" against "that") that is wrong about absent
        units with probability `significance`, the power is at most

        .. math:: \min(e^{\varepsilon} \alpha + \delta,\; 1 - e^{-\varepsilon} (1 - \delta - \alpha),\; 1).

        Raises:
            InvalidParameterError: `significance` is not strictly between 0 and 1.

        Proof: ``proofs/testing.md``. Source: Wasserman & Zhou (2010), for the first bound; Kairouz, Oh & Viswanath
        (2015), for both.

        >>> round(Guarantee(0.5, 0.0, Neighbours.ADD_REMOVE, "person").power(0.05), 3)  # a blind guess: 0.05
        0.082
        """
        return most_power(probability(significance, "significance"), self.epsilon, self.delta)

    def __str__(self) -> str:
        failing = f", delta = {as_text(self.delta)}" if self.delta else ""
        kind = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else "replaced"
        who = f"{kind}: each row is another person" if self.unit == EACH_ROW else kind
        return f"Differentially private: epsilon = {as_text(self.epsilon)}{failing}, when one {self.unit} is {who}."


def most_power(significance: float, epsilon: float, delta: float) -> float:
    """The largest power of a test of an (epsilon, delta)-DP release. Proof: ``proofs/testing.md``, claim 1."""
    first = significance * math.exp(min(epsilon, 700.0)) + delta
    second = significance + delta - (1.0 - delta - significance) * math.expm1(-epsilon)
    return min(first, second, 1.0)


def as_text(value: object) -> str:
    """Every digit of it (a rounded epsilon would promise more than was kept), but 37 for 37.0."""
    if isinstance(value, tuple):  # a group of a cross table
        return ", ".join(map(as_text, cast("tuple[object, ...]", value)))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


class Times(StrEnum):
    """Precision of the request time in a release: how long it takes to read a table depends on its rows.

    Only a ledger, which is for its owner alone, keeps milliseconds.
    """

    DAY = "day"
    HOUR = "hour"


def public_moment(value: object, name: str) -> str:
    """Check a time that a receipt will show, as text in UTC: it needs a time zone, to mean the same everywhere."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidParameterError(name, value, "a datetime with a time zone")
    if (value.minute, value.second, value.microsecond) != (0, 0, 0):
        hint = "A finer time tells how long reading took: time.replace(minute=0, second=0, microsecond=0)."
        raise InvalidParameterError(name, Shown("<a time>"), "the start of an hour", hint)
    return value.astimezone(UTC).isoformat(timespec="seconds")
