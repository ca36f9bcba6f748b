"""Where a ledger is; and one in a SQLite file: transactions that are the only writer, and on disk when they end.

Each transaction opens the file and closes it again. The rollback journal beside it is empty unless somebody is writing:
between transactions one file holds every charge.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from weakref import WeakSet

from dpselect.errors import (
    HIDDEN,
    HOSTS,
    InvalidParameterError,
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
    Shown,
    may_tell_password,
    without_password,
)

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None


_EXPECTED = "a database URL such as 'sqlite:///budget.db' or 'postgresql://user@host/database', or the path of a file"
_PARAMETER = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options)\s*=")
"""How libpq's other way to say where a server is begins, such as ``host=db dbname=shop``."""
_URL = re.compile(r"(\w+(?:\+\w+)?)://([^?]*)(?:\?(.*))?", re.DOTALL)
_NO_SERVER = "A file's URL has three slashes, a server's has two. A new file may have no name that looks like one."


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a ledger; equal for one database, however it is written."""

    place: Path | str  # the file, or the server's URL
    shown: str = field(compare=False)
    """The address in messages: without a password, and without options, since any option may hold one."""
    read_only: bool = field(default=False, compare=False)

    @classmethod
    def given(cls, url: object) -> Address:
        """The address of `url`, a URL or a path as the caller gave it."""
        if not isinstance(url, str | Path):
            raise InvalidParameterError("ledger", url, _EXPECTED)
        name, options = str(url), ""
        if isinstance(url, str) and not _names_file(url):
            parts = _URL.fullmatch(url)
            if parts is None:
                raise _refused("<text>", _NO_SERVER * url.startswith("sqlite:"))
            scheme, before, options = parts.groups("")
            if scheme == "postgresql":
                if before.count("@") > 1 or "@" in options:
                    raise _refused("<URL>", "In names and passwords write @ as %40, ? as %3F.")
                if not re.fullmatch(HOSTS, before.rpartition("@")[2].partition("/")[0]):
                    raise _refused("<text>")
                return cls(url, without_password(url))
            if scheme != "sqlite":
                raise _refused(f"<{scheme} URL>")
            if before and not before.startswith("/"):
                raise _refused(HIDDEN, _NO_SERVER)
            if options not in ("", "mode=ro", "mode=rw"):
                raise InvalidParameterError("ledger", Shown("<URL with another option>"), "no option but ?mode=ro")
            name = before[1:]
        if not name or name == ":memory:":
            raise _refused("<in memory>", "A ledger has to outlive the process that writes it.")
        if names_a_server(name):
            raise _refused(HIDDEN, _NO_SERVER)
        try:
            path = Path(os.path.realpath(name))  # SQLite keeps its log beside the file, not beside a link to it
            os.fsencode(path)
        except ValueError:  # a NUL, or text that is none
            raise _refused("<path that is no text>") from None
        return cls(path, f"sqlite:///{name}", options == "mode=ro")


def _refused(shown: str, hint: str = "") -> InvalidParameterError:
    return InvalidParameterError("ledger", Shown(shown), _EXPECTED, hint)


def _names_file(text: str, *, windows: bool = os.name == "nt") -> bool:
    """Whether `text` is a path and not a URL."""
    if windows and re.match(r"[A-Za-z]:[\\/](?!/)", text):
        return True
    return bool(text) and ":" not in text and "?" not in text


def names_a_server(path: str) -> bool:
    """Whether a path to no file was probably meant as a server's address. Folders that exist count as folders."""
    if os.path.exists(path):
        return False
    folder, name = os.path.split(path)
    name = name if folder and os.path.isdir(folder) else path
    return _PARAMETER.match(name) is not None or may_tell_password(name)


class Fault(NamedTuple):
    """What an error says of any ledger."""

    text: str
    kind: type[LedgerError] = LedgerUnavailableError

    def of(self, ledger: str) -> LedgerError:
        return self.kind(ledger, self.text)


BUSY = Fault("another process holds its lock. Nothing was written; try again, or wait longer.", LedgerBusyError)
READ_ONLY = Fault("it cannot be written to, only read. Nothing was written.", LedgerReadOnlyError)
FULL = Fault("there is no room left on its disk. Nothing was written.", LedgerFullError)
TAMPERED = Fault("its rows are not as written: one is in the way. Nothing was written; verify it.", LedgerDamagedError)
FOREIGN = Fault("its tables are not those of a ledger. Nothing was written.", LedgerDamagedError)
"""Faults that servers have as well."""

