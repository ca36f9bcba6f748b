"""Composition in exact fractions: the adaptive game on a grid from both sides, and the formula for fixed draws.

Losses are whole multiples of h, and e^h is a rational number, the square of `root`: then every probability of the worst
laws is rational, and so is every value of the game in which the first player picks a grid point.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

BITS = 80
"""Values of the recursions are rounded to this many bits, down in the lower one and up in the upper one."""


@dataclass(frozen=True)
class Grid:
    """A range of losses, epsilon = `steps` * h, with e^(h/2) = `root`."""

    root: Fraction
    steps: int

    @classmethod
    def near(cls, epsilon: float, *, steps: int) -> Grid:
        """Epsilon to twelve digits or so, by small numerators where that is possible."""
        growth = Fraction(math.expm1(epsilon / steps / 2.0))
        return cls(1 + (growth if growth < Fraction(1, 10**4) else growth.limit_denominator(10**7)), steps)

    @property
    def ratio(self) -> Fraction:
        """e^h."""
        return self.root**2

    def chance(self, t: int) -> Fraction:
        """Probability p_t, under the first law, of loss t h; otherwise the loss is (t - steps) h."""
        return (1 - self.ratio ** (t - self.steps)) / (1 - self.ratio**-self.steps)


def no_run(grid: Grid, place: int) -> Fraction:
    """V_0: delta at epsilon = place h of nothing."""
    return max(Fraction(0), 1 - grid.ratio**place)


@functools.cache
def lower(grid: Grid, runs: int, place: int) -> Fraction:
    """At most V_runs(place h): the adversary picks losses on the grid only, in view of all earlier results."""
    if runs == 0:
        return no_run(grid, place)
    return max(
        _down(first_step(grid, functools.partial(lower, grid, runs - 1), t=t, place=place))
        for t in range(grid.steps + 1)
    )


def first_step(grid: Grid, rest: Callable[[int], Fraction], *, t: int, place: int) -> Fraction:
    """p_t V(a - t) + (1 - p_t) V(a - t + epsilon)."""
    p = grid.chance(t)
    return p * rest(place - t) + (1 - p) * rest(place - t + grid.steps)


@functools.cache
def upper(grid: Grid, runs: int, place: int) -> Fraction:
    """At least V_runs(place h): every t is looked at, and V between grid points is replaced by its chord in e^a."""
    if runs == 0:
        return no_run(grid, place)
    rest = functools.partial(upper, grid, runs - 1)
    return max(_up(_largest_in_cell(grid, rest, t=t, place=place)) for t in range(grid.steps))


def _largest_in_cell(grid: Grid, rest: Callable[[int], Fraction], *, t: int, place: int) -> Fraction:
    """The maximum over y = e^(t' - t h) from 1 to e^h of linear(y) = alpha y + beta + gamma / y, from above."""
    r = grid.ratio
    p_slope = -(r ** (t - grid.steps)) / (1 - r**-grid.steps)
    p_base = 1 / (1 - r**-grid.steps)

    def chord(at_start: Fraction, at_end: Fraction) -> tuple[Fraction, Fraction]:
        """V between the cell's ends as base + slope / y."""
        slope = (at_start - at_end) / (1 - 1 / r)
        return at_start - slope, slope

    base, slope = chord(rest(place - t), rest(place - t - 1))
    base_up, slope_up = chord(rest(place - t + grid.steps), rest(place - t - 1 + grid.steps))
    alpha = p_slope * (base - base_up)
    beta = p_base * (base - base_up) + p_slope * (slope - slope_up) + base_up
    gamma = p_base * (slope - slope_up) + slope_up
    ends = max(alpha * y + beta + gamma / y for y in (Fraction(1), r))
    if alpha < 0 and gamma < 0 and alpha * alpha < gamma * alpha < alpha * alpha * r * r:
        return max(ends, beta - 2 * _root_down(alpha * gamma))
    return ends


def fixed_draws(grid: Grid, draws: int, place: Fraction) -> Fraction:
    """Delta of `draws` runs of *one* two-point law, the worst on the grid."""
    worst = Fraction(0)
    for t in range(grid.steps + 1):
        p, total = grid.chance(t), Fraction(0)
        for low in range(draws + 1):
            loss = draws * t - low * grid.steps
            gain = 1 - _power(grid, place - loss)
            if gain > 0:
                total += math.comb(draws, low) * p ** (draws - low) * (1 - p) ** low * gain
        worst = max(worst, total)
    return worst


def laplace_masses(grid: Grid) -> list[Fraction]:
    """Losses of the Laplace pair after splitting each cell's mass to its ends, from -epsilon to epsilon."""
    x, m = grid.root, grid.steps
    split = (x - 1) / (x + 1)
    masses = [x ** (i - m) * split for i in range(-m, m + 1)]
    masses[0], masses[-1] = masses[0] / 2 + x ** (-2 * m) / 2, masses[-1] / 2 + Fraction(1, 2)
    return masses


def logistic_masses(grid: Grid) -> list[Fraction]:
    """The same of the logistic pair."""
    x, m = grid.root, grid.steps
    split = 2 * (x - 1) / (x + 1) / (1 - x ** (-2 * m))
    masses = [x ** (i - m) * split for i in range(-m, m + 1)]
    masses[0], masses[-1] = masses[0] / 2, masses[-1] / 2
    return masses


def pure_masses(grid: Grid) -> list[Fraction]:
    """Losses of randomised response: epsilon or its negative."""
    m = grid.steps
    top = 1 / (1 + grid.ratio**-m)
    return [1 - top, *[Fraction(0)] * (2 * m - 1), top]


def delta_of(grid: Grid, masses: list[Fraction], place: int) -> Fraction:
    """Delta at place h of a pair whose losses are multiples of h."""
    m = (len(masses) - 1) // 2
    return sum(
        (mass * no_run(grid, place - loss) for loss, mass in zip(range(-m, m + 1), masses, strict=True)), Fraction(0)
    )


def _power(grid: Grid, places: Fraction) -> Fraction:
    """e^(places h) for whole and half places."""
    return grid.root ** int(2 * places)


def _down(value: Fraction) -> Fraction:
    return Fraction(math.floor(value * 2**BITS), 2**BITS)


def _up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 2**BITS), 2**BITS)


def _root_down(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(value * 4**BITS)), 2**BITS)
