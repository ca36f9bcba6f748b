"""Which file a SQLite ledger is: one name, and the same file for as long as it is open.

SQLite keeps what is not yet in the file beside it, under the file's name. So two names of one file would be two
ledgers, each without the other's charges; and a file put in an open one's place would go unnoticed.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self, cast
from urllib.parse import quote, urlencode

from sqlalchemy.exc import DBAPIError

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


class Fault(NamedTuple):
    """What an error says of any ledger."""

    text: str
    kind: type[LedgerError] = LedgerUnavailableError

    def of(self, ledger: str) -> LedgerError:
        """The error for this ledger."""
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
CLOSED = Fault("it cannot be opened: no such place, or no permission. Nothing was written.")
_BROKEN = Fault("the disk or the connection failed. A charge may have been recorded; none was used.")

_SQLITE = {
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
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_AUTH: CLOSED,
    sqlite3.SQLITE_IOERR: _BROKEN,
}


def translated(error: Exception, ledger: str) -> LedgerError:
    """The error to raise instead. It never quotes the driver's text, which contains statements and their values."""
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    code = cast(int, getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_IOERR))
    return _SQLITE.get(code & 0xFF, _BROKEN).of(ledger)


Identity = tuple[int, int]
Still = tuple[Identity, int, int, int, int]
"""The state of an unchanged file: its identity, its size, its last change, and the sizes of its log and journal."""


_lost: set[Identity] = set()
"""The files whose log was lost under this process."""
_LOST = (
    "its write-ahead log was removed while it was open; the last charges may be missing, and none was used for a draw"
    " after that. Let no program but this one open the file, not even to copy it; end this process, then verify it."
)

_REPLACED = "another file was put in its place while it was open. Nothing was written; verify it, then open it anew."
_UNSEEN = "the disk failed. A charge may have been recorded; none was used."
_THAWED = (
    "another process wrote to it while it was read, and this one cannot lock a file in that folder. Read it again."
)


class FileConnection(sqlite3.Connection):
    """A connection that knows which file it opened, which write-ahead log it writes to, and in which process.

    The last connection to be closed writes the log into the file, and deletes whatever log has that name then. If
    others have gone on with a new log since, both would destroy what they wrote: where the log of this connection was
    removed, and in a forked process. So a second connection is open then until this one is closed, so that this is not
    the last. It may only read, and cannot write a log anywhere when it is closed itself.
    """

    path: Path | None = None
    ledger: str = ""
    identity: Identity | None = None
    log: Identity | None = None
    still: Still | None = None
    process: int | None = None

    def opened(self, path: Path, ledger: str, identity: Identity, still: Still | None) -> Self:
        """Say what was opened, as it is seen from outside."""
        self.path, self.ledger, self.identity, self.still = path, ledger, identity, still
        self.process = os.getpid()
        return self

    def refuse_replaced(self) -> None:
        """Compare the file that was opened with the one that has its name now."""
        if identity_of(cast(Path, self.path), ledger=self.ledger) != self.identity:
            raise LedgerDamagedError(self.ledger, _REPLACED)

    def refuse_lost_log(self) -> None:
        """Look for the write-ahead log, after each transaction.

        As long as a connection is open and holds its locks, nobody deletes the log. If somebody did, the locks were
        lost (this process opened and closed the file by other means, which drops them) or it was deleted by hand; what
        was written to it since is in no file any more.
        """
        try:
            now = self._log_now()
        except OSError:
            raise LedgerUnavailableError(self.ledger, _UNSEEN) from None
        if self.log not in (None, now):
            raise LedgerDamagedError(self.ledger, _LOST)
        self.log = now

    def refuse_moved(self) -> None:
        """Look whether a file that was read as one that does not change has changed."""
        if self.still is not None and self.still != _stand(cast(Path, self.path)):
            raise LedgerBusyError(self.ledger, _THAWED)

    def _log_now(self) -> Identity | None:
        """The log beside the file; None if there is none."""
        try:
            found = os.stat(f"{self.path}-wal")
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_dev, found.st_ino

    def release(self) -> None:
        """End the transaction, if there is one; also after a commit that failed, and after an interrupt.

        To close the connection is not enough: as long as somebody holds one of its statements, such as the traceback
        of an interrupt, SQLite keeps the connection, and with it the lock of its transaction.
        """
        if self.process in (None, os.getpid()):
            with suppress(sqlite3.ProgrammingError):  # it is closed
                if self.in_transaction:
                    self.rollback()

    def close(self) -> None:
        """Close it; without effect on the file, if its log was removed or the process was forked since."""
        self.release()
        try:
            is_lost = self.log is not None and self.log != self._log_now()
            if is_lost:
                _lost.add(cast(Identity, self.identity))
        except OSError:  # of the disk, which does not say; whoever looks next may see the log
            is_lost = True
        reader = None
        if self.path is not None and (is_lost or self.process != os.getpid()):
            with suppress(sqlite3.Error):  # it takes its lock first; what it then reads, of two logs, does not matter
                reader = sqlite3.connect(uri_of(self.path, mode="ro"), uri=True)
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        super().close()
        self.path = self.identity = self.log = None  # a second time has nothing to close
        if reader is not None:
            reader.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def refuse_lost(identity: Identity, *, ledger: str) -> None:
    """Refuse a file whose log was lost under this process: SQLite would mix two logs in one process."""
    if identity in _lost:
        raise LedgerDamagedError(ledger, _LOST)


