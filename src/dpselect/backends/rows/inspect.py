"""What the rows of a column hold, exactly: for the holder of the data only, never for an answer.

A question counts the rows that it can read, and says nothing about the others. Here both are counted, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dpselect.backends.columns import Column, Holds
from dpselect.backends.row_rules import BLANKS, MISSING, Number, Value, rule, unit_is_known, unit_key
from dpselect.backends.rows.connection import Connection, literal
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.embedded import candidate_table
from dpselect.backends.rows.spellings import (
    DAY_FIRST,
    DECIMALS,
    EITHER_FIRST,
    IN_BOTH_ORDERS,
    MONTH_FIRST,
    SPELLINGS,
    THOUSANDS,
    UNCLEAR,
    Spelling,
)
from dpselect.errors import InvalidParameterError
from dpselect.formats import Format
from dpselect.summaries import CandidateKind, PublicCandidates

BLANK = "nothing, or a word for a missing value"
UNLIKE_DECLARED = "nothing, or a value that is not written as the format says"
BROKEN = "bytes that are no text in this encoding, or quotes inside a field"
ELSE = "something else"
NOT_LISTED = "a value that is not listed"

BLANKS_DIFFER, CASE_DIFFERS, BOTH_DIFFER = "blanks", "case", "blanks and case"
ZEROS_DIFFER, NUMBER_DIFFERS = "zeros", "number"
"""How a value differs from the candidate that it nearly equals."""

STEPS = (1.0, 0.5, 0.1, 0.05, 0.01, 0.001)

NO_NAMES = ("-", "?", "-1", "#n/a", "n.a.", "no id", "not available", "unknown", "anonymous", "missing", "undefined")
"""What people write in place of a unit that they do not know, in small letters. They count as one unit."""

_TEXT = (Holds.ANYTHING, Holds.TEXT)
_SOMEBODYS_NUMBERS = "grouped WHERE by_value AND what IS NOT NULL AND owned > 0"
_DOTS = (
    "CASE WHEN named IS NOT NULL AND contains(value, '.') THEN (strpos(value, '.') = strlen(value) - 3"
    " AND regexp_full_match(value, '[+-]?[1-9][0-9]{0,2}[.][0-9]{3}'))::INTEGER END"
)
"""Whether a number with a dot might have it between thousands."""

_SENTINELS = frozenset(
    {-1.0, -9.0} | {float(sign + digit * many) for sign in ("", "-") for digit in "789" for many in range(2, 9)}
)
"""Numbers that stand for a missing one in many tables: -1, -99, 999, 9999 and the like."""


class Common(NamedTuple):
    """Rows that hold one number."""

    value: float
    rows: int


class Unread(NamedTuple):
    """Rows without a value that counts.

    Attributes:
        reason: in words.
        rows: how many.
        words: of a `dpselect.Format` that reads them; empty: none does.
        otherwise: what else helps, or "".
    """

    reason: str
    rows: int
    words: Mapping[str, Any] = {}
    otherwise: str = ""


NOT_UTF_8 = Unread(BROKEN, 0, {"encoding": "cp1252"}, "Or another encoding, such as cp1250 or latin-1.")


class Near(NamedTuple):
    """Rows that nearly hold a candidate."""

    position: int
    differs_in: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Inspection:
    """Exact numbers, which are not private.

    Attributes:
        rows: all there are.
        nobodys: those without a unit.
        units: different ones, in all rows.
        usable_rows: rows with a unit and a value that counts.
        usable_units: units with such a row.
        several: units with more than one such row.
        most: the largest number of such rows of one unit.
        largest: rows of the unit that has the most, whatever they hold.
        no_names: rows whose unit is one of `NO_NAMES`.
        alike: units that differ from another one in capitals only.
        unusable: rows with a unit and without a value that counts, most of them first.
        ties: of numbers, usable rows whose value another row has, too.
        commonest: of numbers, the rows with the most common value.
        below: usable rows beyond the lower bound.
        above: usable rows beyond the upper bound.
        spread: of numbers, the distance of the largest to the smallest, within the bounds.
        sentinels: of numbers, those that may stand for a missing one, and how many rows have them.
        dotted: of numbers in text, rows with a dot in it.
        grouped: those where all of these look like 1.234, with three digits after it and no 0 before it.
        step: the largest of `STEPS` of which all numbers are multiples; None: of none.
        left_out: lines that are no rows, because they cannot be read.
        missing: positions of the candidates that no row holds.
        near: rows that nearly hold a candidate.
    """

    rows: int
    nobodys: int
    units: int
    usable_rows: int
    usable_units: int
    several: int
    most: int
    largest: int
    no_names: int
    alike: int
    unusable: tuple[Unread, ...]
    ties: int = 0
    commonest: int = 0
    below: int = 0
    above: int = 0
    spread: float = 0.0
    sentinels: tuple[Common, ...] = ()
    dotted: int = 0
    grouped: int = 0
    step: float | None = None
    left_out: int = 0
    missing: tuple[int, ...] = ()
    near: tuple[Near, ...] = field(default=())


def inspected(
    connection: Connection,
    table: str,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates | None,
    bounds: tuple[float, float] | None,
    null_means: Unread,
) -> Inspection:
    """What the table ``rows`` holds: candidates, or else numbers. One pass over the rows; the rest is about values.

    Args:
        connection: a database with the table.
        table: SQL for use after ``FROM``, with the columns ``unit`` and ``value``.
        unit: the column behind ``unit``.
        column: the column behind ``value``.
        candidates: the public candidates; None: numbers.
        bounds: of numbers.
        null_means: what to say of cells that are null.
    """
    who = f"CASE WHEN {unit_is_known(unit, 'unit', DUCKDB)} THEN {unit_key(unit, 'unit', DUCKDB)} END"
    reads = rule(Number(column) if candidates is None else Value(column, candidates.kind), "value", DUCKDB)
    joins, what = "", "named"
    if candidates is not None:
        connection.register("candidates", candidate_table(candidates))
        joins, what = " LEFT JOIN candidates ON named = candidates.candidate", "candidates.place"
        if isinstance(candidates.values, range) and candidates.values.step == 1:  # no join is needed to find them
            first, last = candidates.values[0], candidates.values[-1]
            joins, what = "", f"CASE WHEN named BETWEEN {first} AND {last} THEN named - {first} END"
    is_text = column.holds in _TEXT
    read = f"SELECT {who} AS who, {reads} AS named{', value' if is_text else ''} FROM {table}"
    cell = "value" if is_text else "CASE WHEN named IS NOT NULL THEN '?' END"  # of a type that has only one spelling
    dots = _DOTS if is_text and candidates is None else "NULL::INTEGER"
    seen = f"SELECT who, {what} AS what, CASE WHEN {what} IS NULL THEN {cell} END AS odd, {dots} AS dots"
    connection.execute(
        "CREATE TEMP TABLE grouped AS SELECT grouping(who) = 1 AS by_value, who, what, odd, count(*) AS n,"
        " count(who) AS owned, count(what) AS usable, count(dots) AS dotted, coalesce(sum(dots), 0) AS split"
        f" FROM ({seen} FROM ({read}){joins}) GROUP BY GROUPING SETS ((what, odd), (who))"
    )
    rows, owned, usable = _one(
        connection,
        "SELECT coalesce(sum(n), 0), coalesce(sum(owned), 0), coalesce(sum(owned) FILTER (what IS NOT NULL), 0)"
        " FROM grouped WHERE by_value",
    )
    names = "lower(who)" if unit.holds in _TEXT and not unit.each_row else "NULL::VARCHAR"
    units, usable_units, several, most, largest, no_names, named, different = _one(
        connection,
        "SELECT count(*), count(*) FILTER (usable > 0), count(*) FILTER (usable > 1), coalesce(max(usable), 0),"
        f" coalesce(max(n), 0), coalesce(sum(n) FILTER ({names} IN ({', '.join(map(literal, NO_NAMES))})), 0),"
        f" count({names}), count(DISTINCT {names}) FROM grouped WHERE NOT by_value AND who IS NOT NULL",
    )
    more = _numbers(connection, bounds) if candidates is None else _candidates(connection, candidates)
    kind = CandidateKind.NUMBER if candidates is None else candidates.kind
    return Inspection(
        rows=rows,
        nobodys=rows - owned,
        units=units,
        usable_rows=usable,
        usable_units=usable_units,
        several=several,
        most=most,
        largest=largest,
        no_names=no_names,
        alike=named - different,
        unusable=_unread(connection, kind, null_means),
        **more,
    )


def with_more_words(read: Inspection, raw: Inspection, declared: Format) -> Inspection:
    """Rows that are not written as declared, with the words that the format lacks for them.

    Args:
        read: in the declared format.
        raw: without it.
        declared: the format.
    """
    found: list[Unread] = []
    for each in raw.unusable:
        more = {name: value for name, value in each.words.items() if name not in declared.words}
        agrees = all(declared.words.get(name, value) == value for name, value in each.words.items())
        if more and agrees and _is_format({**declared.words, **more}):
            found.append(each._replace(words=more))
    if declared.decimal == "," and declared.thousands is None and 0 < raw.grouped == raw.dotted:
        found.append(Unread("a dot before three digits, as in 1.234", raw.grouped, {"thousands": "."}))
    unlike = next((each for each in read.unusable if each.reason == UNLIKE_DECLARED), None)
    if unlike is None or not found or (left := unlike.rows - sum(each.rows for each in found)) < 0:
        return read
    others = [each for each in read.unusable if each is not unlike]
    parts = [*others, *found, *([unlike._replace(rows=left)] if left else [])]
    return replace(read, unusable=tuple(sorted(parts, key=lambda each: (-each.rows, each.reason))))


def _is_format(words: Mapping[str, Any]) -> bool:
    try:
        Format(**words)
    except InvalidParameterError:
        return False
    return True


def _numbers(connection: Connection, bounds: tuple[float, float] | None) -> dict[str, Any]:
    lower, upper = map(float, bounds or ("-inf", "inf"))
    multiples = ", ".join(f"bool_and(abs(what / {step} - round(what / {step})) < 1e-6)" for step in STEPS)
    ties, commonest, below, above, spread, dotted, split, *are_multiples = _one(
        connection,
        "SELECT coalesce(sum(owned) FILTER (owned > 1), 0), coalesce(max(owned), 0),"
        " coalesce(sum(owned) FILTER (what < $1), 0), coalesce(sum(owned) FILTER (what > $2), 0),"
        " coalesce(max(greatest($1, least($2, what))) - min(greatest($1, least($2, what))), 0.0),"
        f" coalesce(sum(dotted), 0), coalesce(sum(split), 0), {multiples}"
        f" FROM {_SOMEBODYS_NUMBERS}",
        [lower, upper],
    )
    step = next((step for step, is_one in zip(STEPS, are_multiples, strict=True) if is_one), None)
    found = {"ties": ties, "commonest": commonest, "below": below, "above": above, "dotted": dotted, "grouped": split}
    return {**found, "spread": spread, "step": step, "sentinels": _sentinels(connection)}


def _sentinels(connection: Connection) -> tuple[Common, ...]:
    """The smallest and the largest number, if they look like words for "missing": known as such, and far away."""
    low, high = (
        connection.execute(f"SELECT what, owned FROM {_SOMEBODYS_NUMBERS} ORDER BY what {order} LIMIT 2").fetchall()
        for order in ("ASC", "DESC")
    )
    found: list[Common] = []
    if len(low) < 2:
        return ()
    (lowest, of_lowest), (next_lowest, _) = low
    (highest, of_highest), (next_highest, _) = high
    if lowest in _SENTINELS and of_lowest > 1 and lowest < 0 <= next_lowest:
        found.append(Common(lowest, int(of_lowest)))
        lowest = next_lowest
    if highest in _SENTINELS and of_highest > 1 and highest - next_highest > next_highest - lowest:
        found.append(Common(highest, int(of_highest)))
    return tuple(found)


def _candidates(connection: Connection, candidates: PublicCandidates) -> dict[str, Any]:
    missing = connection.execute(
        "SELECT place FROM candidates WHERE place NOT IN"
        " (SELECT what FROM grouped WHERE by_value AND what IS NOT NULL AND owned > 0) ORDER BY place"
    ).fetchall()
    near: list[Near] = []
    if candidates.kind is CandidateKind.TEXT:
        odd = _trimmed("odd")
        cases = (
            f"WHEN {odd} = candidate THEN '{BLANKS_DIFFER}' WHEN lower(odd) = lower(candidate) THEN '{CASE_DIFFERS}'"
            f" WHEN lower({odd}) = lower(candidate) THEN '{BOTH_DIFFER}'"
            f" WHEN regexp_replace({odd}, '^([0-9]+)[.]0*$', '\\1') = candidate THEN '{ZEROS_DIFFER}'"
            f" ELSE '{NUMBER_DIFFERS}'"
        )
        found = connection.execute(
            f"SELECT place, CASE {cases} END AS differs_in, sum(owned)::BIGINT FROM grouped JOIN candidates"
            f" ON {_alike('odd')} = {_alike('candidate')}"
            " WHERE by_value AND what IS NULL AND owned > 0 GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        near = [Near(position, differs_in, rows) for position, differs_in, rows in found]
    return {"missing": tuple(place for (place,) in missing), "near": tuple(near)}


def _unread(connection: Connection, kind: CandidateKind, null_means: Unread) -> tuple[Unread, ...]:
    """Rows of somebody's that have no value that counts, by how it is written."""
    cell, spellings = _trimmed("odd"), SPELLINGS[kind]
    cases = ["WHEN odd IS NULL THEN -3", f"WHEN {cell} IN ({', '.join(map(literal, ('', *MISSING)))}) THEN -2"]
    cases += [f"WHEN regexp_full_match({cell}, {literal(each.pattern)}) THEN {at}" for at, each in enumerate(spellings)]
    found: list[tuple[int, int]] = connection.execute(
        f"SELECT CASE {' '.join(cases)} ELSE -1 END AS spelling, sum(owned)::BIGINT FROM grouped"
        " WHERE by_value AND what IS NULL AND owned > 0 GROUP BY spelling"
    ).fetchall()
    others = {
        -3: null_means,
        -2: Unread(BLANK, 0),
        -1: Unread(ELSE if kind is CandidateKind.NUMBER else NOT_LISTED, 0),
    }
    counts = dict[str, Unread]()
    seen = [spellings[at] for at, _ in found if at >= 0]
    meant = {UNCLEAR.example: _meaning_of_commas(seen), EITHER_FIRST.example: _meaning_of_slashes(seen)}
    for at, rows in found:
        each = others[at] if at < 0 else _said(_meant(spellings[at], meant))
        before = counts[each.reason].rows if each.reason in counts else 0
        counts[each.reason] = each._replace(rows=before + rows)
    return tuple(sorted(counts.values(), key=lambda each: (-each.rows, each.reason)))


