"""The order of steps: check the account, read, charge, draw, store."""

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
from dpselect.certificates.release import Release, draft
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, InvalidParameterError, SelectionError, Shown
from dpselect.ledger import Ledger, Receipt
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.mechanisms import PendingSelection
from dpselect.mechanisms.seeding import refuse_seeded, seeded_draws
from dpselect.public_time import Times, public_time, times_shown
from dpselect.questions.question import Priced
from dpselect.questions.with_numbers import CountedSummary

Gathered = TypeVar("Gathered")
Reply = TypeVar("Reply", covariant=True)


class Payer(ABC, Generic[Reply]):
    """Holds the account to charge, if there is one, and runs a question.

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
        self,
        question: Priced[Gathered],
        gather: Callable[[], Gathered],
        identity: QuestionIdentity,
        request: str | None,
    ) -> Reply:
        """The reply to the question."""

    def ledger_for(self, request: str | None) -> Ledger | None:
        """The ledger; a request requires one."""
        if self._ledger is None and request is not None:
            raise InvalidParameterError("request", Shown(repr(request)), "a ledger and an account together with it")
        return self._ledger


class Spending(Payer[Release]):
    """Answers questions; if there is an account, each answer is charged before it is drawn."""

    __slots__ = ("_times",)

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None, times: Times | str = Times.DAY) -> None:
        super().__init__(ledger, account)
        self._times = times_shown(times)

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answer(
        self,
        question: Priced[Gathered],
        gather: Callable[[], Gathered],
        identity: QuestionIdentity,
        request: str | None,
    ) -> Release:
        """The answer: charged, drawn and stored, or the stored one for the request.

        Raises:
            AnswerLostError: something failed after the charge. The error names the entry.

        Warns:
            AnswerNotStoredWarning: the answer could not be stored.
        """
        charges: list[Receipt] = []
        try:
            return self._answered(question, gather, identity, request, charges)
        except BaseException as error:
            if not charges:
                raise
            if not isinstance(error, Exception):
                error.add_note(str(_lost(charges[0], "It was interrupted.")))
                raise
            foreseen = isinstance(error, (SelectionError, AnswerNotStoredWarning))
            why = str(error) if foreseen else f"An unexpected {type(error).__name__}; please report it."
            raise _lost(charges[0], why) from error

    def _answered(
        self,
        question: Priced[Gathered],
        gather: Callable[[], Gathered],
        identity: QuestionIdentity,
        request: str | None,
        charges: list[Receipt],
    ) -> Release:
        """Read, write the certificate without the answer, charge, draw and store, in this order.

        Or return what is stored for the request. Reading comes before the charge, because a file that cannot be read
        should cost nothing, but after checking the account. The certificate also comes before the charge: an answer
        that cannot be written would be paid for and lost. Its time is taken before anything is read, so it reveals
        nothing about the rows.

        `charges` gets the receipt before the draw, so that any later failure can name it.
        """
        time = public_time(datetime.now(UTC), self._times)
        run, ledger = run_of(question, identity), self.ledger_for(request)
        text = "" if ledger is None else identity.text
        if ledger is not None:
            refuse_seeded()
        _, seeded_before = seeded_draws()
        if ledger is not None:
            known = ledger.look(self.account, run, request=request, question=text)
            if known is not None and known.release is not None:
                return Release.from_json(known.release)
        with _held(gather()) as values:
            undrawn = draft(question, values, column=identity.column, unit=identity.unit, time=time)
            about = {"format": dict(identity.format) or None, "source": dict(identity.named) or None}
            undrawn = replace(undrawn, event=run.event, **about)
            certificate = undrawn.question_hash()
            if ledger is None:
                return _drawn(undrawn, question, values, seeded_before)
            receipt = ledger.charge(
                self.account, run, request=request, question=text, certificate=certificate, time=time
            )
            if receipt.release is not None:
                return Release.from_json(receipt.release)
            charges.append(receipt)
            release = replace(_drawn(undrawn, question, values, seeded_before), receipt=receipt.to_dict())
        if request is None:
            return release
        return Release.from_json(ledger.store_release(receipt, release.to_json()))


def _drawn(undrawn: Release, question: Priced[Gathered], values: Gathered, seeded_before: int) -> Release:
    """The answer, marked if this thread was in a seeded block at any draw since it had made `seeded_before` of them."""
    began_seeded, _ = seeded_draws()
    release = undrawn.answered(question.released(values))
    return replace(release, seeded=began_seeded or seeded_draws() != (False, seeded_before))


def _lost(receipt: Receipt, why: str) -> AnswerLostError:
    return AnswerLostError(receipt.account, receipt.sequence, why)


@contextmanager
def _held(values: Gathered) -> Generator[Gathered]:
    """The gathered summary. If it is kept in an engine, it is released at the end."""
    try:
        yield values
    finally:
        if isinstance(values, PendingSelection | CountedSummary):
            values.close()


def run_of(question: Priced[Any], identity: QuestionIdentity) -> Run:
    """The run that a ledger records for a question."""
    terms = question.terms
    relation = terms.sensitivity.neighbours
    return Run(event=question.event, mechanism=terms.mechanism, neighbours=relation, unit=identity.unit)
