"""A number that hardly any value of a column exceeds, and quantiles without bounds: found without the largest value."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import mechanisms, summaries
from dpselect.arguments import Epsilon, Level, Lower, MaxRows, Numbers, SmallestStep
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Columns
from dpselect.questions.numbers import NumbersQuestion, near_quantile, smallest_step
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Drawn, Terms, as_text, counted, from_rows, is_number

if TYPE_CHECKING:
    from dpselect.mechanisms import UnboundedQuantileMechanism
    from dpselect.questions.question import Planned, Value
    from dpselect.summaries import PublicDomain, UnitValues


class UpperBound(NumbersQuestion, name="upper_bound"):
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

    error_units: ClassVar[tuple[str, ...]] = ("ranks",)
    measure: ClassVar[str] = "{column}"

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`."""
        step = smallest_step(columns, self.column, self.lower, self.step)
        return replace(self, step=step, neighbours=neighbours)

    @cached_property
    def mechanism(self) -> UnboundedQuantileMechanism:
        """What draws, once, at the whole cost: the quantile at level 1."""
        found = mechanisms.UnboundedQuantileMechanism(
            epsilon=self.epsilon,
            level=getattr(self, "level", 1.0),
            lower=self.lower,
            step=self.step,  # type: ignore[arg-type] # known by now
            neighbours=self.neighbours,
            values_per_unit=self.most,
        )
        if found.error_bound(CONFIDENCE) >= LARGEST_COUNT:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful quantile")
        return found

    @cached_property
    def domain(self) -> PublicDomain:
        """From the first candidate to the last; values beyond count as these."""
        points = self.mechanism.candidates
        return summaries.PublicDomain(float(points[0]), float(points[-1]), is_open=True)

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unit_values.md`` (the sensitivity) and ``proofs/unbounded_quantiles.md`` (the draw).
        """
        from dpselect.questions.scores import rank_sensitivity

        mechanism = self.mechanism
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=rank_sensitivity(mechanism.level, max_rows_per_unit=self.most, neighbours=mechanism.neighbours),
            candidates={
                "source": "growing",
                "lower": self.domain.lower,
                "upper": self.domain.upper,
                "step": float(mechanism.step),
                "growth": mechanism.growth,
                "count": mechanism.candidates.size,
            },
            error_bound=mechanism.error_bound(CONFIDENCE),
            proofs=("proofs/unbounded_quantiles.md",),
            arguments={"level": mechanism.level, "max_rows_per_unit": self.most},
        )

    def released(self, summary: UnitValues, /) -> Drawn:
        """One of the candidates."""
        return Drawn(self.mechanism.draw(self.values(summary)))

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"at most {counted(math.floor(bound), 'value')} of {release.column} are above the released bound"

    @classmethod
    def exceeds(cls, release: Planned, answer: Value | list[Value]) -> bool:
        """See `Question.exceeds`. The last candidate is released if none passes, wherever the values are."""
        return answer == release.candidates["upper"]

    @classmethod
    def excess(cls, release: Planned) -> str:
        """See `Question.excess`."""
        last = as_text(release.candidates["upper"])
        return (
            f"The last possible answer, {last}, is released if too many values exceed all others, so any number of "
            f"values of {release.column} may exceed it. A larger step reaches further."
        )

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        share = as_text(round(100.0 * (release.candidates["growth"] - 1.0), 6))
        apart = f"{as_text(release.candidates['step'])} apart, later {share}%"
        return from_rows(release, f"{release.candidates['count']:,} numbers ({apart})")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        return len(values) == 1 and all(is_number(each) and each in self.mechanism.candidates for each in values)


class UnboundedQuantile(UpperBound, name="unbounded_quantile"):
    """A quantile of a column of which no upper bound is known: candidates that grow apart, tested in order."""

    level: Level

    label: ClassVar[str] = "level"

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        lowest = as_text(release.candidates["lower"])
        below = f"those below {lowest} counted as {lowest}"
        return f"{near_quantile(release, bound)}, values rounded up to possible answers, {below}"
