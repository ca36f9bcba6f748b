"""Blocks of known random bits, and the question whether a draw came from one."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from dpselect._native import _core
from dpselect.errors import InvalidParameterError, SelectionError, Shown


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """A block in which draws can be repeated: ``with dpselect.testing.seeded(7): ...``.

    For tests and simulations only: whoever knows the seed can compute the noise. So each release that is drawn in the
    block says ``seeded: not private`` in its certificate and when it is shown, `dpselect.verify` refuses it, and no
    ledger takes a charge. Mechanisms by themselves, such as ``mech.select(scores)``, carry no mark.

    The block is of the thread that began it. Other threads, children of a fork and workers of Spark go on with the
    operating system's randomness; in asynchronous code, do not wait for anything within a block. Draws are the same for
    the same calls in the same order, on the same version and kind of machine.

    Args:
        seed: a whole number from 0 to 2^64 - 1.

    Raises:
        InvalidParameterError: on entering: `seed` is no such number, or this thread is already in such a block.
        SelectionError: the block ends in another thread than it began in.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> with dps.testing.seeded(7):
    ...     release = people.median("age", bounds=(0, 120), step=1, epsilon=1.0)
    >>> print(release.promise)
    Seeded: not private. The noise can be computed by anybody who knows the seed.
    """
    if type(seed) is not int or not 0 <= seed < 2**64:
        raise InvalidParameterError("seed", seed, "a whole number from 0 to 2^64 - 1")
    key = hashlib.sha256(b"dpselect seeded %d" % seed).digest()
    if not _core.begin_seeded(key):
        raise InvalidParameterError("seed", seed, "no other seeded block of this thread that has not ended")
    thread = threading.current_thread()
    parts = (hashlib.sha256(b"dpselect seeded key %d" % place + key).digest()[:8] for place in count())
    KEYS.set((os.getpid(), parts))
    try:
        yield
    finally:
        KEYS.set(None)
        if threading.current_thread() is thread:
            _core.end_seeded()
        elif thread.is_alive():  # else the block has ended with its thread
            raise SelectionError("A seeded block has to end in the thread that it began in; there it goes on.")


KEYS: ContextVar[tuple[int, Iterator[bytes]] | None] = ContextVar("keys of the seeded block", default=None)
"""Of the block in which the work was begun, also in a thread that reads rows for it; with its process."""


def key_of_a_choice() -> bytes:
    """Eight random bytes for the hash that chooses rows or values, not for noise; in a seeded block of its seed."""
    held = KEYS.get()
    return next(held[1]) if held is not None and held[0] == os.getpid() else os.urandom(8)


seeded_draws = _core.seeded_draws  # whether this thread is in a seeded block, and how many draws it ever made in one


def refuse_seeded() -> None:
    """Refuse to charge a ledger in a seeded block, of which nothing is claimed: ``proofs/exact_sampling.md``."""
    if _core.seeded_draws()[0]:
        expected = "no seeded block, because a ledger counts private releases"
        raise InvalidParameterError("ledger", Shown("<a charge within dpselect.testing.seeded>"), expected)
