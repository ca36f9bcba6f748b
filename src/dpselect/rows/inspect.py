"""What the rows of a table hold, exactly: for the holder of the data only, never for an answer.

What a cell means is decided by the row rules, as for a question. Parquet files are scanned by the engine where they
are; the cells of all other rows are written into a temporary table of the engine, and everything is counted there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from dpselect.errors import printable
from dpselect.rows.columns import Column, Holds, Progress
from dpselect.rows.duckdb.arrow import RecordBatch, of_numpy, pa, pc
from dpselect.rows.duckdb.cells import Cell, compared
from dpselect.rows.duckdb.connection import Connection, literal
from dpselect.rows.duckdb.dialect import DUCKDB
from dpselect.rows.duckdb.engine import Answer, Embedded, answer, candidate_table
from dpselect.rows.duckdb.scan import LINE, Scan
from dpselect.rows.row_rules import MISSING, PATTERNS, Number, Within, rule
from dpselect.rows.statements import Statement, is_interval
from dpselect.summaries import CandidateKind, PublicCandidates

SHOWN, LONGEST, _WAYS = 3, 100, 10_000
"""Cells of a kind that are shown; characters of a cell, and ways to write a column, that are looked at."""
FEW_UNITS = 20
TEXTS = (Holds.ANYTHING, Holds.TEXT)
READ, BESIDE, UNREAD = range(3)
"""A cell counts; is of the kind asked for, but not listed, or not between two numbers; is not of the kind."""
NO_VALUE = re.compile(
    f"(?i:|{'|'.join(MISSING)}|n[./]?a[.]?|nil|missing|unknown|not available|undefined|[-?.]+"
    "|#(n/a|ref!|div/0!|name[?]|value!|num!|null!))"
)

_NOBODY = "-1|-9|-99|-999|no id|anonymous|totals?:?|subtotal|grand total|sum|all|overall|summe|gesamt|insgesamt"
"""What else stands in place of a unit where no person is meant. Each counts as one unit."""
_WORD = f"(lower(name) = lower(unit) OR regexp_full_match(name, '(?i:{_NOBODY})|{NO_VALUE.pattern}'))"
_MANY = f"n > greatest({FEW_UNITS}, 0.05 * rows, 10.0 * rows / units)"
_SHAPE = "regexp_replace(regexp_replace(name, '[0-9]+', '0', 'g'), '\\p{L}+', 'a', 'g')"
_UNLIKE = f"NOT {_WORD} AND {_SHAPE} <> (SELECT {_SHAPE} FROM named GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)"
_ROUNDED = "regexp_full_match(name, '[0-9][.,][0-9]+[eE][+][0-9]+')"
_ARE_WHOLE = "bool_and(regexp_full_match(name, '[1-9][0-9]*'))"
_TWICE = f"same IN (SELECT same FROM named GROUP BY same HAVING count(*) > 1 AND NOT {_ARE_WHOLE})"
_SUSPECT = (
    (_MANY, 1.0, "have a {} that very many rows have, and that counts as one person"),
    (_WORD, 1.0, "have a word for {} that may mean nobody"),
    (_UNLIKE, 0.03, "have a {} that is written unlike nearly all others"),
    (_ROUNDED, 1.0, "have a {} that a spreadsheet may have rounded, so that several become one"),
    (_TWICE, 1.0, "have a {} that may be another one in another spelling, and counts beside it"),
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
_NO_ROW = "another number of fields than the first line, quotes that do not pair up, or more than 1 MiB"
_ODD_QUOTES = '[^"]*"([^"]*"[^"]*")*[^"]*'
_HELP = (
    ("encoding", ".*\ufffd.*", "If they are text of Windows: Format(encoding='cp1252')."),
    ("", '.*=".*', '="..." is a formula for spreadsheets: write the text alone.'),
    ("quoted_line_breaks", _ODD_QUOTES, "If line breaks stand inside quotes: Format(quoted_line_breaks=True)."),
)
"""What may help to read lines that look so, where this word of a format is not declared; the first that fits."""


End = tuple[str, float, str]
"""How a number lies beyond it (``<`` or ``>``), the end, and what is said then."""


class Written(NamedTuple):
    """Rows whose cells are written alike: how many, and the first cells behind the numbers of their rows."""

    state: int
    rows: int
    cells: Sequence[tuple[int, str | None]]

    @property
    def text(self) -> str | None:
        """A cell, or None; of numbers and dates that are read it stands for all others."""
        return self.cells[0][1]


class Writing(NamedTuple):
    """How the cells of a column are written, which should be of a kind and, if there is a list, in it."""

    column: Column
    kind: CandidateKind
    listed: PublicCandidates | None
    written: Sequence[Written]


class _Numbered(Scan):
    """Rows with their number, ``nth``, and with the text of each cell as it was before its format was applied.

    If the engine can read the files by itself, it does: their cells have types then, and their rows no numbers.
    """

    _next = 0

    def reader(self) -> Any:
        """The stream."""
        fields = {field.name: field.type for field in super().reader().schema}
        fields |= {f"raw_{name}": pa.large_string() for name in self._texts} | {"nth": pa.int64()}
        return pa.RecordBatchReader.from_batches(pa.schema([*fields.items()]), self._batches())

    @property
    def _texts(self) -> list[str]:
        return [name for name, cell in self.cells.items() if cell.column.holds in TEXTS]

    def _named(self, read: dict[Column, Any]) -> RecordBatch:
        batch = super()._named(read)
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self._texts:
            arrays[f"raw_{name}"] = pc.utf8_slice_codeunits(read[self.cells[name].column.source], 0, LONGEST)
        first, self._next = self._next, self._next + int(batch.num_rows)
        arrays.setdefault("nth", of_numpy(np.arange(first, self._next)))
        return pa.RecordBatch.from_pydict(arrays)


def inspected(
    engine: Embedded, statement: Statement, progress: Progress | None, say: Callable[[Look], Answer]
) -> Answer:
    """What can be said of a look at every row that meets the conditions of a statement."""
    left_out, source = list[int](), engine.source
    listed = {name: compared(each, engine.format) for name, each in statement.lists.items()}
    cells = {name: Cell.of(value.column, listed.get(name)) for name, value in statement.reads.items()}
    cells["who"] = Cell(statement.reads["who"].column.source)
    cells |= {"nth": Cell(LINE)} if source.has_lines else {}
    scan = _Numbered(source.counting(left_out.extend), cells, format=engine.format)

    def query(connection: Connection) -> Answer:
        for name, each in listed.items():
            connection.register(f"{name}_list", candidate_table(each))
        return say(Look(connection, engine, statement, left_out, are_numbered=not scan.paths))

    return answer(scan, query, progress=progress, memory_limit=engine.memory_limit)


class Look:
    """The rows in two tables: ``cells``, of all rows, and ``units``. Exact numbers, and sentences with the first cells.

    Attributes:
        sought: what a question needs of a row, by name; the first is its column.
        words: of the declared format.
        rows, units: all there are; the usable ones have a unit and all that is sought, or such a row.
        several: usable units with several usable rows, or, of candidates, with several of them.
        most: usable rows of one unit.
    """

    def __init__(
        self, connection: Connection, engine: Embedded, statement: Statement, left_out: list[int], *, are_numbered: bool
    ) -> None:
        self._connection, self._source, self._left_out = connection, engine.source, left_out
        self.words: dict[str, Any] = {} if engine.format is None else engine.format.words
        self._columns = {name: value.column for name, value in statement.reads.items()}
        self._lists, self._unit = statement.lists, printable(self._columns["who"].shown)
        self.sought = [name for name in ("what", "number", "part") if name in self._columns]
        read, shown, met = ["nth" if are_numbered else "-1 AS nth"], ["nth"], list[str]()
        for name, value in statement.reads.items():
            sql = f"({rule(Number(value.column) if isinstance(value, Within) else value, name, DUCKDB)})"
            counts = f"({rule(value, name, DUCKDB)}) IS NOT NULL"
            if (listed := self._lists.get(name)) is not None:
                interval = f"{sql} BETWEEN {listed.values[0]} AND {listed.values[-1]}"
                counts = interval if is_interval(listed) else f"{sql} IN (SELECT candidate FROM {name}_list)"
            if name not in ("who", *self.sought):
                met.append(counts)
                continue
            text = f"raw_{name}" if value.column.holds in TEXTS else f"{name}::VARCHAR"
            read.append(f"{sql} AS is_{name}, coalesce({counts}, false) AS counts_{name}, {text} AS text_{name}")
            is_ = "is_who" if name == "who" else f"CASE WHEN counts_{name} THEN is_{name} END"
            state = (
                f"CASE WHEN counts_{name} THEN {READ} WHEN is_{name} IS NULL THEN {UNREAD} ELSE {BESIDE} END::TINYINT"
            )
            is_whole = text.startswith("raw_") and name != "who"
            text = f"text_{name}" if is_whole else f"CASE WHEN NOT counts_{name} THEN text_{name} END"
            shown.append(f"{is_} AS is_{name}, {state} AS state_{name}, {text} AS text_{name}")
        kind, where = "TABLE" if are_numbered else "VIEW", " AND ".join(met) or "true"
        inner = f"SELECT {', '.join(read)} FROM rows WHERE {where}"
        connection.execute(f"CREATE TEMP {kind} cells AS SELECT {', '.join(shown)} FROM ({inner})")
        first, *others = self.sought
        used = f"CASE WHEN {' AND '.join(f'state_{each} = {READ}' for each in others) or 'true'} THEN is_{first} END"
        several = f"min({used}) < max({used})" if first in self._lists else f"count({used}) > 1"
        nth = "min(nth)" if are_numbered else "-1"
        connection.execute(
            f"CREATE TEMP TABLE units AS SELECT is_who AS who, {nth} AS nth, count(*) AS n, count({used}) AS usable,"
            f" {several} AS several FROM cells WHERE is_who IS NOT NULL GROUP BY 1"
        )
        self.rows, self._known, self.usable_rows, self.units, self.usable_units, self.several, self.most = self._one(
            "SELECT (SELECT count(*) FROM cells), coalesce(sum(n), 0)::BIGINT, coalesce(sum(usable), 0)::BIGINT,"
            " count(*), count(*) FILTER (usable > 0), count(*) FILTER (several), coalesce(max(usable), 0) FROM units"
        )
        connection.execute(
            f"CREATE TEMP VIEW named AS SELECT *, {self.rows} AS rows, {self.units} AS units,"
            f" {literal(self._unit)} AS unit, who::VARCHAR AS name, {_SAME} AS same FROM units"
        )
        self._no_row = "No row meets the conditions." if met else "The table has no rows."

    def of_rows(self) -> Iterator[str]:
        """What is said of lines that are no rows, of rows without a unit, and of units that may be no people."""
        units, usable, rows = self.units, self.usable_units, self.rows
        if count := len(self._left_out):
            first = self._left_out[:SHOWN]
            why = _NO_ROW if self._source.lines(first) else "no object of JSON, or more than 1 MiB"
            yield f"{count:,} of {rows + count:,} lines are no rows: {why}{self._shown((row, None) for row in first)}"
        if not rows:
            yield self._no_row
        yield from self._reasons("who", CandidateKind.TEXT, self._written("who", "text_who"))
        if 0 < units <= FEW_UNITS and rows >= 10 * units:
            only = "is only 1 unit" if units == 1 else f"are only {units} units"
            yield f"There {only}. Does {self._unit} say whose a row is?"
        elif rows and usable <= FEW_UNITS and rows >= 10 * max(1, usable):
            few = f"Only {usable} unit{'s' if usable > 1 else ''}" if usable else "No unit"
            yield f"{few} will take part: the answer may be mostly noise."
        column = self._columns["who"]
        for where, share, said in () if column.each_row else _SUSPECT if column.holds in TEXTS else _SUSPECT[:2]:
            number, found = self._one(f"SELECT count(*), coalesce(sum(n), 0)::BIGINT FROM named WHERE {where}")
            if 0 < number <= share * units:
                in_pairs = "min(nth) OVER (PARTITION BY same), nth, name"
                shown = self._all(f"SELECT nth, name FROM named WHERE {where} ORDER BY {in_pairs} LIMIT {SHOWN}")
                yield f"{_share(found, rows)} {said.format(self._unit)}{self._shown(shown)}"

    def of_column(self, name: str, beyond: Sequence[End], *, all_occur: bool) -> tuple[list[str], Writing]:
        """What is said of its cells in rows with a unit, and how they are written.

        Args:
            name: of what is sought.
            beyond: what is said of numbers beyond the ends.
            all_occur: whether each listed value is expected in some row.
        """
        column, listed, rows = self._columns[name], self._lists.get(name), self._known
        kind = CandidateKind.NUMBER if listed is None else listed.kind
        shape = f"CASE WHEN state_{name} <> {READ} THEN text_{name} END"
        if kind in (CandidateKind.NUMBER, CandidateKind.INTEGER) and column.holds in TEXTS:
            shape = f"regexp_replace(regexp_replace(text_{name}, '[0-9]', '0', 'g'), '0{{5,}}', '0000', 'g')"
        written = self._written(name, shape)
        said = [*self._reasons(name, kind, written)]
        if rest := rows - sum(each.rows for each in written):
            said.append(f"{_share(rest, rows)} are written in still other ways, which are too many to tell apart.")
        if listed is None:
            others = {"are not between the two numbers, and do not count.": f"state_{name} = {BESIDE}"}
            others |= {words: f"is_{name} {sign} {end!r}" for sign, end, words in beyond}
            filters = ", ".join(f"count(*) FILTER ({where})" for where in others.values())
            counts = self._one(f"SELECT {filters} FROM cells WHERE is_who IS NOT NULL")
            said += [f"{_share(count, rows)} {words}" for count, words in zip(counts, others, strict=True) if count]
        if listed is not None and all_occur:
            held = f"SELECT DISTINCT is_{name} FROM cells WHERE is_who IS NOT NULL AND state_{name} = {READ}"
            absent = self._all(f"SELECT place FROM {name}_list WHERE candidate NOT IN ({held}) ORDER BY place")
            shown = ", ".join(short(listed[place]) for (place,) in absent[:10])
            more = f", and {len(absent) - 10:,} more" if len(absent) > 10 else ""
            no_unit = f" with a {self._unit}" if rows < self.rows else ""
            said += [f"{len(absent):,} of {len(listed):,} occur in no row{no_unit}: {shown}{more}."] if absent else []
        return said, Writing(column, kind, listed, written)

    def _written(self, name: str, shape: str) -> list[Written]:
        """How the cells are written: of the unit where there is none, else of rows with a unit."""
        found = self._all(
            f"SELECT {shape} AS shape, state_{name}, count(*) AS n, min_by(coalesce(text_{name}, ''), nth, {SHOWN}),"
            f" min(nth, {SHOWN}) FROM cells WHERE is_who IS {'' if name == 'who' else 'NOT '}NULL"
            f" GROUP BY 1, 2 ORDER BY n DESC, 5, 1 LIMIT {_WAYS}"
        )
        return [
            Written(state, n, [*zip(at, texts if shape is not None or state == READ else [None] * SHOWN, strict=False)])
            for shape, state, n, texts, at in found
        ]

    def _reasons(self, name: str, kind: CandidateKind, written: Iterable[Written]) -> Iterator[str]:
        """Why the cells of some rows do not count; what most rows have comes first."""
        reasons, column = dict[str, list[Written]](), self._columns[name]
        for each in written:
            text = each.text
            if each.state == READ or (each.state == BESIDE and name not in self._lists):
                continue
            if text is None and self._source.lines([row for row, _ in each.cells]):
                reason = "text that cannot be read, or quotes inside a cell"
            elif text is None:
                reason = "nothing, or an object, a list or a time" if column.holds in TEXTS else "nothing"
            elif NO_VALUE.fullmatch(text.strip()):
                reason = "nothing, or a word for a missing value"
            elif kind is CandidateKind.TEXT or each.state == BESIDE:
                reason = "a value that is not listed"
            else:
                called, beyond = _CALLED[kind]
                reason = beyond if is_written(text, kind) and not self.words else f"no {called} as it is written here"
            reasons.setdefault(reason, []).append(each)
        of, what = (self.rows, f" have no {self._unit}, and do not count") if name == "who" else (self._known, "")
        for reason, some in sorted(reasons.items(), key=lambda item: -sum(each.rows for each in item[1])):
            shown = self._shown(cell for each in some for cell in each.cells)
            yield f"{_share(sum(each.rows for each in some), of)}{what}: {reason}{shown}"

    def _shown(self, cells: Iterable[tuple[int, str | None]]) -> str:
        """The first cells with their places behind a sentence; or else their lines, and what may help to read them."""
        first, places = sorted(dict.fromkeys(cells), key=lambda cell: cell[0])[:SHOWN], dict[str, list[str]]()
        for row, text in first:
            if text and text.strip():
                places.setdefault(short(text), []).append("" if row < 0 else self._source.place(row))
        shown, help = [text + (f" ({', '.join(where)})" if all(where) else "") for text, where in places.items()], ""
        if all(text is None for _, text in first) and self._source.has_lines:
            rows = [row for row, _ in first]
            texts = [line.decode(errors="replace") for line in self._source.lines(rows)]
            shown = [*map(self._source.place, rows)]
            shown = [f"{place}: {short(text)}" for place, text in zip(shown, texts, strict=False)] or shown
            undeclared = [(pattern, said) for word, pattern, said in _HELP if word not in self.words]
            help = next(
                (said for pattern, said in undeclared if any(re.fullmatch(pattern, each) for each in texts)), ""
            )
        return f", such as {', '.join(shown)}. {help}".rstrip() if shown else "."

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()

    def _one(self, sql: str) -> tuple[Any, ...]:
        return self._all(sql)[0]  # an aggregate without groups has one row


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
