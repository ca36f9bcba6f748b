"""The mean of a column of numbers over a public number of units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.arguments import finite_bounds, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import MeanMechanism
from dpselect.mechanisms.mean import MOST_UNITS
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions import fields
from dpselect.questions.command import BOUNDS, Command, Option
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.numbers import ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, Planned, RowReader, Terms
from dpselect.questions.stated import Stated
from dpselect.questions.wording import counted, counting_rows, from_rows, rounded_up
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues


@dataclass(frozen=True, kw_only=True)
class Mean(ValuesQuestion):
    """The mean over a public number of units: units without a value count as the midpoint of the bounds.

    Attributes:
        domain: the public bounds, and the grid that values are rounded to.
        mechanism: draws once, at the whole cost.
        units: the number of units, as publicly known.
    """

    name: ClassVar[str] = "mean"
    error_units: ClassVar[tuple[str, ...]] = ("value",)
    measure: ClassVar[str] = "mean of {column}"
    bounds_value: ClassVar[bool] = True
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="mean",
            asks="What is the mean?",
            does="Find the mean of one value per unit. The number of units has to be public.",
            example=("adult.csv age", "--unit person_id --bounds 0 120 --step 0.5 --units 32561 --epsilon 0.5"),
            options=(
                BOUNDS,
                Option(
                    "step",
                    "exact",
                    "Values are rounded to multiples of this above the lower bound; it has to divide the distance"
                    " between the bounds.",
                ),
                Option("units", "whole", "Number of units, as publicly known."),
            ),
        ),
    )

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
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Args:
            domain: with a grid.
            units: a whole number from 1 to 10^9.
            epsilon: privacy loss of the release, > 0.
            neighbours: which data sets the guarantee compares.

        Raises:
            InvalidParameterError: an argument is out of range.

        >>> question = Mean.planned(PublicDomain.given((0, 120), step=1), units=600, epsilon=0.5)
        >>> question.mechanism.scale  # (120 / 2) / units / epsilon
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
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the column.

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
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"domain": self.domain, "units": self.units}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values on the grid, one of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=1)

    def draw(self, summary: UnitValues, /) -> float:
        """A number within the bounds, by values gathered with this question's domain, one of each unit."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=1).values)

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["mean"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        near = f"within {rounded_up(bound)} of the mean of {counted(release.arguments['units'], 'unit')}"
        return f"the released mean is {near}, units without a value counted as the midpoint"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, "all numbers")

    @classmethod
    def tolerance(cls, candidates: Mapping[str, Any]) -> float:
        """Each bound is rounded to a double, and read as a decimal."""
        lower, upper = (float(candidates[end]) for end in ("lower", "upper"))
        rounding = 2.0 * math.ulp(max(abs(lower), abs(upper))) / (upper - lower)
        return super().tolerance(candidates) + rounding

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        fields.object_with(held["candidates"], "candidates", fields.GRID)
        expected = {"units": fields.count, "max_rows_per_unit": fields.whole(1, 1)}
        fields.object_with(held.get("arguments", {}), "arguments", expected)
        return AnswerFields(fields.number)

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`. The step does not matter, and is the distance between the bounds here."""
        lower, upper = finite_bounds(stated.ends)
        wide = PublicDomain.given((lower, upper), step=upper - lower)
        return replace(cls.planned(wide, units=stated.arguments["units"], **stated.price), domain=stated.domain())

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        stated.has_on_grid([])  # a mean is of values on the grid, and need not be on it
        return stated.spans(values)
