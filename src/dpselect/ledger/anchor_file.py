"""An anchor in a file that is only appended to: its first line names the ledger, each other one a head."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from dpselect.errors import AnchorError
from dpselect.ledger.anchors import Head, Heads, damaged, of_another
from dpselect.ledger.arguments import seconds
from dpselect.ledger.chain import canonical
from dpselect.ledger.durable import folder_to_disk, to_disk

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

_FORMAT = "dpselect anchor 1"
_START = b'{"format":"dpselect anchor 1","ledger":"'
_BLOCK = 1 << 20
_PAUSE = 0.005


class FileAnchor:
    """Heads in a file, for all processes that reach it; best on another disk than the ledger.

    Each line has a hash of its own. A last line that a crash cut off is no damage: nothing was drawn after it.

    Args:
        path: of the file; it is made when the first head is noted.
        wait: seconds to wait for another process that holds its lock.

    Raises:
        AnchorError: by each method, if the file cannot be read or written, or is damaged.
    """

    __slots__ = ("_heads", "_identity", "_is_unended", "_ledger", "_lock", "_path", "_read", "_wait")

    def __init__(self, path: str | Path, *, wait: float = 30.0) -> None:
        self._path, self._wait = Path(os.path.abspath(path)), seconds(wait)
        self._lock = threading.Lock()
        self._forget()

    def __repr__(self) -> str:
        return f"FileAnchor({str(self._path)!r})"

    def __reduce__(self) -> tuple[Callable[..., FileAnchor], tuple[Path, float]]:
        return _opened_anchor, (self._path, self._wait)

    def __str__(self) -> str:
        return str(self._path)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def heads(self, ledger: str) -> dict[str, Head]:
        """See `Anchor.heads`."""
        with self._lock, self._opened(os.O_RDONLY) as file:
            if file is not None:
                self._catch_up(file)
            self._refuse_another(ledger)
            return self._heads.by_account()

    def note(self, ledger: str, head: Head) -> None:
        """See `Anchor.note`."""
        new = 0 if self._read else os.O_CREAT  # one that was read before is not made anew
        with self._lock, self._opened(os.O_RDWR | os.O_APPEND | new) as file:
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

    def _forget(self) -> None:
        self._identity: tuple[int, int] | None = None
        self._ledger, self._read, self._is_unended = "", 0, False
        self._heads = Heads()

    def _refuse_another(self, ledger: str) -> None:
        if self._ledger not in ("", ledger):
            raise of_another(str(self))

    @contextmanager
    def _opened(self, flags: int) -> Generator[int | None]:
        """The file, locked against other processes; None if there is none and `flags` do not make one."""
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            file = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            if self._read:
                raise AnchorError(str(self), "the file is gone: put it back.") from None
            if flags & os.O_CREAT:
                raise AnchorError(str(self), "there is no such folder.") from None
            yield None
            return
        except OSError:
            raise AnchorError(str(self), "it cannot be opened: no permission, or no file.") from None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise AnchorError(str(self), "it is not a regular file.")
            self._wait_for_lock(file, shared=not flags & (os.O_RDWR | os.O_CREAT))
            if self._identity != (found.st_dev, found.st_ino):
                self._forget()
                self._identity = found.st_dev, found.st_ino
            yield file
        except OSError:
            raise AnchorError(str(self), "it cannot be read or written: the disk failed, or is full.") from None
        finally:
            os.close(file)

    def _wait_for_lock(self, file: int, *, shared: bool) -> None:
        until = monotonic() + self._wait
        while not _locked(file, shared=shared):
            if monotonic() > until:
                raise AnchorError(str(self), "another process holds its lock: try again, or wait longer.")
            sleep(_PAUSE)

    def _catch_up(self, file: int) -> None:
        """Read what was appended since the last look."""
        size = os.fstat(file).st_size
        if size < self._read:
            raise AnchorError(str(self), "it has become shorter: put back the whole file.")
        if not self._ledger and size:
            self._begin(_read_from(file, 0, min(size, 1000)))
        block = _BLOCK
        while self._read < size:
            end = min(size, self._read + block)
            lines = self._take_lines(_read_from(file, self._read, end), is_all=end == size)
            if end == size:
                break
            block = _BLOCK if lines else 4 * block

    def _take_lines(self, new: bytes, *, is_all: bool) -> int:
        """Take in the lines of `new`, and return how many are whole. If it `is_all`, the last one may lack its end."""
        if self._is_unended and new:
            if not new.startswith(b"\n"):
                raise damaged(str(self), self._read)
            new, self._read, self._is_unended = new[1:], self._read + 1, False
        *lines, rest = new.split(b"\n")
        for line in lines:
            self._take(line)
            self._read += len(line) + 1
        if is_all and self._ledger and _is_complete(rest):  # if more than its end is missing, this is no line
            self._take(rest)
            self._read, self._is_unended = self._read + len(rest), True
        return len(lines)

    def _begin(self, start: bytes) -> None:
        """Read the first line. A part of one is left by a crash; anything else is somebody's file."""
        line, end, _ = start.partition(b"\n")
        if not end and not _is_complete(line):
            if not (_START.startswith(line) or line.startswith(_START)):
                raise AnchorError(
                    str(self), "this is not an anchor. Name an anchor, or a file that does not exist yet."
                )
            return
        try:
            held = json.loads(line)
            if set(held) != {"format", "ledger"} or held["format"] != _FORMAT or canonical(held).encode() != line:
                raise ValueError("no anchor")
            self._ledger, self._read, self._is_unended = held["ledger"], len(line) + len(end), not end
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise damaged(str(self), 0) from None

    def _take(self, line: bytes) -> None:
        try:
            self._heads.take(line.decode())
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
            raise damaged(str(self), self._read) from None


def _opened_anchor(path: Path, wait: float) -> FileAnchor:
    return FileAnchor(path, wait=wait)


def _is_complete(rest: bytes) -> bool:
    """Whether an unended line begins with a whole object, so that more was written than a part of it."""
    try:
        json.JSONDecoder().raw_decode(rest.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _read_from(file: int, start: int, end: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    parts: list[bytes] = []
    while start < end and (part := os.read(file, end - start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _locked(file: int, *, shared: bool) -> bool:
    """Whether the lock could be had at once."""
    try:
        if fcntl is not None:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        else:
            import msvcrt  # of Windows, which has locks of another kind

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore
    except (BlockingIOError, PermissionError):
        return False
    return True
