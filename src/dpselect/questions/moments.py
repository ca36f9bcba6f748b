r"""The mean and the spread of a column of numbers, from noisy sums, each as accurate as if it alone were released.

With a unit's value as a share :math:`u` of the distance between the bounds, they are the sums of :math:`1 - u` and
:math:`u`, or of :math:`(1 - u)^2`, :math:`2u(1 - u)` and :math:`u^2`: one unit adds shares that add up to 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from dpselect import arguments, mechanisms, summaries
from dpselect.checks import finite_bounds, fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import as_text
from dpselect.questions import records
from dpselect.questions.question import Columns, NumbersQuestion
from dpselect.questions.wording import rounded_up

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from dpselect.grids import Grid

_MOST_STEPS = {1: 2**53, 2: 2**26}  # by degree: the sensitivity of the sums is a whole number that a double holds

_FARTHEST = {1: Fraction(10) ** 150, 2: Fraction(10) ** 75}
"""A bound beyond this, or bounds closer than one over this, would take sums and errors out of the range of doubles."""


class Moment(NumbersQuestion):
    """A question that noisy sums answer, of one value of each unit. Its subclasses are questions."""

    bounds: arguments.Bounds
    step: arguments.FineStep = None

    example = ("adult.csv age", "--unit person_id --bounds 0 120 --epsilon 0.5")
    value = "float"
    degree: ClassVar[int]
    root_of: ClassVar[str] = ""  # what the bound is about, unless a number of units is released
    bounds_value: ClassVar[bool] = True
    digits: ClassVar[str] = ".10g"

    def known(self, columns: Columns, /) -> Self:
        """There is always a grid between the bounds; the answer need not be on it."""
        step = self.step
        if step is None:
            lower, upper = finite_bounds(self.bounds)
            # Rounding to a millionth is far less than any noise.
            step = 1 if columns.are_whole(self.column, lower, upper) else (upper - lower) / 10**6
        return replace(self, step=step)

    @cached_property
    def grid(self) -> Grid:
        """The public grid that values are rounded to."""
        return cast("Grid", self.domain.grid)

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism:
        """What adds noise to each of the sums, at one cost for all."""
        grid, degree = self.grid, self.degree
        far = _FARTHEST[degree]
        if max(abs(grid.lower), abs(grid.upper)) > far or grid.width < 1 / far:
            got, most = Shown(f"({float(grid.lower)!r}, {float(grid.upper)!r})"), f"{float(far):g}"
            expected = f"bounds from -{most} to {most}, at least {1.0 / float(far):g} apart"
            raise InvalidParameterError("bounds", got, expected, "Tight bounds also need less noise.")
        if grid.count - 1 > _MOST_STEPS[degree]:
            expected = f"a larger step: at most {_MOST_STEPS[degree]:,} of them between the bounds"
            raise InvalidParameterError("step", float(grid.step), expected)
        moved = self.neighbours.changed(self.whole)
        return mechanisms.GeometricMechanism(epsilon=self.epsilon, sensitivity=moved, neighbours=self.neighbours)

    @property
    def whole(self) -> int:
        """What one unit's shares add up to."""
        return (self.grid.count - 1) ** self.degree

    def exact(self, values: NDArray[float64]) -> list[int]:
        """The sums of the units' shares, in whole numbers; private."""
        from dpselect.mechanisms.mean import exact_sum, grid_indices

        places, last, units = grid_indices(values, self.grid), self.grid.count - 1, int(values.size)
        total = exact_sum(places)
        if self.degree == 1:
            return [units * last - total, total]
        squares = exact_sum(places * places)
        return [units * last**2 - 2 * last * total + squares, 2 * (last * total - squares), squares]

    def units_by(self, noisy: list[int]) -> int:
        """The number of units by noisy sums, rounded down; at least 0."""
        return records.released_count(sum(noisy) // self.whole)

    @abstractmethod
    def moment(self, noisy: list[int]) -> float:
        """The moment by noisy sums."""

    @cached_property
    def terms(self) -> records.Planned:
        """The bound is that of the mean, or of the variance up to a smaller term, times the released number of units.

        Proof: ``proofs/moments.md``, claims 4 to 6.
        """
        noise, sums = self.mechanism, self.degree + 1
        units_within = -(-noise.total_error_bound(sums, records.CONFIDENCE) // self.whole)
        if not units_within <= 2**53:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful answer")
        within: int | Fraction = noise.error_bound(records.CONFIDENCE, size=sums)
        if self.degree == 1:
            exponent = Fraction(-math.log1p(-records.CONFIDENCE) * (1.0 + 1e-12))
            within = min(within, exponent * noise.sensitivity / Fraction(noise.epsilon) + 1)
        return self.stated(
            fraction_up(noise.sensitivity * self.grid.step**self.degree),
            "proofs/moments.md",
            "proofs/geometric_mechanism.md",
            candidates=self.domain.description(),
            error_bound=fraction_up(Fraction(within) * self.grid.width**self.degree / self.whole),
            arguments={"max_rows_per_unit": 1},
            usable=records.NoisyUnits(within=units_within),
        )

    def released(self, summary: summaries.UnitValues, /) -> records.Drawn:
        # All sums together cost epsilon, because the noise is made for all.
        noisy = [self.mechanism.draw(each) for each in self.exact(self.values(summary))]
        return records.Drawn(self.moment(noisy), usable=self.units_by(noisy))

    @classmethod
    def value_bound(cls, release: records.Planned, units: int | None, value: Any) -> float | None:
        """Proof: ``proofs/moments.md``, claims 5 and 6."""
        if units is None or release.error_bound is None:
            return None
        width, is_mean = _width(release), cls.degree == 1
        most = width if is_mean else width**2 / 4.0
        if not units:
            return most
        linear = release.error_bound / units
        return min(most, _up(linear if is_mean else linear + 2.25 * (linear / width) ** 2))

    @classmethod
    def possible_values(cls, release: records.Planned) -> tuple[float, float]:
        """A mean within the bounds; a variance up to that of two halves at either."""
        lower, upper = release.candidates["lower"], release.candidates["upper"]
        return (lower, upper) if cls.degree == 1 else (0.0, (upper - lower) ** 2 / 4.0)

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """As far as doubles can tell."""
        low, high = self.possible_values(self.terms)
        most = high if self.degree == 1 else high * (1.0 + 1e-9)
        return all(records.is_number(each) and low <= each <= most for each in values)

    @classmethod
    def within(cls, release: records.Planned, bound: float) -> str:
        """How far it may be from the true one: by the released number n of units, or by a formula with n."""
        units, value = release.units_in(), getattr(release, "value", None)  # of what is only planned there is no value
        known = cls.value_bound(release, units, value) if isinstance(units, int) else None
        what, step = cls.measure.partition(" of ")[0], as_text(release.candidates["step"])
        of, within, n = cls.root_of, f"{rounded_up(bound)} / n", ", n the released number of units"
        if cls.degree == 2:
            within += f" + ({rounded_up(1.5 * bound / _width(release))} / n)^2"
        if known is not None:
            of, within, n = "", rounded_up(known), ""
        return f"{of}the released {what} is within {within} of the true one{n}, values rounded to steps of {step}"


class Mean(Moment, name="mean"):
    """The mean of one value per unit in `column`, and the number of units that have one.

    The number of units with a value is private, and is released together with the mean, in ``release.usable``, at no
    additional cost. If a unit has several rows, one is chosen at random. The noise grows with the distance between the
    bounds.

    Returns:
        A number within the bounds. ``release.error_bound`` is the bound on the error times the released number of
        units.

    Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.

    >>> release = data.mean("age", bounds=(0, 120), step=0.5, epsilon=1.0)
    >>> abs(release.value - 38.58) < 0.1  # 38.58 in truth
    True
    """

    asks = "What is the mean?"

    degree: ClassVar[int] = 1
    error_unit = "sum"
    measure: ClassVar[str] = "mean of {column}"

    def moment(self, noisy: list[int]) -> float:
        """The mean, within the bounds; their midpoint if there seem to be no units."""
        share = min(max(Fraction(noisy[1], sum(noisy)), 0), 1) if sum(noisy) > 0 else Fraction(1, 2)
        return float(self.grid.lower + self.grid.width * share)


class Variance(Moment, name="variance"):
    """The variance of one value per unit in `column`, and the number of units that have one; its root is the `std`.

    It is the mean squared distance from the mean: the sum is divided by the number of units. That number is private,
    and is released together with the variance, in ``release.usable``, at no additional cost. If a unit has several
    rows, one is chosen at random. The noise grows with the square of the distance between the bounds, which may have at
    most 2^26 steps.

    Returns:
        A number from 0 to ``(upper - lower)**2 / 4``. ``release.error_bound`` is, up to a smaller term that its
        sentence states, the bound on the error times the released number of units.

    Proof: ``proofs/moments.md`` and ``proofs/geometric_mechanism.md``.

    >>> release = data.variance("age", bounds=(0, 120), step=1, epsilon=1.0)
    >>> abs(release.value - 186.1) < 6  # 186.06 in truth; the standard deviation is 13.64
    True
    """

    asks = "How widely are the values spread?"

    degree: ClassVar[int] = 2
    error_unit = "sum of squares"
    measure: ClassVar[str] = "variance of {column}"
    is_amount: ClassVar[bool] = True

    def moment(self, noisy: list[int]) -> float:
        """The variance, at most a quarter of the squared width; half of that if there is no unit."""
        total, most = sum(noisy), Fraction(1, 4)
        if total <= 0:
            return float(self.grid.width**2 * most / 2)
        mean, square = Fraction(noisy[1] + 2 * noisy[2], 2 * total), Fraction(noisy[2], total)
        return float(self.grid.width**2 * min(max(square - mean**2, 0), most))


class Std(Variance, name="std"):
    """The standard deviation of the values in `column`: the square root of the `variance`, at the same cost.

    Returns:
        A number from 0 to ``(upper - lower) / 2``. ``release.error_bound`` is that of the variance.

    Proof: ``proofs/moments.md``, claim 7, and ``proofs/geometric_mechanism.md``.

    >>> release = data.std("age", bounds=(0, 120), step=1, epsilon=1.0)
    >>> abs(release.value - 13.64) < 0.3  # 13.64 in truth
    True
    """

    asks = "How far from the mean are the values?"

    root_of: ClassVar[str] = "the square of "
    measure: ClassVar[str] = "standard deviation of {column}"

    def moment(self, noisy: list[int]) -> float:
        return math.sqrt(super().moment(noisy))

    @classmethod
    def possible_values(cls, release: records.Planned) -> tuple[float, float]:
        return 0.0, _width(release) / 2.0

    @classmethod
    def value_bound(cls, release: records.Planned, units: int | None, value: Any) -> float | None:
        """Proof: ``proofs/moments.md``, claim 7."""
        of_square = super().value_bound(release, units, value)
        if of_square is None or not records.is_number(value):
            return None
        least = max(0.0, value**2 - of_square)
        below = value if not least else of_square / (value + math.sqrt(least))
        return _up(max(below, math.sqrt(value**2 + of_square) - value))


def _width(release: records.Planned) -> float:
    return release.candidates["upper"] - release.candidates["lower"]


def _up(bound: float) -> float:
    """Above what a few roundings have lost."""
    return bound * (1.0 + 2.0**-48)
