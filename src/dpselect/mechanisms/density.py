"""A whole distribution at once: a sample of points or counts, close to the data's distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import finite_bounds, one_of, positive_count
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.distance_shells import Cells, CumulativeCounts, Histograms, Positions, Shells
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import FloatArray, IntArray
from dpselect.mechanisms.scores import ScoresLike, native_scores, native_values, plain_values
from dpselect.privacy import Neighbours

_LARGEST_DISTANCE = 2**61
_MOST_SAMPLES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityMechanism(MechanismValue):
    r"""Draws a sample of size `k` whose distribution is close to the data's, in Kolmogorov-Smirnov distance.

    A sample z comes with probability proportional to :math:`w(z)\, e^{-\varepsilon n\, KS(x, z)/2}`, where KS is the
    largest distance of the cumulative shares of the data x and of z, and w the public base measure: the exponential
    mechanism, sampled exactly. Anything computed from the sample costs nothing more.

    Args:
        k: size of the sample, at most 10^6; by default `sample_size`, which knows only `epsilon` and n.
        base: the base measure, which weighs samples before their distance counts. ``"points"``: independent uniform
            points, which do not depend on how finely bins are cut. ``"histograms"``: the same weight for all
            histograms, which favours few bins with many points; for counts only.
        neighbours: ``"replace_one"``, and nothing else: the number n of data is public.

    Proof: ``proofs/density.md``. Source: Wasserman & Zhou (2010).

    >>> DensityMechanism(epsilon=1.0, k=50).draw_points([20.0, 30.0] * 5_000, bounds=(0, 100)).size
    50
    """

    costs = BoundedRangeEvent

    epsilon: float
    k: int | None = None
    base: Literal["histograms", "points"] = "points"
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        if self.k is not None:
            # The time and memory of planning grow in proportion.
            self._set(k=positive_count(self.k, "k", at_most=1_000_000))
        one_of(self.base, "base", ("histograms", "points"))
        if self.neighbours is not Neighbours.REPLACE_ONE:
            hint = "The number of data is public here; a datum added or removed changes it."
            raise InvalidParameterError("neighbours", self.neighbours.value, "'replace_one'", hint)

    def sample_size(self, n: int) -> int:
        r"""The size of samples from `n` data, which never depends on them: `k` if it is given.

        By default the smaller of :math:`(\varepsilon n)^{2/3}/2` and :math:`\varepsilon n/32`, but from 4 to 5,000; see
        ``docs/tasks/density.md``. Refused if `n` times this size is more than 2^61.
        """
        pull = min(self.epsilon, 1e300) * positive_count(n, "n", at_most=2**63)
        default = max(4, round(min(5_000.0, pull ** (2.0 / 3.0) / 2.0, pull / 32.0)))
        k = default if self.k is None else self.k
        if n * k > _LARGEST_DISTANCE:
            raise InvalidParameterError("k", k, "at most 2^61 divided by the number of data")
        return k

    def draw(self, counts: ScoresLike, widths: ScoresLike | None = None) -> IntArray:
        """Draw one sample of binned data, at the cost of `epsilon`.

        Args:
            counts: shape ``(m,)``, whole numbers >= 0, at least one of them > 0: how many data lie in each public bin.
            widths: shape ``(m,)``, > 0: the bins' public widths, for the base ``"points"``; equal if not given.

        Returns:
            Shape ``(m,)``: how many points of the sample lie in each bin.

        >>> DensityMechanism(epsilon=50.0, k=4).draw([300, 0, 100]).tolist()
        [3, 0, 1]
        """
        return self.draw_many(counts, 1, widths)[0]

    def draw_many(self, counts: ScoresLike, size: int, widths: ScoresLike | None = None) -> IntArray:
        """Draw `size` samples, *each* at the cost of `epsilon`, one a row; see `draw`."""
        numbers, lengths, k = self._checked(counts, widths)
        size = positive_count(size, "size", at_most=1_000_000)
        reached = np.concatenate([[0], np.cumsum(numbers)])
        base = Histograms(numbers.size, k) if lengths is None else Cells(lengths, k)
        shells = Shells(CumulativeCounts(reached, reached, k), base, epsilon=self.epsilon)
        return np.stack([np.bincount(shells.draw()[0], minlength=numbers.size) for _ in range(size)])

    def draw_points(self, values: ScoresLike, *, bounds: tuple[float | Fraction, float | Fraction]) -> FloatArray:
        """Draw one sample of points, from numbers that no bins have been made for, at the cost of `epsilon`.

        Args:
            values: shape ``(n,)``, one number a unit, at least one; those outside count as the nearer bound.
            bounds: ``(lower, upper)``, public and finite.

        Returns:
            Numbers within `bounds`, in increasing order, each rounded once. They lie near values, but never equal them.
        """
        lower, upper = finite_bounds(bounds)
        if self.base != "points":
            raise InvalidParameterError("base", self.base, "'points'", "Histograms need bins; count the values first.")
        plain = plain_values(values)
        if not plain.size:
            raise InvalidDataError("values", Shown("<none>"), "at least one number")
        k = self.sample_size(plain.size)
        ends = float(lower), float(upper)
        # The cumulative counts jump at the bounds, whatever lies there, and at every value between them.
        positions, counts = np.unique(np.concatenate([ends, np.clip(plain, *ends)]) + 0.0, return_counts=True)
        counts[[0, -1]] -= 1
        through = np.cumsum(counts)
        data = CumulativeCounts(through - counts, through, k)
        return Shells(data, Positions(positions, k), epsilon=self.epsilon).draw()[1]

    def pmf(self, counts: ScoresLike, widths: ScoresLike | None = None) -> tuple[IntArray, FloatArray]:
        """All samples, of 500,000 at most, and their probabilities. For tests and small public examples; see `draw`.

        >>> samples, probabilities = DensityMechanism(epsilon=2.0, k=1, base="histograms").pmf([2, 0])
        >>> samples.tolist(), (probabilities / probabilities[0]).round(4).tolist()
        ([[1, 0], [0, 1]], [1.0, 0.1353])
        """
        numbers, lengths, k = self._checked(counts, widths)
        n = sum(numbers.tolist())
        if math.comb(k + numbers.size - 1, k) > _MOST_SAMPLES:
            raise InvalidParameterError("k", k, f"at most {_MOST_SAMPLES} samples of that size in these bins")
        # All ways to write k as a sum of so many counts, by the places of the bars between them.
        last = k + numbers.size - 1
        bars = [(-1, *places, last) for places in combinations(range(last), numbers.size - 1)]
        samples = np.diff(np.array(bars, dtype=np.int64), axis=1)[::-1] - 1
        reached = np.cumsum([int(count) for count in numbers], dtype=object)
        distances = np.abs(n * np.cumsum(samples, axis=1, dtype=object) - k * reached).max(axis=1)
        logs = np.array([-float(Fraction(self.epsilon) * int(each) / (2 * k)) for each in distances - distances.min()])
        if lengths is not None:
            log_factorials = np.array([math.lgamma(count + 1.0) for count in range(k + 1)])
            logs = logs + samples @ np.log(lengths / lengths.max()) - log_factorials[samples].sum(axis=1)
        weights = np.exp(logs - logs.max())
        return samples, weights / weights.sum()

    def _checked(self, counts: ScoresLike, widths: ScoresLike | None) -> tuple[IntArray, FloatArray | None, int]:
        """The counts, the lengths of their bins where these matter, and the sample's size."""
        expected = "whole numbers >= 0, one for each bin, not all of them 0, with a sum below 2^61"
        given = native_values(counts, "counts", expected)
        are_counts = (given >= 0) & (given < _LARGEST_DISTANCE) & (given == np.floor(given))  # also false of NaN
        if not (are_counts.all() and 0 < given.sum(dtype=np.float64) < _LARGEST_DISTANCE):
            raise InvalidDataError("counts", Shown("<something else>"), expected)
        numbers = given.astype(np.int64)
        k = self.sample_size(int(numbers.sum()))
        if self.base == "histograms":
            if widths is not None:
                hint = "All histograms have the same weight here."
                raise InvalidParameterError("widths", Shown("<given>"), "None", hint)
            return numbers, None, k
        try:
            lengths = np.ones(numbers.size) if widths is None else native_scores(widths).astype(np.float64)
        except InvalidScoresError:
            lengths = np.empty(0)  # refused as well, but naming the argument that it is about
        if lengths.size != numbers.size or not (lengths > 0.0).all() or not sum(lengths.tolist()) <= 1e308:
            expected = f"{numbers.size} finite numbers > 0 with a sum of at most 1e308"
            raise InvalidParameterError("widths", Shown("<something else>"), expected)
        return numbers, lengths, k


def shares(noisy: IntArray) -> FloatArray:
    """The distribution nearest to noisy counts in its cumulative counts, with the same sum. It costs nothing more.

    Negative counts are balanced by their neighbours. If the sum is not positive, all bins get the same share.
    """
    reached = np.cumsum(noisy)
    total = int(reached[-1])
    if total <= 0:
        return np.full(noisy.size, 1.0 / noisy.size)
    reached = np.clip(reached, 0, total)
    from_left = np.maximum.accumulate(reached)
    from_right = np.minimum.accumulate(reached[::-1])[::-1]
    # Half the sum of both never decreases. No other such function has a smaller largest difference from `reached`.
    return np.diff(from_left / 2.0 + from_right / 2.0, prepend=0.0) / total
