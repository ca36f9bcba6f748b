"""A number that hardly any value of a column exceeds: a bound to clip by, found without the largest value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpselect.questions import fields
from dpselect.questions.command import MAX_ROWS_PER_UNIT, Command, Option
from dpselect.questions.unbounded_quantile import UnboundedQuantile
from dpselect.questions.wording import counted

if TYPE_CHECKING:
    from dpselect.questions.fields import AnswerFields, Fields
    from dpselect.questions.question import Planned

LOWER = Option(
    "lower",
    "exact",
    "Smallest possible answer. Public; smaller values count as this.",
    default=0.0,
)

SMALLEST_STEP = Option(
    "step",
    "exact",
    "Smallest distance between possible answers, such as 1 for ages in years; far from --lower they are 1% of the"
    " distance from it apart. Default: 1 if the column's type is an integer type (CSV has no types).",
    default=None,
)


@dataclass(frozen=True, kw_only=True)
class UpperBound(UnboundedQuantile):
    """Which number does hardly any value exceed? The quantile at level 1.

    Proof: ``proofs/unbounded_quantiles.md``, claims 5 and 6.
    """

    name: ClassVar[str] = "upper_bound"
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="upper_bound",
            asks="Which number do hardly any values exceed?",
            does="Find a number that only a few values exceed, such as a bound to clip a sum by.",
            example=("adult.csv hours_per_week", "--unit person_id --step 1 --epsilon 0.5"),
            options=(LOWER, SMALLEST_STEP, MAX_ROWS_PER_UNIT),
        ),
    )

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["upper bound"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"at most {counted(math.floor(bound), 'value')} of {release.column} are above the released bound"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        checked = super().check_fields(held)
        if held["arguments"]["level"] != 1.0:
            raise fields.wrong("arguments.level", "1, the level of an upper bound")
        return checked
