"""Why a plan advises a mechanism: for all epsilons of the advice at once, so that no single one is named."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpselect.cli.plan.figures import exact, percent
from dpselect.cli.plan.setup import Setup
from dpselect.planning.recommendation import Recommendation

_EVEN = 1.0 + 1e-9
"""Up to this factor both mechanisms may spend the same."""


def reason(found: Sequence[Recommendation], setup: Setup) -> str:
    """Why the mechanism is better at each of the epsilons that `found` was computed for; at least one."""
    several = setup.selections > 1
    factors = [each.advantage for each in found]
    if max(factors) < _EVEN:
        same = f"Each of {setup.selections:,} selections may spend" if several else "It may spend"
        start = f"{same} as much epsilon as with the exponential mechanism, and at" if several else "At"
        return f"{start} the same epsilon it never errs more than the exponential mechanism, whatever the scores."
    even = found[0].break_even
    if even == math.inf:
        return (
            f"A blind guess is already right with {percent(setup.confidence)} confidence: neither mechanism is better."
        )
    each = f"each of {setup.selections:,} selections" if several else "the selection"
    return (
        f"With delta = {exact(setup.delta)}, {each} may spend {_range(factors)} times as much epsilon with the "
        "exponential mechanism, whose privacy loss has a bounded range, as with permute-and-flip. It needs "
        f"{even:.2f} times as much for the same {percent(setup.confidence)} bound."
    )


def _range(factors: Sequence[float]) -> str:
    """One factor, or the lowest and the highest.

    >>> _range([1.531, 1.534]), _range([1.53, 1.64, 1.6])
    ('1.53', '1.53 to 1.64')
    """
    low, high = f"{min(factors):.2f}", f"{max(factors):.2f}"
    return low if low == high else f"{low} to {high}"
