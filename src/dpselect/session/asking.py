"""The base of all questions: the rows they are about, the account they charge, and the neighbouring relation."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.privacy import Neighbours
from dpselect.questions import Grouped, Question
from dpselect.questions.question import Priced
from dpselect.session.rows import Rows
from dpselect.session.spending import Payer, Reply
from dpselect.summaries import DistantCandidates, PublicCandidates, PublicGroups


class Asking(Generic[Reply]):
    """The two families of questions are subclasses of this one, and a `dpselect.Dataset` inherits from both.

    A question is a method of two steps: it reads its public arguments, and lets `_ask` plan the question and answer it.
    """

    __slots__ = ("_neighbours", "_rows", "_spending")

    def __init_subclass__(cls) -> None:
        """Let Python's own errors about missing arguments name the class that users know."""
        super().__init_subclass__()
        if Asking in cls.__bases__:
            for name, method in vars(cls).items():
                if isinstance(method, FunctionType) and not name.startswith("_"):
                    method.__qualname__ = f"Dataset.{name}"

    _neighbours: Neighbours
    _rows: Rows
    _spending: Payer[Reply]

    def _ask(
        self,
        column: str,
        planned: Callable[..., Question[Any]],
        epsilon: float,
        groups: PublicGroups | None,
        request: str | None,
    ) -> Reply:
        """The answer to the question that `planned` makes for an epsilon, for each of the `groups` if there are any."""
        question: Priced[Any]
        if groups is None:
            question = planned(epsilon=epsilon, neighbours=self._neighbours)
        else:
            of_one = planned(epsilon=groups.share(epsilon), neighbours=self._neighbours)
            question = Grouped[Any].planned(of_one, groups, epsilon=epsilon)
            self._rows.check(groups.column, argument="by")
        rows = self._rows.of(column)  # a column that is not there is refused before anything is charged
        identity = QuestionIdentity(question.terms.task, self._rows.origin, self._rows.unit, column, question.identity)
        return self._spending.answer(question, lambda: question.read(rows), identity, request)

    def _candidates(
        self, given: object, groups: PublicGroups | None, *, allow_many: bool
    ) -> PublicCandidates | DistantCandidates:
        """The public candidates: listed locally, or without groups in a frame of the table's own engine."""
        public = self._rows.candidates(given, allow_many=allow_many)
        if groups is not None and isinstance(public, DistantCandidates):
            hint = "Ask without groups, or give a list that is short enough to be fetched."
            got = Shown(f"<{len(public):,} {public.kind}>")
            raise InvalidCandidatesError("candidates", got, "a local list", hint)
        return public
