"""The public list of groups that one question is asked of, and in how many of them a unit may take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.accounting.rounding import quotient_down
from dpselect.arguments import delta_below_one, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError, Shown
from dpselect.summaries.candidates import MOST_CANDIDATES, PublicCandidates

MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True)
class PublicGroups:
    """Which rows belong together, for a question that is asked of each group.

    Attributes:
        column: name of the column that says which group a row belongs to.
        members: the public list; rows of none of them take no part.
        max_per_unit: in how many groups one unit takes part at most; in so many of its own, chosen at random.
    """

    column: str
    members: PublicCandidates
    max_per_unit: int

    @classmethod
    def given(cls, by: object, groups: object, max_groups_per_unit: object) -> PublicGroups | None:
        """The groups as the caller gave them; None: all rows are one.

        Raises:
            InvalidCandidatesError: `groups` are not a public list, as candidates are.
            InvalidParameterError: only one of `by` and `groups`; or `max_groups_per_unit` is not a whole number from 1
                to the number of groups.

        >>> PublicGroups.given("city", ["Oslo", "Rome"], 1).members
        PublicCandidates(<2 text>)
        """
        if by is None:
            if groups is not None:
                raise InvalidParameterError("by", None, "the column that says which of the groups a row belongs to")
            if positive_count(max_groups_per_unit, "max_groups_per_unit") > 1:
                raise InvalidParameterError("by", None, "a column of groups, as max_groups_per_unit is given")
            return None
        if not isinstance(by, str):
            raise InvalidParameterError("by", by, "the name of a column, as text")
        members = PublicCandidates.given(groups, argument="groups", allow_many=True)  # too many are refused below
        if len(members) > MOST_GROUPS:
            raise InvalidParameterError("groups", Shown(f"<{len(members):,} groups>"), f"at most {MOST_GROUPS:,}")
        most = positive_count(
            max_groups_per_unit, "max_groups_per_unit", at_most=len(members), at_most_what="the number of groups"
        )
        return cls(by, members, most)

    def check_size(self, candidates: int) -> None:
        """Refuse more counts than a machine has room for: one for each candidate in each group."""
        if len(self.members) * candidates > MOST_CANDIDATES:
            got = Shown(f"<{len(self.members):,} groups of {candidates:,} candidates>")
            raise InvalidParameterError("groups", got, f"at most {MOST_CANDIDATES:,} candidates in all groups together")

    def share(self, epsilon: object) -> float:
        """What the question may cost in one group if all of them together cost `epsilon`.

        Raises:
            InvalidParameterError: not a finite number > 0, or too small to be divided.

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

    @property
    def question(self) -> dict[str, Any]:
        """What tells this question from others."""
        return {"by": self.column, "groups": self.members.values, "max_groups_per_unit": self.max_per_unit}

    def description(self) -> dict[str, Any]:
        """What a certificate says of the groups."""
        held = {"count": len(self.members), "kind": str(self.members.kind)}
        return {"column": self.column, **held, "max_per_unit": self.max_per_unit}
