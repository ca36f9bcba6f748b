"""A question as it is asked: of which rows and in which groups, with which numbers of units, for which guarantee.

Its words are what a certificate holds. The same words, asked again without any row, have the same cost and the same
claims, which is how a certificate is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from dpselect import mechanisms, questions
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, arguments_of
from dpselect.checks import positive_epsilon
from dpselect.privacy import Neighbours
from dpselect.questions.declared import BY_NAME, Columns, Question, named
from dpselect.questions.question import ROW_CONDITIONS, Priced
from dpselect.questions.words import Words, canonical_json, members, number_written, read, written, wrong
from dpselect.summaries import CandidateKind, PublicCandidates, PublicGroups, candidate_kind
from dpselect.summaries.candidates import ends_of

_LISTS = ("list", "dates", "values", "prices")
_OF_VIEWS = tuple(
    each for each in (*OF_EVERY_QUESTION, *OF_VIEWS) if each.name in ("usable_epsilon", "max_groups_per_unit")
)


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question with all that decides its cost and its claims.

    Attributes:
        question: the question, of checked arguments.
        alone: the question of one group with all that decides its cost.
        priced: it as it will be answered: in each of the groups, with counts and a number of usable units.
        groups: the groups; None: all rows together.
        where: the conditions on rows, in words.
        usable_epsilon: the epsilon for a number of usable units; None: none is asked for.
        facts: what had to be known of the columns' types.
    """

    question: Question
    alone: Question
    priced: Priced[Any]
    groups: PublicGroups | None = None
    where: Sequence[Words] = ()
    usable_epsilon: float | None = None
    facts: Mapping[str, Any]

    @classmethod
    def planned(
        cls,
        question: Question,
        columns: Columns | None,
        *,
        neighbours: Neighbours,
        groups: PublicGroups | None = None,
        where: Sequence[Words] = (),
        usable_epsilon: float | None = None,
    ) -> Query:
        """The question, planned before any row is read. Without `columns`, one that asks nothing about them.

        Raises:
            SelectionError: there is no such question.
        """
        if usable_epsilon is not None:
            question.check_usable(usable_epsilon)
            usable_epsilon = positive_epsilon(usable_epsilon, "usable_epsilon")
        noted = _Noted(cast("Columns", columns))
        part = question if groups is None else _in_one(question, groups)
        alone = part.known(noted, neighbours)
        terms = alone.terms  # which refuses what is out of range
        is_paid = getattr(question, "with_counts", False) and terms.counted is None
        epsilon = mechanisms.left_for_selection(question.epsilon) if is_paid else question.epsilon
        priced: Priced[Any] = (
            alone if groups is None else questions.Grouped[Any].planned(alone, groups, epsilon=epsilon)
        )
        if is_paid:
            priced = questions.WithCounts[Any].planned(priced, epsilon=epsilon)
        if usable_epsilon is not None:
            priced = questions.WithUsable[Any].planned(priced, usable_epsilon=usable_epsilon)
        more: dict[str, Any] = {"groups": groups, "where": where, "usable_epsilon": usable_epsilon}
        return cls(question=question, alone=alone, priced=priced, facts=noted.facts, **more)

    @cached_property
    def words(self) -> Words:
        """What was asked, the same however it was written."""
        question = self.question
        given = {each: getattr(question, each.name) for each in arguments_of(type(question))}
        lists = question.lists(self.alone)
        found = {
            each.name: lists[each.name] if each.kind in _LISTS else written(value, each.kind)
            for each, value in given.items()
            if value is not None
        }
        if self.usable_epsilon is not None:
            found["usable_epsilon"] = number_written(self.usable_epsilon)
        return {"ask": question.name, **found, **self._view}

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages that prove its answer; conditions on rows need one more."""
        return (*self.priced.terms.pages, *([ROW_CONDITIONS] if self.where else []))

    @property
    def _view(self) -> Words:
        where: Words = {"where": [*self.where]} if self.where else {}
        groups = self.groups
        if groups is None:
            return where
        return {
            **where,
            "by": groups.by if isinstance(groups.by, str) else [*groups.by],
            "groups": groups.members.words(),
            "max_groups_per_unit": groups.max_per_unit,
        }

    @classmethod
    def again(
        cls, words: Words, *, neighbours: Neighbours, facts: Mapping[str, Any], groups: Sequence[Any] | None
    ) -> Query:
        """The question that a certificate describes, without a table.

        Args:
            words: what was asked.
            neighbours: which tables the guarantee compares.
            facts: what is stated of the columns' types.
            groups: the names of the groups, which the answer has; `words` may state no more than their hash.

        Raises:
            InvalidCertificateError: the words describe no question, or are not those that it would be written in.
            SelectionError: there is no such question.
        """
        kind = named(words.get("ask"))
        if kind is None:
            raise wrong("question.ask", f"one of {', '.join(BY_NAME)}")
        rest = {name: value for name, value in words.items() if name not in ("ask", "where", "by", "groups")}
        given = read(rest, (*arguments_of(kind), *_OF_VIEWS))
        usable, most = (given.pop(each.name, each.default) for each in _OF_VIEWS)
        asked = cls.planned(
            kind(**given),
            _Stated(facts),
            neighbours=neighbours,
            groups=None if groups is None else PublicGroups.given(words.get("by"), groups, most),
            where=_conditions(words.get("where")),
            usable_epsilon=usable,
        )
        for name in sorted({*words, *asked.words}):
            if words.get(name) != asked.words.get(name) or (name in words) != (name in asked.words):
                raise wrong(f"question.{name}", "what such a question is written as")
        if asked.facts != facts:
            raise wrong("facts", "what such a question has to know of the columns, and no more")
        return asked


def _in_one(question: Question, groups: PublicGroups) -> Question:
    """The question of one of the groups, with its share of epsilon and delta."""
    shares: dict[str, Any] = {"epsilon": groups.share(question.epsilon)}
    delta: Any = getattr(question, "delta", None)
    if delta is not None:
        shares["delta"] = groups.share_of_delta(delta)
    return replace(question, **shares)


class _Noted:
    """The columns of a table, with a note of all that was asked about their types."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self.facts = columns, dict[str, Any]()

    def is_whole(self, column: str, /) -> bool:
        self.facts["is_whole"] = found = self._columns.is_whole(column)
        return found

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        found = self._columns.name_kind(column, given)
        if given is None:
            self.facts["kind"] = str(found)
        return found

    def listed(self, given: object, /) -> PublicCandidates:
        return self._columns.listed(given)

    def check_compared(self, members: PublicCandidates, /, *, argument: str = "candidates") -> None:
        self._columns.check_compared(members, argument=argument)


