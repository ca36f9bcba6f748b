"""The mean and the variance of a column of numbers, from noisy sums or over a public number of units."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import mechanisms
from dpselect.accounting.rounding import fraction_up
from dpselect.arguments import Bounds, Epsilon, FineStep, Numbers, Units
from dpselect.checks import finite_bounds, positive_count
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.declared import Columns
from dpselect.questions.numbers import NumbersQuestion, are_whole
from dpselect.questions.question import CONFIDENCE, Drawn, Terms, as_text, counted, from_rows, is_number
from dpselect.questions.wording import rounded_up

if TYPE_CHECKING:
    from dpselect.mechanisms import GeometricMechanism, MeanMechanism
    from dpselect.questions.moment_sums import MomentSums
    from dpselect.questions.question import Planned, Value
    from dpselect.summaries import UnitValues

FINE_STEPS = 10**6
"""Steps between the bounds, where the caller gives no step. Rounding to them is far less than any noise."""


class Moment(NumbersQuestion):
    """A question that noisy sums answer, of one value of each unit. Its subclasses are questions."""

    column: Numbers
    bounds: Bounds
    epsilon: Epsilon
    step: FineStep = None

    degree: ClassVar[int]
    bounds_value: ClassVar[bool] = True

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`. There is always a grid between the bounds; the answer need not be on it."""
        step = self.step
        if step is None:
            lower, upper = finite_bounds(self.bounds)
            step = 1 if are_whole(columns, self.column, self.bounds) else (upper - lower) / FINE_STEPS
        return replace(self, step=step, neighbours=neighbours)

    @cached_property
    def sums(self) -> MomentSums:
        """The noisy sums, at the whole cost."""
        from dpselect.questions.moment_sums import MomentSums

        assert self.domain.grid is not None
        return MomentSums.planned(self.domain.grid, self.degree, epsilon=self.epsilon, neighbours=self.neighbours)

    @property
    def mechanism(self) -> GeometricMechanism | MeanMechanism:
        """What adds noise to each of the sums."""
        return self.sums.mechanism

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the moment.

        Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.
        """
        sums, noise = self.sums, self.sums.mechanism
        return Terms(
            task=self.name,
            mechanism=type(noise).__name__,
            epsilon=noise.epsilon,
            sensitivity=Sensitivity(
                fraction_up(noise.sensitivity * sums.grid.step**self.degree),
                monotonic=noise.neighbours is Neighbours.ADD_REMOVE,
                neighbours=noise.neighbours,
                proof="proofs/moments.md",
            ),
            candidates=self.domain.description(),
            error_bound=sums.error_bound,
            proofs=("proofs/geometric_mechanism.md",),
            arguments={"max_rows_per_unit": 1},
            usable=sums.usable,
        )

    def released(self, summary: UnitValues, /) -> Drawn:
        """The moment, and the number of units."""
        sums = self.sums
        noisy = sums.draw(self.values(summary))
        return Drawn(sums.mean(noisy) if self.degree == 1 else sums.variance(noisy), usable=[sums.units(noisy)])

    @classmethod
    def shown(cls, value: Value) -> Value:
        """See `Question.shown`. Ten digits; the certificate has all."""
        return float(f"{value:.10g}") if isinstance(value, float) else value

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, "all numbers")


class Mean(Moment, name="mean"):
    """The mean of the values in `column`, over all units that have one.

    The number of units with a value is private. It is released together with the mean, in ``release.usable``, at no
    additional cost, unless you know it: then `units` says it (with groups, in each), and `usable_epsilon` may be given.
    If a unit has several rows, one is chosen at random. The noise grows with the distance between the bounds.

    Returns:
        A number within the bounds. Without `units`, ``release.error_bound`` is the bound on the error times the
        released number of units.

    Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``; with `units` ``proofs/means.md``, claims 5 and
    6, and ``proofs/laplace_mechanism.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.mean("age", bounds=(0, 120), step=0.5, epsilon=1.0)
    >>> abs(release.value - 38.58) < 0.1  # 38.58 in truth
    True
    >>> abs(release.usable.count - 32_561) < 30
    True
    """

    asks = "What is the mean?"
    does = "Find the mean of one value per unit, and the number of units that have one."
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --epsilon 0.5")
    value = "float"

    units: Units = None

    degree: ClassVar[int] = 1
    error_units: ClassVar[tuple[str, ...]] = ("value", "sum")
    measure: ClassVar[str] = "mean of {column}"

    @cached_property
    def over_units(self) -> MeanMechanism | None:
        """What draws over a public number of units, with the midpoint for one without a value; None: it is private."""
        from dpselect.mechanisms.mean import MOST_UNITS

        domain: dict[str, Any] = self.domain.arguments
        if self.units is None:
            return None
        count = positive_count(self.units, "units", at_most=MOST_UNITS)
        return mechanisms.MeanMechanism(epsilon=self.epsilon, neighbours=self.neighbours, count=count, **domain)

    @property
    def mechanism(self) -> GeometricMechanism | MeanMechanism:
        """What draws, at the whole cost: once, or each of two sums."""
        return self.over_units or self.sums.mechanism

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the column.

        Proof: ``proofs/means.md``, claims 5 and 6, and ``proofs/laplace_mechanism.md``; of a private number of units
        ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.
        """
        mechanism = self.over_units
        if mechanism is None:
            return super().terms
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=Sensitivity(
                mechanism.sensitivity_for(),
                monotonic=False,
                neighbours=mechanism.neighbours,
                proof="proofs/means.md",
            ),
            candidates=self.domain.description(),
            error_bound=mechanism.error_bound(confidence=CONFIDENCE),
            proofs=("proofs/laplace_mechanism.md",),
            arguments={"units": mechanism.count, "max_rows_per_unit": 1},
        )

    def released(self, summary: UnitValues, /) -> Drawn:
        """A number within the bounds; with the number of units if it is private."""
        if self.over_units is None:
            return super().released(summary)
        return Drawn(self.over_units.draw(self.values(summary)))

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        if "units" not in release.arguments:
            return _said(cls, release, f"{rounded_up(bound)} / n")
        near = f"within {rounded_up(bound)} of the mean of {counted(release.arguments['units'], 'unit')}"
        return f"the released mean is {near}, units without a value counted as the midpoint"

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`.

        Proof: ``proofs/moments.md``, claim 5.
        """
        if "units" in release.arguments or release.error_bound is None:
            return release.error_bound
        if units is None:
            return None
        width = _width(release)
        return min(width, _up(release.error_bound / units)) if units else width

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """See `Question.possible_values`. Values outside the bounds count as the nearer one, and so does their mean."""
        return release.candidates["lower"], release.candidates["upper"]

    @classmethod
    def error_unit(cls, release: Planned) -> str:
        """See `Question.error_unit`. The error of a mean of a private number of units is stated times that number."""
        return "value" if "units" in release.arguments else "sum"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. A mean is of values on the grid, and need not be on it."""
        lower, upper = self.domain.lower, self.domain.upper
        return len(values) == 1 and all(is_number(each) and lower <= each <= upper for each in values)


class Variance(Moment, name="variance"):
    """The variance of the values in `column`, over all units that have one; its root is the standard deviation.

    It is the mean squared distance from the mean: the sum is divided by the number of units. That number is private,
    and is released together with the variance, in ``release.usable``, at no additional cost. If a unit has several
    rows, one is chosen at random. The noise grows with the square of the distance between the bounds, which may have at
    most 2^26 steps.

    Returns:
        A number from 0 to ``(upper - lower)**2 / 4``. ``release.error_bound`` is, up to a smaller term that its
        sentence states, the bound on the error times the released number of units.

    Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.variance("age", bounds=(0, 120), step=1, epsilon=1.0)
    >>> abs(release.value - 186.1) < 6  # 186.06 in truth; the standard deviation is 13.64
    True
    """

    asks = "How widely are the values spread?"
    does = (
        "Find the variance of one value per unit, and the number of units that have one. Its square root is the"
        " standard deviation."
    )
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --epsilon 0.5")
    value = "float"

    degree: ClassVar[int] = 2
    error_units: ClassVar[tuple[str, ...]] = ("sum of squares",)
    measure: ClassVar[str] = "variance of {column}"
    is_amount: ClassVar[bool] = True

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """See `Question.possible_values`. At most half of the units are at either bound."""
        return 0.0, _width(release) ** 2 / 4.0

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`.

        Proof: ``proofs/moments.md``, claim 6.
        """
        if units is None or release.error_bound is None:
            return None
        width = _width(release)
        if not units:
            return width**2 / 4.0
        linear = release.error_bound / units
        return min(width**2 / 4.0, _up(linear + 2.25 * (linear / width) ** 2))

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return _said(cls, release, f"{rounded_up(bound)} / n + ({rounded_up(1.5 * bound / _width(release))} / n)^2")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        largest = (self.domain.upper - self.domain.lower) ** 2 / 4.0 * (1.0 + 1e-9)
        return len(values) == 1 and all(is_number(each) and 0.0 <= each <= largest for each in values)


def _said(kind: type[Moment], release: Planned, formula: str) -> str:
    """How far a released moment may be from the true one: by the released number n of units, or by a formula with n."""
    count = None if release.usable is None else release.usable.count
    known = kind.value_bound(release, count) if isinstance(count, int) else None
    within, units = (formula, ", n the released number of units") if known is None else (rounded_up(known), "")
    rounding = f"values rounded to steps of {as_text(release.candidates['step'])}"
    return f"the released {kind.name} is within {within} of the true one{units}, {rounding}"


def _width(release: Planned) -> float:
    return release.candidates["upper"] - release.candidates["lower"]


def _up(bound: float) -> float:
    """Above what a few roundings have lost."""
    return bound * (1.0 + 2.0**-48)
