"""Where a ledger is, its tables, and a `Book`: reading, writing and checking their rows in one transaction."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.errors import (
    InvalidAccountError,
    InvalidParameterError,
    LedgerDamagedError,
    LedgerForkedError,
    LedgerRolledBackError,
    LedgerUnavailableError,
    LedgerVersionError,
    MissingExtraError,
    Shown,
    did_you_mean,
    typed,
)
from dpselect.ledger.accounts import UNREADABLE, Account, Head, canonical, digest
from dpselect.ledger.entries import Entry, after, damaged_entry, entry_of, readable
from dpselect.ledger.sqlite import SqliteFile, Transaction
from dpselect.server_urls import HIDDEN, is_conninfo, is_server, may_tell_password, without_password

if TYPE_CHECKING:
    from dpselect.ledger.postgres import Server

_EXPECTED = "a database URL such as 'sqlite:///budget.db' or 'postgresql://user@host/database', or the path of a file"
_NO_SERVER = "A server is named by a URL, never by host=...; and a new file by no name that looks like one."


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a ledger."""

    place: str
    """The same for one database, however its address is written: the file's path, or the server's URL."""
    shown: str
    """The address in messages: without a password, and without options, since any option may hold one."""
    path: Path | None = None
    """Of the file; None for a server."""
    read_only: bool = False

    @classmethod
    def given(cls, url: object) -> Address:
        """The address of `url`, a URL or a path as the caller gave it.

        >>> Address.given("postgresql://ann:secret@db/budgets").shown, Address.given("budget.db").shown
        ('postgresql://ann@db/budgets', 'sqlite:///budget.db')
        """
        if isinstance(url, Path) or (isinstance(url, str) and _names_file(url)):
            return cls._of_file(str(url))
        if not isinstance(url, str):
            raise InvalidParameterError("ledger", url, _EXPECTED)
        scheme, is_url, rest = url.partition("://")
        before, _, options = rest.partition("?")
        if not (is_url and re.fullmatch(r"\w+(\+\w+)?", scheme)):
            raise _refused("<text>")
        if scheme == "sqlite":
            if before and not before.startswith("/"):
                raise _refused(HIDDEN, _NO_SERVER)
            if options not in ("", "mode=ro", "mode=rw"):
                raise InvalidParameterError("ledger", Shown("<URL with another option>"), "no option but ?mode=ro")
            return cls._of_file(before[1:], read_only=options == "mode=ro")
        if scheme != "postgresql":
            raise _refused(f"<{scheme} URL>")
        if before.count("@") > 1 or "@" in options:
            raise _refused("<URL>", "In names and passwords write @ as %40, ? as %3F.")
        if not is_server(before.rpartition("@")[2].partition("/")[0]):
            raise _refused("<text>")
        return cls(url, without_password(url))

    @classmethod
    def _of_file(cls, name: str, *, read_only: bool = False) -> Address:
        if not name or name == ":memory:":
            raise _refused("<in memory>", "A ledger has to outlive the process that writes it.")
        if names_a_server(name):
            raise _refused(HIDDEN, _NO_SERVER)
        if "\0" in name:
            raise _refused("<path with a NUL>")
        try:
            path = Path(os.path.realpath(name))  # SQLite keeps its log beside the file, not beside a link to it
            os.fsencode(path)
        except UnicodeEncodeError:
            raise _refused("<path that is no text>") from None
        return cls(str(path), f"sqlite:///{name}", path, read_only)


def _refused(shown: str, hint: str = "") -> InvalidParameterError:
    return InvalidParameterError("ledger", Shown(shown), _EXPECTED, hint)


def _names_file(text: str, *, windows: bool = os.name == "nt") -> bool:
    r"""Whether `text` is a path and not a URL.

    >>> _names_file("budget.db"), _names_file("sqlite:///budget.db"), _names_file(r"C:\data\budget.db", windows=True)
    (True, False, True)
    """
    if windows and re.match(r"[A-Za-z]:[\\/](?!/)", text):
        return True
    return bool(text) and ":" not in text and "?" not in text


def names_a_server(path: str) -> bool:
    """Whether a path to no file was probably meant as a server's address. Folders that exist count as folders."""
    try:
        if os.path.exists(path):
            return False
        folder, name = os.path.split(path)
        name = name if folder and os.path.isdir(folder) else path
    except ValueError:
        name = path
    return is_conninfo(name) or may_tell_password(name)


