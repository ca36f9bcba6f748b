"""What each summary reads: its columns, its query, and how it shares a pass over the rows with other summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dpselect.backends.columns import Column, check_match, check_numeric
from dpselect.backends.contract import Amount, Condition, Grouping, Needed, check_groups
from dpselect.backends.rows import per_unit
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.declared import compared, compared_groups
from dpselect.backends.rows.per_unit import Places, UnitNumbers
from dpselect.backends.rows.queries import counted, gathered, named, totalled, units_counted
from dpselect.backends.rows.relation import candidates_of, columns_of, meets
from dpselect.formats import Format
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    DistantCandidates,
    PublicCandidates,
    PublicDomain,
    UnitValues,
)

Matched = tuple[Column, PublicCandidates]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One summary of the rows.

    Attributes:
        columns: the columns that it reads, by their names in the query.
        candidates: the candidates, or the kind of names, in some of these columns; the others are the unit and numbers.
        query: finds what the summary is made of in a database with the table ``rows``.
        summary: makes the summary.
        together: finds the same in one query with other summaries, or None if it needs a query of its own.
        table: what `query` has in place of ``rows``, from which it makes them.
    """

    columns: Mapping[str, Column]
    candidates: Mapping[str, PublicCandidates | CandidateKind] = field(
        default_factory=dict[str, PublicCandidates | CandidateKind]
    )
    query: Callable[[Connection], Any]
    summary: Callable[[Any], Any] = list
    together: Places | UnitNumbers | None = None
    table: str = "rows"


def count(
    format: Format | None,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates,
    grouping: Grouping | None = None,
    max_values_per_unit: int | None = None,
) -> Reading:
    """See `dpselect.backends.contract.Table.count`."""
    check_match(column, candidates.kind)
    check_groups(grouping)
    candidates, grouping = compared(candidates, format), compared_groups(grouping, format)
    most = None if max_values_per_unit is None or max_values_per_unit >= len(candidates) else max_values_per_unit
    return Reading(
        columns=columns_of(unit, grouping, value=column),
        candidates=candidates_of(grouping, value=candidates),
        query=partial(counted, unit=unit, column=column, candidates=candidates, most=most, grouping=grouping),
        summary=lambda found: [CandidateCounts(counts) for counts in found],
        together=per_unit.counted(column, candidates, most, grouping),
    )


def total(
    format: Format | None,
    *,
    unit: Column,
    column: Column | None = None,
    candidates: PublicCandidates | None = None,
    amount: Amount,
    grouping: Grouping | None = None,
) -> Reading:
    """See `dpselect.backends.contract.Table.total`."""
    check_numeric(amount.column)
    check_groups(grouping)
    grouping = compared_groups(grouping, format)
    columns, named, matched = _matched(format, column, candidates)
    columns["amount"] = amount.column
    return Reading(
        columns=columns_of(unit, grouping, **columns),
        candidates=candidates_of(grouping, **named),
        query=partial(totalled, unit=unit, amount=amount, matched=matched, grouping=grouping),
        summary=lambda found: [CandidateTotals(totals) for totals in found],
        together=per_unit.totalled(amount) if matched is None and grouping is None else None,
    )


def gather(
    format: Format | None,
    *,
    unit: Column,
    column: Column,
    domain: PublicDomain,
    max_rows_per_unit: int,
    grouping: Grouping | None = None,
) -> Reading:
    """See `dpselect.backends.contract.Table.gather`."""
    check_numeric(column)
    check_groups(grouping)
    grouping = compared_groups(grouping, format)
    most = max_rows_per_unit
    return Reading(
        columns=columns_of(unit, grouping, value=column),
        candidates=candidates_of(grouping),
        query=partial(gathered, unit=unit, column=column, domain=domain, max_rows_per_unit=most, grouping=grouping),
        summary=lambda found: [UnitValues(each, domain=domain, max_rows_per_unit=most) for each in found],
    )


def units(format: Format | None, *, unit: Column, needed: Needed, grouping: Grouping | None = None) -> Reading:
    """See `dpselect.backends.contract.Table.units`."""
    check_groups(grouping)
    grouping = compared_groups(grouping, format)
    columns, named, matched = _matched(format, *(needed.matched or (None, None)))
    number, between = needed.number, needed.between
    if number is not None:
        check_numeric(number)
        columns["number"] = number
    return Reading(
        columns=columns_of(unit, grouping, **columns),
        candidates=candidates_of(grouping, **named),
        query=partial(units_counted, unit=unit, matched=matched, number=number, between=between, grouping=grouping),
        together=per_unit.units_counted(matched, number, between, grouping),
    )


def names(
    format: Format | None,
    *,
    unit: Column,
    column: Column,
    kind: CandidateKind,
    max_values_per_unit: int,
    grouping: Grouping | None = None,
) -> Reading:
    """See `dpselect.backends.contract.Table.names`."""
    check_match(column, kind, argument="kind")
    check_groups(grouping)
    grouping = compared_groups(grouping, format)
    listed: dict[str, PublicCandidates | CandidateKind] = {**candidates_of(grouping), "value": kind}
    return Reading(
        columns=columns_of(unit, grouping, value=column),
        candidates=listed,
        query=partial(named, unit=unit, column=column, kind=kind, most=max_values_per_unit, grouping=grouping),
    )


def filtered(reading: Reading, conditions: Sequence[Condition], format: Format | None) -> Reading:
    """The same summary of those rows alone that meet the conditions. Proof: ``proofs/row_conditions.md``."""
    named = {f"condition{at}": each for at, each in enumerate(conditions)}
    listed = {name: compared(each.listed, format) for name, each in named.items() if each.listed is not None}

    def query(connection: Connection) -> Any:
        met = (meets(connection, name, each.column, listed.get(name), each.between) for name, each in named.items())
        columns, conditions = ", ".join(reading.columns), " AND ".join(met)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW rows AS SELECT {columns} FROM {_ALL} WHERE {conditions}")
        return reading.query(connection)

    return replace(
        reading,
        columns={**reading.columns, **{name: each.column for name, each in named.items()}},
        candidates={**reading.candidates, **listed},
        query=query,
        together=None,
        table=_ALL,
    )


_ALL = "all_rows"

READINGS: Mapping[str, Callable[..., Reading]] = {
    "count": count,
    "total": total,
    "gather": gather,
    "units": units,
    "names": names,
}
"""By the method of `dpselect.backends.contract.Table`."""


def _matched(
    format: Format | None, column: Column | None, candidates: PublicCandidates | DistantCandidates | None
) -> tuple[dict[str, Column], dict[str, PublicCandidates], Matched | None]:
    """The column and the candidates of a query that needs some, by their names there, and as they are compared."""
    if column is None:
        return {}, {}, None
    assert isinstance(candidates, PublicCandidates), "no engine of this table lists candidates"
    check_match(column, candidates.kind)
    candidates = compared(candidates, format)
    return {"value": column}, {"value": candidates}, (column, candidates)
