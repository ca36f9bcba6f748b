r"""The cost of the best of a secret number of runs, where the runs have a delta of their own.

Proof: ``proofs/private_candidates.md``, claims 3 and 4. Sources: Liu & Talwar (2019), Papernot & Steinke (2022).
"""

from __future__ import annotations

import math
from fractions import Fraction

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
