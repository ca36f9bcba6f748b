"""Report-noisy-max."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Literal

from dpselect.checks import one_of
from dpselect.errors import InvalidParameterError, typed
from dpselect.mechanisms import laws
from dpselect.mechanisms.laws import Law
from dpselect.mechanisms.mechanism import Mechanism

_LAW_OF_NOISE = {"laplace": laws.LAPLACE, "exponential": laws.PERMUTE_AND_FLIP, "gumbel": laws.EXPONENTIAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNoisyMax(Mechanism):
    """Adds independent noise of the `scale` to every score and selects the candidate with the largest sum.

    It is `epsilon`-DP with each of the three kinds of noise. With Gumbel noise it has the distribution of
    `ExponentialMechanism`, with exponential noise that of `PermuteAndFlip`. With Laplace noise it has its own
    distribution, with a larger error than permute-and-flip.

    Args:
        noise: ``"laplace"``, ``"exponential"`` or ``"gumbel"``.

    Other args and Raises: see `Mechanism`.

    Proof: ``proofs/noisy_max.md``. Sources: Dwork & Roth (2014), section 3.3; Ding et al. (2021).

    >>> import numpy as np
    >>> mechanism = ReportNoisyMax(epsilon=1.0, sensitivity=1.0, monotonic=True, noise="laplace")
    >>> mechanism.pmf([3, 3])
    array([0.5, 0.5])
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    """

    noise: Literal["laplace", "exponential", "gumbel"] = "laplace"

    weights: InitVar[None] = None

    def __post_init__(self, weights: None) -> None:
        if weights is not None:
            hint = "Noise of one law for all has no weights. With Gumbel noise they belong to: ExponentialMechanism."
            raise InvalidParameterError("weights", typed(weights), "none for report-noisy-max", hint)
        one_of(self.noise, "noise", _LAW_OF_NOISE)
        Mechanism.__post_init__(self)

    @property
    def law(self) -> Law:
        return _LAW_OF_NOISE[self.noise]

    @property
    def _title(self) -> str:
        noise = self.noise if self.noise == "exponential" else self.noise.capitalize()  # the other two are people
        return f"Report-noisy-max ({noise} noise)"
