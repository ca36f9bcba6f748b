"""A quantile of a column of numbers between bounds of which the upper one is found first, with a part of epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import decimal_fraction, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.private_bounds import PrivateBoundsMechanism
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.count import LARGEST_COUNT
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms, Value
from dpselect.questions.scores import rank_sensitivity
from dpselect.questions.unbounded_quantile import last_of_all
from dpselect.questions.wording import as_text, counted, counting_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent
    from dpselect.questions.stated import Stated


@dataclass(frozen=True, kw_only=True)
class PrivateBoundsQuantile(ValuesQuestion):
    """Below which number does a given share of the values lie, between a public lower and a private upper bound?

    Attributes:
        mechanism: draws the bound and the quantile, at the whole cost.
    """

    name: ClassVar[str] = "private_bounds_quantile"
    error_units: ClassVar[tuple[str, ...]] = ("ranks",)
    measure: ClassVar[str] = "{column}"

    mechanism: PrivateBoundsMechanism

    @classmethod
    def planned(
        cls,
        level: float,
        *,
        lower: float | Fraction,
        step: float | Fraction | None,
        epsilon: float,
        max_rows_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: an argument is out of range, or `epsilon` too small for an answer to be of use.

        >>> PrivateBoundsQuantile.planned(0.5, lower=0, step=1, epsilon=0.5).mechanism.bound.epsilon
        0.125
        """
        mechanism = PrivateBoundsMechanism(
            epsilon=epsilon,
            level=level,
            lower=lower,
            step=step,
            neighbours=neighbours,
            values_per_unit=positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT),
        )
        if mechanism.bound.error_bound(CONFIDENCE) >= LARGEST_COUNT:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful quantile")
        return cls(mechanism=mechanism)

    @property
    def max_rows_per_unit(self) -> int:
        """The most values of one unit."""
        return self.mechanism.values_per_unit

    @property
    def domain(self) -> PublicDomain:
        """From the first possible bound to the last; values beyond count as these."""
        points = self.mechanism.bound.candidates
        return PublicDomain(float(points[0]), float(points[-1]), is_open=True)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unit_values.md`` (the sensitivity), ``proofs/unbounded_quantiles.md`` (the bound, and both draws
        together) and ``proofs/quantiles.md`` (the quantile).
        """
        mechanism, bound = self.mechanism, self.mechanism.bound
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            rounds=2,
            epsilon=mechanism.epsilon,
            sensitivity=rank_sensitivity(
                mechanism.level, max_rows_per_unit=self.max_rows_per_unit, neighbours=mechanism.neighbours
            ),
            candidates={
                "source": "growing",
                "lower": self.domain.lower,
                "upper": self.domain.upper,
                "step": float(bound.step),
                "growth": bound.growth,
                "count": bound.candidates.size,
            },
            error_bound=mechanism.error_bound(CONFIDENCE),
            proofs=("proofs/unbounded_quantiles.md", "proofs/quantiles.md"),
            arguments={
                "level": mechanism.level,
                "max_rows_per_unit": self.max_rows_per_unit,
                "continuous": mechanism.step is None,
            },
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        mechanism = self.mechanism
        about = {"level": mechanism.level, "lower": mechanism.lower, "step": mechanism.step}
        return {**about, "bounds": "private", "rows": self.max_rows_per_unit}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values between the first and the last possible bound, at most `max_rows_per_unit` of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.max_rows_per_unit)

    def draw(self, summary: UnitValues, /) -> float:
        """A number that is not below the lower bound, by values gathered for this question."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)

    label: ClassVar[str] = "level"
    unbounded: ClassVar[str] = f"{Question.unbounded}; with a step there is one"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [as_text(release.arguments["level"])]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        level = release.arguments["level"]
        truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
        step, lowest = (as_text(release.candidates[name]) for name in ("step", "lower"))
        grid = f"values rounded to steps of {step}, those below {lowest} counted as {lowest}"
        return (
            f"the released {release.column} is within {counted(math.ceil(bound), 'rank')} of the true {truth}, {grid}"
        )

    @classmethod
    def exceeds(cls, release: Planned, answer: Value | list[Value]) -> bool:
        """See `Question.exceeds`. The last bound is used if too many values are above all others."""
        return answer == release.candidates["upper"]

    @classmethod
    def excess(cls, release: Planned) -> str:
        """See `Question.excess`."""
        return last_of_all(release)

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        step = as_text(release.candidates["step"])
        numbers = "all numbers" if release.arguments["continuous"] else f"numbers {step} apart"
        ends = f"from {as_text(release.candidates['lower'])} to a bound found with a quarter of epsilon"
        return f"out of {numbers} {ends}{counting_rows(release)}"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        fields.object_with(held["candidates"], "candidates", fields.GROWING)
        expected = {"level": fields.level, **fields.ROWS, "continuous": fields.boolean}
        stated = fields.object_with(held.get("arguments", {}), "arguments", expected)
        return AnswerFields(fields.number, has_bound=not stated["continuous"])

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        given = stated.arguments
        question = cls.planned(
            given["level"],
            lower=stated.public["lower"],
            step=None if given["continuous"] else stated.public["step"],
            max_rows_per_unit=given["max_rows_per_unit"],
            **stated.price,
        )
        if question.terms.candidates != stated.public:
            raise fields.wrong("candidates", "the possible bounds that the lower bound and the step give")
        return question

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        if not stated.spans(values):
            return False
        if stated.arguments["continuous"]:
            return True
        lower, step = (
            decimal_fraction(stated.public[name], name, expected="a finite number") for name in ("lower", "step")
        )
        return all(float(lower + round((Fraction(value) - lower) / step) * step) == value for value in values)
