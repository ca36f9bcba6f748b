"""The variance of a column of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.accounting.rounding import fraction_up
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.moments import MomentSums, said_of, variance_within
from dpselect.questions.numbers import ValuesQuestion, gathered_for
from dpselect.questions.question import Answered, Drawn, Planned, RowReader, Terms, Value, is_number
from dpselect.questions.wording import counting_rows, from_rows, rounded_up
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent
    from dpselect.mechanisms import GeometricMechanism


@dataclass(frozen=True, kw_only=True)
class Variance(ValuesQuestion):
    """The variance of one value per unit, over all units that have one; their number is private.

    Attributes:
        domain: the public bounds, and the grid that values are rounded to.
        mechanism: adds noise to each of three sums, at the whole cost.
    """

    name: ClassVar[str] = "variance"
    error_units: ClassVar[tuple[str, ...]] = ("sum of squares",)
    measure: ClassVar[str] = "variance of {column}"
    is_amount: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    domain: PublicDomain
    mechanism: GeometricMechanism

    @classmethod
    def planned(cls, domain: PublicDomain, *, epsilon: float, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Self:
        """The question, planned for a cost of `epsilon`.

        Args:
            domain: with a grid.
            epsilon: privacy loss of the release, > 0.
            neighbours: which data sets the guarantee compares.

        Raises:
            InvalidParameterError: an argument is out of range.

        >>> question = Variance.planned(PublicDomain.given((0, 120), step=1), epsilon=0.5)
        >>> question.mechanism.scale  # 120**2 / epsilon, of sums of squares
        28800.0
        """
        assert domain.grid is not None
        sums = MomentSums.planned(domain.grid, 2, epsilon=epsilon, neighbours=neighbours)
        return cls(domain=domain, mechanism=sums.mechanism)

    @property
    def _sums(self) -> MomentSums:
        assert self.domain.grid is not None
        return MomentSums(grid=self.domain.grid, degree=2, mechanism=self.mechanism)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in squared units of the column.

        Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.
        """
        sums = self._sums
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                fraction_up(self.mechanism.sensitivity * sums.grid.step**2),
                monotonic=self.mechanism.neighbours is Neighbours.ADD_REMOVE,
                neighbours=self.mechanism.neighbours,
                proof="proofs/moments.md",
            ),
            candidates=self.domain.description(),
            error_bound=sums.error_bound,
            proofs=("proofs/geometric_mechanism.md",),
            arguments={"max_rows_per_unit": 1},
            usable=sums.usable,
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values on the grid, one of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=1)

    def draw(self, summary: UnitValues, /) -> Answered:
        """A number from 0 to a quarter of the squared width, by values gathered with this question's domain."""
        return self.released(summary).answer

    def released(self, summary: UnitValues, /) -> Drawn:
        """See `Priced.released`."""
        sums = self._sums
        noisy = sums.draw(gathered_for(summary, self.domain, most=1).values)
        return Drawn(sums.variance(noisy), usable=[sums.units(noisy)])

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["variance"]

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """See `Question.possible_values`. At most half of the units are at either bound."""
        return 0.0, (release.candidates["upper"] - release.candidates["lower"]) ** 2 / 4.0

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`."""
        return None if units is None else variance_within(release, units)

    @classmethod
    def shown(cls, value: Value) -> Value:
        """See `Question.shown`. Ten digits; the certificate has all."""
        return float(f"{value:.10g}") if isinstance(value, float) else value

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        count = None if release.usable is None else release.usable.count
        known = cls.value_bound(release, count) if isinstance(count, int) else None
        width = release.candidates["upper"] - release.candidates["lower"]
        planned = f"{rounded_up(bound)} / n + ({rounded_up(1.5 * bound / width)} / n)^2"
        return said_of("variance", release, planned, known)

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, "all numbers")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        largest = (self.domain.upper - self.domain.lower) ** 2 / 4.0 * (1.0 + 1e-9)
        return len(values) == 1 and all(is_number(each) and 0.0 <= each <= largest for each in values)
