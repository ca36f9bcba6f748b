"""Who comes first, second, ... among independent arrival times: exact laws of noise that is added once.

Writing ``score_i + noise_i`` as a decreasing function of an arrival time turns a noisy maximum into a first arrival:

* exponential noise: ``exp(-(score_i + noise_i - best) / scale)`` is uniform on ``[0, 1 / p_i]``;
* Gumbel noise: ``exp(-(score_i + noise_i - best) / scale)`` is exponential with rate ``p_i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from math import prod

from tests.reference.polynomials import antiderivative, evaluate, product

Order = tuple[int, ...]


def uniform_race(flip_probabilities: Sequence[Fraction], *, finishers: int) -> dict[Order, Fraction]:
    """Law of the first `finishers` arrivals when candidate ``i`` arrives uniformly on ``[0, 1 / p_i]``.

    Survival functions and densities are polynomials between consecutive end points ``1 / p_i``.

    >>> race = uniform_race([Fraction(1), Fraction(1, 2)], finishers=1)
    >>> race == {(0,): Fraction(3, 4), (1,): Fraction(1, 4)}
    True
    """
    p = tuple(flip_probabilities)
    ends = [1 / p_i for p_i in p]
    grid = [Fraction(0), *sorted(set(ends))]
    cells = list(pairwise(grid))
    law: dict[Order, Fraction] = {}
    for order in permutations(range(len(p)), finishers):
        rest = [j for j in range(len(p)) if j not in order]
        later = [product(_survival(p[j], within=end <= ends[j]) for j in rest) for _, end in cells]
        for i in reversed(order):
            density = [((p[i],) if end <= ends[i] else (Fraction(0),)) for _, end in cells]
            later = _integral_from(cells, [product(pair) for pair in zip(density, later, strict=True)])
        law[order] = evaluate(later[0], Fraction(0))
    return law


def _survival(rate: Fraction, *, within: bool) -> tuple[Fraction, ...]:
    """The chance of not having arrived by ``v``: ``1 - rate * v`` up to the end point, 0 after it."""
    return (Fraction(1), -rate) if within else (Fraction(0),)


def _integral_from(
    cells: Sequence[tuple[Fraction, Fraction]], pieces: Sequence[tuple[Fraction, ...]]
) -> list[tuple[Fraction, ...]]:
    """The integral of a piecewise polynomial from ``v`` to the last end point, as a function of ``v``."""
    result: list[tuple[Fraction, ...]] = []
    beyond = Fraction(0)
    for (start, end), piece in reversed(list(zip(cells, pieces, strict=True))):
        primitive = antiderivative(piece)
        constant = beyond + evaluate(primitive, end)
        result.append((constant, *(-coefficient for coefficient in primitive[1:])))
        beyond = constant - evaluate(primitive, start)
    return result[::-1]


def exponential_race(rates: Sequence[Fraction], *, finishers: int) -> dict[Order, Fraction]:
    """Law of the first `finishers` arrivals; candidate ``i`` arrives after an exponential time of rate ``rates[i]``.

    The chance that ``order[m:]`` arrive in this order, all after time ``v`` and before the rest, is a multiple of one
    exponential ``exp(-decay * v)``; integrating against the density of the arrival before keeps that form.

    >>> exponential_race([Fraction(2), Fraction(1)], finishers=1)
    {(0,): Fraction(2, 3), (1,): Fraction(1, 3)}
    """
    law: dict[Order, Fraction] = {}
    for order in permutations(range(len(rates)), finishers):
        decays = [sum(rates[j] for j in range(len(rates)) if j not in order)]
        for i in reversed(order):
            decays.append(decays[-1] + rates[i])
        factors = (rates[i] / decay for i, decay in zip(reversed(order), decays[1:], strict=True))
        law[order] = prod(factors, start=Fraction(1))
    return law
