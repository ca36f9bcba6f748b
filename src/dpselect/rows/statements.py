"""What is asked of rows, and the one statement of SQL that finds it, which DuckDB, PostgreSQL and Spark share.

A statement reads a few values of each row by the rules of `dpselect.rows.row_rules`: ``who``, the unit; ``part``, the
group; ``what``, a candidate or a number. It bounds what each unit contributes; what has to be chosen is chosen by lots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect import summaries
from dpselect.rows.columns import Column, Progress
from dpselect.rows.row_rules import Amount, Dialect, Name, Number, RowValue, Unit, Value, Within, rule, unit_rule
from dpselect.summaries import CandidateKind, CountsOf, PublicCandidates, Scan, TotalsOf, ValuesIn

Found = Mapping[str, Any]  # the columns of a result as NumPy arrays; ``what`` of names as an Arrow array
Cells = Mapping[str, Sequence[str]]  # the names of columns that each value of a row is read from, by its name
PLACE = CandidateKind.INTEGER  # the kind of a position in a public list
_CONDITION = "condition"

MOST_PLACES = 62  # the bits of a whole number of 64 bits, >= 0, with one to spare
_MOST_TOGETHER = 960  # places, about, that one statement counts: engines limit the columns of a result


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is asked of the rows of a table, whose columns are checked.

    The group of a row is the values of its `part`: in one column, or in those of a cross table, each listed for all
    groups in the same order. Without any, all rows are in one. Proof: ``proofs/groups.md``.
    """

    scan: Scan
    unit: Column  # whom a row belongs to
    column: Column  # what the scan is about
    number: Column | None = None  # of amounts, numbers or dates, if the scan needs one
    part: tuple[Value, ...] = ()
    max_groups_per_unit: int = 1  # of those that its usable rows have; every set is equally likely

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.part[0].listed.values) if self.part else 1

    @property
    def chooses(self) -> bool:
        """Whether a unit can be in more groups than it may."""
        return self.max_groups_per_unit < self.groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One SQL statement, which may answer several questions.

    Of what it `reads` from each row ``who`` is the unit. Several values are looked up together: each of their lists has
    them in the same place. If it counts units in few places, at most `MOST_PLACES`, `together` can join it with others.
    """

    reads: Mapping[str, tuple[RowValue, ...]]  # by name
    body: Callable[[Dialect, str], str]  # SQL, of SQL for the rows with ``who``, and with places for listed values
    summary: Callable[[Found], list[list[Any]]]  # of each question that it answers an entry for each group
    named: bool = False  # whether the values ``what`` come from rows and are returned
    places: tuple[int, int] | None = None  # how many groups and candidates; None: it is sent by itself
    is_one: bool = False  # whether a unit counts for only one of its places, chosen at random; else for each
    reads_all: bool = True  # whether rows are left out that have not all of it; else what is not there is null

    @property
    def tables(self) -> dict[str, dict[str, PublicCandidates]]:
        """The public lists, except intervals, as engines know them: tables of these columns and of each ``place``."""
        found = dict[str, dict[str, PublicCandidates]]()
        for name, values in self.reads.items():
            lists = [each.listed for each in values if isinstance(each, Value)]
            if lists and not is_interval(lists[0]):
                found[f"{name}_list"] = {f"{name}_{at}" if at else name: each for at, each in enumerate(lists)}
        return found

    def cells(self, of: Callable[[RowValue], Any], names: dict[Any, str]) -> dict[str, list[str]]:
        """By what names each of `reads` is read; what is new is added to the `names` of what values are read `of`."""
        found = dict[str, list[str]]()
        for name, values in self.reads.items():
            found[name] = [names.setdefault(of(each), f"c{len(names)}") for each in values]
        return found

    def sql(self, dialect: Dialect, cells: Cells, table: str) -> str:
        """The statement in the words of an engine, over the `table`, in which each of `reads` is in some `cells`."""
        (unit,), (of_unit,) = self.reads["who"], cells["who"]
        key, known = unit_rule(unit.column, of_unit, dialect)  # it is known by the column, because a digest is costly
        read, selected, joins, needed = [f"{key} AS who"], ["who"], "", list[str]()
        for name, values in self.reads.items():
            if name == "who":
                continue
            is_condition, same = name.startswith(_CONDITION), list[str]()
            for at, (value, cell) in enumerate(zip(values, cells[name], strict=True)):
                called = f"{name}_{at}" if at else name
                read.append(f"{rule(value, cell, dialect)} AS {called}")
                same.append(f"{name}_list.{called} = shown.{called}")
            place, need = f"shown.{name}", f"shown.{name} IS NOT NULL"
            if isinstance(first := values[0], Value):
                if is_interval(first.listed):
                    low, high = dialect.whole(first.listed.values[0]), dialect.whole(first.listed.values[-1])
                    place, need = f"shown.{name} - {low}", f"shown.{name} BETWEEN {low} AND {high}"
                else:
                    joins += f" LEFT JOIN {name}_list ON {' AND '.join(same)}"
                    place, need = f"{name}_list.place", f"{name}_list.place IS NOT NULL"
                place = f"CAST({place} AS INTEGER)"  # half the bytes of a key to group by, and enough for 10^8
            if self.reads_all or is_condition:
                needed.append(need)
            if not is_condition:
                selected.append(f"{place if self.reads_all else f'CASE WHEN {need} THEN {place} END'} AS {name}")
        shown = f"SELECT {', '.join(read)} FROM {table} WHERE {known}"
        where = f" WHERE {' AND '.join(needed)}" if needed else ""
        return self.body(dialect, f"SELECT {', '.join(selected)} FROM ({shown}) AS shown{joins}{where}")


class Engine(ABC):
    """What holds the rows of one table: DuckDB and a source of rows, a Spark frame, or a PostgreSQL server.

    A new engine is this class, a `Dialect`, and a line in `dpselect.rows.opening`.
    """

    shown: str  # in errors and ``repr``: a path, a kind of frame, or a URL without its password
    columns: tuple[Column, ...]  # with different names
    listed: bool = True  # whether errors may list these names; not if they might be somebody's row

    @abstractmethod
    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, about the same unit, over the same rows.

        What is left to chance is independent from one to the other. Proof: ``proofs/one_pass.md``. No error depends on
        a row's content, or quotes a row. Spark and servers do not say how much is read.
        """


