"""The mean of a column of numbers over a public number of units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import MeanMechanism
from dpselect.mechanisms.mean import MOST_UNITS
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.release import CONFIDENCE
from dpselect.summaries import PublicDomain, UnitValues
from dpselect.tasks.numbers import gathered_for
from dpselect.tasks.task import Task, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Task[UnitValues]):
    """The mean over a public number of units: units without a value count as the midpoint of the bounds.

    Attributes:
        domain: the public bounds, and the grid that values are rounded to.
        mechanism: draws once, at the whole cost.
        units: the number of units, as publicly known.
    """

    name: ClassVar[str] = "mean"

    domain: PublicDomain
    mechanism: MeanMechanism
    units: int

    @classmethod
    def planned(
        cls,
        domain: PublicDomain,
        *,
        units: object,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Mean:
        """The question, planned for a cost of `epsilon`.

        Args:
            domain: with a grid.
            units: a whole number from 1 to 10^9.
            epsilon: privacy loss of the release, > 0.
            neighbours: which data sets the guarantee compares.

        Raises:
            InvalidParameterError: an argument is out of range.

        >>> task = Mean.planned(PublicDomain.given((0, 120), step=1), units=600, epsilon=0.5)
        >>> task.mechanism.scale  # (120 / 2) / units / epsilon
        0.2
        """
        if units is None:
            hint = "Give the number of units as publicly known; a median does not need it."
            raise InvalidParameterError("units", units, "a whole number >= 1", hint)
        count = positive_count(units, "units", at_most=MOST_UNITS)
        mechanism = MeanMechanism(
            epsilon=epsilon,
            bounds=domain.arguments["bounds"],
            step=domain.arguments.get("step"),  # type: ignore[arg-type] # refused there if there is none
            neighbours=neighbours,
            count=count,
        )
        return cls(domain=domain, mechanism=mechanism, units=count)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    @property
    def terms(self) -> Terms:
        """What the certificate will say; sensitivity and error bound are in the unit of the column.

        Proof: ``proofs/means.md``, claims 5 and 6, and ``proofs/laplace_mechanism.md``.
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                self.mechanism.sensitivity,
                monotonic=False,
                neighbours=self.mechanism.neighbours,
                proof="proofs/means.md",
            ),
            candidates=self.domain.description(),
            error_bound=self.mechanism.error_bound(confidence=CONFIDENCE),
            proofs=("proofs/laplace_mechanism.md",),
            arguments={"units": self.units, "max_rows_per_unit": 1},
        )

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"domain": self.domain, "units": self.units}

    def draw(self, summary: UnitValues, /) -> float:
        """A number within the bounds, by values gathered with this task's domain, one of each unit."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=1).values)
