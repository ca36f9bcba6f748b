"""What questions ask of rows: five statements, in the SQL that DuckDB, PostgreSQL and Spark share.

A statement reads a few values of each row by the rules of `dpselect.rows.row_rules`: ``who``, the unit; ``part``, the
group; ``what``, a candidate or a number. It bounds what each unit contributes; what has to be chosen is chosen by lots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect import summaries
from dpselect.formats import Format
from dpselect.rows.columns import Amount, Column, Condition, Grouping, Progress, check_match, check_numeric
from dpselect.rows.row_rules import Dialect, Number, RowValue, Unit, Value, Within, rule, unit_rule
from dpselect.summaries import CandidateKind, CountsOf, NamesOf, PublicCandidates, PublicCondition, TotalsOf, ValuesIn

Found = Mapping[str, Any]  # the columns of a result as NumPy arrays; ``what`` of names as an Arrow array
PLACE = CandidateKind.INTEGER  # the kind of a position in a public list
_CONDITION = "condition"
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

MOST_PLACES = 62  # the bits of a whole number of 64 bits, >= 0, with one to spare
_MOST_TOGETHER = 960  # places, about, that are counted by one statement: engines have a largest number of columns


@dataclass(frozen=True, slots=True)
class Places:
    """What a row says of its unit: one of few places, for each group and candidate.

    If `is_one`, a unit counts for only one of its places, chosen at random; else for each.
    """

    groups: int
    candidates: int
    is_one: bool

    @property
    def number(self) -> int:
        """All places: the candidates of the first group, then those of the next."""
        return self.groups * self.candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One question to an engine.

    Attributes:
        reads: what is read from each row, by name; ``who`` is the unit. Rows without one of them are left out.
        lists: the public lists that some of these have to be in, by the same names; see `tables`.
        body: the SQL, from SQL for the rows with ``who``, and with places instead of listed values.
        summary: what the result means.
        parts: for a cross table, the lists of its columns.
        named: the kind of the values ``what`` that come from rows and are returned, if any.
        places: what it counts, if it can be asked `together` with others.
        reads_all: whether rows are left out that have not all that is read; else what is not there is null.
    """

    reads: Mapping[str, RowValue]
    lists: Mapping[str, PublicCandidates] = field(default_factory=dict[str, PublicCandidates])
    body: Callable[[Dialect, str], str]
    summary: Callable[[Found], Any]
    parts: tuple[PublicCandidates, ...] = ()
    named: CandidateKind | None = None
    places: Places | None = None
    reads_all: bool = True

    @property
    def tables(self) -> dict[str, PublicCandidates]:
        """The lists, except intervals, as engines know them: tables of ``candidate`` and ``place``, the position."""
        return {f"{name}_list": listed for name, listed in self.lists.items() if not is_interval(listed)}

    def sql(self, dialect: Dialect, cells: Mapping[str, Sequence[str]], table: str) -> str:
        """The statement in the words of an engine, over the `table`, in which each of `reads` is in some `cells`."""
        unit, (of_unit,) = self.reads["who"].column, cells["who"]
        values = {name: value for name, value in self.reads.items() if name != "who"}
        key, known = unit_rule(unit, of_unit, dialect)  # it is known by the column, because a digest is costly
        read = [f"{key} AS who"]
        for name, value in values.items():
            cell, *others = cells[name]
            read.append(f"{rule(value, cell, dialect, *others)} AS {name}")
        shown = f"SELECT {', '.join(read)} FROM {table} WHERE {known}"
        selected, joins, needed = ["who"], "", list[str]()
        for name in values:
            listed, is_condition = self.lists.get(name), name.startswith(_CONDITION)
            if listed is None:
                place, need = f"shown.{name}", f"shown.{name} IS NOT NULL"
            elif is_interval(listed):
                first, last = dialect.whole(listed.values[0]), dialect.whole(listed.values[-1])
                place, need = f"shown.{name} - {first}", f"shown.{name} BETWEEN {first} AND {last}"
            elif is_condition:
                place, need = "", f"shown.{name} IN (SELECT candidate FROM {name}_list)"
            else:
                place, need = f"{name}_list.place", ""
                kind = "JOIN" if self.reads_all else "LEFT JOIN"
                joins += f" {kind} {name}_list ON {name}_list.candidate = shown.{name}"
            if need and (self.reads_all or is_condition):
                needed.append(need)
            elif need and listed is not None:
                place = f"CASE WHEN {need} THEN {place} END"
            if not is_condition:
                selected.append(f"{place if listed is None else dialect.place(place, len(listed))} AS {name}")
        where = f" WHERE {' AND '.join(needed)}" if needed else ""
        return self.body(dialect, f"SELECT {', '.join(selected)} FROM ({shown}) AS shown{joins}{where}")


