"""What a ledger does besides charging: reading accounts and entries, verifying, opening, changing limits, closing."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, cast

from dpselect.accounting.filter import Limits
from dpselect.accounting.rounding import fraction_up
from dpselect.checks import positive_count
from dpselect.errors import InvalidAccountError, InvalidLimitError, InvalidParameterError, Shown
from dpselect.ledger.accounts import Account, Head
from dpselect.ledger.anchor import EXPECTED, anchor_of
from dpselect.ledger.arguments import Address, exact_fraction, seconds, short_text
from dpselect.ledger.entries import Entry, followed
from dpselect.ledger.sqlite import SqliteFile, copy_of
from dpselect.ledger.store import Book, create, database_at
from dpselect.privacy import Neighbours, neighbouring_relation


class ManagedLedger:
    """All of `Ledger` but charging. Arguments and errors are those of `Ledger`."""

    __slots__ = ("_address", "_anchor", "_database", "_given", "_id", "_wait")

    def __init__(self, url: str | Path, *, wait: float = 30.0, anchor: str | Path | None = None) -> None:
        self._wait, self._given, self._address = seconds(wait), url, Address.given(url)
        self._database = database_at(self._address, wait=self._wait)
        self._id = ""
        self._anchor = anchor_of(anchor, wait=self._wait, ledger=self._address.path)

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
        """The account in its present state.

        Raises:
            InvalidAccountError: there is no account of this name.
        """
        with self._reading() as book:
            return book.account(short_text(name, "account"))

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
        """The same one by one, without holding them all in memory; all from the state of the ledger at the first step.

        Raises:
            InvalidAccountError: there is no account of this name.
            InvalidParameterError: `last` is not a whole number > 0.
        """
        name = short_text(name, "account")
        last = None if last is None else positive_count(last, "last")
        with self._reading() as book:
            account = book.account(name)
        for row in self._rows(account, after=-1 if last is None else max(account.entries - 1 - last, -1)):
            yield book.read(row, account)

    def under(self, account: str, request: str) -> list[Entry]:
        """The entries of the account under a request id, in order."""
        with self._reading() as book:
            return book.under(book.account(short_text(account, "account")), short_text(request, "request"))

    def find(self, account: str, sequence: int) -> Entry | None:
        """The entry of the account with this number, or None."""
        if isinstance(sequence, bool) or not isinstance(cast(object, sequence), int):
            raise InvalidParameterError("sequence", sequence, "the number of an entry")
        with self._reading() as book:
            row = book.account(short_text(account, "account"))
            return book.at(row, sequence) if 0 <= sequence < 2**63 else None

    def verify(self, name: str | None = None) -> list[Account]:
        """Check that the entries of one or all accounts are those that were written, and that limits were kept.

        A ledger alone cannot show that its whole chain was rewritten, or that an older copy took its place. The anchor
        shows both, and so does each receipt. Stored releases are checked against accidents only.

        Args:
            name: name of the account. None: check all accounts, and that none is missing.

        Raises:
            LedgerDamagedError: an entry was changed, left out, moved, or cut off (the error names the first), or there
                is no account at all.
            LedgerRolledBackError: an entry that the anchor knows of is missing.
            LedgerForkedError: a different entry is in its place.
            AnchorError: the anchor is damaged, cannot be read, or belongs to another ledger.
        """
        wanted = None if name is None else short_text(name, "account")
        with self._reading() as book:
            noted = self._noted()
            if self._anchor is not None and (unknown := [each for each in book.names() if each not in noted]):
                raise self._anchor.unknown(unknown[0])
            book.refuse_unsound()
            held = book.all_names(noted)
            found = [book.account(each) for each in (held if wanted is None else [wanted])]
            for each in found:
                book.refuse_behind(each, noted.get(each.name))
                book.refuse_surplus(each)
        for each in found:
            once = followed(each, self._rows(each), ledger=book.ledger, own_id=book.id)
            if self._anchor is not None and once > noted[each.name].sequence:
                raise self._anchor.cut_back(noted[each.name], once)
        return found

    def backup(self, to: str | Path) -> list[Account]:
        """Copy the ledger, as it is now, into a new file, while others go on charging; then verify the copy.

        Raises:
            InvalidParameterError: a file exists at `to`, or the ledger is on a server (use its own ``pg_dump``).
            LedgerError: the ledger, or its copy, is not intact or cannot be written.
        """
        with self._reading() as book:
            if not isinstance(self._database, SqliteFile):
                raise InvalidParameterError("ledger", Shown("<server>"), "a SQLite file", "Servers: pg_dump.")
            place = copy_of(book.connection.raw, to, ledger=book.ledger)
        with ManagedLedger(place) as copy:
            return copy.verify()

    @contextmanager
    def _reading(self) -> Generator[Book]:
        with self._database.reading() as connection:
            book = Book(connection, self._database.shown)
            book.identify()
            self._id = self._id or book.id
            yield book

    def _rows(self, account: Account, *, after: int = -1) -> Iterator[Mapping[Any, Any]]:
        """The rows of the entries that the account counts, a page in each transaction, so that nobody waits for long.

        Entries are only ever added: all rows are from the state in which the account was read.
        """
        while after < account.entries - 1:
            with self._reading() as book:
                page = book.page(account, after=after)
            yield from page
            after = page[-1]["sequence"] if page else account.entries

    def _noted(self) -> Mapping[str, Head]:
        """The heads in the anchor, by account."""
        return {} if self._anchor is None else self._anchor.heads(self._id)

    def _refuse_behind(self, book: Book, account: Account) -> int | None:
        """Compare the account with the anchor, if there is one, which has to know it; the number that it noted."""
        if self._anchor is None:
            return None
        noted = self._noted().get(account.name)
        if noted is None:
            raise self._anchor.unknown(account.name)
        book.refuse_behind(account, noted)
        return noted.sequence

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
            epsilon: the limit, > 0: the exact value of a float, a `Decimal`, a `Fraction`, or a decimal in text.
            delta: the probability with which `epsilon` may fail, from 0 to below 1; far below one over the number of
                units. If it is above 0, more charges fit, from about ten on.
            unit: who is protected, as in ``Dataset(unit=...)``. None: the unit of the first charge that names one.
            neighbours: which data sets the promise compares.
            set_aside: the part of `delta` reserved for mechanisms that have a delta of their own.

        Raises:
            InvalidAccountError: there is already an account of this name.
            InvalidParameterError: an argument is out of range.
            LedgerError: the ledger cannot be written to.
        """
        name = short_text(name, "account")
        unit = None if unit is None else short_text(unit, "unit")
        limit = exact_fraction(epsilon, "epsilon")
        whole = exact_fraction(delta, "delta", zero=True, below_one=True)
        own = exact_fraction(set_aside, "set_aside", zero=True, below_one=True)
        relation = neighbouring_relation(neighbours)
        if own > whole:
            raise InvalidParameterError("set_aside", float(own), "at most delta")
        create(self._database)
        with self._writing() as book:
            book.identify()
            book.lock_accounts()
            names, noted = book.names(), self._noted()
            if self._anchor is not None and names and not noted:
                raise self._anchor.unknown(names[0])
            if name in names:
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            if name in noted:
                book.refuse_missing([name])
            number = 1 + (book.connection.scalar("SELECT max(number) FROM dpselect_accounts") or 0)
            limits = Limits.new(epsilon=limit, delta=whole, set_aside=own)
            new = Account.new(name, number, neighbours=relation, limits=limits, epsilon=limit, unit=unit)
            return book.open(new)

    def set_limit(self, name: str, *, epsilon: object, reason: str = "") -> Account:
        """Raise or lower the limit, by an entry of its own.

        Raising it weakens a promise that people may rely on, so it needs their consent. Proof, also of what holds if
        the decision depended on answers: ``proofs/ledger.md``.

        Args:
            name: of the account.
            epsilon: the new limit, as in `open_account`; at least what is spent.
            reason: why, and who allowed it; stored in the entry, and shown by `history`.

        Raises:
            InvalidLimitError: more than `epsilon` is spent already.
            InvalidAccountError: no such account, or it is closed.
            LedgerReadOnlyError: this user of the server may not change limits.
        """
        name, limit = short_text(name, "account"), exact_fraction(epsilon, "epsilon")
        reason = short_text(reason, "reason", empty=True)
        with self._writing() as book:
            account = self._locked(book, name)
            refuse_closed(account)
            if account.spent > limit:
                expected = f"at least {fraction_up(account.spent)!r}, what is spent"
                raise InvalidLimitError("epsilon", float(limit), expected, "Nothing was changed.")
            note = {"note": reason} if reason else {}
            return book.append(account, "limit", epsilon=str(limit), **note)

    def close(self, name: str) -> Account:
        """Close the account for ever: no more charges. Its history stays.

        Raises:
            InvalidAccountError: no such account, or it is closed already.
        """
        with self._writing() as book:
            account = self._locked(book, short_text(name, "account"))
            refuse_closed(account)
            return book.append(account, "close")

    def anchor(self, to: str | Path) -> list[Head]:
        """Note the latest entry of every account in an anchor, once. ``Ledger(anchor=)`` does so after each charge.

        Raises:
            LedgerRolledBackError: the anchor knows of entries that are missing here.
            LedgerForkedError: the anchor knows of other entries.
            AnchorError: the anchor cannot be written, is damaged, or belongs to another ledger.
        """
        anchor = anchor_of(to, wait=self._wait, ledger=self._address.path)
        if anchor is None:
            raise InvalidParameterError("to", to, EXPECTED)
        with self._reading() as book:
            known, names, found = anchor.heads(self._id), book.names(), list[Head]()
            book.refuse_missing(known)
            for name in names:
                account = book.account(name)
                book.refuse_behind(account, known.get(name))
                found.append(account.to_head(self._id))
                if name not in known or known[name].sequence < found[-1].sequence:
                    anchor.note(found[-1])
            return found

    @contextmanager
    def _writing(self) -> Generator[Book]:
        """A transaction, whose new heads are noted in the anchor once it is on disk.

        Not earlier: an anchor that is ahead of its ledger means that entries were lost. If the ledger is ahead, because
        of a crash in between, the last charge was never drawn.
        """
        if not self._id:
            with self._reading():
                pass
        with self._database.writing() as connection:
            book = Book(connection, self._database.shown, self._id)
            yield book
        if self._anchor is not None and book.head is not None:
            noted = self._anchor.noted(book.head)
            if noted != book.head:  # someone else charged meanwhile: to this ledger, or to a copy of it
                with self._reading() as book:
                    book.refuse_behind(book.account(noted.account), noted)

    def _locked(self, book: Book, name: str) -> Account:
        """The account, which nobody else changes until the transaction ends."""
        account = book.account(name, lock=True)
        book.noted = self._refuse_behind(book, account)
        return account


def refuse_closed(account: Account) -> None:
    """Refuse an account to which nothing is added any more."""
    if not account.is_open:
        raise InvalidAccountError("account", Shown(repr(account.name)), "an open account; this one is closed")