def _meant(spelling: Spelling, unclear: Mapping[str, Spelling]) -> Spelling:
    """The spelling, or what an unclear one means in this column."""
    return unclear[spelling.example] if spelling in (UNCLEAR, EITHER_FIRST) else spelling


def _meaning_of_slashes(found: Sequence[Spelling]) -> Spelling:
    """Which part of 3/4/2026 is the month, if other cells say so."""
    if MONTH_FIRST in found:
        return IN_BOTH_ORDERS if DAY_FIRST in found else MONTH_FIRST
    return DAY_FIRST if DAY_FIRST in found else EITHER_FIRST


def _said(spelling: Spelling) -> Unread:
    return Unread(spelling.reason, 0, spelling.words, spelling.otherwise)


def _meaning_of_commas(found: Sequence[Spelling]) -> Spelling:
    """What a comma before three digits is, if all cells are written in the same way."""
    has_decimals = any(each.words.get("decimal") == "," for each in found)
    return DECIMALS if has_decimals and not any(each.words.get("thousands") == "," for each in found) else THOUSANDS


def _alike(text: str) -> str:
    """Equal for texts that a person may take for the same."""
    number = f"regexp_replace(lower({_trimmed(text)}), '^([0-9]+)[.]0*$', '\\1')"
    return f"regexp_replace({number}, '^0+([0-9]+)$', '\\1')"


def _trimmed(text: str) -> str:
    return f"trim({text}, {literal(BLANKS)})"


def _one(connection: Connection, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
    found = connection.execute(sql, parameters).fetchone()
    assert found is not None, "an aggregate without groups has one row"
    return tuple(int(each) if isinstance(each, int) else each for each in found)
