"""A search that fits on one part of the units and scores on the other, in exact fractions. Proof:
``proofs/private_search.md``.

A unit has one or more rows, each of which is the unit's bit. The estimator tells the most frequent bit of the rows of
its part, or the other one, so that it is ln(fit)-DP for a row; the score is the number of rows of the other part that
are the same, with clamped geometric noise of ln(score) for a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tests.reference.private_candidates import best

HALF = Fraction(1, 2)


def fitted(bits: Sequence[int], grown: Fraction, within: int = 1) -> list[Fraction]:
    """Probability of the answers 0 and 1: to the power of the difference of their counts, within 1 or another bound.

    >>> fitted([1, 1], Fraction(2))
    [Fraction(1, 3), Fraction(2, 3)]
    """
    lead = max(-within, min(within, 2 * sum(bits) - len(bits)))
    weights = [Fraction(1), grown**lead]  # a row more changes the lead by 1: both chances change by at most e^epsilon
    return [weight / sum(weights) for weight in weights]


def scored(count: int, grown: Fraction, most: int) -> list[Fraction]:
    """Probability of each noisy count from 0 to `most`: two-sided geometric noise, moved into that range."""
    ratio = 1 / grown
    inside = [(1 - ratio) / (1 + ratio) * ratio ** abs(value - count) for value in range(1, most)]
    low, high = ratio**count / (1 + ratio), ratio ** (most - count) / (1 + ratio)
    return [low, *inside, high]


def run(
    units: Sequence[int], parts: Sequence[int], *, fit: Fraction, score: Fraction, most: int = 2, rows: int = 1
) -> list[Fraction]:
    """Probability of each outcome, lowest score first; ``parts[i]`` is 0 for fitting, 1 for scoring, 2 for both.

    Each unit has so many `rows`.
    """
    fitting = [bit for bit, part in zip(units, parts, strict=True) if part != 1] * rows
    scoring = [bit for bit, part in zip(units, parts, strict=True) if part != 0] * rows
    chances = fitted(fitting, fit, within=1 if rows == 1 else 2 * rows)
    found: list[Fraction] = [Fraction(0)] * (2 * (most + 1))
    for answer in (0, 1):
        for value, chance in enumerate(scored(sum(bit == answer for bit in scoring), score, most)):
            found[2 * value + answer] += chances[answer] * chance
    return found


def search(units: Sequence[int], counts: Sequence[Fraction], **epsilons: Any) -> list[Fraction]:
    """Probability of each outcome of the best run, with one division of the units for all runs."""
    total: list[Fraction] = []
    for parts in product((0, 1), repeat=len(units)):
        law = best(run(units, parts, **epsilons), counts)
        total = [a + b * HALF ** len(units) for a, b in zip(total or [Fraction(0)] * len(law), law, strict=True)]
    return total


def worst(counts: Sequence[Fraction], most: int, **epsilons: Any) -> Fraction:
    """The largest ratio between data sets of up to `most` units and the same with one more."""
    found = Fraction(1)
    for size in range(most):
        for units in product((0, 1), repeat=size):
            for other in (0, 1):
                here, there = search(units, counts, **epsilons), search([*units, other], counts, **epsilons)
                found = max(found, *(max(a / b, b / a) for a, b in zip(here, there, strict=True) if a))
    return found


def worst_of_a_fit(most: int, *, fit: Fraction, rows: int) -> Fraction:
    """The same for one run whose units are all fitted on: what a unit of so many rows costs there."""
    found = Fraction(1)
    for size in range(most):
        for units in product((0, 1), repeat=size):
            for other in (0, 1):
                here = run(units, [0] * size, fit=fit, score=fit, rows=rows)
                there = run([*units, other], [0] * (size + 1), fit=fit, score=fit, rows=rows)
                found = max(found, *(max(a / b, b / a) for a, b in zip(here, there, strict=True)))
    return found


def worst_of_one_part(most: int, **epsilons: Fraction) -> Fraction:
    """The same for one run that fits and scores on all units: a control."""
    found = Fraction(1)
    for size in range(most):
        for units in product((0, 1), repeat=size):
            for other in (0, 1):
                here = run(units, [2] * size, **epsilons)
                there = run([*units, other], [2] * (size + 1), **epsilons)
                found = max(found, *(max(a / b, b / a) for a, b in zip(here, there, strict=True)))
    return found
