"""What the holder of a table may see of its rows; see `dpselect.check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpselect.backends.columns import Column, check_match, check_numeric
from dpselect.backends.contract import Condition, Progress
from dpselect.backends.row_rules import Number, RowValue, Unit, Value, Within, rule
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.declared import compared
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.embedded import Embedded, candidate_table
from dpselect.backends.rows.long_text import ShortValues
from dpselect.backends.rows.scan import Cell
from dpselect.backends.rows.source import Lines, Objects
from dpselect.backends.statements import Statement, filtered
from dpselect.backends.table import EngineTable
from dpselect.summaries import CandidateKind, PublicCandidates

if TYPE_CHECKING:
    from dpselect.backends.rows.inspect import Inspection, Unread

_MOST_KINDS = 3
"""Kinds of objects named in a sentence."""


def inspect(
    table: EngineTable,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates | None = None,
    bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """What the rows hold, exactly: candidates, or else numbers."""
    from dpselect.backends.rows.inspect import UNLIKE_DECLARED, inspected, with_more_words

    if candidates is None:
        check_numeric(column)
    else:
        check_match(column, candidates.kind)
    engine = table.engine
    assert isinstance(engine, Embedded)
    listed = None if candidates is None else compared(candidates, engine.format)
    skipped: list[int] = []
    source = engine.source.counting(skipped.append) if isinstance(engine.source, Lines) else engine.source
    null_means = _null_means(engine, column, CandidateKind.NUMBER if listed is None else listed.kind)
    cells = {"unit": Cell(unit.source, None), "value": Cell(column, ShortValues.of(listed))}
    met = [
        each if each.listed is None else replace(each, listed=compared(each.listed, engine.format))
        for each in table.conditions
    ]
    for at, each in enumerate(met):
        cells[f"condition{at}"] = Cell(each.column, ShortValues.of(each.listed))
    about: dict[str, Any] = {"candidates": listed, "bounds": bounds, "null_means": null_means}

    def query(connection: Connection) -> Inspection:
        return inspected(connection, _met(connection, met), unit=unit, column=column, **about)

    found = replace(engine.looked_at(cells, query, progress, source=source), left_out=sum(skipped))
    is_plain = engine.format is None or bool(table.conditions)
    if is_plain or all(each.reason != UNLIKE_DECLARED for each in found.unusable):
        return found
    as_is = replace(table, engine=replace(engine, format=None))
    raw = inspect(as_is, unit=unit, column=column, candidates=candidates, bounds=bounds, progress=progress)
    assert engine.format is not None
    return with_more_words(found, raw, engine.format)


def _met(connection: Connection, conditions: Sequence[Condition]) -> str:
    """The rows that meet the conditions, for use after ``FROM``."""
    met: list[str] = []
    for at, each in enumerate(conditions):
        if each.listed is None:
            met.append(f"{rule(Within(each.column, *each.between), f'condition{at}', DUCKDB)} IS NOT NULL")
        else:
            connection.register(f"condition{at}_list", candidate_table(each.listed))
            value = rule(Value(each.column, each.listed.kind), f"condition{at}", DUCKDB)
            met.append(f"{value} IN (SELECT candidate FROM condition{at}_list)")
    return f"(SELECT * FROM rows WHERE {' AND '.join(met)})" if met else "rows"


def together(
    table: EngineTable,
    *,
    unit: Column,
    matched: Mapping[str, tuple[Column, PublicCandidates]],
    numbers: Mapping[str, Column],
    between: tuple[int | float, int | float] | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Rows, and units with such a row, that have all of these."""
    reads: dict[str, RowValue] = {"who": Unit(unit)}
    reads |= {name: Value(column, listed.kind) for name, (column, listed) in matched.items()}
    for name, column in numbers.items():
        reads[name] = Number(column) if name != "value" or between is None else Within(column, *between)
    both = Statement(
        reads=reads,
        lists={name: compared(listed, table.engine.format) for name, (_, listed) in matched.items()},
        body=lambda _, rows: f"SELECT count(*) AS rows, count(DISTINCT who) AS units FROM ({rows}) AS matched",
        summary=lambda found: (int(found["rows"][0]), int(found["units"][0])),
    )
    asked = filtered(both, table.conditions)
    return both.summary(table.engine.answers([asked], progress)[0])


def _null_means(engine: Embedded, column: Column, kind: CandidateKind) -> Unread:
    from dpselect.backends.rows.inspect import BLANK, BROKEN, NOT_UTF_8, UNLIKE_DECLARED, Unread

    words = {} if engine.format is None else engine.format.words
    if {"thousands", "decimal"} & words.keys() and kind in (CandidateKind.NUMBER, CandidateKind.INTEGER):
        return Unread(UNLIKE_DECLARED, 0)
    if "date_format" in words and kind is CandidateKind.DATE:
        return Unread(UNLIKE_DECLARED, 0)
    if isinstance(engine.source, Objects) and (kinds := engine.source.kinds_without_text(column)):
        which = f"{', '.join(kinds[:_MOST_KINDS])}{' and others' if kinds[_MOST_KINDS:] else ''}"
        how = "Make text, numbers or dates of these objects first."
        return Unread(f"{BLANK}, or an object that is read as missing ({which})", 0, otherwise=how)
    if not isinstance(engine.source, Lines) or not engine.source.can_be_broken:
        return Unread(BLANK, 0)
    return Unread(BROKEN, 0) if "encoding" in words else NOT_UTF_8