def is_interval(listed: PublicCandidates) -> bool:
    """Whether they are all whole numbers between two ends, so that they need not be listed."""
    return isinstance(listed.values, range) and listed.values.step == 1


def statement_of(asked: Lookup) -> Statement:
    """The statement that finds what is asked, and bounds what each unit contributes."""
    groups, number, most, kind = asked.groups, 1, None, PLACE
    reads = dict[str, tuple[RowValue, ...]](who=(Unit(asked.unit),))
    if asked.part:
        reads["part"] = asked.part
    if (listed := getattr(asked.scan, "candidates", None)) is not None:
        reads["what"] = (Value(asked.column, listed),)
    keys = [*reads][1:]

    def totals(found: Found) -> list[list[Any]]:
        return [[*map(summaries.CandidateTotals, _tabulated(found, groups, number))]]

    def units(found: Found) -> list[list[Any]]:
        return [_tabulated(found, groups, 1)[:, 0].tolist()]

    def names(found: Found) -> list[list[Any]]:
        values, counts = found["what"], np.array(found["number"], np.int64)
        taken = [(values.take(some) if groups > 1 else values, some) for some in _of_groups(found, groups)]
        return [[summaries.NameCounts(few, counts[some]) for few, some in taken]]

    match asked.scan:
        case CountsOf(candidates, most):
            number, summary = len(candidates.values), totals
            most = None if most is None or most >= number else most
        case summaries.UnitsOf(used, between):
            summary = units
            if used is not None:
                reads |= statement_of(replace(asked, scan=used)).reads
            elif between is not None and (column := asked.number) is not None:
                reads["number"] = (Number(column) if between == (None, None) else Within(column, *between),)
        case summaries.NamesOf(kind, most):
            reads["what"], keys, summary = (Name(asked.column, kind),), [*keys, "what"], names
        case TotalsOf(clip):
            number = 1 if listed is None else len(listed.values)
            amount = Amount(asked.number or asked.column, clip.scale, clip.lower, clip.upper)
            reads["added"] = (amount,)
            return Statement(reads=reads, body=partial(_summed, asked, keys, amount), summary=totals)
        case ValuesIn(domain, most):
            reads["what"] = (Number(asked.number or asked.column, domain.dated),)
            about: dict[str, Any] = {"domain": domain, "max_rows_per_unit": most}

            def values(found: Found) -> list[list[Any]]:
                numbers = np.asarray(found["value"], np.float64)
                return [[summaries.UnitValues(numbers[some], **about) for some in _of_groups(found, groups)]]

            return Statement(reads=reads, body=partial(_gathered, asked, keys, asked.scan), summary=values)
    named, apart = summary is names, asked.part and (asked.chooses or most == 1)
    few = groups * number <= MOST_PLACES and most in (None, 1) and not named and not apart
    return Statement(
        reads=reads,
        body=partial(_counted, asked, keys, most, kind),
        summary=summary,
        named=named,
        places=(groups, number) if few else None,
        is_one=most == 1,
    )


