"""Answers questions, or says their cost: each is looked up, read, charged, drawn and stored, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import errors
from dpselect.accounting import Run
from dpselect.certificates.release import Release, canonical_json, claims, identity_text
from dpselect.checks import one_of
from dpselect.mechanisms.seeding import refuse_seeded, seeded_draws
from dpselect.privacy import Times, as_text
from dpselect.questions.wording import Worded, html_table
from dpselect.summaries.scans import ordered

if TYPE_CHECKING:
    from dpselect.ledger import Account, Ledger, Receipt
    from dpselect.questions.query import Query


@dataclass(frozen=True, kw_only=True)
class TableQuestion:
    """A planned question about a table, with all that is needed to answer it."""

    asked: Query
    lookups: Sequence[Any]  # what is asked of the rows, one for each of the scans
    read: Callable[[Sequence[Any]], list[list[Any]]]  # gives their summaries: `Rows.answers`, or of arrays
    unit: str
    column: str
    request: str | None
    origin: str = ""  # where the table is, for a ledger
    format: Mapping[str, Any] | None = None  # the words of the declared format that differ from the default
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])  # in certificates: makes no other question of it

    @cached_property
    def run(self) -> Run:
        """The run that a ledger records for it."""
        asked = self.asked.terms
        return Run(event=asked.event, mechanism=asked.mechanism, neighbours=asked.neighbours, unit=self.unit)

    @cached_property
    def text(self) -> str:
        """The question in public words, for a ledger."""
        return identity_text(self.asked.words, unit=self.unit, source=self.origin, format=self.format)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Worded):
    """What the certificate of an answer would contain, except the answer; its fields are those of a `Release`.

    Attributes:
        account: name of the account that would be charged; None without a ledger.
        left: the epsilon left in this account.
        answered_on: the day on which the answer was asked that is stored under the request, or empty.
        refused: why the account would refuse the charge, or of a plan all of its charges together; or empty.

    >>> import dpselect as dps
    >>> dps.DryRun(unit="person_id").median("age", bounds=(0, 120), step=1, epsilon=0.5).error_bound < 19
    True
    """

    account: str | None = None
    left: float | None = None
    answered_on: str = ""
    refused: str = ""

    @property
    def is_answered(self) -> bool | None:
        """Whether the answer is stored already, and would cost nothing."""
        return None if self.account is None else bool(self.answered_on)

    @property
    def fits(self) -> bool | None:
        """Whether the account would accept the charge; None without an account."""
        return None if self.account is None else not self.refused

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None or self.left is None:
            return "Nothing would be charged to a ledger; the costs of releases on the same data add up."
        if self.answered_on:
            return f"Answered before under this request: account {self.account} would be charged nothing."
        if self.refused:
            return f"Refused: {self.refused}"
        from dpselect.ledger.accounts import epsilon_left

        return f"Account {self.account} would accept it: it has {epsilon_left(self.left)} left."

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values: what `to_json` writes."""
        return {
            "arguments": {},
            "groups": None,
            **claims(self),
            "account": self.account,
            "left": self.left,
            "is_answered": self.is_answered,
            "fits": self.fits,
        }

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return canonical_json(self.to_dict())

    def _repr_html_(self) -> str:
        about = [("question", self.asks), ("epsilon", self.cost())]
        about += [("delta", as_text(self.delta))] if self.delta else []
        about.append(("mechanism", self.mechanism))
        said = self.promise, *self.sentences, self.basis_missing, self.charge
        return html_table(("forecast", "not an answer"), about, *said)

    def __str__(self) -> str:
        last = f"To be drawn by {self.provenance}. {self.charge}"
        return "\n".join(filter(None, (self.promise, *self.sentences, self.basis_missing, last)))


