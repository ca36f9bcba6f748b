"""How a question is asked: its rows, its account, and the order: check the account, read, charge, draw, store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, TypeVar

import numpy as np

from dpselect.accounting import Run
from dpselect.arguments import decimal_fraction, finite_bounds
from dpselect.backends.columns import check_numeric
from dpselect.certificates.release import Release, draft
from dpselect.errors import (
    AnswerLostError,
    AnswerNotStoredWarning,
    InvalidCandidatesError,
    InvalidParameterError,
    SelectionError,
    Shown,
)
from dpselect.ledger import Ledger, Receipt
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.mechanisms import PendingSelection
from dpselect.mechanisms.noisy_order import left_for_selection
from dpselect.mechanisms.seeding import refuse_seeded, seeded_draws
from dpselect.privacy import Neighbours
from dpselect.public_time import Times, public_time, times_shown
from dpselect.questions import Grouped, Question, WithCounts
from dpselect.questions.moments import FINE_STEPS
from dpselect.questions.question import Priced
from dpselect.questions.with_numbers import CountedSummary, with_usable
from dpselect.session.rows import Rows
from dpselect.summaries import DistantCandidates, PublicCandidates, PublicGroups

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

    def _ask(
        self,
        column: str | None,
        planned: Callable[..., Question[Any]],
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
        part = left_for_selection(epsilon) if is_paid else epsilon
        if groups is not None:
            question = Grouped[Any].planned(question, groups, epsilon=part)
            self._rows.check(groups.column, argument="by")
            self._rows.check_compared(groups.members, argument="groups")
        if is_paid:
            question = WithCounts[Any].planned(question, epsilon=part)
        question = with_usable(question, usable_epsilon)
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
        return self._spending.answer(question, lambda: question.read(rows), identity, request)

    def _candidates(
        self, given: object, groups: PublicGroups | None, *, allow_many: bool, counted: bool = False
    ) -> PublicCandidates | DistantCandidates:
        """The public candidates: listed locally, or in a frame of the table's own engine, where they are only drawn."""
        public = self._rows.candidates(given, allow_many=allow_many)
        if (groups is not None or counted) and isinstance(public, DistantCandidates):
            asked = "groups" if groups is not None else "counts and max_values_per_unit"
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

    def _fine_step(self, column: str, bounds: object, step: object) -> object:
        """The distance between the numbers that values are rounded to, where the answer need not be one of them."""
        if step is not None:
            return step
        lower, upper = finite_bounds(bounds)
        return 1 if self._is_whole(column, bounds) else (upper - lower) / FINE_STEPS

    def _is_whole(self, column: str, bounds: object) -> bool:
        """Whether the column's type and the bounds are of whole numbers."""
        ends, found = finite_bounds(bounds), self._rows.check(column)
        check_numeric(found)  # else a column of text would be refused for its step
        return found.is_whole and all(end.denominator == 1 and abs(end) < _WHOLE for end in ends)

    def _smallest_step(self, column: str, lower: object, step: float | None) -> float:
        """The smallest distance between possible answers without an upper bound: 1 where the type says so."""
        if step is not None:
            return step
        first, found = decimal_fraction(lower, "lower", expected="a finite number"), self._rows.check(column)
        check_numeric(found)
        if found.is_whole and first.denominator == 1 and abs(first) < _WHOLE:
            return 1
        raise InvalidParameterError("step", None, "the smallest distance between possible answers", _SMALLEST_STEP)

    def _check_step(self, step: float | None, continuous: object) -> None:
        if type(continuous) is not bool:
            raise InvalidParameterError("continuous", continuous, "True or False")
        if step is not None and continuous:
            raise InvalidParameterError("continuous", True, "False, because a step is given")


def rows_of(asked: Asking) -> Rows:
    """The rows that questions are asked of, for what else looks at them."""
    return asked._rows  # pyright: ignore[reportPrivateUsage] - of this module
