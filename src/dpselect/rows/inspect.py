"""What the rows of a table hold, exactly: for the holder of the data only, never for an answer.

One pass writes the cells of a check into a temporary table of the engine; everything else is counted there. What a cell
means is decided by the row rules, as for a question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from dpselect.formats import Format
from dpselect.rows.columns import Column, Condition, Holds, Progress
from dpselect.rows.duckdb.arrow import RecordBatch, of_numpy, pa, pc
from dpselect.rows.duckdb.cells import Cell, compared
from dpselect.rows.duckdb.connection import Connection, literal
from dpselect.rows.duckdb.dialect import DUCKDB
from dpselect.rows.duckdb.engine import Answer, Embedded, answer, candidate_table
from dpselect.rows.duckdb.scan import LINE, Scan, Source
from dpselect.rows.row_rules import MISSING, Number, Unit, Value, Within, rule
from dpselect.summaries import CandidateKind, PublicCandidates

SHOWN = 3
"""Cells of a kind that are shown."""
FEW_UNITS = 20
_LARGE = 0.05
"""Share of the rows, from which on a unit is looked at."""
_RARE = 0.03
"""Units that are written unlike all others are at most this share of them."""
_LONGEST, _WAYS = 100, 10_000
"""Characters of a cell, and ways to write a column, that are looked at."""
_TEXT = (Holds.ANYTHING, Holds.TEXT)
_NOBODY = (
    *("-", "?", "-1", "#n/a", "n.a.", "no id", "not available", "unknown", "anonymous", "missing", "undefined"),
    *("total", "totals", "subtotal", "grand total", "sum", "all", "overall", "summe", "gesamt", "insgesamt"),
)
"""What stands in place of a unit where no person is meant, in small letters. Each counts as one unit."""
_IS_WORD = f"(lower(name) IN ({', '.join(map(literal, _NOBODY))}))"
_DIGITS = "regexp_replace(name, '[^0-9]', '', 'g')"
_ALIKE = (
    f"CASE WHEN regexp_full_match(name, '[+0(][0-9 ()/.-]*') AND strlen({_DIGITS}) > 8 THEN 'p' || right({_DIGITS}, 9)"
    " WHEN regexp_full_match(name, '[0-9]+') THEN 'n' || ltrim(name, '0')"
    " WHEN regexp_full_match(name, '[0-9]+([.][0-9]*)?[eE][+]?[0-9]+') THEN 'n' || TRY_CAST(name AS HUGEINT)"
    " ELSE 't' || trim(regexp_replace(lower(name), '[\\s\\x{200b}]+', ' ', 'g')) END"
)
"""Equal for names of units that a person may take for the same; of telephone numbers the last nine digits."""
_SHAPE = "regexp_replace(regexp_replace(name, '[0-9]+', '0', 'g'), '\\p{L}+', 'a', 'g')"
_COMMONEST = f"(SELECT {_SHAPE} FROM units GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)"
NO_VALUE = re.compile(f"(?i:|n[./]?a[.]?|#n/a|nil|missing|unknown|not available|undefined|{'|'.join(MISSING)})|[-?.]+")
_CALLED = {
    CandidateKind.NUMBER: "number",
    CandidateKind.INTEGER: "whole number",
    CandidateKind.DATE: "date",
    CandidateKind.BOOLEAN: "true or false",
}
READ, BESIDE, UNREAD = range(3)
"""A cell counts; is of the kind asked for, but not listed, or not between two numbers; is not of the kind."""


class Written(NamedTuple):
    """Rows whose cells are written alike.

    Attributes:
        text: a cell; of numbers, with 0 for each digit and at most four of these together; None: the cell is null.
        state: `READ`, `BESIDE` or `UNREAD`.
        rows: how many.
        cells: the first `SHOWN` of them, each with the number of its row, for `Source.place`.
    """

    text: str | None
    state: int
    rows: int
    cells: tuple[tuple[str, int], ...]


class Sought(NamedTuple):
    """What a question needs of a column: one of a list, or else a number.

    Attributes:
        column: the column.
        listed: the list.
        between: two numbers; others do not count.
        ends: two numbers; others count as the nearer one.
        is_range: whether the list is all dates from one to another: nobody expects each of them to occur.
        said: how to say that a number is below and above the ends, and what comes of it.
    """

    column: Column
    listed: PublicCandidates | None = None
    between: tuple[int | float, int | float] | None = None
    ends: tuple[float, float] | None = None
    is_range: bool = False
    said: tuple[str, str, str] = ("", "", "")

    @property
    def kind(self) -> CandidateKind:
        """What its cells are read as."""
        return CandidateKind.NUMBER if self.listed is None else self.listed.kind


def inspected(
    engine: Embedded,
    unit: Column,
    sought: Sequence[Sought],
    conditions: Sequence[Condition],
    progress: Progress | None,
    say: Callable[[Look], Answer],
) -> Answer:
    """What can be said of a look at every row of a table in this process that meets the conditions."""
    met = {f"condition{at}": each for at, each in enumerate(conditions)}
    asked = {f"value{at}": each for at, each in enumerate(sought)}
    both: dict[str, Condition | Sought] = {**met, **asked}
    listed = {name: compared(each.listed, engine.format) for name, each in both.items() if each.listed is not None}
    cells = {name: Cell.of(each.column, listed.get(name)) for name, each in both.items()}
    left_out: list[int] = []
    source = engine.source.counting(left_out.extend)

    def query(connection: Connection) -> Answer:
        for name, each in listed.items():
            connection.register(f"{name}_list", candidate_table(each))
        where = " AND ".join(_counts(name, each) for name, each in met.items()) or "true"
        return say(Look(connection, source, engine.format, unit, sought, where, left_out))

    scan = _Cells(source, {"unit": Cell(unit.source), **cells}, format=engine.format)
    return answer(scan, query, progress=progress, memory_limit=engine.memory_limit)


def _value(name: str, of: Condition | Sought) -> str:
    """SQL for the value of a cell, of the kind asked for."""
    value = Number(of.column) if of.listed is None else Value(of.column, of.listed.kind)
    return f"({rule(value, name, DUCKDB)})"


def _counts(name: str, of: Condition | Sought) -> str:
    """SQL for whether a cell counts."""
    if of.listed is not None:
        return f"{_value(name, of)} IN (SELECT candidate FROM {name}_list)"
    lower, upper = (None, None) if of.between is None else of.between
    return f"{rule(Within(of.column, lower, upper), name, DUCKDB)} IS NOT NULL"


class _Cells(Scan):
    """Rows with their number, ``nth``, and with the text of each cell as it was before its format was applied."""

    _next = 0

    def direct(self) -> None:
        """The engine would not say which row is which."""

    def reader(self) -> Any:
        """The stream."""
        self._read += [LINE] if self._source.has_lines else []
        more = [(f"raw_{name}", pa.large_string()) for name in self._texts] + [("nth", pa.int64())]
        return pa.RecordBatchReader.from_batches(pa.schema([*super().reader().schema, *more]), self._batches())

    @property
    def _texts(self) -> list[str]:
        return [name for name, cell in self.cells.items() if cell.column.holds in _TEXT]

    def _named(self, read: dict[Column, Any]) -> RecordBatch:
        batch = super()._named(read)
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self._texts:
            arrays[f"raw_{name}"] = pc.utf8_slice_codeunits(read[self.cells[name].column.source], 0, _LONGEST)
        first, self._next = self._next, self._next + int(batch.num_rows)
        arrays["nth"] = read[LINE] if LINE in read else of_numpy(np.arange(first, self._next))
        return pa.RecordBatch.from_pydict(arrays)


class Look:
    """The rows in two tables: ``cells``, of all rows, and ``units``. Exact numbers, and sentences with the first cells.

    Attributes:
        rows: all there are; the usable ones have a unit and all that is sought.
        units: in all rows; the usable ones have a usable row.
        several: usable units with several usable rows, or, of candidates, with several of them.
        most: the most of one.
        words: of the declared format.
    """

    def __init__(
        self,
        connection: Connection,
        source: Source,
        format: Format | None,
        unit: Column,
        sought: Sequence[Sought],
        where: str,
        left_out: Sequence[int],
    ) -> None:
        self._connection, self._source, self._sought, self._left_out = connection, source, sought, left_out
        self.words: dict[str, Any] = {} if format is None else format.words
        self._unit = printable(unit.shown)
        raw = "raw_unit" if unit.holds in _TEXT else "unit::VARCHAR"
        read, joins = [f"{rule(Unit(unit), 'unit', DUCKDB)} AS who", "nth", f"{raw} AS raw"], ""
        for at, each in enumerate(sought):
            name, value = f"value{at}", _value(f"value{at}", each)
            what = value if each.between is None else f"CASE WHEN {_counts(name, each)} THEN {value} END"
            if each.listed is not None:
                joins += f" LEFT JOIN {name}_list ON {name}_list.candidate = {value}"
                what = f"{name}_list.place"
            is_text = each.column.holds in _TEXT
            text = f"raw_{name}" if is_text else f"CASE WHEN {value} IS NULL THEN {name}::VARCHAR END"
            read.append(f"{what} AS what{at}, {value} IS NOT NULL AS is_read{at}, {text} AS text{at}")
        connection.execute(f"CREATE TEMP TABLE cells AS SELECT {', '.join(read)} FROM rows{joins} WHERE {where}")
        usable = " AND ".join(f"what{at} IS NOT NULL" for at in range(len(sought)))
        several = "count(*)" if sought[0].listed is None else "count(DISTINCT what0)"
        connection.execute(
            "CREATE TEMP TABLE units AS SELECT who::VARCHAR AS name, min(nth) AS nth, count(*) AS n,"
            f" count(*) FILTER ({usable}) AS usable, {several} FILTER ({usable}) AS several FROM cells"
            " WHERE who IS NOT NULL GROUP BY who"
        )
        self.rows, self.usable_rows, self.units, self.usable_units, self.several, self.most = self._one(
            "SELECT (SELECT count(*) FROM cells), coalesce(sum(usable), 0)::BIGINT, count(*),"
            " count(*) FILTER (usable > 0), count(*) FILTER (several > 1), coalesce(max(several), 0) FROM units"
        )

    def of_lines(self) -> Iterator[str]:
        """What is said of lines that are no rows, and of rows without a unit."""
        rows = self.rows
        if count := len(self._left_out):
            yield (
                f"{count:,} of {rows + count:,} lines are no rows: another number of fields than the first line, or"
                f" quotes that do not pair up{self._lines(self._left_out[:SHOWN])}"
            )
        if not rows:
            yield "The table has no rows."
        for each in self._grouped("CASE WHEN raw IS NOT NULL THEN '' END", "2", "raw", "who IS NULL"):
            what = f"have no {self._unit}" if each.text is not None else f"have no {self._unit} that can be read"
            yield f"{_share(each.rows, rows)} {what}: they do not count{self._shown(each)}"

    def of_units(self) -> Iterator[str]:
        """What is said of how many there are, and of those that may be no people or others once more."""
        rows, units, usable = self.rows, self.units, self.usable_units
        unit, (largest, _) = self._unit, self._units("n = (SELECT max(n) FROM units)", "LIMIT 1")
        if 0 < units <= FEW_UNITS and rows >= 10 * units:
            yield f"There {'is' if units == 1 else 'are'} only {_number_of(units)}. Is {unit} whose a row is?"
        elif rows and usable <= FEW_UNITS and rows >= 10 * max(1, usable):
            few = f"Only {_number_of(usable)}" if usable else "No unit"
            yield f"{few} will take part: the answer would be mostly noise."
        elif rows and largest.rows > max(FEW_UNITS, _LARGE * rows, 10 * rows / units):
            same = f"{_share(largest.rows, rows)} have the same {unit}{self._shown(largest)}"
            yield f"{same} They count as one person: is it one?"
        words, count = self._units(_IS_WORD)
        if count:
            yield f"{_share(words.rows, rows)} have a word for {unit} that may mean nobody{self._shown(words)}"
        unlike, count = self._units(f"{_SHAPE} <> {_COMMONEST} AND NOT {_IS_WORD}")
        if 0 < count <= _RARE * units:
            yield f"{_share(unlike.rows, rows)} have a {unit} that is written unlike all others{self._shown(unlike)}"
        alike = (
            f"SELECT count(*) - 1 AS more, min_by(name, nth, 2) AS names, min(nth, 2) AS nths FROM (SELECT *, {_ALIKE}"
            " AS same FROM units) GROUP BY same HAVING count(*) > 1"
            " AND (same[1] <> 'p' OR bool_or(regexp_matches(name, '[^0-9]')))"
        )
        pairs = self._connection.execute(f"SELECT names, nths, more FROM ({alike}) ORDER BY nths").fetchall()
        if pairs:
            both = (zip(names, nths, strict=True) for names, nths, _ in pairs[:SHOWN])
            named = ", ".join(" and ".join(self._cell(*cell) for cell in pair) for pair in both)
            may = "may be the same as another one, written in another way, and count beside it"
            yield f"{_number_of(sum(more for *_, more in pairs))} {may}: {named}."

    def of_column(self, at: int) -> tuple[list[str], tuple[Written, ...]]:
        """What is said of its cells in rows with a unit, and how they are written."""
        sought, what, shape = self._sought[at], f"what{at}", f"CASE WHEN what{at} IS NULL THEN text{at} END"
        state = f"CASE WHEN {what} IS NOT NULL THEN 0 WHEN is_read{at} THEN 1 ELSE 2 END"
        if sought.kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
            shape = f"regexp_replace(regexp_replace(text{at}, '[0-9]', '0', 'g'), '0{{5,}}', '0000', 'g')"
        written = self._grouped(shape, state, f"text{at}", "who IS NOT NULL")
        (rows,) = self._one("SELECT count(who) FROM cells")
        said, reasons = list[str](), dict[str, list[Written]]()
        for each in written:
            if each.state == 2 or (each.state == 1 and sought.listed is not None):
                reasons.setdefault(self._reason(sought, each), []).append(each)
        for reason, some in sorted(reasons.items(), key=lambda item: -sum(each.rows for each in item[1])):
            said.append(f"{_share(sum(each.rows for each in some), rows)}: {reason}{self._shown(*some)}")
        if rest := rows - sum(each.rows for each in written):
            said.append(f"{_share(rest, rows)} are written in still other ways, which are too many to tell apart.")
        values = f"FROM cells WHERE who IS NOT NULL AND {what} IS NOT NULL"
        if sought.listed is not None:
            absent = f"SELECT place FROM value{at}_list WHERE place NOT IN (SELECT {what} {values}) ORDER BY place"
            missing = [short(sought.listed[place]) for (place,) in self._connection.execute(absent).fetchall()]
            more = f", and {len(missing) - 10:,} more" if len(missing) > 10 else ""
            if missing and not sought.is_range:
                occur = f"{len(missing):,} of {len(sought.listed):,} occur in no row"
                said.append(f"{occur}: {', '.join(missing[:10])}{more}.")
        elif sought.between is not None:
            if beyond := sum(each.rows for each in written if each.state == 1):
                said.append(f"{_share(beyond, rows)} are not between the two numbers, and do not count.")
        elif sought.ends is not None:
            beyond = self._one(
                f"SELECT count(*) FILTER ({what} < $1), count(*) FILTER ({what} > $2) {values}", sought.ends
            )
            for count, where, end in zip(beyond, ("below", "above"), sought.said, strict=False):
                said += [f"{_share(count, rows)} are {where} {end}, {sought.said[2]}."] if count else []
        return said, written

    def _reason(self, sought: Sought, written: Written) -> str:
        text = written.text
        if text is None:
            if self._source.lines([row for _, row in written.cells]):
                return "text that cannot be read, or quotes inside a cell"
            return "nothing, or an object, a list or a time" if sought.column.holds in _TEXT else "nothing"
        if NO_VALUE.fullmatch(text.strip()):
            return "nothing, or a word for a missing value"
        if sought.kind is CandidateKind.TEXT or written.state == 1:
            return "a value that is not listed"
        return f"no {_CALLED[sought.kind]} as it is written here"

    def _shown(self, *written: Written) -> str:
        """The first cells with their places, behind a sentence."""
        cells = sorted({row: text for each in written for text, row in each.cells}.items())[:SHOWN]
        if all(each.text is None for each in written):
            return self._lines([row for row, _ in cells])
        places = dict[str, list[str]]()
        for row, text in cells:
            if text.strip():
                places.setdefault(text, []).append(self._source.place(row))
        shown = [short(text) + (f" ({', '.join(some)})" if all(some) else "") for text, some in places.items()]
        return f", such as {', '.join(shown)}." if shown else "."

    def _lines(self, rows: Sequence[int]) -> str:
        """Some lines, and what may help to read them."""
        texts = [line.decode(errors="replace") for line in self._source.lines(rows)]
        if not texts:
            return "."
        both = zip(rows, texts, strict=True)
        shown = ", ".join(f"{self._source.place(row)}: {short(text)}" for row, text in both)
        if "encoding" not in self.words and any("\ufffd" in text for text in texts):
            help = " If they are text of Windows: Format(encoding='cp1252')."
        elif any('="' in text for text in texts):
            help = ' ="..." is a formula for spreadsheets: write the text alone.'
        elif "quoted_line_breaks" not in self.words and any(text.count('"') % 2 for text in texts):
            help = " If line breaks stand inside quotes: Format(quoted_line_breaks=True)."
        else:
            help = ""
        return f", such as {shown}.{help}"

    def _cell(self, text: str, row: int) -> str:
        where = self._source.place(row)
        return f"{short(text)} ({where})" if where else short(text)

    def _grouped(self, shape: str, state: str, raw: str, where: str) -> tuple[Written, ...]:
        found = self._connection.execute(
            f"SELECT {shape} AS shape, {state} AS state, count(*) AS n, min_by(coalesce({raw}, ''), nth, {SHOWN}),"
            f" min(nth, {SHOWN}) FROM cells WHERE {where} GROUP BY 1, 2 ORDER BY n DESC, 5 LIMIT {_WAYS}"
        ).fetchall()
        return tuple(Written(text, state, n, tuple(zip(cells, at, strict=True))) for text, state, n, cells, at in found)

    def _units(self, where: str, limit: str = "") -> tuple[Written, int]:
        rows, names, nths, units = self._one(
            f"SELECT coalesce(sum(n), 0)::BIGINT, min_by(name, nth, {SHOWN}), min(nth, {SHOWN}), count(*)"
            f" FROM (SELECT * FROM units WHERE {where} ORDER BY nth {limit})"
        )
        return Written("", 0, rows, tuple(zip(names or (), nths or (), strict=True))), units

    def _one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        found = self._connection.execute(sql, parameters).fetchone()
        assert found is not None, "an aggregate without groups has one row"
        return found


def printable(name: str) -> str:
    """The name of a column on one line."""
    return name if name.isprintable() else repr(name)


def short(value: object) -> str:
    """A cell or a candidate in a sentence."""
    text = str(value) if isinstance(value, date) else repr(value)
    text = text if unicodedata.is_normalized("NFC", text) else ascii(value)  # else two look alike
    return text if len(text) <= 60 else f"{text[:60]}..."


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})"


def _number_of(units: int) -> str:
    return f"{units:,} unit{'' if units == 1 else 's'}"
