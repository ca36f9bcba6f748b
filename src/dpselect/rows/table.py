"""A table, whatever engine holds its rows: its columns are checked, and statements written, which the engine answers.

Whether a row counts depends on that row alone, and whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast

from dpselect import summaries
from dpselect.checks import function
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.formats import Format
from dpselect.privacy import is_each_row
from dpselect.rows import columns
from dpselect.rows.columns import Column, Holds, cut_off
from dpselect.rows.row_rules import Condition, Value, Within
from dpselect.rows.scan import compared
from dpselect.rows.statements import Engine, Lookup, batched, filtered, statement_of
from dpselect.summaries import CandidateKind, PublicCandidates, PublicGroups, Scan
from dpselect.summaries.scans import MOST_VALUES, ends_of


class Rows:
    """A table of an engine with its unit column. Every column that a question uses is checked here first.

    Args:
        engine: what holds the rows. None if questions are only planned: then any name is a column, of missing values,
            which fit all.
        origin: the name of the table in a ledger; see `dpselect.rows.opening.identity_of`.
        unit: name of the column that identifies whom a row belongs to, or `ROWS`.
        progress: called with the share of the work that is done, from 0 to 1.
        format: how cells of text are written, if that was declared.
        named: what certificates say of the table; see `dpselect.rows.opening`.
    """

    __slots__ = ("_columns", "conditions", "engine", "format", "named", "origin", "progress", "unit", "unit_column")

    def __init__(
        self,
        engine: Engine | None,
        *,
        origin: str,
        unit: object,
        progress: Callable[[float], None] | None = None,
        format: Format | None = None,
        named: Mapping[str, Any] | None = None,
    ) -> None:
        self.engine, self.origin, self.format = engine, origin, format
        self.named: Mapping[str, Any] = {} if named is None else named
        self.conditions: tuple[Condition, ...] = ()  # only rows that meet all of them are looked at
        with cut_off:
            self.unit_column, self._columns = _looked_at(engine, unit, self.format)
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
        seen.conditions = (*self.conditions, *found)
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
                return Within(column, *ends_of((ends[0], ends[1])))
            try:
                listed = summaries.public_dates(None, bounds=ends)
            except InvalidParameterError as bad:
                raise InvalidParameterError("where", bad.got, f"two numbers, or {bad.expected}", bad.hint) from None
        if len(listed) > MOST_VALUES and not isinstance(listed.values, range):
            raise InvalidCandidatesError("where", Shown(f"<{len(listed):,} values>"), f"at most {MOST_VALUES:,}")
        self.check_listed(column, listed, argument="where")
        return Value(column, listed)

    @property
    def shown(self) -> str:
        """What errors and ``repr`` call it."""
        return "<no table>" if self.engine is None else self.engine.shown

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that the type of `column` can match; empty if it has no type."""
        return columns.candidate_kinds(self._column(column))

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
        found = self._column(column, argument)
        if found == self.unit_column:
            hint = "Every value of the unit column belongs to one unit only."
            raise InvalidDataError(argument, Shown(repr(found.name)), "another column than the unit", hint)
        return found

    def _column(self, name: object, argument: str = "column") -> Column:
        if isinstance(name, str):
            if self.engine is None:
                return Column(name, Holds.NOTHING)
            if name in self._columns:
                return self._columns[name]
        with cut_off:
            listed = self.engine is not None and self.engine.listed
            raise columns.not_found([*self._columns], name, argument=argument, listed=listed)

    def lookup(self, column: str | None, scan: Scan, groups: PublicGroups | None) -> Lookup:
        """A scan of the rows, about a column or the units alone, in each group, if columns and types allow it."""
        about, unit = self.unit_column if column is None else self.check(column), self.unit_column
        listed, argument, name, near = None, "candidates", "column", list[Any]()
        number, is_date = None, False
        match scan:
            case summaries.CountsOf(listed, _, argument):
                scan = replace(scan, max_values_per_unit=None) if unit.each_row else scan
            case summaries.TotalsOf(clip, listed):
                name, near = "column" if listed is None else "sum", [*clip.ends]
                number = about if listed is None else self.check(clip.column, argument=name)
            case summaries.ValuesIn(domain):
                number, is_date = about, domain.dated
                near = [domain.lower] if domain.is_open else [domain.lower, domain.upper]
            case summaries.UnitsOf(used) if used is not None:  # whose columns are checked alike, for one number
                return self._in_groups(replace(self.lookup(column, used, None), scan=scan), groups, 1)
            case summaries.UnitsOf(_, between):
                number = None if between is None else about
            case summaries.NamesOf(kind):
                columns.check_match(about, kind, argument="kind")
        if listed is not None:
            self.check_listed(about, listed, argument=argument)
        if number is not None and is_date:
            columns.check_match(number, CandidateKind.DATE, argument="dates")
        elif number is not None:
            columns.check_numeric(number, argument=name)
            columns.check_near(number, *near, argument=name)
        return self._in_groups(Lookup(scan, unit, about, number), groups, 1 if listed is None else len(listed.values))

    def _in_groups(self, asked: Lookup, groups: PublicGroups | None, numbers: int) -> Lookup:
        """The same in each group, where it gives so many numbers."""
        if groups is None:
            return asked
        groups.check_size(numbers)
        named = [self.check(name, argument="by") for name in groups.columns]
        # A row is in one group and has one value, so nothing is to be chosen. To choose, engines may read rows twice,
        # and number them in another order each time: what is kept of a row would then depend on others.
        most = len(groups.names) if asked.unit.each_row else groups.max_per_unit
        return replace(asked, part=tuple(map(Value, named, groups.listed)), max_groups_per_unit=most)

    def answers(self, asked: Sequence[Lookup]) -> list[list[Any]]:
        """The summaries of all that is asked, over the same rows: of each a list with an entry for each group."""
        assert self.engine is not None, "questions about no table are only planned"
        batches = batched([statement_of(each) for each in asked])
        sent = [filtered(each, self.conditions) if self.conditions else each for _, each in batches]
        found = self.engine.answers(sent, self.progress)
        answers: dict[int, list[Any]] = {}
        with cut_off:
            for (batch, each), of_them in zip(batches, found, strict=True):
                answers |= zip(batch, each.summary(of_them), strict=True)
        return [answers[at] for at in range(len(asked))]

    def check_listed(self, column: Column, listed: PublicCandidates, *, argument: str = "candidates") -> None:
        """Refuse candidates, or groups, that no value of the column could equal, or a neighbour, or two alike."""
        columns.check_match(column, listed.kind, argument=argument)
        if self.format is not None:
            compared(listed, self.format, argument=argument)
        if listed.kind is CandidateKind.NUMBER:
            largest = max(map(abs, cast("tuple[float, ...]", listed.values)))
            columns.check_near(column, largest, argument="by" if argument == "groups" else "column")


def _looked_at(engine: Engine | None, unit: object, format: Format | None) -> tuple[Column, dict[str, Column]]:
    """The unit column, and all columns by their names, which may be somebody's row: no frame that is left has them."""
    planned = Column("" if is_each_row(unit) else str(unit), Holds.NOTHING)
    found, listed = ((planned,), True) if engine is None else (engine.columns, engine.listed)
    as_dates = format is not None and format.as_date
    read = (replace(each, holds=Holds.DATES, of=each) if as_dates and each.stamp else each for each in found)
    known = {each.name: each for each in read}
    return columns.unit_of(found, unit, listed=listed), known


def checked_progress(progress: Callable[[float], None] | None) -> Callable[[float], None] | None:
    """What is called during long scans."""
    expected = "a function of a number from 0 to 1, or None"
    return None if progress is None else function(progress, "progress", expected=expected)
