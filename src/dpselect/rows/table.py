"""A table, whatever engine holds its rows: its columns are checked, and statements written, which the engine answers.

Every engine follows the rules for rows in ``docs/files.md``: whether a row counts depends on that row alone, and
whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, cast

from dpselect.checks import function
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, typed
from dpselect.formats import Format
from dpselect.privacy import EACH_ROW, is_each_row
from dpselect.rows import statements
from dpselect.rows.columns import (
    Amount,
    Column,
    Condition,
    Grouping,
    Holds,
    Progress,
    candidate_kinds,
    check_match,
    check_near,
    check_numeric,
    find_column,
    name_kind,
    unit_of,
)
from dpselect.rows.duckdb.cells import compared, compared_pairs
from dpselect.rows.failures import cut_off
from dpselect.rows.statements import Found, Statement, batches, filtered, together
from dpselect.summaries import (
    CandidateKind,
    CountsOf,
    NamesOf,
    PublicCandidates,
    PublicCondition,
    PublicGroups,
    PublicPairs,
    Scan,
    TotalsOf,
    ValuesIn,
    are_dates,
    candidate_kind,
    public_dates,
)
from dpselect.summaries.candidates import ends_of


class Engine(Protocol):
    """What holds the rows of one table: DuckDB and a source of rows, a Spark frame, or a PostgreSQL server.

    A new engine is this class, a `Dialect`, and a line in `dpselect.rows.opening`. Attributes are those of
    `dpselect.rows.duckdb.scan.Source`, and how cells of text are written, if that was declared.
    """

    @property
    def shown(self) -> str: ...
    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def listed(self) -> bool: ...
    @property
    def format(self) -> Format | None: ...

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, over the same rows. They have the same unit.

        What is left to chance is independent from one to the other. Proof: ``proofs/one_pass.md``.

        Raises:
            InvalidDataError: the rows cannot be read to their end. This never depends on a row's content.
            SelectionError: no memory, no connection. No message quotes a row.
        """
        ...


