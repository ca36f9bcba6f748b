"""The public list of groups for a question, and the number of groups a unit may take part in."""

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
    """The groups of a question that is asked for each group.

    Attributes:
        column: name of the column with the group of each row.
        members: the public list; rows of other groups are left out.
        max_per_unit: the maximum number of groups one unit takes part in, chosen at random among its own.
    """

    column: str
    members: PublicCandidates
    max_per_unit: int

    @classmethod
    def given(cls, by: object, groups: object, max_groups_per_unit: object) -> PublicGroups:
        """The groups given by the caller.

        Raises:
            InvalidCandidatesError: `groups` is not a valid public list; the rules are those of candidates.
            InvalidParameterError: `by` is no name, or `max_groups_per_unit` is not a whole number from 1 to the
                number of groups.

        >>> PublicGroups.given("city", ["Oslo", "Rome"], 1).members
        PublicCandidates(<2 text>)
        """
        if not isinstance(by, str):
            raise InvalidParameterError("by", by, "the name of the column with the group of each row, as text")
        members = PublicCandidates.given(groups, argument="groups")
        if len(members) > MOST_GROUPS:
            raise InvalidParameterError("groups", Shown(f"<{len(members):,} groups>"), f"at most {MOST_GROUPS:,}")
        most = positive_count(
            max_groups_per_unit, "max_groups_per_unit", at_most=len(members), at_most_what="the number of groups"
        )
        return cls(by, members, most)

    def check_size(self, candidates: int) -> None:
        """Refuse more counts than fit into memory: one for each candidate in each group."""
        if len(self.members) * candidates > MOST_CANDIDATES:
            got = Shown(f"<{len(self.members):,} groups of {candidates:,} candidates>")
            raise InvalidParameterError("groups", got, f"at most {MOST_CANDIDATES:,} candidates in all groups together")

    def share(self, epsilon: object) -> float:
        """The epsilon of the question in one group if all groups together cost `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or is too small to be divided.

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
        """The arguments that distinguish this question from others."""
        return {"by": self.column, "groups": self.members.values, "max_groups_per_unit": self.max_per_unit}

    def description(self) -> dict[str, Any]:
        """The groups in a certificate."""
        held = {"count": len(self.members), "kind": str(self.members.kind)}
        return {"column": self.column, **held, "max_per_unit": self.max_per_unit}
