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


def subsampled_loss(share: float, counts: np.ndarray, epsilon: float) -> tuple[float, float]:
    """Expected error with a public random part of the candidates, and with all; the mean over 200 parts."""
    mechanism = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0, monotonic=True)
    whole = mechanism.expected_error(counts)
    size, turns = round(share * len(counts)), np.arange(1, len(counts) + 1) * 0.6180339887498949
    errors = []
    for turn in range(200):
        part = counts[np.argsort((turns * (turn + 1)) % 1.0)[:size]]
        errors.append(counts.max() - part.max() + mechanism.expected_error(part))
    return float(np.mean(errors)), whole