_DAMAGED = Fault(
    "this is not an intact SQLite file. Nothing was written; restore it and verify it.", LedgerDamagedError
)
_CLOSED = Fault("it cannot be opened: no such place, or no permission. Nothing was written.")
_BROKEN = Fault("the disk or the connection failed. A charge may have been recorded; none was used.")

_CODES = {
    sqlite3.SQLITE_ERROR: FOREIGN,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: TAMPERED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_READONLY_ROLLBACK: Fault(
        "a crash left a journal beside it, and undoing that charge needs write access. Read it once as a user who may"
        " write to the folder, or read a copy of both files (its name, and that with -journal) in another folder."
    ),
}

# SQLite's locks belong to a process, and SQLite remembers which ones it holds. A child that used a connection of its
# parent would write without the locks that it believes it holds, and a mutex of SQLite that another thread held during
# the fork would stay locked in the child for ever. So a fork waits until no connection is being opened or closed, and a
# child is refused if its parent was using a ledger at that moment.
_guard = threading.RLock()
_used: WeakSet[Transaction] = WeakSet()
"""Weak references: after an interrupt, one counts as in use only while somebody can still use it."""
_is_forked_amid_use = False


def _in_child() -> None:
    global _guard, _is_forked_amid_use
    _guard = threading.RLock()
    _is_forked_amid_use |= bool(_used)
    _used.clear()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(
        before=lambda: _guard.acquire(), after_in_parent=lambda: _guard.release(), after_in_child=_in_child
    )


_SETTINGS = (
    "PRAGMA journal_mode=TRUNCATE",  # an empty journal stays: a commit does not wait for the folder
    "PRAGMA synchronous=EXTRA",
    "PRAGMA fullfsync=ON",  # macOS: an fsync alone stops at the disk's own memory; elsewhere this changes nothing
    "PRAGMA foreign_keys=ON",
)


class Transaction:
    """One transaction of a database, in which statements are run. A value in them is written ``:name``."""

    lock = ""  # what a statement ends with that locks the rows it finds. Whoever writes to a file has locked all of it

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def execute(self, statement: str, **values: object) -> list[dict[str, Any]]:
        cursor = self.raw.cursor()
        try:
            cursor.execute(statement, values)
            names = [each[0] for each in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []
        finally:
            cursor.close()  # SQLite keeps its locks while somebody holds a statement: the traceback of an interrupt

    def scalar(self, statement: str, **values: object) -> Any:
        return next((value for row in self.execute(statement, **values) for value in row.values()), None)

    def insert(self, table: str, **values: object) -> None:
        named = ", ".join(f":{name}" for name in values)
        self.execute(f"INSERT INTO {table} ({named.replace(':', '')}) VALUES ({named})", **values)

    def has_table(self, name: str) -> bool:
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))

    def end(self) -> None:
        """Undo what was not committed, and close the connection."""
        with suppress(sqlite3.Error), closing(self.raw):
            self.raw.rollback()


