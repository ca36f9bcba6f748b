"""What a private release leaves to be learnt about one unit, in the language of tests."""

from __future__ import annotations

import math

from dpselect.arguments import positive_epsilon, probability


def power_bound(*, significance: float, epsilon: float) -> float:
    r"""The most power a test can have that asks, of a release, which of two neighbouring data sets it came from.

    Whoever knows all data but one unit's and sees an epsilon-DP release may test "the unit is this" against "it is
    that" (replace-one), or "absent" against "present" (add/remove). With level `significance` the power is at most

    .. math:: \min(\alpha e^{\varepsilon},\; 1 - e^{-\varepsilon} (1 - \alpha)),

    whatever the test; randomised response attains it for every significance.

    Args:
        significance: probability of rejecting the first hypothesis if it is true, strictly between 0 and 1.
        epsilon: privacy loss between the two data sets, > 0. Under add/remove "this" against "that" are two steps:
            ``2 * epsilon``.

    Returns:
        A probability, not below `significance`: a blind guess has that power.

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
