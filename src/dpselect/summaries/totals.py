"""Clipped amounts per candidate: private whole numbers that must not leave the process by accident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateTotals:
    """The sum of the units' clipped amounts for each candidate. Private: no ``repr``, no pickle.

    Attributes:
        totals: shape ``(n,)``, int64, read-only; one entry for each candidate, in the candidates' order. Adding all
            rows of one more unit moves each entry by a whole number between the lower and the upper bound of one
            unit's amount, or by 0 (proof: ``proofs/clipped_sums.md``).

    >>> CandidateTotals(np.array([300, -5, 0]))
    CandidateTotals(<3 private totals>)
    """

    totals: NDArray[np.int64]

    def __post_init__(self) -> None:
        self.totals.setflags(write=False)

    def __repr__(self) -> str:
        return f"CandidateTotals(<{self.totals.shape[0]} private totals>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("CandidateTotals are private and cannot be pickled or copied")
