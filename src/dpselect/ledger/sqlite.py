"""A ledger in a SQLite file: transactions that are the only writer, on disk when they end, and in the same file.

Each transaction opens the file and closes it again. The rollback journal beside it is empty unless somebody is writing:
between transactions one file holds every charge.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode
from weakref import WeakSet

from dpselect.errors import (
    InvalidParameterError,
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
    Shown,
)

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None


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
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: TAMPERED,
    sqlite3.SQLITE_MISMATCH: TAMPERED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_READONLY_ROLLBACK: Fault(
        "a crash left a journal beside it, and undoing that charge needs write access. Read it once as a user who may"
        " write to the folder, or copy the file and the journal (its name with -journal) to another folder, and read"
        " the copy."
    ),
}

# SQLite's locks belong to a process, and SQLite remembers which ones it holds. A child that used a connection of its
# parent would write without the locks that it believes it holds, and a mutex of SQLite that another thread held during
# the fork would stay locked in the child for ever. So a fork waits until no connection is being opened or closed, and a
# child is refused if its parent was using a ledger at that moment.
_guard = threading.RLock()
_used: WeakSet[sqlite3.Connection] = WeakSet()
"""Weak references: after an interrupt, a connection counts as in use only while somebody can still use it."""
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


class FileConnection(sqlite3.Connection):
    """A connection that ends its statements and its transaction when it is closed.

    As long as somebody holds one of its statements, such as the traceback of an interrupt, SQLite keeps the locks.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        """A cursor that is closed together with the connection."""
        made = super().cursor(factory)
        self._cursors.add(made)
        return made

    def execute(self, *given: Any) -> Any:
        return self.cursor().execute(*given)

    def close(self) -> None:
        """Roll back, also after a commit that failed, and close."""
        with suppress(sqlite3.Error):  # it may be closed already
            for each in self._cursors:
                each.close()
            self.rollback()
        super().close()


class Transaction:
    """One transaction of a database, in which statements are run. A value in them is written ``:name``."""

    lock = ""
    """What a statement ends with that locks the rows it finds. Whoever writes to a file has locked all of it."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def execute(self, statement: str, **values: object) -> list[dict[str, Any]]:
        found = self.raw.execute(statement, values)
        if found.description is None:
            return []
        names = [each[0] for each in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def scalar(self, statement: str, **values: object) -> Any:
        return next((value for row in self.execute(statement, **values) for value in row.values()), None)

    def insert(self, table: str, **values: object) -> None:
        named = ", ".join(f":{name}" for name in values)
        self.execute(f"INSERT INTO {table} ({named.replace(':', '')}) VALUES ({named})", **values)

    def has_table(self, name: str) -> bool:
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))


class SqliteFile:
    """The way to one file, which messages call `shown`. Safe to use from several threads."""

    def __init__(self, path: Path, shown: str, *, wait: float, read_only: bool) -> None:
        self._path, self.shown, self._wait, self._read_only = path, shown, wait, read_only
        self._turn = threading.RLock()  # one that knows its owner: see `writing`
        self._known: tuple[int, int] | None = None

    def close(self) -> None:
        """Forget which file this was."""
        self._known = None

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """A transaction that sees one state of the file. Whoever commits meanwhile waits for its end: keep it short."""
        with self._connected() as connection:
            self._begin(connection, "BEGIN")
            yield Transaction(connection)

    @contextmanager
    def writing(self, *, create: bool = False) -> Generator[Transaction]:
        """A transaction that is the only writer from its start, and on disk when the block ends without an error."""
        if create and not self._read_only:  # for its owner alone; SQLite gives the journal the same permissions
            try:
                with _guard, suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except OSError:
                raise _CLOSED.of(self.shown) from None
        with self._connected() as connection:
            try:
                if not self._turn.acquire(timeout=self._wait):  # SQLite's own queue is no queue: threads would starve
                    text = (
                        "another thread of this process holds its lock. Nothing was written; try again, or wait longer."
                    )
                    raise LedgerBusyError(self.shown, text)
                self._begin(connection, "BEGIN IMMEDIATE")
                yield Transaction(connection)
                self._refuse_another()  # while it is certain that nothing is written
                connection.commit()
            except BaseException:
                _end(connection)  # before it is another's turn
                raise
            finally:
                with suppress(RuntimeError):  # not acquired: it timed out, or an interrupt came first
                    self._turn.release()

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        """A connection for this block alone. It counts as in use until it is closed: it may hold locks."""
        try:
            with _guard:
                if _is_forked_amid_use:
                    text = (
                        "this process was forked from one that was using a ledger at that moment, in another thread,"
                        " and cannot lock it safely. Nothing was written; start such processes by 'spawn' or"
                        " 'forkserver', or fork before ledgers are used."
                    )
                    raise LedgerUnavailableError(self.shown, text)
                self._refuse_another()
                connection = sqlite3.connect(
                    uri_of(self._path, mode="ro" if self._read_only else "rw"),
                    uri=True,
                    timeout=self._wait,
                    isolation_level=None,
                    check_same_thread=False,
                    factory=FileConnection,
                )
                connection.text_factory = _text
                _used.add(connection)
            try:
                yield connection
            finally:
                with _guard:
                    _end(connection)
                    _used.discard(connection)
        except sqlite3.Error as error:  # whose text is never quoted: it contains statements and their values
            code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
            raise _CODES.get(code, _CODES.get(code & 0xFF, _BROKEN)).of(self.shown) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message, which Python then cannot read
            text = "not even the names of its tables can be read. Nothing was written; restore it and verify it."
            raise LedgerDamagedError(self.shown, text) from None

    def _begin(self, connection: sqlite3.Connection, statement: str) -> None:
        for each in (*_SETTINGS, statement):
            connection.execute(each)
        self._refuse_another()

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
                "its file has a second name (a hard link). Nothing was read or written: under one name SQLite does not"
                " see what a crash left to undo under the other. Remove all names but one."
            )
            raise LedgerUnavailableError(self.shown, text)
        self._known = self._known or (found.st_dev, found.st_ino)
        if self._known != (found.st_dev, found.st_ino):
            text = "another file was put in its place while it was open. Nothing was written; verify it, then open it"
            raise LedgerDamagedError(self.shown, f"{text} anew.")


def _end(connection: sqlite3.Connection) -> None:
    """Close it; what it was to write is written by now, or never."""
    with suppress(sqlite3.Error):
        connection.close()


def _text(raw: bytes) -> str | bytes:
    """Text that is not UTF-8 stays bytes, so that readers of the row do not take it for text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def uri_of(path: Path, **options: str) -> str:
    """As SQLite reads the name of a file, whatever characters are in it."""
    return f"file:{quote(os.fsencode(path))}?{urlencode(options, quote_via=quote)}"


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
        file = os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            with closing(sqlite3.connect(place)) as copy:
                source.backup(copy)
            to_disk(file)
        finally:
            os.close(file)
        folder_to_disk(place.parent)
    except (OSError, sqlite3.Error):
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
