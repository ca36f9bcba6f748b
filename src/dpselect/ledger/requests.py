"""Each charge that is asked for, and its answer, until both are certainly on disk. Proof: ``proofs/ledger.md``.

Nothing is drawn before its charge has returned, so an entry whose commit seemed to fail may be used once, by this
process alone. An answer that cannot be stored was charged, and may be shown: this process keeps it until it can be.
"""

from __future__ import annotations

import functools
import json
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from dpselect.accounting.codec import to_json
from dpselect.accounting.events import Event, Run, SequenceEvent, has_direction
from dpselect.accounting.filter import Cost
from dpselect.errors import (
    HIDDEN,
    AnchorError,
    AnswerNotStoredWarning,
    InvalidAccountError,
    InvalidParameterError,
    LedgerError,
    LedgerUnavailableError,
    LedgerVersionError,
    RequestReusedError,
    SelectionError,
    Shown,
    is_login,
)
from dpselect.ledger.accounts import Account, digest, refusal
from dpselect.ledger.entries import BEGINS, Entry, Receipt, charged_ahead, receipt_of
from dpselect.ledger.sqlite import Address
from dpselect.ledger.store import Book
from dpselect.privacy import Neighbours

_as_json = functools.lru_cache(maxsize=256)(to_json)  # the same events come again and again


def short_text(value: object, name: str, *, empty: bool = False) -> str:
    """Check a name or a note: printable, and not too long."""
    most = 10_000 if empty else 1000
    if not isinstance(value, str) or not (empty or value) or len(value) > most or not value.isprintable():
        got = Shown(f"<text of length {len(value)}>") if isinstance(value, str) else value
        raise InvalidParameterError(name, got, f"a printable text of {0 if empty else 1} to {most} characters")
    if is_login(value):
        hint = "It is stored for ever, and receipts show parts of it. Did you pass the ledger, or the table, here?"
        raise InvalidParameterError(name, Shown(HIDDEN), "a text without a password", hint)
    return value


def any_text(value: object, name: str) -> str:
    """Check a text of any length: one that every database can hold."""
    if not isinstance(value, str):
        raise InvalidParameterError(name, value, "a text")
    with suppress(UnicodeEncodeError):
        if b"\0" not in value.encode():  # which PostgreSQL refuses
            return value
    raise InvalidParameterError(name, Shown("<text>"), "a text that UTF-8 can hold, without NUL characters")


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """A requested charge."""

    ledger: Address
    account: str
    what: Event | Run
    request: str | None
    question: str  # in public words
    certificate: str | None = None  # hash of the certificate without its answer
    note: str = ""
    time: str | None = field(default=None, compare=False)  # the public time; None: the day on which the charge is made
    text: str = field(init=False)  # the event or run as JSON

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.what), Event | Run):
            raise InvalidParameterError("event", self.what, "an event or a Run of dpselect.accounting")
        object.__setattr__(self, "text", _as_json(self.what))
        any_text(self.question, "question")
        if self.request is not None:
            short_text(self.request, "request")
        if self.certificate is not None and not re.fullmatch("[0-9a-f]{64}", any_text(self.certificate, "certificate")):
            raise InvalidParameterError("certificate", Shown("<text>"), "a hash of 64 hexadecimal digits")
        short_text(self.note, "note", empty=True)

    @property
    def question_hash(self) -> str | None:
        """Hash of the question, to recognise it when it is repeated."""
        return digest("question", self.text, self.question) if self.question or self.request is not None else None

    @property
    def event(self) -> Event:
        return self.what.event if isinstance(self.what, Run) else self.what

    def entry_fields(self, cost: Cost) -> dict[str, Any]:
        time = self.time or f"{datetime.now(UTC).date()}T00:00:00+00:00"
        asked = {"request": self.request, "asked": self.question_hash, "question": self.certificate}
        held = {"event": self.text, "cost": cost.to_list(), "public_time": time, **asked, "note": self.note or None}
        return {name: value for name, value in held.items() if value is not None}

    def held(self, book: Book, account: Account) -> list[Entry]:
        """The entries under its request; `RequestReusedError` if they are of another question."""
        found = [] if self.request is None else book.under(account, self.request)
        if any(entry.body.get("asked") != self.question_hash for entry in found):
            shown, hint = Shown(repr(self.request)), "Nothing was charged. Use another id for another question."
            raise RequestReusedError("request", shown, "an id not used for another question", hint)
        return found

    def known(self, book: Book, account: Account) -> Receipt | None:
        """The receipt with the answer of its request, or of a charge that was made ahead and not drawn for."""
        held = self.held(book, account)
        return answered(book, held) or charged_ahead(held, self.certificate)[0]

    def check_for(self, account: Account) -> None:
        """Refuse an account that protects another unit, or under another neighbouring relation."""
        name, relation = account.name, account.neighbours
        run = self.what if isinstance(self.what, Run) else None
        if run is not None and run.neighbours is not relation:
            given, expected = str(run.neighbours), f"{str(relation)!r}, which account {name!r} protects against"
            raise InvalidAccountError("neighbours", Shown(repr(given)), expected, "Nothing was charged.")
        if relation is Neighbours.REPLACE_ONE and has_direction(self.event):
            expected = "one that also holds when a unit is replaced"
            hint = f"Account {name!r} protects against that. Nothing was charged."
            raise InvalidAccountError("event", Shown("LossIntervalEvent"), expected, hint)
        if run is not None and account.unit not in (None, run.unit):
            expected = f"{account.unit!r}, whom account {name!r} protects"
            raise InvalidAccountError("unit", Shown(repr(run.unit)), expected, "Nothing was charged.")


