"""A number that hardly any value of a column exceeds: a bound to clip by, found without the largest value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpselect.questions.unbounded_quantile import UnboundedQuantile
from dpselect.questions.wording import counted

if TYPE_CHECKING:
    from dpselect.questions.question import Planned


@dataclass(frozen=True, kw_only=True)
class UpperBound(UnboundedQuantile):
    """Which number does hardly any value exceed? The quantile at level 1.

    Proof: ``proofs/unbounded_quantiles.md``, claims 5 and 6.
    """

    name: ClassVar[str] = "upper_bound"

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["upper bound"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"at most {counted(math.floor(bound), 'value')} of {release.column} are above the released bound"
