"""The anchor: a file that remembers how far each account had come, so that an older copy of a ledger is noticed.

It only ever moves forward, and lies where whoever restores, loses or rewrites the ledger does not do so with it. Each
line is a head with a hash of its own. Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from typing import Any, cast

from dpselect.accounting.filter import Cost
from dpselect.errors import HIDDEN, AnchorError, AnchorUnavailableError, InvalidParameterError, Shown
from dpselect.ledger.accounts import UNREADABLE, Head, canonical, cost_from, digest
from dpselect.ledger.sqlite import fcntl, folder_to_disk, names_a_server, to_disk

_EXPECTED = "the path of a file"
_FORMAT = "dpselect anchor 1"
_START = b'{"FORMAT":"dpselect anchor 1","account":"'
_LATER = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EINTR, errno.EAGAIN, errno.ENOLCK, errno.ESTALE}
"""Failures after which the next attempt may succeed."""
_NOTES = "`dpselect ledger anchor` notes what the ledger has now, and cannot show what was lost before."


class FileAnchor:
    """The heads of one ledger in a file, for all processes that reach it. Safe to use from several threads.

    It is made when the first head is noted. A last line that lacks its end was cut off by a crash, and is no note:
    nothing was drawn after it. `ledger` is the ledger's own file, which cannot be the anchor.
    """

    def __init__(self, path: str | Path, *, wait: float = 30.0, ledger: Path | str = "") -> None:
        if not isinstance(cast(object, path), str | Path) or not str(path) or "\0" in str(path):
            raise InvalidParameterError("anchor", path, _EXPECTED)
        if isinstance(path, str) and "://" in path:
            raise InvalidParameterError("anchor", Shown("<URL>"), _EXPECTED)
        if names_a_server(str(path)):
            raise InvalidParameterError("anchor", Shown(HIDDEN), _EXPECTED, "A new file has no name like a server's.")
        if os.path.realpath(path) in (str(ledger), f"{ledger}-journal"):
            hint = "Whatever harms the ledger would harm it, too."
            raise InvalidParameterError("anchor", Shown("<the ledger>"), "another file than the ledger's", hint)
        self.path, self._wait = Path(os.path.abspath(path)), wait
        self._lock = threading.Lock()
        self._forget()

    def __str__(self) -> str:
        return str(self.path)

    def heads(self, ledger: str) -> dict[str, Head]:
        """The head of each account of the ledger of this id: the first that was noted of the largest number."""
        with self._lock, self._opened(os.O_RDONLY) as file:
            if file is not None:
                self._catch_up(file, ledger)
            return dict(self._heads)

    def note(self, head: Head) -> None:
        """Keep one more head; when this returns it will be found after any crash."""
        new = 0 if self._read else os.O_CREAT  # one that was read before is not made anew
        with self._lock, self._opened(os.O_RDWR | os.O_APPEND | new) as opened:
            file = cast(int, opened)
            self._catch_up(file, head.ledger)
            if os.fstat(file).st_size > self._read:
                os.ftruncate(file, self._read)  # what a crash left of a line
            text = f"{line_of(head)}\n".encode()
            if os.write(file, text) != len(text):
                raise AnchorError(str(self), "there is no room for another line.")
            to_disk(file)
            if not self._read:
                folder_to_disk(self.path.parent)
            self._catch_up(file, head.ledger)

    def noted(self, head: Head) -> Head:
        """Note the head of what was committed. Only when this returns may anything be drawn.

        Returns the account's head: another one if somebody else noted a later one, or one of its number first.
        """
        try:
            self.note(head)
            now = self.heads(head.ledger)[head.account]
            if now.sequence < head.sequence:
                raise AnchorError(str(self), "it did not keep the note.")
            return now
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller has to learn of the entry
            why = error.what if isinstance(error, AnchorError) else f"An unexpected {type(error).__name__}."
            text = (
                f"entry {head.sequence} of account {head.account!r} was recorded and stays, but could not be noted"
                " here, and nothing was drawn. If you ask the same again in this process, that entry is used. The"
                f" reason: {why}"
            )
            kind = AnchorUnavailableError if isinstance(error, AnchorUnavailableError) else AnchorError
            raise kind(str(self), text, head.sequence) from None

    def unknown(self, account: str) -> AnchorError:
        text = (
            f"it knows nothing of account {account!r}: it is missing, was emptied, is another one, or the process that"
            f" opened the account ended before it was noted. Nothing was charged. Put the right one back; {_NOTES}"
        )
        return AnchorError(str(self), text)

    def cut_back(self, head: Head, once: int) -> AnchorError:
        text = (
            f"it ends at entry {head.sequence} of account {head.account!r}, and had noted entry {once}: it was cut off,"
            f" or an older copy was put in its place. Put the whole file back; {_NOTES}"
        )
        return AnchorError(str(self), text)

    def _forget(self) -> None:
        self._identity: tuple[int, int] | None = None
        self._ledger, self._read = "", 0
        self._heads: dict[str, Head] = {}

    def _damaged(self) -> AnchorError:
        text = f"its entry at {self._read} is damaged. Keep the damaged anchor, and restore it from a copy."
        return AnchorError(str(self), text)

    @contextmanager
    def _opened(self, flags: int) -> Generator[int | None]:
        """The file, locked against other processes; None if it is only to be read, and was never there."""
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            file = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            if self._read:
                raise AnchorError(str(self), "the file is gone: put it back.") from None
            if flags & os.O_CREAT:
                raise AnchorError(str(self), "there is no such folder.") from None
            yield None
            return
        except OSError as error:
            raise self._failed(error, "it cannot be opened: no permission, or no file.") from None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise AnchorError(str(self), "it is not a regular file.")
            until, is_shared = monotonic() + self._wait, not flags & (os.O_RDWR | os.O_CREAT)
            while not _locked(file, shared=is_shared):
                if monotonic() > until:
                    text = "another process holds its lock: try again, or wait longer."
                    raise AnchorUnavailableError(str(self), text)
                sleep(0.005)
            if self._identity != (found.st_dev, found.st_ino):
                self._forget()
                self._identity = found.st_dev, found.st_ino
            yield file
        except OSError as error:
            raise self._failed(error, "it cannot be read or written: the disk is full, or failed.") from None
        finally:
            os.close(file)

    def _failed(self, error: OSError, lasting: str) -> AnchorError:
        if error.errno in _LATER:
            text = "the disk failed, or this process has too many files open: try again."
            return AnchorUnavailableError(str(self), text)
        return AnchorError(str(self), lasting)

    def _catch_up(self, file: int, ledger: str) -> None:
        """Read the lines that were appended since the last look."""
        if os.fstat(file).st_size < self._read:
            raise AnchorError(str(self), "it has become shorter: put back the whole file.")
        with os.fdopen(file, "rb", closefd=False) as stream:
            stream.seek(self._read)
            for line in stream:
                if not line.endswith(b"\n"):
                    self._check_rest(line)
                    break
                self._take(line[:-1])
                self._read += len(line)
        if self._ledger not in ("", ledger):
            raise AnchorError(str(self), "it belongs to another ledger. Give each ledger an anchor of its own.")

    def _check_rest(self, rest: bytes) -> None:
        """Refuse an unended line that is not what a crash left of one: a part, or all but its end."""
        if not (_START.startswith(rest) or rest.startswith(_START)):
            if self._read:
                raise self._damaged()
            text = "this is not an anchor. Name an anchor, or a file that does not exist yet."
            raise AnchorError(str(self), text)
        try:
            json.JSONDecoder().raw_decode(rest.decode(errors="replace"))
        except (ValueError, RecursionError):
            return
        self._parsed(rest)  # more than a part of a line

    def _take(self, line: bytes) -> None:
        """Take a head, in whatever order they were noted. The first of a number counts; none lowers what was spent."""
        head = self._parsed(line)
        known = self._heads.get(head.account)
        try:
            spent = _spent(head.state)
            follows = known is None or head.sequence <= known.sequence or spent.covers(_spent(known.state))
        except UNREADABLE:
            follows = False
        if self._ledger not in ("", head.ledger) or not follows:
            raise self._damaged()
        self._ledger = head.ledger
        if known is None or head.sequence > known.sequence:
            self._heads[head.account] = head

    def _parsed(self, line: bytes) -> Head:
        """What `line_of` wrote. Of its state `_take` reads what was spent, and a ledger compares all of it."""
        try:
            text = line.decode()
            held: dict[str, Any] = json.loads(text)
            check, is_known = held.pop("check"), held.pop("FORMAT") == _FORMAT
            is_whole = is_known and digest("anchor", text.replace(f'"check":"{check}",', "", 1)) == check
            sequence = held.pop("sequence")
            is_number = type(sequence) is int and 0 <= sequence < 2**63
            if is_whole and is_number and {*map(type, held.values())} == {str}:
                return Head(sequence=sequence, **held)
        except UNREADABLE:
            pass
        raise self._damaged()


def line_of(head: Head) -> str:
    """A head as one line of text, with a hash of its own that shows damage."""
    held = {"FORMAT": _FORMAT, **asdict(head)}  # in capitals it comes first
    return canonical(held | {"check": digest("anchor", canonical(held))})


@functools.lru_cache(maxsize=256)
def _spent(state: str) -> Cost:
    return cost_from(json.loads(state)["total"])


def _locked(file: int, *, shared: bool) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        else:
            import msvcrt  # of Windows, which has locks of another kind

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore
    except (BlockingIOError, PermissionError):
        return False
    return True
