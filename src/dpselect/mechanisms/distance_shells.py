"""How samples of the density mechanism are drawn: doubles propose, and one exact coin a round decides.

Cumulative counts are compared at boundaries 0, ..., m around m cells. A *group* is a run of cells, from `start` up to
`end`. Proof: ``proofs/density.md``, "Groups" and "Rounds".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.mechanisms.numbers import FloatArray, IntArray, accepts, log_of, uniform_subset


@dataclass(frozen=True, slots=True)
class CumulativeCounts:
    """How many of n data are `before` each boundary, and how many `through` it; n k is at most 2^61."""

    before: IntArray
    through: IntArray
    k: int

    @property
    def n(self) -> int:
        return int(self.through[-1])

    @property
    def cells(self) -> int:
        return self.before.size - 1

    def least_distance(self) -> int:
        """No sample is nearer: with less radius, some gate is shut."""

        def is_open(radius: int) -> bool:
            _, low, high = self.gates(radius)
            return bool((low <= high).all())

        return bisect_left(range(self.n * self.k), True, key=is_open)

    def gates(self, radius: int) -> tuple[IntArray, IntArray, IntArray]:
        """The boundaries that say all about who is within a radius, and the least and the most points before each."""
        # The first boundaries from which a larger count is needed, and the last at which a larger one is too much.
        counts = self.n * np.arange(self.k)
        needing = np.searchsorted(self.k * self.through, counts + radius, side="right")
        allowing = np.searchsorted(self.k * self.before, counts + (self.n - radius)) - 1
        inner = np.minimum(needing, self.cells), np.maximum(allowing, 0)
        at = np.unique(np.concatenate([[0, self.cells], *inner]))
        low = np.maximum(0, -((radius - self.k * self.through[at]) // self.n))
        high = np.minimum(self.k, (self.k * self.before[at] + radius) // self.n)
        low[-1], high[0] = self.k, 0
        return at, low, high

    def distance(self, cells: IntArray) -> int:
        """The distance of the sample whose points lie in these cells, given in increasing order."""
        # Boundaries first, ..., last have as many points before them.
        first, last = np.concatenate([[0], cells + 1]), np.append(cells, self.cells)
        reached = self.n * np.flatnonzero(first <= last)
        over = reached - self.k * self.before[first[first <= last]]
        under = self.k * self.through[last[first <= last]] - reached
        return max(int(over.max()), int(under.max()))


class Histograms:
    """Every histogram weighs the same: one for each way to write k as a sum of the cells' counts."""

    def __init__(self, cells: int, k: int) -> None:
        self.largest_log = float(cells + k)  # no binary logarithm of a weight is larger, nor its opposite

    def logs(self, start: int, end: int, most: int) -> FloatArray:
        """Binary logarithms of the weights of a group with 0 to `most` points."""
        counts = np.arange(1.0, most + 1.0)
        return np.concatenate([[0.0], np.cumsum(np.log2((counts + (end - start - 1.0)) / counts))])

    def weight(self, start: int, end: int, count: int) -> tuple[int, int]:
        """The weight of all ways to place so many points in a group, as a fraction."""
        return math.comb(end - start + count - 1, count), 1

    def place(self, start: int, end: int, count: int) -> tuple[IntArray, FloatArray]:
        """So many points of a group, drawn by their weights: their cells, and where on a line."""
        # A uniform order of points and of steps to the next cell.
        points = np.sort(uniform_subset(count + end - start - 1, count))
        return start + points - np.arange(count), np.empty(0)


class _Lengths(ABC):
    """Independent uniform points: the product of ``length^count / count!`` over the groups."""

    def __init__(self, shortest: Fraction, longest: Fraction, k: int) -> None:
        self._counts = np.arange(k + 1.0)
        self._log_factorials = np.concatenate([[0.0], np.cumsum(np.log2(self._counts[1:]))])
        self.largest_log = k * (max(abs(log2(shortest)), abs(log2(longest))) + math.log2(k) + 2.0)

    @abstractmethod
    def length(self, start: int, end: int) -> Fraction:
        """Of a group."""

    def logs(self, start: int, end: int, most: int) -> FloatArray:
        return log2(self.length(start, end)) * self._counts[: most + 1] - self._log_factorials[: most + 1]

    def weight(self, start: int, end: int, count: int) -> tuple[int, int]:
        above, below = self.length(start, end).as_integer_ratio()
        return above**count, below**count * math.factorial(count)


