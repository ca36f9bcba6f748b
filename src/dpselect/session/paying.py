"""Who pays for a reply: with an account, each question is looked up, read, charged, drawn and stored, in this order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.accounting import Run
from dpselect.certificates.release import Release, certified, identity_text
from dpselect.checks import one_of
from dpselect.errors import AnswerLostError, AnswerNotStoredWarning, InvalidParameterError, SelectionError, typed
from dpselect.mechanisms.seeding import refuse_seeded, seeded_draws
from dpselect.privacy import Times
from dpselect.rows.table import ColumnRows
from dpselect.summaries.scans import ordered

if TYPE_CHECKING:
    from dpselect.ledger import Ledger, Receipt
    from dpselect.questions.query import Query


@dataclass(frozen=True, kw_only=True)
class TableQuestion:
    """A planned question about a table, with all that is needed to answer it.

    Attributes:
        rows: what it reads: of a table, `ColumnRows`; else a function that gives the summaries.
        origin: where the table is, for a ledger.
        format: the words of the declared format that differ from the default, if any do.
        named: what certificates say of the table: a label, which makes no other question of it.
    """

    asked: Query
    rows: Any
    unit: str
    column: str
    request: str | None
    origin: str = ""
    format: Mapping[str, Any] | None = None
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def run(self) -> Run:
        """The run that a ledger records for it."""
        terms = self.asked.terms
        relation = terms.sensitivity.neighbours
        return Run(event=self.asked.event, mechanism=terms.mechanism, neighbours=relation, unit=self.unit)

    @cached_property
    def text(self) -> str:
        """The question in public words, for a ledger."""
        return identity_text(self.asked.words, unit=self.unit, source=self.origin, format=self.format)


class Spending:
    """Answers questions; if there is an account, each answer is charged before it is drawn."""

    __slots__ = ("_ledger", "_times", "account")

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None, times: Times | str = Times.DAY) -> None:
        if (ledger is None) != (account is None):
            missing = "ledger" if ledger is None else "account"
            raise InvalidParameterError(missing, None, "a ledger together with one of its accounts")
        self._ledger: Ledger | None = None
        if ledger is not None:
            from dpselect.ledger import Ledger  # brings a database with it

            self._ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.account = "" if account is None else account
        self._times = Times(one_of(times, "times", Times))

    def ledger_for(self, request: str | None) -> Ledger | None:
        """The ledger; a request requires one."""
        if self._ledger is None and request is not None:
            raise InvalidParameterError("request", typed(request), "a ledger and an account together with it")
        return self._ledger

    def answer(self, asked: TableQuestion) -> Release:
        """The answer: charged, drawn and stored, or the stored one for the request."""
        return self.answers([asked])[0]

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answers(self, questions: Sequence[TableQuestion]) -> list[Release]:
        """The answers to all questions, in order; the account is charged only if all of them fit together.

        All rows are read and all certificates written, without their answers, before the first charge: what cannot be
        read or written should cost nothing. The time is taken before anything is read, so it reveals nothing about the
        rows. If all have a request, all are charged in one transaction; otherwise one after another. Each is drawn and
        stored before the next is drawn. An interrupt after a charge gets a note that names the last entry.
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

    def _answers(self, questions: Sequence[TableQuestion]) -> list[Release]:
        time = public_time(datetime.now(UTC), self._times)
        for each in questions:
            self.ledger_for(each.request)
        if self._ledger is not None:
            refuse_seeded()
        seeded_before = seeded_draws()
        looked = self._looked(questions)
        known = [None if each is None or each.release is None else _read_back(each.release) for each in looked]
        new = [place for place, release in enumerate(known) if release is None]
        read = gathered([questions[place] for place in new], in_order=seeded_before[0])
        drafts: list[_Draft] = []
        for place, found in zip(new, read, strict=True):
            asked, ahead = questions[place], looked[place]
            # Charged before a crash, on the day on which it was asked.
            since = time if ahead is None else datetime.fromisoformat(ahead.time)
            undrawn = certified(asked.asked, column=asked.column, unit=asked.unit, time=since)
            undrawn = replace(undrawn, format=asked.format, source=dict(asked.named) or None)
            drafts.append(_Draft(asked, found, undrawn, undrawn.question_hash(), seeded_before))
        if len(questions) > 1:
            self._looked(questions)  # reading may have taken long, and others charge meanwhile
            if self._ledger is not None and all(each.asked.request is not None for each in drafts):
                charges = [
                    (each.asked.run, str(each.asked.request), each.asked.text, each.certificate, each.undrawn.time)
                    for each in drafts
                ]
                self._ledger.charge_ahead(self.account, charges)
        answers = (self._answer(draft) for draft in drafts)
        return [next(answers) if release is None else release for release in known]

    def _looked(self, questions: Sequence[TableQuestion]) -> list[Receipt | None]:
        """What the ledger has of each. Raises what charging all others together would raise now."""
        if self._ledger is None:
            return [None] * len(questions)
        asked = [(each.run, each.request, each.text) for each in questions]
        return self._ledger.look(self.account, asked)

    def _answer(self, draft: _Draft) -> Release:
        """Charge, draw and store, in this order; or return what is stored for the request by now."""
        asked, ledger = draft.asked, self._ledger
        if ledger is None:
            return _drawn(draft)
        about: dict[str, Any] = {"question": asked.text, "certificate": draft.certificate}
        receipt = ledger.charge(self.account, asked.run, request=asked.request, time=draft.undrawn.time, **about)
        if receipt.release is not None:
            return _read_back(receipt.release)
        try:
            release = replace(_drawn(draft), receipt=receipt.to_dict())
            if asked.request is None:
                return release
            return _read_back(ledger.store_release(receipt, release.to_json()))
        except Exception as error:
            if isinstance(error, (SelectionError, AnswerNotStoredWarning)):
                raise _lost(receipt, str(error)) from error
            # Nor is it the cause: a traceback shows its text, which may quote a row.
            raise _lost(receipt, f"An unexpected {type(error).__name__}; please report it.") from None


