"""A table whose rows are streamed through the embedded engine, whatever their source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from dpselect.backends.columns import Column, check_match, check_numeric, check_unit, find_column
from dpselect.backends.contract import Amount, Grouping, Needed, Progress, check_groups
from dpselect.backends.failures import cut_off
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.declared import compared, compared_groups
from dpselect.backends.rows.engine import Answer, answer
from dpselect.backends.rows.inspect import (
    BLANK,
    BROKEN,
    NOT_UTF_8,
    UNLIKE_DECLARED,
    Inspection,
    Unread,
    inspected,
    together,
    with_more_words,
)
from dpselect.backends.rows.queries import ROW_LOT, banded, counted, gathered, named, totalled, units_counted
from dpselect.backends.rows.relation import candidates_of, columns_of
from dpselect.backends.rows.scan import Scan
from dpselect.backends.rows.source import Lines, Objects, Source
from dpselect.formats import Format
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    DistantCandidates,
    NameCounts,
    PublicCandidates,
    PublicDomain,
    UnitTotals,
    UnitValues,
)

_MOST_KINDS = 3
"""Kinds of objects named in a sentence."""


@dataclass(frozen=True, slots=True, repr=False)
class StreamTable:
    """A table over a source of rows; see `dpselect.backends.contract.Table`.

    Attributes:
        source: the source of the rows.
        memory_limit: bytes that the engine may use before it spills to disk; None: most of the machine's memory.
        format: how cells of text are written, if that was declared.
    """

    source: Source
    memory_limit: int | None = None
    format: Format | None = None

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        return self.source.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        with cut_off:
            return find_column(self.source.columns, name, argument=argument, listed=self.source.listed)

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        column = self.column(name, argument="unit")
        check_unit(column)
        return column

    def count(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates,
        grouping: Grouping | None = None,
        max_values_per_unit: int | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        check_match(column, candidates.kind)
        check_groups(grouping)
        candidates, grouping = compared(candidates, self.format), compared_groups(grouping, self.format)
        columns, named = columns_of(unit, grouping, value=column), candidates_of(grouping, value=candidates)
        most = None if max_values_per_unit is None or max_values_per_unit >= len(candidates) else max_values_per_unit
        scan = Scan(self.source, columns, candidates=named, format=self.format)
        query = partial(counted, unit=unit, column=column, candidates=candidates, most=most, grouping=grouping)
        return [CandidateCounts(counts) for counts in self._answer(scan, query, progress)]

    def total(
        self,
        *,
        unit: Column,
        column: Column | None = None,
        candidates: PublicCandidates | None = None,
        amount: Amount,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows."""
        check_numeric(amount.column)
        check_groups(grouping)
        grouping = compared_groups(grouping, self.format)
        columns, named, matched = self._matched(column, candidates)
        columns["amount"] = amount.column
        scan = Scan(
            self.source,
            columns_of(unit, grouping, **columns),
            candidates=candidates_of(grouping, **named),
            format=self.format,
        )
        query = partial(totalled, unit=unit, amount=amount, matched=matched, grouping=grouping)
        return [CandidateTotals(totals) for totals in self._answer(scan, query, progress)]

    def amounts(
        self,
        *,
        unit: Column,
        amount: Amount,
        cuts: tuple[int, ...],
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[UnitTotals]:
        """How many units have a clipped amount between the cuts, and what they add up to."""
        check_numeric(amount.column)
        check_groups(grouping)
        grouping = compared_groups(grouping, self.format)
        columns = columns_of(unit, grouping, amount=amount.column)
        scan = Scan(self.source, columns, candidates=candidates_of(grouping), format=self.format)
        query = partial(banded, unit=unit, amount=amount, cuts=cuts, grouping=grouping)
        return [UnitTotals(*each, cuts=cuts) for each in self._answer(scan, query, progress)]

    def gather(
        self,
        *,
        unit: Column,
        column: Column,
        domain: PublicDomain,
        max_rows_per_unit: int,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[UnitValues]:
        """Numbers clipped into `domain`, at most `max_rows_per_unit` of each unit."""
        check_numeric(column)
        check_groups(grouping)
        grouping = compared_groups(grouping, self.format)
        most = max_rows_per_unit
        columns = columns_of(unit, grouping, value=column)
        scan = Scan(self.source, columns, candidates=candidates_of(grouping), lots=(ROW_LOT,), format=self.format)
        query = partial(gathered, unit=unit, column=column, domain=domain, max_rows_per_unit=most, grouping=grouping)
        return [UnitValues(each, domain=domain, max_rows_per_unit=most) for each in self._answer(scan, query, progress)]

    def units(
        self,
        *,
        unit: Column,
        needed: Needed,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[int]:
        """How many different units have at least one row that a question can use."""
        check_groups(grouping)
        grouping = compared_groups(grouping, self.format)
        columns, named, matched = self._matched(*(needed.matched or (None, None)))
        if needed.number is not None:
            check_numeric(needed.number)
            columns["number"] = needed.number
        scan = Scan(
            self.source,
            columns_of(unit, grouping, **columns),
            candidates=candidates_of(grouping, **named),
            format=self.format,
        )
        query = partial(
            units_counted, unit=unit, matched=matched, number=needed.number, between=needed.between, grouping=grouping
        )
        return self._answer(scan, query, progress)

    def names(
        self,
        *,
        unit: Column,
        column: Column,
        kind: CandidateKind,
        max_values_per_unit: int,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[NameCounts]:
        """How many different units have at least one row with each value that occurs."""
        check_match(column, kind, argument="kind")
        check_groups(grouping)
        grouping = compared_groups(grouping, self.format)
        listed: dict[str, PublicCandidates | CandidateKind] = {**candidates_of(grouping), "value": kind}
        scan = Scan(self.source, columns_of(unit, grouping, value=column), candidates=listed, format=self.format)
        query = partial(named, unit=unit, column=column, kind=kind, most=max_values_per_unit, grouping=grouping)
        return self._answer(scan, query, progress)

    def inspect(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates | None = None,
        bounds: tuple[float, float] | None = None,
        progress: Progress | None = None,
    ) -> Inspection:
        """What the rows hold, exactly: candidates, or else numbers. For the holder of the data only."""
        if candidates is None:
            check_numeric(column)
        else:
            check_match(column, candidates.kind)
            candidates = compared(candidates, self.format)
        named = {} if candidates is None else {"value": candidates}
        skipped: list[int] = []
        source = self.source.counting(skipped.append) if isinstance(self.source, Lines) else self.source
        scan = Scan(source, columns_of(unit, None, value=column), candidates=named, format=self.format)
        null_means = self._null_means(column, CandidateKind.NUMBER if candidates is None else candidates.kind)
        query = partial(
            inspected, unit=unit, column=column, candidates=candidates, bounds=bounds, null_means=null_means
        )
        found = replace(self._answer(scan, query, progress), left_out=sum(skipped))
        if self.format is None or all(each.reason != UNLIKE_DECLARED for each in found.unusable):
            return found
        as_is = replace(self, format=None)
        raw = as_is.inspect(unit=unit, column=column, candidates=candidates, bounds=bounds, progress=progress)
        return with_more_words(found, raw, self.format)

    def together(
        self,
        *,
        unit: Column,
        matched: Mapping[str, tuple[Column, PublicCandidates]],
        numbers: Mapping[str, Column],
        between: tuple[float, float] | None = None,
        progress: Progress | None = None,
    ) -> tuple[int, int]:
        """Rows, and units with such a row, that have all of these. For the holder of the data only."""
        matched = {name: (column, compared(listed, self.format)) for name, (column, listed) in matched.items()}
        columns = {"unit": unit, **numbers, **{name: column for name, (column, _) in matched.items()}}
        named = {name: listed for name, (_, listed) in matched.items()}
        scan = Scan(self.source, columns, candidates=named, format=self.format)
        query = partial(together, unit=unit, matched=matched, numbers=numbers, between=between)
        return self._answer(scan, query, progress)

    def _null_means(self, column: Column, kind: CandidateKind) -> Unread:
        words = {} if self.format is None else self.format.words
        if {"thousands", "decimal"} & words.keys() and kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
            return Unread(UNLIKE_DECLARED, 0)
        if "date_format" in words and kind is CandidateKind.DATE:
            return Unread(UNLIKE_DECLARED, 0)
        if isinstance(self.source, Objects) and (kinds := self.source.kinds_without_text(column)):
            which = f"{', '.join(kinds[:_MOST_KINDS])}{' and others' if kinds[_MOST_KINDS:] else ''}"
            how = "Make text, numbers or dates of these objects first."
            return Unread(f"{BLANK}, or an object that is read as missing ({which})", 0, otherwise=how)
        if not isinstance(self.source, Lines) or not self.source.can_be_broken:
            return Unread(BLANK, 0)
        return Unread(BROKEN, 0) if "encoding" in words else NOT_UTF_8

    def _matched(
        self, column: Column | None, candidates: PublicCandidates | DistantCandidates | None
    ) -> tuple[dict[str, Column], dict[str, PublicCandidates], tuple[Column, PublicCandidates] | None]:
        """The column and the candidates of a query that needs some, by their names there, and as they are compared."""
        if column is None:
            return {}, {}, None
        assert isinstance(candidates, PublicCandidates), "no engine of this table lists candidates"
        check_match(column, candidates.kind)
        candidates = compared(candidates, self.format)
        return {"value": column}, {"value": candidates}, (column, candidates)

    def _answer(self, scan: Scan, query: Callable[[Connection], Answer], progress: Progress | None) -> Answer:
        return answer(scan, query, progress=progress, memory_limit=self.memory_limit)
