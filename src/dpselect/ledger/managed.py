"""What a ledger does besides charging: reading accounts and entries, verifying, opening, changing limits, closing."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import sqlalchemy as sa

from dpselect.accounting.rounding import fraction_up
from dpselect.checks import boolean, positive_count
from dpselect.errors import InvalidAccountError, InvalidLimitError, InvalidParameterError, LedgerDamagedError, Shown
from dpselect.ledger import store
from dpselect.ledger.accounts import FIRST, AccountTerms, State, account_seal, canonical, entry_hash
from dpselect.ledger.anchor import EXPECTED, anchor_of
from dpselect.ledger.arguments import Address, exact_fraction, seconds, short_text, tuples_of
from dpselect.ledger.database import SqliteDatabase, database_at, has_table
from dpselect.ledger.records import Account, Entry, Head, Verified, described, entry_of, exported
from dpselect.ledger.sqlite_file import copy_of, new_place
from dpselect.ledger.store import (
    accounts,
    check_version,
    created,
    entries,
    ledger_id,
    lock_accounts,
    names,
    version_now,
)
from dpselect.ledger.verification import (
    Expected,
    refuse_behind,
    refuse_missing_accounts,
    refuse_unless_there,
    verified,
)
from dpselect.privacy import Neighbours, neighbouring_relation

if TYPE_CHECKING:
    from dpselect.ledger.postgres import Server


class ManagedLedger:
    """All of `Ledger` but charging. Arguments and errors are those of `Ledger`."""

    __slots__ = ("_anchor", "_database", "_id", "_place", "_url", "_wait")

    def __init__(self, url: str | Path | sa.URL, *, wait: float = 30.0, anchor: str | Path | None = None) -> None:
        self._wait, at = seconds(wait), Address.given(url)
        self._database = database_at(at, wait=self._wait, table=names.name)
        self._id: str | None = None
        self._url = address = at.url
        self._place = address  # the same for one file, however its path is written
        if address.get_backend_name() == "sqlite":
            self._place = sa.URL.create("sqlite", database=os.path.realpath(str(address.database)))
        self._anchor = anchor_of(anchor, wait=self._wait, ledger=self._place)

    def __repr__(self) -> str:
        return f"Ledger({self._database.shown!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections to the database; the next use opens new ones."""
        self._database.close()

    def account(self, name: str) -> Account:
        """The account in its present state.

        Raises:
            InvalidAccountError: there is no account of this name.
        """
        with self._reading() as connection:
            row = store.account_row(connection, short_text(name, "account"), ledger=self._database.shown)
        return described(row.terms, row.state, row.head)

    def accounts(self) -> list[Account]:
        """All accounts, in the order in which they were opened."""
        with self._reading() as connection:
            rows = [
                store.account_row(connection, name, ledger=self._database.shown)
                for name in store.account_names(connection, ledger=self._database.shown)
            ]
        return [described(row.terms, row.state, row.head) for row in rows]

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
        with self._reading() as connection:
            shown = self._database.shown
            row = store.account_row(connection, name, ledger=shown)
            after = None if last is None else max(row.state.entries - 1 - last, -1)
            for each in store.entry_rows(connection, row.terms, ledger=shown, after=after):
                yield entry_of(each, name, ledger=shown)

    def under(self, account: str, request: str) -> list[Entry]:
        """The entries of the account under a request id, in order."""
        shown = self._database.shown
        with self._reading() as connection:
            row = store.account_row(connection, short_text(account, "account"), ledger=shown)
            held = store.entries_under(connection, row, short_text(request, "request"), ledger=shown)
            return [entry_of(each, row.terms.name, ledger=shown) for each in held]

    def find(self, account: str, sequence: int) -> Entry | None:
        """The entry of the account with this number, or None."""
        if isinstance(sequence, bool) or not isinstance(cast(object, sequence), int):
            raise InvalidParameterError("sequence", sequence, "the number of an entry")
        shown = self._database.shown
        with self._reading() as connection:
            terms = store.account_row(connection, short_text(account, "account"), ledger=shown).terms
            if not 0 <= sequence < 2**63:
                return None
            found = store.entry_at(connection, terms, sequence, ledger=shown)
            return None if found is None else entry_of(found, terms.name, ledger=shown)

    def verify(
        self, name: str | None = None, *, expected: Iterable[tuple[str, int, str]] = (), only_new: bool = False
    ) -> list[Verified]:
        """Check that the entries of one or all accounts are those that were written, and that limits were kept.

        A ledger alone cannot show that its whole chain was rewritten, or that an older copy took its place. The anchor
        shows both, and so does each receipt. Stored releases are checked against accidents only.

        Args:
            name: name of the account. None: check all accounts, and that none is missing.
            expected: entries known from elsewhere, for example from receipts: account, number and hash.
            only_new: start after the entry that the anchor noted, without reading earlier ones.

        Raises:
            LedgerDamagedError: an entry was changed, left out, moved, or cut off (the error names the first), or there
                is no account at all.
            LedgerRolledBackError: an entry that the anchor or `expected` knows of is missing.
            LedgerForkedError: a different entry is in its place.
            AnchorError: the anchor is damaged, cannot be read, or belongs to another ledger.
        """
        if boolean(only_new, "only_new") and self._anchor is None:
            raise InvalidParameterError("only_new", True, "False, or a ledger with an anchor")
        by_account: dict[str, list[Expected]] = {}
        for each in tuples_of(expected, "expected", 3):
            if [type(part) for part in each] != [str, int, str]:
                raise InvalidParameterError("expected", Shown("<another>"), "triples of account, number and hash")
            by_account.setdefault(each[0], []).append(Expected(*each))
        shown = self._database.shown
        with self._reading() as connection:
            names = store.account_names(connection, ledger=shown)
            refuse_missing_accounts(names, by_account, ledger=shown)
            for account, known in by_account.items():
                refuse_unless_there(
                    connection, store.account_row(connection, account, ledger=shown), known, ledger=shown
                )
            noted = self._noted()
            if self._anchor is not None:
                for account in names:
                    if account not in noted:
                        raise self._anchor.unknown(account)
            return verified(connection, name, ledger=shown, noted=noted, anchor=self._anchor, only_new=only_new)

    def export(self, name: str | None = None) -> Iterator[str]:
        """The entries of one or all accounts as JSON, one object on each line, with all that the hashes cover."""
        shown = self._database.shown
        with self._reading() as connection:
            names = store.account_names(connection, ledger=shown) if name is None else [short_text(name, "account")]
            for each in names:
                terms = store.account_row(connection, each, ledger=shown).terms
                yield from exported(store.entry_rows(connection, terms, ledger=shown), each, ledger=shown)

    def backup(self, to: str | Path) -> list[Verified]:
        """Copy the ledger, as it is now, into a new file, while others go on charging; then verify the copy.

        Raises:
            InvalidParameterError: a file exists at `to`, or the ledger is on a server (use its own ``pg_dump``).
            LedgerError: the ledger, or its copy, is not intact or cannot be written.
        """
        place = new_place(to, "to")
        with self._reading() as connection:
            raw = connection.connection.dbapi_connection
            if not isinstance(raw, sqlite3.Connection):
                raise InvalidParameterError("ledger", Shown("<server>"), "a SQLite file", "Servers: pg_dump.")
            copy_of(raw, place, ledger=self._database.shown)
        with ManagedLedger(place) as copy:
            return copy.verify()

    @contextmanager
    def _reading(self) -> Generator[sa.Connection]:
        with self._database.reading() as connection:
            self._check_tables(connection)
            self._id = self._id or ledger_id(connection, ledger=self._database.shown)
            yield connection

    def _noted(self) -> Mapping[str, Head]:
        """The heads in the anchor, by account."""
        return {} if self._anchor is None or self._id is None else self._anchor.heads(self._id)

    def _refuse_behind(self, connection: sa.Connection, row: store.AccountRow) -> Head | None:
        """Compare the account with the anchor, if there is one, and return its head; the anchor has to know it."""
        if self._anchor is None:
            return None
        noted = self._noted().get(row.terms.name)
        if noted is None:
            raise self._anchor.unknown(row.terms.name)
        refuse_behind(connection, row, noted, ledger=self._database.shown)
        return noted

    def _check_tables(self, connection: sa.Connection) -> None:
        if not (has_table(connection, accounts.name) and has_table(connection, names.name)):
            raise LedgerDamagedError(self._database.shown, "there is no ledger in it. Opening an account makes one.")
        check_version(connection.scalar(sa.select(version_now)), self._database.shown)

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
        self._id = created(self._database)
        with self._writing() as (connection, heads):
            lock_accounts(connection)
            names, noted = store.account_names(connection, ledger=self._database.shown), self._noted()
            if self._anchor is not None and names and not noted:
                raise self._anchor.unknown(names[0])
            if name in names:
                raise InvalidAccountError("account", Shown(repr(name)), "a name that no account of this ledger has")
            if name in noted:
                refuse_missing_accounts([], [name], ledger=self._database.shown)
            number = 1 + (connection.scalar(sa.select(sa.func.max(accounts.c.number))) or 0)
            terms = AccountTerms.new(
                epsilon=limit, delta=whole, set_aside=own, number=number, name=name, neighbours=relation
            )
            state = State.opened(terms, epsilon=limit, unit=unit)
            body = {"terms": terms.to_text(), "epsilon": str(limit), "unit": unit}
            text = canonical({**self._stamp("open"), **body, "account": name, "sequence": 0})
            head = entry_hash(FIRST, text)
            seal = account_seal(number, name, terms.to_text(), state.to_text(), head)
            row = {"number": number, "name": name, "terms": terms.to_text(), "state": state.to_text()}
            connection.execute(accounts.insert(), {**row, "head": head, "seal": seal})
            connection.execute(entries.insert(), {"account": number, "sequence": 0, "body": text, "hash": head})
            heads.append(store.head_of(terms, state, head))
        self._database.checkpoint()
        return described(terms, state, head)

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
        with self._writing() as (connection, heads):
            row = self._locked(connection, name)
            self._refuse_closed(row)
            spent = row.terms.spent(row.state.total)
            if spent > limit:
                expected = f"at least {fraction_up(spent)!r}, what is spent"
                raise InvalidLimitError("epsilon", float(limit), expected, "Nothing was changed.")
            state = row.state.limited(limit)
            body = {**self._stamp("limit"), "epsilon": str(limit)} | ({"note": reason} if reason else {})
            heads.append(store.append(connection, row, state, body))
        return described(row.terms, state, heads[-1].hash)

    def close(self, name: str) -> Account:
        """Close the account for ever: no more charges. Its history stays.

        Raises:
            InvalidAccountError: no such account, or it is closed already.
        """
        with self._writing() as (connection, heads):
            row = self._locked(connection, short_text(name, "account"))
            self._refuse_closed(row)
            state = row.state.closed()
            heads.append(store.append(connection, row, state, self._stamp("close")))
        return described(row.terms, state, heads[-1].hash)

    def anchor(self, to: str | Path) -> list[Head]:
        """Note the latest entry of every account in an anchor, once. ``Ledger(anchor=)`` does so after each charge.

        Raises:
            LedgerRolledBackError: the anchor knows of entries that are missing here.
            LedgerForkedError: the anchor knows of other entries.
            AnchorError: the anchor cannot be written, is damaged, or belongs to another ledger.
        """
        anchor = anchor_of(to, wait=self._wait, ledger=self._place)
        if anchor is None:
            raise InvalidParameterError("to", to, EXPECTED)
        self._current()
        with self._reading() as connection:
            id_, shown, found = cast(str, self._id), self._database.shown, list[Head]()
            known, names = anchor.heads(id_), store.account_names(connection, ledger=shown)
            refuse_missing_accounts(names, known, ledger=shown)
            for name in names:
                row = store.account_row(connection, name, ledger=shown)
                refuse_behind(connection, row, known.get(name), ledger=shown)
                found.append(store.head_of(row.terms, row.state, row.head))
                if name not in known or known[name].sequence < found[-1].sequence:
                    anchor.note(id_, found[-1])
            return found

    def _current(self) -> SqliteDatabase | Server:
        """The database, once its tables were seen to be those of a ledger."""
        if self._id is None:
            with self._reading():
                pass
        return self._database

    @contextmanager
    def _writing(self) -> Generator[tuple[sa.Connection, list[Head]]]:
        """A transaction, and a list for its new heads, which are noted in the anchor once the transaction is on disk.

        Not earlier: an anchor that is ahead of its ledger means that entries were lost. If the ledger is ahead, because
        of a crash in between, the last charge was never drawn.
        """
        heads: list[Head] = []
        with self._current().writing() as connection:
            yield connection, heads
        if self._anchor is not None:
            noted = [self._anchor.noted(cast(str, self._id), head) for head in heads]
            others = [now for now, head in zip(noted, heads, strict=True) if now != head]
            if others:  # someone else charged meanwhile: to this ledger, or to a copy of it
                with self._reading() as connection:
                    for now in others:
                        row = store.account_row(connection, now.account, ledger=self._database.shown)
                        refuse_behind(connection, row, now, ledger=self._database.shown)

    def _locked(self, connection: sa.Connection, name: str) -> store.AccountRow:
        row = store.account_row(connection, name, ledger=self._database.shown, lock=True)
        check_version(row.version, self._database.shown)
        noted = self._refuse_behind(connection, row)
        return row if noted is None else replace(row, noted=noted.sequence)

    def _stamp(self, kind: str, now: datetime | None = None) -> dict[str, str]:
        """The fields of every entry. The time is for the ledger's holder: nothing depends on the order of clocks.

        The nonce hides the time from anyone who sees the entry's hash in a receipt and tries all milliseconds of a day.
        """
        time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = {"kind": kind, "time": time, "nonce": secrets.token_hex(16)}
        return stamp | {"ledger": cast(str, self._id)}

    def _refuse_closed(self, row: store.AccountRow) -> None:
        if not row.state.is_open:
            raise InvalidAccountError("account", Shown(repr(row.terms.name)), "an open account; this one is closed")