@dataclass(frozen=True, slots=True, repr=False)
class _Draft:
    """A question whose rows are read, its certificate without the answer, the hash of this, and `seeded_draws` then."""

    asked: TableQuestion
    found: list[list[Any]]
    undrawn: Release
    certificate: str
    seeded_before: tuple[bool, int]


def gathered(questions: Sequence[TableQuestion], *, in_order: bool = False) -> list[list[list[Any]]]:
    """What is found of the rows for the questions, of each scan and group: in one pass, if all are about one table.

    What engines find in any order is put `in_order` where draws have to be repeatable. Proof: ``proofs/one_pass.md``.
    """
    shared = [each.rows for each in questions if isinstance(each.rows, ColumnRows)]
    if len(questions) > 1 and (len(shared) < len(questions) or len({id(each.rows.table) for each in shared}) > 1):
        return [found for each in questions for found in gathered([each], in_order=in_order)]
    if not shared:
        return [[each.rows()] for each in questions]
    table, progress = shared[0].rows.table, shared[0].rows.progress
    scans = [[each.rows.statement(scan, each.asked.groups) for scan in each.asked.scans] for each in questions]
    summaries = iter(table.answers([each for asked in scans for each in asked], progress))
    found = [[next(summaries) for _ in asked] for asked in scans]
    return [[list(map(ordered, each)) for each in of_one] for of_one in found] if in_order else found


def _drawn(draft: _Draft) -> Release:
    """The answer, marked if this thread was in a seeded block at any draw since the question was asked."""
    release = draft.undrawn.answered(draft.asked.asked.released(draft.found))
    return replace(release, seeded=draft.seeded_before[0] or seeded_draws() != draft.seeded_before)


def _read_back(stored: str) -> Release:
    from dpselect.certificates.checking import released  # brings what a check computes

    return released(stored)[0]


def public_time(moment: datetime, times: Times = Times.DAY) -> datetime:
    """The start, in UTC, of the day or the hour in which `moment` lies."""
    hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour.replace(hour=0) if times is Times.DAY else hour


def _lost(receipt: Receipt, why: str) -> AnswerLostError:
    return AnswerLostError(receipt.account, receipt.sequence, why)
