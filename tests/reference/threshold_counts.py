"""Noisy counts from a threshold on, in exact fractions. Proof: ``proofs/unknown_candidates.md``, claim 3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from tests.reference import discrete_gaussian, geometric
from tests.reference.precision import exponential

Law = dict[tuple[int | None, ...], Fraction]
"""Of the noisy count of each value; None: not released."""


def threshold(ratio: Fraction, share: Fraction) -> int:
    """The smallest that a value of one unit reaches with probability `share` at most; `ratio` is e^-epsilon of a count.

    >>> threshold(Fraction(1, 2), Fraction(1, 12))  # (1/2)^3 / (3/2)
    4
    """
    noise = 1
    while ratio**noise / (1 + ratio) > share:
        noise += 1
    return 1 + noise


def of_one(count: int, ratio: Fraction, least: int, *, cells: int) -> dict[int | None, Fraction]:
    """Of one value: not released, `least`, ..., or `least` + `cells` - 1 and everything beyond together.

    >>> {noisy: str(chance) for noisy, chance in of_one(3, Fraction(1, 2), 3, cells=2).items()}
    {None: '1/3', 3: '1/3', 4: '1/3'}
    """
    if count == 0:
        return {None: Fraction(1)} | dict.fromkeys(range(least, least + cells), Fraction(0))
    found: dict[int | None, Fraction] = {None: geometric.noise_up_to(ratio, least - 1 - count)}
    for noisy in range(least, least + cells - 1):
        found[noisy] = geometric.law(ratio, noisy - count)
    found[least + cells - 1] = 1 - sum(found.values(), Fraction(0))
    return found


def law(counts: Sequence[int], ratio: Fraction, least: int, *, cells: int) -> Law:
    """Of all values."""
    each = [of_one(count, ratio, least, cells=cells) for count in counts]
    found: Law = {}
    for outcome in product(*each):
        probability = Fraction(1)
        for chances, noisy in zip(each, outcome, strict=True):
            probability *= chances[noisy]
        found[outcome] = probability
    return found


def failure(one: Law, other: Law, growth: Fraction) -> Fraction:
    """The smallest delta at which `one` is at most `growth` times as likely as `other`, plus delta, in every event."""
    zero = Fraction(0)
    return sum((max(zero, chance - growth * other.get(outcome, zero)) for outcome, chance in one.items()), zero)


def gaussian_of_one(count: int, variance: Fraction, least: int, *, reach: int = 24) -> dict[int | None, Fraction]:
    """Of one value with discrete Gaussian noise, cut off at `reach`: not released, or its noisy count."""
    if count == 0:
        return {None: Fraction(1)}
    found: dict[int | None, Fraction] = {None: Fraction(0)}
    for noise, chance in discrete_gaussian.law(variance, reach=reach).items():
        noisy = count + noise if count + noise >= least else None
        found[noisy] = found.get(noisy, Fraction(0)) + chance
    return found


def gaussian_law(counts: Sequence[int], variance: Fraction, least: int, *, reach: int = 24) -> Law:
    """Of all values."""
    found: Law = {(): Fraction(1)}
    for count in counts:
        each = gaussian_of_one(count, variance, least, reach=reach)
        found = {
            (*before, noisy): chance * more for before, chance in found.items() for noisy, more in each.items() if more
        }
    return found


def gaussian_threshold(variance: Fraction, share: Fraction) -> int:
    """The smallest that a value of one unit reaches with probability `share` at most."""
    law, noise = discrete_gaussian.law(variance, reach=24), 1
    while sum(chance for drawn, chance in law.items() if drawn >= noise) > share:
        noise += 1
    return 1 + noise


def gaussian_failure(
    variance: Fraction, share: Fraction, *, epsilon: Fraction, less: int = 0
) -> tuple[Fraction, Fraction]:
    """How often `epsilon` fails if a unit is added that has one common value and one of its own, and what is allowed.

    Allowed is what the noise of one moved count fails by, beside `share` for the value that nobody else has.
    """
    least, common, grown = gaussian_threshold(variance, share) - less, 40, exponential(epsilon)
    before, after = (gaussian_law(counts, variance, least) for counts in ((common, 0), (common + 1, 1)))
    found = max(failure(before, after, grown), failure(after, before, grown))
    return found, share + discrete_gaussian.worst_delta(variance, moves=1, epsilon=epsilon, reach=24)
