"""What all questions have in common: whose rows they are about, who pays, and which data sets are compared."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from dpselect.ledger.question import Question
from dpselect.privacy import Neighbours
from dpselect.release import Release
from dpselect.session.rows import Rows
from dpselect.session.spending import Spending
from dpselect.tasks import Task

Summary = TypeVar("Summary")


class Asking:
    """Each family of questions is a class below this one, and a `dpselect.Dataset` is all of them.

    A question is a method of three steps: it checks its arguments, plans a task, and has it answered by `_answer`.
    """

    __slots__ = ("_neighbours", "_rows", "_spending")

    _neighbours: Neighbours
    _rows: Rows
    _spending: Spending

    def _answer(self, task: Task[Summary], column: str, gather: Callable[[], Summary], request: str | None) -> Release:
        """The answer to `task`, by what `gather` reads of the rows; charged before it is drawn."""
        self._rows.check(column)  # a column that is not there is refused before anything is charged
        source = os.path.realpath(self._rows.source)
        asked = Question(task.terms.task, source, self._rows.unit, column, task.question)
        return self._spending.answer(task, gather, asked, request)
