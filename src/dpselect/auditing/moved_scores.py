"""Look for two neighbouring tables whose scores differ by more than a claimed sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, cast

import numpy as np

from dpselect.checks import function, positive_sensitivity
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.mechanisms.mechanism import check_monotonic
from dpselect.privacy import Neighbours, is_each_row, neighbouring_relation

Rows = list[tuple[Any, ...]]
Change = tuple[str, Rows, Rows]  # how the second rows are made of the first, and both


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FarNeighbours:
    """Two neighbouring tables whose scores differ by more than is claimed: print it. For the tables' holder only.

    Attributes:
        first, second: the tables, in the form of the one that was given.
        scores: of both; None where computing them fails.
        distance: the largest move of a score; infinite if one is not finite, if their number changes, or if they fail.
        how: what was changed, and what the scores do.
    """

    first: Any
    second: Any
    scores: tuple[np.ndarray | None, np.ndarray | None]
    distance: float
    how: str

    def __str__(self) -> str:
        return self.how


def falsify_sensitivity(
    score: Callable[[Any], Any],
    rows: Any,
    *,
    unit: Any,
    sensitivity: float,
    monotonic: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> FarNeighbours | None:
    """Search neighbours of a table for scores that move by more than is claimed.

    Units are left out, and made-up ones added that have the least or the greatest cell of each column, in one row or in
    several; then the same with tables of few units or of extremes; at last with cells that the table does not have:
    huge numbers, infinity, NaN, new text. What moves furthest is tried with rows in other orders. Moves are compared
    exactly, so rounding counts. Finding nothing proves nothing.

    Args:
        score: from a table, in the form of `rows`, to a vector of scores. It is called up to some thousand times.
        rows: a list of dictionaries, a dictionary of columns, a pandas or Polars frame, or a NumPy array.
        unit: name of the column that says whose a row is, or its number in an array; or `dpselect.ROWS`.
        sensitivity: claimed, > 0.
        monotonic: whether it is also claimed that all scores move in one direction when a unit is added.
        neighbours: a unit is added or removed (``"add_remove"``), or replaced (``"replace_one"``).

    Returns:
        Of the first of these kinds in which a score moves too far, the pair where it moves furthest; or None.

    Raises:
        InvalidParameterError: an argument is invalid, or `score` fails on `rows`, is not finite, or not the same twice.

    >>> ages = [{"who": "ann", "age": 41}, {"who": "bob", "age": 17}]
    >>> print(falsify_sensitivity(lambda rows: sum(row["age"] for row in rows), ages, unit="who", sensitivity=41))
    a made-up unit is added, 2 rows with the greatest cell in each column: a score moves by 82.0
    """
    function(score, "score", expected="a function from a table to a vector of numbers")
    relation = neighbouring_relation(neighbours)
    one_way = check_monotonic(monotonic, relation)
    most = positive_sensitivity(sensitivity)
    names, table, build = _opened(rows)
    found = [at for at, name in enumerate(names) if isinstance(unit, type(name)) and unit == name]
    at = None if is_each_row(unit, map(str, names)) else found[0] if found else -1
    if at == -1:
        raise InvalidParameterError("unit", typed(unit), "the name of a column of rows, or dpselect.ROWS")
    if at is not None and "a new cell" not in _beyond(row[at] for row in table):
        raise InvalidParameterError("unit", Shown("<a column of neither>"), "a column of numbers or text")

    def scored(made: Any) -> np.ndarray | None:
        try:
            return np.ravel(np.asarray(score(made), dtype=np.float64))
        except Exception:  # noqa: BLE001 - whatever it raises, others can see it
            return None

    def compared(change: Change) -> tuple[bool, float, FarNeighbours | None, Change]:
        try:
            first, second = map(build, change[1:])
        except (OverflowError, TypeError, ValueError):  # no such cell in a column of this type
            return False, -1.0, None, change
        scores = scored(first), scored(second)
        distance, what, both_ways = _move(*scores)
        pair = FarNeighbours(first, second, scores, float(distance), f"{change[0]}: {what}")
        return distance > most or (one_way and both_ways), pair.distance, pair, change

    start, again = scored(build(table)), scored(build(table))
    finite = start is not None and start.size > 0 and np.isfinite(start).all()
    if not finite or _move(start, again)[0]:
        what = "<two answers for the same rows>" if finite else "<fails on rows, or returns no finite numbers>"
        raise InvalidParameterError("score", Shown(what), "a function from a table to a vector of finite numbers")
    for changes in _stages(table, at, relation):
        best = max(map(compared, changes), key=lambda each: each[:2])
        how, before, after = best[3]
        orders = ((f"{how}, rows {order}", before, other) for order, other in _orders(after))
        best = max([best, *map(compared, orders)], key=lambda each: each[:2])
        if best[0]:
            return best[2]
    return None


def _move(before: np.ndarray | None, after: np.ndarray | None) -> tuple[Fraction | float, str, bool]:
    """The largest move of a score, exactly; what happens, in words; and whether scores move in both directions."""
    if before is None or after is None:
        return (0, "no scores", False) if before is after else (math.inf, "computing the scores fails once", False)
    if len(before) != len(after):
        return math.inf, f"{len(before)} scores become {len(after)}", False
    changed = (before != after) & ~(np.isnan(before) & np.isnan(after))
    pairs = list(zip(before[changed].tolist(), after[changed].tolist(), strict=True))
    if not all(math.isfinite(new - old) for old, new in pairs):
        return math.inf, "a score becomes or moves by something infinite or NaN", False
    steps = [Fraction(0), *(Fraction(new) - Fraction(old) for old, new in pairs)]
    low, high = float(min(steps)), float(max(steps))
    both_ways = low < 0 < high
    one, two = f"a score moves by {max(-low, high)!r}", f"scores move in both directions, by {low!r} and {high!r}"
    return max(map(abs, steps)), two if both_ways else one, both_ways


def _stages(table: Rows, unit: int | None, relation: Neighbours) -> Iterator[Iterator[Change]]:
    """Neighbours of the table; of others made of its cells; and with cells that it does not have."""
    yield chain([("nothing is changed", table, table)], _changes(table, table, unit, relation, _ends))
    ends = [[*_ends(cells).values()] or cells[:1] for cells in zip(*table, strict=True)]
    extremes = [_owned(tuple(each[place % len(each)] for each in ends), unit, row) for place, row in enumerate(table)]
    bases = extremes, table[:1], table[:2], table[::2], table[:0]
    yield chain.from_iterable(_changes(base, table, unit, relation, _ends) for base in bases)
    yield _changes(table, table, unit, relation, _beyond)


def _owned(row: tuple[Any, ...], unit: int | None, owner: Any) -> tuple[Any, ...]:
    return row if unit is None else (*row[:unit], owner[unit], *row[unit + 1 :])


def _changes(base: Rows, source: Rows, unit: int | None, relation: Neighbours, cells: Any) -> Iterator[Change]:
    """Neighbours of `base`: without a unit, or with a made-up one whose rows are like those of `source`."""
    owners = [place if unit is None else row[unit] for place, row in enumerate(base)]
    ends = [owners[cells.index(end)] for cells in zip(*base, strict=True) for end in _ends(cells).values()]
    units = list(dict.fromkeys(owners))
    replaces = relation is Neighbours.REPLACE_ONE
    tried = dict.fromkeys([*ends, *units[:: 1 + len(units) // (10 if replaces else 200)]])
    some = [each for each in tried if each is not None]
    rests = [[row for row, owner in zip(base, owners, strict=True) if owner != each] for each in some]
    yield from (("a unit is left out", base, rest) for rest in ([] if replaces else rests))
    what = "a unit is replaced by a made-up one" if replaces else "a made-up unit is added"
    for how, made in _made_up(source, unit, cells):
        yield from ((f"{what}, {how}", base, rest + made) for rest in (rests if replaces else [base]))


def _made_up(source: Rows, unit: int | None, cells: Any) -> Iterator[tuple[str, Rows]]:
    columns = list(zip(*source, strict=True))
    fresh = [_beyond(column).get("a new cell") for column in columns]
    kinds: list[dict[str, Any]] = [{} if at == unit else cells(column) for at, column in enumerate(columns)]
    for kind in dict.fromkeys(chain.from_iterable(kinds)):
        having = [at for at, found in enumerate(kinds) if kind in found]
        for changed in [having, *([at] for at in having if len(having) > 1)]:
            row = tuple(kinds[at][kind] if at in changed else cell for at, cell in enumerate(source[0]))
            where = "each column" if changed is having else "one column"
            for copies in dict.fromkeys([1] if unit is None else [1, 2, len(source)]):
                yield f"{copies} row{'s' * (copies > 1)} with {kind} in {where}", [_owned(row, unit, fresh)] * copies
    if unit is not None:
        yield "with all rows of the table", [_owned(row, unit, fresh) for row in source]


def _ends(cells: Iterable[Any]) -> dict[str, Any]:
    usable = [each for each in cells if each is not None and each == each]
    try:
        return {"the least cell": min(usable), "the greatest cell": max(usable)}
    except (TypeError, ValueError):
        return {}


def _beyond(cells: Iterable[Any]) -> dict[str, Any]:
    least, greatest = _ends(cells).values() or (None, None)
    if isinstance(greatest, str):
        return {"an empty text": "", "a new cell": f"{greatest}!"}
    if not isinstance(greatest, (int, float)) or isinstance(greatest, bool):
        return {}
    huge = 1000 * (1 + max(abs(least or 0), abs(greatest)))
    found = {"a huge number": huge, "a huge negative number": -huge, "a new cell": greatest + 1}
    return found | ({"infinity": math.inf, "NaN": math.nan} if isinstance(greatest, float) else {})


def _orders(rows: Rows) -> Iterator[tuple[str, Rows]]:
    yield "backwards", rows[::-1]
    for at, cells in enumerate(zip(*rows, strict=True)):
        if _ends(cells):
            order = sorted(rows, key=lambda row, at=at: (type(row[at]).__name__, row[at]))
            yield from (("rising", order), ("falling", order[::-1]))


def _opened(rows: Any) -> tuple[list[Any], Rows, Callable[[Rows], Any]]:
    """The names of the columns, the rows, and how to make a table of the same form of others."""
    columns: dict[Any, list[Any]] = {}
    kind = cast("Any", type(rows))
    if issubclass(kind, np.ndarray) and rows.ndim in (1, 2):
        columns = dict(enumerate(cast("list[list[Any]]", rows.reshape(len(rows), -1).T.tolist())))
    elif issubclass(kind, Mapping):
        columns = {name: list(rows[name]) for name in rows}
    elif issubclass(kind, list) and all(
        issubclass(type(each), dict) and each.keys() == rows[0].keys() for each in rows
    ):
        columns = {name: [each[name] for each in rows] for name in (rows[0] if rows else ())}
    elif hasattr(rows, "columns") and hasattr(rows, "dtypes"):
        columns = {name: rows[name].to_list() for name in rows.columns}
    names = list(columns)
    if len({len(cells) for cells in columns.values()}) != 1 or not columns[names[0]]:
        expected = "a list of dictionaries with the same keys, a dictionary of columns, a frame or an array, not empty"
        raise InvalidParameterError("rows", rows, expected)

    def build(made: Rows) -> Any:
        cells = {name: [row[at] for row in made] for at, name in enumerate(names)}
        if issubclass(kind, np.ndarray):
            return np.array(list(cells.values()), rows.dtype).T.reshape(-1, *rows.shape[1:])
        if issubclass(kind, list):
            return [dict(zip(names, row, strict=True)) for row in made]
        if issubclass(kind, Mapping):
            return {
                name: np.array(each) if isinstance(rows[name], np.ndarray) else each for name, each in cells.items()
            }
        return kind(cells, schema=rows.schema) if hasattr(rows, "schema") else kind(cells).astype(dict(rows.dtypes))

    return names, list(zip(*columns.values(), strict=True)), build
