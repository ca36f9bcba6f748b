"""Blocks of known random bits, and the question whether a draw came from one."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator
from contextlib import contextmanager

from dpselect._native import _core
from dpselect.errors import InvalidParameterError, SelectionError, Shown

_LARGEST = 2**64
NO_LEDGER = "no seeded block, because a ledger counts private releases"
"""What a ledger expects instead; see `refuse_seeded`."""


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """See `dpselect.testing.seeded`."""
    if type(seed) is not int or not 0 <= seed < _LARGEST:
        raise InvalidParameterError("seed", seed, "a whole number from 0 to 2^64 - 1")
    key = hashlib.sha256(b"dpselect seeded %d" % seed).digest()
    if not _core.begin_seeded(key):
        raise InvalidParameterError("seed", seed, "no other seeded block of this thread that has not ended")
    thread = threading.get_ident()
    try:
        yield
    finally:
        if threading.get_ident() != thread:
            raise SelectionError("A seeded block has to end in the thread that it began in; there it goes on.")
        _core.end_seeded()


def seeded_draws() -> tuple[bool, int]:
    """Whether this thread is in a seeded block, and how many draws it ever made in one.

    If this is the same before and after some work, and False, no draw of it was seeded.
    """
    return _core.seeded_draws()


def refuse_seeded() -> None:
    """Refuse what may not be done in a seeded block: to charge a ledger.

    Raises:
        InvalidParameterError: this thread is in one.
    """
    if _core.seeded_draws()[0]:
        raise InvalidParameterError("ledger", Shown("<a charge within dpselect.testing.seeded>"), NO_LEDGER)
