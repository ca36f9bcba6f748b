"""The ledger: what was promised to each account's units, and what of it is spent, across processes and restarts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import sqlalchemy as sa

from dpselect.accounting.events import Event, Run
from dpselect.accounting.rounding import fraction_up
from dpselect.arguments import positive_count
from dpselect.errors import (
    InvalidAccountError,
    InvalidLimitError,
    InvalidParameterError,
    LedgerDamagedError,
    Shown,
)
from dpselect.ledger import store
from dpselect.ledger.accounts import State, Terms, described
from dpselect.ledger.arguments import any_text, exact_number, moment, seconds, short_text
from dpselect.ledger.chain import FIRST, account_seal, canonical, entry_hash
from dpselect.ledger.costs import Cost
from dpselect.ledger.database import Database
from dpselect.ledger.reading import entry_of, exported
from dpselect.ledger.records import Account, Entry, Receipt, Verified
from dpselect.ledger.refusals import refusal
from dpselect.ledger.requests import answered, kept
from dpselect.ledger.schema import accounts, check_version, entries, migrate, version_now
from dpselect.ledger.unsettled import Attempt, Unstored, is_paid, place_of, store_remembered
from dpselect.ledger.verification import verified
from dpselect.ledger.wanted import Wanted
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.public_time import as_utc_text, day_text


class Ledger:
    """A durable record of what was spent, which refuses what was not promised.

    Several processes, on several machines with PostgreSQL, may use one ledger at once. A charge that has returned is
    on disk. Entries are only ever added, and chained by hashes.

    Args:
        url: ``"sqlite:///budget.db"``, a file on a local disk (``?mode=ro`` to read only), or
            ``"postgresql://user@host/database"``, for which the extra ``postgres`` is needed; or the path of a file.
        wait: seconds to wait for another process that holds the lock.

    Raises:
        InvalidParameterError: `url` is none of these.

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

    __slots__ = ("_database", "_is_current", "_place", "_wait")

    def __init__(self, url: str | Path | sa.URL, *, wait: float = 30.0) -> None:
        self._database = Database(url, wait=seconds(wait))
        self._is_current = False
        address, self._wait = self._database.address
        self._place = place_of(address)

    def __repr__(self) -> str:
        return f"Ledger({self._database!r})"

    def __reduce__(self) -> tuple[Callable[..., Ledger], tuple[sa.URL, float]]:
        return _opened, self._database.address

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the database connections; the next use opens new ones."""
        self._database.close()

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
        migrate(self._database, create=True)
        with self._database.writing() as connection:
            self._database.lock_whole(connection)
            if name in store.account_names(connection, ledger=self._database.shown):
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            number = 1 + (connection.scalar(sa.select(sa.func.max(accounts.c.number))) or 0)
            terms = Terms.new(number, name, neighbours=relation, epsilon=limit, delta=whole, set_aside=own)
            state = State.opened(terms, epsilon=limit, unit=unit)
            body = {"terms": terms.to_text(), "epsilon": str(limit), "unit": unit}
            text = canonical({**_stamp("open"), **body, "account": name, "sequence": 0})
            head = entry_hash(FIRST, text)
            seal = account_seal(number, name, terms.to_text(), state.to_text(), head)
            row = {"number": number, "name": name, "terms": terms.to_text(), "state": state.to_text()}
            connection.execute(accounts.insert(), {**row, "head": head, "seal": seal})
            connection.execute(entries.insert(), {"account": number, "sequence": 0, "body": text, "hash": head})
        return described(terms, state, head)

    def account(self, name: str) -> Account:
        """The account as it stands now.

        Raises:
            InvalidAccountError: there is none of this name.
        """
        with self._reading() as connection:
            row = store.account_row(connection, short_text(name, "account"), ledger=self._database.shown)
        return described(row.terms, row.state, row.head)

    def accounts(self) -> list[Account]:
        """All accounts, in the order they were opened in."""
        with self._reading() as connection:
            rows = [
                store.account_row(connection, name, ledger=self._database.shown)
                for name in store.account_names(connection, ledger=self._database.shown)
            ]
        return [described(row.terms, row.state, row.head) for row in rows]

    def remaining(self, name: str) -> float:
        """The largest sum of epsilons that is sure to be accepted, rounded down; see `Account.left`."""
        return self.account(name).left

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
        with self._current().writing() as connection:
            row = self._locked(connection, wanted.account)
            known = self._answered(connection, row, wanted)
            if known is not None:
                return known
            standing = attempt.standing(connection, row, ledger=self._database.shown)
            if standing is not None:
                return standing
            cost, total = self._allowed(row, wanted)
            now = datetime.now(UTC)
            body = _stamp("charge", now) | {"public_time": hour or day_text(now.date())}
            body |= {"note": attempt.note} if attempt.note else {}
            after = row.state.charged(total, unit=wanted.unit)
            head = store.append(connection, row, after, {**body, **wanted.words, "cost": cost.to_list()})
            self._database.refuse_another_file(connection)
            attempt.receipt = wanted.receipt(row.state.entries, head, body["public_time"])
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
        with self._current().writing() as connection:
            row = self._locked(connection, name)
            self._refuse_closed(row)
            spent = row.terms.spent(row.state.total)
            if spent > limit:
                expected = f"at least {fraction_up(spent)!r}, what is spent"
                raise InvalidLimitError("epsilon", float(limit), expected, "Nothing was changed.")
            state = row.state.limited(limit)
            body = {**_stamp("limit"), "epsilon": str(limit)}
            head = store.append(connection, row, state, body)
        return described(row.terms, state, head)

    def close(self, name: str) -> Account:
        """Let nothing more be charged to the account, for good; its history stays.

        Raises:
            InvalidAccountError: no such account, or it is closed already.
        """
        with self._current().writing() as connection:
            row = self._locked(connection, short_text(name, "account"))
            self._refuse_closed(row)
            state = row.state.closed()
            head = store.append(connection, row, state, _stamp("close"))
        return described(row.terms, state, head)

    def history(self, name: str, *, last: int | None = None) -> list[Entry]:
        """The entries of the account, in order; or only the `last` ones, so many. Of a long one see `entries`."""
        return list(self.entries(name, last=last))

    def entries(self, name: str, *, last: int | None = None) -> Iterator[Entry]:
        """The same one by one, without holding them all; read from one state of the ledger, that of the first step.

        Raises:
            InvalidAccountError: there is no account of this name.
            InvalidParameterError: `last` is not a whole number > 0.
        """
        name = short_text(name, "account")
        last = None if last is None else positive_count(last, "last")
        with self._reading() as connection:
            shown = self._database.shown
            row = store.account_row(connection, name, ledger=shown)
            after = None if last is None else max(row.state.entries - 1 - last, -1)
            for each in store.entry_rows(connection, row.terms, ledger=shown, after=after):
                yield entry_of(each, name, ledger=shown)

    def find(self, account: str, sequence: int) -> Entry | None:
        """One entry of the account, or None if it has none at that place."""
        if isinstance(sequence, bool) or not isinstance(cast(object, sequence), int):
            raise InvalidParameterError("sequence", sequence, "the number of an entry")
        shown = self._database.shown
        with self._reading() as connection:
            terms = store.account_row(connection, short_text(account, "account"), ledger=shown).terms
            if not 0 <= sequence < 2**63:
                return None
            found = store.entry_at(connection, terms, sequence, ledger=shown)
            return None if found is None else entry_of(found, terms.name, ledger=shown)

    def verify(self, name: str | None = None) -> list[Verified]:
        """Check that the entries of an account, or of all, are those once written, and that the limits were kept.

        What no ledger can find by itself is a whole chain written anew, or an older copy put in its place; a receipt,
        or a head hash noted elsewhere, shows both: compare it with `find` and `history`. Stored releases are checked
        against accidents only.

        Raises:
            LedgerDamagedError: an entry was changed, left out, moved, or cut off; says which is the first. Or there is
                no account at all.
        """
        with self._reading() as connection:
            return verified(connection, name, ledger=self._database.shown)

    def export(self, name: str | None = None) -> Iterator[str]:
        """The entries of an account, or of all, each as a JSON object on one line, with what its hash is made of."""
        shown = self._database.shown
        with self._reading() as connection:
            names = store.account_names(connection, ledger=shown) if name is None else [short_text(name, "account")]
            for each in names:
                terms = store.account_row(connection, each, ledger=shown).terms
                yield from exported(store.entry_rows(connection, terms, ledger=shown), each, ledger=shown)

    @contextmanager
    def _reading(self) -> Generator[sa.Connection]:
        with self._database.reading() as connection:
            self._check_tables(connection)
            yield connection

    def _current(self) -> Database:
        """The database, its tables as this version of the library writes them."""
        if not self._is_current:
            migrate(self._database, create=False)
            self._is_current = True
        return self._database

    def _check_tables(self, connection: sa.Connection) -> None:
        if self._database.is_empty(connection, accounts.name):
            raise LedgerDamagedError(self._database.shown, "there is no ledger in it. Opening an account makes one.")
        check_version(connection.scalar(sa.select(version_now)), self._database)

    def _locked(self, connection: sa.Connection, name: str) -> store.AccountRow:
        row = store.account_row(connection, name, ledger=self._database.shown, lock=True)
        check_version(row.version, self._database)
        return row

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


def _opened(url: sa.URL, wait: float) -> Ledger:
    return Ledger(url, wait=wait)


def _stamp(kind: str, now: datetime | None = None) -> dict[str, str]:
    """What every entry says. The time is for the holder: nothing depends on the order of clocks.

    The nonce keeps it from whoever sees the entry's hash, in a receipt, and could try all milliseconds of a day.
    """
    time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
    return {"kind": kind, "time": time, "nonce": secrets.token_hex(16)}
