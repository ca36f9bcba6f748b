"""How far a measured count is from the true one, which is public: recipes allow for it when they fit."""

from __future__ import annotations

import math

from dpselect.mechanisms import GeometricMechanism


def mean_distance(measuring: GeometricMechanism) -> float:
    """The expected distance between one measured count and the true one.

    >>> round(mean_distance(GeometricMechanism(epsilon=0.5, sensitivity=1)), 3)
    1.919
    """
    power, rest = math.exp(-1.0 / measuring.scale), -math.expm1(-1.0 / measuring.scale)
    return 2.0 * power / (rest * (1.0 + power))
