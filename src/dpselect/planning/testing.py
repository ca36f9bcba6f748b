"""How much a private release can reveal about one unit, in terms of hypothesis tests."""

from __future__ import annotations

import math

from dpselect.checks import positive_epsilon, probability


def power_bound(*, significance: float, epsilon: float) -> float:
    r"""The largest power of a test that decides, from a release, which of two neighbouring data sets it came from.

    Somebody who knows all data except one unit's and sees an epsilon-DP release may test "the unit is this" against
    "the unit is that" (replace-one), or "absent" against "present" (add/remove). At level `significance` the power is
    at most

    .. math:: \min(\alpha e^{\varepsilon},\; 1 - e^{-\varepsilon} (1 - \alpha)),

    whatever the test; randomised response attains it for every significance.

    Args:
        significance: probability of rejecting the first hypothesis if it is true, strictly between 0 and 1.
        epsilon: privacy loss between the two data sets, > 0. Under add/remove "this" against "that" are two steps:
            ``2 * epsilon``.

    Returns:
        A probability of at least `significance`, the power of a blind guess.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/testing.md``. Source: Wasserman & Zhou (2010), for the first of the two bounds.

    >>> round(power_bound(significance=0.05, epsilon=1.0), 4)
    0.1359
    >>> round(power_bound(significance=0.5, epsilon=1.0), 4)  # where the first bound alone would be above 1
    0.8161
    """
    level = probability(significance, "significance")
    loss = positive_epsilon(epsilon)
    first = level * math.exp(min(loss, 700.0))
    second = level - (1.0 - level) * math.expm1(-loss)
    return min(first, second)
