"""Which values enough units have, and which of them the most, where no list is public."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import arguments, mechanisms, summaries
from dpselect.checks import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.questions.question import Columns, Question
from dpselect.questions.records import CONFIDENCE, LARGEST_COUNT, Drawn, NoisyUnits, Planned, counted

if TYPE_CHECKING:
    from dpselect.mechanisms.noisy_counts import UnlistedNoise


class Unlisted(Question):
    """A question about values of which there is no public list. Its subclasses are questions."""

    value = "list[Any]"

    column: arguments.Values
    delta: arguments.Delta
    max_values_per_unit: arguments.MaxValuesCounted = 1
    kind: Any = None

    @cached_property
    @abstractmethod
    def chosen(self) -> UnlistedNoise:
        """The mechanism, and the rule by which it was chosen."""

    @cached_property
    def mechanism(self) -> Any:
        """What selects them."""
        return self.chosen.mechanism

    @property
    def price(self) -> dict[str, Any]:
        """What a rule may spend, and for how many values a unit counts: an error if none can have so many."""
        days = date.max.toordinal(), "the number of days in the years 1 to 9999"
        few: dict[str, Any] = {"booleans": (2, "the number of booleans"), "dates": days}
        at_most, what = few.get(str(self.kind), (None, ""))
        most = positive_count(self.max_values_per_unit, "max_values_per_unit", at_most=at_most, at_most_what=what)
        paid = {"epsilon": self.epsilon, "delta": self.delta, "neighbours": self.neighbours}
        return {**paid, "max_values_per_unit": most}

    def stated_of(self, proof: str, arguments: dict[str, Any], **more: Any) -> Planned:
        """The contents of the certificate, except the answer.

        Proof: ``proofs/unknown_candidates.md``, claim 1.
        """
        return self.stated(
            1.0,
            "proofs/unknown_candidates.md",
            proof,
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(self.mechanism.count_needed(CONFIDENCE)),
            arguments={**arguments, "rule": self.chosen.rule},
            **more,
        )

    @property
    def scan(self) -> summaries.Scan:
        return summaries.NamesOf(self.kind, self.mechanism.max_values_per_unit)

    def check_usable(self, usable_epsilon: float, /) -> None:
        """If a unit may count for several values, their counts do not tell how many units have one."""
        if self.max_values_per_unit != 1:
            hint = "Ask count() for the number of all units."
            expected = "nothing, unless `max_values_per_unit` is 1"
            raise InvalidParameterError("usable_epsilon", usable_epsilon, expected, hint)

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        return release.counted is None and release.arguments["max_values_per_unit"] == 1

    @classmethod
    def origin(cls, release: Planned) -> str:
        return "out of all values that occur, without a list of candidates"

    @classmethod
    def ending(cls, release: Planned, count: int) -> str:
        asked, said = release.arguments.get("k", count), ""
        if count != asked:
            why = "No other noisy count reaches the threshold"
            why = why if "threshold" in release.arguments else "The stop candidate was drawn next"
            said = f"Released: {count:,} of {asked:,}. {why}. "
        if not count:
            kind = release.candidates["kind"]
            said += f"No value was named: none has enough units, or nothing in the column could be read as {kind}."
        return said.rstrip()

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Different values of the kind."""
        return summaries.PublicCandidates.stated_as(self.kind).may_hold(values)


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

    >>> 6 in data.values("page", epsilon=1.0, delta=1e-6).value
    True
    """

    asks = "Which values occur, without a list of candidates?"
    example = ("clicks.parquet page", "--unit session --epsilon 1 --delta 1e-6")

    kind: arguments.Kind = None

    label: ClassVar[str] = "number"
    near: ClassVar[str] = "a value that at least {bound} units ({unit}) have is named"

    def known(self, columns: Columns, /) -> Self:
        kind = columns.name_kind(self.column) if self.kind is None else summaries.candidate_kind(self.kind)
        return replace(self, kind=kind)

    @cached_property
    def chosen(self) -> UnlistedNoise:
        from dpselect.mechanisms.noisy_counts import naming_noise

        return naming_noise(**self.price)

    @cached_property
    def terms(self) -> Planned:
        mechanism = self.mechanism
        is_coin = isinstance(mechanism, mechanisms.PartitionSelection)
        most, half = mechanism.max_values_per_unit, mechanism.count_needed(0.5)
        return self.stated_of(
            "proofs/partition_selection.md" if is_coin else "proofs/discrete_gaussian.md",
            {"max_values_per_unit": most, "half_named_at": half},
        )

    def released(self, summary: summaries.NameCounts, /) -> Drawn:
        named = self.mechanism.select(summary.counts)
        return Drawn(sorted(summary.names.take(named).to_pylist()))

    @classmethod
    def counting(cls, release: Planned) -> str:
        half = f"at {counted(release.arguments['half_named_at'], 'unit')} the probability reaches one half"
        return f"{super().counting(release)}; {half}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """All different and sorted: another order would reveal something."""
        return super().possible(values, units, counts) and values == sorted(values)


class TopUnknown(Unlisted, name="top_unknown"):
    """The `k` most common values where there is no list: those that enough units have."""

    label: ClassVar[str] = "rank"

    k: arguments.K
    with_counts: arguments.WithCounts = False

    @cached_property
    def chosen(self) -> UnlistedNoise:
        from dpselect.mechanisms.noisy_counts import unknown_noise

        return unknown_noise(self.k, with_counts=self.with_counts, **self.price)

    @cached_property
    def terms(self) -> Planned:
        mechanism = self.mechanism
        arguments = {"k": self.k, "max_values_per_unit": mechanism.max_values_per_unit}
        arguments |= {"with_counts": True} if self.with_counts else {}
        if isinstance(mechanism, mechanisms.StopCandidate):
            half = {"half_released_at": mechanism.count_needed(0.5)}
            return self.stated_of("proofs/stop_candidate.md", arguments | half, rounds=self.k)
        is_gaussian = isinstance(mechanism, mechanisms.GaussianThresholdCounts)
        return self.stated_of(
            "proofs/discrete_gaussian.md" if is_gaussian else "proofs/geometric_mechanism.md",
            arguments | {"threshold": mechanism.threshold},
            counted=NoisyUnits(within=mechanism.noise.error_bound(CONFIDENCE)),
        )

    def released(self, summary: summaries.NameCounts, /) -> Drawn:
        """Of equal noisy counts the smaller value comes first: the order of rows is private."""
        if isinstance(self.mechanism, mechanisms.StopCandidate):
            return Drawn(summary.names.take(self.mechanism.select(summary.counts)).to_pylist())
        positions, noisy = self.mechanism.draw(summary.counts)
        if positions.size > self.k:
            import numpy as np

            reached = noisy >= np.partition(noisy, -self.k)[-self.k]
            positions, noisy = positions[reached], noisy[reached]
        names = summary.names.take(positions).to_pylist()
        ranked = sorted(zip((-noisy).tolist(), names, strict=True))[: self.k]
        return Drawn([name for _, name in ranked], counted=[min(-count, LARGEST_COUNT) for count, _ in ranked])

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        given, having = release.arguments, f"a value that at least {bound:,.0f} units ({release.unit}) have"
        if "threshold" not in given:
            half = f"at {given['half_released_at']:,} units the probability passes one half"
            return f"{having} is drawn before the answer stops, or the answer has {given['k']:,} others ({half})"
        at = f"{given['threshold']:,}"
        reached = f"reaches the threshold of {at} (at {at} units the probability passes one half)"
        return f"the noisy count of {having} {reached}"

    @classmethod
    def counts_within(cls, release: Planned, within: int) -> str:
        """How many values there are is private, so no bound covers all of them."""
        beforehand = "a value fixed beforehand (selected ones tend to be high)"
        return f"the count of {beforehand} is within {within:,} of the truth"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """None below the threshold; the most common first, of equal ones the smaller."""
        if len(values) > self.k or not super().possible(values, units, counts):
            return False
        if counts is None:
            return True
        ranked = [(-count, value) for count, value in zip(counts, values, strict=True)]
        return ranked == sorted(ranked) and all(count >= self.terms.arguments["threshold"] for count in counts)
