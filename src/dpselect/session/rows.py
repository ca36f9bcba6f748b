"""The rows of a table and their units: the access that questions have to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from dpselect.checks import function
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.mechanisms.seeding import seeded_draws
from dpselect.privacy import EACH_ROW, is_each_row
from dpselect.rows.columns import (
    Amount,
    Column,
    Condition,
    Grouping,
    Holds,
    Needed,
    candidate_kinds,
    check_match,
    check_near,
    check_numeric,
    name_kind,
)
from dpselect.rows.duckdb.cells import compared
from dpselect.rows.statements import Found, Statement
from dpselect.rows.table import Engine, Table
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    NameCounts,
    PublicCandidates,
    PublicClip,
    PublicCondition,
    PublicDomain,
    PublicGroups,
    PublicPairs,
    UnitValues,
    are_dates,
    candidate_kind,
    public_dates,
)
from dpselect.summaries.candidates import ends_of

if TYPE_CHECKING:
    from dpselect.formats import Format


class Rows:
    """A table with its unit column. Every column that a question uses is checked here first.

    Args:
        table: a description, not a copy; each summary reads the rows again.
        origin: the name of the table in a ledger; see `dpselect.rows.opening.origin_of`.
        unit: name of the column that identifies whom a row belongs to, or `ROWS`.
        progress: called with the share of the work that is done, from 0 to 1.
        format: how cells of text are written, if that was declared.
        named: what certificates say of the table; see `dpselect.rows.opening`.
        conditions: what its rows have to meet, and are made to meet by `table`.

    Raises:
        InvalidDataError: there is no such column, or its type cannot identify units.
    """

    __slots__ = ("conditions", "format", "named", "origin", "progress", "table", "unit", "unit_column")

    def __init__(
        self,
        table: Table,
        *,
        origin: str,
        unit: object,
        progress: Callable[[float], None] | None = None,
        format: Format | None = None,
        named: Mapping[str, Any] | None = None,
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        self.table, self.conditions = table, conditions
        self.named: Mapping[str, Any] = {} if named is None else named
        self.format = format
        self.origin = origin
        self.unit_column = table.unit(unit)
        self.unit = self.unit_column.shown
        self.progress = checked_progress(progress)

    def over(self, table: Table) -> Rows:
        """The same rows, read from a table with the same columns."""
        return self._with(table, self.conditions)

    def filtered(self, conditions: Mapping[str, object]) -> Rows:
        """Those rows alone that meet public conditions, each by the name of its column."""
        if not isinstance(cast(object, conditions), Mapping) or not conditions:
            raise InvalidParameterError("where", conditions, "a condition for at least one column, by its name")
        found = tuple(self._condition(name, given) for name, given in conditions.items())
        return self._with(self.table.filtered(found), (*self.conditions, *found))

    def _with(self, table: Table, conditions: tuple[Condition, ...]) -> Rows:
        seen = copy(self)
        seen.table, seen.conditions = table, conditions
        return seen

    def _condition(self, name: str, given: object) -> Condition:
        column = self.check(name, argument="where")
        try:
            return self._met(column, given)
        except InvalidDataError:  # which names the column
            raise
        except InvalidParameterError as bad:
            raise type(bad)(bad.name, bad.got, f"for {name}: {bad.expected}", bad.hint) from None

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
            if not are_dates(ends):
                check_numeric(column, argument="where")
                return Condition(column, None, ends_of((ends[0], ends[1])))
            try:
                listed = public_dates(None, bounds=ends)
            except InvalidParameterError as bad:
                raise InvalidParameterError("where", bad.got, f"two numbers, or {bad.expected}", bad.hint) from None
        if len(listed) > MOST_VALUES and not isinstance(listed.values, range):
            raise InvalidCandidatesError("where", Shown(f"<{len(listed):,} values>"), f"at most {MOST_VALUES:,}")
        _check_listed(column, listed, argument="where")
        self.check_compared(listed, argument="where")
        return Condition(column, listed)

    @property
    def shown(self) -> str:
        """Text for the table in a ``repr``."""
        return self.table.shown

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that the type of `column` can match; empty if it has no type."""
        return candidate_kinds(self.table.column(column))

    def is_whole(self, column: str, /) -> bool:
        """Whether the type of a column of numbers is an integer type; other columns are refused."""
        found = self.check(column)
        check_numeric(found)  # else a column of text would be refused for its step
        return found.is_whole

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        """The kind in which the values of `column` are read as names: the caller's, or else that of its type."""
        return name_kind(self.check(column)) if given is None else candidate_kind(given)

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

    def listed(self, given: object, /) -> PublicCandidates:
        """The public candidates."""
        public = PublicCandidates.given(given)
        self.check_compared(public)
        return public

    def check_compared(self, members: PublicCandidates, /, *, argument: str = "candidates") -> None:
        """Refuse candidates, or groups, that the declared format makes the same."""
        compared(members, self.format, argument=argument)


