"""Numbers of a column with bounded contributions: private, and must not leave the process by accident."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dpselect.summaries.domain import PublicDomain


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitValues:
    """Numbers, at most a few of each unit. Private: not shown by ``repr``, and cannot be pickled.

    Attributes:
        values: shape ``(n,)``, float64, read-only, within the bounds of `domain`, in an order without meaning.
            Their number is as private as they are. Adding all rows of one more unit adds at most
            `max_rows_per_unit` values and changes no other (proof: ``proofs/unit_values.md``).
        domain: the public set they were clipped into.
        max_rows_per_unit: the most values one unit has among them.

    >>> UnitValues(np.array([39.0, 50.0]), domain=PublicDomain.given((0, 120)), max_rows_per_unit=1)
    UnitValues(<private values>, at most 1 per unit)
    """

    values: NDArray[np.float64]
    domain: PublicDomain = field(kw_only=True)
    max_rows_per_unit: int = field(kw_only=True)

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __repr__(self) -> str:
        return f"UnitValues(<private values>, at most {self.max_rows_per_unit} per unit)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("UnitValues are private and cannot be pickled or copied")
