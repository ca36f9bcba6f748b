"""The mean and the variance of a column of numbers of which only a lower bound is known."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.errors import InvalidParameterError
from dpselect.grids import Grid
from dpselect.mechanisms.private_bounds import FINEST_BOUND
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.bound_first import BetweenPrivateBounds, BoundFirst
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.moments import FARTHEST, MomentSums, mean_error, variance_error
from dpselect.questions.numbers import ValuesQuestion, gathered_for
from dpselect.questions.question import Answered, Drawn, Planned, RowReader, Terms, Value
from dpselect.questions.wording import as_text, counting_rows, rounded_up
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent
    from dpselect.questions.stated import Stated

STEPS = 2**26
"""Between the bounds, whichever is found: as many as squares allow. Bounds double, so that whole numbers stay whole."""


@dataclass(frozen=True, kw_only=True)
class PrivateBoundsMoments(BetweenPrivateBounds, ValuesQuestion):
    """A moment of one value per unit, between a public lower bound and an upper one that is found first.

    The upper bound is found by the numbers of values above each possible one. Then noisy sums of the units' shares of
    the distance between both bounds are drawn. What a unit's shares add up to does not depend on the bound, so neither
    does the noise of the sums. The error grows with the distance.

    Attributes:
        first: how the bound is found.
        sums: of shares of a distance of 1.
    """

    degree: ClassVar[int]
    said: ClassVar[str]
    """What is released, in a sentence."""

    first: BoundFirst
    sums: MomentSums

    @classmethod
    def planned(
        cls,
        *,
        lower: float | Fraction = 0.0,
        step: float | Fraction | None = None,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Args:
            lower: the lower bound.
            step: distance of the smallest possible upper bound from it; None: `FINEST_BOUND`.
            epsilon: privacy loss of the release, > 0.
            neighbours: which data sets the guarantee compares.

        Raises:
            InvalidParameterError: an argument is out of range, or `epsilon` too small for an answer to be of use.

        >>> question = PrivateBoundsMean.planned(step=1, epsilon=1.0)
        >>> question.cuts[:5], question.sums.mechanism.epsilon
        ((0.0, 1.0, 2.0, 4.0, 8.0), 0.5)
        """
        apart = FINEST_BOUND if step is None else step
        first = BoundFirst.planned(lower=lower, step=apart, epsilon=epsilon, neighbours=neighbours)
        grid, far = first.bound.grid, FARTHEST[cls.degree]
        if abs(grid.lower) > far:
            raise InvalidParameterError("lower", lower, f"a number from -{float(far):g} to {float(far):g}")
        if grid.step < 1 / far or grid.exact(first.bound.candidates.size - 1) > far:
            expected = (
                f"a step of which the possible bounds are at least {1.0 / float(far):g} apart, up to {float(far):g}"
            )
            raise InvalidParameterError("step", apart, expected)
        unit = Grid(Fraction(0), Fraction(1, STEPS), STEPS + 1)
        sums = MomentSums.planned(unit, cls.degree, epsilon=first.left, neighbours=first.bound.neighbours)
        return cls(first=first, sums=sums)

    @property
    def cuts(self) -> tuple[float, ...]:
        """The lower bound, and all possible upper bounds."""
        return tuple(self.first.bound.candidates.tolist())

    def below(self, place: int) -> MomentSums:
        """The sums of shares, if the upper bound is the end at this place."""
        lower, upper = (self.first.bound.grid.exact(each) for each in (0, place))
        count = self.sums.grid.count
        grid = Grid(lower, (upper - lower) / (count - 1), count)
        return MomentSums(grid=grid, degree=self.degree, mechanism=self.sums.mechanism)

    @property
    def domain(self) -> PublicDomain:
        """From the lower bound to the last possible upper one; values beyond count as these."""
        return PublicDomain(self.cuts[0], self.cuts[-1], is_open=True)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `released` is called."""
        return self.first.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; the error bound is in distances between the bounds.

        Proof: ``proofs/clipping_bounds.md``, claim 7 (the bound, and all draws together), ``proofs/moments.md`` (the
        sums) and ``proofs/geometric_mechanism.md``.
        """
        return Terms(
            task=self.name,
            mechanism=type(self.first.bound).__name__,
            rounds=2,
            epsilon=self.first.epsilon,
            sensitivity=self.first.moved,
            candidates=self.first.candidates(self.cuts),
            error_bound=self.sums.error_bound,
            proofs=("proofs/moments.md", "proofs/geometric_mechanism.md"),
            arguments={"max_rows_per_unit": 1},
            usable=self.sums.usable,
            bound=self.first.released,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        bound = self.first.bound
        return {"lower": bound.lower, "step": bound.step, "bounds": "private"}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values between the lower bound and the last possible upper one, one of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=1)

    def draw(self, summary: UnitValues, /) -> Answered:
        """The moment alone: see `released`."""
        return self.released(summary).answer

    def released(self, summary: UnitValues, /) -> Drawn:
        """The moment, the number of units and the bound."""
        values = gathered_for(summary, self.domain, most=1).values
        bound = self.first.bound.draw(values)
        sums = self.below(self.cuts.index(bound))
        noisy = sums.draw(values)
        return Drawn(self._moment(sums, noisy), usable=[sums.units(noisy)], bounds=[bound])

    @classmethod
    @abstractmethod
    def _moment(cls, sums: MomentSums, noisy: list[int]) -> float:
        """The answer by noisy sums."""

    @classmethod
    @abstractmethod
    def _error(cls, bound: float, width: float, units: int) -> float:
        """How far an answer may be from the truth, by the released number of units."""

    @classmethod
    @abstractmethod
    def _formula(cls, bound: float) -> str:
        """The same before the draw, with n for the number of units and w for the distance."""

    @classmethod
    def width(cls, release: Planned) -> float | None:
        """The distance between the bounds; None before the draw, and with groups."""
        known = cls.exact_bound(release)
        return None if known is None else _distance(release.candidates, known)

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """See `Question.possible_values`."""
        known = cls.exact_bound(release)
        last = release.candidates["upper"]
        return cls._span(release.candidates, last if known is None else known)

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`."""
        width = cls.width(release)
        if units is None or width is None or release.error_bound is None:
            return None
        return cls._error(release.error_bound, width, units)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        count = None if release.usable is None else release.usable.count
        known = cls.value_bound(release, count) if isinstance(count, int) else None
        lower = release.candidates["lower"]
        low = f"those below {as_text(lower)} counted as {as_text(lower)}"
        if known is not None:
            steps = rounded_up((cls.width(release) or 0.0) / STEPS)
            near = f"the released {cls.said} is within {rounded_up(known)} of the true one"
            return f"{near}, values rounded to steps of {steps}, {low}"
        away = "w the bound" if lower == 0.0 else f"w the distance from {as_text(lower)} to the bound"
        formula = f"{cls._formula(bound)} of the true one, {away}, n the released number of units"
        return f"the released {cls.said} is within {formula}, values rounded to steps of w / {STEPS:,}, {low}"

    @classmethod
    def shown(cls, value: Value) -> Value:
        """See `Question.shown`. Ten digits; the certificate has all."""
        return float(f"{value:.10g}") if isinstance(value, float) else value

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of all numbers {cls.spanned(release)}, from at most 1 row of each {release.unit}"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        cls.check_growing(held, {"max_rows_per_unit": fields.whole(1, 1)})
        return AnswerFields(fields.number)

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        public = stated.public
        return cls.checked(cls.planned(lower=public["lower"], step=public["step"], **stated.price), stated)

    @classmethod
    def possible_bounds(cls, stated: Stated) -> Iterable[float]:
        """See `Question.possible_bounds`."""
        return cls.restated(stated).cuts[1:]

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        return cls.allows_below(values, stated.public["upper"], stated)

    @classmethod
    def allows_below(cls, values: list[Any], bound: float, stated: Stated) -> bool:
        """See `Question.allows_below`."""
        least, most = cls._span(stated.public, bound)
        return all(least <= value <= most for value in values)

    @classmethod
    @abstractmethod
    def _span(cls, candidates: Mapping[str, Any], bound: float) -> tuple[float, float]:
        """The least and the largest answer below this bound."""


def _distance(candidates: Mapping[str, Any], bound: float) -> float:
    """From the lower bound to a possible upper one: a power of 2 of steps. Of two doubles it could be less exact."""
    step = candidates["step"]
    return step * 2.0 ** round(math.log2((bound - candidates["lower"]) / step))


@dataclass(frozen=True, kw_only=True)
class PrivateBoundsMean(PrivateBoundsMoments):
    """The mean of one value per unit, between a public lower and a private upper bound."""

    name: ClassVar[str] = "private_bounds_mean"
    error_units: ClassVar[tuple[str, ...]] = ("widths",)
    measure: ClassVar[str] = "mean of {column}"
    bounds_value: ClassVar[bool] = True
    degree: ClassVar[int] = 1
    said: ClassVar[str] = "mean"

    @classmethod
    def _moment(cls, sums: MomentSums, noisy: list[int]) -> float:
        return sums.mean(noisy)

    @classmethod
    def _span(cls, candidates: Mapping[str, Any], bound: float) -> tuple[float, float]:
        return candidates["lower"], bound

    @classmethod
    def _error(cls, bound: float, width: float, units: int) -> float:
        return mean_error(bound * width, width, units)

    @classmethod
    def _formula(cls, bound: float) -> str:
        return f"{rounded_up(bound)} w / n"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["mean"]


@dataclass(frozen=True, kw_only=True)
class PrivateBoundsVariance(PrivateBoundsMoments):
    """The variance of one value per unit, between a public lower and a private upper bound."""

    name: ClassVar[str] = "private_bounds_variance"
    error_units: ClassVar[tuple[str, ...]] = ("squared widths",)
    measure: ClassVar[str] = "variance of {column}"
    is_amount: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True
    degree: ClassVar[int] = 2
    said: ClassVar[str] = "variance"

    @classmethod
    def _moment(cls, sums: MomentSums, noisy: list[int]) -> float:
        return sums.variance(noisy)

    @classmethod
    def _span(cls, candidates: Mapping[str, Any], bound: float) -> tuple[float, float]:
        return 0.0, _distance(candidates, bound) ** 2 / 4.0 * (1.0 + 1e-9)

    @classmethod
    def _error(cls, bound: float, width: float, units: int) -> float:
        return variance_error(bound * width**2, width, units)

    @classmethod
    def _formula(cls, bound: float) -> str:
        return f"{rounded_up(bound)} w^2 / n + ({rounded_up(1.5 * bound)} w / n)^2"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["variance"]
