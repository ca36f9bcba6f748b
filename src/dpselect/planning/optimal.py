"""How close to the best possible a mechanism is: the smallest error on a lattice of scores, and the ratio to it."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np

from dpselect.checks import positive_count, positive_epsilon
from dpselect.errors import InsufficientMemoryError, InvalidParameterError
from dpselect.mechanisms import Mechanism
from dpselect.planning.curves import MechanismKind, Setting
from dpselect.planning.program import Lattice, lattice_of, lower_bound, solve, upper_bound

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


_STEP = 2.0
"""One step of the lattice, in sensitivities."""

_MEETING = 1e-12
"""Bounds at most this far apart, relatively, differ by rounding."""

_LARGEST_EPSILON = 700.0
"""For a larger epsilon errors are too small for a double."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """Two bounds that enclose the smallest possible error.

    >>> Optimum(lower=1.0, upper=1.25).gap
    0.25
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """The distance between the bounds, relative to the lower one."""
        return self.upper / self.lower - 1.0


def optimal_ratio(
    mechanism: MechanismKind, *, n: int, levels: int, epsilon: float, memory_limit: int | None = None
) -> float:
    r"""The ratio of a mechanism's error to the smallest possible one, on average over a lattice of scores.

    The lattice consists of all vectors of `n` scores that are 0 or 1, 2, ..., `levels` steps of twice the sensitivity
    below 0, with at least one at 0. The smallest possible error is the optimum of a linear program over all mechanisms
    that do not depend on the order or the common height of the scores, and whose probability for a candidate grows by
    at most a factor of :math:`e^{\varepsilon}` when its score alone rises by a step. Every regular `epsilon`-DP
    mechanism is one of these.

    Args:
        mechanism: a mechanism class, or ``functools.partial`` of one with options.
        n: number of candidates, >= 2.
        levels: number of steps, >= 1.
        epsilon: of one selection, > 0 and at most 700.
        memory_limit: refuse a lattice that needs more bytes. Default: what the machine or its container has left.

    Returns:
        At least 1 for every `epsilon`-DP mechanism; never understated, and overstated by at most `Optimum.gap`.

    Raises:
        InvalidParameterError: an argument is out of range.
        InsufficientMemoryError: the lattice takes too much memory; nothing was built.
        SelectionError: the solver gave up.

    Proof: ``proofs/optimality.md``. Source: McKenna & Sheldon (2020), section 4.

    >>> import dpselect as dps
    >>> for epsilon in (0.3, 3.0):
    ...     for mechanism in (dps.PermuteAndFlip, dps.ExponentialMechanism):
    ...         print(epsilon, mechanism.__name__, f"{optimal_ratio(mechanism, n=3, levels=4, epsilon=epsilon):.4f}")
    0.3 PermuteAndFlip 1.0077
    0.3 ExponentialMechanism 1.2414
    3.0 PermuteAndFlip 1.0000
    3.0 ExponentialMechanism 1.8659
    """
    setting = Setting.checked(mechanism, sensitivity=1.0, monotonic=False)
    lattice, spent = _checked_lattice(n, levels, epsilon, memory_limit)
    return mean_error(setting.at(spent), lattice) / _least_error(lattice, spent).lower


def optimal_error(*, n: int, levels: int, epsilon: float, memory_limit: int | None = None) -> Optimum:
    """The least possible expected error, averaged over the score vectors of the lattice of `optimal_ratio`.

    Args and Raises: as for `optimal_ratio`.

    Returns:
        Bounds on the distance of the selected score below the best, in units of the sensitivity.

    Proof: ``proofs/optimality.md``.

    >>> best = optimal_error(n=3, levels=4, epsilon=1.0)
    >>> round(best.lower, 4), best.gap < 1e-9
    (0.3509, True)
    """
    lattice, spent = _checked_lattice(n, levels, epsilon, memory_limit)
    return _least_error(lattice, spent)


def mean_error(mechanism: Mechanism, lattice: Lattice) -> float:
    """The mechanism's expected error averaged over the vectors of the lattice, in units of the sensitivity."""
    errors = [mechanism.expected_error(scores) for scores in -_STEP * lattice.rows]
    return float(lattice.weights @ np.array(errors))


def _least_error(lattice: Lattice, epsilon: float) -> Optimum:
    p = math.exp(-epsilon)
    # Without a guess these are best prices and permute-and-flip; from epsilon = 0.9624 on they meet, on any lattice.
    lower = lower_bound(lattice, p, np.full(lattice.weights.size, np.inf), np.zeros(lattice.weights.size))
    upper = upper_bound(lattice, p, np.zeros(lattice.level.size))
    if upper > lower * (1.0 + _MEETING):
        guess = solve(lattice, p)
        lower = max(lower, lower_bound(lattice, p, guess.prices, guess.top_multipliers))
        upper = min(upper, upper_bound(lattice, p, guess.scaled))
    return Optimum(lower=_STEP * p * lower, upper=_STEP * p * upper)


def _checked_lattice(n: object, levels: object, epsilon: object, memory_limit: object) -> tuple[Lattice, float]:
    """The lattice, once the arguments are in range and there is room for it."""
    count = positive_count(n, "n", at_most=sys.maxsize)
    if count == 1:
        raise InvalidParameterError("n", count, "at least 2", "One candidate is selected without error.")
    steps = positive_count(levels, "levels", at_most=sys.maxsize)
    spent = positive_epsilon(epsilon)
    if spent > _LARGEST_EPSILON:
        raise InvalidParameterError("epsilon", spent, f"a number <= {_LARGEST_EPSILON:g}")
    Size.of(count, steps).check(
        available_memory() if memory_limit is None else positive_count(memory_limit, "memory_limit")
    )
    return lattice_of(count, steps), spent
