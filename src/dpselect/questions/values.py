"""Which values enough units have, where no list is public; and what such questions have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import mechanisms, summaries
from dpselect.arguments import Delta, Epsilon, Kind, MaxValuesCounted
from dpselect.arguments import Values as ColumnOfValues
from dpselect.checks import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.declared import Columns, Question
from dpselect.questions.question import CONFIDENCE, Drawn, Terms, counted

if TYPE_CHECKING:
    from dpselect.mechanisms import GaussianThresholdCounts, PartitionSelection
    from dpselect.mechanisms.partition_selection import UnlistedValues
    from dpselect.mechanisms.threshold_counts import UnlistedNoise
    from dpselect.questions.question import Planned, RowReader
    from dpselect.summaries import NameCounts, PublicGroups

PAGE = "proofs/unknown_candidates.md"
"""The page that proves how much one unit can change the counts of unknown values."""


class Unlisted(Question):
    """A question about values of which there is no public list. Its subclasses are questions."""

    gives_list: ClassVar[bool] = True

    if TYPE_CHECKING:  # declared by each, in its place among the others
        kind: Any

    @property
    @abstractmethod
    def mechanism(self) -> UnlistedValues:
        """What selects them, at the whole cost."""

    @property
    def sensitivity(self) -> Sensitivity:
        """How much one unit can change the count of any one value.

        Proof: ``proofs/unknown_candidates.md``, claim 1.
        """
        relation = self.mechanism.neighbours
        return Sensitivity(1.0, monotonic=relation is Neighbours.ADD_REMOVE, neighbours=relation, proof=PAGE)

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[NameCounts]:
        """How many units count for each value that occurs."""
        return rows.names(self.kind, groups, max_values_per_unit=self.mechanism.max_values_per_unit)

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, found: list[NameCounts], /) -> list[int]:
        """How many units have a value; each counts for one of its own."""
        check_countable(self.mechanism.max_values_per_unit, 0.0)
        return [int(summary.counts.sum()) for summary in found]

    def may_hold(self, values: list[Any]) -> bool:
        """Whether these are different values of the kind."""
        return summaries.UnlistedCandidates.of(self.kind).may_hold(values)

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon` and `check_countable`."""
        return release.counted is None and release.arguments["max_values_per_unit"] == 1

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        most = counted(release.arguments["max_values_per_unit"], "value")
        return f", counting at most {most} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return "out of all values that occur, without a list of candidates"


class Values(Unlisted, name="values"):
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

    label: ClassVar[str] = "number"

    def check_usable(self, usable_epsilon: object, /) -> None:
        check_countable(self.max_values_per_unit, usable_epsilon)

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`."""
        return replace(self, kind=columns.name_kind(self.column, self.kind), neighbours=neighbours)

    @cached_property
    def _chosen(self) -> UnlistedNoise:
        """The mechanism, and the rule by which it was chosen."""
        from dpselect.mechanisms.threshold_counts import naming_noise

        most = checked_most(self.kind, self.max_values_per_unit)
        price: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours}
        return naming_noise(**price, max_values_per_unit=most)

    @property
    def mechanism(self) -> PartitionSelection | GaussianThresholdCounts:
        """What decides which values are named, at the whole cost."""
        return self._chosen.mechanism

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unknown_candidates.md`` (the counts), and ``proofs/partition_selection.md`` or
        ``proofs/discrete_gaussian.md`` (the names).
        """
        rule, mechanism = self._chosen.rule, self.mechanism
        is_coin = isinstance(mechanism, mechanisms.PartitionSelection)
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            sensitivity=self.sensitivity,
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(mechanism.count_needed(CONFIDENCE)),
            proofs=("proofs/partition_selection.md" if is_coin else "proofs/discrete_gaussian.md",),
            arguments={
                "max_values_per_unit": mechanism.max_values_per_unit,
                "half_named_at": mechanism.count_needed(0.5),
                "rule": rule,
            },
        )

    def released(self, summary: NameCounts, /) -> Drawn:
        """The values that are named, in increasing order."""
        named = self.mechanism.select(summary.counts)
        return Drawn(sorted(summary.names.take(named).to_pylist()))

    @classmethod
    def ending(cls, release: Planned, count: int) -> str:
        """See `Question.ending`."""
        return "" if count else nothing_named(release)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"a value that at least {bound:,.0f} units ({release.unit}) have is named"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        half = f"at {counted(release.arguments['half_named_at'], 'unit')} the probability reaches one half"
        return f"{super().counting(release)}; {half}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. All different and sorted: another order would reveal something."""
        return self.may_hold(values) and values == sorted(values)


def checked_most(kind: object, max_values_per_unit: object) -> int:
    """For how many values a unit counts, or an error if no unit can have so many of this kind."""
    at_most, what = _POSSIBLE.get(str(kind), (None, ""))
    return positive_count(max_values_per_unit, "max_values_per_unit", at_most=at_most, at_most_what=what)


def check_countable(max_values_per_unit: object, usable_epsilon: object) -> None:
    """Refuse a number of units if a unit may count for several values: the counts do not tell it then."""
    if usable_epsilon is not None and max_values_per_unit != 1:
        hint = "Ask count() for the number of all units."
        raise InvalidParameterError("usable_epsilon", usable_epsilon, "None, unless max_values_per_unit is 1", hint)


def nothing_named(release: Planned) -> str:
    """The sentence about an answer without any value."""
    kind = release.candidates["kind"]
    return f"No value was named: none has enough units, or nothing in the column could be read as {kind}."


_POSSIBLE = {
    "booleans": (2, "the number of booleans"),
    "dates": ((date.max - date.min).days + 1, "the number of days in the years 1 to 9999"),
}
"""Kinds with few values, of which no unit can have more."""
