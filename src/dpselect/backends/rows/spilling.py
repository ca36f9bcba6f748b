"""Folders for rows that memory cannot hold: this user's alone, removed at the end; after a kill, by the next process.

A folder holds a locked file for as long as its process lives. The system drops the lock with the process, however that
ended, on whichever machine or in whichever container: numbers of processes, or ages, would tell less.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

try:
    import fcntl
except ImportError:  # on Windows nobody can tell, and nothing is removed but one's own
    fcntl: Any = None

_PREFIX, _LOCK, _UNLOCKED = "dpselect-", "lock", "lock-not-yet"
_swept: set[str] = set()


@contextmanager
def spill_folder() -> Generator[str]:
    """An empty folder, removed at the end; the first of a process also removes what dead ones left."""
    if tempfile.gettempdir() not in _swept:
        _swept.add(tempfile.gettempdir())
        remove_abandoned(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        lock = _locked(folder)
        try:
            yield folder
        finally:
            if lock is not None:
                os.close(lock)


def remove_abandoned(place: str) -> None:
    """Remove the folders of this user in `place` whose process is gone; whatever cannot be removed stays.

    Those without a locked file are left alone: they were made this moment, or by an earlier version.
    """
    with suppress(OSError), os.scandir(place) as found:  # tidying up is never a reason to answer nothing
        for each in found:
            if each.name.startswith(_PREFIX) and each.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(each.path)


def _remove_if_abandoned(folder: str) -> None:
    if fcntl is None:
        return
    held = os.lstat(folder)
    if held.st_uid != os.geteuid() or held.st_mode & 0o077:  # somebody else's, or one that others can change
        return
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(lock)


def _locked(folder: str) -> int | None:
    """The locked file in it, which gets its name only once it is locked: nobody sees it otherwise."""
    if fcntl is None:
        return None
    lock = None
    try:
        lock = os.open(os.path.join(folder, _UNLOCKED), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(os.path.join(folder, _UNLOCKED), os.path.join(folder, _LOCK))
    except OSError:  # a place without locks: then nobody removes it but its own process
        if lock is not None:
            os.close(lock)
        return None
    return lock