def allowed(book: Book, account: Account, *charges: ChargeRequest) -> list[Cost]:
    """What the charges cost, one after another, if the account allows all of them."""
    for charge in charges:
        account.refuse_closed()
        charge.check_for(account)
    events = tuple(charge.event for charge in charges)
    prices, total = account.limits.charged(account.epsilon, account.total, events)
    if events and not account.allows(total):
        event = SequenceEvent(events=events) if events[1:] else events[0]
        raise refusal(event, sum(prices, account.limits.nothing), account, ledger=book.ledger)
    return prices


NOT_STORED = (LedgerUnavailableError, LedgerVersionError)
"""Errors that keep an answer from being stored although its charge is. After any other, the charge may be lost."""


class Patience:
    """A time limit for repeated attempts: `wait` seconds from now."""

    def __init__(self, wait: float) -> None:
        self._end, self._pause = time.monotonic() + wait, 0.02

    def lasts(self) -> bool:
        """Whether there is time for another attempt. Pauses before it, longer each time."""
        left = self._end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, self._pause))
        self._pause = min(2 * self._pause, 1.0)
        return True


@dataclass(slots=True)
class Attempt:
    """A charge in progress.

    A commit that fails may have taken effect all the same: the connection broke before the answer arrived. Then its
    entry, whose hash covers 128 random bits, is looked up in a new connection, with the account locked.
    """

    charge: ChargeRequest
    receipt: Receipt | None = None  # of the charge whose commit was started and not confirmed
    entry: tuple[int, str] = (0, "")  # number and hash of what this commit writes: the charge, or what begins its draw
    _failed: list[LedgerError] = field(default_factory=list[LedgerError])

    @classmethod
    def new(cls, charge: ChargeRequest) -> Attempt:
        """A new attempt, or the remembered one at the same charge, if its receipt has the time that is asked for."""
        for each in [*_attempts]:
            if each.charge == charge and each.receipt is not None and charge.time in (None, each.receipt.time):
                with suppress(ValueError):  # another thread was faster
                    _attempts.remove(each)
                    return cls(charge, each.receipt, each.entry)
        return cls(charge)

    def settled(self, writing: Callable[[], AbstractContextManager[Book]], *, wait: float) -> Receipt:
        """The receipt, once the transaction that makes it is committed; a commit that failed is repeated.

        If its outcome is still unknown after `wait` seconds, the error names the entry, and this process remembers it
        for the same question.
        """
        patience, may_wait = Patience(wait), True
        try:
            while True:
                try:
                    with writing() as book:
                        receipt = self._written(book, wait_for_others=may_wait)
                    if receipt is not None:
                        return receipt
                    may_wait = patience.lasts()
                except LedgerUnavailableError as error:
                    if self.receipt is None:
                        raise
                    self._failed.append(error)
                    if patience.lasts():
                        continue
                    if isinstance(error, AnchorError) and error.sequence is not None:
                        raise
                    said = f"it failed while {_being_recorded(self.receipt)}"
                    raise LedgerUnavailableError(self.charge.ledger.shown, said) from None
        except BaseException as error:
            if self.receipt is not None:
                _attempts.append(self)
                if not isinstance(error, Exception):
                    error.add_note(f"interrupted while {_being_recorded(self.receipt)}")
            raise

    def _written(self, book: Book, *, wait_for_others: bool) -> Receipt | None:
        """The receipt of an answer, or of what this transaction commits; None if somebody else is to be waited for."""
        charge, account = self.charge, book.locked(self.charge.account)
        held = charge.held(book, account)
        known = answered(book, held)
        if known is not None:
            return known
        if self.receipt is not None and book.has(account, *self.entry):  # the commit that failed took effect
            book.head = account.to_head(book.id)
            return self.receipt
        self.receipt = None
        if len(self._failed) >= 3:  # more of them would fail as well
            raise self._failed[-1]
        waiting, begun = charged_ahead(held, charge.certificate)
        if waiting is not None:
            begins = {BEGINS: waiting.sequence, "request": charge.request, "asked": charge.question_hash}
            account, receipt = book.append(account, "charge", **begins), waiting
        elif begun and wait_for_others:
            return None  # whoever began will store the answer, unless it was stopped
        else:
            (cost,) = allowed(book, account, charge)
            fields = charge.entry_fields(cost)
            account = book.append(account, "charge", **fields)
            said = {**fields, "account": account.name, "ledger": book.id}
            receipt = receipt_of(said, account.entries - 1, account.head)
        self.receipt, self.entry = receipt, (account.entries - 1, account.head)  # its commit starts now
        last.receipt = receipt
        return receipt


