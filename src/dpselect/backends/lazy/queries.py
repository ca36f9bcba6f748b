"""The queries of questions, the same for every lazy engine."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column
from dpselect.backends.contract import Amount, Condition, Grouping, Needed
from dpselect.backends.lazy.engine_contract import ChoosingQuery, EngineQuery, Frame, matched
from dpselect.backends.row_rules import Name, Number, RowValue, Unit, Value, Within
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates, PublicDomain


def counts(
    query: EngineQuery,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates | DistantCandidates,
    most: int | None,
    grouping: Grouping | None,
    conditions: Sequence[Condition] = (),
) -> Frame:
    """``number`` of units for each ``what``, and each ``part`` if there are groups. Proof: ``proofs/counting.md``.

    If `most` is given, a unit counts for this many of its values (in each group), chosen at random. With remote
    candidates, every value that occurs is counted: they are joined with the counts, not with the rows.
    """
    read: dict[str, RowValue] = {"who": Unit(unit), "what": Value(column, candidates.kind)}
    rows = _grouped(query, read, grouping, conditions)
    if isinstance(candidates, PublicCandidates):
        rows = matched(rows, "what", candidates, query)
    keys = _keys(grouping, "what")
    if query.counts_distinct and most is None and not chooses(grouping):
        return rows.group_by(*keys).agg(nw.col("who").n_unique().alias("number"))
    once = _within_groups(query, query.different(rows), grouping)
    if most is not None:
        once = _chosen(query, once, ["who", *_keys(grouping)], "what", most)
    return once.group_by(*keys).agg(nw.len().alias("number"))


def totals(
    query: EngineQuery,
    *,
    unit: Column,
    amount: Amount,
    listed: tuple[Column, PublicCandidates] | None,
    grouping: Grouping | None,
    conditions: Sequence[Condition] = (),
) -> Frame:
    """``number``: the units' clipped amounts for each ``what`` (and ``part``). Proof: ``proofs/clipped_sums.md``.

    Without candidates there is no ``what``, but one sum (for each ``part``).
    """
    read: dict[str, RowValue] = {"who": Unit(unit), "added": amount}
    if listed is not None:
        read["what"] = Value(listed[0], listed[1].kind)
    rows = _grouped(query, read, grouping, conditions).filter(~nw.col("added").is_null())
    if listed is not None:
        rows = matched(rows, "what", listed[1], query)
    keys = _keys(grouping, *([] if listed is None else ["what"]))
    units = rows.group_by("who", *keys).agg(nw.col("added").sum())
    clipped = units.with_columns(nw.col("added").clip(amount.lower, amount.upper))
    within = _within_groups(query, clipped, grouping)
    number = nw.col("added").sum().alias("number")
    return within.group_by(*keys).agg(number) if keys else within.select(number)


def values(
    query: EngineQuery,
    *,
    unit: Column,
    column: Column,
    domain: PublicDomain,
    max_rows_per_unit: int,
    grouping: Grouping | None,
    conditions: Sequence[Condition] = (),
) -> Frame:
    """``value``: numbers within the bounds, at most `max_rows_per_unit` of each unit (in each ``part``).

    A unit's numbers in increasing order have places 1, 2, ...; each place draws a lot, and those with the smallest lots
    count. So every set of that many rows is equally likely, and the choice for one unit depends only on its own rows
    and on chance. Proof: ``proofs/unit_values.md``.
    """
    rows = _grouped(query, {"who": Unit(unit), "number": Number(column)}, grouping, conditions)
    rows = _within_groups(query, rows.filter(~nw.col("number").is_null()), grouping)
    whose = ["who", *_keys(grouping)]
    placed = rows.with_columns(place=nw.col("number").cum_count().over(*whose, order_by="number"))
    drawn = query.with_lots(placed, [*whose, "place"])
    ranked = drawn.with_columns(rank=nw.col("number").cum_count().over(*whose, order_by=["lot", "place"]))
    chosen = ranked.filter(nw.col("rank") <= max_rows_per_unit)
    return chosen.select(*_keys(grouping), value=nw.col("number").clip(domain.lower, domain.upper))


def units(
    query: EngineQuery, *, unit: Column, needed: Needed, grouping: Grouping | None, conditions: Sequence[Condition] = ()
) -> Frame:
    """``number`` of units with a row that a question can use (for each ``part``). Proof: ``proofs/usable_units.md``."""
    read: dict[str, RowValue] = {"who": Unit(unit)}
    if needed.number is not None:
        between = needed.between
        read["number"] = Number(needed.number) if between is None else Within(needed.number, *between)
    if needed.matched is not None:
        column, candidates = needed.matched
        read["what"] = Value(column, candidates.kind)
    rows = _grouped(query, read, grouping, conditions)
    if needed.number is not None:
        rows = rows.filter(~nw.col("number").is_null())
    if needed.matched is not None:
        rows = matched(rows, "what", needed.matched[1], query)
    keys = _keys(grouping)
    once = _within_groups(query, query.different(rows.select("who", *keys)), grouping)
    number = nw.len().alias("number")
    return once.select(number) if grouping is None else once.group_by(*keys).agg(number)


def names(
    query: EngineQuery,
    *,
    unit: Column,
    column: Column,
    kind: CandidateKind,
    most: int,
    grouping: Grouping | None,
    conditions: Sequence[Condition] = (),
) -> Frame:
    """``number`` of units for each ``what`` that occurs (in each ``part``). Proof: ``proofs/unknown_candidates.md``.

    A unit counts for `most` of its values (in each group), chosen at random.
    """
    rows = _grouped(query, {"who": Unit(unit), "what": Name(column, kind)}, grouping, conditions)
    known, whose = rows.filter(~nw.col("what").is_null()), ["who", *_keys(grouping)]
    if most == 1 and isinstance(query, ChoosingQuery):
        few = query.one_of_each(_within_groups(query, known, grouping), whose, "what", kind)
    else:
        once = _within_groups(query, query.different(known), grouping)
        few = _first(query, once, whose, "what", most)
    return few.group_by(*_keys(grouping, "what")).agg(nw.len().alias("number"))


def chooses(grouping: Grouping | None) -> bool:
    """Whether a unit can be in more groups than it may."""
    return grouping is not None and grouping.max_groups_per_unit < len(grouping.groups)


def _grouped(
    query: EngineQuery, read: dict[str, RowValue], grouping: Grouping | None, conditions: Sequence[Condition]
) -> Frame:
    """The rows that meet the conditions and have a unit and, if there are groups, one of the groups."""
    if grouping is not None:
        read = {**read, "part": Value(grouping.column, grouping.groups.kind)}
    looked_at: dict[str, RowValue] = {}
    for at, each in enumerate(conditions):
        within = Within(each.column, *each.between) if each.listed is None else Value(each.column, each.listed.kind)
        looked_at[f"condition{at}"] = within
    rows = query.rows({**read, **looked_at}).filter(~nw.col("who").is_null())
    for name, each in zip(looked_at, conditions, strict=True):
        is_met = ~nw.col(name).is_null()
        rows = rows.filter(is_met) if each.listed is None else matched(rows, name, each.listed, query)
    if conditions:
        rows = rows.select(*read)
    return rows if grouping is None else matched(rows, "part", grouping.groups, query)


def _within_groups(query: EngineQuery, rows: Frame, grouping: Grouping | None) -> Frame:
    """The rows in the groups chosen for their unit: those of its groups with the smallest lots."""
    if grouping is None or not chooses(grouping):
        return rows
    return _chosen(query, rows, ["who"], "part", grouping.max_groups_per_unit)


def _chosen(query: EngineQuery, rows: Frame, whose: list[str], column: str, most: int) -> Frame:
    """The rows with one of the values of `column` chosen for `whose`: the `most` with the smallest lots."""
    few = _first(query, query.different(rows.select(*whose, column)), whose, column, most)
    return rows.join(few, on=[*whose, column], how="inner")


def _first(query: EngineQuery, pairs: Frame, whose: list[str], column: str, most: int) -> Frame:
    """The `most` of the different `pairs` with the smallest lots, for each of `whose`."""
    drawn = query.with_lots(pairs, [*whose, column])
    ranked = drawn.with_columns(rank=nw.col(column).cum_count().over(*whose, order_by=["lot", column]))
    return ranked.filter(nw.col("rank") <= most).select(*whose, column)


def _keys(grouping: Grouping | None, *others: str) -> Sequence[str]:
    return [*others] if grouping is None else ["part", *others]
