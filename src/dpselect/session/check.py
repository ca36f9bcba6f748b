"""Exactly which rows a question would count, and what the others hold: for the holder of the data, never for an answer.

What a cell means is decided by the row rules, as for a question. The cells are written into a table of the engine, and
everything is counted there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.checks import finite_bounds, whole_or_double_bounds
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, printable
from dpselect.formats import Format
from dpselect.privacy import EachRow
from dpselect.questions.counts import listed_values
from dpselect.questions.records import counted
from dpselect.questions.wording import scope
from dpselect.rows.arrow import Array, pc
from dpselect.rows.columns import LINE
from dpselect.rows.duckdb import Connection, DuckDB, Embedded, answer, candidate_table
from dpselect.rows.row_rules import BLANKS, MISSING, NO_BREAK_BLANKS, PATTERNS, Number, RowValue, Value, rule
from dpselect.rows.scan import Cell, Scan, literal
from dpselect.rows.statements import filtered, is_interval, statement_of
from dpselect.rows.table import checked_progress
from dpselect.session.advice import LONGEST, SHOWN, TEXTS, Written, advised, as_options, short
from dpselect.session.asking import Asking, groups_of, rows_of
from dpselect.session.dataset import Dataset
from dpselect.summaries import CandidateKind, CountsOf, PublicCandidates, PublicClip, PublicDomain, TotalsOf, UnitsOf
from dpselect.summaries.domain import are_dates, public_dates

WARNING = (
    "For the holder of the data only: these numbers are exact, and cells are shown as they stand in the table. Acting"
    " on them is outside the guarantee: choose candidates, bounds and epsilon without them."
)
FEW_UNITS = 20
_WAYS = 10_000  # to write a column, which an advice is tried on

NO_VALUE = (
    f"(?i:|{'|'.join(MISSING)}|n[./]?a[.]?|nil|missing|unknown|not available|undefined|[-?.]+"
    "|#(n/a|ref!|div/0!|name[?]|value!|num!|null!))"
)
_NOBODY = "-1|-9|-99|-999|no id|anonymous|totals?:?|subtotal|grand total|sum|all|overall|summe|gesamt|insgesamt"
"""What else stands in place of a unit where no person is meant. Each counts as one unit."""
_WORD = f"(lower(name) = lower(unit) OR regexp_full_match(name, '(?i:{_NOBODY})|{NO_VALUE}'))"
_MANY = f"n > greatest({FEW_UNITS}, 0.05 * rows, 10.0 * rows / units)"
_SHAPE = "regexp_replace(regexp_replace(name, '[0-9]+', '0', 'g'), '\\p{L}+', 'a', 'g')"
_UNLIKE = f"NOT {_WORD} AND {_SHAPE} <> (SELECT {_SHAPE} FROM named GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)"
_ROUNDED = "regexp_full_match(name, '[0-9][.,][0-9]+[eE][+][0-9]+')"
_ARE_WHOLE = "bool_and(regexp_full_match(name, '[1-9][0-9]*'))"
_TWICE = f"same IN (SELECT same FROM named GROUP BY same HAVING count(*) > 1 AND NOT {_ARE_WHOLE})"
_SUSPECT = (
    (_MANY, 1.0, "have a value of {} that very many rows have, and that counts as one person"),
    (_WORD, 1.0, "have a word for {} that may mean nobody"),
    (_UNLIKE, 0.03, "have a value of {} that is written unlike nearly all others"),
    (_ROUNDED, 1.0, "have a value of {} that a spreadsheet may have rounded, so that several become one"),
    (_TWICE, 1.0, "have a value of {} that may be another spelling of one already counted, so that it counts twice"),
)
"""Which units may be no people, up to which share of them it is said, and how. Of a type with names the first two."""
_DIGITS = "regexp_replace(name, '[^0-9]', '', 'g')"
_SAME = (  # equal for names of units that a person may take for the same; of telephone numbers the last nine digits
    f"CASE WHEN regexp_full_match(name, '([+(]|0[1-9 (/.-])[0-9 ()/.-]*') AND strlen({_DIGITS}) > 8"
    f" THEN 'n' || right({_DIGITS}, 9) WHEN regexp_full_match(name, '[0-9]+') THEN 'n' || ltrim(name, '0')"
    " WHEN regexp_full_match(name, '[0-9]+([.][0-9]*)?[eE][+]?[0-9]+') THEN 'n' || TRY_CAST(name AS HUGEINT)"
    " ELSE 't' || trim(regexp_replace(lower(name), '[\\s\\x{200b}\\x{feff}]+', ' ', 'g')) END"
)

_CALLED = {  # what is not read, and what is written as it should be, and yet cannot be read
    CandidateKind.NUMBER: ("number", ""),
    CandidateKind.INTEGER: ("whole number", "a whole number beyond 2^63"),
    CandidateKind.DATE: ("date", "a date that does not exist"),
    CandidateKind.BOOLEAN: ("true or false", ""),
}
_ODD_QUOTES = '[^"]*"([^"]*"[^"]*")*[^"]*'
_HELP = (  # what may help to read lines that look so, where this word of a format is not declared; the first that fits
    (".*\ufffd.*", "encoding", "If the file was written on Windows: Format(encoding='cp1252')."),
    ('.*=".*', "", '="..." is a formula for spreadsheets: write the text alone.'),
    (_ODD_QUOTES, "quoted_line_breaks", "If line breaks stand inside quotes: Format(quoted_line_breaks=True)."),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column, unit: the names of both columns.
        units, usable_units: different ones in all rows; those with a row that counts.
        rows, usable_rows: all there are; those with a unit and all that the question asks for.
        problems: what may make an answer useless, each in a sentence; empty if nothing looks wrong.
        about: which values are meant, and of which rows it is, in sentences.
    """

    column: str
    unit: str
    units: int
    usable_units: int
    rows: int
    usable_rows: int
    problems: tuple[str, ...] = ()
    about: tuple[str, ...] = ()

    def as_options(self) -> Check:
        """With what the command line takes in the sentences."""
        return replace(self, problems=tuple(map(as_options, self.problems)))

    def __str__(self) -> str:
        problems = [f"- {each}" for each in self.problems] or ["Nothing looks wrong."]
        return "\n".join([WARNING, "", *self.about, "", *problems])

    def __repr__(self) -> str:
        return f"Check({self.column!r}, unit={self.unit!r})"


