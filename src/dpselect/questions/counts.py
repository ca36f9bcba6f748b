"""How many there are, how many have each value, and which values enough units have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dpselect import questions
from dpselect.errors import InvalidParameterError
from dpselect.questions.arguments import (
    Between,
    Candidates,
    ColumnIfAny,
    Delta,
    DeltaIfLess,
    Epsilon,
    Kind,
    MaxValuesCounted,
    ValuesIfAny,
)
from dpselect.questions.arguments import (
    Values as ColumnOfValues,
)
from dpselect.questions.declared import Columns, Price, Question

if TYPE_CHECKING:
    from dpselect.questions.question import Question as Planned


class Count(Question, name="count"):
    """The number of units, or of those with a row that meets a public condition.

    A unit counts once, however many rows it has. `usable_epsilon` goes with `between` only: it counts the units with
    any number in the column, so that numbers written in another way are noticed.

    Returns:
        A whole number >= 0.

    Proof: ``proofs/counting.md``, claim 5, and ``proofs/geometric_mechanism.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.count("age", between=(65, 120), epsilon=1.0)
    >>> abs(release.value - 1336) < 50  # 1336 in truth
    True
    >>> print(release.accuracy)
    With 99% confidence the released number is within 4 of the number of units (person_id) with age from 65 to 120.
    """

    asks = "How many people are there?"
    does = "Count the units, or those with a row that has one of some values or a number between two bounds."
    example = ("adult.csv", "--unit person_id --epsilon 0.5")
    also = (
        ("How many people meet a condition?", ("adult.csv age", "--between 65 120 --unit person_id --epsilon 0.5")),
    )
    value = "int"

    column: ColumnIfAny = None
    values: ValuesIfAny = None
    between: Between = None
    epsilon: Epsilon

    def check_usable(self, usable_epsilon: object, /) -> None:
        if usable_epsilon is not None and self.between is None:
            expected = "None: the answer is itself a number of units"
            raise InvalidParameterError("usable_epsilon", usable_epsilon, expected)

    def lists(self, planned: Any, /) -> dict[str, Any]:
        return {} if self.values is None else {"values": planned.condition.candidates.words(whole=True)}

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        listed = questions.listed_values(self.values)
        if listed is not None:
            columns.check_compared(listed, argument="values")
        return questions.Count.planned(questions.condition_given(self.column, listed, self.between), **price)


class Histogram(Question, name="histogram"):
    """The number of units with each of the candidates.

    With ``max_values_per_unit=1`` the number of usable units comes at no cost, in ``release.usable``.

    Returns:
        A list of whole numbers >= 0, in the order of the candidates; ``release.rows()`` names them.

    Proof: ``proofs/counting.md``, claim 6; ``proofs/geometric_mechanism.md`` or ``proofs/discrete_gaussian.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.histogram("education_num", candidates=range(1, 17), epsilon=1.0)
    >>> abs(release.value[8] - 10501) < 50  # 10501 in truth
    True
    >>> print(release.accuracy)
    With 99% confidence each released count is within 7 of the truth, counting at most 1 value of each person_id.
    """

    asks = "How many have each value?"
    does = "Count the units with each of the values."
    example = ("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5")
    value = "list[int]"
    needs_several = False
    keeps_list = True

    column: ColumnOfValues
    candidates: Candidates = None
    epsilon: Epsilon
    max_values_per_unit: MaxValuesCounted = 1
    delta: DeltaIfLess = 0.0

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        public = columns.listed(self.candidates)
        return questions.Histogram.planned(
            public, delta=self.delta, **price, max_values_per_unit=self.max_values_per_unit
        )


class Values(Question, name="values"):
    """The values that occur in `column`, as far as enough units have them: where no list of candidates is public.

    A value with more units is named with a higher probability. A value that only one unit has is named with
    probability `delta` at most. Each value has a coin, or noise is added to its count; what needs fewer units is chosen
    by a public rule, `dpselect.planning.naming_noise`, and the release states it. Values that are not of the `kind`,
    empty text and text of more than 1,024 bytes are left out. `usable_epsilon` goes with ``max_values_per_unit=1``.

    Returns:
        A list of different values in increasing order, which may be empty. ``release.error_bound`` is a number of
        units: a value that at least so many have is named with 99% confidence.

    Proof: ``proofs/unknown_candidates.md`` and ``proofs/partition_selection.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.values("education_num", kind="integer", epsilon=1.0, delta=1e-6)
    >>> release.value
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    """

    asks = "Which values occur, without a list of candidates?"
    does = "Name the values that enough units have, without a public list of candidates."
    example = ("clicks.parquet page", "--unit session --epsilon 1 --delta 1e-6")
    value = "list[Any]"

    column: ColumnOfValues
    epsilon: Epsilon
    delta: Delta
    max_values_per_unit: MaxValuesCounted = 1
    kind: Kind = None

    def check_usable(self, usable_epsilon: object, /) -> None:
        questions.check_countable(self.max_values_per_unit, usable_epsilon)

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        kind = columns.name_kind(self.column, self.kind)
        return questions.Values.planned(kind, delta=self.delta, **price, max_values_per_unit=self.max_values_per_unit)
