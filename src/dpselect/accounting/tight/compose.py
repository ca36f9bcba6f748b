"""One grid for everything that ran, then the worst order: pairs first, then bounded-range runs in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, product

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import BoundedRangeEvent, SingleEvent
from dpselect.accounting.tight.bounded_range import one_more, trivial
from dpselect.accounting.tight.curve import Curve
from dpselect.accounting.tight.pairs import convolved, loss_masses, repeated

FloatArray = NDArray[np.float64]

_FINEST = 512
_COARSEST = 4
_WIDEST = 60.0
_INFLATION = Fraction(1, 50)
_MOST_PLACES = 40_000


@dataclass(frozen=True, slots=True)
class NotTight:
    """Why there is no tight curve."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Grid:
    """Epsilons as numbers of steps, each rounded up.

    Attributes:
        step: as exactly the double it is.
        ranges: steps and count of each bounded-range event.
        pairs: each other event with its steps and count.
    """

    step: float
    ranges: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[SingleEvent, int, int], ...]

    @property
    def range_width(self) -> int:
        return sum(steps * count for steps, count in self.ranges)

    @property
    def pair_width(self) -> int:
        return sum(steps * count for _, steps, count in self.pairs)

    @property
    def work(self) -> float:
        """The number of cells maximised over and of products added, in units of about a nanosecond."""
        states = math.prod(count + 1 for _, count in self.ranges)
        width = self.range_width
        maxima = states * (width + min(width, self.pair_width)) * sum(steps for steps, _ in self.ranges) * 30.0
        return maxima + 4.0 * (self.pair_width**2 + 2 * self.pair_width * width)


def tight_curve(counts: dict[SingleEvent, int], *, work: float) -> Curve | NotTight:
    """Upper bounds on delta, at every epsilon, of all adaptive compositions of what ran, in any order.

    Args:
        counts: how often each single event ran. Not empty.
        work: about how many nanoseconds may be spent.

    Returns:
        The curve, from epsilon 0 on; or why there is none.
    """
    if max(event.epsilon for event in counts) > _WIDEST or min(event.epsilon for event in counts) < 1e-200:
        return NotTight(f"an epsilon is beyond {_WIDEST:g}, or too small for a grid")
    grid = _affordable(counts, work=work)
    if isinstance(grid, NotTight):
        return grid
    curve = _after_ranges(grid)
    if not grid.pairs:
        return curve
    losses = np.ones(1)
    for event, steps, count in grid.pairs:
        losses = convolved(losses, repeated(loss_masses(event, steps=steps, step=grid.step), count))
    return _profile(losses, grid=grid) if not grid.ranges else _averaged(curve, losses, grid=grid)


def equal_rounds_curve(epsilon: float, *, count: int, steps: int) -> Curve:
    """The same for `count` runs of one bounded-range mechanism, on the grid that divides its `epsilon` into `steps`.

    Args:
        epsilon: from 1e-200 to 60.
        count: number of runs, >= 1; the work grows with the square of ``count * steps``.
        steps: >= 1; more make a smaller bound.
    """
    return _after_ranges(_grid({BoundedRangeEvent(epsilon=epsilon): count}, smallest=epsilon, steps=steps))


def _affordable(counts: dict[SingleEvent, int], *, work: float) -> _Grid | NotTight:
    """The finest grid within `work` on which no sum of epsilons grows much."""
    if sum(counts.values()) > _MOST_PLACES:
        return NotTight(f"more than {_MOST_PLACES:,} runs")
    exact = sum((Fraction(event.epsilon) * count for event, count in counts.items()), Fraction(0))
    smallest = min(event.epsilon for event in counts)
    steps, reason = _FINEST, "too many runs, or too many different bounded-range epsilons, for the exact recursion"
    while steps >= _COARSEST:
        grid = _grid(counts, smallest=smallest, steps=steps)
        width = grid.range_width + grid.pair_width
        if width <= _MOST_PLACES and grid.work <= work:
            if Fraction(grid.step) * width <= exact * (1 + _INFLATION):
                return grid
            reason = "the epsilons have no common grid that is coarse enough to be computed on"
        steps = steps - 1 if steps <= 16 else int(steps * 0.93)
    return NotTight(reason)