class Spending:
    """Answers questions; if there is an account, each answer is charged before it is drawn."""

    __slots__ = ("_times", "account", "ledger")

    def __init__(self, ledger: Ledger | str | Path | None, account: str | None, times: Times | str = Times.DAY) -> None:
        if (ledger is None) != (account is None):
            missing = "ledger" if ledger is None else "account"
            raise errors.InvalidParameterError(missing, None, "a ledger together with one of its accounts")
        self.ledger: Ledger | None = None
        if ledger is not None:
            from dpselect.ledger import Ledger  # brings a database with it

            self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.account = "" if account is None else account
        self._times = Times(one_of(times, "times", Times))

    @property
    def held(self) -> Account | None:
        """What the account is at this moment; None: nothing is charged."""
        return None if self.ledger is None else self.ledger.account(self.account)

    def stored(self, questions: Sequence[TableQuestion]) -> tuple[list[str], str]:
        """The day of the stored answer of each, or an empty text; and why the account would refuse the others."""
        refused = ""
        try:
            self._look(questions)
        except errors.ChargeRefusedError as refusal:
            refused = refusal.what
        if self.ledger is None:
            return [""] * len(questions), ""
        under = [self.ledger.under(self.account, each.request) if each.request else [] for each in questions]
        kept = [next((entry.release for entry in found if entry.release), None) for found in under]
        return [_read_back(text).time.date().isoformat() if text else "" for text in kept], refused

    def forecasts(self, questions: Sequence[TableQuestion]) -> list[Forecast]:
        """What the answers would be charged, once the columns are checked; nothing is gathered or charged."""
        if self.ledger is not None and any(each.request is not None and not each.origin for each in questions):
            raise errors.InvalidParameterError("source", None, "the source of the Dataset, because a request is given")
        (stored, refused), account, told = self.stored(questions), self.held, dict[str, Any]()
        if account is not None:
            told |= {"account": account.name, "left": account.left, "refused": refused}
        return [
            Forecast(**each.asked.stated(column=each.column, unit=each.unit), answered_on=day, **told)
            for each, day in zip(questions, stored, strict=True)
        ]

    @np.errstate(all="ignore")  # or the caller's settings would make a failure of what one row holds
    def answers(self, questions: Sequence[TableQuestion]) -> list[Release]:
        """The answers to all questions, in order, or those stored for their requests; charged only if all fit together.

        All rows are read and all certificates written, without their answers, before the first charge: what cannot be
        read or written should cost nothing. The time is taken before anything is read, so it reveals nothing about the
        rows. If all that are new have a request, they are charged in one transaction; otherwise one after another. Each
        is drawn and stored before the next is drawn. An interrupt after a charge gets a note that names the last entry.
        """
        time, seeded_before = public_time(datetime.now(UTC), self._times), seeded_draws()
        if self.ledger is not None:
            refuse_seeded()
        before = None if self.ledger is None else self.ledger.last_charge
        try:
            looked = self._look(questions)
            known = [None if each is None or each.release is None else _read_back(each.release) for each in looked]
            new = [place for place, release in enumerate(known) if release is None]
            read = gathered([questions[place] for place in new], in_order=seeded_before[0])
            drafts = list[_Draft]()
            for place, found in zip(new, read, strict=True):
                asked, ahead = questions[place], looked[place]
                # Charged before a crash, on the day on which it was asked.
                since = time if ahead is None else datetime.fromisoformat(ahead.time)
                about: dict[str, Any] = asked.asked.stated(column=asked.column, unit=asked.unit)
                about |= {"time": since, "format": asked.format, "source": dict(asked.named) or None}
                undrawn: Release = Release(value=asked.asked.undrawn, **about)
                drafts.append(_Draft(asked, found, undrawn, "" if self.ledger is None else undrawn.question_hash()))
            if drafts and len(questions) > 1:
                if self.ledger is not None and all(each.asked.request is not None for each in drafts):
                    charges = [
                        (each.asked.run, str(each.asked.request), each.asked.text, each.certificate, each.undrawn.time)
                        for each in drafts
                    ]
                    self.ledger.charge_ahead(self.account, charges)
                else:  # reading may have taken long, and others charge meanwhile
                    self._look(questions)
            answers = (self._answer(draft, seeded_before) for draft in drafts)
            return [next(answers) if release is None else release for release in known]
        except BaseException as error:
            if not isinstance(error, Exception) and self.ledger is not None and not hasattr(error, "__notes__"):
                last = self.ledger.last_charge
                if last is not None and last is not before:
                    error.add_note(str(errors.AnswerLostError(last.account, last.sequence, "It was interrupted.")))
            raise

    def _look(self, questions: Sequence[TableQuestion]) -> list[Receipt | None]:
        """What the ledger has of each. Raises what charging all others together would raise now."""
        if self.ledger is not None:
            return self.ledger.look(self.account, [(each.run, each.request, each.text) for each in questions])
        for each in questions:
            if each.request is not None:
                expected = "a ledger and an account together with it"
                raise errors.InvalidParameterError("request", errors.typed(each.request), expected)
        return [None] * len(questions)

    def _answer(self, draft: _Draft, seeded: tuple[bool, int]) -> Release:
        """Charge, draw and store, in this order; or return what is stored for the request by now.

        `seeded` is what `seeded_draws` said when the question was asked.
        """
        asked, ledger, receipt = draft.asked, self.ledger, None
        if ledger is not None:
            about: dict[str, Any] = {"question": asked.text, "certificate": draft.certificate}
            receipt = ledger.charge(self.account, asked.run, request=asked.request, time=draft.undrawn.time, **about)
            if receipt.release is not None:
                return _read_back(receipt.release)
        try:
            release = draft.undrawn.answered(asked.asked.released(draft.found))
            # Marked if this thread was in a seeded block at any draw since the question was asked.
            release = replace(release, seeded=seeded[0] or seeded_draws() != seeded)
            if ledger is None or receipt is None:
                return release
            release = replace(release, receipt=receipt.to_dict())
            if asked.request is None:
                return release
            return _read_back(ledger.store_release(receipt, release.to_json()))
        except Exception as error:
            if receipt is None:
                raise
            # What is unexpected is not named as the cause: a traceback would show its text, which may quote a row.
            known = isinstance(error, (errors.SelectionError, errors.AnswerNotStoredWarning))
            why = str(error) if known else f"An unexpected {type(error).__name__}; please report it."
            raise errors.AnswerLostError(receipt.account, receipt.sequence, why) from error if known else None


