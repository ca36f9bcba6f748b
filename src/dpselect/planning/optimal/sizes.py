"""How large a lattice is and what its linear program needs, before any of it is built. ``proofs/optimality.md``."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from dpselect.errors import InsufficientMemoryError

_BYTES_PER_NONZERO = 2000
"""Of the program, while HiGHS solves it: 800 to 1740 were measured for programs of 10^4 to 10^5 nonzeros."""

_BYTES_PER_PLACE = 250
_BYTES_PER_ENTRY = 32
"""Of the lattice itself: arrays over its places, and over the entries of its states."""

_FACTORS = 64
"""Binomials of more factors than this are only bounded from below: by 2^64 at least, whatever the rest."""


@dataclass(frozen=True, slots=True)
class LatticeSize:
    """Counts of a lattice of `n` items and `levels` steps, exact up to 10^19 and beyond that perhaps too small.

    Attributes:
        states: score vectors, those with the same scores in another order counted once.
        places: levels that occur in them, that is, variables of the linear program.
        nonzeros: coefficients in the program's constraints.
        entries: numbers it takes to write all states down.
    """

    states: int
    places: int
    nonzeros: int
    entries: int

    @classmethod
    def of(cls, n: int, levels: int) -> LatticeSize:
        """
        >>> LatticeSize.of(3, 4)
        LatticeSize(states=15, places=35, nonzeros=95, entries=45)
        """
        states, chains = _binomial(n - 1 + levels, levels), _binomial(n - 2 + levels, levels)
        places = states + levels * chains
        return cls(states, places, places + 2 * (places - chains), n * states)

    def bytes_needed(self, *, program: bool) -> int:
        """Memory for the lattice, and for the linear program if it is to be solved."""
        lattice = _BYTES_PER_PLACE * self.places + _BYTES_PER_ENTRY * self.entries
        return lattice + (_BYTES_PER_NONZERO * self.nonzeros if program else 0)

    def check_memory(self, limit: int, *, program: bool) -> None:
        """
        Raises:
            InsufficientMemoryError: more than `limit` bytes are needed.
        """
        needed = self.bytes_needed(program=program)
        if needed > limit:
            raise InsufficientMemoryError(
                f"This lattice has {_readable(self.states)} states and {_readable(self.places)} probabilities to "
                f"choose; that takes about {_gibibytes(needed)} GiB of memory, and {_gibibytes(limit)} GiB are "
                "allowed. Nothing was built. Fewer candidates (n) or levels take less."
            )


def _binomial(top: int, chosen: int) -> int:
    chosen = min(chosen, top - chosen)
    return comb(top, min(chosen, _FACTORS))


def _readable(count: int) -> str:
    """All digits where they can be read, else the first two and the power of ten.

    >>> _readable(123456), _readable(9_876_543_210_123)
    ('123,456', '9.8e12')
    """
    digits = str(count)
    return f"{count:,}" if count < 10**9 else f"{digits[0]}.{digits[1]}e{len(digits) - 1}"


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.3g}" if size < 2**50 else _readable(size >> 30)
