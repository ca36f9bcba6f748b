"""What a question reads: a scan and groups, which are public, and its summary of each group, which is private.

No summary leaves the process by accident.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import CandidateKind
from dpselect.checks import members_in_order, positive_count, whole_or_double_bounds
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, describe
from dpselect.summaries.candidates import (
    MOST_CANDIDATES,
    MOST_WRITTEN,
    PrivateNumbers,
    PublicCandidates,
    hashed,
    plain,
    stated,
)
from dpselect.summaries.domain import PublicClip, PublicDomain


@dataclass(frozen=True, slots=True)
class CountsOf:
    """How many units have each candidate; read as `CandidateTotals`."""

    candidates: PublicCandidates
    max_values_per_unit: int | None = None  # for how many of them one unit counts; None: for any number
    argument: str = "candidates"  # the question's name for them, for errors


@dataclass(frozen=True, slots=True)
class TotalsOf:
    """What the units' clipped amounts add up to, for each candidate, or of all rows: `CandidateTotals`."""

    clip: PublicClip
    candidates: PublicCandidates | None = None


@dataclass(frozen=True, slots=True)
class ValuesIn:
    """The numbers of a column clipped into a domain, or its dates: at most so many of each unit, as `UnitValues`."""

    domain: PublicDomain
    max_rows_per_unit: int


@dataclass(frozen=True, slots=True)
class NamesOf:
    """How many units have each value that can be read as this kind, counting at most so many of each: `NameCounts`."""

    kind: CandidateKind
    max_values_per_unit: int


MOST_VALUES = 10_000  # of a condition; all of them are written into the certificate


@dataclass(frozen=True, slots=True)
class UnitsOf:
    """How many units have a row that another scan uses, or a number between two ends, or else any row; as a number."""

    scan: CountsOf | TotalsOf | ValuesIn | NamesOf | None = None
    between: tuple[int | float | None, int | float | None] | None = None  # None is no end


def ends_of(given: tuple[Any, Any]) -> tuple[int | float | None, int | float | None]:
    """The ends of an interval of numbers as they are compared; None, of which there is at most one, is no end."""
    known = [end for end in given if end is not None]
    lower, upper = whole_or_double_bounds((known[0], known[-1]), "where")
    return None if given[0] is None else lower, None if given[1] is None else upper


Scan = CountsOf | TotalsOf | ValuesIn | NamesOf | UnitsOf

MOST_GROUPS = 100_000
_NAMES = "the name of a column, or a list of 2 to 4 different names"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublicGroups:
    """The groups that a question is asked for: a public list, or those of a cross table of 2 to 4 columns.

    Rows of other groups are left out.
    """

    by: str | tuple[str, ...]  # the column with the group of each row, or several
    listed: tuple[PublicCandidates, ...]  # of each column the values that make up the groups, in their order
    names: PublicCandidates | tuple[tuple[Any, ...], ...]  # in a cross table with a value for each column
    max_per_unit: int  # in how many groups one unit takes part, chosen at random among its own

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else self.by

    @property
    def column(self) -> str:
        """What sentences call the column, or several."""
        return " and ".join(self.columns)

    @classmethod
    def given(cls, by: object, groups: object, max_groups_per_unit: object) -> PublicGroups:
        """The groups given by the caller, by the rules of candidates; a unit is in at most as many as there are."""
        names: PublicCandidates | tuple[tuple[Any, ...], ...]
        if isinstance(by, tuple | list):
            by, names, listed = _pairs(cast(object, by), groups)
        elif isinstance(by, str):
            names = PublicCandidates.given(groups, argument="groups")
            listed = (names,)
        else:
            raise InvalidParameterError("by", by, "the name of the column with the group of each row, as text")
        if (n := len(names)) > MOST_GROUPS:
            raise InvalidParameterError("groups", Shown(f"<{n:,} groups>"), f"at most {MOST_GROUPS:,}")
        what = "the number of groups"
        most = positive_count(max_groups_per_unit, "max_groups_per_unit", at_most=n, at_most_what=what)
        return cls(by, listed, names, most)

    def check_size(self, candidates: int) -> None:
        """Refuse more counts than fit into memory: one for each candidate in each group."""
        if len(self.names) * candidates > MOST_CANDIDATES:
            got = Shown(f"<{len(self.names):,} groups of {candidates:,} candidates>")
            raise InvalidParameterError("groups", got, f"at most {MOST_CANDIDATES:,} candidates in all groups together")

    def description(self) -> dict[str, Any]:
        """The groups in a certificate."""
        kind = " and ".join(str(each.kind) for each in self.listed)
        return {"column": self.column, "count": len(self.names), "kind": kind, "max_per_unit": self.max_per_unit}

    def words(self) -> Any:
        """As certificates and ledgers write them; of more than 100 pairs only the hash of their JSON text."""
        if isinstance(self.names, PublicCandidates):
            return self.names.words()
        kinds = [str(each.kind) for each in self.listed]
        pairs = [[stated(part) for part in each] for each in self.names]
        if len(pairs) <= MOST_WRITTEN:
            return {"kinds": kinds, "pairs": pairs}
        return {"count": len(pairs), "kinds": kinds, "sha256": hashed(pairs)}


