"""What the density mechanism compares: the data's cumulative counts with a sample's, and samples by their base weights.

Boundaries 0, ..., m lie around m cells. A *group* is a run of neighbouring cells, from `start` up to `end`.

Proof: ``proofs/density.md``, "Groups".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.mechanisms.partition_law import log_of
from dpselect.mechanisms.rank_sets import uniform_subset

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CumulativeCounts:
    """How many of n data are `before` each boundary, and how many `through` it; n k is at most 2^61."""

    before: IntArray
    through: IntArray
    k: int

    @property
    def n(self) -> int:
        """How many data there are."""
        return int(self.through[-1])

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.before.size - 1

    def least_distance(self) -> int:
        """No sample is nearer: with less radius, some gate is shut."""
        over, under = self.k * self.before, self.k * self.through
        # Convex in the count, with the least value on one side of where both terms meet.
        count = np.minimum((over + under) // (2 * self.n), self.k)
        count[0], count[-1] = 0, self.k
        reached = np.stack([count, np.minimum(count + 1, self.k)]) * self.n
        distances = np.maximum(reached - over, under - reached)
        return max(int(distances[0, [0, -1]].max()), int(distances.min(axis=0)[1:-1].max(initial=0)))

    def gates(self, radius: int) -> tuple[IntArray, IntArray, IntArray]:
        """The boundaries that say all about who is within a radius, and the least and the most points before each.

        These are the first from which a larger count is needed, and the last at which a larger one is too much.
        """
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
        """The weight of all ways to place so many points in a group, exactly, as a fraction."""
        return math.comb(end - start + count - 1, count), 1

    def place(self, start: int, end: int, count: int) -> tuple[IntArray, FloatArray]:
        """So many points of a group, with the probabilities of their weights: their cells, and where on a line."""
        # A uniform order of points and of steps to the next cell.
        points = np.sort(uniform_subset(count + end - start - 1, count))
        return start + points - np.arange(count), np.empty(0)


class _Lengths(ABC):
    """Independent uniform points: the product of ``length^count / count!`` over the groups. See `Histograms`."""

    def __init__(self, shortest: Fraction, longest: Fraction, k: int) -> None:
        self._counts = np.arange(k + 1.0)
        self._log_factorials = np.concatenate([[0.0], np.cumsum(np.log2(self._counts[1:]))])
        self.largest_log = k * (max(abs(log2(shortest)), abs(log2(longest))) + math.log2(k) + 2.0)

    @abstractmethod
    def length(self, start: int, end: int) -> Fraction:
        """Of a group."""

    def log_length(self, start: int, end: int) -> float:
        """The binary logarithm of a group's length, up to rounding."""
        return log2(self.length(start, end))

    def logs(self, start: int, end: int, most: int) -> FloatArray:
        return self.log_length(start, end) * self._counts[: most + 1] - self._log_factorials[: most + 1]

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
        """See `Histograms.place`."""
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

    def log_length(self, start: int, end: int) -> float:
        """The same from doubles, whose difference is right up to rounding, and never 0 between two of them."""
        low, high = float(self._positions[start]), float(self._positions[end])
        length = high - low
        return math.log2(length) if length < math.inf else math.log2(high / 2.0 - low / 2.0) + 1.0

    def place(self, start: int, end: int, count: int) -> tuple[IntArray, FloatArray]:
        """See `Histograms.place`. Each point is a real number, rounded once."""
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
