"""The counting score, distinct units per candidate, and all its neighbours by brute force.

Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Row = tuple[str | None, str | None]
"""Unit and value; either may be null."""

Contribution = tuple[str | None, ...]
"""The values in one unit's rows, repeated and in any order as data has them."""

Counts = tuple[int, ...]


def distinct_unit_counts(rows: Iterable[Row], *, candidates: Sequence[str]) -> Counts:
    """How many different units have at least one row with each candidate.

    A row whose unit or value is null is left out, and so is a value that is not a candidate.

    >>> rows = [("ann", "x"), ("ann", "x"), ("bob", "x"), ("bob", "y"), (None, "y"), ("cid", None), ("cid", "z")]
    >>> distinct_unit_counts(rows, candidates=["x", "y"])
    (2, 1)
    """
    pairs = {(unit, value) for unit, value in rows if unit is not None and value is not None}
    return tuple(sum(value == candidate for _, value in pairs) for candidate in candidates)


def bounded_counts(data: dict[str, Contribution], *, candidates: Sequence[str], most: int) -> dict[Counts, Fraction]:
    """The law of the counts if a unit counts for at most `most` candidates, each set of so many equally likely.

    >>> bounded_counts({"ann": ("x", "y", "x"), "bob": ("y",)}, candidates=["x", "y"], most=1)
    {(1, 1): Fraction(1, 2), (0, 2): Fraction(1, 2)}
    """
    law: dict[Counts, Fraction] = {(0,) * len(candidates): Fraction(1)}
    for values in data.values():
        own = [place for place, candidate in enumerate(candidates) if candidate in values]
        sets = list(combinations(own, min(most, len(own))))
        grown: dict[Counts, Fraction] = {}
        for counts, probability in law.items():
            for chosen in sets:
                more = tuple(count + (place in chosen) for place, count in enumerate(counts))
                grown[more] = grown.get(more, Fraction(0)) + probability / len(sets)
        law = grown
    return law


def named(people: dict[str, Contribution]) -> dict[str, Contribution]:
    """The rows of people by their names, which are their first letters as capitals.

    >>> named({"ann": ("x",), "bob": ("y",), "abe": ("z",)})
    {'A': ('x', 'z'), 'B': ('y',)}
    """
    units: dict[str, Contribution] = {}
    for person, values in people.items():
        name = person[0].upper()
        units[name] = units.get(name, ()) + values
    return units


def data_sets(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[dict[str, Contribution]]:
    """Every data set in which each unit has one of the `contributions`."""
    for chosen in product(contributions, repeat=len(units)):
        yield dict(zip(units, chosen, strict=True))


def rows_of(data: dict[str, Contribution], *, ownerless: Contribution = ()) -> list[Row]:
    """The rows of a data set; `ownerless` are the values of rows whose unit is null."""
    rows: list[Row] = [(unit, value) for unit, values in data.items() for value in values]
    return rows + [(None, value) for value in ownerless]


def add_remove_pairs(
    units: Sequence[str], contributions: Sequence[Contribution]
) -> Iterator[tuple[dict[str, Contribution], dict[str, Contribution]]]:
    """Every ordered pair of data sets of which one has all rows of one more unit than the other."""
    for larger in data_sets(units, contributions):
        for unit in units:
            smaller = {other: values for other, values in larger.items() if other != unit}
            yield larger, smaller
            yield smaller, larger


def replace_one_pairs(
    units: Sequence[str], contributions: Sequence[Contribution]
) -> Iterator[tuple[dict[str, Contribution], dict[str, Contribution]]]:
    """Every ordered pair of data sets that differ in all rows of one unit; the number of units is the same."""
    for data in data_sets(units, contributions):
        for unit in units:
            for values in contributions:
                yield data, data | {unit: values}


def movements(
    pairs: Iterable[tuple[dict[str, Contribution], dict[str, Contribution]]],
    *,
    candidates: Sequence[str],
    ownerless: Contribution = (),
) -> set[Counts]:
    """Every vector of score changes between the first and the second of a pair."""
    result: set[Counts] = set()
    for first, second in pairs:
        before = distinct_unit_counts(rows_of(first, ownerless=ownerless), candidates=candidates)
        after = distinct_unit_counts(rows_of(second, ownerless=ownerless), candidates=candidates)
        result.add(tuple(b - a for a, b in zip(before, after, strict=True)))
    return result


def sensitivity(changes: Iterable[Counts]) -> int:
    """The most any one score moves."""
    return max(abs(change) for changes_of_a_pair in changes for change in changes_of_a_pair)


def is_monotone(changes: Iterable[Counts]) -> bool:
    """Whether, within each pair of neighbours, all scores move in the same direction.

    >>> is_monotone({(1, 0), (-1, -1)}), is_monotone({(1, -1)})
    (True, False)
    """
    return all(min(pair) >= 0 or max(pair) <= 0 for pair in changes)


def score_range(changes: Iterable[Counts]) -> int:
    """``w``: the most one score moves against another. A mechanism at ``scale = w / epsilon`` is epsilon-DP."""
    return max(max(pair) - min(pair) for pair in changes)