def _counted(asked: Lookup, keys: list[str], most: int | None, kind: CandidateKind, dialect: Dialect, rows: str) -> str:
    """How many units have each of the keys, where each unit has at most `most` values of ``what``, the last key.

    Proofs: ``proofs/counting.md``, ``proofs/groups.md``, ``proofs/usable_units.md``; of names that come from rows
    ``proofs/unknown_candidates.md``, claim 1.
    """
    if most is None:
        once = f"SELECT DISTINCT {', '.join(['who', *keys])} FROM ({rows}) AS matched"
        return _numbered(_within_groups(dialect, once, asked), keys)
    if asked.chooses:
        rows = _within_groups(dialect, f"SELECT DISTINCT who, part, what FROM ({rows}) AS matched", asked)
    return _numbered(dialect.chosen(f"({rows}) AS matched", ["who", *keys[:-1]], "what", kind, most=most), keys)


def _summed(asked: Lookup, keys: Sequence[str], amount: Amount, dialect: Dialect, rows: str) -> str:
    """Sums of the units' clipped amounts, for each of the keys. Proof: ``proofs/clipped_sums.md``.

    All sums are of whole numbers, so that their order does not matter.
    """
    whose = ", ".join(["who", *keys])
    units = f"SELECT {whose}, sum(added) AS added FROM ({rows}) AS matched GROUP BY {whose}"
    clipped = f"LEAST({dialect.whole(amount.upper)}, added)"
    if amount.lower < 0:  # else no row adds less than the lower bound, and a unit here has a row
        clipped = f"GREATEST({dialect.whole(amount.lower)}, {clipped})"
    summed = saturated(f"COALESCE(sum({clipped}), 0)", dialect)
    return _numbered(_within_groups(dialect, units, asked), keys, summed)


def saturated(number: str, dialect: Dialect) -> str:
    """A sum of amounts as a whole number of 64 bits: the nearest that fits."""
    low, high = dialect.whole(-(2**63)), dialect.whole(2**63 - 1)
    return f"CAST(GREATEST({low}, LEAST({high}, {number})) AS BIGINT)"


def _gathered(asked: Lookup, parts: Sequence[str], scan: ValuesIn, dialect: Dialect, rows: str) -> str:
    """Numbers clipped into the domain, at most so many of each unit in each group. Proof: ``proofs/unit_values.md``."""
    few = dialect.few_rows(_within_groups(dialect, rows, asked), ["who", *parts], scan.max_rows_per_unit)
    low, high = dialect.double(scan.domain.lower), dialect.double(scan.domain.upper)
    clipped = f"GREATEST({low}, LEAST({high}, what)) AS value"
    return f"SELECT {', '.join([*parts, clipped])} FROM ({few}) AS few"


def _within_groups(dialect: Dialect, rows: str, asked: Lookup) -> str:
    """The rows, with ``who`` and ``part``, that are in one of the groups chosen for their unit."""
    if not asked.part or not asked.chooses:
        return rows
    few = dialect.chosen("several", ["who"], "part", PLACE, most=asked.max_groups_per_unit)
    both = "several.who = few.who AND several.part = few.part"
    return f"WITH several AS {dialect.materialized}({rows}) SELECT several.* FROM several JOIN ({few}) AS few ON {both}"


def _numbered(rows: str, keys: Sequence[str], number: str = "CAST(count(*) AS BIGINT)") -> str:
    """A number for each of the keys; by default, how many rows there are."""
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, f'{number} AS number'])} FROM ({rows}) AS counted{by}"