@dataclass(frozen=True, slots=True, repr=False)
class _Draft:
    """A question, what is found of its rows (in no ``repr``), its certificate without the answer, and the hash."""

    asked: TableQuestion
    found: list[list[Any]]
    undrawn: Release
    certificate: str


def gathered(questions: Sequence[TableQuestion], *, in_order: bool = False) -> list[list[list[Any]]]:
    """What is found of the rows for the questions, of each scan and group: in one pass for all about the same rows.

    With `in_order` they are sorted: engines return rows in any order, and seeded draws have to repeat. Proof:
    ``proofs/one_pass.md``.
    """
    lookups, summaries = dict[Any, list[Any]](), dict[Any, Iterator[list[Any]]]()
    for each in questions:
        lookups.setdefault(each.read, []).extend(each.lookups)
    for read, of_all in lookups.items():
        summaries[read] = iter(read(of_all))
    found = [[next(summaries[each.read]) for _ in each.lookups] for each in questions]
    return [[list(map(ordered, each)) for each in of_one] for of_one in found] if in_order else found


def _read_back(stored: str) -> Release:
    from dpselect.certificates.checking import read_certificate  # brings what a check computes

    return read_certificate(stored)[0]


def public_time(moment: datetime, times: Times = Times.DAY) -> datetime:
    """The start, in UTC, of the day or the hour in which `moment` lies."""
    hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour.replace(hour=0) if times is Times.DAY else hour
