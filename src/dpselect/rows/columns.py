"""Names and types of columns, and what a question needs of them. They are public; refusals depend on them alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dpselect.checks import did_you_mean
from dpselect.errors import InvalidDataError, Shown, typed
from dpselect.privacy import EACH_ROW, is_each_row
from dpselect.summaries import CandidateKind, PublicCandidates


class Holds(StrEnum):
    """Types of columns, as far as they matter for matching candidates."""

    ANYTHING = "untyped values (CSV)"
    INTEGERS = "whole numbers"
    UNSIGNED = "unsigned 64-bit whole numbers"
    FLOATS = "floating-point numbers"
    SHORT_FLOATS = "32-bit floating-point numbers"
    DECIMALS = "decimal numbers"
    TEXT = "text"
    DATES = "dates"
    BOOLEANS = "booleans"
    NOTHING = "only missing values"
    TIMES = "times"
    BYTES = "bytes"
    NESTED = "nested values"
    OTHER = "values of a type that no question can use"
    UNLIKE = "other values in another file"


_NUMERIC = frozenset({Holds.INTEGERS, Holds.UNSIGNED, Holds.FLOATS, Holds.SHORT_FLOATS, Holds.DECIMALS})
_MATCHING = {
    CandidateKind.INTEGER: _NUMERIC,
    CandidateKind.NUMBER: frozenset({Holds.FLOATS, Holds.DECIMALS}),
    CandidateKind.TEXT: frozenset({Holds.TEXT}),
    CandidateKind.DATE: frozenset({Holds.DATES}),
    CandidateKind.BOOLEAN: frozenset({Holds.BOOLEANS}),
}
_MATCHED = frozenset[Holds]().union(*_MATCHING.values())

_CAST = "Convert it first, for example to numbers or text."
_DATES = (
    "If they are timestamps, and only the date matters: `as_date=True`, for files and frames; tables on servers and of"
    " Spark need a cast to dates."
)
_MEDIANS = "Of dates there are medians and quantiles, with the first and the last date as bounds."


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: as spelled in the table.
        holds: type of its values.
        hint: how to convert it with its own library if its type does not fit a question.
        each_row: whether it is read only to number the rows: each of them is another unit.
        wide: whether its type holds only whole numbers, of more digits than 64 bits or as decimals.
        stamp: whether its type is for timestamps.
        dated: whether only the dates of its timestamps are read; its values are then dates.
        days: whether its dates are read as numbers, of days since 1970.
        parts: the columns of a cross table, each with the kind of its values. Such a column is in no table: its value
            is the text of all values, see `row_rules.rule`.
    """

    name: str
    holds: Holds
    hint: str = field(default="", compare=False)
    wide: bool = field(default=False, compare=False)
    each_row: bool = False
    stamp: bool = field(default=False, compare=False)
    dated: bool = False
    days: bool = False
    parts: tuple[tuple[Column, CandidateKind], ...] = ()

    @property
    def sources(self) -> tuple[Column, ...]:
        """The columns of the table that are read, of timestamps as dates where they are read so."""
        return tuple(each for each, _ in self.parts) or (replace(self, days=False) if self.dated else self.source,)

    @property
    def source(self) -> Column:
        """The column of the table that is read."""
        if self.dated:
            return replace(self, holds=Holds.TIMES, dated=False, days=False)
        return replace(self, each_row=False, days=False) if self.each_row or self.days else self

    @property
    def as_dates(self) -> Column:
        """The column as one of dates, if it holds timestamps; else itself."""
        return replace(self, holds=Holds.DATES, dated=True) if self.stamp else self

    @property
    def shown(self) -> str:
        """What sentences call it."""
        return EACH_ROW if self.each_row else self.name

    @property
    def is_whole(self) -> bool:
        """Whether the type holds only whole numbers."""
        return self.wide or self.holds in (Holds.INTEGERS, Holds.UNSIGNED)

    def refused(self, argument: str, expected: str, otherwise: str) -> InvalidDataError:
        """The error about a column of another type than expected, with its hint or else another."""
        return InvalidDataError(argument, Shown(repr(self.name)), expected, self.described(otherwise))

    def described(self, otherwise: str = "") -> str:
        return f"This one holds {self.holds}. {self.hint or otherwise}".strip()


def check_names(names: Sequence[object], *, shown: str, capitals_count: bool = True) -> None:
    """Refuse a frame without columns, or with two of the same name for its engine, or a name that is not text."""
    if not names:
        raise InvalidDataError("source", Shown(shown), "a table with columns")
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) < len(names):
        raise InvalidDataError("source", Shown(shown), "columns whose names are text", "Rename the others first.")
    if len(set(texts)) < len(texts):
        raise InvalidDataError("source", Shown(shown), "columns with different names", "Two of them have the same.")
    if not capitals_count and len({name.casefold() for name in texts}) < len(texts):
        hint = "Two of them differ only in capitals, and names are case-insensitive here: rename one of them."
        raise InvalidDataError("source", Shown(shown), "columns with different names", hint)


def unit_of(columns: Sequence[Column], name: object, *, listed: bool) -> Column:
    """The column called `name`, if its type can identify units; or what numbers the rows, for `ROWS`."""
    if is_each_row(name, (each.name for each in columns)):
        if not columns:
            raise InvalidDataError("unit", Shown("ROWS"), "a table with at least one column")
        plain = (each for each in columns if each.holds is Holds.ANYTHING or each.holds in _MATCHED)
        return replace(next(plain, columns[0]), each_row=True)
    column = find_column(columns, name, argument="unit", listed=listed)
    if column.holds in (Holds.NESTED, Holds.OTHER, Holds.UNLIKE, Holds.TIMES):  # not compared alike in every file
        raise column.refused("unit", "a column of identifiers: numbers, text, bytes or dates", _CAST)
    return column


