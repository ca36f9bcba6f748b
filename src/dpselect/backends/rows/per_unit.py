"""Several summaries in one query, which groups the rows by unit once.

What a unit contributes to each summary is found from its own rows, by the rules of the summary's own query: one bit for
each place (a candidate, in a group) that one of its rows has, all of them or one that is then chosen; or one number,
such as its clipped sum. Each summary is made from these, as if it had been alone.

Proof: ``proofs/one_pass.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.contract import Amount, Grouping
from dpselect.backends.row_rules import Number, Within, rule
from dpselect.backends.rows.arrow import BATCH_ROWS
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import Relation, chooses, value_lot, value_of
from dpselect.mechanisms.seeding import key_of_a_choice
from dpselect.summaries import PublicCandidates

_BITS = 63
"""Places in a word: a whole number of 64 bits with a sign."""

_MOST_PLACES = 2 * _BITS
"""A summary with more places is found faster by a query of its own."""

_LARGEST = 2**63 - 1

Held = Callable[[Relation, str, Mapping[str, str]], str]
"""Adds columns to the rows, with names that begin with the text, and returns SQL for an aggregate of them, which leaves
out rows that do not count. The mapping tells the names of the columns that the summary reads."""


@dataclass(frozen=True, slots=True)
class Places:
    """A summary of how many units have a row at each of some places.

    Attributes:
        number: how many places there are.
        place: SQL for the place of a row, from 0, or null; and the columns that must not be null either, if the row is
            to count.
        found: what the summary is made of, from the number of units at each place.
        is_one: whether a unit counts at one of its places, chosen at random. Then they are at most `_BITS`.
    """

    number: int
    place: Callable[[Relation, str, Mapping[str, str]], tuple[str, list[str]]]
    found: Callable[[NDArray[np.int64]], Any]
    is_one: bool = False


@dataclass(frozen=True, slots=True)
class UnitNumbers:
    """A summary of one number of each unit.

    Attributes:
        held: SQL for the aggregate that the engine keeps for each unit.
        number: SQL for the unit's number, from the name of the aggregate.
        found: what the summary is made of, from the numbers of the units that have one, in batches.
    """

    held: Held
    number: Callable[[str], str]
    found: Callable[[list[NDArray[Any]]], Any]


def counted(
    column: Column, candidates: PublicCandidates, most: int | None, grouping: Grouping | None
) -> Places | UnitNumbers | None:
    """What `queries.counted` finds, without a limit on a unit's values; or with one value of each, without groups."""
    places = _places({"position": (column, candidates)}, None, None, grouping)
    if most is None:
        return places
    if most > 1 or grouping is not None:
        return None
    few = places is not None and places.number <= _BITS
    return replace(places, is_one=True) if places is not None and few else _one_value(column, candidates)


def _one_value(column: Column, candidates: PublicCandidates) -> UnitNumbers:
    """One of each unit's candidates, chosen as `relation.chosen` does."""

    def held(rows: Relation, prefix: str, names: Mapping[str, str]) -> str:
        rows.match(f"{prefix}_position", column, candidates, name=names["value"], required=False)
        position = f"{prefix}_position"
        lot = value_lot(("who",), position, among=len(candidates))
        return f"min(CASE WHEN {position} IS NOT NULL THEN {lot} END)"

    def found(numbers: list[NDArray[Any]]) -> NDArray[np.int64]:
        counts = np.zeros(len(candidates), np.int64)
        for each in numbers:
            counts += np.bincount(each, minlength=len(candidates))
        return counts[np.newaxis]

    return UnitNumbers(held, lambda held: value_of(held, among=len(candidates)), found)


def units_counted(
    matched: tuple[Column, PublicCandidates] | None,
    number: Column | None,
    between: tuple[int | float, int | float] | None,
    grouping: Grouping | None,
) -> Places | None:
    """What `queries.units_counted` finds."""
    return _places({} if matched is None else {"one_of": matched}, number, between, grouping)


