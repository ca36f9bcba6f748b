"""The histogram with noise on every bin: its error as a distribution, by simulating the noise with a fixed seed.

This studies a distribution, on public data. Do not draw a release like this: `dpselect.GeometricMechanism` draws it
exactly.
"""

from __future__ import annotations

import math

import numpy as np
from examples.densities.bands import FloatArray, IntArray

REPETITIONS = 2000
SEED = 2010
L1_SENSITIVITY = 2
"""A record that is replaced leaves one bin and enters another, whatever the number of bins."""


def cut_off(noisy: IntArray, n: int) -> FloatArray:
    """Distribution functions of noisy counts: negative counts become zero, and the sum one.

    Args:
        noisy: shape ``(r, m)``.
        n: not used; the counts are divided by their sum.

    >>> cut_off(np.array([[3, -1, 1]]), 4)
    array([[0.75, 0.75, 1.  ]])
    """
    positive = np.maximum(noisy, 0)
    sums = positive.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, positive / np.maximum(sums, 1), 1 / noisy.shape[1])
    return np.cumsum(shares, axis=1)


def made_monotone(noisy: IntArray, n: int) -> FloatArray:
    """Distribution functions of noisy counts. The error of their sum is distributed evenly; then the result is the
    increasing function whose largest difference is smallest.

    >>> made_monotone(np.array([[3, -1, 2]]), 4)  # cumulative counts 3, 2, 4
    array([[0.625, 0.625, 1.   ]])
    """
    m = noisy.shape[1]
    cumulative = np.cumsum(noisy, axis=1)
    excess = cumulative[:, -1:] - n
    cumulative = np.clip(cumulative - excess * np.arange(1, m + 1) / m, 0, n)
    from_left = np.maximum.accumulate(cumulative, axis=1)
    from_right = np.minimum.accumulate(cumulative[:, ::-1], axis=1)[:, ::-1]
    return (from_left + from_right) / (2 * n)


def errors(counts: IntArray, epsilon: float) -> tuple[float, float]:
    """Mean Kolmogorov-Smirnov error after `cut_off` and after `made_monotone`, of the same noise."""
    generator = np.random.default_rng([SEED, len(counts), int(counts.sum())])
    size = (REPETITIONS, len(counts))
    stop = -math.expm1(-epsilon / L1_SENSITIVITY)
    noisy = counts + generator.geometric(stop, size) - generator.geometric(stop, size)
    n = int(counts.sum())
    truth = np.cumsum(counts) / n
    first, second = (np.abs(made(noisy, n) - truth).max(axis=1).mean() for made in (cut_off, made_monotone))
    return float(first), float(second)
