"""Questions whose upper bound is found first, with half of epsilon, and then answered between bounds with the rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.accounting import PureEvent
from dpselect.accounting.rounding import fraction_down
from dpselect.arguments import positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ClippingBoundMechanism
from dpselect.mechanisms.unbounded_quantile import LEAST_EPSILON
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions import fields
from dpselect.questions.question import Planned, ReleasedBound
from dpselect.questions.wording import as_text

if TYPE_CHECKING:
    from dpselect.questions.fields import Fields
    from dpselect.questions.stated import Stated


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundFirst:
    """A bound, found with half of epsilon, and what is left for the answer.

    Attributes:
        epsilon: privacy loss of both together.
        bound: draws the bound.
        left: for the answer.

    Proof: ``proofs/clipping_bounds.md``, claim 5.

    >>> BoundFirst.planned(lower=0, step=1, epsilon=1.0).bound.epsilon
    0.5
    """

    epsilon: float
    bound: ClippingBoundMechanism
    left: float

    @classmethod
    def planned(
        cls,
        *,
        lower: float | Fraction,
        step: float | Fraction,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The plan for a cost of `epsilon`.

        Raises:
            InvalidParameterError: an argument is out of range, or `epsilon` too small for an answer to be of use.
        """
        whole = positive_epsilon(epsilon)
        if whole < 2.0 * LEAST_EPSILON:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful answer")
        bound = ClippingBoundMechanism(epsilon=whole / 2.0, step=step, lower=lower, neighbours=neighbours)
        return cls(epsilon=whole, bound=bound, left=fraction_down(Fraction(whole) - Fraction(bound.epsilon)))

    @property
    def event(self) -> PureEvent:
        """What both draws cost."""
        return PureEvent(epsilon=self.epsilon)

    @property
    def moved(self) -> Sensitivity:
        """Of the numbers of values above the possible bounds."""
        relation = self.bound.neighbours
        return Sensitivity(
            1.0, monotonic=relation is Neighbours.ADD_REMOVE, neighbours=relation, proof="proofs/clipping_bounds.md"
        )

    def candidates(self, ends: Collection[float]) -> dict[str, Any]:
        """The description of the possible bounds, from the lower end to the last one."""
        return {
            "source": "growing",
            "lower": min(ends),
            "upper": max(ends),
            "step": float(self.bound.step),
            "growth": 2.0,
            "count": len(ends),
        }

    @property
    def released(self) -> ReleasedBound:
        """The accuracy and the cost of the bound, which is released, too."""
        return ReleasedBound(above=self.bound.above_bound(), epsilon=self.bound.epsilon, answer_epsilon=self.left)


class BetweenPrivateBounds:
    """What such questions say, and what their certificates hold."""

    ends: ClassVar[str] = "bound"

    @classmethod
    def exact_bound(cls, release: Planned) -> float | None:
        """The released bound of all rows together; None before the draw, and with groups."""
        value = None if release.bound is None else release.bound.value
        return None if value is None or isinstance(value, dict) else float(value)

    @classmethod
    def spanned(cls, release: Planned) -> str:
        """Between which bounds, in words."""
        known, low = cls.exact_bound(release), as_text(release.candidates["lower"])
        return f"from {low} to {'the released bound' if known is None else as_text(known)}"

    @classmethod
    def check_growing(cls, held: Fields, arguments: dict[str, fields.Check]) -> Fields:
        """Check the candidates and the arguments of a certificate."""
        fields.object_with(held["candidates"], "candidates", fields.GROWING)
        if "bound" not in held:
            raise fields.wrong("bound", "the bound that was found first")
        return fields.object_with(held.get("arguments", {}), "arguments", arguments)

    @classmethod
    def checked(cls, question: Any, stated: Stated) -> Any:
        """The question, if its possible bounds are the stated ones."""
        if question.terms.candidates != stated.public:
            raise fields.wrong("candidates", "the possible bounds that the lower bound and the step give")
        return question