CURRENT = 1
_LEDGER = "dpselect_ledger"
"""One row: the ledger's id, which entries and receipts contain and copies share, and the version of its tables."""


def _tables(keyed: str) -> tuple[str, ...]:
    """The statements that create the tables; `keyed` stands after those whose rows lie in the order of their keys."""
    return (
        f"CREATE TABLE {_LEDGER} (id TEXT NOT NULL PRIMARY KEY, version INTEGER)",
        "CREATE TABLE dpselect_accounts (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
        " terms TEXT NOT NULL, state TEXT NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL)",
        "CREATE TABLE dpselect_entries (account INTEGER NOT NULL REFERENCES dpselect_accounts (number),"
        " sequence BIGINT NOT NULL, request TEXT, body TEXT NOT NULL, hash TEXT NOT NULL,"
        f" PRIMARY KEY (account, sequence)){keyed}",
        "CREATE TABLE dpselect_releases (account INTEGER NOT NULL, sequence BIGINT NOT NULL, body TEXT NOT NULL,"
        " hash TEXT NOT NULL, PRIMARY KEY (account, sequence),"
        f" FOREIGN KEY (account, sequence) REFERENCES dpselect_entries (account, sequence)){keyed}",
        "CREATE INDEX dpselect_entries_request ON dpselect_entries (account, request) WHERE request IS NOT NULL",
    )


_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"
_NEVER = {
    "entries": "UPDATE DELETE",
    "releases": "UPDATE DELETE",
    "accounts": "DELETE",
    "ledger": "INSERT UPDATE DELETE",
}


def database_at(address: Address, *, wait: float) -> SqliteFile | Server:
    """The database at an address. It gives out transactions, and turns the driver's errors into a `LedgerError`."""
    if address.path is not None:
        return SqliteFile(address.path, address.shown, wait=wait, read_only=address.read_only)
    try:
        from dpselect.ledger.postgres import Server
    except ModuleNotFoundError:
        raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
    return Server(address.place, address.shown, wait=wait, table=_LEDGER)


def create(database: SqliteFile | Server) -> None:
    """Create the tables, unless they are there. Their triggers stop accidental changes, not attacks."""
    is_file = isinstance(database, SqliteFile)
    with database.writing(create=True) as connection:
        if not is_file and not connection.has_table(_LEDGER):  # any user may hold this lock until the transaction ends
            connection.execute("SELECT pg_advisory_xact_lock(7234117045221903)")
        if connection.has_table(_LEDGER):
            return
        for statement in _tables(" WITHOUT ROWID" if is_file else ""):
            connection.execute(statement)
        connection.insert(_LEDGER, id=secrets.token_hex(16), version=CURRENT)
        if not is_file:
            connection.execute(
                "CREATE FUNCTION dpselect_refuse() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
            )
        for table, acts in _NEVER.items():
            for act in acts.split() if is_file else [f"{acts} TRUNCATE".replace(" ", " OR ")]:
                name = f"dpselect_{table}_no_{act.lower()}" if is_file else f"dpselect_{table}_kept"
                then = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
                then = then if is_file else "FOR EACH STATEMENT EXECUTE FUNCTION dpselect_refuse()"
                connection.execute(f"CREATE TRIGGER {name} BEFORE {act} ON dpselect_{table} {then}")


_ACCOUNT = """\
SELECT a.*, (SELECT max(version) FROM dpselect_ledger) AS version FROM dpselect_accounts AS a WHERE a.name = :name"""
_ENTRIES = """\
SELECT e.*, r.body AS "release", r.hash AS release_hash FROM dpselect_entries AS e
 LEFT JOIN dpselect_releases AS r ON r.account = e.account AND r.sequence = e.sequence WHERE e.account = :account"""
_UNDER_REQUEST = f"""\
{_ENTRIES} AND e.sequence IN
 (SELECT o.sequence FROM dpselect_entries AS o WHERE o.account = :account AND o.request = :request)
 ORDER BY e.sequence"""
