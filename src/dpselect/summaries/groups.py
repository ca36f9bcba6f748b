"""The public list of groups for a question, and the number of groups a unit may take part in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from dpselect.accounting.rounding import quotient_down
from dpselect.checks import delta_below_one, members_in_order, positive_count, positive_epsilon
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, describe
from dpselect.summaries.candidates import MOST_CANDIDATES, MOST_WRITTEN, PublicCandidates, hashed, plain
from dpselect.summaries.kinds import CandidateKind

MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublicPairs:
    """The groups of a cross table: each a tuple with a value for each of its columns.

    Attributes:
        columns: their names.
        listed: the different values in each column, in the order in which they were given.
        values: the groups.
    """

    columns: tuple[str, ...]
    listed: tuple[PublicCandidates, ...]
    values: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> tuple[Any, ...]:
        return self.values[position]

    def __repr__(self) -> str:
        return f"PublicPairs(<{len(self):,} groups>)"

    @property
    def kinds(self) -> list[str]:
        """The kind of the values in each column."""
        return [str(each.kind) for each in self.listed]

    @property
    def kind(self) -> str:
        """What certificates call them."""
        return " and ".join(self.kinds)

    def texts(self, compared: Sequence[PublicCandidates] = ()) -> PublicCandidates:
        """Each group as one text, of the values as cells are `compared` with them: `dpselect.rows.row_rules.rule`."""
        both = zip(self.listed, compared or self.listed, strict=True)
        to = [dict(zip(each.stated(), become.texts(), strict=True)) for each, become in both]
        groups = (
            BETWEEN_PARTS.join(part[value] for part, value in zip(to, each, strict=True)) for each in self.stated()
        )
        return PublicCandidates(CandidateKind.TEXT, tuple(groups))

    def stated(self) -> list[list[Any]]:
        """All of them as in a certificate: dates as ISO 8601 text."""
        return [[part.isoformat() if isinstance(part, date) else part for part in each] for each in self.values]

    def words(self) -> dict[str, Any]:
        """As certificates and ledgers write them; with more than 100 only the hash of their JSON text."""
        listed = self.stated()
        if len(self) <= MOST_WRITTEN:
            return {"kinds": self.kinds, "pairs": listed}
        return {"count": len(self), "kinds": self.kinds, "sha256": hashed(listed)}

    @classmethod
    def given(cls, columns: object, groups: object) -> PublicPairs:
        """The groups given by the caller: tuples with a value for each of 2 to 4 different columns.

        >>> len(PublicPairs.given(["region", "sex"], [("north", "f"), ("north", "m")]))
        2
        """
        names = members_in_order(columns, "by", expected=_NAMES)
        are_texts = all(isinstance(each, str) for each in names)
        if not are_texts or not 2 <= len(names) <= 4 or len(set(names)) < len(names):
            raise InvalidParameterError("by", Shown(f"<{len(names)} columns>"), _NAMES)
        expected = f"a public list of tuples, each with a value of {', '.join(names)}"
        if groups is None:
            raise InvalidCandidatesError("groups", None, expected, "Never take them from the columns themselves.")
        given = members_in_order(groups, "groups", expected=expected)
        listed = [tuple(map(plain, cast("list[Any]", each))) for each in given if _is_tuple(each)]
        are_values = all(isinstance(part, Hashable) and not isinstance(part, tuple) for each in listed for part in each)
        if len(listed) < len(given) or not are_values or not listed or any(len(each) != len(names) for each in listed):
            raise InvalidCandidatesError("groups", Shown(describe(groups)), expected)
        different = (list(dict.fromkeys(part)) for part in zip(*listed, strict=True))
        parts = [PublicCandidates.given(part, argument="groups") for part in different]
        for part in parts:
            if part.kind is CandidateKind.NUMBER:
                known = "whole numbers, text, dates or booleans in each column"
                hint = "Numbers with a point are no names of groups: round them, or give the groups as text."
                raise InvalidCandidatesError("groups", Shown(f"<{part.kind}>"), known, hint)
            if part.kind is CandidateKind.TEXT and any(BETWEEN_PARTS in str(each) for each in part.values):
                raise InvalidCandidatesError("groups", Shown("<text>"), "text without the control character U+001F")
        if len(set(listed)) < len(listed):
            raise InvalidCandidatesError("groups", Shown(f"<{len(listed):,} groups>"), "groups without duplicates")
        return cls(tuple(names), tuple(parts), tuple(listed))


_NAMES = "the name of a column, or a list of 2 to 4 different names"

BETWEEN_PARTS = "\x1f"
"""Between the values of a cross table in one text. No public group has it, so no other row is taken for one."""


def _is_tuple(value: object) -> bool:
    return isinstance(value, tuple | list)


@dataclass(frozen=True, slots=True)
class PublicGroups:
    """The groups of a question that is asked for each group.

    Attributes:
        members: the public list; rows of other groups are left out.
        max_per_unit: the maximum number of groups one unit takes part in, chosen at random among its own.
        by: name of the column with the group of each row, or the names of several.
    """

    by: str | tuple[str, ...]
    members: PublicCandidates | PublicPairs
    max_per_unit: int

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else self.by

    @property
    def column(self) -> str:
        """What sentences call the column, or several."""
        return " and ".join(self.columns)

    @property
    def listed(self) -> tuple[PublicCandidates, ...]:
        """The values in each column."""
        return self.members.listed if isinstance(self.members, PublicPairs) else (self.members,)

    @classmethod
    def given(cls, by: object, groups: object, max_groups_per_unit: object) -> PublicGroups:
        """The groups given by the caller, by the rules of candidates; a unit is in at most as many as there are.

        >>> PublicGroups.given("city", ["Oslo", "Rome"], 1).members
        PublicCandidates(<2 text>)
        >>> PublicGroups.given(["city", "sex"], [("Oslo", "f"), ("Oslo", "m")], 1).column
        'city and sex'
        """
        if _is_tuple(by):
            members: PublicCandidates | PublicPairs = PublicPairs.given(by, groups)
            by = members.columns
        elif isinstance(by, str):
            members = PublicCandidates.given(groups, argument="groups")
        else:
            raise InvalidParameterError("by", by, "the name of the column with the group of each row, as text")
        if len(members) > MOST_GROUPS:
            raise InvalidParameterError("groups", Shown(f"<{len(members):,} groups>"), f"at most {MOST_GROUPS:,}")
        n, what = len(members), "the number of groups"
        most = positive_count(max_groups_per_unit, "max_groups_per_unit", at_most=n, at_most_what=what)
        return cls(by, members, most)

    def check_size(self, candidates: int) -> None:
        """Refuse more counts than fit into memory: one for each candidate in each group."""
        if len(self.members) * candidates > MOST_CANDIDATES:
            got = Shown(f"<{len(self.members):,} groups of {candidates:,} candidates>")
            raise InvalidParameterError("groups", got, f"at most {MOST_CANDIDATES:,} candidates in all groups together")

    def share(self, epsilon: object) -> float:
        """The epsilon of the question in one group if all groups together cost `epsilon`.

        Proof: ``proofs/groups.md``.

        >>> PublicGroups.given("city", ["Oslo", "Rome"], 2).share(1.0)
        0.5
        """
        part = quotient_down(positive_epsilon(epsilon), self.max_per_unit)
        if part == 0.0:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough to be divided among the groups")
        return part

    def share_of_delta(self, delta: object) -> float:
        """The same of a delta."""
        return quotient_down(delta_below_one(delta), self.max_per_unit)

    def description(self) -> dict[str, Any]:
        """The groups in a certificate."""
        held = {"count": len(self.members), "kind": str(self.members.kind)}
        return {"column": self.column, **held, "max_per_unit": self.max_per_unit}