class SqliteFile:
    """The way to one file, which messages call `shown`. Safe to use from several threads."""

    def __init__(self, address: Address, *, wait: float) -> None:
        self._path, self.shown, self._wait = Path(address.place), address.shown, wait
        self._read_only = address.read_only
        self._turn = threading.RLock()  # one that knows its owner: see `transaction`
        self._known: tuple[int, int] | None = None

    def close(self) -> None:
        """Forget which file this was."""
        self._known = None

    def make(self) -> None:
        """Make the file, unless it is there: for its owner alone; SQLite gives the journal the same permissions."""
        if self._read_only:
            return
        try:
            with _guard, suppress(FileExistsError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError:
            raise _CLOSED.of(self.shown) from None

    @contextmanager
    def transaction(self, *, write: bool = False) -> Generator[Transaction]:
        """A transaction that sees one state of the file: whoever commits meanwhile waits for its end, so keep it short.

        With `write` it is the only writer from its start, and on disk when the block ends without an error. Its
        connection counts as in use until it is closed: it may hold locks.
        """
        try:
            transaction = self._begun()
            try:
                if write and not self._turn.acquire(timeout=self._wait):  # SQLite has no queue: threads would starve
                    raise LedgerBusyError(self.shown, BUSY.text.replace("process", "thread of this process"))
                for each in (*_SETTINGS, "BEGIN IMMEDIATE" if write else "BEGIN"):
                    transaction.execute(each)
                self._refuse_another()
                yield transaction
                if write:
                    self._refuse_another()  # while it is certain that nothing is written
                    transaction.raw.commit()
            finally:
                try:
                    with _guard:
                        transaction.end()  # before it is another's turn
                        _used.discard(transaction)
                finally:  # also of an interrupt that comes while others hold the guard, or at the end itself
                    transaction.end()
                    if write:
                        with suppress(RuntimeError):  # not acquired: it timed out, or an interrupt came first
                            self._turn.release()
        except sqlite3.Error as error:  # whose text is never quoted: it contains statements and their values
            code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
            raise _CODES.get(code, _CODES.get(code & 0xFF, _BROKEN)).of(self.shown) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message, which Python then cannot read
            text = "not even the names of its tables can be read. Nothing was written; restore it and verify it."
            raise LedgerDamagedError(self.shown, text) from None

    def _begun(self) -> Transaction:
        """A new connection, before its first statement."""
        with _guard:
            if _is_forked_amid_use:
                text = (
                    "this process was forked from one that was using a ledger, and cannot lock it safely. Nothing"
                    " was written; start such processes by 'spawn', or fork before ledgers are used."
                )
                raise LedgerUnavailableError(self.shown, text)
            self._refuse_another()
            place = f"file:{quote(os.fsencode(self._path))}?mode={'ro' if self._read_only else 'rw'}"  # any characters
            ways: dict[str, Any] = {"timeout": self._wait, "isolation_level": None, "check_same_thread": False}
            connection = sqlite3.connect(place, uri=True, **ways)
            connection.text_factory = _text
            transaction = Transaction(connection)
            _used.add(transaction)
        return transaction

    def _refuse_another(self) -> None:
        """Compare the file that has this path now with the one that it was at first."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            raise LedgerUnavailableError(self.shown, "there is no such file. Opening an account creates it.") from None
        except OSError:
            text = "its file cannot be accessed: no permission, or no such folder."
            raise LedgerUnavailableError(self.shown, text) from None
        if found.st_nlink > 1 and self._path.is_file():
            text = (
                "its file has a second name (a hard link), under which SQLite does not see what a crash left to undo."
                " Nothing was read or written: remove all names but one."
            )
            raise LedgerUnavailableError(self.shown, text)
        self._known = self._known or (found.st_dev, found.st_ino)
        if self._known != (found.st_dev, found.st_ino):
            text = "another file was put in its place while it was open. Nothing was written; verify it, then open it"
            raise LedgerDamagedError(self.shown, f"{text} anew.")


def _text(raw: bytes) -> str | bytes:
    """Text that is not UTF-8 stays bytes, so that readers of the row do not take it for text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def copy_of(source: sqlite3.Connection, to: object, *, ledger: str) -> Path:
    """Copy a SQLite ledger, as it is now, to where nothing exists yet."""
    if not isinstance(to, (str, Path)) or not str(to) or "://" in str(to) or "\0" in str(to):
        raise InvalidParameterError("to", to, "the path of a file")
    place = Path(os.path.abspath(to))
    for each in (place, Path(f"{place}-journal"), Path(f"{place}-wal")):  # SQLite would take them for the copy's own
        if os.path.lexists(each):
            hint = "A ledger is never overwritten: move what is there away first."
            raise InvalidParameterError("to", Shown(f"<{each.name}>"), "a path where nothing exists yet", hint)
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(place)) as copy:
            copy.execute("PRAGMA fullfsync=ON")
            copy.execute("PRAGMA synchronous=EXTRA")  # the folder, too: a journal that comes back would empty the copy
            source.backup(copy)
    except (OSError, UnicodeError, sqlite3.Error):
        raise LedgerUnavailableError(ledger, "the copy cannot be written: no permission, or no room.") from None
    return place


def to_disk(file: int) -> None:
    """Flush an open file to disk, except its times. On macOS `fsync` stops at the drive's cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if fcntl is not None and full is not None:
        fcntl.fcntl(file, full)
    else:
        getattr(os, "fdatasync", os.fsync)(file)


def folder_to_disk(folder: Path) -> None:
    """Flush the names in a folder to disk; Windows does this by itself."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