def _being_recorded(receipt: Receipt) -> str:
    return (
        f"entry {receipt.sequence} of account {receipt.account!r} was being recorded, and whether it was cannot be"
        " determined. Nothing was drawn. Ask the same again in this process: if it was recorded, it is used, and"
        " nothing more is charged."
    )


last = threading.local()
_attempts: list[Attempt] = []  # those that may be recorded, and for which nothing was drawn
_answers: dict[str, tuple[Address, Receipt, str]] = {}
"""Answers that are not stored, with their ledger and receipt, by the hash of the charge's entry."""
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_attempts.clear)  # otherwise both processes would draw for one charge


def is_paid(book: Book, account: Account, charge: ChargeRequest) -> bool:
    """Whether the charge, of whatever certificate and note, would use a recorded entry that this process remembers."""
    asked = replace(charge, certificate=None, note="")
    known = [each for each in [*_attempts] if replace(each.charge, certificate=None, note="") == asked]
    return any(book.has(account, *each.entry) for each in known)


Store = Callable[[Receipt, str], str]
"""Stores an answer for its charge, and returns the answer that is now stored for the request."""


def given_out(receipt: Receipt, release: str, keep: Store, *, ledger: Address, wait: float) -> str:
    """Check both; then the result of `keep`, tried for `wait` seconds; then a warning and the first answer.

    That one is remembered until it is stored.
    """
    if not isinstance(cast(object, receipt), Receipt) or receipt.request is None:
        raise InvalidParameterError("receipt", receipt, "one of a charge with a request id")
    short_text(receipt.account, "account")
    short_text(receipt.request, "request")
    held: object = None
    any_text(release, "release")
    with suppress(ValueError, RecursionError):  # no certificate
        held = json.loads(release) if '"seeded"' in release else None
    if isinstance(held, dict) and "seeded" in held:
        raise InvalidParameterError("release", Shown("<a seeded release>"), "one with the operating system's noise")
    patience = Patience(wait)
    while True:
        _, first, answer = _answers.get(receipt.hash, (ledger, receipt, release))
        try:
            return _stored(first, answer, keep)
        except NOT_STORED as error:
            *_, answer = _answers.setdefault(receipt.hash, (ledger, first, answer))
            if not (isinstance(error, LedgerUnavailableError) and patience.lasts()):
                of = f"anchor {error.ledger}: " if isinstance(error, AnchorError) else ""
                _warn(receipt, of + error.what.partition(". ")[0].rstrip("."), ledger=ledger.shown)
                return answer


def _stored(receipt: Receipt, release: str, keep: Store) -> str:
    """The result of `keep`. The answer is forgotten once it is stored, or if its charge is missing."""
    try:
        answer = keep(receipt, release)
    except NOT_STORED:
        raise
    except Exception:
        _answers.pop(receipt.hash, None)
        raise
    _answers.pop(receipt.hash, None)
    return answer


def store_remembered(ledger: Address, keep: Store) -> None:
    """Store remembered answers, if that is possible now. A failure here does not stop the current question."""
    for place, receipt, release in list(_answers.values()):
        try:
            if place == ledger:
                _stored(receipt, release, keep)
        except NOT_STORED:
            return  # the next would fail too, and each would wait
        except SelectionError:
            continue  # its charge is lost, and `_stored` has forgotten the answer


def _warn(receipt: Receipt, why: str, *, ledger: str) -> None:
    warnings.warn(AnswerNotStoredWarning(ledger, receipt.account, receipt.sequence, why), stacklevel=2)


def answered(book: Book, held: Sequence[Entry]) -> Receipt | None:
    """The receipt with the answer of a request, stored or still kept by this process, of which it warns."""
    charges = [(entry, entry.receipt) for entry in held if entry.receipt is not None]
    for entry, receipt in charges:
        if entry.release is not None:
            return replace(receipt, release=entry.release)
    for entry, receipt in charges:
        kept = _answers.get(entry.hash)
        if kept is not None:
            _warn(receipt, "another try just now failed as well", ledger=book.ledger)
            return replace(receipt, release=kept[-1])
    return None
