"""Figures that need no simulation: scales, probabilities and gaps."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

import dpselect as dps


def gumbel_scale(k: int, epsilon: float, delta: float) -> float:
    """Of monotone counts, for k selections within the total."""
    return 1.0 / dps.accounting.calibrate_rounds(epsilon=epsilon, delta=delta, count=k)


def one_shot_laplace_scale(k: int, n: int, epsilon: float, delta: float) -> float:
    """As published by Qiao, Su and Zhang (2021), for epsilon up to 0.2: 8 sqrt(k ln(n/delta)) / epsilon."""
    return 8.0 * math.sqrt(k * math.log(n / delta)) / epsilon


def gaussian_max_deviation(n: int, epsilon: float, delta: float) -> float:
    """The deviation at which the noisy maximum of n scores is known to be private: n times the delta of one Gaussian.

    One score may rise by 1 and all others fall by 1, so each difference moves by 2.
    """

    def excess(sigma: float) -> float:
        mu = 2.0 / sigma
        one = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return math.log(max(n * one, 1e-300)) - math.log(delta)

    return float(brentq(excess, 0.1, 1000.0))


def large_margin(epsilon: float, delta: float) -> float:
    """The lead that Chaudhuri, Hsu and Song (2014) need over the second best, in counts; constants of their code."""
    return (
        3.0 / epsilon * math.log(1.5 / delta)
        + 6.0 / epsilon * math.log(3.0 / delta)
        + 12.0 / epsilon * math.log(6.0 / delta)
        + 6.0 * (1.0 + math.log(3.0 / delta) / epsilon)
    )


def log_candidates_at(lead: float, epsilon: float) -> float:
    """ln n up to which permute-and-flip finds a best that leads by `lead` nine times in ten; monotone counts.

    With n - 1 others equal, each is a head with probability p = e^(-lead epsilon); the best is selected with
    probability at least (1 - p)^(n - 1).
    """
    return math.log(-math.log(0.9)) + lead * epsilon


def dampened_errors(n: int = 100, lead: float = 10.0) -> tuple[float, float]:
    """Expected error with local dampening on counts, where it is the plain score at twice the noise, and without."""
    scores = np.r_[lead, np.zeros(n - 1)]
    kinds = [dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=monotonic) for monotonic in (False, True)]
    dampened, plain = (each.expected_error(scores) for each in kinds)
    return dampened, plain


def subsampled_loss(share: float, counts: np.ndarray, epsilon: float) -> tuple[float, float, float]:
    """Expected error with a uniformly random part of the candidates, two bounds, and with all of them, exactly.

    The best of a part of m among n has rank r with probability C(n - r, m - 1) / C(n, m). The lower bound leaves out
    what permute-and-flip itself loses in the part. In the upper one it selects each candidate that is x behind the best
    one with probability e^(-x epsilon) / 2, as if there were no others: the chance that one noise makes up for x.
    """
    mechanism = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0, monotonic=True)
    scores, n = np.sort(np.asarray(counts, np.float64))[::-1], len(counts)
    size = round(share * n)
    missed = drawn = 0.0
    for best in range(n - size + 1):
        chance = math.comb(n - best - 1, size - 1) / math.comb(n, size)
        behind = scores[best] - scores[best + 1 :]
        each = (size - 1) / (n - best - 1) if size > 1 else 0.0
        missed += chance * float(scores[0] - scores[best])
        drawn += chance * each * float((behind * np.exp(-behind * epsilon) / 2.0).sum())
    return missed, missed + drawn, mechanism.expected_error(counts)
