"""The rules for rows and the summaries in a few lines of Python: what every engine has to equal."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

Cell = Any
NOBODY = ("", "NA", "N/A", "NaN", "nan", "NULL", "Null", "null", "None", "<NA>")


def unit_of(cell: Cell) -> Any:
    """Whose row it is, None if nobody's."""
    if isinstance(cell, str):
        blank = re.sub("[\u00a0\u2007\u202f]", " ", cell)
        name = unicodedata.normalize("NFC", blank.strip(" \t\n\v\f\r"))
        whole = re.fullmatch("([+-]?[0-9]+)[.]0*", name, re.ASCII)
        name = whole[1] if whole else name
        return None if name in NOBODY else "0" if name == "-0" else name
    return None if cell is None or cell != cell else cell


def candidate_of(cell: Cell, candidates: Sequence[Any]) -> int | None:
    """Which candidate the cell holds: numbers are compared as the numbers they are, all else as it is."""
    kind = type(candidates[0])
    if kind is int:
        whole = not isinstance(cell, bool) and isinstance(cell, int | float | Decimal) and math.isfinite(cell)
        cell = int(cell) if whole and cell == int(cell) else None
    elif kind is float:
        cell = number_of(cell)
    elif type(cell) is not kind:
        cell = None
    found = [place for place, candidate in enumerate(candidates) if candidate == cell]
    return found[0] if found else None


def number_of(cell: Cell) -> float | None:
    """The number in the cell as the nearest double."""
    if cell is None or isinstance(cell, str | bool | date) or cell != cell:
        return None
    return float(cell)


def amount_of(cell: Cell, scale: Fraction, lower: int, upper: int) -> int | None:
    """What the row adds."""
    number = number_of(cell)
    return None if number is None else round(max(float(lower), min(float(upper), number * float(scale))))


Rows = Sequence[dict[str, Cell]]


def counts(
    rows: Rows, unit: str, column: str, candidates: Sequence[Any], *, group: str = "", groups: Sequence[Any] = (None,)
) -> list[list[int]]:
    """Different units of each candidate, for each group."""
    seen = _units(rows, unit, column, candidates, group, groups)
    return [
        [len({u for u, p, c in seen if (p, c) == (part, place)}) for place in range(len(candidates))]
        for part in range(len(groups))
    ]


def name_of(cell: Cell, kind: str) -> Any:
    """The value that the cell would be as a candidate of this kind; None if there is none."""
    if kind == "text":
        return cell if isinstance(cell, str) and 0 < len(cell.encode()) <= 1024 else None
    if kind == "numbers":
        number = number_of(cell)
        may_be_rounded = isinstance(cell, Decimal) and number is not None and abs(number) >= 2.0**53
        return None if number is None or math.isinf(number) or may_be_rounded else number + 0.0
    if kind == "whole numbers":
        whole = not isinstance(cell, bool) and isinstance(cell, int | float | Decimal) and math.isfinite(cell)
        return int(cell) if whole and cell == int(cell) and -(2**63) <= cell < 2**63 else None
    return cell if type(cell) is {"dates": date, "booleans": bool}[kind] else None


def names(
    rows: Rows, unit: str, column: str, kind: str, *, most: int, group: str = "", groups: Sequence[Any] = (None,)
) -> list[dict[Any, int]]:
    """Different units of each name that occurs, for each group; of rows among which chance need not choose."""
    pairs = {
        (unit_of(row[unit]), candidate_of(row[group], groups) if group else 0, name_of(row[column], kind))
        for row in rows
    }
    known = [pair for pair in pairs if None not in pair]
    assert all(sum(pair[:2] == other[:2] for other in known) <= most for pair in known)
    found: list[dict[Any, int]] = [{} for _ in groups]
    for _, part, name in known:
        found[part][name] = found[part].get(name, 0) + 1
    return found


def totals(
    rows: Rows,
    unit: str,
    column: str,
    candidates: Sequence[Any],
    *,
    amount: str,
    scale: Fraction = Fraction(1),
    lower: int = -100,
    upper: int = 100,
    group: str = "",
    groups: Sequence[Any] = (None,),
) -> list[list[int]]:
    """Clipped sums of clipped amounts of each candidate, for each group."""
    table = [[0] * len(candidates) for _ in groups]
    for (_, part, place), cells in _units(rows, unit, column, candidates, group, groups).items():
        amounts = [amount_of(cell[amount], scale, lower, upper) for cell in cells]
        added = [each for each in amounts if each is not None]
        if added:
            table[part][place] += max(lower, min(upper, sum(added)))
    return table


def numbers(rows: Rows, unit: str, column: str, *, bounds: tuple[float, float]) -> dict[Any, list[float]]:
    """The numbers of each unit, clipped, in increasing order."""
    found: dict[Any, list[float]] = defaultdict(list)
    for row in rows:
        who, number = unit_of(row[unit]), number_of(row[column])
        if who is not None and number is not None:
            found[who].append(max(bounds[0], min(bounds[1], number)))
    return {who: sorted(each) for who, each in found.items()}


def usable_units(
    rows: Rows,
    unit: str,
    *,
    matched: tuple[str, Sequence[Any]] | None = None,
    number: str | None = None,
    between: tuple[float, float] | None = None,
    group: str = "",
    groups: Sequence[Any] = (None,),
) -> list[int]:
    """Different units with a row that has all that is needed, for each group."""
    seen: list[set[Any]] = [set() for _ in groups]
    for row in rows:
        who, part = unit_of(row[unit]), candidate_of(row[group], groups) if group else 0
        without = matched is not None and candidate_of(row[matched[0]], matched[1]) is None
        found = None if number is None else number_of(row[number])
        without = without or (number is not None and found is None)
        without = without or (between is not None and found is not None and not between[0] <= found <= between[1])
        if who is not None and part is not None and not without:
            seen[part].add(who)
    return [len(each) for each in seen]


def _units(
    rows: Rows, unit: str, column: str, candidates: Sequence[Any], group: str, groups: Sequence[Any]
) -> dict[tuple[Any, int, int], list[dict[str, Cell]]]:
    seen: dict[tuple[Any, int, int], list[dict[str, Cell]]] = defaultdict(list)
    for row in rows:
        who = unit_of(row[unit])
        part = candidate_of(row[group], groups) if group else 0
        place = candidate_of(row[column], candidates) if column else 0
        if who is not None and part is not None and place is not None:
            seen[who, part, place].append(row)
    return seen
