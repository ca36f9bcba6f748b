"""The rules for rows, as ``docs/files.md`` says them: the unit of a row, its candidate or number, and what it adds.

Each rule is one text of SQL, completed by a `Dialect`. Its result depends on one row alone, is null if the row has no
such value, and is never an error. No backslash is in it, as engines disagree on what that means in a literal.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar

from dpselect.rows.columns import EXACT, Column, Holds
from dpselect.summaries import CandidateKind, PublicCandidates
from dpselect.summaries.domain import DAY_ZERO

MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "Null", "null", "None", "<NA>")
"""Words that data tools write for a missing value; as the text of a unit they mean that it is unknown."""

BLANKS, NO_BREAK_BLANKS = " \t\n\v\f\r", "\u00a0\u2007\u202f"
"""Characters that are ignored around a unit's name; in it each of the second is a blank."""

LONGEST_NAME = 1 << 10  # bytes of text that a name may have
MOST_DIGITS = 37  # of whole numbers that numbers are compared with, where no double holds them
_SMALLEST_WHOLE, _LARGEST_WHOLE = -(2.0**63), 2.0**63 - 1024.0
"""Every whole double from the first to the second fits into 64 bits."""

_NOBODY = ", ".join(f"'{word}'" for word in ("", *MISSING))
PATTERNS = {  # how values are written in text, in the syntax that the regular expressions of all engines share
    CandidateKind.INTEGER: "[ \t]*[+-]?[0-9]+([.]0*)?[ \t]*",
    CandidateKind.NUMBER: "[ \t]*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?[ \t]*",
    CandidateKind.DATE: "[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]*",
}

_FLOATS = (Holds.FLOATS, Holds.SHORT_FLOATS)


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a row; null if it has none."""

    column: Column


@dataclass(frozen=True, slots=True)
class Value:
    """The value in `column`, in the type of the candidates that are `listed`; null if it has no value of this type."""

    column: Column
    listed: PublicCandidates

    @property
    def words(self) -> dict[str, Any]:
        """What a certificate says of a condition that it is one of those listed."""
        return {"column": self.column.name, "values": self.listed.words(whole=True)}


@dataclass(frozen=True, slots=True)
class Name:
    """The value in `column` in the type of a kind, which an answer may contain; null if it could be no candidate.

    So it is for empty or long text, infinite or rounded numbers, and dates before the year 1 or after 9999.
    """

    column: Column
    kind: CandidateKind


@dataclass(frozen=True, slots=True)
class Number:
    """The number in `column` as the nearest double, or its date as a number of `days`; null if there is none."""

    column: Column
    days: bool = False


@dataclass(frozen=True, slots=True)
class Within:
    """1 if the number in `column` is neither below `lower` nor above `upper`, if they are given; else null.

    Whole numbers, decimals and text are compared with large whole numbers digit by digit: doubles skip some from 2^53.
    """

    column: Column
    lower: int | float | None
    upper: int | float | None

    @property
    def words(self) -> dict[str, Any]:
        """What a certificate says of such a condition."""
        return {"column": self.column.name, "between": [self.lower, self.upper]}


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


RowValue = Unit | Value | Name | Number | Within | Amount
"""A value that a query reads from a row. An `Amount` is a whole number, of a type whose sums cannot overflow."""

Condition = Value | Within
"""A public condition on a row: it has one of the values listed, or a number between two ends.

