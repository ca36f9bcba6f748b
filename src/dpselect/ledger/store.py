"""The tables of a ledger, and a `Book`, which reads, writes and checks their rows in one transaction."""

from __future__ import annotations

import functools
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from dpselect.checks import did_you_mean
from dpselect.errors import (
    InvalidAccountError,
    InvalidCertificateError,
    LedgerDamagedError,
    LedgerForkedError,
    LedgerRolledBackError,
    LedgerUnavailableError,
    LedgerVersionError,
    typed,
)
from dpselect.ledger.accounts import UNREADABLE, Account, Head, canonical, digest
from dpselect.ledger.anchor import FileAnchor
from dpselect.ledger.entries import Entry, Receipt, after, entry_of, readable
from dpselect.ledger.sqlite import Transaction

CURRENT = 1
_LEDGER = "dpselect_ledger"
"""One row: the ledger's id, which entries and receipts contain and copies share, and the version of its tables."""
_TABLES = """\
CREATE TABLE dpselect_ledger (id TEXT NOT NULL PRIMARY KEY, version INTEGER);
CREATE TABLE dpselect_accounts (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, terms TEXT NOT NULL,
 state TEXT NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE dpselect_entries (account INTEGER NOT NULL REFERENCES dpselect_accounts (number), sequence BIGINT NOT NULL,
 request TEXT, body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (account, sequence)) {keyed};
CREATE TABLE dpselect_releases (account INTEGER NOT NULL, sequence BIGINT NOT NULL, body TEXT NOT NULL,
 hash TEXT NOT NULL, PRIMARY KEY (account, sequence),
 FOREIGN KEY (account, sequence) REFERENCES dpselect_entries (account, sequence)) {keyed};
CREATE INDEX dpselect_entries_request ON dpselect_entries (account, request) WHERE request IS NOT NULL"""
"""With `keyed`, rows of a file lie in the order of their keys."""
_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"


def create(connection: Transaction) -> None:
    """Create the tables, unless they are there. Their triggers stop accidental changes, not attacks."""
    is_file = not connection.lock
    if not is_file and not connection.has_table(_LEDGER):  # any user may hold this lock until the transaction ends
        connection.execute("SELECT pg_advisory_xact_lock(7234117045221903)")
    if connection.has_table(_LEDGER):
        return
    for statement in _TABLES.format(keyed="WITHOUT ROWID" if is_file else "").split(";"):
        connection.execute(statement)
    connection.insert(_LEDGER, id=secrets.token_hex(16), version=CURRENT)
    then = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    if not is_file:
        then = "FOR EACH STATEMENT EXECUTE FUNCTION dpselect_refuse()"
        raising = f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
        connection.execute(f"CREATE FUNCTION dpselect_refuse() RETURNS trigger LANGUAGE plpgsql AS {raising}")
    for never in ("entries UPDATE DELETE", "releases UPDATE DELETE", "accounts DELETE", "ledger INSERT UPDATE DELETE"):
        table, *acts = never.split()
        for act in acts if is_file else [*acts, "TRUNCATE"]:
            trigger = f"dpselect_{table}_no_{act.lower()} BEFORE {act} ON dpselect_{table}"
            connection.execute(f"CREATE TRIGGER {trigger} {then}")


_ACCOUNT = "SELECT * FROM dpselect_accounts WHERE name = :name"
_ENTRIES = """\
SELECT e.*, r.body AS "release", r.hash AS release_hash FROM dpselect_entries AS e
 LEFT JOIN dpselect_releases AS r ON r.account = e.account AND r.sequence = e.sequence WHERE e.account = :account"""
_UNDER_REQUEST = f"""\
{_ENTRIES} AND e.sequence IN
 (SELECT o.sequence FROM dpselect_entries AS o WHERE o.account = :account AND o.request = :request
 AND o.sequence > :after AND o.sequence < :end) ORDER BY e.sequence"""
"""The subquery needs only the index. For whole rows, SQLite assumes that an account has ten entries and a request nine,
and reads the whole account; and likewise if the range stands outside."""
PAGE = 1000
_PAGE = f"{_ENTRIES} AND e.sequence > :after AND e.sequence < :end ORDER BY e.sequence LIMIT {PAGE}"
_AT = f"{_ENTRIES} AND e.sequence = :place"
_STRAY = """\
SELECT 'an account is missing: its entries are there.' FROM dpselect_entries
 WHERE account NOT IN (SELECT number FROM dpselect_accounts)
UNION ALL SELECT 'an entry is missing: the release stored for it is there.' FROM dpselect_releases AS r
 LEFT JOIN dpselect_entries AS e ON e.account = r.account AND e.sequence = r.sequence
 WHERE e.sequence IS NULL LIMIT 1"""
