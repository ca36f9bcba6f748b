"""A table, whatever engine holds its rows: its columns are checked, and statements written, which the engine answers.

Whether a row counts depends on that row alone, and whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, cast

from dpselect import summaries
from dpselect.checks import function
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.formats import Format
from dpselect.privacy import EACH_ROW, is_each_row
from dpselect.rows import columns, statements
from dpselect.rows.columns import Column, Condition, Grouping, Holds, Progress
from dpselect.rows.duckdb.cells import compared
from dpselect.rows.failures import cut_off
from dpselect.rows.statements import Engine, Statement, batches, filtered, together
from dpselect.summaries import CandidateKind, PublicCandidates, PublicGroups, Scan
from dpselect.summaries.scans import ends_of

Asked = Callable[[], Statement]  # a function of `dpselect.rows.statements`, with what it is asked with


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """One table of one engine, of which only those rows are looked at that meet all conditions."""

    engine: Engine
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        return self.engine.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        with cut_off:
            found = columns.find_column(self.engine.columns, name, argument=argument, listed=self.engine.listed)
            return found.as_dates if self.engine.format is not None and self.engine.format.as_date else found

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        with cut_off:
            return columns.unit_of(self.engine.columns, name, listed=self.engine.listed)

    def filtered(self, conditions: tuple[Condition, ...]) -> Table:
        """The same table with more conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def answers(self, asked: Sequence[Asked], progress: Progress | None = None) -> list[list[Any]]:
        """The summaries of all statements, over the same rows: of each a list with an entry for each group, or one."""
        written = [each() for each in asked]
        batched = batches(written)
        sent = [together([written[at] for at in batch]) for batch in batched]
        if self.conditions:
            sent = [filtered(each, self.conditions) for each in sent]
        if self.engine.format is not None:
            sent = [_compared(each, self.engine.format) for each in sent]
        found = self.engine.answers(sent, progress)
        answers: dict[int, list[Any]] = {}
        with cut_off:
            for batch, each, of_them in zip(batched, sent, found, strict=True):
                answers |= zip(batch, each.summary(of_them), strict=True)
        return [answers[at] for at in range(len(written))]


