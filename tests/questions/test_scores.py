"""How much a unit may change of the scores of each question, as it is stated: exact, rounded up, one way or both."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from tests.drawn_answers import planned
from tests.reference.counting import add_remove_pairs, is_monotone, movements, replace_one_pairs, sensitivity

ROOT = Path(__file__).parents[2]


def of_counts(neighbours: str = "add_remove") -> Any:
    return planned("most_common", candidates=["x", "y"], epsilon=1.0, neighbours=neighbours).terms


def of_ranks(level: float, *, rows: int, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Any:
    asked = {"level": level, "max_rows_per_unit": rows, "neighbours": neighbours}
    return planned("quantile", **asked, bounds=(0, 1), continuous=True, epsilon=1.0).terms


def of_prices(highest: Any, *, rows: int) -> Any:
    return planned("best_price", prices=[highest], max_rows_per_unit=rows, epsilon=1.0).terms


STATED = {"counts": of_counts(), "ranks": of_ranks(0.5, rows=1), "prices": of_prices(5, rows=1)}


@pytest.mark.parametrize("name", STATED)
def test_what_is_stated_besides(name: str) -> None:
    stated = STATED[name]
    assert stated.neighbours is Neighbours.ADD_REMOVE
    assert stated.monotonic is (name != "ranks")
    assert (ROOT / stated.proofs[0]).is_file()


def test_of_counts_it_is_what_enumeration_gives() -> None:
    units, rows = ("ann", "bob", "cid"), [(), ("x",), ("x", "y"), ("y", "y", "x")]
    changes = movements(add_remove_pairs(units, rows), candidates=("x", "y"))
    assert sensitivity(changes) == of_counts().sensitivity == 1
    assert is_monotone(changes) is of_counts().monotonic is True


def test_of_counts_the_claim_would_be_false_under_replace_one() -> None:
    changes = movements(replace_one_pairs(("ann", "bob"), [("x",), ("y",)]), candidates=("x", "y"))
    assert is_monotone(changes) is of_counts("replace_one").monotonic is False
    relation: dict[str, Any] = {"monotonic": of_counts().monotonic, "neighbours": Neighbours.REPLACE_ONE}
    with pytest.raises(InvalidParameterError):
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, **relation)


@pytest.mark.parametrize(
    ("level", "rows", "expected"),
    [(0.5, 1, 0.5), (0.0, 1, 1.0), (1.0, 1, 1.0), (0.25, 1, 0.75), (0.75, 4, 3.0), (0.5, 10**9, 5e8)],
)
def test_ranks(level: float, rows: int, expected: float) -> None:
    assert of_ranks(level, rows=rows).sensitivity == expected


@given(st.floats(0.0, 1.0), st.integers(1, 10**9))
def test_of_ranks_never_less_than_the_truth_and_hardly_more(level: float, rows: int) -> None:
    truth = rows * max(Fraction(level), 1 - Fraction(level))
    assert truth <= Fraction(of_ranks(level, rows=rows).sensitivity) <= truth * (1 + Fraction(1, 2**52))


def test_ranks_are_monotone_at_the_extremes_only() -> None:
    for level, one_way in ((0.0, True), (1.0, True), (5e-324, False)):
        assert of_ranks(level, rows=3).monotonic is one_way
    assert not of_ranks(1.0, rows=1, neighbours=Neighbours.REPLACE_ONE).monotonic


@pytest.mark.parametrize(
    ("highest", "rows", "expected"), [(100, 1, 100.0), (9.5, 1, 9.5), (0.25, 4, 1.0), (3, 10**9, 3e9)]
)
def test_prices(highest: Any, rows: int, expected: float) -> None:
    assert of_prices(highest, rows=rows).sensitivity == expected


@given(st.floats(1e-300, 1e290) | st.fractions(Fraction(1, 999), 10**9, max_denominator=10**6), st.integers(1, 10**9))
def test_of_prices_never_less_than_the_truth_and_hardly_more(highest: Any, rows: int) -> None:
    truth = rows * (Fraction(repr(highest)) if isinstance(highest, float) else highest)
    assert truth <= Fraction(of_prices(highest, rows=rows).sensitivity) <= truth * (1 + Fraction(1, 2**51))
