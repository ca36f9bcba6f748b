"""One question asked for each of several groups, at one cost for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from dpselect.accounting import ComposedEvent, Event
from dpselect.accounting.rounding import product_up
from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Question
from dpselect.questions.question import Answered, Drawn, Group, Priced, RowReader, Terms, Value

if TYPE_CHECKING:
    from dpselect.summaries import PublicGroups

Summary = TypeVar("Summary")


@dataclass(frozen=True, kw_only=True)
class Grouped(Priced[list[Summary]], Generic[Summary]):
    """The same question for each group. A unit takes part in few groups and does not affect the answers of the others.

    So all groups together cost as much as the maximum number of groups a unit is in: `max_per_unit` times one group.

    Attributes:
        question: the question, at the cost of one group.
        groups: the public list of groups.
        epsilon: privacy loss of the whole release.
    """

    question: Question
    groups: PublicGroups
    epsilon: float

    @classmethod
    def planned(cls, question: Question, groups: PublicGroups, *, epsilon: float) -> Grouped[Summary]:
        """`question`, planned at ``groups.share(epsilon)``, asked of each of the groups.

        Raises:
            InvalidParameterError: `question` guarantees another relation than add/remove.
        """
        neighbours = question.terms.sensitivity.neighbours
        if neighbours is not Neighbours.ADD_REMOVE:
            hint = "A replaced unit may leave groups and join others, which would cost twice as much."
            raise InvalidParameterError("by", Shown(repr(groups.column)), "neighbours='add_remove' with groups", hint)
        return cls(question=question, groups=groups, epsilon=positive_epsilon(epsilon))

    @property
    def event(self) -> Event:
        """What one release costs, for accounting; to be charged before `draw` is called.

        Proof: ``proofs/groups.md``.
        """
        if self.groups.max_per_unit == 1:
            return self.question.event
        return ComposedEvent(event=self.question.event, count=self.groups.max_per_unit)

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; the error bound holds in each group."""
        of_one = self.question.terms
        return replace(
            of_one,
            epsilon=self.epsilon,
            delta=product_up(of_one.delta, self.groups.max_per_unit),
            proofs=(*of_one.proofs, "proofs/groups.md"),
            groups={**self.groups.description(), "epsilon": of_one.epsilon},
        )

    @property
    def of_one(self) -> Question:
        """The question of one group."""
        return self.question

    @property
    def nothing_drawn(self) -> Answered:
        """The groups, without their answers."""
        members = self.groups.members
        return {members[place]: cast(Value, None) for place in range(len(members))}

    def read(self, rows: RowReader, /) -> list[Summary]:
        """The summary of each group."""
        return self.question.summaries(rows, self.groups)

    def count_units(self, rows: RowReader, summary: list[Summary], /) -> list[int]:
        """How many units the question could use in each group."""
        return self.question.usable_units(rows, self.groups, summary)

    def released(self, summary: list[Summary], /) -> Drawn:
        """See `Priced.released`."""
        if len(summary) != len(self.groups.members):
            raise InvalidParameterError("summary", summary, "a summary for each group of the question")
        answers: dict[Group, Value | list[Value]] = {}
        usable: list[int] = []
        counted: list[int] = []
        for place, each in enumerate(summary):
            drawn = self.question.released(each)
            assert not isinstance(drawn.answer, dict)
            answers[self.groups.members[place]] = drawn.answer
            usable += drawn.usable or []
            counted += drawn.counted or []
        has_counts = self.question.terms.counted is not None
        return Drawn(answers, usable or None, counted if has_counts else None)