class Engine(ABC):
    """What holds the rows of one table: DuckDB and a source of rows, a Spark frame, or a PostgreSQL server.

    A new engine is this class, a `Dialect`, and a line in `dpselect.rows.opening`.

    Attributes:
        shown: its name in errors and ``repr``: a path, a kind of frame, or a URL without its password.
        columns: all columns, with different names.
        listed: whether errors may list these names; not if they might be somebody's row.
        format: how cells of text are written, if that was declared.
    """

    shown: str
    columns: tuple[Column, ...]
    listed: bool = True
    format: Format | None = None

    @abstractmethod
    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, about the same unit, over the same rows.

        What is left to chance is independent from one to the other. Proof: ``proofs/one_pass.md``. No error depends on
        a row's content, or quotes a row.
        """


def one_by_one(
    answer: Callable[[Statement], Found], asked: Sequence[Statement], progress: Progress | None
) -> list[Found]:
    """The results of an engine that answers one statement after another."""
    found: list[Found] = []
    for statement in asked:
        found.append(answer(statement))
        if progress is not None:
            progress(len(found) / len(asked))
    return found


def is_interval(listed: PublicCandidates) -> bool:
    """Whether they are all whole numbers between two ends, so that they need not be listed."""
    return isinstance(listed.values, range) and listed.values.step == 1


def count(scan: CountsOf, *, unit: Column, column: Column, grouping: Grouping | None = None) -> Statement:
    """How many units have each candidate. Proof: ``proofs/counting.md``; with groups ``proofs/groups.md``."""
    candidates, most = scan.candidates, scan.max_values_per_unit
    most = None if most is None or most >= len(candidates) else most
    keys = [*_parts(grouping), "what"]

    def body(dialect: Dialect, rows: str) -> str:
        if most is not None:
            return _numbered(_few_values(dialect, rows, grouping, PLACE, most), keys)
        once = f"SELECT DISTINCT who, {', '.join(keys)} FROM ({rows}) AS matched"
        return _numbered(_within_groups(dialect, once, grouping), keys)

    return Statement(
        **_reads(unit, grouping, what=(column, candidates)),
        body=body,
        summary=lambda found: [summaries.CandidateTotals(each) for each in _tabulated(found, candidates, grouping)],
        places=_places(grouping, len(candidates.values), most),
    )


def total(
    scan: TotalsOf, *, unit: Column, column: Column, number: Column, grouping: Grouping | None = None
) -> Statement:
    """Sums of the units' clipped amounts, for each candidate or in all. Proof: ``proofs/clipped_sums.md``.

    All sums are of whole numbers, so that their order does not matter.
    """
    candidates, amount = scan.candidates, Amount(number, scan.clip.scale, scan.clip.lower, scan.clip.upper)
    matched = None if candidates is None else (column, candidates)
    check_numeric(number)
    keys = [*_parts(grouping), *([] if matched is None else ["what"])]

    def body(dialect: Dialect, rows: str) -> str:
        whose = ", ".join(["who", *keys])
        units = f"SELECT {whose}, sum(added) AS added FROM ({rows}) AS matched GROUP BY {whose}"
        clipped = f"LEAST({dialect.whole(amount.upper)}, added)"
        if amount.lower < 0:  # else no row adds less than the lower bound, and a unit here has a row
            clipped = f"GREATEST({dialect.whole(amount.lower)}, {clipped})"
        summed = saturated(f"COALESCE(sum({clipped}), 0)", dialect)
        return _numbered(_within_groups(dialect, units, grouping), keys, summed)

    return Statement(
        **_reads(unit, grouping, added=amount, what=matched),
        body=body,
        summary=lambda found: [summaries.CandidateTotals(each) for each in _tabulated(found, candidates, grouping)],
    )


def saturated(number: str, dialect: Dialect) -> str:
    """A sum of amounts as a whole number of 64 bits: the nearest that fits."""
    low, high = dialect.whole(_SMALLEST), dialect.whole(_LARGEST)
    return f"CAST(GREATEST({low}, LEAST({high}, {number})) AS BIGINT)"


def gather(scan: ValuesIn, *, unit: Column, column: Column, grouping: Grouping | None = None) -> Statement:
    """Numbers clipped into the domain, at most so many of each unit in each group. Proof: ``proofs/unit_values.md``."""
    check_numeric(column)
    domain, parts = scan.domain, _parts(grouping)

    def body(dialect: Dialect, rows: str) -> str:
        few = dialect.few_rows(_within_groups(dialect, rows, grouping), ["who", *parts], scan.max_rows_per_unit)
        low, high = dialect.double(domain.lower), dialect.double(domain.upper)
        clipped = f"GREATEST({low}, LEAST({high}, what)) AS value"
        return f"SELECT {', '.join([*parts, clipped])} FROM ({few}) AS few"

    def summary(found: Found) -> list[summaries.UnitValues]:
        values = np.asarray(found["value"], np.float64)
        each_group = [slice(None)] if grouping is None else _of_groups(found, grouping)
        about: dict[str, Any] = {"domain": domain, "max_rows_per_unit": scan.max_rows_per_unit}
        return [summaries.UnitValues(values[some], **about) for some in each_group]

    return Statement(**_reads(unit, grouping, what=Number(column)), body=body, summary=summary)


def units(
    scan: PublicCondition, *, unit: Column, column: Column, number: Column | None, grouping: Grouping | None = None
) -> Statement:
    """How many units have a row that a question can use: with a `number`, if one is given.

    Proof: ``proofs/usable_units.md``.
    """
    matched, value = None if scan.candidates is None else (column, scan.candidates), None
    if number is not None:
        check_numeric(number)
        value = Number(number) if scan.between is None else Within(number, *scan.between)
    parts = _parts(grouping)

    def body(dialect: Dialect, rows: str) -> str:
        once = f"SELECT DISTINCT {', '.join(['who', *parts])} FROM ({rows}) AS matched"
        return _numbered(_within_groups(dialect, once, grouping), parts)

    def summary(found: Found) -> list[int]:
        return _tabulated(found, None, grouping)[:, 0].tolist()

    read = _reads(unit, grouping, what=matched, number=value)
    return Statement(**read, body=body, summary=summary, places=_places(grouping, 1, None))


def names(scan: NamesOf, *, unit: Column, column: Column, grouping: Grouping | None = None) -> Statement:
    """How many units have each value that occurs. Proof: ``proofs/unknown_candidates.md``, claim 1."""
    kind, keys = scan.kind, [*_parts(grouping), "what"]
    check_match(column, kind, argument="kind")

    def body(dialect: Dialect, rows: str) -> str:
        return _numbered(_few_values(dialect, rows, grouping, kind, scan.max_values_per_unit), keys)

    def summary(found: Found) -> list[summaries.NameCounts]:
        values, counts = found["what"], np.array(found["number"], np.int64)
        each_group = [np.arange(counts.size)] if grouping is None else _of_groups(found, grouping)
        return [summaries.NameCounts(values.take(some), counts[some], kind=kind) for some in each_group]

    read = _reads(unit, grouping, what=Value(column, kind, is_name=True))
    return Statement(**read, body=body, summary=summary, named=kind)


def filtered(statement: Statement, conditions: Sequence[Condition]) -> Statement:
    """The same of those rows alone that meet the conditions. Proof: ``proofs/row_conditions.md``."""
    reads, lists = dict(statement.reads), dict(statement.lists)
    for at, each in enumerate(conditions):
        name = f"{_CONDITION}{at}"
        if each.listed is None:
            reads[name] = Within(each.column, *each.between)
        else:
            reads[name], lists[name] = Value(each.column, each.listed.kind), each.listed
    return replace(statement, reads=reads, lists=lists)


def _reads(
    unit: Column, grouping: Grouping | None, **read: RowValue | tuple[Column, PublicCandidates] | None
) -> dict[str, Any]:
    """What a statement reads, and the lists in it: the unit, the group, and values or lists that a question needs."""
    reads, lists = dict[str, RowValue](who=Unit(unit)), dict[str, PublicCandidates]()
    groups = None if grouping is None else (grouping.column, grouping.groups)
    for name, each in {"part": groups, **read}.items():
        if isinstance(each, tuple):
            column, listed = each
            check_match(column, listed.kind)
            reads[name], lists[name] = Value(column, listed.kind), listed
        elif each is not None:
            reads[name] = each
    return {"reads": reads, "lists": lists, "parts": () if grouping is None else grouping.listed}


def _parts(grouping: Grouping | None) -> list[str]:
    return [] if grouping is None else ["part"]


def _chooses(grouping: Grouping | None) -> bool:
    """Whether a unit can be in more groups than it may."""
    return grouping is not None and grouping.max_groups_per_unit < len(grouping.groups)


def _places(grouping: Grouping | None, candidates: int, most: int | None) -> Places | None:
    groups = 1 if grouping is None else len(grouping.groups)
    apart = grouping is not None and (_chooses(grouping) or grouping.listed or most == 1)
    few = groups * candidates <= MOST_PLACES and most in (None, 1) and not apart
    return Places(groups, candidates, is_one=most == 1) if few else None


def _within_groups(dialect: Dialect, rows: str, grouping: Grouping | None) -> str:
    """The rows, with ``who`` and ``part``, that are in one of the groups chosen for their unit."""
    if grouping is None or not _chooses(grouping):
        return rows
    few = dialect.chosen("several", ["who"], "part", PLACE, most=grouping.max_groups_per_unit)
    both = "several.who = few.who AND several.part = few.part"
    return f"WITH several AS {dialect.materialized}({rows}) SELECT several.* FROM several JOIN ({few}) AS few ON {both}"


def _few_values(dialect: Dialect, rows: str, grouping: Grouping | None, kind: CandidateKind, most: int) -> str:
    """At most so many values of each unit, in each of the groups chosen for it."""
    if _chooses(grouping):
        different = f"SELECT DISTINCT who, part, what FROM ({rows}) AS matched"
        rows = _within_groups(dialect, different, grouping)
    return dialect.chosen(f"({rows}) AS matched", ["who", *_parts(grouping)], "what", kind, most=most)


def _numbered(rows: str, keys: Sequence[str], number: str = "CAST(count(*) AS BIGINT)") -> str:
    """A number for each of the keys; by default, how many rows there are."""
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, f'{number} AS number'])} FROM ({rows}) AS counted{by}"


def _tabulated(found: Found, candidates: PublicCandidates | None, grouping: Grouping | None) -> NDArray[np.int64]:
    """The numbers found for candidates that occur, and zeros for the others: shape ``(groups, candidates)``.

    Without candidates there is one number for each group.
    """
    places = 1 if candidates is None else len(candidates)
    table = np.zeros((1 if grouping is None else len(grouping.groups), places), np.int64)
    numbers = np.asarray(found["number"], np.int64)
    first = np.zeros(numbers.size, np.int64)
    parts, what = (np.asarray(found.get(name, first), np.int64) for name in ("part", "what"))
    table[parts, what] = numbers
    return table


def _of_groups(found: Found, grouping: Grouping) -> list[NDArray[np.int64]]:
    """Which rows of a result are about each group."""
    parts = np.asarray(found["part"], np.int64)
    ends = np.cumsum(np.bincount(parts, minlength=len(grouping.groups)))
    return np.split(np.argsort(parts, kind="stable"), ends[:-1])


def batches(asked: Sequence[Statement]) -> list[list[int]]:
    """Which statements are asked `together`, by their numbers: those with few places, others alone."""
    found, number = dict[tuple[int, int], list[int]](), 0
    for at, each in enumerate(asked):
        number += 0 if each.places is None else each.places.number
        found.setdefault((at, -1) if each.places is None else (-1, number // _MOST_TOGETHER), []).append(at)
    return [*found.values()]


def together(asked: Sequence[Statement]) -> Statement:
    """One statement for several, each with few places, that groups the rows by unit only once.

    What is found of a unit is a set of places, and so the bits of a word. Several statements share a word as long as it
    has bits; one that chooses a place of each unit has a word for itself. The result is how many units have each bit,
    and a summary for each statement. Proof that it finds what each finds alone: ``proofs/one_pass.md``.
    """
    first = asked[0]
    if len(asked) == 1 and (first.places is None or first.places.number == 1):  # a single place needs no bits

        def alone(found: Found) -> list[Any]:
            return [first.summary(found)]

        return replace(first, summary=alone)
    reads: dict[str, RowValue] = {"who": first.reads["who"]}
    lists: dict[str, PublicCandidates] = {}
    places = [each.places for each in asked if each.places is not None]
    for at, each in enumerate(asked):
        reads |= {f"{name}{at}": value for name, value in each.reads.items() if name != "who"}
        lists |= {f"{name}{at}": listed for name, listed in each.lists.items()}

    def body(dialect: Dialect, rows: str) -> str:
        words, shared, counts, used = list[str](), list[list[str]](), list[str](), MOST_PLACES
        for at, (each, of_it) in enumerate(zip(asked, places, strict=True)):
            is_read, place = _is_read(each, at), _place(of_it, at)
            if of_it.is_one:
                word, first_bit = f"one{at}", 0
                words.append(f"{dialect.one_bit(['who'], f'CASE WHEN {is_read} THEN {place} END')} AS {word}")
            else:
                if used + of_it.number > MOST_PLACES:
                    shared.append([])
                    used = 0
                shared[-1].append(f"CASE WHEN {is_read} THEN {dialect.bit_of(f'{place} + {used}')} ELSE 0 END")
                word, first_bit = f"word{len(shared) - 1}", used
                used += of_it.number
            for bit in range(of_it.number):
                has = f"CASE WHEN ({word} & {1 << (first_bit + bit)}) <> 0 THEN 1 END"
                counts.append(f"CAST(count({has}) AS BIGINT) AS n{at}_{bit}")
        words += [f"bit_or({' | '.join(sets)}) AS word{at}" for at, sets in enumerate(shared)]
        grouped = f"SELECT who, {', '.join(words)} FROM ({rows}) AS matched GROUP BY who"
        return f"SELECT {', '.join(counts)} FROM ({grouped}) AS units"

    def summary(found: Found) -> list[Any]:
        found_of: list[Any] = []
        for at, (each, of_it) in enumerate(zip(asked, places, strict=True)):
            part, what = np.divmod(np.arange(of_it.number), of_it.candidates)
            numbers = [np.asarray(found[f"n{at}_{bit}"])[0] for bit in range(of_it.number)]
            found_of.append(each.summary({"part": part, "what": what, "number": numbers}))  # as if it were alone
        return found_of

    return Statement(reads=reads, lists=lists, body=body, summary=summary, reads_all=len(asked) == 1)


def _place(places: Places, at: int) -> str:
    """SQL for the place of a row that has all that is read."""
    terms = [f"part{at} * {places.candidates}"] if places.groups > 1 else []
    return " + ".join([*terms, *([f"what{at}"] if places.candidates > 1 else [])]) or "0"


def _is_read(statement: Statement, at: int) -> str:
    return " AND ".join(f"{name}{at} IS NOT NULL" for name in statement.reads if name != "who") or "1 = 1"
