"""Several quantiles of a column of numbers, drawn together, between public bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import positive_count
from dpselect.mechanisms import QuantilesMechanism, QuantilesMethod
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for, numbers_between
from dpselect.questions.question import Planned, RowReader, Terms, Value
from dpselect.questions.wording import as_text, counting_rows, from_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, ComposedEvent


@dataclass(frozen=True, kw_only=True)
class Quantiles(ValuesQuestion):
    """Below which numbers do given shares of the values lie? Planned from public arguments; sees values only later.

    Attributes:
        domain: the public set the answers are drawn from.
        mechanism: draws all of them, at the whole cost.
    """

    name: ClassVar[str] = "quantiles"
    gives_list: ClassVar[bool] = True
    measure: ClassVar[str] = "{column}"

    domain: PublicDomain
    mechanism: QuantilesMechanism

    @classmethod
    def planned(
        cls,
        levels: Sequence[float],
        domain: PublicDomain,
        *,
        epsilon: float,
        max_rows_per_unit: object = 1,
        method: QuantilesMethod = "joint",
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `levels` are not different numbers from 0 to 1, `max_rows_per_unit` not a whole
                number from 1 to 10^9, or `epsilon` or `method` not what `QuantilesMechanism` takes.

        >>> question = Quantiles.planned([0.25, 0.5, 0.75], PublicDomain.given((0, 120)), epsilon=0.5)
        >>> question.mechanism.sensitivity
        0.75
        """
        mechanism = QuantilesMechanism(
            epsilon=epsilon,
            levels=levels,  # type: ignore[arg-type] # made a tuple there
            method=method,
            neighbours=neighbours,
            values_per_unit=positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT),
            **domain.arguments,
        )
        return cls(domain=domain, mechanism=mechanism)

    @property
    def max_rows_per_unit(self) -> int:
        """The most values of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent | ComposedEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unit_values.md`` (the rows) and ``proofs/joint_quantiles.md`` or ``proofs/quantiles.md``.
        """
        is_joint = self.mechanism.method == "joint"
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            rounds=1 if is_joint else len(self.mechanism.levels),
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                self.mechanism.sensitivity,
                monotonic=self.mechanism.monotonic,
                neighbours=self.mechanism.neighbours,
                proof="proofs/unit_values.md",
            ),
            candidates=self.domain.description(),
            error_bound=None,
            proofs=("proofs/joint_quantiles.md" if is_joint else "proofs/quantiles.md",),
            arguments={
                "levels": list(self.mechanism.levels),
                "max_rows_per_unit": self.max_rows_per_unit,
                "method": self.mechanism.method,
                **self._noise_made_for,
            },
        )

    @property
    def _noise_made_for(self) -> dict[str, Any]:
        """The range by which one unit moves scores apart (with halving, at all nodes of a depth), if not clear from the
        sensitivity.

        Under another relation the number differs, so that no certificate can be edited to claim that relation.
        """
        mechanism = self.mechanism
        if mechanism.method == "halving":
            nodes = 2 if mechanism.neighbours is Neighbours.REPLACE_ONE else 1
            return {"score_range": nodes * mechanism.score_range}
        told = mechanism.sensitivity * (1.0 if mechanism.monotonic else 2.0)
        return {} if mechanism.score_range == told else {"score_range": mechanism.score_range}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values within the bounds, at most `max_rows_per_unit` of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.max_rows_per_unit)

    def draw(self, summary: UnitValues, /) -> list[Value]:
        """One number for each level, in their order, by values gathered for this question."""
        values = gathered_for(summary, self.domain, most=self.max_rows_per_unit)
        return list(self.mechanism.draw(values.values))

    label: ClassVar[str] = "level"
    unbounded: ClassVar[str] = "No bound on the error of several quantiles is stated"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [as_text(level) for level in release.arguments["levels"]]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        raise AssertionError("no bound on the error of several quantiles is known")

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, numbers_between(release))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        levels = self.mechanism.levels
        if len(values) != len(levels) or not all(map(self.domain.may_hold, values)):
            return False
        ordered = [value for _, value in sorted(zip(levels, values, strict=True))]
        return ordered == sorted(ordered)
