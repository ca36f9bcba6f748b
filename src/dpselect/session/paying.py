"""Who pays for a reply: with an account, each question is looked up, read, charged, drawn and stored, in this order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpselect.accounting import Run
from dpselect.certificates.release import Release, certified
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, InvalidParameterError, SelectionError, typed
from dpselect.mechanisms.seeding import refuse_seeded, seeded_draws
from dpselect.public_time import Times, public_time, times_shown
from dpselect.questions.words import identity_text
from dpselect.session.shared_passes import read_all

if TYPE_CHECKING:
    from dpselect.formats import Format
    from dpselect.ledger import Ledger, Receipt
    from dpselect.questions.query import Query
    from dpselect.questions.question import Priced
    from dpselect.rows.table import Table
    from dpselect.session.rows import ColumnRows

Gathered = TypeVar("Gathered")
Reply = TypeVar("Reply", covariant=True)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What certificates and ledgers say of a table.

    Attributes:
        unit: the column that says whose a row is.
        column: the column asked about.
        origin: where the table is, for a ledger.
        format: how its cells are written, if that was declared.
        named: what certificates say of the table: a label, which makes no other question of it.
    """

    unit: str
    column: str
    origin: str = ""
    format: Format | None = None
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def format_words(self) -> Mapping[str, Any] | None:
        """The words of the format that differ from the default; None: none do."""
        return None if self.format is None else self.format.words or None


@dataclass(frozen=True, kw_only=True)
class TableQuestion(Generic[Gathered]):
    """A planned question about a table, with all that is needed to answer it.

    Attributes:
        asked: what is asked.
        gather: reads the rows and returns the summary that the question needs.
        table: what is said of the table.
        request: id of the request, or None.
        rows: the rows that `gather` reads, if they can be read in one pass with those of other questions.
    """

    asked: Query
    gather: Callable[[], Gathered]
    table: TableFacts
    request: str | None
    rows: ColumnRows | None = None

    @property
    def question(self) -> Priced[Gathered]:
        """The question as it will be answered."""
        return self.asked.priced

    @cached_property
    def run(self) -> Run:
        """The run that a ledger records for it."""
        terms = self.question.terms
        relation = terms.sensitivity.neighbours
        event = self.question.event
        return Run(event=event, mechanism=terms.mechanism, neighbours=relation, unit=self.table.unit)

    @cached_property
    def text(self) -> str:
        """The question in public words, for a ledger."""
        table = self.table
        return identity_text(self.asked.words, unit=table.unit, source=table.origin, format=table.format_words)


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
        self._ledger: Ledger | None = None
        if ledger is not None:
            from dpselect.ledger import Ledger  # brings a database with it

            self._ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.account = "" if account is None else account

    @abstractmethod
    def answer(self, asked: TableQuestion[Any]) -> Reply:
        """The reply to the question."""

    def ledger_for(self, request: str | None) -> Ledger | None:
        """The ledger; a request requires one."""
        if self._ledger is None and request is not None:
            raise InvalidParameterError("request", typed(request), "a ledger and an account together with it")
        return self._ledger


