"""What the rows of a table hold, exactly: for the holder of the data only, never for an answer.

One pass writes the cells of a check into a temporary table of the engine; everything else is counted there. What a cell
means is decided by the row rules, as for a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpselect.rows.columns import Column, Condition, Holds, Progress
from dpselect.rows.duckdb.arrow import RecordBatch, of_numpy, pa, pc
from dpselect.rows.duckdb.cells import ShortValues, compared
from dpselect.rows.duckdb.connection import Connection, literal
from dpselect.rows.duckdb.dialect import DUCKDB
from dpselect.rows.duckdb.engine import Embedded, answer, candidate_table
from dpselect.rows.duckdb.scan import LINE, Cell, Scan
from dpselect.rows.row_rules import Number, Unit, Value, Within, rule
from dpselect.summaries import CandidateKind, PublicCandidates

SHOWN = 3
"""ColumnCells of a kind that are shown."""
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


class Written(NamedTuple):
    """Rows whose cells are written alike.

    Attributes:
        text: a cell; of numbers, with 0 for each digit and at most four of these together; None: the cell is null.
        state: 0: it counts; 1: it is of the kind asked for, but not listed, or not between two numbers; 2: it is not.
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
    """

    column: Column
    listed: PublicCandidates | None = None
    between: tuple[int | float, int | float] | None = None
    ends: tuple[float, float] | None = None
    is_range: bool = False

    @property
    def kind(self) -> CandidateKind:
        """What its cells are read as."""
        return CandidateKind.NUMBER if self.listed is None else self.listed.kind


class ColumnCells(NamedTuple):
    """What one column holds in rows with a unit; and the positions of candidates that none of these has."""

    written: tuple[Written, ...]
    below: int
    above: int
    missing: tuple[int, ...]


class Inspection(NamedTuple):
    """Exact numbers, which are not private.

    Attributes:
        rows: all there are; the usable ones have a unit and all that is sought.
        units: in all rows; the usable ones have a usable row.
        several: usable units with several usable rows, or, of candidates, with several of them; and the most of one.
        nobody: rows without a unit. The text is None if the cell is null.
        largest: the unit with the most rows.
        words: rows whose unit is a word such as unknown or total.
        unlike: rows of units that are none of these words, and written unlike most others; and how many units.
        alike: how many units look like another one, and pairs of rows with such units.
        columns: of each that is sought.
        left_out: the numbers of lines that are no rows.
    """

    rows: int
    usable_rows: int
    units: int
    usable_units: int
    several: tuple[int, int]
    nobody: tuple[Written, ...]
    largest: Written
    words: Written
    unlike: tuple[Written, int]
    alike: tuple[int, list[list[tuple[str, int]]]]
    columns: tuple[ColumnCells, ...]
    left_out: tuple[int, ...] = ()


def inspected(
    engine: Embedded, unit: Column, sought: Sequence[Sought], conditions: Sequence[Condition], progress: Progress | None
) -> Inspection:
    """Look at every row of a table in this process that meets the conditions."""
    met = {f"condition{at}": each for at, each in enumerate(conditions)}
    asked = {f"value{at}": each for at, each in enumerate(sought)}
    given = {name: each.listed for name, each in {**met, **asked}.items() if each.listed is not None}
    listed = {name: compared(each, engine.format) for name, each in given.items()}
    cells = {name: Cell(each.column, ShortValues.of(listed.get(name))) for name, each in {**met, **asked}.items()}
    left_out: list[int] = []
    source = engine.source.counting(left_out.extend)

    def query(connection: Connection) -> Inspection:
        needed = [_meets(connection, name, each, listed.get(name)) for name, each in met.items()]
        _write(connection, unit, sought, listed, " AND ".join(needed) or "true")
        return _counted(connection, unit, sought)

    scan = _Cells(source, {"unit": Cell(unit.source, None), **cells}, format=engine.format)
    found = answer(scan, query, progress=progress, memory_limit=engine.memory_limit)
    return found._replace(left_out=tuple(left_out))


def _meets(connection: Connection, name: str, condition: Condition, listed: PublicCandidates | None) -> str:
    """SQL for whether a row meets a condition."""
    if listed is None:
        return f"{rule(Within(condition.column, *condition.between), name, DUCKDB)} IS NOT NULL"
    connection.register(f"{name}_list", candidate_table(listed))
    return f"{rule(Value(condition.column, listed.kind), name, DUCKDB)} IN (SELECT candidate FROM {name}_list)"


class _Cells(Scan):
    """Rows with their number, ``nth``, and with the text of each cell as it was before its format was applied."""

    _next = 0

    def direct(self) -> None:
        """The engine would not say which row is which."""

    def reader(self) -> Any:
        """The stream."""
        more = [(f"raw_{name}", pa.large_string()) for name in self._texts] + [("nth", pa.int64())]
        return pa.RecordBatchReader.from_batches(pa.schema([*super().reader().schema, *more]), self._batches())

    @property
    def _texts(self) -> list[str]:
        return [name for name, cell in self.cells.items() if cell.column.holds in _TEXT]

    @property
    def _read(self) -> list[Column]:
        return [*super()._read, LINE] if self._source.has_lines else super()._read

    def _named(self, read: dict[Column, Any]) -> RecordBatch:
        batch = super()._named(read)
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in self._texts:
            arrays[f"raw_{name}"] = pc.utf8_slice_codeunits(read[self.cells[name].column.source], 0, _LONGEST)
        first, self._next = self._next, self._next + int(batch.num_rows)
        arrays["nth"] = read[LINE] if LINE in read else of_numpy(np.arange(first, self._next))
        return pa.RecordBatch.from_pydict(arrays)


def _write(
    connection: Connection, unit: Column, sought: Sequence[Sought], listed: Mapping[str, PublicCandidates], where: str
) -> None:
    """The tables ``cells``, of all rows, and ``units``."""
    raw = "raw_unit" if unit.holds in _TEXT else "unit::VARCHAR"
    read, seen, joins = [f"{rule(Unit(unit), 'unit', DUCKDB)} AS who, nth, {raw} AS raw"], ["who, nth, raw"], ""
    for at, each in enumerate(sought):
        name, what = f"value{at}", f"named{at}"
        value = Number(each.column) if each.listed is None else Value(each.column, each.kind)
        read.append(f"{rule(value, name, DUCKDB)} AS named{at}")
        if name in listed:
            connection.register(f"list{at}", candidate_table(listed[name]))
            joins += f" LEFT JOIN list{at} ON named{at} = list{at}.candidate"
            what = f"list{at}.place"
        elif each.between is not None:
            read.append(f"{rule(Within(each.column, *each.between), name, DUCKDB)} AS within{at}")
            what = f"CASE WHEN within{at} = 1 THEN named{at} END"
        text = f"raw_{name}" if each.column.holds in _TEXT else f"CASE WHEN named{at} IS NULL THEN {name}::VARCHAR END"
        read.append(f"{text} AS text{at}")
        seen.append(f"{what} AS what{at}, named{at} IS NOT NULL AS is_read{at}, text{at}")
    every = f"SELECT {', '.join(read)} FROM rows WHERE {where}"
    connection.execute(f"CREATE TEMP TABLE cells AS SELECT {', '.join(seen)} FROM ({every}){joins}")
    usable = " AND ".join(f"what{at} IS NOT NULL" for at in range(len(sought)))
    several = "count(*)" if sought[0].listed is None else "count(DISTINCT what0)"
    connection.execute(
        "CREATE TEMP TABLE units AS SELECT who::VARCHAR AS name, min(nth) AS nth, count(*) AS n, count(*) FILTER"
        f" ({usable}) AS usable, {several} FILTER ({usable}) AS several FROM cells WHERE who IS NOT NULL GROUP BY who"
    )


def _counted(connection: Connection, unit: Column, sought: Sequence[Sought]) -> Inspection:
    (rows,) = _one(connection, "SELECT count(*) FROM cells")
    usable_rows, units, usable_units, *several = _one(
        connection,
        "SELECT coalesce(sum(usable), 0)::BIGINT, count(*), count(*) FILTER (usable > 0),"
        " count(*) FILTER (several > 1), coalesce(max(several), 0) FROM units",
    )
    alike = (
        f"SELECT count(*) - 1 AS more, min_by(name, nth, 2) AS names, min(nth, 2) AS nths FROM (SELECT *, {_ALIKE} AS"
        " same FROM units) GROUP BY same HAVING count(*) > 1"
        " AND (same[1] <> 'p' OR bool_or(regexp_matches(name, '[^0-9]')))"
    )
    pairs = connection.execute(f"SELECT names, nths, more FROM ({alike}) ORDER BY nths").fetchall()
    return Inspection(
        rows=rows,
        usable_rows=usable_rows,
        units=units,
        usable_units=usable_units,
        several=(several[0], several[1]),
        nobody=_grouped(connection, "CASE WHEN raw IS NOT NULL THEN '' END", "2", "raw", "who IS NULL"),
        largest=_units(connection, "n = (SELECT max(n) FROM units)", "LIMIT 1")[0],
        words=_units(connection, _IS_WORD)[0],
        unlike=_units(connection, f"{_SHAPE} <> {_COMMONEST} AND NOT {_IS_WORD}"),
        alike=(
            sum(more for *_, more in pairs),
            [list(zip(names, nths, strict=True)) for names, nths, _ in pairs[:SHOWN]],
        ),
        columns=tuple(_column(connection, at, each) for at, each in enumerate(sought)),
    )


def _column(connection: Connection, at: int, sought: Sought) -> ColumnCells:
    what, shape = f"what{at}", f"CASE WHEN what{at} IS NULL THEN text{at} END"
    state = f"CASE WHEN {what} IS NOT NULL THEN 0 WHEN is_read{at} THEN 1 ELSE 2 END"
    if sought.kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
        shape = f"regexp_replace(regexp_replace(text{at}, '[0-9]', '0', 'g'), '0{{5,}}', '0000', 'g')"
    written = _grouped(connection, shape, state, f"text{at}", "who IS NOT NULL")
    values = f"FROM cells WHERE who IS NOT NULL AND {what} IS NOT NULL"
    if sought.listed is not None:
        absent = f"SELECT place FROM list{at} WHERE place NOT IN (SELECT {what} {values}) ORDER BY place"
        return ColumnCells(written, 0, 0, tuple(place for (place,) in connection.execute(absent).fetchall()))
    ends = [float(each) for each in sought.ends or ("-inf", "inf")]
    beyond = f"SELECT count(*) FILTER ({what} < $1), count(*) FILTER ({what} > $2) {values}"
    below, above = _one(connection, beyond, ends)
    return ColumnCells(written, below, above, ())


def _grouped(connection: Connection, shape: str, state: str, raw: str, where: str) -> tuple[Written, ...]:
    found = connection.execute(
        f"SELECT {shape} AS shape, {state} AS state, count(*) AS n, min_by(coalesce({raw}, ''), nth, {SHOWN}),"
        f" min(nth, {SHOWN}) FROM cells WHERE {where} GROUP BY 1, 2 ORDER BY n DESC, 5 LIMIT {_WAYS}"
    ).fetchall()
    return tuple(Written(text, state, n, tuple(zip(cells, nths, strict=True))) for text, state, n, cells, nths in found)


def _units(connection: Connection, where: str, limit: str = "") -> tuple[Written, int]:
    rows, names, nths, units = _one(
        connection,
        f"SELECT coalesce(sum(n), 0)::BIGINT, min_by(name, nth, {SHOWN}), min(nth, {SHOWN}), count(*)"
        f" FROM (SELECT * FROM units WHERE {where} ORDER BY nth {limit})",
    )
    return Written("", 0, rows, tuple(zip(names or (), nths or (), strict=True))), units


def _one(connection: Connection, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
    found = connection.execute(sql, parameters).fetchone()
    assert found is not None, "an aggregate without groups has one row"
    return found