def checked_progress(progress: Callable[[float], None] | None) -> Callable[[float], None] | None:
    """What is called during long scans."""
    expected = "a function of a number from 0 to 1, or None"
    return None if progress is None else function(progress, "progress", expected=expected)


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """The rows of a table for questions about one column; see `dpselect.questions.question.RowReader`."""

    rows: Rows
    column: Column

    def over(self, table: Table) -> ColumnRows:
        """The same rows, read from a table with the same columns."""
        return self if table is self.rows.table else replace(self, rows=self.rows.over(table))

    def count(
        self,
        candidates: PublicCandidates,
        groups: PublicGroups | None = None,
        *,
        max_values_per_unit: int | None = None,
        argument: str = "candidates",
    ) -> list[CandidateCounts]:
        """How many units have each candidate, in each group; `argument` is the question's name for the candidates."""
        _check_listed(self.column, candidates, argument=argument)
        return self.rows.table.count(
            unit=self.rows.unit_column,
            column=self.column,
            candidates=candidates,
            grouping=self._grouping(groups, candidates),
            max_values_per_unit=None if self.rows.unit_column.each_row else max_values_per_unit,
            progress=self.rows.progress,
        )

    def total(
        self, candidates: PublicCandidates | None, clip: PublicClip, groups: PublicGroups | None = None
    ) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate, in each group; without candidates of all rows."""
        if candidates is None:
            summed, column = self.column, None
            check_numeric(summed)
        else:
            summed, column = self.rows.check(clip.column, argument="sum"), self.column
            _check_listed(column, candidates)
            check_numeric(summed, argument="sum")
        check_near(summed, *clip.ends, argument="column" if candidates is None else "sum")
        return self.rows.table.total(
            unit=self.rows.unit_column,
            column=column,
            candidates=candidates,
            amount=Amount(summed, clip.scale, clip.lower, clip.upper),
            grouping=self._grouping(groups, candidates),
            progress=self.rows.progress,
        )

    def gather(
        self, domain: PublicDomain, groups: PublicGroups | None = None, *, max_rows_per_unit: int
    ) -> list[UnitValues]:
        """The numbers of a column, at most `max_rows_per_unit` of each unit in each group."""
        column = self._of_days() if domain.dated else self.column
        check_numeric(column)
        check_near(column, domain.lower, *([] if domain.is_open else [domain.upper]))
        found = self.rows.table.gather(
            unit=self.rows.unit_column,
            column=column,
            domain=domain,
            max_rows_per_unit=max_rows_per_unit,
            grouping=self._grouping(groups),
            progress=self.rows.progress,
        )
        if seeded_draws()[0]:  # some draws meet the values in their order, and engines read with several threads
            return [replace(each, values=np.sort(each.values)) for each in found]
        return found

    def units(self, condition: PublicCondition, groups: PublicGroups | None = None) -> list[int]:
        """How many units have, in each group, a row that meets the condition."""
        candidates, number = condition.candidates, None
        if candidates is not None:
            _check_listed(self.column, candidates, argument=condition.argument)
        if condition.summed is not None:
            number = self.rows.check(condition.summed, argument="sum")
        elif condition.is_date:
            number = self._of_days()
        elif condition.is_number:
            number = self.column
            check_numeric(number)
        return self.rows.table.units(
            unit=self.rows.unit_column,
            needed=Needed(None if candidates is None else (self.column, candidates), number, condition.between),
            grouping=self._grouping(groups),
            progress=self.rows.progress,
        )

    def names(
        self, kind: CandidateKind, groups: PublicGroups | None = None, *, max_values_per_unit: int
    ) -> list[NameCounts]:
        """How many units have, in each group, each value that occurs, read as a candidate of this kind."""
        check_match(self.column, kind, argument="kind")
        found = self.rows.table.names(
            unit=self.rows.unit_column,
            column=self.column,
            kind=kind,
            max_values_per_unit=max_values_per_unit,
            grouping=self._grouping(groups),
            progress=self.rows.progress,
        )
        return [each.in_order() for each in found] if seeded_draws()[0] else found  # see `gather`

    def _of_days(self) -> Column:
        """The column of dates, read as numbers."""
        check_match(self.column, CandidateKind.DATE, argument="dates")
        return replace(self.column, days=True)

    def _grouping(self, groups: PublicGroups | None, candidates: Sized | None = None) -> Grouping | None:
        if groups is None:
            return None
        groups.check_size(1 if candidates is None else len(candidates))
        columns = [self.rows.check(name, argument="by") for name in groups.columns]
        for column, listed in zip(columns, groups.listed, strict=True):
            _check_listed(column, listed, argument="groups")
        # A row is in one group and has one value, so nothing is to be chosen. To choose, engines may read rows twice,
        # and number them in another order each time: what is kept of a row would then depend on others.
        most = len(groups.members) if self.rows.unit_column.each_row else groups.max_per_unit
        if not isinstance(groups.members, PublicPairs):
            return Grouping(columns[0], groups.members, most)
        kinds = [each.kind for each in groups.listed]
        both = Column(groups.column, Holds.TEXT, parts=tuple(zip(columns, kinds, strict=True)))
        return Grouping(both, groups.members.texts(), most, groups.listed)


def _check_listed(column: Column, listed: PublicCandidates, *, argument: str = "candidates") -> None:
    """Refuse candidates, or groups, that no value of the column could equal, or that a neighbour could."""
    check_match(column, listed.kind, argument=argument)
    if listed.kind is CandidateKind.NUMBER:
        largest = max(map(abs, cast("tuple[float, ...]", listed.values)))
        check_near(column, largest, argument="by" if argument == "groups" else "column")


MOST_VALUES = 10_000
"""Of a condition on rows. They are all written into the certificate."""


class NothingRead(Exception):  # noqa: N818 - nothing is wrong
    """Every column fits the question, and reading would begin here; a dry run ends so."""


@dataclass(frozen=True, slots=True)
class UnreadEngine:
    """An engine up to the point where reading would begin; see `dpselect.rows.table.Engine`."""

    shown: str = "<no table>"
    columns: tuple[Column, ...] = ()
    listed: bool = False
    format: Format | None = None

    @classmethod
    def over(cls, engine: Engine) -> Self:
        """With the columns of an engine: names and types are checked as for an answer."""
        return cls(engine.shown, engine.columns, engine.listed, engine.format)

    def answers(self, asked: Sequence[Statement], progress: object) -> list[Found]:
        """Where reading would begin."""
        raise NothingRead


@dataclass(frozen=True, slots=True, repr=False)
class UnopenedTable(Table):
    """The stand-in for a table when questions are only planned: any name is a column, and nothing is read.

    A column of missing values fits every question.
    """

    engine: Engine = field(default_factory=UnreadEngine)

    def filtered(self, conditions: object) -> Self:
        """Itself: no row is looked at."""
        return self

    def column(self, name: object, *, argument: str = "column") -> Column:
        """A column of that name, of any type."""
        if not isinstance(name, str):
            raise InvalidDataError(argument, name, "the name of a column, as text")
        return Column(name, Holds.NOTHING)

    def unit(self, name: object) -> Column:
        """As `column`."""
        if is_each_row(name):
            return Column(EACH_ROW, Holds.NOTHING, each_row=True)
        return self.column(name, argument="unit")