def check(
    source: object,
    column: str,
    *,
    unit: str | EachRow | None = None,
    candidates: object = None,
    between: tuple[float | Fraction, float | Fraction] | None = None,
    dates: object = None,
    bounds: tuple[object, object] | None = None,
    step: float | None = None,
    sum: str | None = None,  # the word that says it, here and in `Dataset.best_by`
    clip: tuple[float | Fraction, float | Fraction] | None = None,
    format: Format | None = None,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Count exactly what a question would read of a table, and show what it would leave out.

    For the holder of the data only: what it returns is exact and must not be shown to others. It charges nothing.
    Candidates, bounds or an epsilon chosen by it are outside the guarantee (``docs/checking.md``).

    Args:
        source: as for `dpselect.Dataset`; or such a data set, or a view of one, with the conditions and groups of it.
        column: name of the column of the question.
        unit, format, progress: as for `dpselect.Dataset`, which has its own `unit` and `format`.
        candidates, dates: of the question. Without any, and without `between`, it is about numbers.
        between: of `dpselect.Dataset.count`: two numbers.
        bounds, step: of the question: two numbers, or the first and the last date.
        sum, clip: of the question: the column that is summed for each candidate, and the most that a unit adds. The
            clip alone is that of `dpselect.Dataset.sum`.

    Raises:
        InvalidCandidatesError: the candidates or dates are no such list.
        InvalidDataError: there is no such table or column, or its rows are on a server or in Spark.
        InvalidParameterError: another argument is invalid.

    >>> import dpselect as dps
    >>> checked = dps.check("examples/data/adult.csv", "capital_gain", unit="person_id", bounds=(0, 90_000), step=1)
    >>> for problem in checked.problems:
    ...     print(problem)
    159 of 32,561 rows (0.5%) are above the upper bound, and are counted as if they were equal to it.
    """
    progress = checked_progress(progress)
    if not isinstance(source, Asking):
        source = Dataset(source, unit=unit, format=format)  # pyright: ignore[reportArgumentType] - None is refused there
    elif unit is not None or format is not None:
        name = "format" if unit is None else "unit"
        raise InvalidParameterError(name, Shown("<given>"), "nothing, because the Dataset has its own")
    rows, groups = rows_of(source), groups_of(source)
    values = {"candidates": candidates, "between": between, "dates": dates, "bounds": bounds}
    given = [name for name, value in {**values, "clip": clip if sum is None else None}.items() if value is not None]
    if len(given) > 1:
        hint = "With `sum`, the column that is summed, it is that of `best_by`." * (given[1] == "clip")
        raise InvalidParameterError(given[1], Shown("<given>"), f"nothing, because `{given[0]}` is given", hint)
    listed, within, ends = listed_values(candidates), None, ()
    said = "bound, and are counted as if they were equal to it"
    if dates is not None or are_dates(bounds):
        listed = public_dates(dates, bounds=bounds, step=1 if step is None else step)
    elif sum is not None and listed is None:
        PublicCandidates.given(None)  # which is refused
    elif bounds is not None:
        domain = PublicDomain.given(bounds, step=step)
        ends = domain.lower, domain.upper
    elif between is not None:
        within = whole_or_double_bounds(between, "between")
    if clip is not None or sum is not None:
        ends, said = finite_bounds(clip, "clip"), "end of the clip, which is added in their place"
    if groups is not None and len(groups.columns) > 1:
        hint = "Check each column of a cross table by itself."
        raise InvalidParameterError("by", Shown("<several columns>"), "one column", hint)
    engine = rows.engine
    if not isinstance(engine, Embedded):
        hint = "Check some rows in a frame, such as frame.limit(1_000_000).toPandas()."
        raise InvalidDataError("source", Shown(rows.shown), "rows that are in files or in this process", hint)
    needed = UnitsOf(between=within or (None, None)) if listed is None else UnitsOf(CountsOf(listed))
    if sum is not None and listed is not None:  # whatever the clip is, of a number
        needed = UnitsOf(TotalsOf(PublicClip(sum, Fraction(1), 0, 0), listed))
    asked = filtered(statement_of(rows.lookup(column, needed, groups)), rows.conditions)
    sides = zip("<>", ("below the lower", "above the upper"), map(float, ends), strict=False)
    beyond = {f"are {side} {said}.": f"{sign} {end!r}" for sign, side, end in sides}

    def query(connection: Connection) -> Check:
        for name, each in reads.items():
            if isinstance(each, Value):
                connection.register(f"{name}_list", candidate_table({name: each.listed}, engine.format))
        look = _Look(connection, engine, reads, left_out)
        problems, names = [*look.of_rows()], [printable(each.name) for each in look.columns.values()]
        for at, name in enumerate(look.columns):
            sentences = look.of_column(name, beyond, all_occur=bool(at) or not are_dates(bounds))
            problems += [f"{names[at]}: {each}" if at else each for each in sentences]
        many = f"several rows, up to {look.most:,}" if listed is None else "several of the values"
        several = f", {look.several:,} of them with {many}" if within is None and look.several else ""
        names[0] += f", for {'numbers' if listed is None else counted(len(listed), 'value')}"
        about = (
            f"{' and '.join(names)}: {look.usable_rows:,} of {look.rows:,} rows count.",
            f"{printable(rows.unit)}: {look.usable_units:,} of {look.units:,} units take part{several}.",
            *filter(None, [scope([each.words for each in rows.conditions])]),
        )
        numbers = {name: getattr(look, name) for name in ("units", "usable_units", "rows", "usable_rows")}
        return Check(column=column, unit=rows.unit, problems=tuple(problems), about=about, **numbers)

    left_out, reads = list[int](), {name: value for name, (value,) in asked.reads.items()}
    cells = {name: Cell.of(each) for name, each in reads.items()}
    columns = {name: each.column for name, each in reads.items()}
    cells |= {f"raw_{name}": _AsWritten(each.of or each) for name, each in columns.items() if each.holds in TEXTS}
    cells["nth"] = Cell(LINE)
    scan = Scan(engine.source, cells, format=engine.format)
    scan.skipped = left_out.extend
    return answer(scan, query, progress=progress, memory_limit=engine.memory_limit)


class _AsWritten(Cell):
    """The first characters of a cell before its format is applied."""

    def made(self, array: Array, format: Format | None) -> Array:
        return pc.utf8_slice_codeunits(array, 0, LONGEST)


class _Look:
    """The rows in two tables: ``cells``, of all rows, and ``units``. Exact numbers, and sentences with the first cells.

    Of each column that matters, ``cells`` has the value, the place of the reason why it does not count, if there is
    one, and the text of the cell; of units and of typed columns only with a reason.

    Attributes:
        columns: what a question needs of a row, by name; the first is its column.
        rows, units: all there are; the usable ones have a unit and all that is needed, or such a row.
        several: usable units with several usable rows, or, of candidates, with several of them.
        most: usable rows of one unit.
    """

    def __init__(
        self, connection: Connection, engine: Embedded, reads: Mapping[str, RowValue], left_out: list[int]
    ) -> None:
        self._sql, self._source, self._left_out = connection.execute, engine.source, left_out
        self._words: dict[str, Any] = {} if engine.format is None else engine.format.words
        self._lists = {name: value.listed for name, value in reads.items() if isinstance(value, Value)}
        self._reasons = dict[str, list[str]]()
        self._read = {name: value.column for name, value in reads.items()}
        self.columns = {name: self._read[name] for name in ("what", "number", "added", "part") if name in self._read}
        kinds = {name: each.kind for name, each in self._lists.items()}
        self._kinds = {**dict.fromkeys(self._read, CandidateKind.NUMBER), **kinds}
        self._unit, met, shown, kept = printable(self._read["who"].shown), ["true"], ["nth"], list[str]()
        for name, value in reads.items():
            listed, is_text = self._lists.get(name), value.column.holds in TEXTS
            read = f"({rule(Number(value.column) if name in ('number', 'added') else value, name, DuckDB())})"
            counts = f"({rule(value, name, DuckDB())}) IS NOT NULL"
            if listed is not None:
                interval = is_interval(listed) and f"BETWEEN {listed.values[0]} AND {listed.values[-1]}"
                counts = f"{read} {interval or f'IN (SELECT {name} FROM {name}_list)'}"
            if name not in ("who", *self.columns):
                met.append(counts)
                continue
            cell = f"raw_{name}" if is_text else name
            reasons = self._reasons_of(name, f"{cell}::VARCHAR", is_text=is_text)
            self._reasons[name] = [*reasons]
            why = " ".join(f"WHEN {where} THEN {at}" for at, where in enumerate(reasons.values()))
            shown.append(f"{read} AS is_{name}, CASE WHEN {counts} THEN NULL {why} END::TINYINT AS why_{name}")
            shown.append(f"{cell} AS text_{name}")  # which is made a text only where it is kept
            if name == "who" or not is_text:
                kept.append(f"CASE WHEN why_{name} >= 0 THEN text_{name}::VARCHAR END AS text_{name}")
        inner = f"SELECT {', '.join(shown)} FROM rows WHERE {' AND '.join(met)}"
        self._sql(f"CREATE TEMP TABLE cells AS SELECT * REPLACE ({', '.join(kept)}) FROM ({inner})")
        first = next(iter(self.columns))
        used = f"CASE WHEN coalesce({', '.join(f'why_{name}' for name in self.columns)}) IS NULL THEN is_{first} END"
        several = f"min({used}) < max({used})" if first in self._lists else f"count({used}) > 1"
        self._sql(
            f"CREATE TEMP TABLE units AS SELECT is_who AS who, count(*) AS n, count({used}) AS usable,"
            f" {several} AS several FROM cells WHERE is_who IS NOT NULL GROUP BY 1"
        )
        numbers = self._sql(
            "SELECT (SELECT count(*) FROM cells), coalesce(sum(n), 0)::BIGINT, coalesce(sum(usable), 0)::BIGINT,"
            " count(*), count(*) FILTER (usable > 0), count(*) FILTER (several), coalesce(max(usable), 0) FROM units"
        ).fetchall()
        ((self.rows, self._known, self.usable_rows, self.units, self.usable_units, self.several, self.most),) = numbers
        self._sql(
            f"CREATE TEMP VIEW named AS SELECT *, {self.rows} AS rows, {self.units} AS units,"
            f" {literal(self._unit)} AS unit, who::VARCHAR AS name, {_SAME} AS same FROM units"
        )
        self._written = {name: self._written_in(name) for name in self.columns}
        self._no_row = "No row meets the conditions." if met[1:] else "The table has no rows."

    def _reasons_of(self, name: str, text: str, *, is_text: bool) -> dict[str, str]:
        """Why a cell may not count, and in SQL where; the first that fits."""
        nothing, kind = "nothing, or an object, a list or a time" if is_text else "nothing", self._kinds[name]
        if is_text and self._source.lines([1]):
            nothing = "text that cannot be read, or quotes inside a cell"
        no_value = f"regexp_full_match(trim({text}, '{BLANKS}{NO_BREAK_BLANKS}'), '{NO_VALUE}')"
        reasons = {nothing: f"{text} IS NULL", "nothing, or a word for a missing value": no_value}
        if name == "who" or kind is CandidateKind.TEXT:
            return {**reasons, "a value that is not listed": "true"}
        called, beyond = _CALLED[kind]
        other = "a value that is not listed" if name in self._lists else "a number that is not between the two"
        reasons[other] = f"is_{name} IS NOT NULL"
        if beyond and not self._words:
            reasons[beyond] = f"length({text}) < {LONGEST} AND regexp_full_match({text}, '{PATTERNS[kind]}')"
        return {**reasons, f"no {called} as it is written here": "true"}

    def _written_in(self, name: str) -> Written:
        about = self.columns[name], self._kinds[name], self._lists.get(name)
        column, kind, _ = about
        if column.holds not in TEXTS:
            return Written(*about, {}, [])
        shape, last = f"text_{name}", len(self._reasons[name]) - 1
        is_read = f"why_{name} IS NULL" if kind is CandidateKind.TEXT else f"is_{name} IS NOT NULL"
        if kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
            shape = f"regexp_replace(regexp_replace({shape}, '[0-9]', '0', 'g'), '0{{5,}}', '0000', 'g')"
        found = self._sql(
            f"SELECT {is_read}, count(*) AS n, min_by(text_{name}, nth) FROM cells WHERE is_who IS NOT NULL AND"
            f" ({is_read} OR why_{name} = {last}) AND length(text_{name}) < {LONGEST} GROUP BY 1, {shape}"
            f" ORDER BY n DESC, min(nth) LIMIT {_WAYS}"
        ).fetchall()
        if len(found) == _WAYS and kind is not CandidateKind.TEXT:  # others may be written in ways that are not known
            found = []
        unread = {text: rows for is_read, rows, text in found if not is_read}
        return Written(*about, unread, [text for is_read, _, text in found if is_read])

    def of_rows(self) -> Iterator[str]:
        """What is said of lines that are not valid rows, of rows without a unit, and of units that may be no people."""
        units, usable, rows = self.units, self.usable_units, self.rows
        if count := len(self._left_out):
            first = self._left_out[:SHOWN]
            why = "no object of JSON, or more than 1 MiB"
            if self._source.lines(first):
                why = "another number of fields than the first line, quotes that do not pair up, or more than 1 MiB"
            yield f"{count:,} of {rows + count:,} lines are invalid: {why}{self._shown((row, None) for row in first)}"
        if not rows:
            yield self._no_row
        yield from self._why("who", rows, f" have no {self._unit}, and do not count")
        if rows and usable <= FEW_UNITS and rows >= 10 * max(1, usable):
            few, noise = (f"Only {counted(usable, 'unit')}", "may be mostly") if usable else ("No unit", "will be pure")
            whose = f" Does {self._unit} say whose a row is?" if 0 < units <= FEW_UNITS else ""
            yield f"{few} will take part: the answer {noise} noise.{whose}"
        who = self._read["who"]
        for where, share, said in () if who.each_row else _SUSPECT if who.holds in TEXTS else _SUSPECT[:2]:
            counts = f"SELECT count(*), coalesce(sum(n), 0)::BIGINT FROM named WHERE {where}"
            ((number, found),) = self._sql(counts).fetchall()
            if 0 < number <= share * units:
                first = (  # in pairs
                    f"SELECT min(nth), name FROM named JOIN cells ON is_who = who WHERE {where} GROUP BY name, same"
                    f" ORDER BY min(min(nth)) OVER (PARTITION BY same), 1, 2 LIMIT {SHOWN}"
                )
                shown = self._shown(self._sql(first).fetchall())
                yield f"{_share(found, rows)} {said.format(self._unit)}{shown}"

    def of_column(self, name: str, beyond: Mapping[str, str], *, all_occur: bool) -> Iterator[str]:
        """What is said of its cells in rows with a unit, of numbers `beyond` an end, and of values that are absent."""
        yield from self._why(name, self._known)
        listed, usable = self._lists.get(name), f"FROM cells WHERE is_who IS NOT NULL AND why_{name} IS NULL"
        for said, where in beyond.items() if listed is None else ():
            ((count,),) = self._sql(f"SELECT count(*) {usable} AND is_{name} {where}").fetchall()
            if count:
                yield f"{_share(count, self._known)} {said}"
        if listed is not None and all_occur:
            not_held = f"{name} NOT IN (SELECT DISTINCT is_{name} {usable})"
            absent = self._sql(f"SELECT place FROM {name}_list WHERE {not_held} ORDER BY place").fetchall()
            shown = ", ".join(short(listed[place]) for (place,) in absent[:10])
            more = f", and {len(absent) - 10:,} more" if len(absent) > 10 else ""
            no_unit = f" with a {self._unit}" if self._known < self.rows else ""
            if absent:
                yield f"No row{no_unit} has {len(absent):,} of {len(listed):,} listed values: {shown}{more}."
        yield from filter(None, [advised(self._written[name], [*self._written.values()], self._words)])

    def _why(self, name: str, of: int, said: str = "") -> Iterator[str]:
        """Why the cells of some rows do not count; what most rows have comes first."""
        first_cells = f"min_by(coalesce(text_{name}, ''), nth, {SHOWN}), min(nth, {SHOWN})"
        some = f"is_who IS {'' if name == 'who' else 'NOT '}NULL AND why_{name} >= 0"
        found = f"SELECT why_{name}, count(*), {first_cells} FROM cells WHERE {some} GROUP BY 1 ORDER BY 2 DESC, 4"
        for why, count, texts, places in self._sql(found).fetchall():
            shown = self._shown(zip(places, texts if why else [None] * SHOWN, strict=False))
            yield f"{_share(count, of)}{said}: {self._reasons[name][why]}{shown}"

    def _shown(self, cells: Iterable[tuple[int, str | None]]) -> str:
        """The first cells with their places behind a sentence; or else their lines, and what may help to read them."""
        first, places, help = [*cells], dict[str, list[str]](), ""
        for row, text in first:
            if text and text.strip():
                places.setdefault(short(text), []).append(self._source.place(row))
        shown = [text + (f" ({', '.join(where)})" if all(where) else "") for text, where in places.items()]
        if all(text is None for _, text in first) and self._source.has_lines:
            rows = [row for row, _ in first]
            shown, lines = [*map(self._source.place, rows)], self._source.lines(rows)
            texts = [line.decode(errors="replace") for line in lines]
            shown = [f"{place}: {short(text)}" for place, text in zip(shown, texts, strict=False)] or shown
            undeclared = [(pattern, said) for pattern, word, said in _HELP if word not in self._words]
            fits = (said for pattern, said in undeclared if any(re.fullmatch(pattern, each) for each in texts))
            help = next(fits, "")
        return f", such as {', '.join(shown)}. {help}".rstrip() if shown else "."


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})"
