"""The expected errors of each way to release a distribution, and the sizes of samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
from examples.densities.data import histogram
from examples.densities.distance_law import Between, expected_distance

import dpselect as dps

LARGEST_SIZE = 1024
LARGEST_SMOOTHED = 128

SMOOTHED_CUTS, POINTS_CUTS = 256, 1024
"""Number of cuts of the distance if a step of the recursion is a product of matrices."""


def power_of_two(value: float) -> int:
    """The nearest power of two on a logarithmic scale. With such n and k the distances are few whole multiples of k.

    >>> power_of_two(25.4), power_of_two(22.0)
    (32, 16)
    """
    return 2 ** max(0, round(math.log2(value)))


def source_size(n: int) -> int:
    """The size of the sample in the source, n^(2/3), to the next power of two.

    >>> source_size(4096)
    256
    """
    return power_of_two(n ** (2 / 3))


def rule_size(n: int, epsilon: float, m: int) -> int:
    """A size that depends on public numbers only: the largest of 8, 2 sqrt(epsilon n) and epsilon n / m.

    >>> rule_size(4096, 1.0, 64), rule_size(65536, 1.0, 64), rule_size(64, 0.1, 64)
    (128, 1024, 8)
    """
    return power_of_two(max(8.0, 2 * math.sqrt(epsilon * n), epsilon * n / m))


@cache
def kolmogorov_smirnov(name: str, n: int, bins: int, epsilon: float, k: int) -> Between:
    """Expected error of the Kolmogorov-Smirnov mechanism with the same base weight for all histograms of size `k`."""
    return expected_distance(histogram(name, n, bins), k, rate=epsilon / (2 * k))


@cache
def kolmogorov_smirnov_of_points(name: str, n: int, bins: int, epsilon: float, k: int) -> Between:
    """The same with the base measure of independent points that are uniform over bins of equal length."""
    counts = histogram(name, n, bins)
    alike = np.full(len(counts), 1 / len(counts))
    return expected_distance(counts, k, rate=epsilon / (2 * k), chances=alike, most_cuts=POINTS_CUTS)


def default_size(n: int, epsilon: float) -> int:
    """What `dpselect.mechanisms.DensityMechanism` chooses if no size is given, to the next power of two.

    >>> default_size(4096, 1.0)
    128
    """
    return power_of_two(dps.mechanisms.DensityMechanism(epsilon=epsilon).sample_size(n))


def smoothed(counts: npt.ArrayLike, epsilon: float, k: int) -> np.ndarray:
    """Wasserman and Zhou's other method, one of `k` draws: the histogram mixed with the uniform distribution.

    A draw of bin j with probability proportional to 1 + r c_j loses ln(1 + r) at most, under either relation.

    >>> smoothed([0, 1], math.log(2.0), 1).round(4)
    array([0.3333, 0.6667])
    """
    weights = 1.0 + math.expm1(epsilon / k) * np.asarray(counts)
    return weights / weights.sum()


@cache
def smoothed_histogram(name: str, n: int, bins: int, epsilon: float, k: int) -> Between:
    """Expected error of the share of `k` independent draws in each bin: a law of the same distance, with rate 0."""
    counts = histogram(name, n, bins)
    return expected_distance(counts, k, rate=0.0, chances=smoothed(counts, epsilon, k), most_cuts=SMOOTHED_CUTS)


def best_size(name: str, n: int, bins: int, epsilon: float) -> int:
    """The power of two with the smallest expected error. It depends on the data and is not private."""
    start = rule_size(n, epsilon, len(histogram(name, n, bins)))
    return _least(lambda k: kolmogorov_smirnov(name, n, bins, epsilon, k).estimate, start, at_most=LARGEST_SIZE)


def best_smoothed_size(name: str, n: int, bins: int, epsilon: float) -> int:
    """The same for the smoothed histogram, starting where sampling error and smoothing balance."""
    start = power_of_two(max(16.0, (epsilon * n / len(histogram(name, n, bins))) ** (2 / 3)))
    return _least(lambda k: smoothed_histogram(name, n, bins, epsilon, k).estimate, start, at_most=LARGEST_SMOOTHED)


def _least(error: Callable[[int], float], start: int, *, at_most: int) -> int:
    """Walk from `start` by factors of two, both ways, until the error has increased twice in a row."""
    errors = {start: error(start)}
    for factor in (0.5, 2.0):
        k, risen = start, 0
        while risen < 2 and 1 <= k * factor <= at_most:
            previous, k = errors[k], int(k * factor)
            errors[k] = error(k)
            risen = risen + 1 if errors[k] > previous else 0
    return min(errors, key=errors.__getitem__)
