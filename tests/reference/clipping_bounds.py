"""A bound found from the largest candidate down, in exact fractions. Proof: ``proofs/clipping_bounds.md``.

``ratio`` stands for exp(-1/b), the same for the threshold and for each candidate's noise. The value of a unit is the
place of the first candidate that is not below it; the last candidate is never tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod

from tests.reference import geometric, moments, unbounded_quantiles

Data = tuple[int, ...]


def above(data: Data, candidates: int) -> tuple[int, ...]:
    """How many values are above each candidate but the last.

    >>> above((0, 2, 2, 3), 4)
    (3, 3, 1)
    """
    return tuple(sum(value > place for value in data) for place in range(candidates - 1))


def law(counts: Sequence[int], *, margin: int, ratio: Fraction) -> list[Fraction]:
    """Probability of each candidate: of the one after the first that has too many values above it, from the top down.

    >>> law([5, 0], margin=1, ratio=Fraction(1, 2))[0]
    Fraction(0, 1)
    """
    stops = unbounded_quantiles.law([count - margin for count in reversed(counts)], first=ratio, second=ratio)
    at, nowhere = stops[-2::-1], stops[-1]  # of stopping at the first candidate, the second, ...
    return [Fraction(0), at[0] + nowhere, *at[1:]]


def exp_epsilon(ratio: Fraction, *, replaced: bool = False) -> Fraction:
    """What is claimed: e to the privacy loss."""
    return ratio ** -(2 if replaced else 1)


def worst_ratio(
    *,
    margin: int,
    ratio: Fraction,
    replaced: bool = False,
    units: int = 3,
    candidates: int = 4,
    rows_count: int = 1,
) -> Fraction:
    """The largest ratio of two neighbours' probabilities of one bound, over all tiny data sets.

    Args:
        rows_count: for a control: as if so many values of a unit counted.
    """
    worst = Fraction(1)

    def law_of(data: Data) -> list[Fraction]:
        return law([rows_count * count for count in above(data, candidates)], margin=margin, ratio=ratio)

    for size in range(units + 1):
        for common in combinations_with_replacement(range(candidates), size):
            added = [law_of((*common, value)) for value in range(candidates)]
            others = added if replaced else [law_of(common)]
            for one in added:
                for two in others:
                    pairs = [(here, there) for here, there in zip(one, two, strict=True) if here or there]
                    worst = max([worst, *(max(here / there, there / here) for here, there in pairs)])
    return worst


def beyond(counts: Sequence[int], *, margin: int, ratio: Fraction) -> Fraction:
    """Probability that the bound is beyond the first candidate that no value is above."""
    first = next((place for place, count in enumerate(counts) if not count), len(counts))
    return sum(law(counts, margin=margin, ratio=ratio)[max(first, 1) + 1 :], Fraction(0))


def noisy_sum(amounts: Sequence[int], bound: int, ratio: Fraction, answer: int) -> Fraction:
    """Probability of this sum of amounts clipped to `bound`, with noise of the scale ``bound * b``.

    `ratio` to the power of the bound stands for exp(-1/b).
    """
    return geometric.law(ratio, answer - sum(min(amount, bound) for amount in amounts))


def worst_sum_ratio(
    *, margin: int, ratio: Fraction, bounds: Sequence[int] = (0, 1, 2), scaled: bool = True, units: int = 2
) -> Fraction:
    """The largest ratio for a bound and the sum clipped to it together, if a unit is added.

    The noise of the sum has ``exp(-1/scale) = ratio**(1/bound)``, for bounds 1 and 2 with a ratio that is a square.

    Args:
        scaled: for a control: whether the noise grows with the bound.
    """
    root = {1: ratio, 2: Fraction(int(ratio.numerator**0.5), int(ratio.denominator**0.5))}
    assert root[2] ** 2 == ratio
    worst = Fraction(1)

    def together(amounts: Data) -> list[Fraction]:
        chances = law(above(amounts, len(bounds)), margin=margin, ratio=ratio)
        return [
            chances[place] * noisy_sum(amounts, bounds[place], root[bounds[place]] if scaled else ratio, answer)
            for place in range(1, len(bounds))
            for answer in range(-2, 9)
        ]

    for size in range(units + 1):
        for common in combinations_with_replacement(range(len(bounds)), size):
            without = together(common)
            for value in range(len(bounds)):
                for here, there in zip(together((*common, value)), without, strict=True):
                    worst = max(worst, here / there, there / here)
    return worst


def clipped_sums(values: Sequence[int | None], bound: int, *, degree: int) -> list[int]:
    """Sums of shares of the distance from 0 to `bound`, in two steps; a unit's shares add up to 2 to the degree.

    A value that is midway between two points counts as the higher one: any rule that looks at one value will do.

    >>> clipped_sums([0, 1, 9, None], 2, degree=1)
    [3, 3]
    """
    places = [None if value is None else (2 * min(value, bound) + bound // 2) // bound for value in values]
    return moments.sums(places, last=2, degree=degree)


def exp_epsilon_of_moments(ratio: Fraction, *, degree: int, replaced: bool = False) -> Fraction:
    """What is claimed of a bound and noisy sums of shares of two steps: e to the privacy loss of both together.

    >>> exp_epsilon_of_moments(Fraction(1, 2), degree=1)  # once for the bound, twice for shares that add up to 2
    Fraction(8, 1)
    """
    return exp_epsilon(ratio, replaced=replaced) * ratio ** -(2**degree * (2 if replaced else 1))


def worst_moment_ratio(
    *,
    margin: int,
    ratio: Fraction,
    degree: int,
    replaced: bool = False,
    bounds: Sequence[int] = (0, 1, 2),
    shared: bool = True,
) -> Fraction:
    """The largest ratio for a bound and the noisy sums of shares below it together, between neighbours of two units.

    `ratio` stands for exp(-1/b) of both noises.

    Args:
        shared: for a control: whether the sums are all that is released. Otherwise their total with noise of its own is
            released, too.
    """
    rows: list[int | None] = [None, *range(len(bounds))]

    def together(values: tuple[int | None, ...]) -> list[Fraction]:
        present = tuple(value for value in values if value is not None)
        chances = law(above(present, len(bounds)), margin=margin, ratio=ratio)
        found: list[Fraction] = []
        for place in range(1, len(bounds)):
            exact = clipped_sums(values, bounds[place], degree=degree)
            exact += [] if shared else [sum(exact)]
            each = [[geometric.law(ratio, answer - one) for answer in (-1, 2, 9)] for one in exact]
            found += [chances[place] * prod(some) for some in product(*each)]
        return found

    laws = {pair: together(pair) for pair in product(rows, repeat=2)}
    worst = Fraction(1)
    for (common, _), here in laws.items():
        for other in rows if replaced else [None]:
            pairs = zip(here, laws[common, other], strict=True)
            worst = max([worst, *(max(one / two, two / one) for one, two in pairs)])
    return worst
