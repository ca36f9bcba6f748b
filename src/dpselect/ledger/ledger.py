"""The ledger: what was promised to each account's units, and what of it is spent, across processes and restarts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import sqlalchemy as sa

from dpselect.accounting.events import Event, Run
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import (
    InvalidAccountError,
    InvalidLimitError,
    InvalidParameterError,
    Shown,
)
from dpselect.ledger import store
from dpselect.ledger.accounts import State, Terms, described
from dpselect.ledger.anchoring import (
    head_of,
    noted_now,
    refuse_missing_accounts,
)
from dpselect.ledger.anchors import Anchor, Head, anchor_of
from dpselect.ledger.arguments import any_text, exact_number, moment, short_text
from dpselect.ledger.chain import FIRST, account_seal, canonical, entry_hash
from dpselect.ledger.costs import Cost
from dpselect.ledger.database import Database
from dpselect.ledger.readable import ReadableLedger
from dpselect.ledger.records import Account, Receipt
from dpselect.ledger.refusals import refusal
from dpselect.ledger.requests import answered, kept
from dpselect.ledger.restoring import gone, written_off
from dpselect.ledger.schema import accounts, check_version, entries, migrate
from dpselect.ledger.unsettled import Attempt, Unstored, is_paid, store_remembered
from dpselect.ledger.wanted import Wanted
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.public_time import as_utc_text, day_text


class Ledger(ReadableLedger):
    """A durable record of what was spent, which refuses what was not promised.

    Several processes, on several machines with PostgreSQL, may use one ledger at once. A charge that has returned is
    on disk. Entries are only ever added, and chained by hashes.

    Args:
        url: ``"sqlite:///budget.db"``, a file on a local disk (``?mode=ro`` to read only), or
            ``"postgresql://user@host/database"``, for which the extra ``postgres`` is needed; or the path of a file.
        wait: seconds to wait for another process that holds the lock.
        anchor: where it is noted how far each account has come, so that an older copy in the ledger's place is refused:
            the path of a file, best on another disk; the URL of another database; or an object with the methods of
            `dpselect.ledger.Anchor`. Every process that charges has to name the same one. None: it is not noticed.

    Raises:
        InvalidParameterError: `url` or `anchor` is none of these.

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
    ... except dps.ChargeRefusedError as refused:
    ...     print(refused.what)
    account 'clicks' has epsilon=0.25 left of 1.0; this would cost 0.5. Nothing was charged or drawn.
    >>> ledger.disconnect(); folder.cleanup()
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Ledger], tuple[sa.URL, float, Anchor | None]]:
        return _opened, (*self._database.address, self._anchor)

    def open_account(
        self,
        name: str,
        *,
        epsilon: object,
        delta: object = 0.0,
        unit: str | None = None,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
        set_aside: object = 0.0,
    ) -> Account:
        """Promise that all releases charged to the account together stay within `epsilon` and `delta`.

        Args:
            name: of the account.
            epsilon: the limit, > 0, exactly: a float is the double it is, a `Decimal`, `Fraction` or text what it says.
            delta: the probability with which `epsilon` may fail, from 0 to below 1; far below one over the number of
                units. More than 0 lets more through, from about ten charges on.
            unit: who is protected, in the words of ``Dataset(unit=...)``. None: the first charge that names one.
            neighbours: which data sets the promise compares.
            set_aside: how much of `delta` is kept for mechanisms that have a delta of their own.

        Raises:
            InvalidAccountError: there is an account of this name.
            InvalidParameterError: an argument is out of range.
            LedgerError: the ledger cannot be written to.
        """
        name = short_text(name, "account")
        unit = None if unit is None else short_text(unit, "unit")
        limit = exact_number(epsilon, "epsilon")
        whole = exact_number(delta, "delta", zero=True, below_one=True)
        own = exact_number(set_aside, "set_aside", zero=True, below_one=True)
        relation = neighbouring_relation(neighbours)
        if own > whole:
            raise InvalidParameterError("set_aside", float(own), "at most delta")
        self._id = migrate(self._database, create=True)
        with self._writing() as (connection, heads):
            self._database.lock_whole(connection)
            if name in self._noted():
                refuse_missing_accounts([], {name: None}, ledger=self._database.shown)
            if name in store.account_names(connection, ledger=self._database.shown):
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            number = 1 + (connection.scalar(sa.select(sa.func.max(accounts.c.number))) or 0)
            terms = Terms.new(number, name, neighbours=relation, epsilon=limit, delta=whole, set_aside=own)
            state = State.opened(terms, epsilon=limit, unit=unit)
            body = {"terms": terms.to_text(), "epsilon": str(limit), "unit": unit}
            text = canonical({**self._stamp("open"), **body, "account": name, "sequence": 0})
            head = entry_hash(FIRST, text)
            seal = account_seal(number, name, terms.to_text(), state.to_text(), head)
            row = {"number": number, "name": name, "terms": terms.to_text(), "state": state.to_text()}
            connection.execute(accounts.insert(), {**row, "head": head, "seal": seal})
            connection.execute(entries.insert(), {"account": number, "sequence": 0, "body": text, "hash": head})
            heads.append(head_of(terms, state, head))
        return described(terms, state, head)

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
        """Record what is about to be drawn, or refuse it. To be called before any draw.

        When it returns, the charge is on disk. A request id makes asking again free: where the same question was
        asked under it, and its release was stored, the receipt holds that release and nothing is charged. A charge
        whose release was never stored is spent: somebody may have seen the answer, or seen that drawing it failed.

        Args:
            account: name of the account.
            what: the mechanism's event; or a `Run`, which also says for whom, and is then checked against the account.
            request: an id of the caller's choice for this act of asking, or None.
            question: what is asked, in public words that are the same when the same is asked; only a hash is kept.
            note: kept beside the charge, for people; public.
            certificate: hash of what a certificate will say (`Release.question_hash`), for the entry and the receipt.
            time: what the receipt says of when: the start of an hour or a day of before the rows were read, with a time
                zone. None: the day of the charge, in UTC. How long reading took depends on the rows.

        Raises:
            ChargeRefusedError: there is not enough left.
            InvalidAccountError: no such account, or it is closed.
            WrongAccountError: the account is about another unit or neighbouring relation.
            RequestReusedError: `request` belongs to another question.
            InvalidParameterError: `what` is no event, or a text is none.
            LedgerError: the ledger cannot be written to.

        Proof: ``proofs/ledger.md``.
        """
        wanted = Wanted.of(account, what, request=request, question=question, certificate=certificate)
        note = short_text(note, "note", empty=True)
        shown = None if time is None else moment(time, "time")
        if shown is not None and (shown.minute, shown.second, shown.microsecond) != (0, 0, 0):
            hint = "A finer time tells how long reading took: time.replace(minute=0, second=0, microsecond=0)."
            raise InvalidParameterError("time", Shown("<a time>"), "the start of an hour", hint)
        hour = None if shown is None else as_utc_text(shown)
        store_remembered(self._place, self._kept)
        attempt = Attempt.new(self._place, wanted, note=note, time=hour)
        return attempt.settled(lambda: self._charged(attempt, hour), wait=self._wait, ledger=self._database.shown)

    def _charged(self, attempt: Attempt, hour: str | None) -> Receipt:
        wanted = attempt.wanted
        with self._writing() as (connection, heads):
            row = self._locked(connection, wanted.account)
            known = self._answered(connection, row, wanted)
            if known is not None:
                return known
            standing = attempt.standing(connection, row, ledger=self._database.shown)
            if standing is not None:
                heads.append(head_of(row.terms, row.state, row.head))
                return standing
            cost, total = self._allowed(row, wanted)
            now = datetime.now(UTC)
            body = self._stamp("charge", now) | {"public_time": hour or day_text(now.date())}
            body |= {"note": attempt.note} if attempt.note else {}
            after = row.state.charged(total, unit=wanted.unit)
            head = store.append(connection, row, after, {**body, **wanted.words, "cost": cost.to_list()})
            heads.append(head_of(row.terms, after, head))
            self._database.refuse_another_file(connection)
            attempt.receipt = wanted.receipt(row.state.entries, head, body["public_time"], ledger=self._id)
        return attempt.receipt

    def look(
        self, account: str, what: Event | Run, *, request: str | None = None, question: str = ""
    ) -> Receipt | None:
        """Raise what `charge` would raise now, and charge nothing; or return what is stored for the request, if it is.

        To be called before long work that only a charge makes worth while. `charge` decides anew.
        """
        wanted = Wanted.of(account, what, request=request, question=question)
        store_remembered(self._place, self._kept)
        with self._reading() as connection:
            row = store.account_row(connection, wanted.account, ledger=self._database.shown)
            self._refuse_behind(connection, row)
            known = self._answered(connection, row, wanted)
            if known is None and not is_paid(connection, row, wanted, place=self._place, ledger=self._database.shown):
                self._allowed(row, wanted)
        return known

    def store_release(self, receipt: Receipt, release: str) -> str:
        """Keep the answer of a charge that has a request id, and return the one to hand out.

        To be called after the draw and before the answer is shown to anyone. Where the same request was answered
        meanwhile, by another process, that answer is returned, so that one request has one answer.

        Where the ledger is locked, full or out of reach, it tries again for `wait` seconds. Then it warns, and returns
        the answer all the same, as it was charged; this process keeps it, and stores it when it can.

        Raises:
            InvalidCertificateError: the receipt is not one of this ledger's. The answer must not be shown then.
            InvalidParameterError: the receipt has no request id, or the release is no text that UTF-8 can hold.
            LedgerDamagedError: the charge itself may be gone. The answer must not be shown then.

        Warns:
            AnswerNotStoredWarning: it could not be stored.

        Proof: ``proofs/ledger.md``.
        """
        if not isinstance(cast(object, receipt), Receipt) or receipt.request is None:
            raise InvalidParameterError("receipt", receipt, "one of a charge with a request id")
        short_text(receipt.account, "account")
        short_text(receipt.request, "request")
        held = Unstored(self._place, receipt, any_text(release, "release"))
        return held.given_out(self._kept, wait=self._wait, ledger=self._database.shown)

    def _kept(self, receipt: Receipt, release: str) -> str:
        with self._current().writing() as connection:
            row = self._locked(connection, receipt.account)
            return kept(connection, row, receipt, str(receipt.request), release, ledger=self._database.shown)

    def set_limit(self, name: str, *, epsilon: object) -> Account:
        """Raise or lower what is promised, as an entry of its own.

        Raising it weakens a promise that people may rely on: it is theirs to allow. Proof, also of what holds if the
        decision depended on answers: ``proofs/ledger.md``.

        Raises:
            InvalidLimitError: more than `epsilon` is spent.
            InvalidAccountError: no such account, or it is closed.
        """
        name, limit = short_text(name, "account"), exact_number(epsilon, "epsilon")
        with self._writing() as (connection, heads):
            row = self._locked(connection, name)
            self._refuse_closed(row)
            spent = row.terms.spent(row.state.total)
            if spent > limit:
                expected = f"at least {fraction_up(spent)!r}, what is spent"
                raise InvalidLimitError("epsilon", float(limit), expected, "Nothing was changed.")
            state = row.state.limited(limit)
            body = {**self._stamp("limit"), "epsilon": str(limit)}
            head = store.append(connection, row, state, body)
            heads.append(head_of(row.terms, state, head))
        return described(row.terms, state, head)

    def close(self, name: str) -> Account:
        """Let nothing more be charged to the account, for good; its history stays.

        Raises:
            InvalidAccountError: no such account, or it is closed already.
        """
        with self._writing() as (connection, heads):
            row = self._locked(connection, short_text(name, "account"))
            self._refuse_closed(row)
            state = row.state.closed()
            head = store.append(connection, row, state, self._stamp("close"))
            heads.append(head_of(row.terms, state, head))
        return described(row.terms, state, head)

    def anchor(self, to: str | Path | Anchor) -> list[Head]:
        """Note in an anchor, once, how far all accounts have come. ``Ledger(anchor=)`` does that after each charge.

        Raises:
            LedgerRolledBackError: the anchor knows of entries that are missing here.
            LedgerForkedError: it knows of others.
            AnchorError: it cannot be written, is damaged, or belongs to another ledger.
        """
        anchor = anchor_of(to)
        if anchor is None:
            raise InvalidParameterError("to", to, "the path of a file, the URL of a database, or an anchor")
        self._current()
        with self._reading() as connection:
            return noted_now(connection, cast(str, self._id), anchor, ledger=self._database.shown)

    def write_off(self) -> list[Account]:
        """Count as spent what the anchor knows of and the ledger lost: of an older copy that took its place.

        Each account that is behind gets an entry that brings it to the limit and the total that the anchor noted. One
        that is missing as a whole stays missing, and cannot be opened again. Proof: ``proofs/ledger.md``.

        Returns:
            The accounts that were behind and are there.

        Raises:
            InvalidParameterError: the ledger was opened without an anchor.
            LedgerForkedError: an account has other entries than the anchor says, not only fewer.
            LedgerError: the ledger cannot be written to.
        """
        if self._anchor is None:
            raise InvalidParameterError("anchor", None, "a ledger that was opened with its anchor")
        shown, found = self._database.shown, list[Account]()
        with self._writing() as (connection, heads):
            names = store.account_names(connection, ledger=shown)
            for name, noted in self._noted().items():
                if name not in names:
                    heads += [gone(noted)] if noted.sequence >= 0 else []
                    continue
                row = store.account_row(connection, name, ledger=shown, lock=True)
                if noted.sequence < row.state.entries - 1 or noted.hash == row.head:
                    self._refuse_behind(connection, row)
                    continue
                heads.append(written_off(connection, row, noted, self._stamp("written-off"), ledger=shown))
                after = store.account_row(connection, name, ledger=shown)
                found.append(described(after.terms, after.state, after.head))
        return found

    def _current(self) -> Database:
        """The database, its tables as this version of the library writes them."""
        if self._id is None:
            self._id = migrate(self._database, create=False)
        return self._database

    @contextmanager
    def _writing(self) -> Generator[tuple[sa.Connection, list[Head]]]:
        """A transaction, and a list for the heads that it leads to: they are noted in the anchor when it is on disk.

        Not before: an anchor that is ahead of its ledger says that entries were lost. If the ledger is ahead, because a
        crash came in between, what was charged last was never drawn.
        """
        heads: list[Head] = []
        with self._current().writing() as connection:
            yield connection, heads
        if self._anchor is not None:
            for head in heads:
                self._anchor.note(cast(str, self._id), head)

    def _locked(self, connection: sa.Connection, name: str) -> store.AccountRow:
        row = store.account_row(connection, name, ledger=self._database.shown, lock=True)
        check_version(row.version, self._database)
        self._refuse_behind(connection, row)
        return row

    def _stamp(self, kind: str, now: datetime | None = None) -> dict[str, str]:
        """What every entry says. The time is for the holder: nothing depends on the order of clocks.

        The nonce keeps it from whoever sees the entry's hash, in a receipt, and could try all milliseconds of a day.
        """
        time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = {"kind": kind, "time": time, "nonce": secrets.token_hex(16)}
        return stamp if self._id is None else stamp | {"ledger": self._id}

    def _refuse_closed(self, row: store.AccountRow) -> None:
        if not row.state.is_open:
            raise InvalidAccountError("account", Shown(repr(row.terms.name)), "an open account; this one is closed")

    def _answered(self, connection: sa.Connection, row: store.AccountRow, wanted: Wanted) -> Receipt | None:
        return answered(connection, row, wanted, ledger=self._database.shown)

    def _allowed(self, row: store.AccountRow, wanted: Wanted) -> tuple[Cost, Cost]:
        """What is wanted costs, and the total with it; or an error."""
        self._refuse_closed(row)
        wanted.check_for(row.terms, row.state)
        cost = row.terms.cost(wanted.event)
        total = row.state.total + cost
        if not row.terms.allow(row.state.epsilon, total):
            raise refusal(wanted.event, cost, row.terms, row.state, ledger=self._database.shown)
        return cost, total


def _opened(url: sa.URL, wait: float, anchor: Anchor | None = None) -> Ledger:
    return Ledger(url, wait=wait, anchor=anchor)
