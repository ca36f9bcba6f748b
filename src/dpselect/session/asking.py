"""The base of all questions: the rows they are about, the account they charge, and the neighbouring relation."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Generic, TypeVar

from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.privacy import Neighbours
from dpselect.questions import Grouped, Question
from dpselect.questions.question import Priced
from dpselect.session.rows import Rows
from dpselect.session.spending import Payer, Reply
from dpselect.summaries import PublicGroups

Summary = TypeVar("Summary")


class Asking(Generic[Reply]):
    """Each family of questions is a subclass of this one, and a `dpselect.Dataset` inherits from all of them.

    A question is a method of three steps: it checks its arguments, plans a question, and has it answered by `_answer`
    or, if it supports groups, by `_answer_each`.
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

    def _answer(
        self, question: Priced[Summary], column: str, gather: Callable[[], list[Summary]], request: str | None
    ) -> Reply:
        """The answer to `question`, from the summary of the rows that `gather` makes; charged before it is drawn."""

        def only() -> Summary:
            (summary,) = gather()
            return summary

        return self._spending.answer(question, only, self._identity(question, column), request)

    def _answer_each(
        self,
        plan: Callable[[float], Question[Summary]],
        column: str,
        gather: Callable[[PublicGroups | None], list[Summary]],
        *,
        epsilon: float,
        groups: PublicGroups | None,
        request: str | None,
    ) -> Reply:
        """The answer to the question that `plan` makes for an epsilon, for each of the `groups` if there are any."""
        if groups is None:
            return self._answer(plan(epsilon), column, lambda: gather(None), request)
        question = Grouped[Summary].planned(plan(groups.share(epsilon)), groups, epsilon=epsilon)
        self._rows.check(groups.column, argument="by")
        return self._spending.answer(question, lambda: gather(groups), self._identity(question, column), request)

    def _identity(self, question: Priced[Summary], column: str) -> QuestionIdentity:
        self._rows.check(column)  # a column that is not there is refused before anything is charged
        return QuestionIdentity(question.terms.task, self._rows.origin, self._rows.unit, column, question.identity)
