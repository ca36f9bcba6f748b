"""Report-noisy-max: the law of the candidate whose noisy score is largest. Proof: ``proofs/noisy_max.md``.

Scores enter as weights ``exp(score_i / scale)``, positive fractions of which only the ratios matter; the flip
probabilities ``p_i`` of the other models are such weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.reference.precision import logarithm
from tests.reference.races import exponential_race, uniform_race
from tests.reference.randomness import Randomness, exact_law


def exponential_noise_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Law of the largest ``score_i + scale * E_i``, the ``E_i`` independent standard exponentials.

    >>> exponential_noise_law([Fraction(1), Fraction(1, 2)])
    (Fraction(3, 4), Fraction(1, 4))
    """
    race = uniform_race(weights, finishers=1)
    return tuple(race[i,] for i in range(len(weights)))


def gumbel_noise_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Law of the largest ``score_i + scale * G_i``, the ``G_i`` independent standard Gumbel variables.

    >>> gumbel_noise_law([Fraction(1), Fraction(1, 2)])
    (Fraction(2, 3), Fraction(1, 3))
    """
    race = exponential_race(weights, finishers=1)
    return tuple(race[i,] for i in range(len(weights)))


@dataclass(frozen=True)
class WithLogarithms:
    """The real number ``rational + sum of coefficient * ln(argument)``, everything in it exact."""

    rational: Fraction
    logarithms: Mapping[Fraction, Fraction]

    def value(self) -> Fraction:
        """The number to more than 50 digits: only here is anything rounded, each logarithm once."""
        return self.rational + sum(c * logarithm(argument) for argument, c in self.logarithms.items())


Laurent = dict[int, Fraction]
"""Coefficients by power, which may be negative."""


def laplace_noise_law(weights: Sequence[Fraction]) -> tuple[WithLogarithms, ...]:
    """Law of the largest ``score_i + scale * L_i``, the ``L_i`` independent standard Laplace variables.

    With ``y = exp(noisy score / scale)`` and ``a_i = weights[i]``, the chance of staying below ``y`` is
    ``y / (2 a_i)`` up to ``a_i`` and ``1 - a_i / (2 y)`` beyond: between consecutive weights every integrand is a
    polynomial in ``y`` and ``1 / y``, whose antiderivative is exact but for one logarithm.

    >>> worse = laplace_noise_law([Fraction(1), Fraction(1, 2)])[1]
    >>> worse.rational, worse.logarithms                                   # 1/4 + ln(2)/8
    (Fraction(1, 4), {Fraction(1, 2): Fraction(-1, 8), Fraction(1, 1): Fraction(1, 8)})
    >>> round(float(worse.value()), 4)
    0.3366
    """
    return _law_of_largest([_laplace(weight) for weight in weights], knots=weights)


Variable = Callable[[Fraction], tuple[Laurent, Laurent]]
"""Density of a positive variable and its chance of staying below ``y``, on the cell that starts at the argument."""


def _laplace(weight: Fraction) -> Variable:
    below: tuple[Laurent, Laurent] = ({0: 1 / (2 * weight)}, {1: 1 / (2 * weight)})
    above: tuple[Laurent, Laurent] = ({-2: weight / 2}, {0: Fraction(1), -1: -weight / 2})
    return lambda start: above if start >= weight else below


def _law_of_largest(variables: Sequence[Variable], *, knots: Collection[Fraction]) -> tuple[WithLogarithms, ...]:
    """Who is the largest of independent variables: densities are polynomials in ``y``, ``1 / y`` between `knots`."""
    grid = [Fraction(0), *sorted(set(knots) - {0}), None]
    chances: list[WithLogarithms] = []
    for i in range(len(variables)):
        rational, logarithms = Fraction(0), defaultdict[Fraction, Fraction](Fraction)
        for start, end in pairwise(grid):
            assert start is not None
            cell = [variable(start) for variable in variables]
            integrand = cell[i][0]
            for j, (_, below) in enumerate(cell):
                if j != i:
                    integrand = _times(integrand, below)
            for power, coefficient in integrand.items():
                if power == -1:  # only between two knots: the first cell has powers >= 0, the last one <= -2
                    assert end is not None
                    logarithms[start] -= coefficient
                    logarithms[end] += coefficient
                else:
                    at_end = Fraction(0) if end is None else end ** (power + 1)
                    at_start = Fraction(0) if start == 0 else start ** (power + 1)
                    rational += coefficient * (at_end - at_start) / (power + 1)
        chances.append(WithLogarithms(rational, dict(logarithms)))
    return tuple(chances)


@dataclass(frozen=True)
class Standing:
    """A candidate known to stand between two levels: ``exp(noisy score / scale)`` lies in ``[low, high]``.

    With noise upwards, from its own weight or from a level above that, its density goes with ``y ** -2``; with noise
    downwards from its own weight it is constant.
    """

    candidate: int
    is_up: bool
    low: Fraction
    high: Fraction | None

    def __call__(self, start: Fraction) -> tuple[Laurent, Laurent]:
        """As a `Variable`."""
        if start < self.low:
            return {}, {}
        if self.high is not None and start >= self.high:
            return {}, {0: Fraction(1)}
        if self.is_up:
            whole = 1 / self.low - (1 / self.high if self.high else 0)
            return {-2: 1 / whole}, {0: 1 / (self.low * whole), -1: -1 / whole}
        assert self.high is not None
        whole = self.high - self.low
        return {0: 1 / whole}, {1: 1 / whole, 0: -self.low / whole}


def chance_above(weight: Fraction, *, level: Fraction, above: Fraction | None) -> Fraction:
    """The chance that a candidate not above `level` by its score stands above it, given that it stands below `above`.

    It stands above `level` with half the flip probability measured from there, and then above `above` with
    ``level / above``: drawn again whenever that happens.

    >>> chance_above(Fraction(1, 3), level=Fraction(1), above=None)
    Fraction(1, 6)
    >>> chance_above(Fraction(1, 3), level=Fraction(1), above=Fraction(2))
    Fraction(1, 11)
    """
    found = weight / level / 2
    beyond = level / above if above is not None else Fraction(0)
    return found * (1 - beyond) / (1 - found * beyond)


def standing_by_levels(
    weights: Sequence[Fraction], *, levels: Sequence[Fraction], randomness: Randomness
) -> tuple[Standing, ...]:
    """Go from level to level, the first one at the best weight and each below the last, until anybody stands above one.

    >>> from tests.reference.randomness import exact_law
    >>> weights = [Fraction(1), Fraction(1, 2)]
    >>> law = exact_law(lambda chance: standing_by_levels(weights, levels=[Fraction(1)], randomness=chance))
    >>> sum(chance for standing, chance in law.items() if standing[0].high is None)      # above the best: 1 - 1/2 * 3/4
    Fraction(5, 8)
    """
    above: Fraction | None = None
    for level in [*levels, Fraction(0)]:
        found: list[Standing] = []
        for candidate, weight in enumerate(weights):
            if weight <= level:
                if randomness.coin(chance_above(weight, level=level, above=above)):
                    found.append(Standing(candidate, is_up=True, low=level, high=above))
                continue
            assert above is not None
            if weight > above:  # noise downwards, drawn before: below the last level, its place is uniform
                if randomness.coin(1 - level / above):
                    found.append(Standing(candidate, is_up=False, low=level, high=above))
                continue
            up, down, rest = (1 - weight / above) / 2, (1 - level / weight) / 2, level / weight / 2
            way = randomness.choose([up, down, rest])  # given that it stands below `above`
            if way == 0:
                found.append(Standing(candidate, is_up=True, low=weight, high=above))
            elif way == 1:
                found.append(Standing(candidate, is_up=False, low=level, high=weight))
        if found:
            return tuple(found)
        above = level
    raise AssertionError("all stand above the last level")


def law_by_levels(weights: Sequence[Fraction], *, levels: Sequence[Fraction]) -> tuple[WithLogarithms, ...]:
    """Law of the largest of those who stand above the first level that anybody stands above.

    >>> law_by_levels([Fraction(1), Fraction(1, 2)], levels=[Fraction(1)])[1].value() == laplace_noise_law(
    ...     [Fraction(1), Fraction(1, 2)])[1].value()
    True
    """
    rationals = [Fraction(0)] * len(weights)
    logarithms = [defaultdict[Fraction, Fraction](Fraction) for _ in weights]
    for standing, chance in exact_law(
        lambda randomness: standing_by_levels(weights, levels=levels, randomness=randomness)
    ).items():
        knots = {knot for one in standing for knot in (one.low, one.high) if knot is not None}
        for one, largest in zip(standing, _law_of_largest(standing, knots=knots), strict=True):
            rationals[one.candidate] += chance * largest.rational
            for argument, coefficient in largest.logarithms.items():
                logarithms[one.candidate][argument] += chance * coefficient
    return tuple(WithLogarithms(each, dict(logs)) for each, logs in zip(rationals, logarithms, strict=True))


def _times(left: Laurent, right: Laurent) -> Laurent:
    result: defaultdict[int, Fraction] = defaultdict(Fraction)
    for power, coefficient in left.items():
        for other, factor in right.items():
            result[power + other] += coefficient * factor
    return dict(result)