def find_column(columns: Sequence[Column], name: object, *, argument: str, listed: bool) -> Column:
    """The column called `name`, or an error that helps to spell it.

    It does so if the names may be `listed`: a CSV file without a header line has the first person's row there, and a
    suggestion would confirm a guess at it.
    """
    if not isinstance(name, str):
        raise InvalidDataError(argument, name, "the name of a column, as text")
    for column in columns:
        if column.name == name:
            return column
    if listed:
        names = [column.name for column in columns]
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        hint = f"{did_you_mean(name, names)} The columns are: {shown}.".lstrip()
    else:
        hint = "The first line has to hold the names of the columns; it is not shown, as it might be somebody's row;"
        hint += " dpselect columns shows it to you. If a title stands above it: `skip_lines=1`."
        hint += " Capitals count, and blanks around a name are part of it."
    if argument == "unit":
        hint += " If each row is another person: ROWS, on the command line --unit rows (docs/choosing.md)."
    raise InvalidDataError(argument, typed(name), "a column of the data", hint)


def candidate_kinds(column: Column) -> tuple[CandidateKind, ...]:
    """The kinds of candidates that the column's type can match; empty if the type does not tell."""
    return tuple(kind for kind, held in _MATCHING.items() if column.holds in held)


def check_match(column: Column, kind: CandidateKind, *, argument: str = "candidates") -> None:
    """Refuse candidates (or groups or dates, as named by `argument`) that no value of the column could equal."""
    if column.holds in (Holds.ANYTHING, Holds.NOTHING) or column.holds in _MATCHING[kind]:
        return
    if argument == "dates":
        hint = _DATES if column.holds is Holds.TIMES else "Convert it to dates first."
        raise column.refused("column", "a column of dates", hint)
    if column.holds not in _MATCHED:
        expected = "a column of whole numbers, numbers, text, dates or booleans"
        hint = _DATES if column.holds is Holds.TIMES else _CAST
        raise column.refused("by" if argument == "groups" else "column", expected, hint)
    fitting = " or ".join(map(str, candidate_kinds(column)))
    hint = f"Column {column.name!r} holds {column.holds}: give {fitting}."
    if column.holds is Holds.SHORT_FLOATS and kind is CandidateKind.NUMBER:
        hint += " In it 0.7 is 0.69999998...: convert it to doubles first, rounded to the decimals that you mean."
    elif column.hint:
        hint += f" {column.hint}"
    what = "values" if argument == "where" else argument
    raise InvalidDataError(argument, Shown(f"<{kind}>"), f"{what} of the column's type", hint)


def check_numeric(column: Column, *, argument: str = "column") -> None:
    """Refuse a column whose type has no numbers."""
    if column.days or column.holds in (Holds.ANYTHING, Holds.NOTHING) or column.holds in _NUMERIC:
        return
    hint = _MEDIANS if column.holds is Holds.DATES else "Convert it to numbers first."
    raise column.refused(argument, "a column of numbers", hint)


EXACT = 2**53  # below it, doubles tell all whole numbers apart


def check_near(column: Column, *numbers: float | Fraction, argument: str = "column") -> None:
    """Refuse public numbers that are compared as doubles, if numbers of the column may be rounded to them."""
    doubles = (Holds.FLOATS, Holds.SHORT_FLOATS, Holds.NOTHING)
    if column.holds in doubles or all(-EXACT < each < EXACT for each in numbers):
        return
    expected = "a column of doubles, or bounds, prices and decimal candidates below 2^53"
    hint = "From there on doubles skip whole numbers, and numbers would be taken for their neighbours. Whole numbers as"
    hint += " candidates or in `between` may be larger; else divide by a public number in the table first."
    raise InvalidDataError(argument, Shown(repr(column.name)), expected, hint)


Progress = Callable[[float], None]
"""Called from time to time on the caller's thread with the fraction of the input that was read, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A public list of groups, which the `column` has; for a cross table, `listed` are the values of each column.

    A unit counts in `max_groups_per_unit` of those that its usable rows have; every set is equally likely. Proof:
    ``proofs/groups.md``.
    """

    column: Column
    groups: PublicCandidates
    max_groups_per_unit: int = 1
    listed: tuple[PublicCandidates, ...] = ()


@dataclass(frozen=True, slots=True)
class Amount:
    """The whole number that a row adds to its candidate; rows without a number are left out.

    The double nearest to the number in `column` is multiplied by the double nearest to `scale`, rounded to the nearest
    whole number (half to even), and clipped to `lower` ... `upper`, whole numbers of scaled units within 2^31. All of
    it is in double precision, so that every engine computes the same. A unit's sum is clipped to the same bounds.
    """

    column: Column
    scale: Fraction
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A public condition on a row: it has one of the `listed` values, or else a number `between` ends, None being none.

    It is decided by the row alone, before contributions are bounded: other rows are looked at by no question. Proof:
    ``proofs/row_conditions.md``.
    """

    column: Column
    listed: PublicCandidates | None = None
    between: tuple[int | float | None, int | float | None] = (None, None)

    @property
    def words(self) -> dict[str, Any]:
        """What a certificate says of it."""
        if self.listed is None:
            return {"column": self.column.name, "between": [*self.between]}
        return {"column": self.column.name, "values": self.listed.words(whole=True)}
