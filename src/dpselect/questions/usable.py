"""A question together with a noisy count of the units that it could use, at one cost for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from dpselect.arguments import positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.questions.question import Drawn, Priced, RowReader
from dpselect.questions.with_numbers import WithNumbers, noise_of

Summary = TypeVar("Summary")


@dataclass(frozen=True, kw_only=True)
class WithUsable(WithNumbers[Summary, list[int]], Generic[Summary]):
    """A question, and the number of units it could use with two-sided geometric noise.

    One unit changes the number by 1, or with groups the numbers of all groups by the number of groups it is in. So the
    noise has the scale ``max_groups_per_unit / usable_epsilon``.

    Proof: ``proofs/usable_units.md``.
    """

    part: ClassVar[Literal["usable"]] = "usable"
    page: ClassVar[str] = "proofs/usable_units.md"

    @classmethod
    def planned(cls, question: Priced[Summary], *, usable_epsilon: float) -> WithUsable[Summary]:
        """`question`, and the count for `usable_epsilon` more.

        Raises:
            InvalidParameterError: `usable_epsilon` is not a finite number > 0, or too small for a count to be of use;
                or the answer contains the number of units anyway.
        """
        epsilon = positive_epsilon(usable_epsilon, "usable_epsilon")
        terms = question.terms
        if terms.usable is not None:
            hint = "The answer comes with the number of units at no cost."
            raise InvalidParameterError("usable_epsilon", usable_epsilon, "None, for this question and method", hint)
        noise = noise_of(
            epsilon=epsilon,
            sensitivity=1 if terms.groups is None else terms.groups["max_per_unit"],
            neighbours=terms.sensitivity.neighbours,
            size=1,
            argument="usable_epsilon",
        )
        return cls(question=question, noise=noise)

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {**self.question.identity, "usable_epsilon": self.noise.epsilon}

    def numbers(self, rows: RowReader, summary: Summary, /) -> list[int]:
        """The number of units that the question could use, in each group."""
        return self.question.count_units(rows, summary)

    def chosen(self, numbers: list[int], drawn: Drawn, /) -> list[int]:
        """All of them: they do not depend on the answer."""
        del drawn
        return numbers


def with_usable(question: Priced[Any], usable_epsilon: float | None) -> Priced[Any]:
    """`question`, with a noisy number of units if an epsilon is given for it.

    Raises:
        InvalidParameterError: see `WithUsable.planned`.
    """
    return question if usable_epsilon is None else WithUsable[Any].planned(question, usable_epsilon=usable_epsilon)
