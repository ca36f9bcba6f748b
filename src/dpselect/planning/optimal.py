"""How close to the best possible a mechanism is: the smallest error on a lattice of scores, and the ratio to it."""

from __future__ import annotations

import math
import sys
from math import comb

import numpy as np

from dpselect.checks import positive_count, positive_epsilon
from dpselect.errors import InsufficientMemoryError, InvalidParameterError
from dpselect.planning.curves import MechanismKind, Setting
from dpselect.planning.program import Lattice, lattice_of, lower_bound, solve, upper_bound
from dpselect.planning.worst_case import Bounds

_MOST_MEMORY = 4 * 2**30
_BYTES_PER_ENTRY, _BYTES_PER_SCORE = 1000, 32
"""Bytes for an entry of the program's matrix, its copies, factors and the solver's own (at most 700 were measured), and
for a score in the table of states while it is sorted."""


def program_size(n: int, levels: int) -> tuple[int, int, int]:
    """States and variables of the program for `n` items and `levels` steps, and about how many bytes it needs.

    Proof: ``proofs/optimality.md``.
    """
    states, with_level = _combinations(n - 1 + levels, levels), _combinations(n - 2 + levels, levels)
    entries = states + levels * (levels + 3) // 2 * with_level
    return states, states + levels * with_level, entries * _BYTES_PER_ENTRY + n * states * _BYTES_PER_SCORE


def _combinations(total: int, chosen: int) -> int:
    """``C(total, chosen)``, or a number beyond any memory if computing it would take long."""
    return 10**100 if min(chosen, total - chosen) > 400 and total > 10**4 else comb(total, chosen)


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


def optimal_ratio(mechanism: MechanismKind, *, n: int, levels: int, epsilon: float) -> float:
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

    Returns:
        At least 1 for every `epsilon`-DP mechanism; never understated, and overstated by at most `Bounds.gap`.

    Raises:
        InvalidParameterError: an argument is out of range.
        InsufficientMemoryError: the program takes more than 4 GiB of memory; nothing was built.
        SelectionError: the solver gave up.

    Proof: ``proofs/optimality.md``. Source: McKenna & Sheldon (2020), section 4.

    >>> from dpselect import ExponentialMechanism, PermuteAndFlip
    >>> [round(optimal_ratio(each, n=3, levels=4, epsilon=0.3), 4) for each in (PermuteAndFlip, ExponentialMechanism)]
    [1.0077, 1.2414]
    """
    setting = Setting.checked(mechanism, sensitivity=1.0, monotonic=False)
    lattice, spent = _checked_lattice(n, levels, epsilon)
    mechanism_at = setting.at(spent)
    errors = [mechanism_at.expected_error(scores) for scores in -_STEP * lattice.rows]
    return float(lattice.weights @ np.array(errors)) / _least_error(lattice, spent).lower


def optimal_error(*, n: int, levels: int, epsilon: float) -> Bounds:
    """Bounds on the least expected error, averaged over the lattice of `optimal_ratio`, in units of the sensitivity.

    Args and Raises: as for `optimal_ratio`.

    Proof: ``proofs/optimality.md``.

    >>> best = optimal_error(n=3, levels=4, epsilon=1.0)
    >>> round(best.lower, 4), best.gap < 1e-9
    (0.3509, True)
    """
    return _least_error(*_checked_lattice(n, levels, epsilon))


def _least_error(lattice: Lattice, epsilon: float) -> Bounds:
    p = math.exp(-epsilon)
    # Without a guess these are best prices and permute-and-flip; from epsilon = 0.9624 on they meet, on any lattice.
    lower = lower_bound(lattice, p, np.full(lattice.weights.size, np.inf), np.zeros(lattice.weights.size))
    upper = upper_bound(lattice, p, np.zeros(lattice.level.size))
    if upper > lower * (1.0 + _MEETING):
        guess = solve(lattice, p)
        lower = max(lower, lower_bound(lattice, p, guess.prices, guess.top_multipliers))
        upper = min(upper, upper_bound(lattice, p, guess.scaled))
    return Bounds(lower=_STEP * p * lower, upper=_STEP * p * upper)


def _checked_lattice(n: object, levels: object, epsilon: object) -> tuple[Lattice, float]:
    """The lattice, once the arguments are in range and there is room for it."""
    count = positive_count(n, "n", at_most=sys.maxsize)
    if count == 1:
        raise InvalidParameterError("n", count, "at least 2", "One candidate is selected without error.")
    steps = positive_count(levels, "levels", at_most=sys.maxsize)
    spent = positive_epsilon(epsilon)
    if spent > _LARGEST_EPSILON:
        raise InvalidParameterError("epsilon", spent, f"a number <= {_LARGEST_EPSILON:g}")
    states, variables, memory = program_size(count, steps)
    if memory > _MOST_MEMORY:
        raise InsufficientMemoryError(
            f"n and levels make a linear program of {_readable(states)} states and {_readable(variables)} variables, "
            f"which needs about {_readable(memory / 2**30)} GiB of memory; {_MOST_MEMORY >> 30} GiB are allowed. "
            "Take fewer levels or items."
        )
    return lattice_of(count, steps), spent