def uri_of(path: Path, **options: str) -> str:
    """As SQLite reads the name of a file, whatever characters are in it.

    >>> uri_of(Path("a?b.db"), mode="ro")
    'file:a%3Fb.db?mode=ro'
    """
    return f"file:{quote(os.fsencode(path))}?{urlencode(options, quote_via=quote)}"


def size_of(path: Path, ending: str = "") -> int:
    """Bytes of the file, or of the neighbour whose name has that ending; 0 of what is not there or cannot be seen."""
    try:
        return os.stat(f"{path}{ending}").st_size
    except OSError:
        return 0


def identity_of(path: Path, *, ledger: str) -> Identity:
    """Device and number of the file at `path`."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise LedgerUnavailableError(ledger, "there is no such file. Opening an account creates it.") from None
    except OSError:
        raise LedgerUnavailableError(ledger, "its file cannot be accessed: no permission, or no such folder.") from None
    if found.st_nlink > 1 and path.is_file():
        text = (
            "its file has a second name (a hard link). Nothing was read or written: charges made under one name could"
        )
        raise LedgerUnavailableError(ledger, f"{text} be missing under the other. Remove all names but one.")
    return found.st_dev, found.st_ino


_STRANDED = (
    "a log beside it has charges that are not in the file, and reading that log needs write access to the folder. Copy"
    " the file and the log (its name with -wal or -journal) to another folder, and read the copy."
)


def standing_still(path: Path, *, ledger: str) -> Still | None:
    """How the file stands, if it has to be read as one that does not change: None where SQLite can lock it.

    SQLite reads a file that has a write-ahead log by an index beside it. In a folder that it cannot write to, on
    read-only media or without permission, it makes none, and refuses to read, unless it is told that nobody writes.
    `FileConnection.refuse_moved` looks afterwards whether that was true.
    """
    has_index = os.path.exists(f"{path}-wal") and os.path.exists(f"{path}-shm")
    if has_index or os.access(path.parent, os.W_OK):
        return None
    still = _stand(path)
    if any(still[-2:]):
        raise LedgerUnavailableError(ledger, _STRANDED)
    return still


def _stand(path: Path) -> Still:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0), 0, 0, 0, 0
    identity = found.st_dev, found.st_ino
    return identity, found.st_size, found.st_mtime_ns, size_of(path, "-wal"), size_of(path, "-journal")


def copy_of(source: sqlite3.Connection, to: object, *, ledger: str) -> Path:
    """Copy a SQLite ledger, with its log, as it is now, to where nothing exists yet, while others go on charging."""
    if not isinstance(to, (str, Path)) or not str(to) or "://" in str(to) or "\0" in str(to):
        raise InvalidParameterError("to", to, "the path of a file")
    place = Path(os.path.abspath(to))
    for each in (place, Path(f"{place}-wal"), Path(f"{place}-shm"), Path(f"{place}-journal")):
        if os.path.lexists(each):
            hint = "A ledger is never overwritten: move what is there away first."
            raise InvalidParameterError("to", Shown(f"<{each.name}>"), "a path where nothing exists yet", hint)
    try:
        file = os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            with closing(sqlite3.connect(place)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")  # a single file that is complete wherever it is moved
            to_disk(file)
        finally:
            os.close(file)
        folder_to_disk(place.parent)
    except (OSError, sqlite3.Error):
        raise LedgerUnavailableError(ledger, "the copy cannot be written: no permission, or no room.") from None
    return place
