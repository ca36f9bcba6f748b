"""The order of steps: ask the account, read, charge, draw, store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from dpselect.accounting import Run
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger import Ledger
from dpselect.ledger.question import Question
from dpselect.mechanisms import PendingSelection
from dpselect.release import Release
from dpselect.tasks import Task

Gathered = TypeVar("Gathered")
Reply = TypeVar("Reply", covariant=True)


class Payer(ABC, Generic[Reply]):
    """Knows which account pays, if there is one, and what to do with a question.

    Raises:
        InvalidParameterError: only one of `ledger` and `account`.
    """

    __slots__ = ("_ledger", "account")

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None) -> None:
        if (ledger is None) != (account is None):
            missing = "ledger" if ledger is None else "account"
            raise InvalidParameterError(missing, None, "a ledger together with one of its accounts")
        self._ledger = ledger if isinstance(ledger, Ledger) or ledger is None else Ledger(ledger)
        self.account = "" if account is None else account

    @abstractmethod
    def answer(
        self, task: Task[Gathered], gather: Callable[[], Gathered], asked: Question, request: str | None
    ) -> Reply:
        """Whatever becomes of the question."""

    def ledger_for(self, request: str | None) -> Ledger | None:
        """The ledger, which a request needs."""
        if self._ledger is None and request is not None:
            raise InvalidParameterError("request", Shown(repr(request)), "a ledger and an account beside it")
        return self._ledger


class Spending(Payer[Release]):
    """Answers questions, each of them charged to an account before it is drawn, if there is one."""

    __slots__ = ()

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answer(
        self, task: Task[Gathered], gather: Callable[[], Gathered], asked: Question, request: str | None
    ) -> Release:
        """Read, charge, draw and store, in this order; or return what is stored for the request.

        Reading comes first, as a file that cannot be read should cost nothing; but not before the account was asked.
        """
        column, unit = asked.column, asked.unit
        run, ledger = run_of(task, asked), self.ledger_for(request)
        if ledger is None:
            with _held(gather()) as values:
                release = task.release(values, column=column, unit=unit, time=_now())
            return replace(release, event=run.event)
        question = "" if request is None else asked.text
        known = ledger.look(self.account, run, request=request, question=question)
        if known is not None and known.release is not None:
            return Release.from_json(known.release)
        with _held(gather()) as values:
            receipt = ledger.charge(self.account, run, request=request, question=question)
            if receipt.release is not None:
                return Release.from_json(receipt.release)
            drawn = task.release(values, column=column, unit=unit, time=_now())
        release = replace(drawn, event=run.event, receipt=receipt.to_dict())
        if request is None:
            return release
        return Release.from_json(ledger.store_release(receipt, release.to_json()))


@contextmanager
def _held(values: Gathered) -> Generator[Gathered]:
    """What was gathered; in the end, let go of by the engine that keeps it, if one does."""
    try:
        yield values
    finally:
        if isinstance(values, PendingSelection):
            values.close()


def run_of(task: Task[Any], asked: Question) -> Run:
    """What a ledger is told of a question."""
    terms = task.terms
    relation = terms.sensitivity.neighbours
    return Run(event=task.event, mechanism=terms.mechanism, neighbours=relation, unit=asked.unit)


def _now() -> datetime:
    return datetime.now(UTC)
