r"""The cost of the best of a secret number of runs, where the runs have a delta of their own.

Proof: ``proofs/private_candidates.md``, claims 3 and 4. Sources: Liu & Talwar (2019), Papernot & Steinke (2022).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpselect.accounting.composition import compose
from dpselect.accounting.events import Event, expected_runs
from dpselect.accounting.rounding import fraction_down, fraction_up

_UP = 1.0 + 2.0**-46


def candidates_epsilon(event: Event, *, eta: float, gamma: float, delta: float) -> float:
    r"""Epsilon at `delta` of the best of K runs of `event`, K truncated negative binomial, rounded up.

    With :math:`\delta_Q` the profile of one run: :math:`(1 + \eta) \varepsilon_2` and the epsilon at which
    :math:`\delta_Q` is at most ``delta / E K``, where :math:`\varepsilon_2` is the smallest
    :math:`\max(e', \ln(1 + (1 - \gamma) \delta_Q(e') / \gamma))`.

    Args:
        event: what one run costs.
        eta: > -1.
        gamma: strictly between 0 and 1.
        delta: strictly between 0 and 1.

    Returns:
        Infinite if the runs' own delta is too large.

    >>> from dpselect.accounting import ApproximateEvent
    >>> round(candidates_epsilon(ApproximateEvent(epsilon=0.5, delta=1e-9), eta=1.0, gamma=0.1, delta=1e-6), 3)
    1.313
    """
    run = compose([event])
    each = fraction_down(Fraction(delta) / Fraction(expected_runs(eta, gamma) * _UP))
    first = run.epsilon(each) if each > 0.0 else math.inf
    if math.isinf(first):
        return math.inf

    def second(epsilon: float) -> float:
        return math.log1p((1.0 - gamma) * run.delta(epsilon) / gamma * _UP) * _UP

    low, high = 0.0, fraction_up(run.leaves.basic)
    best = max(high, second(high))
    for _ in range(40):
        middle = low + (high - low) / 2.0
        best = min(best, max(middle, second(middle)))
        low, high = (low, middle) if second(middle) <= middle else (middle, high)
    return math.nextafter((first + (1.0 + eta) * best) * _UP, math.inf)


_CLOSE = 2.0**-16
"""The cost of a given law of K is found to within about this."""

_MOST_CELLS = 5_000


def finite_candidates_epsilon(law: Sequence[tuple[int, float]], epsilon: float) -> float:
    r"""The exact cost of the best of K runs, each `epsilon`-DP, for any law of K with finitely many values, rounded up.

    It is :math:`\varepsilon + \max_x \ln(f'(x)/f'(x'))` with :math:`f(x) = E[x^K]` and
    :math:`x' = \max(e^{-\varepsilon} x, 1 - e^\varepsilon (1 - x))`. As f' and x' never decrease, the ratio in an
    interval is at most f' at its upper end over f' at the lower one's x'. The interval with the largest such bound is
    halved until the bound is reached.

    Args:
        law: numbers of runs, and a positive weight of each, up to a factor; one number is at least 1.
        epsilon: of each run, > 0.

    >>> round(finite_candidates_epsilon([(1, 1.0)], 1.0), 3), round(finite_candidates_epsilon([(8, 1.0)], 1.0), 3)
    (1.0, 8.0)
    >>> round(finite_candidates_epsilon([(k, 0.75**k) for k in range(1, 200)], 1.0), 3)
    2.139
    """
    terms = [(k, k * weight) for k, weight in law if k]
    if [k for k, _ in law] == [1]:
        return epsilon  # one run for certain is that run
    least = min(k for k, _ in terms)
    powers, weights = np.array([k - least for k, _ in terms], float), np.array([weight for _, weight in terms])
    shrink, steep = math.exp(-epsilon), math.exp(min(epsilon, 700.0))

    def slope(x: float) -> float:
        """f'(x) over x to the power of its first term."""
        return float(weights @ np.power(x, powers))

    def lowered(x: float) -> float:
        return max(shrink * x * (1.0 - 2.0**-49), 1.0 - steep * (1.0 - x) - 2.0**-49, 0.0)  # never too large

    def bound(low: float, high: float) -> float:
        below = lowered(low)
        factor = epsilon if below == 0.0 else min(epsilon, math.log(high / below))
        return (least - 1) * factor + math.log(slope(high) / slope(below))

    cells = [(-bound(0.0, 1.0), 0.0, 1.0)]
    while len(cells) < _MOST_CELLS:
        found, low, high = cells[0]
        if found + bound(high, high) >= -_CLOSE or high - low < 2.0**-40:
            break
        middle = low + (high - low) / 2.0
        heapq.heapreplace(cells, (-bound(low, middle), low, middle))
        heapq.heappush(cells, (-bound(middle, high), middle, high))
    return math.nextafter((epsilon - cells[0][0]) * _UP + 2.0**-40, math.inf)
