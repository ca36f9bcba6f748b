"""Which values occur in a column at all? The names of those that enough units have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.mechanisms import PartitionSelection
from dpselect.mechanisms.unknown_noise import NamingMechanism, plan_naming
from dpselect.privacy import Neighbours
from dpselect.questions.names import check_countable, checked_most, most_values, name_sensitivity, nothing_named
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms, Value
from dpselect.questions.wording import counted
from dpselect.summaries import CandidateKind, NameCounts, PublicGroups, UnlistedCandidates

if TYPE_CHECKING:
    from dpselect.accounting import ApproximateEvent


@dataclass(frozen=True, kw_only=True)
class Values(Question[NameCounts]):
    """Which values do enough units have? Planned from public arguments; sees the values only in `draw`.

    Attributes:
        kind: the kind that the values are read as.
        mechanism: decides which values are named, at the whole cost.
        rule: the outcome of `naming_noise`; empty for a certificate from before there was one.
    """

    name: ClassVar[str] = "values"
    gives_list: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = False

    kind: CandidateKind
    mechanism: NamingMechanism
    rule: str = ""

    @classmethod
    def planned(
        cls,
        kind: CandidateKind,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon` and `delta`, with the mechanism that `naming_noise` chooses.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, `delta` not strictly between 0 and 1, or
                `max_values_per_unit` not a whole number >= 1, or more than there are values of such a kind.

        >>> Values.planned(CandidateKind.TEXT, epsilon=1.0, delta=1e-6).terms.arguments["half_named_at"]
        14
        """
        most = checked_most(kind, max_values_per_unit)
        found, mechanism = plan_naming(epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)
        return cls(kind=kind, mechanism=mechanism, rule=found.rule)

    @property
    def event(self) -> ApproximateEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unknown_candidates.md`` (the counts), and ``proofs/partition_selection.md`` or
        ``proofs/discrete_gaussian.md`` (the names).
        """
        is_coin = isinstance(self.mechanism, PartitionSelection)
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            delta=self.mechanism.delta,
            sensitivity=name_sensitivity(self.mechanism.neighbours),
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(self.mechanism.count_needed(CONFIDENCE)),
            proofs=("proofs/partition_selection.md" if is_coin else "proofs/discrete_gaussian.md",),
            arguments={
                "max_values_per_unit": self.mechanism.max_values_per_unit,
                "half_named_at": self.mechanism.count_needed(0.5),
                **({"rule": self.rule} if self.rule else {}),
            },
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[NameCounts]:
        """How many units count for each value that occurs."""
        return rows.names(self.kind, groups, max_values_per_unit=self.mechanism.max_values_per_unit)

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, summaries: list[NameCounts], /) -> list[int]:
        """How many units have a value; each counts for one of its values."""
        check_countable(self.mechanism.max_values_per_unit, 0.0)
        return [int(summary.counts.sum()) for summary in summaries]

    def draw(self, summary: NameCounts, /) -> list[Value]:
        """The values that are named, in increasing order."""
        named = self.mechanism.select(summary.counts)
        return sorted(summary.names.take(named).to_pylist())

    label: ClassVar[str] = "number"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [str(place) for place in range(1, count + 1)]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon` and `check_countable`."""
        return release.counted is None and release.arguments["max_values_per_unit"] == 1

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
        return f", counting at most {most_values(release)} of each {release.unit}; {half}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return "out of all values that occur, without a list of candidates"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. All different and sorted: another order would reveal something."""
        return UnlistedCandidates.of(self.kind).may_hold(values) and values == sorted(values)