def _pairs(
    columns: object, groups: object
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], tuple[PublicCandidates, ...]]:
    """Names of 2 to 4 different columns, the groups given by the caller, and the values of all groups in each."""
    names = members_in_order(columns, "by", expected=_NAMES)
    are_texts = all(isinstance(each, str) for each in names)
    if not are_texts or not 2 <= len(names) <= 4 or len(set(names)) < len(names):
        raise InvalidParameterError("by", Shown(f"<{len(names)} columns>"), _NAMES)
    expected = f"a public list of tuples, each with a value of {', '.join(names)}"
    if groups is None:
        raise InvalidCandidatesError("groups", None, expected, "Never take them from the columns themselves.")
    given = members_in_order(groups, "groups", expected=expected)
    listed = [tuple(map(plain, cast("list[Any]", each))) for each in given if isinstance(each, tuple | list)]
    are_values = all(isinstance(part, Hashable) and not isinstance(part, tuple) for each in listed for part in each)
    if len(listed) < len(given) or not are_values or not listed or any(len(each) != len(names) for each in listed):
        raise InvalidCandidatesError("groups", Shown(describe(groups)), expected)
    parts = list[PublicCandidates]()
    for values in zip(*listed, strict=True):
        same = dict[Any, Any]()
        values = tuple(same.setdefault(each, each) for each in values)  # 1 and True are one, the first
        part = PublicCandidates.given([*same], argument="groups")
        if part.kind is CandidateKind.NUMBER:
            known = "whole numbers, text, dates or booleans in each column"
            hint = "Numbers with a point are no names of groups: round them, or give the groups as text."
            raise InvalidCandidatesError("groups", Shown(f"<{part.kind}>"), known, hint)
        parts.append(PublicCandidates(part.kind, values))
    if len(set(listed)) < len(listed):
        raise InvalidCandidatesError("groups", Shown(f"<{len(listed):,} groups>"), "groups without duplicates")
    return tuple(names), tuple(listed), tuple(parts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NameCounts(PrivateNumbers):
    """The values that occur in a column, and how many different units count for each. Both are private.

    Attributes:
        names: an Arrow array of different values without nulls, in an order without meaning.
        counts: one for each name, all at least 1. Adding all rows of one more unit raises at most as many counts as a
            unit has values by 1, from 0 for a name that was not there (proof: ``proofs/unknown_candidates.md``).
    """

    names: Any
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitValues(PrivateNumbers):
    """Numbers, at most a few of each unit.

    Attributes:
        values: within the bounds of `domain`, in an order without meaning; their number is as private as they are.
            Adding all rows of one more unit adds at most `max_rows_per_unit` values and changes no other (proof:
            ``proofs/unit_values.md``).
        domain: the public set they were clipped into.
        max_rows_per_unit: the most values one unit has among them.
    """

    values: NDArray[np.float64]
    domain: PublicDomain = field(kw_only=True)
    max_rows_per_unit: int = field(kw_only=True)


def ordered(summary: Any) -> Any:
    """The same in an order that does not depend on how the rows were read: engines do so with several threads."""
    match summary:
        case UnitValues(values):
            return replace(summary, values=np.sort(values))
        case NameCounts(names, counts):
            listed = names.to_pylist()
            order = np.array(sorted(range(len(listed)), key=listed.__getitem__), np.int64)
            return replace(summary, names=names.take(order), counts=counts[order])
        case _:
            return summary
