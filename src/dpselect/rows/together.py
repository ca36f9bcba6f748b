"""Statements that ask which of a few places each unit has become one, which groups the rows by unit only once.

What is found of a unit is a set of places, and so the bits of a word. Several statements share a word as long as it has
bits; one that chooses a place of each unit has a word for itself. The answer is how many units have each bit.

Proof that each statement finds what it finds alone: ``proofs/one_pass.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpselect.rows.row_rules import Dialect, RowValue
from dpselect.rows.statements import MOST_PLACES, Found, Places, Statement
from dpselect.summaries import PublicCandidates

_MOST = 1024
"""Places that are counted by one statement: engines have a largest number of columns."""


def batches(few: Mapping[int, Places]) -> list[list[int]]:
    """Which statements become one, of those with few places, by their numbers."""
    found, left = list[list[int]](), 0
    for at, places in few.items():
        if places.number > left:
            found.append([])
            left = _MOST
        found[-1].append(at)
        left -= places.number
    return found


def together(asked: Sequence[Statement]) -> Statement:
    """One statement for several, each with a few places. Its result is a summary for each."""
    reads: dict[str, RowValue] = {"who": asked[0].reads["who"]}
    lists: dict[str, PublicCandidates] = {}
    places = [each.places for each in asked if each.places is not None]
    for at, each in enumerate(asked):
        reads |= {f"{name}{at}": value for name, value in each.reads.items() if name != "who"}
        lists |= {f"{name}{at}": listed for name, listed in each.lists.items()}

    def body(dialect: Dialect, rows: str) -> str:
        words, bits = _words(dialect, asked, places)
        named = ", ".join(f"{word} AS word{at}" for at, word in enumerate(words))
        has = (f"CASE WHEN (word{word} & {1 << bit}) <> 0 THEN 1 END" for word, bit in bits)
        counts = ", ".join(f"CAST(count({each}) AS BIGINT) AS n{at}" for at, each in enumerate(has))
        return f"SELECT {counts} FROM (SELECT who, {named} FROM ({rows}) AS matched GROUP BY who) AS units"

    def summary(found: Found) -> list[Any]:
        ends = np.cumsum([each.number for each in places])
        counts = np.array([np.asarray(found[f"n{at}"])[0] for at in range(ends[-1])], np.int64)
        both = zip(asked, places, np.split(counts, ends[:-1]), strict=True)
        return [each.summary(_tabulated(of_it, numbers)) for each, of_it, numbers in both]

    return Statement(reads=reads, lists=lists, body=body, summary=summary, reads_all=len(asked) == 1)


def _words(
    dialect: Dialect, asked: Sequence[Statement], places: Sequence[Places]
) -> tuple[list[str], list[tuple[int, int]]]:
    """Aggregates of a unit's rows, and the word and the bit of each place."""
    words, bits = list[tuple[str, list[str]]](), list[tuple[int, int]]()
    shared, used = 0, MOST_PLACES
    for at, (each, of_it) in enumerate(zip(asked, places, strict=True)):
        if of_it.is_one:
            word, first = len(words), 0
            place = _if_read(each, at, _place(of_it, at), "NULL")
            words.append(("{}", [dialect.one_bit(["who"], place)]))
        else:
            if used + of_it.number > MOST_PLACES:
                shared, used = len(words), 0
                words.append(("bit_or({})", []))
            word, first = shared, used
            words[word][1].append(_if_read(each, at, dialect.bit(f"{_place(of_it, at)} + {first}"), "0"))
            used += of_it.number
        bits += [(word, first + which) for which in range(of_it.number)]
    return [aggregate.format(" | ".join(sets)) for aggregate, sets in words], bits


def _place(places: Places, at: int) -> str:
    """SQL for the place of a row that has all that is read."""
    terms = [f"part{at} * {places.candidates}"] if places.groups > 1 else []
    return " + ".join([*terms, *([f"what{at}"] if places.candidates > 1 else [])]) or "0"


def _if_read(statement: Statement, at: int, value: str, otherwise: str) -> str:
    needed = " AND ".join(f"{name}{at} IS NOT NULL" for name in statement.reads if name != "who")
    return f"CASE WHEN {needed} THEN {value} ELSE {otherwise} END" if needed else value


def _tabulated(places: Places, numbers: Any) -> Mapping[str, Any]:
    """A result as the statement alone would have it."""
    part, what = np.divmod(np.arange(places.number), places.candidates)
    return {"part": part, "what": what, "number": numbers}
