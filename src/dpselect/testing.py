"""Draws that can be repeated, for tests and simulations. They are not private, and say so."""

from __future__ import annotations

from contextlib import AbstractContextManager

from dpselect.mechanisms import seeding

__all__ = ["seeded"]


def seeded(seed: int) -> AbstractContextManager[None]:
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
    >>> with seeded(7):
    ...     release = people.median("age", bounds=(0, 120), step=1, epsilon=1.0)
    >>> print(release.promise)
    Seeded: not private. The noise can be computed by anybody who knows the seed.
    """
    return seeding.seeded(seed)
