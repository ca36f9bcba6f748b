"""An anchor in a file that is only appended to: its first line names the ledger, each other one a head."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from dpselect.errors import AnchorError
from dpselect.ledger.anchors import Head, damaged, latest, of_another
from dpselect.ledger.chain import canonical
from dpselect.ledger.durable import folder_to_disk, to_disk

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

_FORMAT = "dpselect anchor 1"


class FileAnchor:
    """Heads in a file, for all processes that reach it; best on another disk than the ledger.

    Each line has a hash of its own. A last line that a crash cut off is no damage: what it was about was never drawn.

    Args:
        path: of the file; it is made when the first head is noted.

    Raises:
        AnchorError: by each method, if the file cannot be read or written, or is damaged.
    """

    __slots__ = ("_heads", "_identity", "_is_unended", "_ledger", "_lines", "_lock", "_path", "_read")

    def __init__(self, path: str | Path) -> None:
        self._path = Path(os.path.abspath(path))
        self._lock = threading.Lock()
        self._forget()

    def __repr__(self) -> str:
        return f"FileAnchor({str(self._path)!r})"

    def __reduce__(self) -> tuple[type[FileAnchor], tuple[Path]]:
        return FileAnchor, (self._path,)

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        with self._lock, self._opened(os.O_RDONLY) as file:
            if file is not None:
                self._catch_up(file)
            self._refuse_another(ledger)
            return dict(self._heads)

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        with self._lock, self._opened(os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
            if file is None:
                raise AnchorError(str(self), "it cannot be written to.")
            self._catch_up(file)
            self._refuse_another(ledger)
            if os.fstat(file).st_size > self._read:
                os.ftruncate(file, self._read)  # what a crash left of a line
            lines = [] if self._ledger else [canonical({"format": _FORMAT, "ledger": ledger})]
            start = "\n" if self._is_unended else ""
            text = (start + "".join(f"{line}\n" for line in [*lines, head.to_line()])).encode()
            if os.write(file, text) != len(text):
                raise AnchorError(str(self), "there is no room for another line.")
            to_disk(file)
            if not self._ledger:
                folder_to_disk(self._path.parent)
            self._catch_up(file)

    def __str__(self) -> str:
        return str(self._path)

    def _forget(self) -> None:
        self._identity: tuple[int, int] | None = None
        self._ledger, self._read, self._lines, self._is_unended = "", 0, 0, False
        self._heads: dict[str, Head] = {}

    def _refuse_another(self, ledger: str) -> None:
        if self._ledger not in ("", ledger):
            raise of_another(str(self))

    @contextmanager
    def _opened(self, flags: int) -> Generator[int | None]:
        """The file, locked against other processes; None if there is none and `flags` do not make one."""
        try:
            file = os.open(self._path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o600)
        except FileNotFoundError:
            if flags & os.O_CREAT:
                raise AnchorError(str(self), "there is no such folder. Nothing was charged.") from None
            if self._read:
                raise AnchorError(str(self), "the file is gone. Nothing was charged; put it back.") from None
            yield None
            return
        except OSError:
            raise AnchorError(str(self), "it cannot be opened: no permission, or no file.") from None
        try:
            _lock(file, shared=not flags & os.O_CREAT)
            found = os.fstat(file)
            if self._identity != (found.st_dev, found.st_ino):
                self._forget()
                self._identity = found.st_dev, found.st_ino
            yield file
        except OSError:
            raise AnchorError(str(self), "it cannot be read or written: the disk failed, or is full.") from None
        finally:
            os.close(file)

    def _catch_up(self, file: int) -> None:
        """Read what was appended since the last look."""
        size = os.fstat(file).st_size
        if size < self._read:
            raise AnchorError(str(self), "it has become shorter. Nothing was charged; put back the whole file.")
        new = os.pread(file, size - self._read, self._read) if hasattr(os, "pread") else _read_from(file, self._read)
        if self._is_unended and new:
            if not new.startswith(b"\n"):
                raise damaged(str(self), self._lines)
            new, self._read, self._is_unended = new[1:], self._read + 1, False
        *lines, rest = new.split(b"\n")
        for line in lines:
            self._lines += 1
            self._take(line)
            self._read += len(line) + 1
        if _is_complete(rest):  # only the end of the line is missing; if it was overwritten, this is no line
            self._lines += 1
            self._take(rest)
            self._read, self._is_unended = self._read + len(rest), True

    def _take(self, line: bytes) -> None:
        try:
            if self._lines > 1:
                latest(self._heads, Head.from_line(line.decode()))
                return
            held = json.loads(line)
            if set(held) != {"format", "ledger"} or held["format"] != _FORMAT or canonical(held).encode() != line:
                raise ValueError("no anchor")
            self._ledger = held["ledger"]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise damaged(str(self), self._lines) from None


def _is_complete(rest: bytes) -> bool:
    """Whether an unended line begins with a whole object, so that more was written than a part of it."""
    try:
        json.JSONDecoder().raw_decode(rest.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _lock(file: int, *, shared: bool) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        return
    import msvcrt  # of Windows, which has locks of another kind

    msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # pyright: ignore


def _read_from(file: int, place: int) -> bytes:
    os.lseek(file, place, os.SEEK_SET)
    parts: list[bytes] = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)
