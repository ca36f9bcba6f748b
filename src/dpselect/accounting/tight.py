"""The exact adaptive composition on a grid: dominating pairs, one more run at a time, and the curve that results.

For very many runs the pairs, split onto a grid from above, are convolved by the package dp-accounting (the extra
``pld``). Proof of the pairs: ``proofs/composition.md``, claims 4 and 6.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dpselect.accounting.events import (
    BoundedRangeEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    SingleEvent,
    basic_of,
)
from dpselect.checks import fraction_up
from dpselect.errors import import_extra

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    r"""Upper bounds on delta at the epsilons ``start * step``, ``(start + 1) * step``, ...

    The last is 0, and so is delta beyond. Between them delta is convex in :math:`e^\varepsilon`, so it is below the
    chord.
    """

    step: float
    """As exactly the double it is."""
    start: int
    values: FloatArray
    """Shape ``(n,)``, never negative."""

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 at which the curve is at most `delta`, rounded up."""
        place = int(np.argmax(self.values <= delta))
        index = self.start + place
        if place == 0 or index <= 0:
            return fraction_up(Fraction(self.step) * max(index, 0))
        above, below = float(self.values[place - 1]), float(self.values[place])
        share = min(1.0, (above - delta + 2.0**-50 * above) / (above - below))
        inside = math.log1p(share * math.expm1(self.step)) * (1.0 + 2.0**-46) + 2.0**-50 * self.step
        exact = Fraction(self.step) * (index - 1) + Fraction(inside)
        return max(0.0, min(fraction_up(exact), fraction_up(Fraction(self.step) * index)))

    def delta(self, epsilon: float) -> float:
        """Delta at `epsilon` >= 0, rounded up; never above 1."""
        place = Fraction(epsilon) / Fraction(self.step) - self.start if math.isfinite(epsilon) else Fraction(10**18)
        index = math.floor(place)
        if index >= len(self.values) - 1:
            return 0.0
        left = Fraction(epsilon) - Fraction(self.step) * (self.start + index)
        share = max(0.0, math.expm1(float(left)) / math.expm1(self.step) * (1.0 - 2.0**-48))
        value = float(self.values[index]) * (1.0 - share) + float(self.values[index + 1]) * share
        return min(1.0, value * (1.0 + 2.0**-46))


_UP = 1.0 + 2.0**-48


def loss_masses(event: SingleEvent, *, steps: int, step: float) -> FloatArray:
    """Probability of each loss ``-steps * step``, ..., ``steps * step`` under the first law of the pair, rounded up.

    The event's kind determines the pair; its epsilon counts as ``steps * step``.
    """
    if isinstance(event, (LaplaceProfileEvent, LogisticProfileEvent)):
        epsilon = steps * step
        masses = np.exp((np.arange(-steps, steps + 1) * step - epsilon) / 2.0) * np.tanh(step / 4.0)
        masses[[0, -1]] /= 2.0  # one cell ends there, not two
        if isinstance(event, LogisticProfileEvent):
            masses *= 2.0 / -np.expm1(-epsilon)
        else:
            masses[0] += np.exp(-epsilon) / 2.0
            masses[-1] += 0.5
        return masses * _UP
    below = above = steps
    if isinstance(event, LossIntervalEvent):  # its ends, each moved out to the grid
        below, above = (min(steps, math.ceil(Fraction(end) / Fraction(step))) for end in (event.below, event.above))
    masses, width = np.zeros(2 * steps + 1), (below + above) * step
    masses[steps + above] = np.expm1(-below * step) / np.expm1(-width)
    masses[steps - below] = max(np.exp(-below * step) * np.expm1(-above * step) / np.expm1(-width), 1e-304)
    return masses * _UP


def convolved(masses: FloatArray, other: FloatArray) -> FloatArray:
    """Masses of the sum of two independent losses, rounded up: sums of positive products, so no digit is lost."""
    shorter = min(len(masses), len(other))
    return np.convolve(masses, other) * (1.0 + (shorter + 8.0) * 2.0**-52)


