"""How a plan's epsilon is divided: never more than there is, and the smallest epsilon for a wanted error."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidParameterError

COUNT: dict[str, Any] = {"ask": "count"}
MEDIAN: dict[str, Any] = {"ask": "median", "column": "age", "bounds": [0, 120], "step": 1}
YEARS: dict[str, Any] = {"ask": "top_k", "column": "years", "k": 3, "candidates": "1..16"}
NAMES: dict[str, Any] = {"ask": "values", "column": "years", "delta": 1e-6}


def forecast(questions: dict[str, dict[str, Any]], epsilon: float = 1.0, **about: Any) -> dps.PlanForecast:
    return dps.Plan(table="nowhere.csv", unit="who", epsilon=epsilon, questions=questions, **about).forecast()


def epsilons(questions: dict[str, dict[str, Any]], epsilon: float = 1.0, **about: Any) -> dict[str, float]:
    return {name: each.guarantee.epsilon for name, each in forecast(questions, epsilon, **about).items()}


def test_parts_are_as_they_are_said_and_the_rest_is_shared_equally() -> None:
    asked = {"a": COUNT | {"epsilon": 0.25}, "b": COUNT | {"share": 0.25}, "c": COUNT, "d": MEDIAN}
    assert epsilons(asked, 2.0) == {"a": 0.25, "b": 0.5, "c": 0.625, "d": 0.625}


@given(st.integers(1, 12), st.floats(1e-3, 10), st.lists(st.integers(1, 9), max_size=4))
def test_no_division_costs_more_than_the_plan_has(count: int, epsilon: float, shares: list[int]) -> None:
    asked = {f"q{place}": COUNT for place in range(count)}
    asked |= {f"s{place}": COUNT | {"share": share / 40} for place, share in enumerate(shares)}
    parts = [Fraction(each) for each in epsilons(asked, epsilon).values()]
    assert sum(parts) <= Fraction(epsilon)
    assert float(sum(parts)) == pytest.approx(epsilon, rel=1e-12)


def test_ten_tenths_as_doubles_would_be_too_much() -> None:
    """The control of the law above: without rounding, ten shares of 0.1 cost more than 1."""
    assert 10 * Fraction(0.1) > 1
    asked = {f"q{place}": COUNT | {"share": 0.1} for place in range(10)}
    assert sum(map(Fraction, epsilons(asked).values())) <= 1


@pytest.mark.parametrize(("question", "within"), [(MEDIAN, 20), (COUNT, 9), (YEARS, 60), (COUNT, 5.5)])
def test_a_wanted_error_gets_the_smallest_epsilon_that_reaches_it(question: dict[str, Any], within: float) -> None:
    (found,) = forecast({"q": question | {"within": within}}, 5.0).values()
    epsilon, bound = found.guarantee.epsilon, found.error_bound
    assert bound is not None
    assert bound <= within
    (smaller,) = forecast({"q": question | {"epsilon": 0.998 * epsilon}}, 5.0).values()
    assert smaller.error_bound is not None
    assert smaller.error_bound > within
    assert float(f"{epsilon:.4g}") == epsilon  # people read it


def test_a_number_of_units_is_paid_for_out_of_the_part() -> None:
    found = forecast({"q": MEDIAN | {"usable_epsilon": 0.25}, "r": COUNT | {"share": 0.5}})
    assert found["q"].usable is not None
    assert found["q"].usable.answer_epsilon == 0.25
    assert found.epsilon == 1.0


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"a": COUNT | {"share": 0.7}, "b": COUNT | {"share": 0.4}}, {}, r"share=0\.7 \+ 0\.4: .* add up to at most 1"),
    ({"a": COUNT | {"share": 2}}, {}, r"questions\.a\.share=2: .* at most 1"),
    ({"a": COUNT | {"share": math.nan}}, {}, r"questions\.a\.share=nan"),
    ({"a": COUNT | {"share": True}}, {}, r"questions\.a\.share=True"),
    ({"a": COUNT | {"within": -1}}, {}, r"questions\.a\.within=-1"),
    ({"a": COUNT | {"epsilon": 0.7}, "b": COUNT | {"epsilon": 0.6}}, {}, r"epsilon=1\.0: .*at least 1\.[23].* a 0\.7"),
    (
        {"a": COUNT | {"epsilon": 1.0}, "b": COUNT},
        {},
        r"questions\.b=<nothing left>: .* need all of epsilon = 1: a 1\.$",
    ),
    ({"a": MEDIAN | {"within": 2}}, {}, r"questions\.a\.within=2\.0: .* With all of epsilon = 1 it is 9\.\d+\."),
    ({"a": COUNT | {"within": 0}}, {}, r"questions\.a\.within=0\.0"),
    (
        {"a": {"ask": "median", "column": "age", "bounds": [0, 1], "continuous": True, "within": 5}},
        {},
        r"questions\.a\.within=5\.0: .*no bound holds.*epsilon or share",
    ),
    ({"a": COUNT | {"share": 0.5, "within": 5}}, {}, r"questions\.a=share and within: .*at most one"),
    ({"a": MEDIAN | {"usable_epsilon": 2.0}}, {}, r"questions\.a\.usable_epsilon=2\.0: .*less than its part"),
    ({"a": NAMES}, {}, r"delta=0\.0: expected at least 1e-06"),
    ({"a": NAMES}, {"delta": 1e-7}, r"delta=1e-07: expected at least 1e-06"),
]


@pytest.mark.parametrize(("questions", "about", "said"), REFUSED)
def test_what_cannot_be_divided_is_refused(questions: dict[str, Any], about: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        forecast(questions, **about)


def test_a_delta_that_covers_those_of_the_questions_is_no_error() -> None:
    assert forecast({"a": NAMES, "b": COUNT}, delta=1e-6).delta == 1e-6


BINS: dict[str, Any] = {"ask": "top_k", "column": "years", "k": 2, "candidates": "1..16", "delta": 1e-7}


def many(count: int) -> dict[str, dict[str, Any]]:
    return {f"q{place}": MEDIAN if place % 2 else COUNT for place in range(count)}


def is_composed(found: dps.PlanForecast) -> bool:
    """Whether the parts add up to more than all cost together."""
    return sum(Fraction(each.epsilon) for each in found.values()) > Fraction(found.epsilon)


def test_with_a_delta_many_questions_err_less_together_than_one_by_one() -> None:
    apart, together = forecast(many(24)), forecast(many(24), delta=1e-6)
    assert not is_composed(apart)
    assert is_composed(together)
    assert (together.epsilon, together.delta) == (pytest.approx(1.0, abs=1e-3), 1e-6)
    assert together.epsilon <= 1.0
    for name in apart:
        assert (together[name].error_bound or 0) < 0.9 * (apart[name].error_bound or 0)
    assert "The parts add up to epsilon = " in str(together)
    assert "The parts add up" not in str(apart)


def test_few_questions_get_their_sums() -> None:
    found, apart = forecast(many(3), delta=1e-6), forecast(many(3))
    assert [found.epsilon, *(each.epsilon for each in found.values())] == [
        apart.epsilon,
        *(each.epsilon for each in apart.values()),
    ]
    assert found.delta == apart.delta


@pytest.mark.parametrize(
    "questions", [many(24), many(20) | {"k": BINS, "n": NAMES}, many(16) | {"m": MEDIAN | {"within": 60}}]
)
def test_an_account_with_the_same_limits_accepts_a_composed_plan_and_not_a_larger_one(
    questions: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    own = 1e-6 if "n" in questions else 0.0
    ledger.open_account("a", epsilon=1.0, delta=2e-6, set_aside=own)
    paying: dict[str, Any] = {"ledger": ledger, "account": "a", "name": "p", "delta": 2e-6}
    found = forecast(questions, **paying)
    assert is_composed(found)
    assert found.fits, found.refused
    larger = {name: each.guarantee.epsilon * 1.01 for name, each in found.items() if "within" not in questions[name]}
    fixed = {name: each | {"epsilon": larger[name]} for name, each in questions.items() if name in larger}
    with pytest.raises(InvalidParameterError, match=r"epsilon=1\.0: .*at least"):
        forecast(questions | fixed, **paying)


def test_fixed_parts_that_only_fit_by_composition() -> None:
    asked = {f"q{place}": MEDIAN | {"epsilon": 0.06} for place in range(24)}
    with pytest.raises(InvalidParameterError, match=r"epsilon=1\.0: .*at least 1\.44"):
        forecast(asked)
    found = forecast(asked, delta=1e-6)
    assert (is_composed(found), found.epsilon <= 1.0) == (True, True)
    wanted = {f"w{place}": MEDIAN | {"within": 150} for place in range(24)}
    assert is_composed(forecast(wanted, delta=1e-6))
    with pytest.raises(InvalidParameterError, match=r"epsilon=1\.0"):
        forecast(wanted)


def test_answers_state_what_a_composed_plan_promises(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,age,years\n" + "".join(f"{at},{at % 90},{at % 16}\n" for at in range(200)))
    plan = dps.Plan(table=str(tmp_path / "t.csv"), unit="who", epsilon=1.0, delta=1e-6, questions=many(24))
    answers = plan.run()
    assert (answers.epsilon <= 1.0, answers.delta) == (True, 1e-6)
    assert sum(each.epsilon for each in answers.values()) > 1.1
