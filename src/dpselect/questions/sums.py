"""What amounts add up to, and which candidate has the largest sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dpselect import questions
from dpselect.questions.arguments import Candidates, Clip, Epsilon, Numbers, Scale, Summed, Values, WithCounts
from dpselect.questions.declared import Columns, Price, Question

if TYPE_CHECKING:
    from dpselect.questions.question import Question as Planned


class Sum(Question, name="sum"):
    """The sum of a column of numbers, with a bounded amount for each unit.

    All rows of a unit are added up, and the total is clipped. Sums are of whole numbers, so that rounding cannot change
    them by more than one unit adds. If no clip is publicly known, `dpselect.Dataset.upper_bound` finds one, at a cost
    of its own.

    Returns:
        A number, which may be below 0 where the sum is small: a whole number without a scale.

    Proof: ``proofs/clipped_sums.md`` and ``proofs/geometric_mechanism.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.sum("hours_per_week", clip=(0, 80), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the released sum is within 368 of the total hours_per_week, counting from 0 to 80 of each
    person_id.
    """

    asks = "What do the values add up to?"
    does = "Add up the numbers in COLUMN, a bounded amount for each unit."
    example = ("adult.csv hours_per_week", "--unit person_id --clip 0 80 --epsilon 0.5")
    value = "float"

    column: Numbers
    clip: Clip
    epsilon: Epsilon
    scale: Scale = 1.0

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import PublicClip

        return questions.Sum.planned(PublicClip.given(self.column, self.clip, scale=self.scale), **price)


class BestBy(Question, name="best_by"):
    """The candidate in `column` with the largest sum of the numbers in another column.

    What a unit adds to a candidate is clipped: first for each row, then for the total of its rows. `clip` times `scale`
    has to be whole and between -2^31 and 2^31. With `with_counts`, ``release.counts`` is the number of units that have
    the answer, with an amount or not.

    Returns:
        One of the candidates.

    Proof: ``proofs/clipped_sums.md`` and ``proofs/permute_and_flip.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> years = range(1, 17)
    >>> release = people.best_by(
    ...     "education_num", sum="capital_gain", clip=(0, 10_000), candidates=years, epsilon=1.0
    ... )
    >>> release.value
    13
    """

    asks = "Which value has the largest sum of amounts?"
    does = "Find the value of COLUMN with the largest sum of the numbers in SUM."
    example = ("adult.csv education_num capital_gain", "--unit person_id --candidates 1..16 --clip 0 10000 --epsilon 1")
    positional = ("sum",)

    column: Values
    sum: Summed  # the word that says it, here and on the command line
    clip: Clip
    scale: Scale = 1.0
    candidates: Candidates = None
    epsilon: Epsilon
    with_counts: WithCounts = False

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import PublicClip

        public = columns.listed(self.candidates)
        clipped = PublicClip.given(self.sum, self.clip, scale=self.scale)
        return questions.BestBy.planned(public, clipped, **price, with_counts=self.with_counts)