def _grid(counts: dict[SingleEvent, int], *, smallest: float, steps: int) -> _Grid:
    step = math.nextafter(smallest / steps, math.inf)
    in_steps = {event: math.ceil(Fraction(event.epsilon) / Fraction(step)) for event in counts}
    ranges: dict[int, int] = {}
    for event, count in counts.items():
        if isinstance(event, BoundedRangeEvent):
            ranges[in_steps[event]] = ranges.get(in_steps[event], 0) + count
    others = [(event, count) for event, count in counts.items() if not isinstance(event, BoundedRangeEvent)]
    return _Grid(step, tuple(ranges.items()), tuple((event, in_steps[event], count) for event, count in others))


def _after_ranges(grid: _Grid) -> Curve:
    """The recursion over how often each bounded-range event still has to run: the worst of all first steps."""
    whole = grid.range_width
    lowest = -min(grid.pair_width, whole)
    done: dict[tuple[int, ...], tuple[int, int, FloatArray]] = {}
    state: tuple[int, ...] = ()
    for state in product(*(range(count + 1) for _, count in grid.ranges)):
        width = sum(left * steps for left, (steps, _) in zip(state, grid.ranges, strict=True))
        first = max(-width, lowest - (whole - width))
        best: FloatArray = trivial(first, width, step=grid.step)
        for kind, (steps, _) in enumerate(grid.ranges):
            if state[kind]:
                before = (*state[:kind], state[kind] - 1, *state[kind + 1 :])
                start, wide, rest = done[before]
                values = one_more(rest, first=start, width=wide, steps=steps, step=grid.step, new_first=first)
                best = np.maximum(best, values)
        done[state] = (first, width, best)
        _forget(done, state)
    first, _, values = done[state]
    return Curve(step=grid.step, start=first, values=values)


def _forget(done: dict[tuple[int, ...], tuple[int, int, FloatArray]], state: tuple[int, ...]) -> None:
    """Drop what no later state reads: every coordinate is smaller by one, or the first by more."""
    if state and state[0] >= 2:
        done.pop((state[0] - 2, *state[1:]), None)


def _profile(losses: FloatArray, *, grid: _Grid) -> Curve:
    """Delta of the pairs alone: the sum over larger losses of ``1 - exp(epsilon - loss)``, from the top down."""
    shrink = math.exp(-grid.step)
    # Mass discounted to the next lower place: g <- exp(-step) * (g + mass). All terms are positive.
    falling = accumulate(losses[::-1].tolist(), lambda above, mass: shrink * (above + mass), initial=0.0)
    discounted = np.array(list(falling)[1:])
    each = -np.expm1(-grid.step) / shrink * discounted
    values = np.concatenate([[0.0], np.cumsum(each)])[: grid.pair_width + 1][::-1]
    values = values * (1.0 + len(losses) * 2.0**-50)
    return Curve(step=grid.step, start=0, values=np.minimum(values, 1.0))


def _averaged(rest: Curve, losses: FloatArray, *, grid: _Grid) -> Curve:
    """Delta of the pairs followed by the bounded-range runs: the mean over losses of the rest's delta."""
    width = grid.pair_width
    top = width + grid.range_width
    low = -width  # places 0 - width to top + width are read
    known = np.zeros(top + width - low + 1)
    if low < rest.start:
        known[: rest.start - low] = trivial(low, rest.start - 1, step=grid.step)
    begin = max(rest.start - low, 0)
    part = rest.values[max(low - rest.start, 0) :]
    known[begin : begin + len(part)] = part
    values = np.convolve(known, losses, mode="valid") * (1.0 + (len(losses) + 8.0) * 2.0**-52)
    return Curve(step=grid.step, start=0, values=np.minimum(values, 1.0))
