"""The ledger: what each account promises, and how much of it is spent, across processes and restarts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import cast

from dpselect.accounting.events import Event, Run, SequenceEvent
from dpselect.accounting.filter import Cost
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.accounts import Account, refusal
from dpselect.ledger.arguments import any_text, public_moment, short_text, tuples_of
from dpselect.ledger.entries import AHEAD, BEGINS, Receipt, charged_ahead, receipt_of
from dpselect.ledger.managed import ManagedLedger, refuse_closed
from dpselect.ledger.requests import (
    PASSING,
    Attempt,
    ChargeRequest,
    ElsewhereError,
    Patience,
    Unstored,
    answered,
    given_out,
    is_paid,
    last_charge,
    store_remembered,
    stored_release,
)
from dpselect.ledger.store import Book
from dpselect.mechanisms.seeding import refuse_seeded
from dpselect.privacy import day_text


class Ledger(ManagedLedger):
    """A durable record of what was spent, which refuses charges beyond what was promised.

    Several processes, on several machines with PostgreSQL, may use one ledger at once. A charge that has returned is
    on disk. Entries are only ever added, and chained by hashes.

    Args:
        url: ``"sqlite:///budget.db"``, a file on a local disk (``?mode=ro`` to read only), or
            ``"postgresql://user@host/database"``, for which the extra ``postgres`` is needed; or the path of a file.
        wait: seconds to wait for another process that holds the lock.
        anchor: where the latest entry of each account is noted, so that an older copy of the ledger is refused: the
            path of a file, best on another disk. Every process that charges has to name the same one. None: an older
            copy is not noticed.

    Raises:
        InvalidParameterError: `url` or `anchor` is not one of these.

    >>> import tempfile
    >>> import dpselect as dps
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = dps.Ledger(f"sqlite:///{folder.name}/budget.db")
    >>> account = ledger.open_account("clicks", epsilon=1.0, unit="session")
    >>> receipt = ledger.charge("clicks", dps.PermuteAndFlip(epsilon=0.75, sensitivity=1).event)
    >>> ledger.remaining("clicks")
    0.25
    >>> try:
    ...     receipt = ledger.charge("clicks", dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event)
    ... except dps.errors.ChargeRefusedError as refused:
    ...     print(refused.what)
    account 'clicks' has epsilon=0.25 left of 1.0; this would cost 0.5. Nothing was charged or drawn.
    >>> ledger.disconnect(); folder.cleanup()
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[[], Ledger], tuple[()]]:
        anchor = None if self._anchor is None else self._anchor.path
        return partial(Ledger, self._given, wait=self._wait, anchor=anchor), ()

    @property
    def last_charge(self) -> Receipt | None:
        """The receipt of the last charge whose commit this thread has started; so an interrupt can name its entry."""
        return last_charge()

    def charge(
        self,
        account: str,
        what: Event | Run,
        *,
        request: str | None = None,
        question: str = "",
        note: str = "",
        certificate: str | None = None,
        time: datetime | None = None,
    ) -> Receipt:
        """Record what is about to be drawn, or refuse it. Call it before any draw.

        When it returns, the charge is on disk. A request id makes asking again free: if the same question was asked
        under it, and its release was stored, the receipt holds that release and nothing is charged. A charge whose
        release was never stored stays spent: somebody may have seen the answer, or seen that drawing it failed.

        Args:
            account: name of the account.
            what: the mechanism's event, or a `Run`, whose unit and relation are checked against the account.
            request: an id of the caller's choice for this question, or None.
            question: the question in public words, the same whenever it is repeated. Only a hash is stored.
            note: a public note for people, stored with the charge.
            certificate: hash of the certificate without its answer (`Release.question_hash`), for the entry and the
                receipt.
            time: the time in the receipt, with a time zone: the start of the hour or day in which the question was
                asked, before any row was read, since the time that reading takes depends on the rows. None: the day of
                the charge, in UTC.

        Raises:
            ChargeRefusedError: there is not enough left.
            InvalidAccountError: no such account, or it is closed.
            WrongAccountError: the account protects another unit, or under another neighbouring relation.
            RequestReusedError: `request` belongs to another question.
            InvalidParameterError: `what` is not an event, an argument that has to be text is not, or the thread is in a
                block of `dpselect.testing.seeded`.
            LedgerError: the ledger cannot be written to.

        Proof: ``proofs/ledger.md``.
        """
        refuse_seeded()
        charge = ChargeRequest.of(account, what, request=request, question=question, certificate=certificate, note=note)
        hour = None if time is None else public_moment(time, "time")
        store_remembered(self._address.place, self._stored_release)
        attempt = Attempt.new(self._address.place, charge, time=hour)
        act = partial(self._charged, attempt, hour)
        return attempt.settled(act, wait=self._wait, ledger=self._database.shown)

    def charge_ahead(self, account: str, questions: Sequence[tuple[Run, str, str, str, datetime]]) -> None:
        """Charge all questions in one transaction, or none. Each is drawn after its own `charge`, which then is free.

        Nothing is charged for a question whose answer is stored, or that was charged ahead before and not drawn for. So
        after a crash the same call costs nothing for all questions but one: the one that was being drawn.

        Args:
            account: name of the account.
            questions: of each question what `charge` takes: what runs, the id of its request, the question in public
                words, the hash of its certificate, and the public time.

        Raises:
            ChargeRefusedError: there is not enough left for all.
            InvalidAccountError, WrongAccountError, RequestReusedError, InvalidParameterError, LedgerError: as `charge`.

        Proof: ``proofs/ledger.md``.
        """
        refuse_seeded()
        account = short_text(account, "account")
        charges = [
            (
                ChargeRequest.of(account, what, request=request, question=question, certificate=certificate),
                public_moment(time, "time"),
            )
            for what, request, question, certificate, time in tuples_of(questions, "questions", 5)
        ]
        store_remembered(self._address.place, self._stored_release)
        patience = Patience(self._wait)
        while True:
            try:
                return self._charged_ahead(account, charges)
            except PASSING:  # if the commit took effect all the same, the next attempt finds its entries
                if not patience.lasts():
                    raise

    def _charged_ahead(self, name: str, charges: Sequence[tuple[ChargeRequest, str]]) -> None:
        with self._writing() as book:
            account = self._locked(book, name)
            unpaid = [(charge, time) for charge, time in charges if _known(book, account, charge) is None]
            if not unpaid:
                book.head = account.to_head(book.id)
                return
            prices = self._allowed(account, *(charge for charge, _ in unpaid))
            for (charge, time), cost in zip(unpaid, prices, strict=True):
                fields = charge.entry_fields(cost, time)
                account = book.append(account, "charge", **fields, **{AHEAD: True})

    def _charged(self, attempt: Attempt, hour: str | None, wait_for_others: bool) -> Receipt:
        charge = attempt.charge
        with self._writing() as book:
            account = self._locked(book, charge.account)
            held = charge.held(book, account)
            known = answered(book, held)
            if known is not None:
                return known
            standing = attempt.standing(book, account)
            if standing is not None:
                book.head = account.to_head(book.id)
                return standing
            waiting, begun = charged_ahead(held, charge.certificate_hash)
            if waiting:
                refuse_closed(account)
                begins = {BEGINS: waiting[0].sequence, "request": charge.request, "asked": charge.request_hash}
                return attempt.commits(waiting[0], book.append(account, "charge", **begins))
            if begun and wait_for_others:
                raise ElsewhereError  # and will store its answer, unless it was stopped
            (cost,) = self._allowed(account, charge)
            now = datetime.now(UTC)
            time = hour or day_text(now.date())
            fields = charge.entry_fields(cost, time)
            account = book.append(account, "charge", now, **fields)
            said = {**fields, "account": account.name, "ledger": book.id}
            return attempt.commits(receipt_of(said, account.entries - 1, account.head), account)

    def look(self, account: str, questions: Sequence[tuple[Event | Run, str | None, str]]) -> list[Receipt | None]:
        """Raise what charging the questions would raise now, one after another, without charging any.

        For use before long work that is wasted if a charge is refused. `charge` decides again.

        Args:
            account: name of the account.
            questions: of each question what would run, the id of its request or None, and the question in public words.

        Returns:
            For each question its stored answer; or the receipt of a charge that was made ahead and not drawn for; or
            None.
        """
        account = short_text(account, "account")
        charges = [
            ChargeRequest.of(account, what, request=request, question=question)
            for what, request, question in tuples_of(questions, "questions", 3)
        ]
        store_remembered(self._address.place, self._stored_release)
        with self._reading() as book:
            held = book.account(account)
            self._refuse_behind(book, held)
            known = [_known(book, held, charge) for charge in charges]
            unpaid = [
                charge
                for charge, answer in zip(charges, known, strict=True)
                if answer is None and not is_paid(book, held, charge, place=self._address.place)
            ]
            if unpaid:
                self._allowed(held, *unpaid)
        return known

    def store_release(self, receipt: Receipt, release: str) -> str:
        """Store the answer of a charge that has a request id, and return the answer to show.

        Call it after the draw and before the answer is shown to anyone. If another process has answered the same
        request meanwhile, its answer is returned, so that one request has one answer.

        If the ledger is locked, full or unreachable, it tries again for `wait` seconds. Then it warns and returns the
        answer all the same, because it was charged. This process keeps the answer and stores it when it can.

        Raises:
            InvalidCertificateError: the receipt is not one of this ledger's. The answer must not be shown then.
            InvalidParameterError: the receipt has no request id, the release is not text that UTF-8 can hold, or it is
                a certificate that says that it is seeded.
            LedgerDamagedError: the charge itself may be lost. The answer must not be shown then.

        Warns:
            AnswerNotStoredWarning: the answer could not be stored.

        Proof: ``proofs/ledger.md``.
        """
        if not isinstance(cast(object, receipt), Receipt) or receipt.request is None:
            raise InvalidParameterError("receipt", receipt, "one of a charge with a request id")
        short_text(receipt.account, "account")
        short_text(receipt.request, "request")
        _refuse_seeded_release(any_text(release, "release"))
        held = Unstored(self._address.place, receipt, release)
        return given_out(held, self._stored_release, wait=self._wait, ledger=self._database.shown)

    def _stored_release(self, receipt: Receipt, release: str) -> str:
        with self._writing() as book:
            return stored_release(book, self._locked(book, receipt.account), receipt, release)

    def _allowed(self, account: Account, *charges: ChargeRequest) -> list[Cost]:
        """What the charges cost, one after another, if the account allows all of them."""
        refuse_closed(account)
        for charge in charges:
            charge.check_for(account)
        events = tuple(charge.event for charge in charges)
        prices, total = account.limits.charged(account.epsilon, account.total, events)
        if not account.allows(total):
            event = SequenceEvent(events=events) if events[1:] else events[0]
            raise refusal(event, sum(prices, account.limits.nothing), account, ledger=self._database.shown)
        return prices


def _known(book: Book, account: Account, charge: ChargeRequest) -> Receipt | None:
    """The receipt with the answer of its request, or of a charge that was made ahead and not drawn for."""
    held = charge.held(book, account)
    return answered(book, held) or next(iter(charged_ahead(held, charge.certificate_hash)[0]), None)


def _refuse_seeded_release(release: str) -> None:
    """Refuse to store a certificate that says that it was drawn in a block of `dpselect.testing.seeded`."""
    try:
        held: object = json.loads(release) if '"seeded"' in release else None
    except (ValueError, RecursionError):
        return  # no certificate
    if isinstance(held, dict) and "seeded" in held:
        raise InvalidParameterError("release", Shown("<a seeded release>"), "one with the operating system's noise")
