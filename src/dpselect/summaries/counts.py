"""Distinct units per candidate: private numbers that must not leave the process by accident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateCounts:
    """How many different units have a row with each candidate. Private: not shown by ``repr``, and cannot be pickled.

    Attributes:
        counts: shape ``(n,)``, int64, read-only; one entry for each candidate, in the candidates' order. Adding all
            rows of one more unit raises each entry by 0 or 1 (proof: ``proofs/counting.md``).

    >>> CandidateCounts(np.array([3, 0, 41]))
    CandidateCounts(<3 private counts>)
    """

    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        self.counts.setflags(write=False)

    def __repr__(self) -> str:
        return f"CandidateCounts(<{self.counts.shape[0]} private counts>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("CandidateCounts are private and cannot be pickled or copied")
