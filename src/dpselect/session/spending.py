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
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, InvalidParameterError, SelectionError, Shown
from dpselect.ledger import Ledger, Receipt
from dpselect.ledger.question import Question
from dpselect.mechanisms import PendingSelection
from dpselect.public_time import Times, public_time, times_shown
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

    __slots__ = ("_times",)

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None, times: Times | str = Times.DAY) -> None:
        super().__init__(ledger, account)
        self._times = times_shown(times)

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answer(
        self, task: Task[Gathered], gather: Callable[[], Gathered], asked: Question, request: str | None
    ) -> Release:
        """The answer, charged, drawn and stored; or the one that is stored for the request.

        Raises:
            AnswerLostError: something failed after the charge. It names the entry.

        Warns:
            AnswerNotStoredWarning: the answer could not be stored.
        """
        charges: list[Receipt] = []
        try:
            return self._answered(task, gather, asked, request, charges)
        except BaseException as error:
            if not charges:
                raise
            if not isinstance(error, Exception):
                error.add_note(str(_lost(charges[0], "It was interrupted.")))
                raise
            foreseen = isinstance(error, (SelectionError, AnswerNotStoredWarning))
            why = str(error) if foreseen else f"An unforeseen {type(error).__name__}; please report it."
            raise _lost(charges[0], why) from error

    def _answered(
        self,
        task: Task[Gathered],
        gather: Callable[[], Gathered],
        asked: Question,
        request: str | None,
        charges: list[Receipt],
    ) -> Release:
        """Read, write the certificate but for the answer, charge, draw and store, in this order.

        Or return what is stored for the request. Reading comes before the charge, as a file that cannot be read should
        cost nothing; but not before the account was asked. So does the certificate: an answer that could not be written
        down would be paid for and lost. Its time is that before anything was read, which tells nothing of the rows.

        `charges` gets the receipt before the draw, so that whatever fails from then on can name it.
        """
        time = public_time(datetime.now(UTC), self._times)
        run, ledger = run_of(task, asked), self.ledger_for(request)
        question = "" if ledger is None else asked.text
        if ledger is not None:
            known = ledger.look(self.account, run, request=request, question=question)
            if known is not None and known.release is not None:
                return Release.from_json(known.release)
        with _held(gather()) as values:
            draft = replace(task.draft(values, column=asked.column, unit=asked.unit, time=time), event=run.event)
            certificate = draft.question_hash()
            if ledger is None:
                return replace(draft, value=task.draw(values))
            receipt = ledger.charge(
                self.account, run, request=request, question=question, certificate=certificate, time=time
            )
            if receipt.release is not None:
                return Release.from_json(receipt.release)
            charges.append(receipt)
            release = replace(draft, value=task.draw(values), receipt=receipt.to_dict())
        if request is None:
            return release
        return Release.from_json(ledger.store_release(receipt, release.to_json()))


def _lost(receipt: Receipt, why: str) -> AnswerLostError:
    return AnswerLostError(receipt.account, receipt.sequence, why)


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
