"""The mean of a column of numbers, over a public number of units or over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.accounting.rounding import fraction_up
from dpselect.arguments import positive_count
from dpselect.mechanisms import GeometricMechanism, MeanMechanism
from dpselect.mechanisms.mean import MOST_UNITS
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.moments import MomentSums, mean_within, said_of
from dpselect.questions.numbers import ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, Planned, RowReader, Terms, Value, is_number
from dpselect.questions.wording import counted, counting_rows, from_rows, rounded_up
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent, PureEvent


@dataclass(frozen=True, kw_only=True)
class Mean(ValuesQuestion):
    """The mean of one value per unit.

    Over a public number of units, those without a value count as the midpoint of the bounds. Otherwise the number of
    units with a value is private, and is released together with the mean.

    Attributes:
        domain: the public bounds, and the grid that values are rounded to.
        mechanism: draws at the whole cost: once, or each of two sums.
        units: the number of units, as publicly known; None: private.
    """

    name: ClassVar[str] = "mean"
    error_units: ClassVar[tuple[str, ...]] = ("value", "sum")
    measure: ClassVar[str] = "mean of {column}"
    bounds_value: ClassVar[bool] = True

    domain: PublicDomain
    mechanism: MeanMechanism | GeometricMechanism
    units: int | None

    @classmethod
    def planned(
        cls,
        domain: PublicDomain,
        *,
        units: object = None,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Args:
            domain: with a grid.
            units: a whole number from 1 to 10^9, or None.
            epsilon: privacy loss of the release, > 0.
            neighbours: which data sets the guarantee compares.

        Raises:
            InvalidParameterError: an argument is out of range.

        >>> ages = PublicDomain.given((0, 120), step=1)
        >>> question = Mean.planned(ages, units=600, epsilon=0.5)
        >>> question.mechanism.scale  # (120 / 2) / units / epsilon
        0.2
        >>> Mean.planned(ages, epsilon=0.5).mechanism.scale  # 120 / epsilon, of sums
        240.0
        """
        if units is None:
            assert domain.grid is not None
            sums = MomentSums.planned(domain.grid, 1, epsilon=epsilon, neighbours=neighbours)
            return cls(domain=domain, mechanism=sums.mechanism, units=None)
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
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent | PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the column.

        Proof: ``proofs/means.md``, claims 5 and 6, and ``proofs/laplace_mechanism.md``; of a private number of units
        ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.
        """
        mechanism = self.mechanism
        if isinstance(mechanism, MeanMechanism):
            moved, bound = mechanism.sensitivity, mechanism.error_bound(confidence=CONFIDENCE)
        else:
            sums = self._sums(mechanism)
            moved, bound = fraction_up(mechanism.sensitivity * sums.grid.step), sums.error_bound
        is_private = self.units is None
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=Sensitivity(
                moved,
                monotonic=is_private and mechanism.neighbours is Neighbours.ADD_REMOVE,
                neighbours=mechanism.neighbours,
                proof="proofs/moments.md" if is_private else "proofs/means.md",
            ),
            candidates=self.domain.description(),
            error_bound=bound,
            proofs=("proofs/geometric_mechanism.md" if is_private else "proofs/laplace_mechanism.md",),
            arguments={**({} if is_private else {"units": self.units}), "max_rows_per_unit": 1},
            usable=None if isinstance(mechanism, MeanMechanism) else self._sums(mechanism).usable,
        )

    def _sums(self, mechanism: GeometricMechanism) -> MomentSums:
        assert self.domain.grid is not None
        return MomentSums(grid=self.domain.grid, degree=1, mechanism=mechanism)

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values on the grid, one of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=1)

    def draw(self, summary: UnitValues, /) -> Answered:
        """A number within the bounds, by values gathered with this question's domain, one of each unit."""
        return self.released(summary).answer

    def released(self, summary: UnitValues, /) -> Drawn:
        """See `Priced.released`."""
        values, mechanism = gathered_for(summary, self.domain, most=1).values, self.mechanism
        if isinstance(mechanism, MeanMechanism):
            return Drawn(mechanism.draw(values))
        sums = self._sums(mechanism)
        noisy = sums.draw(values)
        return Drawn(sums.mean(noisy), usable=[sums.units(noisy)])

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["mean"]

    @classmethod
    def shown(cls, value: Value) -> Value:
        """See `Question.shown`. Ten digits; the certificate has all."""
        return float(f"{value:.10g}") if isinstance(value, float) else value

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        if "units" not in release.arguments:
            count = None if release.usable is None else release.usable.count
            known = cls.value_bound(release, count) if isinstance(count, int) else None
            return said_of("mean", release, f"{rounded_up(bound)} / n", known)
        near = f"within {rounded_up(bound)} of the mean of {counted(release.arguments['units'], 'unit')}"
        return f"the released mean is {near}, units without a value counted as the midpoint"

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`."""
        if "units" in release.arguments:
            return release.error_bound
        return None if units is None else mean_within(release, units)

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """See `Question.possible_values`. Values outside the bounds count as the nearer one, and so does their mean."""
        return release.candidates["lower"], release.candidates["upper"]

    @classmethod
    def error_unit(cls, release: Planned) -> str:
        """See `Question.error_unit`. The error of a mean of a private number of units is stated times that number."""
        return "value" if "units" in release.arguments else "sum"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, "all numbers")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. A mean is of values on the grid, and need not be on it."""
        return len(values) == 1 and all(
            is_number(each) and self.domain.lower <= each <= self.domain.upper for each in values
        )