def _tabulated(found: Found, groups: int, places: int) -> NDArray[np.int64]:
    """The numbers found for candidates that occur, and zeros for the others: shape ``(groups, places)``."""
    table, numbers = np.zeros((groups, places), np.int64), np.asarray(found["number"], np.int64)
    first = np.zeros(numbers.size, np.int64)
    parts, what = (np.asarray(found.get(name, first), np.int64) for name in ("part", "what"))
    table[parts, what] = numbers
    return table


def _of_groups(found: Found, groups: int) -> Sequence[Any]:
    """Which rows of a result are about each group."""
    if groups == 1:
        return [slice(None)]
    parts = np.asarray(found["part"], np.int64)
    ends = np.cumsum(np.bincount(parts, minlength=groups))
    return np.split(np.argsort(parts, kind="stable"), ends[:-1])


def filtered(statement: Statement, conditions: Sequence[RowValue]) -> Statement:
    """The same of those rows alone that meet the conditions. Proof: ``proofs/row_conditions.md``."""
    met = {f"{_CONDITION}{at}": (each,) for at, each in enumerate(conditions)}
    return replace(statement, reads={**statement.reads, **met})


def batched(asked: Sequence[Statement]) -> list[tuple[list[int], Statement]]:
    """What to send, with the numbers of the statements that it answers: those with few places are asked `together`."""
    found, number = dict[tuple[int, int], list[int]](), 0
    for at, each in enumerate(asked):
        number += 0 if each.places is None else prod(each.places)
        found.setdefault((at, -1) if each.places is None else (-1, number // _MOST_TOGETHER), []).append(at)
    return [(batch, together([asked[at] for at in batch])) for batch in found.values()]


def together(asked: Sequence[Statement]) -> Statement:
    """One statement for several, each with few places, that groups the rows by unit only once.

    What is found of a unit is a set of places, and so the bits of a word. Several statements share a word as long as it
    has bits; one that chooses a place of each unit has a word for itself. The result is how many units have each bit.
    Proof that it finds what each finds alone: ``proofs/one_pass.md``.
    """
    first, reads = asked[0], {"who": asked[0].reads["who"]}
    if len(asked) == 1 and first.places in (None, (1, 1)):  # a single place needs no bits
        return first
    for at, each in enumerate(asked):
        reads |= {f"{name}{at}": values for name, values in each.reads.items() if name != "who"}

    def body(dialect: Dialect, rows: str) -> str:
        words, shared, counts, used = list[str](), list[list[str]](), list[str](), MOST_PLACES
        for at, each in enumerate(asked):
            groups, candidates = each.places or (1, 1)
            number, terms = groups * candidates, {f"part{at} * {candidates}": groups, f"what{at}": candidates}
            place = " + ".join(term for term, several in terms.items() if several > 1) or "0"
            is_read = " AND ".join(f"{name}{at} IS NOT NULL" for name in each.reads if name != "who") or "1 = 1"
            if each.is_one:
                word, first_bit = f"one{at}", 0
                words.append(f"{dialect.one_bit(['who'], f'CASE WHEN {is_read} THEN {place} END')} AS {word}")
            else:
                if used + number > MOST_PLACES:
                    shared.append([])
                    used = 0
                shared[-1].append(f"CASE WHEN {is_read} THEN {dialect.bit_of(f'{place} + {used}')} ELSE 0 END")
                word, first_bit = f"word{len(shared) - 1}", used
                used += number
            for bit in range(number):
                has = f"CASE WHEN ({word} & {1 << (first_bit + bit)}) <> 0 THEN 1 END"
                counts.append(f"CAST(count({has}) AS BIGINT) AS n{at}_{bit}")
        words += [f"bit_or({' | '.join(sets)}) AS word{at}" for at, sets in enumerate(shared)]
        grouped = f"SELECT who, {', '.join(words)} FROM ({rows}) AS matched GROUP BY who"
        return f"SELECT {', '.join(counts)} FROM ({grouped}) AS units"

    def summary(found: Found) -> list[list[Any]]:
        found_of: list[list[Any]] = []
        for at, each in enumerate(asked):
            groups, candidates = each.places or (1, 1)
            part, what = np.divmod(np.arange(groups * candidates), candidates)
            numbers = [np.asarray(found[f"n{at}_{bit}"])[0] for bit in range(what.size)]
            found_of += each.summary({"part": part, "what": what, "number": numbers})  # as if it were alone
        return found_of

    return Statement(reads=reads, body=body, summary=summary, reads_all=len(asked) == 1)