class Collecting(Payer[TableQuestion[Any]]):
    """Answers nothing: returns each question as it was planned."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None)

    def answer(self, asked: TableQuestion[Any]) -> TableQuestion[Any]:
        """The question itself."""
        return asked


class Spending(Payer[Release]):
    """Answers questions; if there is an account, each answer is charged before it is drawn."""

    __slots__ = ("_times",)

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None, times: Times | str = Times.DAY) -> None:
        super().__init__(ledger, account)
        self._times = times_shown(times)

    def answer(self, asked: TableQuestion[Any]) -> Release:
        """The answer: charged, drawn and stored, or the stored one for the request.

        Raises:
            AnswerLostError: something failed after the charge. The error names the entry.

        Warns:
            AnswerNotStoredWarning: the answer could not be stored.
        """
        return self.answers([asked])[0]

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answers(self, questions: Sequence[TableQuestion[Any]]) -> list[Release]:
        """The answers to all questions, in order; the account is charged only if all of them fit together.

        All rows are read and all certificates written, without their answers, before the first charge. Reading comes
        before charging, because a file that cannot be read should cost nothing, but after checking the account. The
        certificate also comes before the charge: an answer that cannot be written would be paid for and lost. Its time
        is taken before anything is read, so it reveals nothing about the rows.

        If all have a request, all are charged in one transaction; otherwise one after another. Then each is drawn and
        stored before the next is drawn: a crash can cost at most the question in progress, and those with a request are
        free when they are asked again. An interrupt after a charge gets a note that names the last entry.
        """
        before = None if self._ledger is None else self._ledger.last_charge
        try:
            return self._answers(questions)
        except BaseException as error:
            if not isinstance(error, Exception) and self._ledger is not None and not hasattr(error, "__notes__"):
                last = self._ledger.last_charge
                if last is not None and last is not before:
                    error.add_note(str(_lost(last, "It was interrupted.")))
            raise

    def _answers(self, questions: Sequence[TableQuestion[Any]]) -> list[Release]:
        time = public_time(datetime.now(UTC), self._times)
        for each in questions:
            self.ledger_for(each.request)
        if self._ledger is not None:
            refuse_seeded()
        _, seeded_before = seeded_draws()
        looked = self._looked(questions)
        known = [None if each is None or each.release is None else Release.from_json(each.release) for each in looked]
        new = [place for place, release in enumerate(known) if release is None]
        gathered = _gathered([questions[place] for place in new])
        drafts: list[_Draft] = []
        for place, values in zip(new, gathered, strict=True):
            ahead = looked[place]  # charged before a crash, on the day on which it was asked
            since = time if ahead is None else datetime.fromisoformat(ahead.time)
            drafts.append(_draft(questions[place], values, time=since, seeded=seeded_before))
        if len(questions) > 1:
            self._looked(questions)  # reading may have taken long, and others charge meanwhile
            self._charge_ahead(drafts)
        answers = (self._answer(draft) for draft in drafts)
        return [next(answers) if release is None else release for release in known]

    def _charge_ahead(self, drafts: Sequence[_Draft]) -> None:
        """Charge all questions in one transaction, if an interruption could then find what was charged."""
        if self._ledger is None or any(each.asked.request is None for each in drafts):
            return
        self._ledger.charge_ahead(
            self.account,
            [
                (each.asked.run, str(each.asked.request), each.asked.text, each.certificate, each.undrawn.time)
                for each in drafts
            ],
        )

    def _looked(self, questions: Sequence[TableQuestion[Any]]) -> list[Receipt | None]:
        """What the ledger has of each. Raises what charging all others together would raise now."""
        if self._ledger is None:
            return [None] * len(questions)
        asked = [(each.run, each.request, each.text) for each in questions]
        return self._ledger.look_at_all(self.account, asked)

    def _answer(self, draft: _Draft) -> Release:
        """Charge, draw and store, in this order; or return what is stored for the request by now."""
        charges: list[Receipt] = []
        try:
            return self._answered(draft, charges)
        except Exception as error:
            if not charges:
                raise
            foreseen = isinstance(error, (SelectionError, AnswerNotStoredWarning))
            why = str(error) if foreseen else f"An unexpected {type(error).__name__}; please report it."
            raise _lost(charges[0], why) from error

    def _answered(self, draft: _Draft, charges: list[Receipt]) -> Release:
        """`charges` gets the receipt before the draw, so that any later failure can name it."""
        asked, ledger = draft.asked, self._ledger
        if ledger is None:
            return _drawn(draft)
        receipt = ledger.charge(
            self.account,
            asked.run,
            request=asked.request,
            question=asked.text,
            certificate=draft.certificate,
            time=draft.undrawn.time,
        )
        if receipt.release is not None:
            return Release.from_json(receipt.release)
        charges.append(receipt)
        release = replace(_drawn(draft), receipt=receipt.to_dict())
        if asked.request is None:
            return release
        return Release.from_json(ledger.store_release(receipt, release.to_json()))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question whose rows are read, with its certificate without the answer, and the hash of this.

    `seeded_before` is the number of draws in seeded blocks that this thread had made before it.
    """

    asked: TableQuestion[Any]
    values: Any
    undrawn: Release
    certificate: str
    seeded_before: int


def _gathered(questions: Sequence[TableQuestion[Any]]) -> list[Any]:
    """The summaries of the questions, from one pass over the rows if possible."""
    shared = [each.rows for each in questions if each.rows is not None]
    table = shared[0].rows.table if len(shared) == len(questions) > 1 else None
    if table is None or any(each.rows.table is not table for each in shared):
        return [each.gather() for each in questions]
    readers = [partial(_read_from, each.question, rows) for each, rows in zip(questions, shared, strict=True)]
    return read_all(readers, table, progress=shared[0].rows.progress)


def _read_from(question: Priced[Any], rows: ColumnRows, table: Table) -> Any:
    return question.read(rows.over(table))


def _draft(asked: TableQuestion[Any], values: Any, *, time: datetime, seeded: int) -> _Draft:
    """Write the certificate without its answer, once the rows are read."""
    table = asked.table
    undrawn = certified(asked.asked, column=table.column, unit=table.unit, time=time)
    undrawn = replace(undrawn, format=table.format_words, source=dict(table.named) or None)
    return _Draft(asked, values, undrawn, undrawn.question_hash(), seeded)


def _drawn(draft: _Draft) -> Release:
    """The answer, marked if this thread was in a seeded block at any draw since the question was asked."""
    began_seeded, _ = seeded_draws()
    release = draft.undrawn.answered(draft.asked.question.released(draft.values))
    return replace(release, seeded=began_seeded or seeded_draws() != (False, draft.seeded_before))


def _lost(receipt: Receipt, why: str) -> AnswerLostError:
    return AnswerLostError(receipt.account, receipt.sequence, why)
