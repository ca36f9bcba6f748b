"""What the rows of a column hold, exactly: for the holder of the data only, never for an answer.

A question counts the rows that it can read, and says nothing about the others. Here both are counted, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dpselect.backends.columns import Column, Holds
from dpselect.backends.row_rules import BLANKS, MISSING, Number, Value, rule, unit_is_known, unit_key
from dpselect.backends.rows.connection import Connection, literal
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import candidate_table
from dpselect.summaries import CandidateKind, PublicCandidates

_DIGITS = "[0-9]+([.][0-9]*)?"
_SPLIT = "[0-9]{1,3}(,[0-9]{3})+([.][0-9]*)?"
_COMMA = "([0-9]{1,3}([.][0-9]{3})+|[0-9]+)(,[0-9]*)?"
_GAPS = "[0-9]{1,3}([ '\u2019\u00a0\u202f][0-9]{3})+([.,][0-9]*)?"
_MONEY = "([$€£¥]|EUR|USD|GBP|CHF)"

NUMBERS = {
    "a comma between thousands, as in 1,234": f"[+-]?{_SPLIT}",
    "a dot between thousands and a decimal comma, as in 1.234,5": "[+-]?[0-9]{1,3}([.][0-9]{3})+,[0-9]*",
    "a decimal comma, as in 1,5": "[+-]?[0-9]+,[0-9]*",
    "a blank or an apostrophe between thousands, as in 1 234": f"[+-]?{_GAPS}",
    "a currency, as in $5": f"[+-]?{_MONEY} ?[+-]?{_DIGITS}|[+-]?{_DIGITS} ?{_MONEY}",
    "a currency and a comma between thousands, as in $1,234": f"[+-]?{_MONEY} ?[+-]?{_SPLIT}|[+-]?{_SPLIT} ?{_MONEY}",
    "a currency and a decimal comma, as in 1.234,5 €": f"[+-]?{_MONEY} ?[+-]?{_COMMA}|[+-]?{_COMMA} ?{_MONEY}",
    "a percent sign, as in 5%": f"[+-]?{_DIGITS} ?%",
    "parentheses, as in (5) for -5": f"[(]{_MONEY}? ?({_DIGITS}|{_SPLIT})[)]",
    "a date": "[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}.*",
    "a unit of measurement, as in 5 kg": f"[+-]?{_DIGITS} ?[a-zA-Zµ°]+",
}
"""Ways to write a number that are not read, in the words of a reader, with what matches them."""

DATES = {
    "a date with a time, as in 2026-12-24 00:00:00": "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9].*",
    "a date with slashes, as in 12/24/2026": "[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}.*",
    "a date with dots, as in 24.12.2026": "[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{2,4}.*",
}
"""The same for dates."""

BLANK = "nothing, a word for a missing value, or text in another encoding"
ELSE = "something else"
NOT_LISTED = "a value that is not listed"

BLANKS_DIFFER, CASE_DIFFERS, BOTH_DIFFER, NUMBER_DIFFERS = "blanks", "case", "blanks and case", "number"
"""In what a value differs from the candidate that it is nearly."""

STEPS = (1.0, 0.5, 0.1, 0.05, 0.01, 0.001)


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
        unusable: rows with a unit and without a value that counts, by the reason.
        ties: of numbers, usable rows whose value another row has, too.
        commonest: of numbers, the rows with the most common value.
        below: usable rows beyond the lower bound.
        above: usable rows beyond the upper bound.
        spread: of numbers, the distance of the largest to the smallest, within the bounds.
        step: the largest of `STEPS` of which all numbers are multiples; None: of none.
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
    unusable: dict[str, int]
    ties: int = 0
    commonest: int = 0
    below: int = 0
    above: int = 0
    spread: float = 0.0
    step: float | None = None
    missing: tuple[int, ...] = ()
    near: tuple[Near, ...] = field(default=())


def inspected(
    connection: Connection,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates | None,
    bounds: tuple[float, float] | None,
) -> Inspection:
    """What the table ``rows`` holds: candidates, or else numbers. One pass over the rows; the rest is about values.

    Args:
        connection: a database with the table ``rows``, with the columns ``unit`` and ``value``.
        unit: the column behind ``unit``.
        column: the column behind ``value``.
        candidates: the public candidates; None: numbers.
        bounds: of numbers.
    """
    who = f"CASE WHEN {unit_is_known(unit, 'unit', DUCKDB)} THEN {unit_key(unit, 'unit', DUCKDB)} END"
    reads = rule(Number(column) if candidates is None else Value(column, candidates.kind), "value", DUCKDB)
    joins, what = "", "named"
    if candidates is not None:
        connection.register("candidates", candidate_table(candidates, "place"))
        joins, what = " LEFT JOIN candidates ON named = candidates.candidate", "candidates.place"
        if isinstance(candidates.values, range) and candidates.values.step == 1:  # no join is needed to find them
            first, last = candidates.values[0], candidates.values[-1]
            joins, what = "", f"CASE WHEN named BETWEEN {first} AND {last} THEN named - {first} END"
    is_text = column.holds in (Holds.ANYTHING, Holds.TEXT)
    read = f"SELECT {who} AS who, {reads} AS named{', value' if is_text else ''} FROM rows"
    cell = "value" if is_text else "CASE WHEN named IS NOT NULL THEN '?' END"  # of a type that has only one spelling
    seen = f"SELECT who, {what} AS what, CASE WHEN {what} IS NULL THEN {cell} END AS odd FROM ({read}){joins}"
    connection.execute(
        "CREATE TEMP TABLE grouped AS SELECT grouping(who) = 1 AS by_value, who, what, odd, count(*) AS n,"
        f" count(who) AS owned, count(what) AS usable FROM ({seen}) GROUP BY GROUPING SETS ((what, odd), (who))"
    )
    rows, owned, usable = _one(
        connection,
        "SELECT coalesce(sum(n), 0), coalesce(sum(owned), 0), coalesce(sum(owned) FILTER (what IS NOT NULL), 0)"
        " FROM grouped WHERE by_value",
    )
    units, usable_units, several, most = _one(
        connection,
        "SELECT count(*), count(*) FILTER (usable > 0), count(*) FILTER (usable > 1), coalesce(max(usable), 0)"
        " FROM grouped WHERE NOT by_value AND who IS NOT NULL",
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
        unusable=_reasons(connection, kind),
        **more,
    )


def _numbers(connection: Connection, bounds: tuple[float, float] | None) -> dict[str, Any]:
    lower, upper = bounds or (float("-inf"), float("inf"))
    multiples = ", ".join(f"bool_and(abs(what / {step} - round(what / {step})) < 1e-6)" for step in STEPS)
    ties, commonest, below, above, spread, *are_multiples = _one(
        connection,
        "SELECT coalesce(sum(owned) FILTER (owned > 1), 0), coalesce(max(owned), 0),"
        " coalesce(sum(owned) FILTER (what < $1), 0), coalesce(sum(owned) FILTER (what > $2), 0),"
        f" coalesce(max(greatest($1, least($2, what))) - min(greatest($1, least($2, what))), 0.0), {multiples}"
        " FROM grouped WHERE by_value AND what IS NOT NULL AND owned > 0",
        [lower, upper],
    )
    step = next((step for step, is_one in zip(STEPS, are_multiples, strict=True) if is_one), None)
    found = {"ties": ties, "commonest": commonest, "below": below, "above": above}
    return {**found, "spread": spread, "step": step}


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
            f" WHEN lower({odd}) = lower(candidate) THEN '{BOTH_DIFFER}' ELSE '{NUMBER_DIFFERS}'"
        )
        found = connection.execute(
            f"SELECT place, CASE {cases} END AS differs_in, sum(owned)::BIGINT FROM grouped JOIN candidates"
            f" ON {_alike('odd')} = {_alike('candidate')}"
            " WHERE by_value AND what IS NULL AND owned > 0 GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        near = [Near(position, differs_in, rows) for position, differs_in, rows in found]
    return {"missing": tuple(place for (place,) in missing), "near": tuple(near)}


def _reasons(connection: Connection, kind: CandidateKind) -> dict[str, int]:
    """How many rows of somebody's have no value that counts, by how it is written."""
    cell = _trimmed("odd")
    patterns = {CandidateKind.NUMBER: NUMBERS, CandidateKind.INTEGER: NUMBERS, CandidateKind.DATE: DATES}.get(kind, {})
    cases = [f"WHEN odd IS NULL OR {cell} IN ({', '.join(map(literal, ('', *MISSING)))}) THEN {literal(BLANK)}"]
    cases += [
        f"WHEN regexp_full_match({cell}, {literal(pattern)}) THEN {literal(name)}" for name, pattern in patterns.items()
    ]
    otherwise = ELSE if kind is CandidateKind.NUMBER else NOT_LISTED
    found = connection.execute(
        f"SELECT CASE {' '.join(cases)} ELSE '{otherwise}' END AS reason, sum(owned)::BIGINT AS number FROM grouped"
        " WHERE by_value AND what IS NULL AND owned > 0 GROUP BY reason ORDER BY number DESC, reason"
    ).fetchall()
    return dict(found)


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
