"""Statistics of a column of numbers: quantiles, a mean, a variance, a density, and a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dpselect import questions
from dpselect.arguments import decimal_fraction, finite_bounds
from dpselect.errors import InvalidParameterError
from dpselect.questions.arguments import (
    BinBounds,
    Bins,
    Bounds,
    BoundsIfKnown,
    Continuous,
    Epsilon,
    FineStep,
    Level,
    Levels,
    Lower,
    LowerIfUnbounded,
    MaxRows,
    Numbers,
    SampleSize,
    SmallestStep,
    Step,
    Units,
    UnitsOfSample,
)
from dpselect.questions.arguments import (
    Density as DensityMethod,
)
from dpselect.questions.arguments import (
    Quantiles as QuantilesMethod,
)
from dpselect.questions.declared import Columns, Price, Question

if TYPE_CHECKING:
    from dpselect.questions.question import Question as Planned

_WHOLE = 2**52
"""Below it, a step of 1 is one that doubles distinguish."""


class Median(Question, name="median"):
    """The median: the number below which about half of the values in `column` lie. It is `quantile` at level 0.5.

    Returns:
        A number within the bounds.

    Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
    ``proofs/unbounded_quantiles.md``.

    Ages are whole years and repeat, so this example uses a step of one year:

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> people.median("age", bounds=(0, 120), step=1, epsilon=1.0).value
    37.0
    """

    asks = "What is the median?"
    does = "Find the median: about half of the values lie below it."
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5")
    value = "float"
    page = "quantiles"

    column: Numbers
    bounds: BoundsIfKnown = None
    epsilon: Epsilon
    lower: LowerIfUnbounded = None
    step: Step = None
    continuous: Continuous = False
    max_rows_per_unit: MaxRows = 1

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import PublicDomain

        level: float = getattr(self, "level", 0.5)
        if self.bounds is None:
            if self.continuous:
                raise InvalidParameterError("continuous", True, "False, because there are no bounds")
            first = 0.0 if self.lower is None else self.lower
            about: dict[str, Any] = {"lower": first, "step": smallest_step(columns, self.column, first, self.step)}
            about["max_rows_per_unit"] = self.max_rows_per_unit
            return questions.UnboundedQuantile.planned(level, **about, **price)
        if self.lower is not None:
            raise InvalidParameterError("lower", self.lower, "None, because bounds are given")
        step = step_between(columns, self.column, self.bounds, self.step, continuous=self.continuous)
        domain = PublicDomain.given(self.bounds, step=step)
        return questions.Quantile.planned(level, domain, max_rows_per_unit=self.max_rows_per_unit, **price)


class Quantile(Median, name="quantile"):
    """A quantile: a number below which about the share `level` of the values in `column` lies.

    0.5 is the median, and nine values in ten lie below the 0.9-quantile. Bounds are never the column's own minimum and
    maximum, which belong to two people.

    Returns:
        A number within the bounds. If there are none it may, very seldom, be the last possible answer, which says
        nothing.

    Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
    ``proofs/unbounded_quantiles.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0)
    >>> 57 <= release.value <= 59  # 58 in truth
    True
    >>> print(release.accuracy)
    With 99% confidence the released age is within 17 ranks of the true 0.9-quantile, values rounded to steps of 1,
    counting at most 1 row of each person_id.
    """

    asks = "Below which number do 90% of the values lie?"
    does = "Find the quantile at LEVEL: about this share of the values lies below it. 0.5 is the median."
    example = ("adult.csv hours_per_week 0.9", "--unit person_id --bounds 0 168 --step 1 --epsilon 0.5")
    also = (("And without known bounds?", ("adult.csv hours_per_week 0.9", "--unit person_id --step 1 --epsilon 0.5")),)
    positional = ("level",)
    page = "quantiles"

    level: Level


class Quantiles(Question, name="quantiles"):
    """Several quantiles: numbers below which about the shares `levels` of the values in `column` lie.

    Together they cost one `epsilon`, at most 100 for ``"joint"``.

    Returns:
        A list of numbers within the bounds, one per level, in the order of `levels`.

    Proof: ``proofs/unit_values.md`` and ``proofs/joint_quantiles.md``; for halving ``proofs/quantiles.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> people.quantiles("age", [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1.0).value
    [28.0, 37.0, 48.0]
    """

    asks = "What are the quartiles?"
    does = "Find several quantiles at the cost of one epsilon."
    example = ("adult.csv age 0.25,0.5,0.75", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5")
    positional = ("levels",)
    value = "list[float]"

    column: Numbers
    levels: Levels
    bounds: Bounds
    epsilon: Epsilon
    step: Step = None
    continuous: Continuous = False
    max_rows_per_unit: MaxRows = 1
    method: QuantilesMethod = "joint"

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import PublicDomain

        step = step_between(columns, self.column, self.bounds, self.step, continuous=self.continuous)
        about: dict[str, Any] = {"max_rows_per_unit": self.max_rows_per_unit, "method": self.method}
        return questions.Quantiles.planned(self.levels, PublicDomain.given(self.bounds, step=step), **about, **price)


class UpperBound(Question, name="upper_bound"):
    """A number that only few values in `column` are above, such as a bound to clip a `sum` by.

    The largest value belongs to one person and cannot be released. This is a number such that about as many values are
    above it as the noise is large: most often ``4 / epsilon``, never known to be more than ``release.error_bound``.
    Possible answers go up to 2^50 steps.

    Returns:
        A number. It is seldom far above all values, and very seldom the last possible answer, which says nothing
        (claim 6).

    Proof: ``proofs/unbounded_quantiles.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.upper_bound("hours_per_week", step=1, epsilon=0.5)
    >>> release.value > 80  # the largest value is 99
    True
    >>> print(release.accuracy)
    With 99% confidence at most 48 values of hours_per_week are above the released bound, counting at most 1 row of each
    person_id.
    """

    asks = "Which number do hardly any values exceed?"
    does = "Find a number that only a few values exceed, such as a bound to clip a sum by."
    example = ("adult.csv hours_per_week", "--unit person_id --step 1 --epsilon 0.5")
    value = "float"

    column: Numbers
    epsilon: Epsilon
    lower: Lower = 0.0
    step: SmallestStep = None
    max_rows_per_unit: MaxRows = 1

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        step = smallest_step(columns, self.column, self.lower, self.step)
        about: dict[str, Any] = {"lower": self.lower, "step": step, "max_rows_per_unit": self.max_rows_per_unit}
        return questions.UpperBound.planned(1.0, **about, **price)


class Mean(Question, name="mean"):
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

    column: Numbers
    bounds: Bounds
    epsilon: Epsilon
    step: FineStep = None
    units: Units = None

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        domain = _fine(columns, self.column, self.bounds, self.step)
        return questions.Mean.planned(domain, units=self.units, **price)


class Variance(Question, name="variance"):
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

    column: Numbers
    bounds: Bounds
    epsilon: Epsilon
    step: FineStep = None

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        return questions.Variance.planned(_fine(columns, self.column, self.bounds, self.step), **price)


class Density(Question, name="density"):
    """The distribution of the values in `column`: the share of the units in each bin.

    If a unit has several rows, one is chosen at random. ``examples/densities`` measures both methods. In a sample,
    units without a value, or not in the table, make the shares add up to less than 1.

    Returns:
        A list of `bins` shares.

    Proof: ``proofs/noisy_histograms.md`` and ``proofs/density.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.density("age", bounds=(0, 120), bins=4, epsilon=1.0)
    >>> [round(share, 2) for share in release.value]
    [0.3, 0.62, 0.08, 0.0]
    """

    asks = "What share of the units falls in each bin?"
    does = "Find how the values are distributed: the share of the units in each bin."
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --bins 12 --epsilon 0.5")
    value = "list[float]"

    column: Numbers
    bounds: BinBounds
    bins: Bins
    epsilon: Epsilon
    method: DensityMethod = "counts"
    units: UnitsOfSample = None
    sample_size: SampleSize = None

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import PublicBins

        about: dict[str, Any] = {"method": self.method, "units": self.units, "sample_size": self.sample_size}
        return questions.Density.planned(PublicBins.given(self.bounds, self.bins), **about, **price)


_STEP = (
    "It is 1 for ages in years, 0.01 for amounts in cents. With continuous=True the answer is any number between the"
    " bounds; it can be far off if values repeat."
)
_SMALLEST_STEP = "It is 1 for ages in years, 0.01 for amounts in cents."


def step_between(columns: Columns, column: str, bounds: object, step: Any, *, continuous: bool) -> Any:
    """The distance between possible answers; None if the caller asked for all numbers between the bounds.

    Neither is the default, except where a type says it: of repeated values, a draw among all numbers is most often in
    the widest gap between them, which says nothing about the rows.
    """
    if continuous and step is not None:
        raise InvalidParameterError("continuous", True, "False, because a step is given")
    if step is not None or continuous:
        return step
    if _is_whole(columns, column, bounds):
        return 1
    raise InvalidParameterError("step", None, "the distance between possible answers, or continuous=True", _STEP)


def smallest_step(columns: Columns, column: str, lower: object, step: Any) -> Any:
    """The smallest distance between possible answers without an upper bound: 1 where the type says so."""
    if step is not None:
        return step
    first = decimal_fraction(lower, "lower", expected="a finite number")
    if columns.is_whole(column) and first.denominator == 1 and abs(first) < _WHOLE:
        return 1
    raise InvalidParameterError("step", None, "the smallest distance between possible answers", _SMALLEST_STEP)


def _fine(columns: Columns, column: str, bounds: object, step: Any) -> Any:
    """The bounds of a moment, with a grid between them: its answer need not be on it."""
    from dpselect.summaries import PublicDomain

    if step is None:
        lower, upper = finite_bounds(bounds)
        step = 1 if _is_whole(columns, column, bounds) else (upper - lower) / questions.FINE_STEPS
    return PublicDomain.given(bounds, step=step)


def _is_whole(columns: Columns, column: str, bounds: object) -> bool:
    """Whether the column's type and the bounds are of whole numbers."""
    ends = finite_bounds(bounds)
    return columns.is_whole(column) and all(end.denominator == 1 and abs(end) < _WHOLE for end in ends)