def _places(
    matched: Mapping[str, tuple[Column, PublicCandidates]],
    number: Column | None,
    between: tuple[int | float, int | float] | None,
    grouping: Grouping | None,
) -> Places | None:
    """The places of groups and candidates, or only of groups.

    None if there are too many, if groups are chosen, and in a cross table.
    """
    groups = 1 if grouping is None else len(grouping.groups)
    width = len(matched["position"][1]) if "position" in matched else 1
    is_cross = grouping is not None and bool(grouping.listed)
    if chooses(grouping) or is_cross or groups * width > _MOST_PLACES:
        return None

    def place(rows: Relation, prefix: str, names: Mapping[str, str]) -> tuple[str, list[str]]:
        place, needed = "0", list[str]()
        for what, (column, candidates) in matched.items():
            rows.match(f"{prefix}_{what}", column, candidates, name=names["value"], required=False)
            if what == "position":
                place = f"{prefix}_{what}"
            else:
                needed.append(f"{prefix}_{what}")
        if number is not None:
            what = Number(number) if between is None else Within(number, *between)
            rows.compute(f"{prefix}_what", rule(what, names["number"], DUCKDB), required=False)
            needed.append(f"{prefix}_what")
        if grouping is not None:
            rows.match(f"{prefix}_part", grouping.column, grouping.groups, name=names["part"], required=False)
            place = f"{prefix}_part * {width} + {place}"
        return place, needed

    def found(counts: NDArray[np.int64]) -> Any:
        return counts.reshape(groups, width) if "position" in matched else counts.tolist()

    return Places(groups * width, place, found)


def totalled(amount: Amount) -> UnitNumbers:
    """What `queries.totalled` finds, without candidates and groups."""

    def held(rows: Relation, prefix: str, names: Mapping[str, str]) -> str:
        rows.compute(f"{prefix}_added", rule(amount, names["amount"], DUCKDB), required=False)
        return f"sum({prefix}_added)"

    def clipped(held: str) -> str:
        number = f"greatest({amount.lower}, least({amount.upper}, {held}))::BIGINT"
        return f"CASE WHEN {held} IS NOT NULL THEN {number} END"  # else null becomes a bound

    def found(numbers: list[NDArray[Any]]) -> NDArray[np.int64]:
        total = sum(int(each.sum()) for each in numbers)  # of numbers of 33 bits, so that no batch overflows
        return np.array([[max(-_LARGEST - 1, min(_LARGEST, total))]], np.int64)

    return UnitNumbers(held, clipped, found)