class Rows:
    """A table with its unit column. Every column that a question uses is checked here first.

    Args:
        table: a `Table`, or an `UnopenedTable`.
        origin: the name of the table in a ledger; see `dpselect.rows.opening.origin_of`.
        unit: name of the column that identifies whom a row belongs to, or `ROWS`.
        progress: called with the share of the work that is done, from 0 to 1.
        format: how cells of text are written, if that was declared.
        named: what certificates say of the table; see `dpselect.rows.opening`.
    """

    __slots__ = ("conditions", "format", "named", "origin", "progress", "table", "unit", "unit_column")

    def __init__(
        self,
        table: Any,
        *,
        origin: str,
        unit: object,
        progress: Callable[[float], None] | None = None,
        format: Format | None = None,
        named: Mapping[str, Any] | None = None,
    ) -> None:
        self.table, self.format, self.origin = table, format, origin
        self.named: Mapping[str, Any] = {} if named is None else named
        self.conditions: tuple[Condition, ...] = ()
        self.unit_column = table.unit(unit)
        self.unit = self.unit_column.shown
        self.progress = checked_progress(progress)

    def filtered(self, conditions: Mapping[str, object]) -> Rows:
        """Those rows alone that meet public conditions, each by the name of its column."""
        if not isinstance(cast(object, conditions), Mapping) or not conditions:
            raise InvalidParameterError("where", conditions, "a condition for at least one column, by its name")
        found: tuple[Condition, ...] = ()
        for name, given in conditions.items():
            column = self.check(name, argument="where")
            try:
                found += (self._met(column, given),)
            except InvalidDataError:  # which names the column
                raise
            except InvalidParameterError as bad:
                raise type(bad)(bad.name, bad.got, f"for {name}: {bad.expected}", bad.hint) from None
        seen = copy(self)
        seen.table, seen.conditions = self.table.filtered(found), (*self.conditions, *found)
        return seen

    def _met(self, column: Column, given: object) -> Condition:
        expected = 'two ends such as (18, None), in a plan "18..", or a list of values'
        if not isinstance(given, tuple):
            if given is None or isinstance(given, str | bytes):
                raise InvalidParameterError("where", typed(given), expected)
            listed = PublicCandidates.given(given, argument="where")
        else:
            ends = cast("tuple[object, ...]", given)
            if len(ends) != 2 or ends == (None, None):
                raise InvalidParameterError("where", Shown(f"<{len(ends)} ends>"), expected)
            if not summaries.are_dates(ends):
                columns.check_numeric(column, argument="where")
                return Condition(column, None, ends_of((ends[0], ends[1])))
            try:
                listed = summaries.public_dates(None, bounds=ends)
            except InvalidParameterError as bad:
                raise InvalidParameterError("where", bad.got, f"two numbers, or {bad.expected}", bad.hint) from None
        if len(listed) > MOST_VALUES and not isinstance(listed.values, range):
            raise InvalidCandidatesError("where", Shown(f"<{len(listed):,} values>"), f"at most {MOST_VALUES:,}")
        self.check_listed(column, listed, argument="where")
        return Condition(column, listed)

    @property
    def shown(self) -> str:
        return self.table.shown

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that the type of `column` can match; empty if it has no type."""
        return columns.candidate_kinds(self.table.column(column))

    def is_whole(self, column: str, /) -> bool:
        """Whether the type of a column of numbers is an integer type; other columns are refused."""
        found = self.check(column)
        columns.check_numeric(found)  # else a column of text would be refused for its step
        return found.is_whole

    def name_kind(self, column: str, /) -> CandidateKind:
        """The kind in which the values of `column` are read as names: that of its type, or text."""
        found = self.check(column)
        return CandidateKind.INTEGER if found.is_whole else [CandidateKind.TEXT, *columns.candidate_kinds(found)][-1]

    def check(self, column: str, *, argument: str = "column") -> Column:
        """The column that a question names, or `InvalidDataError`."""
        found = self.table.column(column, argument=argument)
        if found == self.unit_column:
            hint = "Every value of the unit column belongs to one unit only."
            raise InvalidDataError(argument, Shown(repr(found.name)), "another column than the unit", hint)
        return found

    def of(self, column: str | None) -> ColumnRows:
        """The rows, read for a question about `column`, or `InvalidDataError`; None: about the units alone."""
        return ColumnRows(self, self.unit_column if column is None else self.check(column))

    def check_listed(self, column: Column, listed: PublicCandidates, *, argument: str = "candidates") -> None:
        """Refuse candidates, or groups, that no value of the column could equal, or that a neighbour could."""
        columns.check_match(column, listed.kind, argument=argument)
        self.check_compared(listed, argument=argument)
        if listed.kind is CandidateKind.NUMBER:
            largest = max(map(abs, cast("tuple[float, ...]", listed.values)))
            columns.check_near(column, largest, argument="by" if argument == "groups" else "column")

    def check_compared(self, members: PublicCandidates, /, *, argument: str = "candidates") -> None:
        """Refuse candidates, or groups, that the declared format makes the same."""
        if self.format is not None:
            compared(members, self.format, argument=argument)


def checked_progress(progress: Callable[[float], None] | None) -> Callable[[float], None] | None:
    """What is called during long scans."""
    expected = "a function of a number from 0 to 1, or None"
    return None if progress is None else function(progress, "progress", expected=expected)


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """The rows of a table for questions about one column."""

    rows: Rows
    column: Column

    def statement(self, scan: Scan, groups: PublicGroups | None) -> Asked:
        """The statement that answers a scan, in each group. Its columns are checked; no row is read."""
        rows, column, unit = self.rows, self.column, self.rows.unit_column
        listed: PublicCandidates | None = None
        match scan:
            case summaries.CountsOf(listed, _, argument):
                rows.check_listed(column, listed, argument=argument)
                asked = partial(statements.count, replace(scan, max_values_per_unit=None) if unit.each_row else scan)
            case summaries.TotalsOf(clip, listed):
                name = "column" if listed is None else "sum"
                number = column if listed is None else rows.check(clip.column, argument=name)
                if listed is not None:
                    rows.check_listed(column, listed)
                columns.check_numeric(number, argument=name)
                columns.check_near(number, *clip.ends, argument=name)
                asked = partial(statements.total, scan, number=number)
            case summaries.ValuesIn(domain):
                column = self._of_days() if domain.dated else column
                columns.check_numeric(column)
                columns.check_near(column, domain.lower, *([] if domain.is_open else [domain.upper]))
                asked = partial(statements.gather, scan)
            case summaries.NamesOf():
                asked = partial(statements.names, scan)
            case summaries.PublicCondition(candidates, is_number, is_date, _, summed):
                if candidates is not None:
                    rows.check_listed(column, candidates)
                number = column if is_number else None
                if summed is not None:
                    number = rows.check(summed, argument="sum")
                elif is_date:
                    number = self._of_days()
                asked = partial(statements.units, scan, number=number)
        return partial(asked, unit=unit, column=column, grouping=self._grouping(groups, listed))

    def _of_days(self) -> Column:
        columns.check_match(self.column, CandidateKind.DATE, argument="dates")
        return replace(self.column, days=True)

    def _grouping(self, groups: PublicGroups | None, candidates: PublicCandidates | None) -> Grouping | None:
        if groups is None:
            return None
        groups.check_size(1 if candidates is None else len(candidates))
        named = [self.rows.check(name, argument="by") for name in groups.columns]
        for column, listed in zip(named, groups.listed, strict=True):
            self.rows.check_listed(column, listed, argument="groups")
        # A row is in one group and has one value, so nothing is to be chosen. To choose, engines may read rows twice,
        # and number them in another order each time: what is kept of a row would then depend on others.
        most = len(groups.names) if self.rows.unit_column.each_row else groups.max_per_unit
        if isinstance(groups.by, str):
            return Grouping(named[0], groups.listed[0], most)
        parts = tuple((column, each.kind) for column, each in zip(named, groups.listed, strict=True))
        values = tuple(compared(each, self.rows.format, argument="groups") for each in groups.listed)
        return Grouping(Column(groups.column, Holds.TEXT, parts=parts), groups.texts(values), most, values)


MOST_VALUES = 10_000  # Of a condition on rows. They are all written into the certificate


class UnopenedTable:
    """In place of a table when questions are only planned: any name is a column, of missing values that fit all."""

    shown = "<no table>"

    def filtered(self, conditions: object) -> Self:
        return self

    def column(self, name: object, *, argument: str = "column") -> Column:
        return columns.find_column([Column(str(name), Holds.NOTHING)], name, argument=argument, listed=True)

    def unit(self, name: object) -> Column:
        if is_each_row(name):
            return Column(EACH_ROW, Holds.NOTHING, each_row=True)
        return self.column(name, argument="unit")


def _compared(statement: Statement, format: Format) -> Statement:
    """The statement with its lists as cells are compared with them; of a cross table they are already."""
    apart = "part" if statement.parts else None
    lists = {name: each if name == apart else compared(each, format) for name, each in statement.lists.items()}
    return replace(statement, lists=lists)
