"""Quantiles of a column of numbers, between public bounds or without, and a number that hardly any value exceeds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from dpselect import arguments, mechanisms, summaries
from dpselect.checks import decimal_fraction, finite_bounds, quantile_level
from dpselect.errors import InvalidParameterError
from dpselect.privacy import as_text
from dpselect.questions import records
from dpselect.questions.question import Columns, NumbersQuestion, Question

_SMALLEST_STEP = "It is 1 for ages in years, 0.01 for amounts in cents."
_STEP = f"{_SMALLEST_STEP} With `continuous=True` the answer can be far off if values repeat."


class Between(NumbersQuestion):
    """A question about quantiles between public bounds, of numbers or dates. Its subclasses are questions."""

    column: arguments.NumbersOrDates
    bounds: Any
    step: arguments.Step = None
    continuous: arguments.Continuous = False
    max_rows_per_unit: arguments.MaxRows = 1

    may_be_dates: ClassVar[bool] = True
    label: ClassVar[str] = "level"
    measure: ClassVar[str] = "{column}"

    def known(self, columns: Columns, /) -> Question:
        """With the distance between possible answers, or none if all numbers between the bounds were asked for.

        Neither is the default, except where a type says it: of repeated values, a draw among all numbers is most often
        in the widest gap between them, which says nothing about the rows.
        """
        step = self.step
        if self.continuous and step is not None:
            raise InvalidParameterError("continuous", True, "nothing, because a `step` is given")
        if step is None and not self.continuous:
            ends = () if summaries.are_dates(self.bounds) else finite_bounds(self.bounds)
            if ends and not columns.are_whole(self.column, *ends):
                expected = "the distance between possible answers, or `continuous=True`"
                raise InvalidParameterError("step", None, expected, _STEP)
            step = 1
        return replace(self, step=step)

    @classmethod
    def among(cls, release: records.Planned) -> str:
        count, what = release.candidates.get("count"), release.candidates.get("kind", "numbers")
        return super().among(release) if count is None else f"the {count:,} {what}"


class Median(Between, name="median"):
    """The median: the number below which about half of the values in `column` lie. It is the `quantile` at level 0.5.

    Returns:
        A number within the bounds; between two dates, a date.

    Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
    ``proofs/unbounded_quantiles.md``.

    >>> data.median("age", bounds=(0, 120), step=1, epsilon=1.0).value
    37.0
    """

    asks = "What is the median?"
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5")
    value = "float"

    bounds: arguments.BoundsIfKnown = None
    lower: arguments.LowerIfUnbounded = None

    error_unit = "ranks"
    unbounded: ClassVar[str] = f"{NumbersQuestion.unbounded}; with a step there is one"

    def known(self, columns: Columns, /) -> Question:
        """Without bounds it is another question."""
        if self.bounds is not None:
            if self.lower is not None:
                raise InvalidParameterError("lower", self.lower, "nothing, because `bounds` are given")
            return super().known(columns)
        if self.continuous:
            raise InvalidParameterError("continuous", True, "nothing, because there are no `bounds`")
        same = ("column", "epsilon", "step", "max_rows_per_unit", "neighbours")
        shared: dict[str, Any] = {each: getattr(self, each) for each in same}
        lower, level = 0.0 if self.lower is None else self.lower, quantile_level(getattr(self, "level", 0.5))
        return UnboundedQuantile(**shared, lower=lower, level=level).known(columns)

    @cached_property
    def mechanism(self) -> mechanisms.QuantileMechanism:
        """Its scale is in ranks."""
        return mechanisms.QuantileMechanism(level=getattr(self, "level", 0.5), **self.priced, **self.domain.arguments)

    @cached_property
    def terms(self) -> records.Planned:
        """The error is in ranks. Without a grid it has no bound for all data.

        If two values are close together, the interval between them has little probability, however good its rank; so
        distant answers cannot be ruled out without knowing the data.
        """
        drawn, grid, within = self.mechanism, self.domain.grid, None
        if grid is not None:  # it is the exponential mechanism among its points, the best of which has a score of 0
            moved: dict[str, Any] = {"sensitivity": drawn.sensitivity, "monotonic": drawn.monotonic}
            same = mechanisms.ExponentialMechanism(epsilon=drawn.epsilon, **moved)
            within = same.error_bound(grid.count, confidence=records.CONFIDENCE)
        return self.stated(
            drawn.sensitivity,
            "proofs/unit_values.md",
            "proofs/quantiles.md",
            monotonic=drawn.monotonic,
            candidates=self.domain.description(),
            error_bound=within,
            arguments={"level": drawn.level, "max_rows_per_unit": self.max_rows_per_unit},
        )

    @classmethod
    def within(cls, release: records.Planned, bound: float) -> str:
        step = release.candidates["step"]
        days = f" day{'s' * (step != 1)}" if "kind" in release.candidates else ""
        return f"{_near_quantile(release, bound)}, values rounded to steps of {as_text(step)}{days}"


class Quantile(Median, name="quantile"):
    """A quantile: a number below which about the share `level` of the values in `column` lies.

    0.5 is the median, and nine values in ten lie below the 0.9-quantile. Bounds are never the column's own minimum and
    maximum, which belong to two people.

    Returns:
        A number within the bounds. If there are none it may, very seldom, be the last possible answer, which says
        nothing.

    Proof: ``proofs/unit_values.md`` and ``proofs/exponential_mechanism.md``; without bounds
    ``proofs/unbounded_quantiles.md``.

    >>> release = data.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the released age is within 17 ranks of the true 0.9-quantile, values rounded to steps of 1,
    counting at most 1 row of each person_id.
    """

    asks = "Below which number do 90% of the values lie?"
    example = ("adult.csv hours_per_week 0.9", "--unit person_id --bounds 0 168 --step 1 --epsilon 0.5")
    positional = ("level",)

    level: arguments.Level


class Quantiles(Between, name="quantiles"):
    """Several quantiles: numbers below which about the shares `levels` of the values in `column` lie.

    Together they cost one `epsilon`, at most 100 for ``"joint"``.

    Returns:
        A list of numbers within the bounds, or of dates, one per level, in the order of `levels`.

    Proof: ``proofs/unit_values.md`` and ``proofs/joint_quantiles.md``; for halving ``proofs/quantiles.md``.

    >>> data.quantiles("age", [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1.0).value
    [28.0, 37.0, 48.0]
    """

    asks = "What are the quartiles?"
    example = ("adult.csv age 0.25,0.5,0.75", "--unit person_id --bounds 0 120 --step 1 --epsilon 0.5")
    positional = ("levels",)
    value = "list[float]"

    levels: arguments.Levels
    bounds: arguments.QuantileBounds
    method: arguments.Quantiles = "joint"

    unbounded: ClassVar[str] = "No bound on the error of several quantiles is stated"

    @cached_property
    def mechanism(self) -> mechanisms.QuantilesMechanism:
        levels: Any = self.levels  # made a tuple there
        return mechanisms.QuantilesMechanism(levels=levels, method=self.method, **self.priced, **self.domain.arguments)

    @cached_property
    def terms(self) -> records.Planned:
        drawn, is_joint = self.mechanism, self.mechanism.method == "joint"
        about: dict[str, Any] = {"levels": [*drawn.levels], "method": drawn.method}
        about["max_rows_per_unit"] = self.max_rows_per_unit
        # The range by which one unit moves scores apart, unless the sensitivity tells it; halving: at all of a depth.
        # Under another relation it differs, so that no certificate can be edited to claim that relation.
        score_range = drawn.score_range * (1 if is_joint else drawn.neighbours.changed(1))
        if not is_joint or score_range != drawn.sensitivity * (1.0 if drawn.monotonic else 2.0):
            about["score_range"] = score_range
        return self.stated(
            drawn.sensitivity,
            "proofs/unit_values.md",
            "proofs/joint_quantiles.md" if is_joint else "proofs/quantiles.md",
            rounds=1 if is_joint else len(drawn.levels),
            monotonic=drawn.monotonic,
            candidates=self.domain.description(),
            error_bound=None,
            arguments=about,
        )

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        levels = self.mechanism.levels
        if len(values) != len(levels) or not super().possible(values, units, counts):
            return False
        ordered = [value for _, value in sorted(zip(levels, values, strict=True))]
        return ordered == sorted(ordered)


def _near_quantile(release: records.Planned, bound: float) -> str:
    level = release.arguments["level"]
    truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
    return f"the released {release.column} is within {records.counted(math.ceil(bound), 'rank')} of the true {truth}"


class UpperBound(NumbersQuestion, name="upper_bound"):
    """A number that only few values in `column` are above, such as a bound to clip a `sum` by.

    The largest value belongs to one person and cannot be released. This is a number such that about as many values are
    above it as the noise is large: most often ``4 / epsilon``, never known to be more than ``release.error_bound``.
    Possible answers go up to 2^50 steps.

    Returns:
        A number. It is seldom far above all values, and very seldom the last possible answer, which says nothing
        (claim 6).

    Proof: ``proofs/unbounded_quantiles.md``.

    >>> release = data.upper_bound("hours_per_week", step=1, epsilon=0.5)
    >>> print(release.accuracy)
    With 99% confidence at most 48 values of hours_per_week are above the released bound, counting at most 1 row of each
    person_id.
    """

    asks = "Which number do hardly any values exceed?"
    example = ("adult.csv hours_per_week", "--unit person_id --step 1 --epsilon 0.5")
    value = "float"

    lower: arguments.Lower = 0.0
    step: arguments.SmallestStep = None
    max_rows_per_unit: arguments.MaxRows = 1

    error_unit = "ranks"
    measure: ClassVar[str] = "{column}"

    def known(self, columns: Columns, /) -> Question:
        """With the smallest distance between possible answers: 1 where the column's type says so."""
        step: Any = self.step
        if step is None:
            first = decimal_fraction(self.lower, "lower", expected="a finite number")
            if not columns.are_whole(self.column, first):
                expected = "the smallest distance between possible answers"
                raise InvalidParameterError("step", None, expected, _SMALLEST_STEP)
            step = 1
        return replace(self, step=step)

    @cached_property
    def mechanism(self) -> mechanisms.UnboundedQuantileMechanism:
        """The quantile at level 1."""
        step: Any = self.step  # known by now
        level = getattr(self, "level", 1.0)
        found = mechanisms.UnboundedQuantileMechanism(level=level, lower=self.lower, step=step, **self.priced)
        if found.error_bound(records.CONFIDENCE) >= records.LARGEST_COUNT:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful quantile")
        return found

    @cached_property
    def domain(self) -> summaries.PublicDomain:
        """From the first candidate to the last; values beyond count as these."""
        points = self.mechanism.candidates
        return summaries.PublicDomain(float(points[0]), float(points[-1]), is_open=True)

    @cached_property
    def terms(self) -> records.Planned:
        from dpselect.mechanisms.quantiles import rank_sensitivity

        drawn, domain = self.mechanism, self.domain
        most, relation = self.max_rows_per_unit, self.neighbours
        moved, monotonic = rank_sensitivity(drawn.level, values_per_unit=most, neighbours=relation)
        ends = {"lower": domain.lower, "upper": domain.upper, "step": float(drawn.step)}
        return self.stated(
            moved,
            "proofs/unit_values.md",
            "proofs/unbounded_quantiles.md",
            monotonic=monotonic,
            candidates={"source": "growing", **ends, "growth": drawn.growth, "count": drawn.candidates.size},
            error_bound=drawn.error_bound(records.CONFIDENCE),
            arguments={"level": drawn.level, "max_rows_per_unit": most},
        )

    @classmethod
    def within(cls, release: records.Planned, bound: float) -> str:
        return f"at most {records.counted(math.floor(bound), 'value')} of {release.column} are above the released bound"

    @classmethod
    def beyond(cls, release: records.Planned, answer: records.Value | list[records.Value]) -> str:
        """The last candidate is released if none passes, wherever the values are."""
        if answer != release.candidates["upper"]:
            return ""
        last = f"The last possible answer, {as_text(answer)}, is released if too many values exceed all others"
        return f"{last}, so any number of values of {release.column} may exceed it. A larger step reaches further."

    @classmethod
    def among(cls, release: records.Planned) -> str:
        share = as_text(round(100.0 * (release.candidates["growth"] - 1.0), 6))
        apart = f"{as_text(release.candidates['step'])} apart, later {share}%"
        return f"{release.candidates['count']:,} numbers ({apart})"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        return all(records.is_number(each) and each in self.mechanism.candidates for each in values)


class UnboundedQuantile(UpperBound, name="unbounded_quantile"):
    """A quantile of a column of which no upper bound is known: candidates that grow apart, tested in order."""

    level: arguments.Level

    label: ClassVar[str] = "level"

    @classmethod
    def within(cls, release: records.Planned, bound: float) -> str:
        lowest = as_text(release.candidates["lower"])
        below = f"those below {lowest} counted as {lowest}"
        return f"{_near_quantile(release, bound)}, values rounded up to possible answers, {below}"
