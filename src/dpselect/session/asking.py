"""How a question is asked: its arguments, its rows and its plan. `paying` answers it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dpselect import mechanisms, questions
from dpselect.arguments import boolean, decimal_fraction, finite_bounds
from dpselect.backends.columns import check_numeric
from dpselect.errors import OTHER_WORDS, InvalidCandidatesError, InvalidParameterError, Shown, did_you_mean
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.privacy import Neighbours
from dpselect.questions.question import Priced
from dpselect.session.paying import Payer, TableQuestion
from dpselect.session.rows import Rows
from dpselect.summaries import DistantCandidates, PublicCandidates, PublicGroups

_STEP = (
    "It is 1 for ages in years, 0.01 for amounts in cents. With continuous=True the answer is any number between the"
    " bounds; it can be far off if values repeat."
)
_SMALLEST_STEP = "It is 1 for ages in years, 0.01 for amounts in cents."
_NO_QUESTIONS = frozenset({"candidate_kinds"})
"""Public methods that are for programs, such as the command line."""

_WHOLE = 2**52
"""Below it, a step of 1 is one that doubles distinguish."""


class QuestionsFirst(type):
    """A class whose completion shows its questions, and no other public name; the others can be used all the same."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in _NO_QUESTIONS]


class Asking(metaclass=QuestionsFirst):
    """The families of questions are subclasses of this one, and a `dpselect.Dataset` inherits from all.

    A question is a method of two steps: it reads its public arguments, and lets `_ask` plan the question and answer it.
    The type of the reply is the payer's: a `dpselect.Release`, or the `Forecast` of a `dpselect.DryRun`.
    """

    __slots__ = ("_neighbours", "_rows", "_spending")

    _neighbours: Neighbours
    _rows: Rows
    _spending: Payer[Any]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let Python call each question by the class that people know: ``Dataset.median() got an unexpected ...``."""
        super().__init_subclass__(**options)
        for name, method in vars(cls).items():
            if isinstance(method, FunctionType) and not name.startswith("_"):
                method.__qualname__ = f"Dataset.{name}"

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _NO_QUESTIONS]

    if not TYPE_CHECKING:  # to whom every name would be known

        def __getattr__(self, name: str) -> Any:
            known = [] if name.startswith("_") else [each for each in dir(self) if not each.startswith("_")]
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            hint = did_you_mean(name, known, said=OTHER_WORDS)
            raise AttributeError(f"{text}. {hint}" if hint else text, obj=self)  # Python guesses, too, if it has a name

    def _ask(
        self,
        column: str | None,
        planned: Callable[..., questions.Question[Any]],
        epsilon: float,
        groups: PublicGroups | None,
        request: str | None,
        usable_epsilon: float | None,
        with_counts: bool = False,
    ) -> Any:
        """The answer to the question that `planned` makes for an epsilon, for each of the `groups` if there are any.

        With `with_counts` the question is planned so that counts come with it, or for the part of epsilon that the
        counts leave to it.
        """
        question: Priced[Any]
        if groups is None:
            question = planned(epsilon=epsilon, neighbours=self._neighbours)
        else:
            question = planned(epsilon=groups.share(epsilon), neighbours=self._neighbours)
        is_paid = with_counts and question.terms.counted is None
        part = mechanisms.left_for_selection(epsilon) if is_paid else epsilon
        if groups is not None:
            question = questions.Grouped[Any].planned(question, groups, epsilon=part)
            self._rows.check(groups.column, argument="by")
            self._rows.check_compared(groups.members, argument="groups")
        if is_paid:
            question = questions.WithCounts[Any].planned(question, epsilon=part)
        question = questions.with_usable(question, usable_epsilon)
        rows = self._rows.of(column)  # a column that is not there is refused before anything is charged
        format = {} if self._rows.format is None else self._rows.format.words
        identity = QuestionIdentity(
            question.terms.task,
            self._rows.origin,
            self._rows.unit,
            rows.column.name,
            question.identity,
            format=format,
            named=self._rows.named,
        )
        asked = TableQuestion(
            question=question, gather=lambda: question.read(rows), rows=rows, identity=identity, request=request
        )
        return self._spending.answer(asked)

    def _candidates(
        self, given: object, groups: PublicGroups | None, *, allow_many: bool, counted: bool = False
    ) -> PublicCandidates | DistantCandidates:
        """The public candidates: listed locally, or in a frame of the table's own engine, where they are only drawn."""
        public = self._rows.candidates(given, allow_many=allow_many)
        if (groups is not None or counted) and isinstance(public, DistantCandidates):
            asked = "groups" if groups is not None else "counts, gaps, weights, a set and max_values_per_unit"
            hint = f"Ask without {asked}, or give a list that is short enough to be fetched."
            got = Shown(f"<{len(public):,} {public.kind}>")
            raise InvalidCandidatesError("candidates", got, "a local list", hint)
        return public

    def _step(self, column: str, bounds: object, step: float | None, continuous: bool) -> float | None:
        """The distance between possible answers; None if the caller asked for all numbers between the bounds.

        Neither is the default, except where a type says it: of repeated values, a draw among all numbers is most often
        in the widest gap between them, which says nothing about the rows.
        """
        self._check_step(step, continuous)
        if step is not None or continuous:
            return step
        if self._is_whole(column, bounds):
            return 1
        raise InvalidParameterError("step", None, "the distance between possible answers, or continuous=True", _STEP)

    def _fine_step(self, column: str, bounds: object, step: object, *, lower: object) -> object:
        """The distance between the numbers that values are rounded to, where the answer need not be one of them."""
        if lower is not None:
            raise InvalidParameterError("lower", lower, "None, because the bounds are given")
        if step is not None:
            return step
        lower, upper = finite_bounds(bounds)
        return 1 if self._is_whole(column, bounds) else (upper - lower) / questions.FINE_STEPS

    def _is_whole(self, column: str, bounds: object) -> bool:
        """Whether the column's type and the bounds are of whole numbers."""
        ends, found = finite_bounds(bounds), self._rows.check(column)
        check_numeric(found)  # else a column of text would be refused for its step
        return found.is_whole and all(end.denominator == 1 and abs(end) < _WHOLE for end in ends)

    def _smallest_step(self, column: str, lower: object, step: float | None) -> float:
        """The smallest distance between possible answers without an upper bound: 1 where the type says so."""
        whole = self._whole_step(column, lower) if step is None else step
        if whole is not None:
            return whole
        raise InvalidParameterError("step", None, "the smallest distance between possible answers", _SMALLEST_STEP)

    def _first_bound(self, column: str, lower: Any, step: Any) -> dict[str, Any]:
        """The lower bound of a moment, and the distance of the smallest possible upper one from it."""
        first = 0.0 if lower is None else lower
        return {"lower": first, "step": self._whole_step(column, first) if step is None else step}

    def _whole_step(self, column: str, lower: object) -> float | None:
        """1 if the column's type and the lower bound are of whole numbers."""
        first, found = decimal_fraction(lower, "lower", expected="a finite number"), self._rows.check(column)
        check_numeric(found)
        return 1 if found.is_whole and first.denominator == 1 and abs(first) < _WHOLE else None

    def _check_step(self, step: float | None, continuous: object) -> None:
        if boolean(continuous, "continuous") and step is not None:
            raise InvalidParameterError("continuous", True, "False, because a step is given")


def rows_of(asked: Asking) -> Rows:
    """The rows that questions are asked of, for what else looks at them."""
    return asked._rows  # pyright: ignore[reportPrivateUsage] - of this module


def neighbours_of(asked: Asking) -> Neighbours:
    """Which tables the guarantees of its answers compare."""
    return asked._neighbours  # pyright: ignore[reportPrivateUsage] - of this module
