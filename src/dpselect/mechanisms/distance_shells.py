"""How samples of the density mechanism are drawn: doubles propose, and one exact coin a round decides.

The distances are cut into *shells*. The *band* of a shell holds all samples that are as near as its farthest ones, with
upper bounds of the weights of all ways on from every state of a walk through the cells. A round chooses a shell, walks
through its band by these bounds, and accepts the sample with a probability that is computed exactly: what the sample's
weight is, over the chance of its proposal.

Proof: ``proofs/density.md``, "Rounds".
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.mechanisms.cumulative_counts import Cells, CumulativeCounts, Histograms, Positions, log2
from dpselect.mechanisms.lazy_coins import accepts

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Groups = list[tuple[int, int, int]]  # where each group with a point starts and ends, and how many it has

_ENOUGH = 1 / 8  # planning goes on until so large a share of what is proposed is sure to be accepted
_STEP = 3.0  # the first shell is so many octaves of the weights wide
_BITS = 40  # the largest of the whole weights among which one is chosen has so many bits
_FARTHEST = 2.0**20  # exponents beyond so many octaves are bounded like this one, so that exact bounds stay short
_MOST_STATES = 4096  # so many states of a walk are remembered


class Band:
    """All samples within a radius, and the binary logarithms of upper bounds of the weights of all ways on.

    There is a bound for each state: a gate, where the count of points before it matters, and such a count. `bound` is
    that of the whole band.
    """

    def __init__(self, data: CumulativeCounts, base: Histograms | Cells | Positions, radius: int) -> None:
        self._base = base
        self._gates, self._low, self._high = (each.tolist() for each in data.gates(radius))
        self._states: dict[tuple[int, int], tuple[npt.NDArray[np.uint64], int]] = {}
        self._bounds = [np.zeros(1)]
        for gate in reversed(range(len(self._gates) - 1)):
            self._bounds.append(self._bounds_before(gate, self._bounds[-1]))
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

    def steps(self, gate: int, count: int) -> tuple[npt.NDArray[np.uint64], int]:
        """Whole weights of the counts that can follow a state, in units of which its bound is at least their sum."""
        known = self._states.get((gate, count))
        if known is not None:
            return known
        least, most = max(count, self._low[gate + 1]), self._high[gate + 1]
        logs = self._base.logs(self._gates[gate], self._gates[gate + 1], most - count)
        terms = logs[least - count :] + self._bounds[gate + 1][least - self._low[gate + 1] :]
        terms += _BITS + self._error(logs) - terms.max()
        weights = np.exp2(np.maximum(terms, -1.0)).astype(np.uint64) + np.uint64(1)
        if len(self._states) >= _MOST_STATES:
            self._states.clear()
        self._states[gate, count] = steps = (weights, int(weights.sum()))
        return steps

    def _bounds_before(self, gate: int, after: FloatArray) -> FloatArray:
        """For each count at a gate the sum over the steps of their weights times the bounds after them, rounded up."""
        low, high, next_low = self._low[gate], self._high[gate], self._low[gate + 1]
        logs = self._base.logs(self._gates[gate], self._gates[gate + 1], self._high[gate + 1] - low)
        sums = _sums(logs, after, next_low - low, high - low + 1)
        return sums + (4.0 * self._error(logs) + after.size * 2.0 ** (2 - _BITS))

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
    """A plan for one data set: all that draws need. It holds the data."""

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
        """With which probability, but for the exponential, a proposal from this shell is accepted; as a fraction."""
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
            proposed, wasted = self._waste(starts, radii, bands)
            worst = int(wasted.argmax())
            if wasted.sum() <= (1.0 - _ENOUGH) * proposed.sum() or not wasted[worst]:
                return starts, radii, bands
            middle = starts[worst] + (radii[worst] - starts[worst]) // 2
            if worst == len(starts) - 1:  # the last shell is open: go outwards in growing steps
                middle = min(starts[worst] + first + (starts[worst] - self._least) - 1, middle)
            starts.insert(worst + 1, middle + 1)
            radii.insert(worst, middle)
            bands.insert(worst, Band(self.data, self._base, middle))

    def _waste(self, starts: list[int], radii: list[int], bands: list[Band]) -> tuple[FloatArray, FloatArray]:
        """What each shell proposes of its own samples, and how much of it may be rejected; roughly."""
        near, far = (
            np.array([min(self._octaves * (each - self._least), 2.0**40) for each in ends]) for ends in (starts, radii)
        )
        logs = np.array([band.bound for band in bands]) - near
        nearer = np.concatenate([[-math.inf], logs[:-1] + near[:-1]]) - near
        inside, before = (np.exp2(np.maximum(each - logs.max(), -1000.0)) for each in (logs, nearer))
        proposed = np.maximum(inside - before, 0.0)
        return proposed, proposed * -np.expm1(np.maximum(near - far, -1000.0) * math.log(2.0))


def _power_below(octaves: float) -> Fraction:
    """No less than ``2^-octaves``, and hardly more; `octaves` may be a few units in its last place too large."""
    whole, rest = divmod(min(octaves, _FARTHEST) * (1.0 - 2.0**-40), 1.0)
    return Fraction(int(2.0 ** (31.0 - rest)) + 1, 1 << (31 + int(whole)))
