"""The paper's way to permute-and-flip's probabilities, in doubles: to show where it stops working."""

from __future__ import annotations

import numpy as np
from examples.figures.figure import FloatArray


def alternating_sum(heads: FloatArray) -> FloatArray:
    """Probability of each candidate, by inclusion and exclusion over elementary symmetric polynomials in O(n^2) steps.

    Right with exact numbers; in doubles its alternating terms cancel. The product integrates positive terms instead.

    Args:
        heads: shape ``(n,)``: the probability that each candidate's coin shows heads, 1 for the best.

    >>> alternating_sum(np.array([1.0, 0.5])).round(12)
    array([0.75, 0.25])
    >>> abs(alternating_sum(np.ones(100)).sum()) > 1e6  # of 100 equal scores, where it should be 1
    np.True_
    """
    count = len(heads)
    symmetric = np.zeros(count + 1)
    symmetric[0] = 1.0
    for seen, chance in enumerate(heads, start=1):
        symmetric[1 : seen + 1] += chance * symmetric[:seen]
    without, total = np.ones(count), np.ones(count)
    for k in range(1, count):
        without = symmetric[k] - heads * without
        total += without * (-1.0) ** k / (k + 1)
    return heads * total
