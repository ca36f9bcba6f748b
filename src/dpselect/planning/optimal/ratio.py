"""The smallest possible error on a lattice of scores, and the ratio of a mechanism's error to it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from dpselect.checks import positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import Mechanism
from dpselect.planning.optimal.lattice import Lattice, lattice_of
from dpselect.planning.optimal.program import lower_bound, solve, upper_bound
from dpselect.planning.optimal.size import Size, available_memory
from dpselect.planning.setting import MechanismKind, Setting

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