def repeated(masses: FloatArray, count: int) -> FloatArray:
    """Masses of the sum of `count` independent losses, rounded up."""
    total: FloatArray | None = None
    while True:
        if count % 2:
            total = masses if total is None else convolved(total, masses)
        if not (count := count // 2):
            return np.ones(1) if total is None else total
        masses = convolved(masses, masses)


def trivial(first: int, last: int, *, step: float) -> FloatArray:
    r""":math:`1 - e^a` at the grid points from `first` to `last`, 0 where that is negative, rounded up."""
    places = np.minimum(np.arange(first, last + 1, dtype=np.float64), 0.0)
    return -np.expm1(places * step) * (1.0 + 2.0**-50)


def _padded(values: FloatArray, first: int, *, low: int, high: int, step: float) -> FloatArray:
    """Bounds at the places from `low` to `high`: `values` from `first` on, `trivial` below and 0 beyond."""
    kept = values[max(low - first, 0) :]
    above = np.zeros(high + 1 - max(low, first) - len(kept))
    return np.concatenate([trivial(low, first - 1, step=step), kept, above])


def one_more(rest: FloatArray, *, first: int, width: int, steps: int, step: float, new_first: int) -> FloatArray:
    """The bounds at the places from `new_first` to ``width + steps``, when one more run, of `steps` steps, comes first.

    Args:
        rest: bounds at the places from `first` to `width`, the width of the losses of the rest; 0 beyond, and `trivial`
            below where `first` is ``-width``.
        new_first: at least ``first + steps`` or ``-(width + steps)``.
    """
    known = _padded(rest, first, low=new_first - steps, high=width + 2 * steps, step=step)
    size, stretch, growth = width + steps - new_first + 1, np.exp(step), np.expm1(step)
    windows = sliding_window_view(known, size)
    chances = np.minimum(np.expm1((np.arange(steps + 1) - steps) * step) / np.expm1(-steps * step), 1.0)
    best = np.zeros(size)
    at_once = max(1, _CELLS // size)
    for start in range(0, steps, at_once):  # in each of some cells, t goes from one number of steps to the next
        end = min(start + at_once, steps)
        places = (steps, steps - 1, 2 * steps, 2 * steps - 1)
        # V(a - t) at the cell's start, and at its end; V(a - t + epsilon) there.
        near, far, near_up, far_up = (windows[at - end + 1 : at - start + 1][::-1] for at in places)
        p, p_end = chances[start:end, None], chances[start + 1 : end + 1, None]
        fall, near_drop, far_drop = p - p_end, near - near_up, far - far_up
        at_start, at_end = near_up + p * near_drop, far_up + p_end * far_drop
        # With z from 0 to 1 across the cell the value is (c0 + c1 z + c2 z^2) / (1 + growth z), concave if c2 <= 0.
        linear = fall * near_drop
        c2 = linear - stretch * fall * far_drop
        rise = stretch * (far_up + p * far_drop) - at_start * stretch - linear  # the slope at z = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = rise / c2
            inside: FloatArray = -ratio / (1.0 + np.sqrt(1.0 - growth * ratio))
        z: FloatArray = np.where((c2 < 0.0) & (rise > 0.0), np.clip(inside, 0.0, 1.0), np.where(rise > 0.0, 1.0, 0.0))
        chance = p - z * fall
        value = (1.0 - z) * (near_up + chance * near_drop) + z * stretch * (far_up + chance * far_drop)
        each = np.maximum(np.maximum(at_start, at_end), value / (1.0 + growth * z))
        each += 2.0**-46 * far  # a bound on rounding, relative to the largest corner of a cell, with a margin
        np.maximum(best, each.max(axis=0), out=best)
    return np.minimum(best, 1.0)


_CELLS = 1 << 13  # about how many places of cells are maximised over at once: they stay in the processor's cache
_FINEST, _COARSEST = 512, 4
_SMALLEST, _WIDEST = 1e-200, 60.0
_MOST_PLACES = 40_000


class _Grid:
    """Epsilons as numbers of steps, each rounded up.

    Of bounded-range events, `ranges` counts those of so many steps; of each other one, `pairs` has steps and count.
    """

    def __init__(self, counts: Mapping[SingleEvent, int], *, smallest: float, steps: int) -> None:
        self.step = math.nextafter(smallest / steps, math.inf)
        self.ranges, self.pairs = Counter[int](), dict[SingleEvent, tuple[int, int]]()
        for event, count in counts.items():
            wide = math.ceil(Fraction(event.epsilon) / Fraction(self.step))
            if isinstance(event, BoundedRangeEvent):
                self.ranges[wide] += count
            else:
                self.pairs[event] = wide, count
        self.range_width = sum(wide * count for wide, count in self.ranges.items())
        self.pair_width = sum(wide * count for wide, count in self.pairs.values())


def tight_curve(counts: dict[SingleEvent, int], *, work: float) -> Curve | None:
    """Upper bounds on delta, from epsilon 0 on, of all adaptive compositions of what ran, in any order.

    None if no grid holds all epsilons, or `work` nanoseconds, about, are not enough for one. `counts` are not empty.
    """
    grid = _affordable(counts, work=work)
    if grid is None:
        return None
    curve = _after_ranges(grid)
    if not grid.pairs:
        return curve
    values: list[FloatArray] = []
    for pairs in _ways(grid.pairs):
        losses = np.ones(1)
        for pair, (steps, count) in pairs.items():
            losses = convolved(losses, repeated(loss_masses(pair, steps=steps, step=grid.step), count))
        if not grid.ranges:
            values.append(_profile(losses, grid=grid))
            continue
        # The mean over losses of the delta of the bounded-range runs that follow.
        width = grid.pair_width
        known = _padded(curve.values, curve.start, low=-width, high=2 * width + grid.range_width, step=grid.step)
        values.append(np.convolve(known, losses, mode="valid") * (1.0 + (len(losses) + 8.0) * 2.0**-52))
    return Curve(step=grid.step, start=0, values=np.minimum(np.maximum.reduce(values), 1.0))


def _ways(counts: Mapping[SingleEvent, Any]) -> list[Mapping[SingleEvent, Any]]:
    """What ran, and it with the roles of both data sets exchanged: only a `LossIntervalEvent` tells them apart."""
    pairs = [(each.mirrored if isinstance(each, LossIntervalEvent) else each, many) for each, many in counts.items()]
    return [counts] if dict(pairs) == counts else [counts, dict(pairs)]


@functools.lru_cache(maxsize=256)
def rounds_curve(epsilon: float, count: int) -> Curve | None:
    """The curve of 2 to 100 rounds of one bounded-range mechanism; None for others, or if no grid holds the range.

    Whether it is used, and on how fine a grid, depends on the number of rounds alone, never on a clock. So planning
    and verifying a certificate give the same result. Charging and checking need the curve that a plan ended with.
    """
    if not 1 < count <= 100 or not _SMALLEST <= epsilon <= _WIDEST:  # a hundred are planned in a tenth of a second
        return None
    steps = min(50, max(_COARSEST, 400 // count))
    return _after_ranges(_Grid({BoundedRangeEvent(epsilon=epsilon): count}, smallest=epsilon, steps=steps))


def _affordable(counts: dict[SingleEvent, int], *, work: float) -> _Grid | None:
    """The finest grid within `work` on which no sum of epsilons grows much."""
    smallest, widest = (most(event.epsilon for event in counts) for most in (min, max))
    if sum(counts.values()) > _MOST_PLACES or smallest < _SMALLEST or widest > _WIDEST:
        return None
    exact, steps = basic_of(counts), _FINEST
    while steps >= _COARSEST:
        grid = _Grid(counts, smallest=smallest, steps=steps)
        width, pairs = grid.range_width, grid.pair_width
        cells = math.prod(count + 1 for count in grid.ranges.values()) * sum(grid.ranges)
        nanoseconds = 30.0 * cells * (width + min(width, pairs)) + 4.0 * (pairs**2 + 2 * pairs * width)
        is_close = Fraction(grid.step) * (width + pairs) <= exact * Fraction(51, 50)
        if width + pairs <= _MOST_PLACES and nanoseconds <= work and is_close:
            return grid
        steps = steps - 1 if steps <= 16 else int(steps * 0.93)
    return None


def _after_ranges(grid: _Grid) -> Curve:
    """The recursion over how often each bounded-range event still has to run: the worst of all first steps."""
    whole = grid.range_width
    lowest = -min(grid.pair_width, whole)
    done: dict[tuple[int, ...], tuple[int, int, FloatArray]] = {}
    state: tuple[int, ...] = ()
    for state in product(*(range(count + 1) for count in grid.ranges.values())):
        width = sum(left * steps for left, steps in zip(state, grid.ranges, strict=True))
        first = max(-width, lowest - (whole - width))
        best: FloatArray = trivial(first, width, step=grid.step)
        for kind, steps in enumerate(grid.ranges):
            if state[kind]:
                before = (*state[:kind], state[kind] - 1, *state[kind + 1 :])
                start, wide, rest = done[before]
                values = one_more(rest, first=start, width=wide, steps=steps, step=grid.step, new_first=first)
                best = np.maximum(best, values)
        done[state] = (first, width, best)
        if state and state[0] >= 2:
            # What no later state reads: every coordinate is smaller by one, or the first by more.
            done.pop((state[0] - 2, *state[1:]), None)
    first, _, values = done[state]
    return Curve(step=grid.step, start=first, values=values)


def _profile(losses: FloatArray, *, grid: _Grid) -> FloatArray:
    """Delta of the pairs alone: the sum over larger losses of ``1 - exp(epsilon - loss)``, from the top down."""
    shrink = math.exp(-grid.step)
    # Mass discounted to the next lower place: g <- exp(-step) * (g + mass). All terms are positive.
    falling = accumulate(losses[::-1].tolist(), lambda above, mass: shrink * (above + mass), initial=0.0)
    discounted = np.array(list(falling)[1:])
    each = -np.expm1(-grid.step) / shrink * discounted
    values = np.concatenate([[0.0], np.cumsum(each)])[: grid.pair_width + 1][::-1]
    return values * (1.0 + len(losses) * 2.0**-50)


_FFT_ROUNDING = 2.0**-40
"""Margin, not a bound, in delta: the transform rounds masses by about 2^-53 of the largest, times a logarithm."""


class LossDistribution:
    """The loss of everything that ran, as a dp-accounting distribution; bounded-range runs count as logistic pairs."""

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        basic = float(basic_of(counts))
        step = max(min(event.epsilon for event in counts) / 64, basic / 10**6)
        library = import_extra("dp_accounting.pld.privacy_loss_distribution", "dp-accounting", "pld")
        made = library.PrivacyLossDistribution.create_from_rounded_probability
        self._totals: list[Any] = []  # in each direction
        for way in _ways(counts):
            parts: list[Any] = []
            for event, count in way.items():
                steps = math.ceil(Fraction(event.epsilon) / Fraction(step))
                pair = LogisticProfileEvent(epsilon=event.epsilon) if isinstance(event, BoundedRangeEvent) else event
                masses = loss_masses(pair, steps=steps, step=step).tolist()
                one = made({at: mass for at, mass in enumerate(masses, -steps) if mass > 0.0}, 0.0, step)
                parts.append(one.self_compose(count) if count > 1 else one)
            self._totals.append(functools.reduce(lambda total, part: total.compose(part), parts))

    def epsilon(self, delta: float) -> float:
        """Epsilon at `delta`; infinite below the room for rounding."""
        left = delta - _FFT_ROUNDING
        if left <= 0.0:
            return math.inf
        return max(float(total.get_epsilon_for_delta(left)) for total in self._totals) * (1.0 + _FFT_ROUNDING)

    def delta(self, epsilon: float) -> float:
        largest = max(float(total.get_delta_for_epsilon(epsilon)) for total in self._totals)
        return min(1.0, largest * (1.0 + _FFT_ROUNDING) + _FFT_ROUNDING)
