"""The exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.mechanisms import laws
from dpselect.mechanisms.laws import Law
from dpselect.mechanisms.mechanism import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Selects candidate i with probability proportional to :math:`e^{s_i/b}`, :math:`b` the `scale`.

    It is `epsilon`-DP and `epsilon`-bounded-range: many selections in a row compose better than with any other
    mechanism here. For a single selection `PermuteAndFlip` has a smaller error, by up to a factor of two.

    Args and Raises: see `Mechanism`.

    Proof: ``proofs/exponential_mechanism.md``. Sources: McSherry & Talwar (2007); Durfee & Rogers (2019) and Dong,
    Durfee & Rogers (2020) for bounded range.

    >>> import numpy as np
    >>> mechanism = ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.pmf(np.log([1.0, 3.0]))
    array([0.25, 0.75])
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    """

    @property
    def law(self) -> Law:
        return laws.EXPONENTIAL

    @property
    def _title(self) -> str:
        return "Exponential mechanism"