Asked = Callable[[], Statement]
"""A function of `dpselect.rows.statements`, with what it is asked with."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """One table of one engine. Headers, footers and schemas are read when it is made, rows again for each summary.

    Attributes:
        engine: the engine that holds the rows.
        conditions: what all rows that are looked at have to meet.
    """

    engine: Engine
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``: a path, a kind of frame, or a URL without its password."""
        return self.engine.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        with cut_off:
            found = find_column(self.engine.columns, name, argument=argument, listed=self.engine.listed)
            return found.as_dates if self.engine.format is not None and self.engine.format.as_date else found

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        with cut_off:
            return unit_of(self.engine.columns, name, listed=self.engine.listed)

    def filtered(self, conditions: tuple[Condition, ...]) -> Table:
        """The same table with those rows alone that meet all conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def answers(self, asked: Sequence[Asked], progress: Progress | None = None) -> list[list[Any]]:
        """The summaries of all statements, over the same rows: of each a list with an entry for each group, or one.

        Raises:
            InvalidDataError: the type of a column cannot match, or the source cannot be read to its end.
            SelectionError: no memory, no connection. No message quotes a row or depends on one.
        """
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
        table: a `Table`, which is a description, not a copy: each question reads the rows again; or an `UnopenedTable`.
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
        table: Any,
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

    def filtered(self, conditions: Mapping[str, object]) -> Rows:
        """Those rows alone that meet public conditions, each by the name of its column."""
        if not isinstance(cast(object, conditions), Mapping) or not conditions:
            raise InvalidParameterError("where", conditions, "a condition for at least one column, by its name")
        found = tuple(self._condition(name, given) for name, given in conditions.items())
        seen = copy(self)
        seen.table, seen.conditions = self.table.filtered(found), (*self.conditions, *found)
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
        self.check_listed(column, listed, argument="where")
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

    def check_listed(self, column: Column, listed: PublicCandidates, *, argument: str = "candidates") -> None:
        """Refuse candidates, or groups, that no value of the column could equal, or that a neighbour could."""
        check_match(column, listed.kind, argument=argument)
        self.check_compared(listed, argument=argument)
        if listed.kind is CandidateKind.NUMBER:
            largest = max(map(abs, cast("tuple[float, ...]", listed.values)))
            check_near(column, largest, argument="by" if argument == "groups" else "column")

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
        """The statement that answers a scan, in each group. Its columns are checked; no row is read.

        Raises:
            InvalidDataError: a column does not fit.
        """
        rows, column = self.rows, self.column
        about: dict[str, Any] = {"unit": rows.unit_column, "column": column}
        match scan:
            case CountsOf(candidates, most, argument):
                rows.check_listed(column, candidates, argument=argument)
                most = None if rows.unit_column.each_row else most
                about |= {"candidates": candidates, "max_values_per_unit": most}
                return partial(statements.count, **about, grouping=self._grouping(groups, candidates))
            case TotalsOf(clip, candidates):
                name = "column" if candidates is None else "sum"
                summed = column if candidates is None else rows.check(clip.column, argument=name)
                if candidates is not None:
                    rows.check_listed(column, candidates)
                check_numeric(summed, argument=name)
                check_near(summed, *clip.ends, argument=name)
                about |= {"column": None if candidates is None else column, "candidates": candidates}
                about |= {"amount": Amount(summed, clip.scale, clip.lower, clip.upper)}
                return partial(statements.total, **about, grouping=self._grouping(groups, candidates))
            case ValuesIn(domain, most):
                about["column"] = number = self._of_days() if domain.dated else column
                check_numeric(number)
                check_near(number, domain.lower, *([] if domain.is_open else [domain.upper]))
                about |= {"domain": domain, "max_rows_per_unit": most}
                return partial(statements.gather, **about, grouping=self._grouping(groups))
            case NamesOf(kind, most):
                check_match(column, kind, argument="kind")
                about |= {"kind": kind, "max_values_per_unit": most}
                return partial(statements.names, **about, grouping=self._grouping(groups))
            case PublicCondition():
                needed, unit = self._needed(scan), rows.unit_column
                return partial(statements.units, unit=unit, **needed, grouping=self._grouping(groups))

    def _needed(self, condition: PublicCondition) -> dict[str, Any]:
        candidates, number = condition.candidates, None
        if candidates is not None:
            self.rows.check_listed(self.column, candidates)
        if condition.summed is not None:
            number = self.rows.check(condition.summed, argument="sum")
        elif condition.is_date:
            number = self._of_days()
        elif condition.is_number:
            number = self.column
            check_numeric(number)
        matched = None if candidates is None else (self.column, candidates)
        return {"matched": matched, "number": number, "between": condition.between}

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
            self.rows.check_listed(column, listed, argument="groups")
        # A row is in one group and has one value, so nothing is to be chosen. To choose, engines may read rows twice,
        # and number them in another order each time: what is kept of a row would then depend on others.
        most = len(groups.members) if self.rows.unit_column.each_row else groups.max_per_unit
        if not isinstance(groups.members, PublicPairs):
            return Grouping(columns[0], groups.members, most)
        kinds = [each.kind for each in groups.listed]
        both = Column(groups.column, Holds.TEXT, parts=tuple(zip(columns, kinds, strict=True)))
        return Grouping(both, groups.members.texts(), most, groups.listed)


MOST_VALUES = 10_000
"""Of a condition on rows. They are all written into the certificate."""


class UnopenedTable:
    """In place of a table when questions are only planned: any name is a column, and no row is looked at.

    A column of missing values fits every question.
    """

    shown = "<no table>"

    def filtered(self, conditions: object) -> Self:
        """Itself."""
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


def _compared(statement: Statement, format: Format) -> Statement:
    """The statement with its lists as cells are compared with them."""
    parts = tuple(compared(each, format) for each in statement.parts)
    lists = {name: compared(each, format) for name, each in statement.lists.items() if not (parts and name == "part")}
    if parts:
        lists["part"] = compared_pairs(statement.lists["part"], statement.parts, parts)
    return replace(statement, lists=lists, parts=parts)
