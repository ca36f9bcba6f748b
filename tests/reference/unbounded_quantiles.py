"""Above-threshold on counts that grow, in exact fractions. Proof: ``proofs/unbounded_quantiles.md``.

Scores are whole numbers of lattice points, of which a rank has as many as the denominator of the level. ``first`` and
``second`` stand for exp(-1/(points * b1)) and exp(-1/(points * b2)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

Values = tuple[int, ...]
Data = tuple[Values, ...]
"""The values of each unit, as places of the candidates that they count as."""


def scores(data: Data, candidates: int, *, level: Fraction, strict: bool = False) -> tuple[int, ...]:
    """``q_i - level * n`` in lattice points for each of so many candidates; q_i values are not above the i-th.

    >>> scores(((0,), (2,), (2, 3)), 3, level=Fraction(1, 2))
    (-2, -2, 2)
    """
    values = [value for unit in data for value in unit]
    counts = [sum(value < place if strict else value <= place for value in values) for place in range(candidates)]
    return tuple(count * level.denominator - level.numerator * len(values) for count in counts)


def law(reached: Sequence[int], *, first: Fraction, second: Fraction) -> list[Fraction]:
    """Probability that each candidate is the first to pass, and that none does.

    The threshold r has probability ``(1 - first) * first**r``, r >= 0, and a candidate with score s passes with
    probability ``second**max(r - s, 0)``. From the highest score on, what is summed over r is a polynomial in
    ``second**r``, so that its sum is exact.

    >>> law([0], first=Fraction(1, 2), second=Fraction(1, 2))
    [Fraction(2, 3), Fraction(1, 3)]
    """
    highest = max(0, *reached)
    chances = [Fraction(0)] * (len(reached) + 1)
    for threshold in range(highest):
        weight = (1 - first) * first**threshold
        for place, score in enumerate(reached):
            passes = second ** max(threshold - score, 0)
            chances[place] += weight * passes
            weight *= 1 - passes
        chances[-1] += weight
    still = [Fraction(1)]  # coefficients of the probability that none passed so far, in second**r
    for place, score in enumerate(reached):
        lift = second**-score
        chances[place] += _tail([Fraction(0), *(lift * each for each in still)], highest, first, second)
        grown = [*still, Fraction(0)]
        for power, each in enumerate(still):
            grown[power + 1] -= lift * each
        still = grown
    chances[-1] += _tail(still, highest, first, second)
    return chances


def _tail(coefficients: Sequence[Fraction], start: int, first: Fraction, second: Fraction) -> Fraction:
    ratios = [first * second**power for power in range(len(coefficients))]
    return (1 - first) * sum(
        (each * ratio**start / (1 - ratio) for each, ratio in zip(coefficients, ratios, strict=True)), Fraction(0)
    )


def exp_epsilon(level: Fraction, *, most: int, first: Fraction, second: Fraction, replaced: bool = False) -> Fraction:
    """What is claimed: e to the privacy loss, for units with at most so many values."""
    points, below = level.denominator, level.numerator
    if replaced:
        return (first * second) ** -(most * points)
    return max(first ** -(most * below) * second ** -(most * points), first ** -(most * (points - below)))


def data_sets(units: int, candidates: int) -> Iterator[Data]:
    """Each data set of up to so many units with one value each; the last place is beyond all tested candidates."""
    for size in range(units + 1):
        for values in combinations_with_replacement(range(candidates + 1), size):
            yield tuple((value,) for value in values)


def units_with(most: int, candidates: int) -> list[Values]:
    """Each unit of up to so many values."""
    return [values for size in range(most + 1) for values in combinations_with_replacement(range(candidates + 1), size)]


def worst_ratio(
    level: Fraction,
    *,
    most: int,
    first: Fraction,
    second: Fraction,
    replaced: bool = False,
    units: int = 2,
    candidates: int = 3,
    strict: bool = False,
) -> Fraction:
    """The largest ratio of two neighbours' probabilities of one outcome, over all tiny data sets."""
    worst = Fraction(1)
    others = units_with(most, candidates)
    known: dict[Data, list[Fraction]] = {}

    def law_of(data: Data) -> list[Fraction]:
        if data not in known:
            known[data] = law(scores(data, candidates, level=level, strict=strict), first=first, second=second)
        return known[data]

    for common in data_sets(units, candidates):
        pairs = (
            ((common, (*common, unit)) for unit in others)
            if not replaced
            else (((*common, unit), (*common, other)) for unit in others for other in others)
        )
        for one, two in pairs:
            for here, there in zip(law_of(one), law_of(two), strict=True):
                worst = max(worst, here / there, there / here)
    return worst


def fresh_thresholds(reached: Sequence[int], *, first: Fraction, second: Fraction) -> list[Fraction]:
    """A control: the law if each candidate were compared with a new threshold."""
    left, chances = Fraction(1), list[Fraction]()
    for score in reached:
        passes = law([score], first=first, second=second)[0]
        chances.append(left * passes)
        left *= 1 - passes
    return [*chances, left]
