"""The ledger: what each account promises, and how much of it is spent, across processes and restarts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

from dpselect.accounting.events import Event, Run
from dpselect.accounting.filter import Limits
from dpselect.checks import fraction_up, positive_count, whole_number
from dpselect.errors import InvalidAccountError, InvalidParameterError, LedgerUnavailableError, Shown, import_extra
from dpselect.ledger import requests
from dpselect.ledger.accounts import Account, Head, exact_fraction, terms_of_new
from dpselect.ledger.anchor import FileAnchor
from dpselect.ledger.entries import AHEAD, Entry, Receipt, followed
from dpselect.ledger.sqlite import Address, SqliteFile, copy_of
from dpselect.ledger.store import Book, create, entries_of
from dpselect.mechanisms.seeding import refuse_seeded
from dpselect.privacy import Neighbours, neighbouring_relation, public_moment


class Ledger:
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
    >>> try:
    ...     receipt = ledger.charge("clicks", dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event)
    ... except dps.errors.ChargeRefusedError as refused:
    ...     print(refused.what)
    account 'clicks' has epsilon=0.25 left of 1.0; this would cost 0.5. Nothing was charged or drawn.
    >>> ledger.disconnect(); folder.cleanup()
    """

    __slots__ = ("_address", "_anchor", "_database", "_given", "_wait")

    def __init__(self, url: str | Path, *, wait: float = 30.0, anchor: str | Path | None = None) -> None:
        if isinstance(wait, bool) or not isinstance(cast(object, wait), (int, float)) or not 0 <= wait < 1e6:
            raise InvalidParameterError("wait", wait, "a number of seconds, from 0 to below a million")
        self._wait, self._given, self._address = float(wait), url, Address.given(url)
        if isinstance(self._address.place, Path):
            self._database = SqliteFile(self._address, wait=self._wait)
        else:
            postgres = import_extra("dpselect.ledger.postgres", "ledgers on PostgreSQL", "postgres")
            self._database = postgres.Server(self._address, wait=self._wait)
        self._anchor = None if anchor is None else FileAnchor(anchor, wait=self._wait, ledger=self._address.place)

    def __reduce__(self) -> tuple[Callable[[], Ledger], tuple[()]]:
        anchor = None if self._anchor is None else self._anchor.path
        return partial(Ledger, self._given, wait=self._wait, anchor=anchor), ()

    def __repr__(self) -> str:
        return f"Ledger({self._database.shown!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the database: a file put in its place, or another schema, is not refused from then on."""
        self._database.close()

    def account(self, name: str) -> Account:
        """The account in its present state; `InvalidAccountError` if there is none of this name."""
        with self._reading() as book:
            return book.account(requests.short_text(name, "account"))

    def accounts(self) -> list[Account]:
        """All accounts, in the order in which they were opened."""
        with self._reading() as book:
            return [book.account(name) for name in book.names()]

    def remaining(self, name: str) -> float:
        """The largest sum of epsilons that is certainly accepted, rounded down; see `Account.left`."""
        return self.account(name).left

    def history(self, name: str, *, last: int | None = None) -> list[Entry]:
        """The entries of the account, in order, or only the `last` ones. For a long history see `entries`."""
        return list(self.entries(name, last=last))

    def entries(self, name: str, *, last: int | None = None) -> Iterator[Entry]:
        """The same one by one, not held in memory together; all from the state of the ledger at the first step."""
        name = requests.short_text(name, "account")
        last = None if last is None else positive_count(last, "last")
        with self._reading() as book:
            account = book.account(name)
        yield from entries_of(account, self._reading, after=-1 if last is None else max(account.entries - 1 - last, -1))

    def under(self, account: str, request: str) -> list[Entry]:
        """The entries of the account under a request id, in order."""
        with self._reading() as book:
            held = book.account(requests.short_text(account, "account"))
            return book.under(held, requests.short_text(request, "request"))

    def find(self, account: str, sequence: int) -> Entry | None:
        """The entry of the account with this number, or None."""
        number = whole_number(sequence, "sequence", expected="the number of an entry")
        with self._reading() as book:
            held = book.account(requests.short_text(account, "account"))
            return book.at(held, number) if 0 <= number < 2**63 else None

    def verify(self, name: str | None = None) -> list[Account]:
        """Check that the entries of one or all accounts are those that were written, and that limits were kept.

        A ledger alone cannot show that its whole chain was rewritten, or that an older copy took its place: the anchor
        does, and each receipt. Stored releases are checked against accidents only. Without a name all accounts are
        checked, and that none is missing.

        Raises:
            LedgerDamagedError: an entry was changed, left out, moved, or cut off, or there is no account at all.
            LedgerRolledBackError: an entry that the anchor knows of is missing.
            LedgerForkedError: a different entry is in its place.
            AnchorError: the anchor is damaged, cannot be read, or belongs to another ledger.
        """
        wanted = None if name is None else requests.short_text(name, "account")
        with self._beside(self._anchor) as book:
            accounts = book.sound_accounts()
            found = accounts if wanted is None else [book.account(wanted)]
        for each in found:
            once = followed(each, entries_of(each, self._reading), ledger=book.ledger, own_id=book.id)
            if self._anchor is not None and once > book.noted[each.name].sequence:
                raise self._anchor.cut_back(book.noted[each.name], once)
        return found

    def backup(self, to: str | Path) -> list[Account]:
        """Copy the ledger, as it is now, into a new file, while others go on charging; then verify the copy.

        Raises:
            InvalidParameterError: a file exists at `to`, or the ledger is on a server (use its own ``pg_dump``).
        """
        with self._reading() as book:
            if not isinstance(self._database, SqliteFile):
                raise InvalidParameterError("ledger", Shown("<server>"), "a SQLite file", "Servers: pg_dump.")
            place = copy_of(book.connection.raw, to, ledger=book.ledger)
        with Ledger(place) as copy:
            return copy.verify()

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
            epsilon: the limit, > 0: the exact value of a float, a `Decimal`, a `Fraction`, or a decimal in text.
            delta: the probability with which `epsilon` may fail, from 0 to below 1; far below one over the number of
                units. If it is above 0, more charges fit, from about ten on.
            unit: who is protected, as in ``Dataset(unit=...)``. None: the unit of the first charge that names one.
            neighbours: which data sets the promise compares.
            set_aside: the part of `delta` reserved for mechanisms that have a delta of their own.

        Raises:
            InvalidAccountError: there is already an account of this name.
            LedgerError: the ledger cannot be written to.
        """
        name = requests.short_text(name, "account")
        unit = None if unit is None else requests.short_text(unit, "unit")
        limit = exact_fraction(epsilon, "epsilon")
        whole = exact_fraction(delta, "delta", is_delta=True)
        own = exact_fraction(set_aside, "set_aside", is_delta=True)
        relation = neighbouring_relation(neighbours)
        if own > whole:
            raise InvalidParameterError("set_aside", float(own), "at most delta")
        if isinstance(self._database, SqliteFile):
            self._database.make()
        with self._database.transaction(write=True) as connection:
            create(connection)
        with self._writing() as book:
            # Nobody else opens one until the transaction ends; on a server only users who may can lock.
            book.connection.execute(f"SELECT id FROM dpselect_ledger{book.connection.lock}")
            names = book.names()
            if self._anchor is not None and names and not book.noted:
                raise self._anchor.unknown(names[0])
            if name in names:
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            book.refuse_missing({name} & book.noted.keys())
            limits = Limits.new(epsilon=limit, delta=whole, set_aside=own)
            terms = terms_of_new(name, len(names) + 1, neighbours=relation, limits=limits)
            new = Account.unopened(terms)
            book.connection.insert("dpselect_accounts", number=new.number, name=name, terms=terms, **new.moving)
            return book.append(new, "open", terms=terms, epsilon=str(limit), unit=unit)

    def set_limit(self, name: str, *, epsilon: object, reason: str = "") -> Account:
        """Raise or lower the limit, by an entry of its own.

        Raising it weakens a promise that people may rely on, so it needs their consent. Proof, also of what holds if
        the decision depended on answers: ``proofs/ledger.md``.

        Args:
            epsilon: the new limit, as in `open_account`; at least what is spent.
            reason: why, and who allowed it; stored in the entry, and shown by `history`.

        Raises:
            InvalidAccountError: no such account, it is closed, or more than `epsilon` is spent already.
            LedgerReadOnlyError: this user of the server may not change limits.
        """
        name, limit = requests.short_text(name, "account"), exact_fraction(epsilon, "epsilon")
        reason = requests.short_text(reason, "reason", empty=True)
        with self._writing() as book:
            account = book.locked(name)
            if account.spent > limit:
                expected = f"at least {fraction_up(account.spent)!r}, what is spent"
                raise InvalidAccountError("epsilon", float(limit), expected, "Nothing was changed.")
            note = {"note": reason} if reason else {}
            return book.append(account, "limit", epsilon=str(limit), **note)

    def close(self, name: str) -> Account:
        """Close the account for ever: no more charges. Its history stays."""
        with self._writing() as book:
            return book.append(book.locked(requests.short_text(name, "account")), "close")

    def anchor(self, to: str | Path) -> list[Head]:
        """Note the latest entry of every account in an anchor, once. ``Ledger(anchor=)`` does so after each charge.

        Raises:
            LedgerRolledBackError, LedgerForkedError: the anchor knows of entries that are missing here, or others.
            AnchorError: the anchor cannot be written, is damaged, or belongs to another ledger.
        """
        anchor = FileAnchor(to, wait=self._wait, ledger=self._address.place)
        with self._beside(anchor) as book:
            known, found = book.noted, list[Head]()
            book.refuse_missing(known)
            for account in map(book.account, book.names()):
                noted, now = known.get(account.name), account.to_head(book.id)
                if noted is not None:
                    book.refuse_behind(account, noted)
                if noted != now:
                    anchor.note(now)
                found.append(now)
            return found

    @property
    def last_charge(self) -> Receipt | None:
        """The receipt of the last charge whose commit this thread has started; so an interrupt can name its entry."""
        return getattr(requests.last, "receipt", None)

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
        release was never stored stays spent: somebody may have seen the answer.

        Args:
            what: the mechanism's event, or a `Run`, whose unit and relation are checked against the account.
            request: an id of the caller's choice for this question, or None.
            question: the question in public words, the same whenever it is repeated. Only a hash is stored.
            note: a public note for people, stored with the charge.
            certificate: hash of the certificate without its answer (`Release.question_hash`), for the entry and the
                receipt.
            time: the time in the receipt, with a time zone: the start of the hour or day in which the question was
                asked, before any row was read. None: the day of the charge, in UTC.

        Raises:
            ChargeRefusedError: there is not enough left.
            InvalidAccountError: no such account, it is closed, or it protects another unit, or under another
                neighbouring relation.
            RequestReusedError: `request` belongs to another question.
            InvalidParameterError: `what` is not an event, an argument that has to be text is not, or the thread is in a
                block of `dpselect.testing.seeded`.
            LedgerError: the ledger cannot be written to.

        Proof: ``proofs/ledger.md``.
        """
        refuse_seeded()
        hour = None if time is None else public_moment(time, "time")
        (charge,) = self._requests(account, (what, request, question, certificate, note, hour))
        return requests.Attempt.new(charge).settled(self._writing, wait=self._wait)

    def charge_ahead(self, account: str, questions: Sequence[tuple[Run, str, str, str, datetime]]) -> None:
        """Charge all questions in one transaction, or none. Each is drawn after its own `charge`, which then is free.

        Nothing is charged for a question whose answer is stored, or that was charged ahead before and not drawn for. So
        after a crash the same call costs nothing for all questions but one: the one that was being drawn.

        Args:
            questions: of each question what `charge` takes: what runs, the id of its request, the question in public
                words, the hash of its certificate, and the public time. Errors are those of `charge`, too.

        Proof: ``proofs/ledger.md``.
        """
        refuse_seeded()
        asked = [(*words, "", public_moment(time, "time")) for *words, time in questions]
        charges = self._requests(account, *asked)
        patience = requests.Patience(self._wait)
        while True:
            try:
                with self._writing() as book:
                    held = book.locked(account)
                    unpaid = [charge for charge in charges if charge.known(book, held) is None]
                    book.head = held.to_head(book.id)
                    prices = requests.allowed(book, held, *unpaid)
                    for charge, cost in zip(unpaid, prices, strict=True):
                        held = book.append(held, "charge", **charge.entry_fields(cost), **{AHEAD: True})
                return
            except LedgerUnavailableError:  # if the commit took effect all the same, the next attempt finds its entries
                if not patience.lasts():
                    raise

    def look(self, account: str, questions: Sequence[tuple[Event | Run, str | None, str]]) -> list[Receipt | None]:
        """Raise what charging the questions would raise now, one after another, without charging any.

        For use before long work that is wasted if a charge is refused. `charge` decides again. A question is given by
        what would run, the id of its request or None, and its public words.

        Returns:
            For each question its stored answer; or the receipt of a charge that was made ahead and not drawn for; or
            None.
        """
        charges = self._requests(account, *questions)
        with self._beside(self._anchor) as book:
            held = book.account(account)
            book.compare(held)
            known = [charge.known(book, held) for charge in charges]
            asked = zip(charges, known, strict=True)
            unpaid = [each for each, answer in asked if answer is None and not requests.is_paid(book, held, each)]
            requests.allowed(book, held, *unpaid)
        return known

    def store_release(self, receipt: Receipt, release: str) -> str:
        """Store the answer of a charge that has a request id, and return the answer to show.

        Call it after the draw and before the answer is shown to anyone. If another process has answered the same
        request meanwhile, its answer is returned. If the ledger is locked, full or unreachable for `wait` seconds, the
        answer is returned all the same, because it was charged. This process keeps it and stores it when it can.

        Raises:
            InvalidCertificateError, LedgerDamagedError: the receipt is not one of this ledger's, or the charge may be
                lost. The answer must not be shown then.
            InvalidParameterError: the receipt has no request id, the release is not text that UTF-8 can hold, or it is
                a certificate that says that it is seeded.

        Warns:
            AnswerNotStoredWarning: the answer could not be stored.

        Proof: ``proofs/ledger.md``.
        """
        return requests.given_out(receipt, release, self._stored_release, ledger=self._address, wait=self._wait)

    def _stored_release(self, receipt: Receipt, release: str) -> str:
        with self._writing() as book:
            return book.store(book.locked(receipt.account), receipt, release)

    def _requests(self, account: str, *questions: tuple[Any, ...]) -> list[requests.ChargeRequest]:
        """The charges that are asked for. Answers that this process still keeps are stored before."""
        account = requests.short_text(account, "account")
        charges = [requests.ChargeRequest(self._address, account, *each) for each in questions]
        requests.store_remembered(self._address, self._stored_release)
        return charges

    @contextmanager
    def _reading(self, *, write: bool = False) -> Generator[Book]:
        with self._database.transaction(write=write) as connection:
            yield Book(connection, self._address.shown, self._anchor)

    @contextmanager
    def _beside(self, anchor: FileAnchor | None) -> Generator[Book]:
        """A transaction that sees at least what the anchor knew before it: on a server others charge meanwhile."""
        known: Mapping[str, Head] = {}
        if anchor is not None:
            with self._reading() as book:
                known = anchor.heads(book.id)
        with self._reading() as book:
            book.noted = known
            yield book

    @contextmanager
    def _writing(self) -> Generator[Book]:
        """A transaction, whose new heads are noted in the anchor once it is on disk.

        Not earlier: an anchor that is ahead of its ledger means that entries were lost.
        """
        with self._reading(write=True) as book:
            yield book
        if self._anchor is not None and book.head is not None:
            noted = self._anchor.noted(book.head)
            if noted != book.head:  # someone else charged meanwhile: to this ledger, or to a copy of it
                with self._reading() as book:
                    book.refuse_behind(book.account(noted.account), noted)