"""The subquery needs only the index. For whole rows, SQLite assumes that an account has ten entries and a request nine,
and reads the whole account."""
PAGE = 1000
_PAGE = f"{_ENTRIES} AND e.sequence > :after AND e.sequence < :end ORDER BY e.sequence LIMIT {PAGE}"
_AT = f"{_ENTRIES} AND e.sequence = :place"
_WITHOUT_ACCOUNT = "SELECT 1 FROM dpselect_entries WHERE account NOT IN (SELECT number FROM dpselect_accounts) LIMIT 1"
_WITHOUT_CHARGE = """\
SELECT 1 FROM dpselect_releases AS r
 LEFT JOIN dpselect_entries AS e ON e.account = r.account AND e.sequence = r.sequence
 WHERE e.sequence IS NULL LIMIT 1"""

_SURPLUS = """\
SELECT sequence FROM dpselect_entries WHERE account = :account AND (sequence < 0 OR sequence >= :end) LIMIT 1"""

_BEHIND = "an older copy was put in its place, or entries were cut off. Nothing was drawn. Find the complete ledger."
_BESIDE = (
    "two copies of the ledger were used, or its history was rewritten. Nothing was drawn. Use only the copy that its"
    " anchor and receipts belong to."
)


@dataclass(slots=True)
class Book:
    """The rows of a ledger in one transaction."""

    connection: Transaction
    ledger: str
    """The ledger's address in messages."""
    id: str = ""
    noted: int | None = None
    """Number of the entry that the anchor knew when the account was locked; entries contain it, so that an anchor that
    was cut back is noticed."""
    head: Head | None = None
    """To note in the anchor after the commit."""

    def identify(self) -> None:
        """Read the ledger's id, if its tables are there and of this version."""
        if not self.connection.has_table(_LEDGER):
            raise LedgerDamagedError(self.ledger, "there is no ledger in it. Opening an account makes one.")
        found = self.connection.execute(f"SELECT id, version FROM {_LEDGER}")
        if len(found) != 1 or not isinstance(found[0]["id"], str):
            raise LedgerDamagedError(self.ledger, "its own id is not what was written. Nothing was written.")
        self._check_version(found[0]["version"])
        self.id = found[0]["id"]

    def _check_version(self, version: object) -> None:
        if not isinstance(version, int):
            raise LedgerDamagedError(self.ledger, "it does not say which version it has. Nothing was written.")
        if version != CURRENT:
            text = f"another dpselect wrote it (version {version}; this one knows {CURRENT}). Nothing was written."
            raise LedgerVersionError(self.ledger, text)

    def lock_accounts(self) -> None:
        """Lock the opening of accounts until the transaction ends: on a server only users who may open some can."""
        self.connection.execute(f"SELECT id FROM {_LEDGER}{self.connection.lock}")

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
        self._check_version(row["version"])
        try:
            account = Account.of_texts(row["terms"], row["state"], row["head"])
            if {"number": account.number, "name": account.name, **account.moving}.items() - row.items():
                raise ValueError("another seal")
            return account
        except UNREADABLE:
            text = f"what account {name!r} says of itself is not what was written. Nothing was written; verify it."
            raise LedgerDamagedError(self.ledger, text) from None

    def page(self, account: Account, *, after: int) -> list[dict[str, Any]]:
        """The rows of the first thousand entries after this number that the account counts, with their releases."""
        found = self.connection.execute(_PAGE, account=account.number, after=after, end=account.entries)
        return self._sound(found, account)

    def under(self, account: Account, request: str) -> list[Entry]:
        """The entries of an account under a request id, in order; any that the account does not count was no charge."""
        found = self.connection.execute(_UNDER_REQUEST, account=account.number, request=request)
        counted = [each for each in found if 0 <= each["sequence"] < account.entries]
        return [self.read(each, account) for each in self._sound(counted, account)]

    def at(self, account: Account, sequence: int) -> Entry | None:
        found = self._sound(self.connection.execute(_AT, account=account.number, place=sequence), account)
        return next((self.read(each, account) for each in found), None)

    def has(self, account: Account, sequence: int, known: str) -> bool:
        entry = self.at(account, sequence)
        return entry is not None and entry.hash == known

    def _sound(self, rows: list[dict[str, Any]], account: Account) -> list[dict[str, Any]]:
        """Rows of entries whose types are right, as SQLite stores anything in any column; and their releases."""
        for each in rows:
            texts = isinstance(each["body"], str) and isinstance(each["hash"], str)
            others = all(isinstance(each[name], str | None) for name in ("request", "release", "release_hash"))
            if not (texts and others and isinstance(each["sequence"], int)):
                raise damaged_entry(account.name, each["sequence"], ledger=self.ledger)
            known = None if each["release"] is None else digest("release", each["hash"], each["release"])
            if known != each["release_hash"]:
                place = f"entry {each['sequence']} of account {account.name!r}"
                raise LedgerDamagedError(self.ledger, f"{place} has another release than was stored.")
        return rows

    def read(self, row: Mapping[Any, Any], account: Account) -> Entry:
        with readable(account.name, row["sequence"], ledger=self.ledger):
            return entry_of(row)

    def open(self, account: Account) -> Account:
        fixed = {"number": account.number, "name": account.name, "terms": account.terms}
        self.connection.insert("dpselect_accounts", **fixed, **account.moving)
        epsilon = str(account.epsilon)
        return self.append(account, "open", terms=account.terms, epsilon=epsilon, unit=account.unit)

    def append(self, before: Account, kind: str, now: datetime | None = None, /, **fields: Any) -> Account:
        """Write the next entry of an account, and the account as it is after it.

        The nonce hides the time from anyone who sees the hash in a receipt and tries all milliseconds of a day.
        """
        time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = {"kind": kind, "time": time, "nonce": secrets.token_hex(16), "ledger": self.id}
        noted = {} if self.noted is None else {"noted": self.noted}
        sequence = before.entries
        body = {**stamp, **fields, **noted, "account": before.name, "sequence": sequence}
        text = canonical(body)
        new = replace(after(body, before), head=digest("entry", before.head, text))
        place = {"account": new.number, "sequence": sequence, "request": fields.get("request")}
        self.connection.insert("dpselect_entries", **place, body=text, hash=new.head)
        self.connection.execute(
            "UPDATE dpselect_accounts SET state = :state, head = :head, seal = :seal WHERE number = :number",
            number=new.number,
            **new.moving,
        )
        self.head = new.to_head(self.id)
        return new

    def insert_release(self, account: Account, sequence: int, release: str, seal: str) -> None:
        place = {"account": account.number, "sequence": sequence}
        self.connection.insert("dpselect_releases", **place, body=release, hash=seal)

    def refuse_behind(self, account: Account, noted: Head | None) -> None:
        if noted is None:
            return
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
        if has_spent_less:
            raise LedgerRolledBackError(self.ledger, f"account {name!r} has spent less than its anchor says: {_BEHIND}")

    def refuse_missing(self, noted: Iterable[str]) -> None:
        missing = sorted({*noted} - {*self.names()})
        if missing:
            raise LedgerRolledBackError(self.ledger, f"account {missing[0]!r} is missing: {_BEHIND}")

    def sound_names(self, noted: Iterable[str]) -> list[str]:
        """The names of all accounts, of which the anchor has `noted` some, if nothing is missing or damaged."""
        if not self.connection.lock:  # a file; a server looks after its own
            refuse_unsound_file(self.connection, ledger=self.ledger)
        if self.connection.execute(_WITHOUT_ACCOUNT):
            raise LedgerDamagedError(self.ledger, "an account is missing: its entries are there.")
        if self.connection.execute(_WITHOUT_CHARGE):
            raise LedgerDamagedError(self.ledger, "an entry is missing: the release stored for it is there.")
        names = self.names()
        if not names:
            raise LedgerDamagedError(self.ledger, "there is no account in it, and so nothing to verify.")
        numbers = self.connection.execute("SELECT number FROM dpselect_accounts ORDER BY number")
        if [row["number"] for row in numbers] != list(range(1, len(names) + 1)):
            raise LedgerDamagedError(self.ledger, "an account is missing.")
        self.refuse_missing(noted)
        return names

    def refuse_surplus(self, account: Account) -> None:
        place = self.connection.scalar(_SURPLUS, account=account.number, end=account.entries)
        if place is not None:
            text = f"account {account.name!r} has an entry {place}, which it does not count."
            raise LedgerDamagedError(self.ledger, text)


def refuse_unsound_file(connection: Transaction, *, ledger: str) -> None:
    """Let SQLite check every page and index: with a damaged index a request is not found, and is charged again."""
    found = str(connection.scalar("PRAGMA integrity_check(1)"))
    unread = re.search(r"error code=([0-9]+)", found)  # of a page: SQLite reports it like damage, and goes on
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise LedgerUnavailableError(ledger, "the disk failed while its file was read. Try again.")
    if found != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")