def found_together(
    connection: Connection,
    asked: Sequence[tuple[Places | UnitNumbers, Mapping[str, str]]],
    *,
    unit: Column,
    table: str,
) -> list[Any]:
    """What each summary is made of, from one query that keeps a few words and numbers for each unit.

    Args:
        connection: a database with the table.
        asked: the summaries, each with the names of its columns in the table.
        unit: the source's column that the table has as ``unit``.
        table: its name.
    """
    rows = Relation(connection, unit=unit, grouping=None, table=table)
    words: list[list[str]] = []
    kept: list[str] = []
    shown: list[str] = []
    begins: list[int] = []
    ones: list[tuple[int, int]] = []
    several: list[int] = []
    places = 0
    for at, (each, names) in enumerate(asked):
        if isinstance(each, Places):
            if places % _BITS + each.number > _BITS >= 2 * each.number:
                places += _BITS - places % _BITS  # in one word, which is found faster than parts of two
            while len(words) * _BITS < places + each.number:
                words.append([])
            place, needed = each.place(rows, f"q{at}", names)
            for word in range(places // _BITS, (places + each.number - 1) // _BITS + 1):
                words[word].append(_bit(place, needed, places=each.number, begin=places - word * _BITS))
            begins.append(places)
            if each.is_one:
                ones.append((places, each.number))
            else:
                several += range(places, places + each.number)
            places += each.number
        else:
            begins.append(len(kept))
            kept.append(f"{each.held(rows, f'q{at}', names)} AS n{len(kept)}")
            shown.append(f"{each.number(f'n{len(shown)}')} AS n{len(shown)}")
    bits = [f"bit_or({' | '.join(word)}) AS w{at}" for at, word in enumerate(words)]
    units = f"SELECT {', '.join(['who', *bits, *kept])} FROM ({rows.sql}) GROUP BY who"
    # Hashed twice: the first joins the two by xor, so that two keys would choose alike, or the other way round.
    drawn = [f"hash(hash(who, {int.from_bytes(key_of_a_choice())}::UBIGINT)) AS l{at}" for at in range(len(ones))]
    found = f"SELECT {', '.join([*(f'w{at}' for at in range(len(words))), *shown, *drawn])} FROM ({units})"
    counts = np.zeros(places, np.int64)
    numbers: list[list[NDArray[Any]]] = [[] for _ in kept]
    for batch in connection.sql(found).to_arrow_reader(BATCH_ROWS):
        held = [batch.column(word).to_numpy() for word in range(len(words))]
        for place in several:
            counts[place] += np.count_nonzero(held[place // _BITS] & (1 << place % _BITS))
        for at, (begin, number) in enumerate(ones):
            lot = batch.column(len(words) + len(numbers) + at).to_numpy()
            counts[begin : begin + number] += _one_of_each(_bits(held, begin, number), lot, number)
        for at, each in enumerate(numbers):
            each.append(batch.column(len(words) + at).drop_null().to_numpy())
    return [
        each.found(counts[begin : begin + each.number]) if isinstance(each, Places) else each.found(numbers[begin])
        for (each, _), begin in zip(asked, begins, strict=True)
    ]


def _bits(words: list[NDArray[np.int64]], begin: int, number: int) -> NDArray[np.int64]:
    """The bits of so many places from `begin` on, at most `_BITS`, which may lie in two words."""
    word, shift = divmod(begin, _BITS)
    held = words[word] >> shift
    if shift + number > _BITS:
        held = held | (words[word + 1] << (_BITS - shift))
    return held & ((1 << number) - 1)


_ONES = np.array([each.bit_count() for each in range(256)], np.uint8)
"""How many bits of a byte are 1."""

_PLACES = np.array([([at for at in range(8) if each >> at & 1] + [0] * 8)[:8] for each in range(256)], np.uint8).ravel()
"""Where they are, in order: eight for each byte."""


def _one_of_each(bits: NDArray[np.int64], lots: NDArray[np.uint64], number: int) -> NDArray[np.int64]:
    """How many units have each place, if a unit has one of its places only: the one that its lot says.

    Args:
        bits: of each unit, a bit for each of its places.
        lots: of each unit, a number of 64 bits, as if at random. All places of a unit are equally likely, but for a
            part in 2^32.
        number: how many places there are.

    >>> lots = np.array([0, 2**63, 2**64 - 1, 5], np.uint64)
    >>> _one_of_each(np.array([0b1101, 0b1101, 0b1101, 0]), lots, 4)
    array([1, 0, 1, 1])
    """
    some = bits != 0
    if not some.all():
        bits, lots = bits[some], lots[some]
    octets = [(bits >> begin & 255).astype(np.uint8) for begin in range(0, number, 8)]
    upto = np.zeros((len(octets) + 1, len(bits)), np.uint8)
    for at, octet in enumerate(octets):
        np.add(upto[at], _ONES[octet], out=upto[at + 1])
    skipped = ((lots >> np.uint64(32)) * upto[-1] >> np.uint64(32)).astype(np.uint8)
    octet, begin = octets[0], np.zeros(len(bits), np.uint8)
    before: NDArray[np.uint8] = upto[0]
    for at in range(1, len(octets)):
        is_later = upto[at] <= skipped
        octet, before = np.where(is_later, octets[at], octet), np.where(is_later, upto[at], before)
        begin += np.uint8(8) * is_later
    return np.bincount(begin + _PLACES[8 * octet.astype(np.uint16) + skipped - before], minlength=number)


def _bit(place: str, needed: list[str], *, places: int, begin: int) -> str:
    """SQL for the bit of a row's place in a word, or 0 if it has none there: place 0 is bit `begin` of the word."""
    known = [f"{each} IS NOT NULL" for each in needed]
    if places == 1 and place == "0":
        bit = f"{1 << begin}::BIGINT"
    else:
        bit = f"1::BIGINT << (({place}) + {begin})::INTEGER"
        first, last = max(0, -begin), min(places, _BITS - begin) - 1
        is_whole = last - first + 1 == places
        known.append(f"({place}) IS NOT NULL" if is_whole else f"({place}) BETWEEN {first} AND {last}")
    return f"CASE WHEN {' AND '.join(known) or 'true'} THEN {bit} ELSE 0 END"
