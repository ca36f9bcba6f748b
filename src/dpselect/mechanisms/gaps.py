r"""How far each score is below the best, accurately for any finite scores, epsilon and sensitivity.

In the notation of the proof pages: the gap :math:`s^* - s_i` and the scaled gap :math:`x_i = (s^* - s_i)/b`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpselect.mechanisms.score_vectors import NumericArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gaps ``mantissa * 2**exponent``: the exponent is 1 only if a difference of doubles would overflow."""

    mantissa: FloatArray
    exponent: int

    @classmethod
    def below_best(cls, scores: NumericArray) -> Gaps:
        """The gaps of finite, non-empty `scores`, each correctly rounded (integers are subtracted exactly)."""
        best = scores.max(keepdims=True)
        if scores.dtype.kind != "f":
            # Modulo 2^64 the difference of two 64-bit integers is exact, and it is never negative.
            return cls((best.view(np.uint64) - scores.view(np.uint64)).astype(np.float64), 0)
        with np.errstate(over="ignore"):
            difference = best - scores
        if np.isfinite(difference).all():
            return cls(difference, 0)
        # The best is beyond 2^970 here, so what halving loses is negligible.
        return cls(best / 2.0 - scores / 2.0, 1)

    def scaled(self, *, epsilon: float, sensitivity: float, factor: int) -> FloatArray:
        """``gap * epsilon / (factor * sensitivity)`` for a `factor` of 1 or 2.

        Infinite or zero only where the true value is that extreme.
        """
        # Mantissas and exponents separately: the quotient of the arguments may overflow although the product does not.
        epsilon_mantissa, epsilon_exponent = math.frexp(epsilon)
        sensitivity_mantissa, sensitivity_exponent = math.frexp(sensitivity)
        ratio = epsilon_mantissa / sensitivity_mantissa
        exponent = epsilon_exponent - sensitivity_exponent - (factor - 1) + self.exponent
        with np.errstate(over="ignore", under="ignore"):
            if -1000 < exponent < 1000:
                return self.mantissa * math.ldexp(ratio, exponent)
            mantissas, exponents = np.frexp(self.mantissa)
            return np.ldexp(mantissas * ratio, exponents + exponent)

    def mean(self, probabilities: FloatArray) -> float:
        """The expected gap, in the unit of the scores."""
        return float((probabilities * self.mantissa).sum()) * 2.0**self.exponent