class Cells(_Lengths):
    """Points that are told apart by cell only."""

    def __init__(self, lengths: FloatArray, k: int) -> None:
        exact = [length.as_integer_ratio() for length in lengths.tolist()]
        self._lengths, self._unit, self._ends = lengths, max(below for _, below in exact), [0]
        for above, below in exact:
            self._ends.append(self._ends[-1] + above * (self._unit // below))
        super().__init__(Fraction(float(lengths.min())), self.length(0, len(exact)), k)

    def length(self, start: int, end: int) -> Fraction:
        return Fraction(self._ends[end] - self._ends[start], self._unit)

    def place(self, start: int, end: int, count: int) -> tuple[IntArray, FloatArray]:
        if end - start == 1:
            return np.full(count, start), np.empty(0)
        chooser = _core.WeightedSampler(1.0, 1.0, 1, self._lengths[start:end])
        return start + np.sort(chooser.select_many(np.zeros(end - start), count)), np.empty(0)


class Positions(_Lengths):
    """Points of an interval, the cells lying between neighbouring positions."""

    def __init__(self, positions: FloatArray, k: int) -> None:
        self._positions, self._sampler = positions, _core.IntervalSampler(1.0, 1.0, 1)
        nearest = int(np.diff(positions / 2.0).argmin())
        super().__init__(self.length(nearest, nearest + 1), self.length(0, positions.size - 1), k)

    def length(self, start: int, end: int) -> Fraction:
        return Fraction(float(self._positions[end])) - Fraction(float(self._positions[start]))

    def place(self, start: int, end: int, count: int) -> tuple[IntArray, FloatArray]:
        points = np.sort([self._sampler.draw(self._positions[[start, end]], np.zeros(1)) for _ in range(count)])
        inner = self._positions[start + 1 : end]
        below = np.searchsorted(inner, points)
        for place in np.flatnonzero(inner[np.minimum(below, inner.size - 1)] == points) if inner.size else ():
            # The real number is on either side of the position it was rounded to, in proportion to the room there.
            room = np.abs(np.nextafter(points[place], [-math.inf, math.inf]) - points[place])
            below[place] += _core.tally((room / room.min()).astype(np.uint64), 1)[1]
        return np.sort(start + below), points


def log2(number: Fraction) -> float:
    """The binary logarithm of a number > 0, up to rounding."""
    return log_of(number) / math.log(2.0)


Groups = list[tuple[int, int, int]]  # where each group with a point starts and ends, and how many it has

_ENOUGH = 1 / 8  # planning goes on until so large a share of what is proposed is sure to be accepted
_STEP = 3.0  # the first shell is so many octaves of the weights wide
_BITS = 40  # the largest of the whole weights among which one is chosen has so many bits
_FARTHEST = 2.0**20  # exponents beyond so many octaves are bounded like this one, so that exact bounds stay short


class Band:
    """All samples within a radius, with binary logarithms of upper bounds of the weights of all ways on from a state.

    A state is a gate, where the count of points before it matters, and such a count. `bound` is that of the whole band.
    """

    def __init__(self, data: CumulativeCounts, base: Histograms | Cells | Positions, radius: int) -> None:
        self._base = base
        self._gates, self._low, self._high = (each.tolist() for each in data.gates(radius))
        self.steps = lru_cache(4096)(self._steps)
        self._bounds = [np.zeros(1)]
        for gate in reversed(range(len(self._gates) - 1)):
            # For each count at the gate the sum over the steps of weights times bounds after them, rounded up.
            low, high, after = self._low[gate], self._high[gate], self._bounds[-1]
            logs = base.logs(self._gates[gate], self._gates[gate + 1], self._high[gate + 1] - low)
            sums = _sums(logs, after, self._low[gate + 1] - low, high - low + 1)
            self._bounds.append(sums + (4.0 * self._error(logs) + after.size * 2.0 ** (2 - _BITS)))
        self._bounds.reverse()
        self.bound = float(self._bounds[0][0])

    def walk(self) -> tuple[Groups, tuple[int, int]]:
        """A proposal, and its chance as a fraction: the sample's weight over it is at most what `bound` says."""
        count, groups, chosen, totals = 0, Groups(), [1], [1]
        for gate, group in enumerate(pairwise(self._gates)):
            weights, total = self.steps(gate, count)
            step = int(_core.tally(weights, 1).argmax()) if weights.size > 1 else 0
            chosen.append(int(weights[step]))
            totals.append(total)
            more = max(0, self._low[gate + 1] - count) + step
            groups += [(*group, more)] if more else []
            count += more
        return groups, (math.prod(chosen), math.prod(totals))

    def _steps(self, gate: int, count: int) -> tuple[npt.NDArray[np.uint64], int]:
        """Whole weights of the counts that can follow a state, in units of which its bound is at least their sum."""
        least, most = max(count, self._low[gate + 1]), self._high[gate + 1]
        logs = self._base.logs(self._gates[gate], self._gates[gate + 1], most - count)
        terms = logs[least - count :] + self._bounds[gate + 1][least - self._low[gate + 1] :]
        terms += _BITS + self._error(logs) - terms.max()
        weights = np.exp2(np.maximum(terms, -1.0)).astype(np.uint64) + np.uint64(1)
        return weights, int(weights.sum())

    def _error(self, logs: FloatArray) -> float:
        """More than the error of one of these plus a bound, and of its power of two, in octaves."""
        return (logs.size + 64) * 2.0**-48 * (1.0 + self._base.largest_log)


def _sums(logs: FloatArray, after: FloatArray, ahead: int, size: int) -> FloatArray:
    """Of i = 0, ..., size - 1: the binary logarithm of the sum over j of ``2^(logs[ahead + j - i] + after[j])``."""
    first = ahead - size + 1  # of the places in logs that are used, perhaps below 0
    # The same slope taken from both does not change which terms are large, and makes all of them alike in size.
    slope = float(after[-1] - after[0]) / max(1, after.size - 1)
    left = logs[max(first, 0) :] + slope * np.arange(max(first, 0), logs.size)
    right = after - slope * np.arange(after.size)
    tops = left.max(), right.max()
    powers = np.zeros(logs.size - first)
    powers[max(0, -first) :] = np.exp2(np.maximum(left - tops[0], -500.0))
    sums = np.correlate(powers, np.exp2(np.maximum(right - tops[1], -500.0)))[::-1]
    if sums.min() > 2.0**-400:  # what was rounded up is nothing beside it
        return np.log2(sums) + (tops[0] + tops[1]) + slope * (np.arange(size) - ahead)
    found = np.empty(size)
    for index in range(size):
        skipped = max(0, index - ahead)
        terms = logs[ahead + skipped - index :][: after.size - skipped] + after[skipped:]
        found[index] = terms.max() + np.log2(np.exp2(np.maximum(terms - terms.max(), -1000.0)).sum())
    return found


class Shells:
    """A plan for one data set, which it holds: distances are cut into shells, each with its band.

    A round chooses a shell, walks through its band, and accepts the sample by its weight over its chance.
    """

    def __init__(self, data: CumulativeCounts, base: Histograms | Cells | Positions, *, epsilon: float) -> None:
        self.data = data
        self._base = base
        self._rate = Fraction(epsilon) / (2 * data.k)
        self._octaves = epsilon / (2 * data.k) / math.log(2.0)
        self._least = data.least_distance()
        starts, self._radii, self.bands = self._cut()
        # No less than the exponentials at the starts, and hardly more; and each without the next one.
        self._decays = [_power_below(self._octaves * (start - self._least)) for start in starts]
        self._heights = [decay - after for decay, after in pairwise([*self._decays, Fraction(0)])]
        logs = [log2(height) + band.bound for height, band in zip(self._heights, self.bands, strict=True) if height]
        # Shells are chosen in proportion to their shares: times 2^unit at least the height times the bound.
        self._unit = math.floor(max(logs)) - _BITS
        powers = (2.0 ** (max(log - self._unit, -1.0) + 2.0**-20) for log in logs)
        self.shares = np.array([int(next(powers)) + 1 if each else 0 for each in self._heights], dtype=np.uint64)

    def draw(self) -> tuple[IntArray, FloatArray]:
        """One sample: the cell of each of its points in increasing order, and on a line the points."""
        while True:
            shell = int(_core.tally(self.shares, 1).argmax())
            groups, chance = self.bands[shell].walk()
            placed = [self._base.place(*group) for group in groups]
            cells = np.concatenate([cells for cells, _ in placed])
            distance = self.data.distance(cells)
            if accepts(self.accepted(shell, groups, chance, distance), self._rate * (distance - self._least)):
                return cells, np.concatenate([points for _, points in placed])

    def accepted(self, shell: int, groups: Groups, chance: tuple[int, int], distance: int) -> tuple[int, int]:
        """With which probability, but for the exponential, a proposal from this shell is accepted."""
        height, decay = self._heights[shell], self._decays[bisect_left(self._radii, distance)]
        above = [chance[1], height.numerator, decay.denominator, 1 << max(0, -self._unit)]
        below = [chance[0], height.denominator, decay.numerator, 1 << max(0, self._unit), int(self.shares[shell])]
        weights = [self._base.weight(*group) for group in groups]
        return math.prod([*above, *(each[0] for each in weights)]), math.prod([*below, *(each[1] for each in weights)])

    def _cut(self) -> tuple[list[int], list[int], list[Band]]:
        """Where shells start, their farthest distances and bands: cut until enough of what is proposed is accepted."""
        starts, radii = [self._least], [self.data.n * self.data.k]
        bands = [Band(self.data, self._base, radii[0])]
        first = max(1, int(min(_STEP / max(self._octaves, 2.0**-60), 2.0**62)))
        while True:
            # What each shell proposes of its own samples, and how much of it may be rejected; roughly.
            near, far = (
                np.array([min(self._octaves * (each - self._least), 2.0**40) for each in ends])
                for ends in (starts, radii)
            )
            logs = np.array([band.bound for band in bands]) - near
            nearer = np.concatenate([[-math.inf], logs[:-1] + near[:-1]]) - near
            inside, before = (np.exp2(np.maximum(each - logs.max(), -1000.0)) for each in (logs, nearer))
            proposed = np.maximum(inside - before, 0.0)
            wasted = proposed * -np.expm1(np.maximum(near - far, -1000.0) * math.log(2.0))
            worst = int(wasted.argmax())
            if wasted.sum() <= (1.0 - _ENOUGH) * proposed.sum() or not wasted[worst]:
                return starts, radii, bands
            middle = starts[worst] + (radii[worst] - starts[worst]) // 2
            if worst == len(starts) - 1:  # the last shell is open: go outwards in growing steps
                middle = min(starts[worst] + first + (starts[worst] - self._least) - 1, middle)
            starts.insert(worst + 1, middle + 1)
            radii.insert(worst, middle)
            bands.insert(worst, Band(self.data, self._base, middle))


def _power_below(octaves: float) -> Fraction:
    """No less than ``2^-octaves``, and hardly more; `octaves` may be a few units in its last place too large."""
    whole, rest = divmod(min(octaves, _FARTHEST) * (1.0 - 2.0**-40), 1.0)
    return Fraction(int(2.0 ** (31.0 - rest)) + 1, 1 << (31 + int(whole)))