_SURPLUS = """\
SELECT sequence FROM dpselect_entries WHERE account = :account AND (sequence < 0 OR sequence >= :end) LIMIT 1"""

_BEHIND = "an older copy was put in its place, or entries were cut off. Nothing was drawn. Find the complete ledger."
_BESIDE = (
    "two copies of the ledger were used, or its history was rewritten. Nothing was drawn. Use only the copy that its"
    " anchor and receipts belong to."
)


@dataclass
class Book:
    """The rows of a ledger in one transaction."""

    connection: Transaction
    ledger: str  # the ledger's address in messages
    anchor: FileAnchor | None
    id: str = field(init=False)
    head: Head | None = field(default=None, init=False)  # to note in the anchor after the commit

    def __post_init__(self) -> None:
        """Read the ledger's id, if its tables are there and of this version."""
        if not self.connection.has_table(_LEDGER):
            raise LedgerDamagedError(self.ledger, "there is no ledger in it. Opening an account makes one.")
        found = self.connection.execute(f"SELECT id, version FROM {_LEDGER}")
        if len(found) != 1 or not isinstance(found[0]["id"], str):
            raise LedgerDamagedError(self.ledger, "its own id is not what was written. Nothing was written.")
        self.id, version = found[0]["id"], found[0]["version"]
        if not isinstance(version, int):
            raise LedgerDamagedError(self.ledger, "it does not say which version it has. Nothing was written.")
        if version != CURRENT:
            text = f"another dpselect wrote it (version {version}; this one knows {CURRENT}). Nothing was written."
            raise LedgerVersionError(self.ledger, text)

    def names(self) -> list[str]:
        found = [row["name"] for row in self.connection.execute("SELECT name FROM dpselect_accounts ORDER BY number")]
        for place, name in enumerate(found, 1):
            if not isinstance(name, str):
                raise LedgerDamagedError(self.ledger, f"the name of its account number {place} cannot be read.")
        return found

    def account(self, name: str, *, lock: bool = False) -> Account:
        """The account called `name`; with `lock`, nobody else may change it until the transaction ends."""
        row, *_ = self.connection.execute(_ACCOUNT + self.connection.lock * lock, name=name) or [None]
        if row is None:
            hint = did_you_mean(name, self.names())  # a name that is not text is damage, not a missing account
            raise InvalidAccountError("account", typed(name), "the name of an account of this ledger", hint)
        try:
            account = Account.of_texts(row["terms"], row["state"], row["head"])
            said = {"number": account.number, "name": account.name, **account.moving}
            if not account.entries or said.items() - row.items():
                raise ValueError("not open, or another seal")
            return account
        except UNREADABLE:
            text = f"what account {name!r} says of itself is not what was written. Nothing was written; verify it."
            raise LedgerDamagedError(self.ledger, text) from None

    def under(self, account: Account, request: str) -> list[Entry]:
        """The entries of an account under a request id, in order; any that the account does not count was no charge."""
        return self._entries(account, _UNDER_REQUEST, request=request, after=-1, end=account.entries)

    def at(self, account: Account, sequence: int) -> Entry | None:
        return next(iter(self._entries(account, _AT, place=sequence)), None)

    def has(self, account: Account, sequence: int, known: str) -> bool:
        entry = self.at(account, sequence)
        return entry is not None and entry.hash == known

    def _entries(self, account: Account, statement: str, **values: object) -> list[Entry]:
        rows = self.connection.execute(statement, account=account.number, **values)
        return [entry_of(row, account.name, ledger=self.ledger) for row in rows]

    def append(self, before: Account, kind: str, **fields: Any) -> Account:
        """Write the next entry of an account, and the account as it is after it.

        The nonce hides the time from anyone who sees the hash in a receipt and tries all milliseconds of a day. The
        number that the anchor had noted shows later that the anchor was cut back.
        """
        before.refuse_closed()
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        noted = {"noted": self.noted[before.name].sequence} if before.name in self.noted else {}
        about = {"ledger": self.id, "account": before.name, "sequence": before.entries}
        body = {"kind": kind, "time": time, "nonce": secrets.token_hex(16), **fields, **noted, **about}
        text = canonical(body)
        new = replace(after(body, before), head=digest("entry", before.head, text))
        place = {"account": new.number, "sequence": before.entries, "request": fields.get("request")}
        self.connection.insert("dpselect_entries", **place, body=text, hash=new.head)
        self.connection.execute(
            "UPDATE dpselect_accounts SET state = :state, head = :head, seal = :seal WHERE number = :number",
            number=new.number,
            **new.moving,
        )
        self.head = new.to_head(self.id)
        return new

    def store(self, account: Account, receipt: Receipt, release: str) -> str:
        """`release`, now stored for the charge of `receipt`; or the release that its request had already."""
        held = self.under(account, str(receipt.request))
        if (receipt.sequence, receipt.hash) not in [(entry.sequence, entry.hash) for entry in held]:
            raise InvalidCertificateError("receipt", receipt, "the receipt of a charge of this ledger")
        for entry in held:
            if entry.release is not None:
                return entry.release
        place = {"account": account.number, "sequence": receipt.sequence}
        seal = digest("release", receipt.hash, release)
        self.connection.insert("dpselect_releases", **place, body=release, hash=seal)
        return release

    @functools.cached_property
    def noted(self) -> Mapping[str, Head]:
        """The latest entry of each account that the anchor knows; for a writer once the account is locked."""
        return {} if self.anchor is None else self.anchor.heads(self.id)

    def locked(self, name: str) -> Account:
        """The account, as its anchor knows it, which nobody else changes until the transaction ends."""
        account = self.account(name, lock=True)
        self.compare(account)
        return account

    def compare(self, account: Account) -> None:
        """Compare the account with the anchor, if there is one, which has to know it."""
        if self.anchor is None:
            return
        if account.name not in self.noted:
            raise self.anchor.unknown(account.name)
        self.refuse_behind(account, self.noted[account.name])

    def refuse_behind(self, account: Account, noted: Head) -> None:
        name = account.name
        if noted.sequence == account.entries - 1 and noted.hash == account.head:
            if noted.state != account.state:
                raise LedgerForkedError(self.ledger, f"account {name!r} differs from its anchor: {_BESIDE}")
            return  # nearly always: no entry has to be read
        once, last = noted.sequence, account.entries - 1
        if once > last:
            text = f"account {name!r} ends at entry {last}, and once had entry {once}: {_BEHIND}"
            raise LedgerRolledBackError(self.ledger, text)
        if not self.has(account, once, noted.hash):
            raise LedgerForkedError(self.ledger, f"entry {once} of account {name!r} is a different one: {_BESIDE}")
        with readable(name, once, ledger=self.ledger):
            known = Account.of_texts(account.terms, noted.state, noted.hash)
            has_spent_less = not account.total.covers(known.total)
            if known.state != noted.state:
                raise ValueError("not as a ledger writes it")
        if has_spent_less:
            raise LedgerRolledBackError(self.ledger, f"account {name!r} has spent less than its anchor says: {_BEHIND}")

    def refuse_missing(self, noted: Iterable[str]) -> None:
        missing = sorted({*noted} - {*self.names()})
        if missing:
            raise LedgerRolledBackError(self.ledger, f"account {missing[0]!r} is missing: {_BEHIND}")

    def sound_accounts(self) -> list[Account]:
        """All accounts, if nothing is missing or damaged, and none is behind what the anchor had noted before."""
        if not self.connection.lock:  # a file; a server looks after its own
            refuse_unsound_file(self.connection, ledger=self.ledger)
        wrong = self.connection.scalar(_STRAY)
        if wrong is not None:
            raise LedgerDamagedError(self.ledger, wrong)
        found = [self.account(name) for name in self.names()]
        if not found:
            raise LedgerDamagedError(self.ledger, "there is no account in it, and so nothing to verify.")
        if [each.number for each in found] != list(range(1, len(found) + 1)):
            raise LedgerDamagedError(self.ledger, "an account is missing.")
        self.refuse_missing(self.noted)
        for each in found:
            self.compare(each)
            place = self.connection.scalar(_SURPLUS, account=each.number, end=each.entries)
            if place is not None:
                text = f"account {each.name!r} has an entry {place}, which it does not count."
                raise LedgerDamagedError(self.ledger, text)
        return found


def entries_of(
    account: Account, reading: Callable[[], AbstractContextManager[Book]], *, after: int = -1
) -> Iterator[Entry]:
    """The entries that the account counts, a page in each transaction, so that nobody waits for long.

    Entries are only ever added: all are from the state in which the account was read.
    """
    while after < account.entries - 1:
        with reading() as book:
            page = book.connection.execute(_PAGE, account=account.number, after=after, end=account.entries)
        yield from (entry_of(row, account.name, ledger=book.ledger) for row in page)
        after = page[-1]["sequence"] if page else account.entries


def refuse_unsound_file(connection: Transaction, *, ledger: str) -> None:
    """Let SQLite check every page and index: with a damaged index a request is not found, and is charged again."""
    found = str(connection.scalar("PRAGMA integrity_check(1)"))
    unread = re.search(r"error code=([0-9]+)", found)  # of a page: SQLite reports it like damage, and goes on
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise LedgerUnavailableError(ledger, "the disk failed while its file was read. Try again.")
    if found != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")
