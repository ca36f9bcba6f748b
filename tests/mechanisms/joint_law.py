"""The law of several quantiles drawn at once on the line: ``proofs/joint_quantiles.md``, "Drawing"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, logsumexp

from dpselect.mechanisms import QuantilesMechanism

Floats = npt.NDArray[np.float64]


def cdf(mechanism: QuantilesMechanism, values: Sequence[float] | Floats, points: npt.ArrayLike) -> Floats:
    """Probability that each answer is not above each of `points`: shape ``(levels, *points.shape)``."""
    bounds = np.array(mechanism.bounds, np.float64)
    ends = np.sort(np.concatenate([np.clip(values, *bounds), bounds]))
    increasing = sorted(mechanism.levels)
    # A value in a wrong group is surplus there and missing in another group.
    law = JointLaw.of(ends, increasing, rate=mechanism.epsilon / (2.0 * mechanism.score_range))
    at = np.asarray(points, np.float64)
    return np.array([law.cdf(increasing.index(level), at) for level in mechanism.levels])


Run = tuple[int, int]
"""The first and the last of the levels whose answers are in one gap."""


@dataclass(frozen=True, slots=True)
class JointLaw:
    """Where the answers lie, from ``proofs/joint_quantiles.md``, "Drawing".

    Attributes:
        ends: lower bound, sorted values, upper bound: gap i is between ends i and i + 1.
        runs: for each run of levels, the probability that these and no others have their answers in gap i, shape
            ``(n + 1,)``.
    """

    ends: Floats
    runs: dict[Run, Floats]

    @classmethod
    def of(cls, ends: Floats, levels: Sequence[float], *, rate: float) -> JointLaw:
        """`levels` increase; `rate` is how much the logarithm of the density falls for each value missing in a group.

        Computed in logarithms, with about n^2 m steps and n m^2 numbers for m levels of n values.
        """
        count = ends.size - 2
        shares = [(high - low) * count for low, high in pairwise([0.0, *levels, 1.0])]
        gaps = np.arange(count + 1)
        steps = gaps[:, None] - gaps[None, :]  # from the column's gap to the row's

        def onwards(j: int, messages: Floats, *, is_forward: bool) -> Floats:
            """Sum over all strictly smaller gaps, or strictly larger ones, that answer j - 1 or j may be in."""
            costs = np.where(steps > 0, -rate * np.abs(steps - shares[j]), -np.inf)
            return logsumexp((costs if is_forward else costs.T) + messages[None, :], axis=1)

        last = len(levels) - 1
        volumes = {run: _log_volume(ends, run, rate * sum(shares[run[0] + 1 : run[1] + 1])) for run in _runs(last + 1)}
        # What comes before a run that starts with level a, and what comes after one that ends with level b.
        before = [-rate * np.abs(gaps - shares[0])]
        for b in range(last):
            ending = logsumexp([before[a] + volumes[a, b] for a in range(b + 1)], axis=0)
            before.append(onwards(b + 1, ending, is_forward=True))
        after = {last: -rate * np.abs(count - gaps - shares[last + 1])}
        for a in range(last, 0, -1):
            starting = logsumexp([after[b] + volumes[a, b] for b in range(a, last + 1)], axis=0)
            after[a - 1] = onwards(a, starting, is_forward=False)
        logs = {(a, b): before[a] + volumes[a, b] + after[b] for a, b in volumes}
        # Every path has exactly one run that starts with the first level.
        total = logsumexp([logs[0, b] for b in range(last + 1)])
        return cls(ends, {run: np.exp(log - total) for run, log in logs.items()})

    def cdf(self, j: int, points: Floats) -> Floats:
        """Probability that answer j (from 0) is not above each of `points`."""
        at = points.clip(self.ends[0], self.ends[-1])
        last = int(np.flatnonzero(self.ends[1:] > self.ends[:-1])[-1])
        gap = np.minimum(np.searchsorted(self.ends, at, side="right") - 1, last)
        start, end = self.ends[gap] / 2.0, self.ends[gap + 1] / 2.0  # halves, so that no length overflows
        share = ((at / 2.0 - start) / (end - start)).clip(0.0, 1.0)
        below = np.zeros(at.shape)
        for (a, b), chances in self.runs.items():
            if a <= j <= b:
                sums = np.concatenate([[0.0], np.cumsum(chances)])
                # The answers of a run are uniform points of the gap in order.
                inside = betainc(j - a + 1, b - j + 1, share)
                below += sums[gap] + chances[gap] * inside
        return np.where(points < self.ends[0], 0.0, np.where(points >= self.ends[-1], 1.0, np.minimum(below, 1.0)))


def _runs(levels: int) -> list[Run]:
    return [(a, b) for a, b in combinations_with_replacement(range(levels), 2)]


def _log_volume(ends: Floats, run: Run, cost: float) -> Floats:
    """For the answers of a run in each gap, in order, minus what it costs that no values are between them."""
    with np.errstate(over="ignore", divide="ignore"):
        lengths = np.diff(ends)
        logs = np.where(np.isinf(lengths), np.log(np.diff(ends / 2.0)) + math.log(2.0), np.log(lengths))
    size = run[1] - run[0] + 1
    return size * logs - math.lgamma(size + 1) - cost
