"""Scores with their sensitivity: the only form in which a task may hand private numbers to a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dpselect.privacy import Sensitivity


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores:
    """One score per candidate, higher is better. Private: shown by no ``repr``, kept by no pickle.

    Attributes:
        values: shape ``(n,)``, in the candidates' order.
        sensitivity: how much they can change between neighbours, and the page that proves it.
    """

    values: NDArray[np.int64]
    sensitivity: Sensitivity

    def __repr__(self) -> str:
        return f"Scores(<{self.values.shape[0]} private scores>, sensitivity={self.sensitivity.value})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Scores are private and cannot be pickled or copied")
