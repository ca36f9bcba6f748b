"""The three laws that a selection can have, each with everything that is known about it.

A mechanism is a law at a scale. For two kinds of noise report-noisy-max has no law of its own: with Gumbel noise it has
that of the exponential mechanism, with exponential noise that of permute-and-flip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.mechanisms import worst_case
from dpselect.mechanisms.laplace_law import laplace_probabilities
from dpselect.mechanisms.permute_and_flip_law import permute_and_flip_probabilities
from dpselect.mechanisms.worst_case import WorstCase

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """How the winner is distributed, given the scaled gaps.

    Attributes:
        name: its name in the compiled core.
        probabilities: from scaled gaps, shape ``(n,)``, to probabilities, shape ``(n,)``.
        worst_case: the errors for the worst scores.
        privacy: the event of one run at the scale for epsilon.
    """

    name: Literal["exponential", "permute_and_flip", "laplace"]
    probabilities: Callable[[FloatArray], FloatArray]
    worst_case: WorstCase
    privacy: type[BoundedRangeEvent] | type[LaplaceProfileEvent]


def exponential_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap: ``exp(-x_i)``, normalised.

    Proof: ``proofs/exponential_mechanism.md``.

    >>> exponential_probabilities(np.log([1.0, 3.0]))
    array([0.75, 0.25])
    """
    p = np.exp(-x)
    return p / p.sum()


EXPONENTIAL = Law("exponential", exponential_probabilities, worst_case.EXPONENTIAL, BoundedRangeEvent)
PERMUTE_AND_FLIP = Law(
    "permute_and_flip", permute_and_flip_probabilities, worst_case.PERMUTE_AND_FLIP, LaplaceProfileEvent
)
LAPLACE = Law("laplace", laplace_probabilities, worst_case.LAPLACE, LaplaceProfileEvent)
