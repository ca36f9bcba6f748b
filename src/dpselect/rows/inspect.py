"""What the rows of a table hold, exactly: for the holder of the data only, never for an answer.

What a cell means is decided by the row rules, as for a question. Parquet files are scanned by the engine where they
are; the cells of all other rows are written into a temporary table of the engine, and everything is counted there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from dpselect.errors import printable
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds, Progress
from dpselect.rows.duckdb.arrow import RecordBatch, of_numpy, pa, pc
from dpselect.rows.duckdb.cells import Cell, compared
from dpselect.rows.duckdb.connection import Connection, literal
from dpselect.rows.duckdb.dialect import DUCKDB
from dpselect.rows.duckdb.engine import Answer, Embedded, answer, candidate_table
from dpselect.rows.duckdb.scan import LINE, Scan, Source
from dpselect.rows.row_rules import MISSING, PATTERNS, Number, RowValue, Within, rule
from dpselect.rows.statements import Statement, is_interval
from dpselect.summaries import CandidateKind, PublicCandidates

SHOWN = 3
"""Cells of a kind that are shown."""
FEW_UNITS = 20
_LARGE, _RARE = 0.05, 0.03
"""Share of the rows, from which on a unit is looked at; and of the units, up to which they are unlike the others."""
LONGEST, _WAYS = 100, 10_000
"""Characters of a cell, and ways to write a column, that are looked at."""
TEXTS = (Holds.ANYTHING, Holds.TEXT)
NO_VALUE = re.compile(
    f"(?i:|{'|'.join(MISSING)}|n[./]?a[.]?|nil|missing|unknown|not available|undefined|[-?.]+"
    "|#(n/a|ref!|div/0!|name[?]|value!|num!|null!))"
)
_NOBODY = (
    *("-1", "-9", "-99", "-999", "no id", "anonymous", "total", "totals", "total:", "subtotal", "grand total", "sum"),
    *("all", "overall", "summe", "gesamt", "insgesamt"),
)
"""What else stands in place of a unit where no person is meant, in small letters. Each counts as one unit."""
_WORDS = ", ".join(map(literal, _NOBODY))
_IS_WORD = f"(lower(name) IN ({_WORDS}, lower($column)) OR regexp_full_match(name, '{NO_VALUE.pattern}'))"
_SHAPE = "regexp_replace(regexp_replace(name, '[0-9]+', '0', 'g'), '\\p{L}+', 'a', 'g')"
_SUSPECT = (
    (
        f"n > greatest({FEW_UNITS}, {_LARGE} * $rows, 10.0 * $rows / $units)",
        1.0,
        "have a {} that very many rows have, and that counts as one person",
    ),
    (_IS_WORD, 1.0, "have a word for {} that may mean nobody"),
    (
        f"NOT {_IS_WORD} AND {_SHAPE} <> (SELECT {_SHAPE} FROM named GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)",
        _RARE,
        "have a {} that is written unlike nearly all others",
    ),
    (
        "regexp_full_match(name, '[0-9][.,][0-9]+[eE][+][0-9]+')",
        1.0,
        "have a {} that a spreadsheet may have rounded, so that several become one",
    ),
    (
        "same IN (SELECT same FROM named GROUP BY same HAVING count(*) > 1"
        " AND NOT bool_and(regexp_full_match(name, '[1-9][0-9]*')))",
        1.0,
        "have a {} that may be another one in another spelling, and counts beside it",
    ),
)
"""Which units may be no people, up to which share of them it is said, and how. Of a type with names the first two."""
_DIGITS = "regexp_replace(name, '[^0-9]', '', 'g')"
_SAME = (
    f"CASE WHEN regexp_full_match(name, '([+(]|0[1-9 (/.-])[0-9 ()/.-]*') AND strlen({_DIGITS}) > 8"
    f" THEN 'n' || right({_DIGITS}, 9) WHEN regexp_full_match(name, '[0-9]+') THEN 'n' || ltrim(name, '0')"
    " WHEN regexp_full_match(name, '[0-9]+([.][0-9]*)?[eE][+]?[0-9]+') THEN 'n' || TRY_CAST(name AS HUGEINT)"
    " ELSE 't' || trim(regexp_replace(lower(name), '[\\s\\x{200b}\\x{feff}]+', ' ', 'g')) END"
)
"""Equal for names of units that a person may take for the same; of telephone numbers the last nine digits."""

_CALLED = {
    CandidateKind.NUMBER: ("number", ""),
    CandidateKind.INTEGER: ("whole number", "a whole number beyond 2^63"),
    CandidateKind.DATE: ("date", "a day that is in no calendar"),
    CandidateKind.BOOLEAN: ("true or false", ""),
}
"""What is not read, and what is written as it should be, and yet cannot be read."""
_LOOK_ALIKE = {"LATIN", "CYRILLIC", "GREEK"}
"""Scripts with letters that cannot be told from those of the others."""

_NOWHERE = -1
"""In place of the number of a row of which it is not known."""

_HELP: tuple[tuple[str, Callable[[str], object], str], ...] = (
    ("encoding", lambda text: "\ufffd" in text, "If they are text of Windows: Format(encoding='cp1252')."),
    ("", lambda text: '="' in text, '="..." is a formula for spreadsheets: write the text alone.'),
    (
        "quoted_line_breaks",
        lambda text: text.count('"') % 2,
        "If line breaks stand inside quotes: Format(quoted_line_breaks=True).",
    ),
)
"""What may help to read lines that look so, where this word of a format is not declared; the first that fits."""

READ, BESIDE, UNREAD = range(3)
"""A cell counts; is of the kind asked for, but not listed, or not between two numbers; is not of the kind."""


class Written(NamedTuple):
    """Rows whose cells are written alike.

    Attributes:
        state: `READ`, `BESIDE` or `UNREAD`.
        rows: how many.
        cells: the first `SHOWN` of them, behind the numbers of their rows; None: null.
    """

    state: int
    rows: int
    cells: Sequence[tuple[int, str | None]]

    @property
    def text(self) -> str | None:
        """A cell; of numbers and dates that are read it stands for all others."""
        return self.cells[0][1]


class Writing(NamedTuple):
    """How the cells of a column are written, which should be of a kind and, if there is a list, in it."""

    column: Column
    kind: CandidateKind
    listed: PublicCandidates | None
    written: Sequence[Written]


def inspected(
    engine: Embedded, statement: Statement, progress: Progress | None, say: Callable[[Look], Answer]
) -> Answer:
    """What can be said of a look at every row that meets the conditions of a statement."""
    unit, *_ = (value.column for value in statement.reads.values())
    listed = {name: compared(each, engine.format) for name, each in statement.lists.items()}
    cells = {name: Cell.of(value.column, listed.get(name)) for name, value in statement.reads.items()}
    scan = _Numbered(engine.source, {**cells, "who": Cell(unit.source)}, format=engine.format)

    def query(connection: Connection) -> Answer:
        for name, each in listed.items():
            connection.register(f"{name}_list", candidate_table(each))
        return say(Look(connection, engine, scan, statement))

    return answer(scan, query, progress=progress, memory_limit=engine.memory_limit)


class _Numbered(Scan):
    """Rows with their number, ``nth``, and with the text of each cell as it was before its format was applied.

    If the engine can read the files by itself, it does: their cells have types then, and their rows no numbers.
    """

    _next = 0

    def __init__(self, source: Source, cells: Mapping[str, Cell], *, format: Format | None) -> None:
        self.left_out: list[int] = []
        super().__init__(source.counting(self.left_out.extend), cells, format=format)

    def reader(self) -> Any:
        """The stream."""
        self._read += [LINE] if self._source.has_lines else []
        more = [(f"raw_{name}", pa.large_string()) for name in self._texts] + [("nth", pa.int64())]
        return pa.RecordBatchReader.from_batches(pa.schema([*super().reader().schema, *more]), self._batches())

    @property
    def _texts(self) -> list[str]:
        return [name for name, cell in self.cells.items() if cell.column.holds in TEXTS]

    def _named(self, read: dict[Column, Any]) -> RecordBatch:
        batch = super()._named(read)
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self._texts:
            arrays[f"raw_{name}"] = pc.utf8_slice_codeunits(read[self.cells[name].column.source], 0, LONGEST)
        first, self._next = self._next, self._next + int(batch.num_rows)
        arrays["nth"] = read[LINE] if LINE in read else of_numpy(np.arange(first, self._next))
        return pa.RecordBatch.from_pydict(arrays)


class Look:
    """The rows in two tables: ``cells``, of all rows, and ``units``. Exact numbers, and sentences with the first cells.

    Attributes:
        sought: what a question needs of a row, by name; the first is its column.
        lists: those that some of these have to be in.
        words: of the declared format.
        rows: all there are; the usable ones have a unit and all that is sought.
        units: in all rows; the usable ones have a usable row.
        several: usable units with several usable rows, or, of candidates, with several of them.
        most: usable rows of one unit.
    """

    def __init__(self, connection: Connection, engine: Embedded, scan: _Numbered, statement: Statement) -> None:
        self._connection, self._source, self._left_out = connection, engine.source, scan.left_out
        self.words: dict[str, Any] = {} if engine.format is None else engine.format.words
        self.lists, values = statement.lists, dict(statement.reads)
        unit = values.pop("who").column
        self._unit, self._column = printable(unit.shown), unit
        self._suspect = () if unit.each_row else _SUSPECT if unit.holds in TEXTS else _SUSPECT[:2]
        met = [_counts(name, values.pop(name), self.lists) for name in [*values] if name.startswith("condition")]
        self._is_filtered = bool(met)
        self.sought = {name: values[name] for name in sorted(values, key=["what", "number", "part"].index)}
        raw = "raw_who" if unit.holds in TEXTS else "who::VARCHAR"
        read = [f"{rule(statement.reads['who'], 'who', DUCKDB)} AS who", f"{raw} AS raw"]
        read.append(f"{_NOWHERE} AS nth" if scan.paths else "nth")
        shown = ["who", "CASE WHEN who IS NULL THEN raw END AS raw", "nth"]
        for name, value in self.sought.items():
            counts = f"coalesce({_counts(name, value, self.lists)}, false)"
            text = f"raw_{name}" if value.column.holds in TEXTS else f"CASE WHEN NOT {counts} THEN {name}::VARCHAR END"
            read.append(f"{_value(name, value)} AS {name}, {counts} AS counts_{name}, {text} AS text_{name}")
            state = f"CASE WHEN counts_{name} THEN 0 WHEN {name} IS NULL THEN 2 ELSE 1 END::TINYINT"
            shown.append(f"CASE WHEN counts_{name} THEN {name} END AS {name}, {state} AS state_{name}, text_{name}")
        kind = "VIEW" if scan.paths else "TABLE"
        inner = f"SELECT {', '.join(read)} FROM rows WHERE {' AND '.join(met) or 'true'}"
        connection.execute(f"CREATE TEMP {kind} cells AS SELECT {', '.join(shown)} FROM ({inner})")
        first, *others = self.sought
        used = f"CASE WHEN {' AND '.join(f'state_{each} = 0' for each in others) or 'true'} THEN {first} END"
        several = f"min({used}) < max({used})" if first in self.lists else f"count({used}) > 1"
        nth = _NOWHERE if scan.paths else "min(nth)"
        connection.execute(
            f"CREATE TEMP TABLE units AS SELECT who, {nth} AS nth, count(*) AS n, count({used}) AS usable,"
            f" {several} AS several FROM cells WHERE who IS NOT NULL GROUP BY who"
        )
        connection.execute(f"CREATE TEMP VIEW named AS SELECT *, who::VARCHAR AS name, {_SAME} AS same FROM units")
        self.rows, self._known, self.usable_rows, self.units, self.usable_units, self.several, self.most = self._one(
            "SELECT (SELECT count(*) FROM cells), coalesce(sum(n), 0)::BIGINT, coalesce(sum(usable), 0)::BIGINT,"
            " count(*), count(*) FILTER (usable > 0), count(*) FILTER (several), coalesce(max(usable), 0) FROM units"
        )

    def of_rows(self) -> Iterator[str]:
        """What is said of lines that are no rows, of rows without a unit, and of units that may be no people."""
        if count := len(self._left_out):
            first = self._left_out[:SHOWN]
            fields = "another number of fields than the first line, quotes that do not pair up, or more than 1 MiB"
            why = fields if self._source.lines(first) else "no object of JSON, or more than 1 MiB"
            yield f"{count:,} of {self.rows + count:,} lines are no rows: {why}{self._lines(first)}"
        if not self.rows:
            yield "No row meets the conditions." if self._is_filtered else "The table has no rows."
        if self._known < self.rows:
            without = self._grouped("CASE WHEN raw IS NOT NULL THEN '' END", "2", "raw", "who IS NULL")
            no_unit = f" have no {self._unit}, and do not count"
            yield from self._reasons(without, CandidateKind.TEXT, self._column, self.rows, no_unit)
        units, usable, rows = self.units, self.usable_units, self.rows
        if 0 < units <= FEW_UNITS and rows >= 10 * units:
            only = "is only 1 unit" if units == 1 else f"are only {units} units"
            yield f"There {only}. Does {self._unit} say whose a row is?"
        elif rows and usable <= FEW_UNITS and rows >= 10 * max(1, usable):
            few = f"Only {usable} unit{'s' if usable > 1 else ''}" if usable else "No unit"
            yield f"{few} will take part: the answer may be mostly noise."
        for where, share, said in self._suspect:
            for name, value in {"$column": literal(self._unit), "$rows": str(rows), "$units": str(units)}.items():
                where = where.replace(name, value)
            number, found = self._one(f"SELECT count(*), coalesce(sum(n), 0)::BIGINT FROM named WHERE {where}")
            if 0 < number <= share * units:
                in_pairs = "min(nth) OVER (PARTITION BY same), nth, name"
                shown = self._all(f"SELECT nth, name FROM named WHERE {where} ORDER BY {in_pairs} LIMIT {SHOWN}")
                yield f"{_share(found, rows)} {said.format(self._unit)}{self._shown(shown)}"

    def of_column(
        self, name: str, ends: Sequence[tuple[str, float, str]], *, all_occur: bool
    ) -> tuple[list[str], Writing]:
        """What is said of its cells in rows with a unit, and how they are written.

        Args:
            name: of what is sought.
            ends: of a number: how it lies beyond an end (``<`` or ``>``), the end, and what is said of it then.
            all_occur: whether each listed value is expected in some row.
        """
        column, listed, text = self.sought[name].column, self.lists.get(name), f"text_{name}"
        kind = CandidateKind.NUMBER if listed is None else listed.kind
        shape = f"CASE WHEN state_{name} > 0 THEN {text} END"
        if kind in (CandidateKind.NUMBER, CandidateKind.INTEGER) and column.holds in TEXTS:
            shape = f"regexp_replace(regexp_replace({text}, '[0-9]', '0', 'g'), '0{{5,}}', '0000', 'g')"
        written = self._grouped(shape, f"state_{name}", text, "who IS NOT NULL")
        rows, beside = self._known, [each for each in written if each.state == BESIDE]
        unread = [each for each in written if each.state == UNREAD or (each.state == BESIDE and listed is not None)]
        said = [*self._reasons(unread, kind, column, rows)]
        if rest := rows - sum(each.rows for each in written):
            said.append(f"{_share(rest, rows)} are written in still other ways, which are too many to tell apart.")
        if listed is None and (beyond := sum(each.rows for each in beside)):
            said.append(f"{_share(beyond, rows)} are not between the two numbers, and do not count.")
        for sign, end, words in ends:
            (count,) = self._one(f"SELECT count(*) FROM cells WHERE who IS NOT NULL AND {name} {sign} $1", [end])
            said += [f"{_share(count, rows)} {words}"] if count else []
        if listed is not None and all_occur:
            held = f"SELECT DISTINCT {name} FROM cells WHERE who IS NOT NULL AND state_{name} = 0"
            absent = self._all(f"SELECT place FROM {name}_list WHERE candidate NOT IN ({held}) ORDER BY place")
            shown = ", ".join(short(listed[place]) for (place,) in absent[:10])
            more = f", and {len(absent) - 10:,} more" if len(absent) > 10 else ""
            no_unit = f" with a {self._unit}" if rows < self.rows else ""
            said += [f"{len(absent):,} of {len(listed):,} occur in no row{no_unit}: {shown}{more}."] if absent else []
        return said, Writing(column, kind, listed, written)

    def _reasons(
        self, written: Iterable[Written], kind: CandidateKind, column: Column, of: int, what: str = ""
    ) -> Iterator[str]:
        """Why the cells of some rows do not count; what most rows have comes first."""
        reasons = dict[str, list[Written]]()
        for each in written:
            reasons.setdefault(self._reason(kind, column, each), []).append(each)
        for reason, some in sorted(reasons.items(), key=lambda item: -sum(each.rows for each in item[1])):
            shown = self._shown(cell for each in some for cell in each.cells)
            yield f"{_share(sum(each.rows for each in some), of)}{what}: {reason}{shown}"

    def _reason(self, kind: CandidateKind, column: Column, written: Written) -> str:
        if written.text is None:
            if self._source.lines([row for row, _ in written.cells]):
                return "text that cannot be read, or quotes inside a cell"
            return "nothing, or an object, a list or a time" if column.holds in TEXTS else "nothing"
        if NO_VALUE.fullmatch(written.text.strip()):
            return "nothing, or a word for a missing value"
        if kind is CandidateKind.TEXT or written.state == BESIDE:
            return "a value that is not listed"
        called, beyond = _CALLED[kind]
        return beyond if is_written(written.text, kind) and not self.words else f"no {called} as it is written here"

    def _shown(self, cells: Iterable[tuple[int, str | None]]) -> str:
        """The first cells with their places, or else their lines, behind a sentence."""
        first, places = sorted(dict.fromkeys(cells), key=lambda cell: cell[0])[:SHOWN], dict[str, list[str]]()
        if all(text is None for _, text in first):
            return self._lines([row for row, _ in first])
        for row, text in first:
            if text and text.strip():
                places.setdefault(short(text), []).append(self._place(row))
        shown = (text + (f" ({', '.join(where)})" if all(where) else "") for text, where in places.items())
        return f", such as {', '.join(shown)}." if places else "."

    def _place(self, row: int) -> str:
        return "" if row == _NOWHERE else self._source.place(row)

    def _lines(self, rows: Sequence[int]) -> str:
        """Some lines, and what may help to read them."""
        texts = [line.decode(errors="replace") for line in self._source.lines(rows)]
        places = [self._place(row) for row in rows] if self._source.has_lines else []
        shown = [f"{place}: {short(text)}" for place, text in zip(places, texts, strict=False)] or places
        helps = (said for word, is_so, said in _HELP if word not in self.words and any(map(is_so, texts)))
        return f", such as {', '.join(shown)}. {next(helps, '')}".rstrip() if shown else "."

    def _grouped(self, shape: str, state: str, raw: str, where: str) -> list[Written]:
        found = self._all(
            f"SELECT {shape} AS shape, {state} AS state, count(*) AS n, min_by(coalesce({raw}, ''), nth, {SHOWN}),"
            f" min(nth, {SHOWN}) FROM cells WHERE {where} GROUP BY 1, 2 ORDER BY n DESC, 5, 1 LIMIT {_WAYS}"
        )
        return [
            Written(state, n, [*zip(at, texts if shape is not None or state == READ else [None] * SHOWN, strict=False)])
            for shape, state, n, texts, at in found
        ]

    def _all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _one(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        (found,) = self._all(sql, parameters)  # an aggregate without groups has one row
        return found


def _value(name: str, value: RowValue) -> str:
    """SQL for the value of a cell, of the kind asked for, whether it counts or not."""
    return f"({rule(Number(value.column) if isinstance(value, Within) else value, name, DUCKDB)})"


def _counts(name: str, value: RowValue, lists: Any) -> str:
    """SQL for whether a cell counts."""
    listed: PublicCandidates | None = lists.get(name)
    if listed is None:
        return f"({rule(value, name, DUCKDB)}) IS NOT NULL"
    if is_interval(listed):
        return f"{_value(name, value)} BETWEEN {listed.values[0]} AND {listed.values[-1]}"
    return f"{_value(name, value)} IN (SELECT candidate FROM {name}_list)"


def is_written(text: str, kind: CandidateKind) -> bool:
    """Whether the row rules know this way to write a number or a date, if nothing of it was cut off."""
    return kind in PATTERNS and len(text) < LONGEST and re.fullmatch(PATTERNS[kind], text) is not None


def short(value: object) -> str:
    """A cell or a candidate in a sentence."""
    text = str(value) if isinstance(value, date) else repr(value)
    scripts = {unicodedata.name(each, "").split(" ")[0] for each in text if each.isalpha()} & _LOOK_ALIKE
    text = text if unicodedata.is_normalized("NFC", text) and len(scripts) < 2 else ascii(value)  # else two look alike
    return text if len(text) <= 60 else f"{text[:60]}..."


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})"