class _Stated:
    """The columns of a table as a certificate states them."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts

    def is_whole(self, column: str, /) -> bool:
        found = self._facts.get("is_whole")
        if not isinstance(found, bool):
            raise wrong("facts.is_whole", "whether the column's type is one of whole numbers")
        return found

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        if given is not None:
            return candidate_kind(given)
        found = self._facts.get("kind")
        if found not in [*CandidateKind]:
            raise wrong("facts.kind", f"one of {', '.join(CandidateKind)}")
        return CandidateKind(found)

    def listed(self, given: object, /) -> PublicCandidates:
        return PublicCandidates.given(given)

    def check_compared(self, members: PublicCandidates, /, *, argument: str = "candidates") -> None:
        pass  # the table was asked


def _conditions(held: object) -> list[Words]:
    """The conditions on rows, each of one column: two ends or a list."""
    if held is None:
        return []
    if not isinstance(held, list) or not held:
        raise wrong("question.where", "a list of conditions")
    return [_condition(each) for each in cast("list[object]", held)]


def _condition(held: object) -> Words:
    about: Words = cast("Words", held) if isinstance(held, dict) else {}
    ends: object = about.get("between")
    if not about.get("column"):
        raise wrong("question.where", "conditions, each of a column")
    if set(about) == {"column", "values"} and isinstance(about["column"], str):
        listed = PublicCandidates.given(members(about["values"], "question.where"))
        if listed.words(whole=True) == about["values"]:
            return about
    elif set(about) == {"column", "between"} and isinstance(about["column"], str) and isinstance(ends, list):
        pair = cast("list[object]", ends)
        known = [each for each in pair if each is not None]
        if len(pair) == 2 and known and all(type(each) in (int, float) for each in known):
            first, last = ends_of((pair[0], pair[1]))
            if canonical_json({"": [first, last]}) == canonical_json({"": pair}):
                return about
    raise wrong("question.where", "conditions, each of a column: two ends, at most one of them null, or values")