It is decided by the row alone, before contributions are bounded: other rows are looked at by no question. Proof:
``proofs/row_conditions.md``.
"""


class Dialect:
    """The SQL of the rules in one engine; braces are filled in. The defaults here are right for most engines."""

    types: ClassVar[Mapping[CandidateKind, str]] = {
        CandidateKind.INTEGER: "BIGINT",
        CandidateKind.NUMBER: "DOUBLE",
        CandidateKind.TEXT: "VARCHAR",
        CandidateKind.DATE: "DATE",
        CandidateKind.BOOLEAN: "BOOLEAN",
    }
    amount: str  # a type of whole numbers whose sums cannot overflow
    materialized: str = "MATERIALIZED "  # makes an engine keep the rows of a query that is used twice
    row_number: str = "ROW_NUMBER() OVER ()"  # a whole number that no other row has, for rows that are units
    arrive_as_text: frozenset[Holds] = frozenset()  # types of columns whose values reach the engine as text
    matches: str = "REGEXP_LIKE({}, '^({})$')"  # whether a whole text matches a pattern
    normal_form: str = "NORMALIZE({}, NFC)"  # of a valid text, as Unicode has it
    text_bytes: str = "OCTET_LENGTH({})"  # of a text in UTF-8
    digest: str = "sha2({}, 256)"  # SHA-256 of a text, in hexadecimal digits, which are compared byte by byte
    key_of_bytes: str = "{}"  # of a unit, for an engine that cannot return bytes
    known_decimal: str = "{} IS NOT NULL"  # and no NaN, where there are any
    is_whole: str = "{0} = FLOOR({0})"  # whether a double has no fraction
    half_even: str  # the whole number nearest to a double, as a double
    days: str = "({} - {})"  # from the second date to the first, as a whole number
    bit: str = "({} << CAST({} AS integer))"  # a whole number, shifted

    def cast(self, cell: str, type_: str) -> str:
        """`cell` as another type; null if it does not fit, unless an engine overrides what depends on it."""
        return f"TRY_CAST({cell} AS {type_})"

    def text(self, cell: str) -> str:
        """`cell` as text; engines compare it byte by byte."""
        return self.cast(cell, self.types[CandidateKind.TEXT])

    def valid_text(self, cell: str) -> str:
        """`cell` as text; null if it is not UTF-8."""
        return self.text(cell)

    def unit_text(self, cell: str) -> str:
        """`cell` as the name of a unit: valid text in normal form, without blanks around it, or the digits of a number.

        Proof that the engine may decide what one name is: ``proofs/counting.md``, claim 3.
        """
        text, around = f"({self.valid_text(cell)})", f"[{BLANKS}{NO_BREAK_BLANKS}]*"
        zero, whole = f"{around}-0([.]0*)?{around}", f"{around}[+-]?[0-9]+[.]0*{around}"
        is_zero = f"POSITION('-0' IN {text}) > 0 AND {self.matches.format(text, zero)}"
        is_whole = f"POSITION('.' IN {text}) > 0 AND {self.matches.format(text, whole)}"
        digits = f"TRIM(BOTH '{BLANKS}{NO_BREAK_BLANKS}' FROM SPLIT_PART({text}, '.', 1))"
        is_ascii = f"{self.text_bytes.format(text)} = CHAR_LENGTH({text})"
        blank = f"TRANSLATE({text}, '{NO_BREAK_BLANKS}', '{' ' * len(NO_BREAK_BLANKS)}')"
        plain, others = (f"TRIM(BOTH '{BLANKS}' FROM {each})" for each in (text, self.normal_form.format(blank)))
        zero_or_whole = f"WHEN {is_zero} THEN '0' WHEN {is_whole} THEN {digits}"
        return f"CASE {zero_or_whole} WHEN {is_ascii} THEN {plain} ELSE {others} END"

    def written(self, text: str, kind: CandidateKind) -> str:
        """The text, if a value of this kind is written so."""
        return f"CASE WHEN {self.matches.format(text, PATTERNS[kind])} THEN {text} END"

    def whole_double(self, number: str) -> str:
        """A double as a whole number of 64 bits; null if it does not fit or has a fraction."""
        within = f"{number} BETWEEN {self.double(_SMALLEST_WHOLE)} AND {self.double(_LARGEST_WHOLE)}"
        whole = self.cast(number, self.types[CandidateKind.INTEGER])
        return f"CASE WHEN {within} AND {self.is_whole.format(number)} THEN {whole} END"

    def whole_decimal(self, number: str) -> str:
        """A decimal as a whole number of 64 bits; null if it does not fit or has a fraction."""
        is_whole = self.matches.format(self.text(number), "-?[0-9]+([.]0*)?|0E-[0-9]+")  # as engines write it
        return f"CASE WHEN {is_whole} THEN {self.cast(number, self.types[CandidateKind.INTEGER])} END"

    def compared(self, number: str, sign: str, end: int) -> str:
        """How a number that is no double compares with a whole number; null if it has several digits more."""
        type_ = f"DECIMAL({MOST_DIGITS + 1}, {MOST_DIGITS - len(str(abs(end)))})"  # with one more, all else is beyond
        return f"{self.cast(number, type_)} {sign} CAST('{end}' AS {type_})"

    def nearest_double(self, decimal: str) -> str:
        return self.cast(decimal, self.types[CandidateKind.NUMBER])

    def day(self, date: date) -> str:
        return self.cast(f"'{date.isoformat()}'", self.types[CandidateKind.DATE])

    def product(self, number: str, factor: float) -> str:
        return f"{number} * {self.double(factor)}"

    def double(self, number: float) -> str:
        return f"CAST('{number!r}' AS {self.types[CandidateKind.NUMBER]})"

    def whole(self, number: Any) -> str:  # some engines read the smallest as a number that is too large, with a minus
        return f"CAST('{number}' AS {self.types[CandidateKind.INTEGER]})"

    def lot(self, columns: Sequence[str]) -> str:
        """A random text for each row, of rows that differ in the columns: a digest of a new key and of the columns.

        So it is the same where an engine computes a query twice. All orders of lots are equally likely, as far as the
        digest is like a random function. Each column comes after its length: no two rows give the same text.
        """
        texts = [f"CAST({name} AS {self.types[CandidateKind.TEXT]})" for name in columns]
        parts = [f"COALESCE({self.text_bytes.format(text)} || ':' || {text}, '-')" for text in texts]
        return self.digest.format(" || ".join([f"'{os.urandom(32).hex()}'", *parts]))

    def first(self, keys: Sequence[str], value: str, kind: CandidateKind) -> str:
        """The aggregate, of rows with the same keys, that is the value with the smallest lot; null if all are null."""
        drawn = f"{self.lot([*keys, value])} || CAST({value} AS {self.types[CandidateKind.TEXT]})"
        return f"CAST(SUBSTR(MIN({drawn}), 65) AS {self.types[kind]})"  # behind the 64 digits of the digest

    def bit_of(self, place: str) -> str:
        """A whole number of 64 bits in which only the bit of a place is set."""
        return self.bit.format(self.whole(1), place)

    def one_bit(self, keys: Sequence[str], place: str) -> str:
        """The aggregate, of rows with the same keys, that is the bit of one of their places, below 62; or null."""
        return self.bit_of(self.first(keys, place, CandidateKind.INTEGER))

    def chosen(self, rows: str, keys: Sequence[str], column: str, kind: CandidateKind, *, most: int) -> str:
        """The values of `column` chosen for their `keys`, at most `most` for each: those with the smallest lots.

        The choice depends on the different values of a unit and on chance alone. If it is of one, nothing is sorted.
        """
        whose = ", ".join(keys)
        if most == 1:
            return f"SELECT {whose}, {self.first(keys, column, kind)} AS {column} FROM {rows} GROUP BY {whose}"
        return self.few(f"SELECT DISTINCT {whose}, {column} FROM {rows}", keys, column, column, most)

    def few_rows(self, rows: str, keys: Sequence[str], most: int) -> str:
        """The rows, with `keys` and ``what``; at most `most` with the same keys, those with the smallest lots.

        A unit's numbers in increasing order have places 1, 2, ...; each place draws a lot. So every set of that many
        rows is equally likely, and the choice for one unit depends only on its own rows and on chance. DuckDB, which
        reads files and frames, has a way of its own (``duckdb.py``).
        """
        whose = ", ".join(keys)
        place = f"ROW_NUMBER() OVER (PARTITION BY {whose} ORDER BY what) AS place"
        return self.few(f"SELECT {whose}, what, {place} FROM ({rows}) AS usable", keys, "place", "what", most)

    def few(self, rows: str, keys: Sequence[str], by: str, kept: str, most: int) -> str:
        """Of rows that differ in `keys` and `by`, the `kept` column of at most `most` with the same keys, by lot."""
        whose = ", ".join(keys)
        drawn = f"SELECT {whose}, {kept}, {by} AS lots_of, {self.lot([*keys, by])} AS lot FROM ({rows}) AS different"
        nth = f"ROW_NUMBER() OVER (PARTITION BY {whose} ORDER BY lot, lots_of) AS nth"
        ranked = f"SELECT {whose}, {kept}, {nth} FROM ({drawn}) AS drawn"
        return f"SELECT {whose}, {kept} FROM ({ranked}) AS ranked WHERE nth <= {most}"


def column_of(value: RowValue) -> Column:
    """The column of the table that a value is read from."""
    return value.column.of or value.column


def rule(value: RowValue, cell: str, dialect: Dialect) -> str:
    """SQL for a value of a row, from SQL for the cell of its column."""
    holds = Holds.ANYTHING if value.column.holds in dialect.arrive_as_text else value.column.holds
    match value:
        case Unit(column):
            key, known = unit_rule(column, cell, dialect)
            return f"CASE WHEN {known} THEN {key} END"
        case Value(_, listed):
            return _listed(cell, holds, listed.kind, dialect)
        case Name(_, kind):
            return _name(cell, holds, kind, dialect)
        case Number(_, days) if days:
            # Before the year 1 or after 9999, the first or the last day of these.
            day = _read(cell, holds, CandidateKind.DATE, dialect)
            nearest = f"GREATEST({dialect.day(date.min)}, LEAST({dialect.day(date.max)}, {day}))"
            number = dialect.days.format(nearest, dialect.day(DAY_ZERO))
            number = dialect.cast(number, dialect.types[CandidateKind.NUMBER])
            return f"CASE WHEN ({day}) IS NOT NULL THEN {number} END"  # else null becomes the first day
        case Number():
            return _read(cell, holds, CandidateKind.NUMBER, dialect)
        case Within(_, lower, upper):
            ends = [(sign, end) for sign, end in ((">=", lower), ("<=", upper)) if end is not None]
            inside = (_compared(cell, holds, *end, dialect) for end in ends)
            return f"CASE WHEN {' AND '.join(inside)} THEN 1 END"
        case Amount(column, scale, lower, upper) if column.holds is Holds.INTEGERS and scale == 1:
            # The same as below: what a double cannot hold is beyond both bounds. An engine that knows the smallest and
            # the largest number of a column leaves out comparisons, and sums in 64 bits; it cannot for GREATEST.
            clipped = f"CASE WHEN {cell} < {lower} THEN {lower} WHEN {cell} > {upper} THEN {upper} ELSE {cell} END"
            return dialect.cast(clipped, dialect.amount)
        case Amount(_, scale, lower, upper):
            number = _read(cell, holds, CandidateKind.NUMBER, dialect)
            nearest = dialect.half_even.format(dialect.product(f"({number})", float(scale)))
            low, high = dialect.double(float(lower)), dialect.double(float(upper))
            clipped = dialect.cast(f"GREATEST({low}, LEAST({high}, {nearest}))", dialect.amount)
            return f"CASE WHEN ({number}) IS NOT NULL THEN {clipped} END"  # else null becomes a bound


def unit_rule(column: Column, cell: str, dialect: Dialect) -> tuple[str, str]:
    """SQL for the unit of a row, and for whether the row has one."""
    if column.each_row:
        return dialect.row_number, "1 = 1"
    if column.holds in (Holds.TEXT, Holds.ANYTHING):
        name = dialect.unit_text(cell)
        return name, f"{name} NOT IN ({_NOBODY})"
    if column.holds in _FLOATS:
        name = _double(cell, column.holds, dialect)
        return name, f"{name} <> {dialect.double(float('nan'))}"
    if column.holds is Holds.DECIMALS:
        return cell, dialect.known_decimal.format(cell)
    key = dialect.key_of_bytes.format(cell) if column.holds is Holds.BYTES else cell
    return key, f"{cell} IS NOT NULL"


def _read(cell: str, holds: Holds, kind: CandidateKind, dialect: Dialect) -> str:
    """A cell as a value of a kind, of numbers as the nearest double; null if it is none."""
    match kind, holds:
        case CandidateKind.TEXT, _:
            return dialect.text(cell)
        case CandidateKind.BOOLEAN, Holds.ANYTHING:
            word = f"LOWER(TRIM(BOTH '{BLANKS}' FROM {cell}))"
            return f"CASE {word} WHEN 'true' THEN true WHEN 'false' THEN false END"
        case _, Holds.ANYTHING:
            return dialect.cast(dialect.written(cell, kind), dialect.types[kind])
        case CandidateKind.INTEGER, Holds.FLOATS | Holds.SHORT_FLOATS:
            return dialect.whole_double(_double(cell, holds, dialect))
        case CandidateKind.INTEGER, Holds.DECIMALS:
            return dialect.whole_decimal(cell)
        case CandidateKind.NUMBER, Holds.FLOATS | Holds.SHORT_FLOATS:
            number = _double(cell, holds, dialect)
            return f"CASE WHEN {number} <> {dialect.double(float('nan'))} THEN {number} END"
        case CandidateKind.NUMBER, Holds.DECIMALS:
            return dialect.nearest_double(cell)
        case _:
            return dialect.cast(cell, dialect.types[kind])


def _double(cell: str, holds: Holds, dialect: Dialect) -> str:
    return cell if holds is Holds.FLOATS else dialect.cast(cell, dialect.types[CandidateKind.NUMBER])


def _listed(cell: str, holds: Holds, kind: CandidateKind, dialect: Dialect) -> str:
    """A cell as it is looked up in a list: without negative zeros, which an engine may not find where zero is."""
    value = _read(cell, holds, kind, dialect)
    return f"({value}) + {dialect.double(0.0)}" if kind is CandidateKind.NUMBER else value


def _name(cell: str, holds: Holds, kind: CandidateKind, dialect: Dialect) -> str:
    value = _listed(cell, holds, kind, dialect)
    if kind is CandidateKind.TEXT:
        value = dialect.valid_text(cell)
        return f"CASE WHEN {dialect.text_bytes.format(value)} BETWEEN 1 AND {LONGEST_NAME} THEN {value} END"
    if kind is CandidateKind.NUMBER:
        largest = sys.float_info.max if holds in _FLOATS else math.nextafter(float(EXACT), 0.0)
        low, high = dialect.double(-largest), dialect.double(largest)
    elif kind is CandidateKind.DATE:
        low, high = dialect.day(date.min), dialect.day(date.max)
    else:
        return value
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"


def _compared(cell: str, holds: Holds, sign: str, end: int | float, dialect: Dialect) -> str:
    """Whether the number in the cell is ``>=`` or ``<=`` the end, which the `sign` says."""
    up = sign == ">="
    nearest = float(end)
    if nearest < end if up else nearest > end:  # no double in between
        nearest = math.nextafter(nearest, math.inf if up else -math.inf)
    by_double = f"({_read(cell, holds, CandidateKind.NUMBER, dialect)}) {sign} {dialect.double(nearest)}"
    if holds in _FLOATS or not EXACT <= abs(end) < 10**MOST_DIGITS:
        return by_double
    written = dialect.written(cell, CandidateKind.NUMBER) if holds is Holds.ANYTHING else cell
    return f"COALESCE({dialect.compared(written, sign, int(end))}, {by_double})"
