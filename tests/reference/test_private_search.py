"""The claims of ``proofs/private_search.md``, by enumeration."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference import private_candidates, private_search

ONE_RUN = [Fraction(0), Fraction(1)]
TWO, THREE = Fraction(2), Fraction(3)


@pytest.mark.parametrize(("fit", "score"), [(TWO, TWO), (THREE, TWO), (TWO, THREE)])
def test_a_run_costs_the_larger_of_both(fit: Fraction, score: Fraction) -> None:
    found = private_search.worst(ONE_RUN, 3, fit=fit, score=score)
    assert 1 < found <= max(fit, score)


@pytest.mark.parametrize("counts", [private_candidates.runs(Fraction(1), Fraction(1, 4), 6), ONE_RUN])
def test_the_whole_costs_what_the_best_of_such_runs_costs(counts: list[Fraction]) -> None:
    found = private_search.worst(counts, 3, fit=TWO, score=TWO)
    assert found <= private_candidates.exp_cost(counts, TWO)


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("counts", [private_candidates.runs(Fraction(1), Fraction(1, 4), 6), ONE_RUN])
def test_a_unit_costs_as_often_as_it_has_rows(rows: int, counts: list[Fraction]) -> None:
    found = private_search.worst(counts, 3, fit=TWO, score=Fraction(11, 10), rows=rows)
    assert found <= private_candidates.exp_cost(counts, TWO**rows)


@pytest.mark.parametrize("rows", [2, 3])
def test_what_fitting_costs_for_a_row_is_not_enough_for_a_unit(rows: int) -> None:
    """The control: a search that takes an estimator at its row's epsilon charges too little."""
    found = private_search.worst_of_a_fit(4, fit=TWO, rows=rows)
    assert TWO < found <= TWO**rows
    assert private_search.worst_of_a_fit(4, fit=TWO, rows=1) <= TWO


def test_without_a_division_a_run_costs_more() -> None:
    """The control: one unit changes the fit and the score."""
    assert private_search.worst_of_one_part(3, fit=TWO, score=TWO) > TWO
