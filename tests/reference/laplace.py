"""The density ``exp(-|y - m| / b) / Z(m)`` on three ranges, and what it loses. Proof: ``proofs/laplace_mechanism.md``.

Everything in units of the sensitivity: neighbours' m are at most 1 apart, and b is 1 / epsilon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import ceil

from tests.reference.precision import exponential, logarithm

Normaliser = Callable[[Fraction], Fraction]


def on_the_line(epsilon: Fraction) -> Normaliser:
    """``Z(m) = 2 b``, whatever m is."""
    return lambda m: 2 / epsilon + 0 * m


def on_an_interval(epsilon: Fraction, *, width: Fraction) -> Normaliser:
    """The integral over [0, width]."""
    return cache(lambda m: (2 - exponential(-epsilon * m) - exponential(-epsilon * (width - m))) / epsilon)


def on_a_lattice(epsilon: Fraction, *, spacing: Fraction) -> Normaliser:
    """The sum over all multiples of `spacing`."""

    def normaliser(m: Fraction) -> Fraction:
        above = m % spacing
        nearest = exponential(-epsilon * above) + exponential(-epsilon * (spacing - above))
        return nearest / (1 - exponential(-epsilon * spacing))

    return cache(normaliser)


def loss(normaliser: Normaliser, m: Fraction, moved: Fraction, y: Fraction, *, epsilon: Fraction) -> Fraction:
    """``ln f_m(y) - ln f_moved(y)``."""
    return epsilon * (abs(y - moved) - abs(y - m)) + logarithm(normaliser(moved) / normaliser(m))


def worst_loss(
    normaliser: Normaliser, *, centers: Sequence[Fraction], answers: Iterable[Fraction], epsilon: Fraction
) -> Fraction:
    """The largest loss over neighbouring centers and these answers."""
    seen = list(answers)
    pairs = [(m, moved) for m in centers for moved in centers if abs(m - moved) <= 1]
    farthest = [
        (max(seen, key=lambda y, m=m, moved=moved: abs(y - moved) - abs(y - m)), m, moved) for m, moved in pairs
    ]
    return max(loss(normaliser, m, moved, y, epsilon=epsilon) for y, m, moved in farthest)


def worst_on_an_interval(epsilon: Fraction, *, width: Fraction) -> Fraction:
    """Between neighbours 0 and 1, at the answer 0."""
    normaliser = on_an_interval(epsilon, width=width)
    return loss(normaliser, Fraction(0), Fraction(1), Fraction(0), epsilon=epsilon)


def worst_on_a_lattice(epsilon: Fraction, *, spacing: Fraction) -> Fraction:
    """Between the neighbours 1 and 0, a point of the lattice, at an answer from 1 on."""
    normaliser = on_a_lattice(epsilon, spacing=spacing)
    return loss(normaliser, Fraction(1), Fraction(0), spacing * ceil(1 / spacing), epsilon=epsilon)
