"""How a question is asked of a table: its rows, its groups and its plan. `paying` answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from dpselect.errors import OTHER_WORDS, InvalidParameterError, did_you_mean, typed
from dpselect.privacy import Neighbours
from dpselect.questions.query import Query
from dpselect.questions.question import Question
from dpselect.session.paying import Payer, TableQuestion
from dpselect.session.rows import Rows
from dpselect.summaries import CandidateKind, PublicGroups

_NO_QUESTIONS = frozenset({"candidate_kinds"})
"""Public methods that are for programs, such as the command line."""


class QuestionsFirst(type):
    """A class whose completion shows its questions, and no other public name; the others can be used all the same."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in _NO_QUESTIONS]


class Asking(metaclass=QuestionsFirst):
    """A table, for those who may see nothing but private answers about it.

    A subclass has a method for each question; the type of the reply is the payer's: a `dpselect.Release`, or the
    `Forecast` of a `dpselect.DryRun`.
    """

    __slots__ = ("_groups", "_neighbours", "_rows", "_spending")

    _groups: PublicGroups | None
    _neighbours: Neighbours
    _rows: Rows
    _spending: Payer[Any] | None

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _NO_QUESTIONS]

    if not TYPE_CHECKING:  # to whom every name would be known

        def __getattr__(self, name: str) -> Any:
            known = [] if name.startswith("_") else [each for each in dir(self) if not each.startswith("_")]
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            hint = did_you_mean(name, known, said=OTHER_WORDS)
            raise AttributeError(f"{text}. {hint}" if hint else text, obj=self)  # Python guesses, too, if it has a name

    def by(self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1) -> Any:
        """The same table, of which every question is answered for each of several groups.

        Together the answers of a question cost its `epsilon`, and the value of its release is a dictionary with an
        answer for each group. A unit with rows in more groups takes part in as many as `max_groups_per_unit` says, at
        random, and each group is asked with `epsilon` divided by this number.

        Args:
            by: name of the column with the group of each row; or names of 2 to 4 columns, for a cross table.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
                Of a cross table, tuples with a value for each column.
            max_groups_per_unit: in how many groups one unit takes part. The error grows with it.

        Raises:
            InvalidCandidatesError: the groups are no such list.
            InvalidDataError: there is no such column, or groups of this kind cannot match it.
            InvalidParameterError: another argument is invalid.

        Proof: ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> graduates = people.by("education_num", groups=[13, 14])
        >>> [*graduates.median("age", bounds=(0, 120), step=1, epsilon=1.0).value]
        [13, 14]
        """
        if self._groups is not None:
            raise InvalidParameterError("by", typed(by), "a table that is not asked by groups already")
        found = PublicGroups.given(by, groups, max_groups_per_unit)
        for name, listed in zip(found.columns, found.listed, strict=True):
            self._rows.check(name, argument="by")
            self._rows.check_compared(listed, argument="groups")
        return self._seen(GroupedQuestions, _groups=found)

    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """The same table, of which only those rows are looked at that meet public conditions.

        Each row is judged by itself, before contributions are bounded, so it does not change who is protected. The
        conditions are part of the certificate. Several views nest: a row has to meet all conditions.

        Args:
            conditions: conditions on columns whose names are no names in Python.
            named: for a column either the two ends of an interval, both included, as a tuple, one of which may be None:
                ``age=(18, None)``; or a list of values, given like candidates: ``region=["north", "south"]``. Of dates
                both ends are needed. Public: never chosen by looking at the rows.

        Raises:
            InvalidCandidatesError: the values are no such list.
            InvalidDataError: there is no such column, or its type cannot meet the condition.
            InvalidParameterError: there is no condition, or it is not one of these.

        Proof: ``proofs/row_conditions.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> old = people.where(age=(65, None), education_num=[13, 14, 15, 16])
        >>> abs(old.count(epsilon=1.0).value - 317) < 30  # 317 in truth
        True
        """
        if conditions is not None and not isinstance(cast(object, conditions), Mapping):
            raise InvalidParameterError("where", typed(conditions), "a condition for each column: age=(18, 65)")
        both = {**({} if conditions is None else conditions), **named}
        return self._seen(type(self), _rows=self._rows.filtered(both))

    def _seen(self, view: type[Any], **changes: Any) -> Any:
        """The same table, seen in another way."""
        seen = object.__new__(view)
        for slot in (name for each in view.__mro__ for name in getattr(each, "__slots__", ())):
            object.__setattr__(seen, slot, changes[slot] if slot in changes else getattr(self, slot))
        return seen

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that the type of `column` can match; empty if there is no type, as in CSV.

        Raises:
            InvalidDataError: no such column.
        """
        return self._rows.candidate_kinds(column)

    def _answer(self, question: Question, usable_epsilon: float | None, request: str | None) -> Any:
        """The reply to a question: the question as it will be asked, if there is nobody to answer it."""
        planned = self._planned(question, usable_epsilon, request)
        return planned if self._spending is None else self._spending.answer(planned)

    def _planned(self, question: Question, usable_epsilon: float | None, request: str | None) -> TableQuestion:
        """The question as it will be asked of the rows."""
        asked = Query.planned(
            question,
            self._rows,
            neighbours=self._neighbours,
            groups=self._groups,
            where=[each.words for each in self._rows.conditions],
            usable_epsilon=usable_epsilon,
        )
        table = self._rows
        rows = table.of(question.column)  # a column that is not there is refused before anything is charged
        about: dict[str, Any] = {"origin": table.origin, "format": table.format, "named": table.named}
        return TableQuestion(
            asked=asked, rows=rows, unit=table.unit, column=rows.column.shown, request=request, **about
        )


class GroupedQuestions(Asking):
    """The questions of a table, answered for each of several groups: see `dpselect.Dataset.by`."""

    __slots__ = ()


def rows_of(asked: Asking) -> Rows:
    """The rows that questions are asked of, for what else looks at them."""
    return asked._rows  # pyright: ignore[reportPrivateUsage] - of this module


def groups_of(asked: Asking) -> PublicGroups | None:
    """The groups that it is asked by."""
    return asked._groups  # pyright: ignore[reportPrivateUsage] - of this module


def neighbours_of(asked: Asking) -> Neighbours:
    """Which tables the guarantees of its answers compare."""
    return asked._neighbours  # pyright: ignore[reportPrivateUsage] - of this module
