"""How large a lattice and its linear program are, known exactly before anything is built."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import comb
from pathlib import Path

from dpselect.errors import InsufficientMemoryError

_UNKNOWN = 4 * 2**30
"""Assumed if the system does not report it."""


def available_memory(root: Path = Path("/")) -> int:
    """Bytes that are free, or can be made free without swapping: the machine's, or the container's if that is less.

    >>> available_memory() > 0
    True
    """
    free = _meminfo(root / "proc/meminfo")
    return min([_physical() if free is None else free, *_left_in_containers(root)])


def _meminfo(path: Path) -> int | None:
    """Linux's own estimate."""
    for line in _text(path).splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return None


def _physical() -> int:
    """All of the machine's memory, if nothing better is known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _left_in_containers(root: Path) -> list[int]:
    """What the control groups of this process still allow (version 2), of those that have a limit."""
    left: list[int] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        group = Path(line.removeprefix("0::").lstrip("/")) if line.startswith("0::") else None
        for each in (group, *group.parents) if group is not None else ():
            folder = root / "sys/fs/cgroup" / each
            limit = _text(folder / "memory.max").strip()
            if limit.isdigit():
                used = int(_text(folder / "memory.current").strip() or 0)
                left.append(max(int(limit) - used + _cached(folder), 0))
    return left


def _cached(folder: Path) -> int:
    """File pages that count as used but would be dropped first."""
    for line in _text(folder / "memory.stat").splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


_BYTES_PER_ENTRY = 1000
"""Bytes for an entry of the program's matrix, its copies, factors and the solver's own; at most 700 were measured."""

_BYTES_PER_SCORE = 32
"""Bytes for a score in the table of states while it is sorted."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the program for `n` items and `levels` steps.

    Attributes:
        states: sorted score vectors.
        variables: probabilities, one for each level that occurs in a state.
        entries: of the matrix that sums them up.
        scores: in all states together.

    >>> Size.of(4, 8)
    Size(states=165, variables=525, entries=2145, scores=660)
    """

    states: int
    variables: int
    entries: int
    scores: int

    @classmethod
    def of(cls, n: int, levels: int) -> Size:
        """Exact, for any numbers. Proof: ``proofs/optimality.md``."""
        states, with_level = _combinations(n - 1 + levels, levels), _combinations(n - 2 + levels, levels)
        entries = states + levels * (levels + 3) // 2 * with_level
        return cls(states, states + levels * with_level, entries, n * states)

    @property
    def memory(self) -> int:
        """Approximate number of bytes for building and solving."""
        return self.entries * _BYTES_PER_ENTRY + self.scores * _BYTES_PER_SCORE

    def check(self, limit: int) -> None:
        """
        Raises:
            InsufficientMemoryError: more than `limit` bytes are needed.
        """
        if self.memory > limit:
            raise InsufficientMemoryError(
                f"n and levels make a linear program of {_readable(self.states)} states and "
                f"{_readable(self.variables)} variables, which needs about {_readable(self.memory / 2**30)} GiB of "
                f"memory; {_readable(limit / 2**30)} GiB are available. Take fewer levels or items."
            )


_HUGE = 10**100


def _combinations(total: int, chosen: int) -> int:
    """``C(total, chosen)``, or a number beyond any memory if computing it would take long."""
    few = min(chosen, total - chosen)
    if few > 400 and total > 10**4:
        return _HUGE
    return comb(total, chosen)


def _readable(number: float) -> str:
    if number >= 10**30:
        return "10^30 or more"
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"
