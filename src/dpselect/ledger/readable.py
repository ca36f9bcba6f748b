"""Reading a ledger: its accounts and entries, and whether they are those that were written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self, cast

import sqlalchemy as sa

from dpselect.checks import boolean, positive_count
from dpselect.errors import InvalidParameterError, LedgerDamagedError, Shown
from dpselect.ledger import store
from dpselect.ledger.accounts import described
from dpselect.ledger.anchor import anchor_of
from dpselect.ledger.arguments import seconds, short_text, tuples_of
from dpselect.ledger.database import Database, has_table
from dpselect.ledger.reading import entry_of, exported
from dpselect.ledger.records import Account, Entry, Head, Verified
from dpselect.ledger.restoring import copy_of, new_place
from dpselect.ledger.schema import accounts, check_version, ledger_id, names, version_now
from dpselect.ledger.verification import (
    Expected,
    refuse_behind,
    refuse_missing_accounts,
    refuse_unless_there,
    verified,
)


class ReadableLedger:
    """The part of `Ledger` that changes nothing. Arguments and errors are those of `Ledger`."""

    __slots__ = ("_anchor", "_database", "_id", "_place", "_wait")

    def __init__(self, url: str | Path | sa.URL, *, wait: float = 30.0, anchor: str | Path | None = None) -> None:
        self._database = Database(url, wait=seconds(wait), table=names.name)
        self._id: str | None = None
        address, self._wait = self._database.address
        self._place = address  # the same for one file, however its path is written
        if address.get_backend_name() == "sqlite":
            self._place = sa.URL.create("sqlite", database=os.path.realpath(str(address.database)))
        self._anchor = anchor_of(anchor, wait=self._wait, ledger=self._place)

    def __repr__(self) -> str:
        return f"Ledger({self._database!r})"

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
        with ReadableLedger(place) as copy:
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
