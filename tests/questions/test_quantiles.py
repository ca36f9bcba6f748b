"""Several quantiles of a table: planned from public arguments, drawn from bounded values, certified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import QuantilesMechanism
from tests.drawn_answers import planned, released

ADULT = Path(__file__).parents[2] / "examples/data/adult.csv"
AGES: dict[str, Any] = {"bounds": (0, 120), "step": 1}


@pytest.mark.parametrize("method", ["joint", "halving"])
def test_the_certificate_says_what_was_drawn(method: Any) -> None:
    task = planned("quantiles", levels=[0.5, 0.25], **AGES, epsilon=8.0, method=method, max_rows_per_unit=2)
    release = released(task, [20.0] * 300 + [40.2] * 600)
    assert release.value == [40.0, 20.0]
    ranges = {"score_range": 4.0} if method == "halving" else {}
    expected = {"levels": [0.5, 0.25], "max_rows_per_unit": 2, "method": method, **ranges}
    assert release.to_dict()["arguments"] == expected
    assert release.table()[1] == [("0.5", "40"), ("0.25", "20")]
    assert release.error_bound is None
    assert release.accuracy == "No bound on the error of several quantiles is stated."
    assert release.sensitivity == (1.5 if method == "joint" else 2.0)
    assert f"proofs/{'joint_quantiles' if method == 'joint' else 'quantiles'}.md" in release.proofs
    assert (release.rounds, release.epsilon) == (1 if method == "joint" else 2, 8.0)


def test_the_draw_has_the_values_and_the_same_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[QuantilesMechanism, list[float]]] = []

    def spy(mechanism: QuantilesMechanism, values: Any) -> tuple[float, ...]:
        seen.append((mechanism, values.tolist()))
        return (float(mechanism.bounds[1]),) * len(mechanism.levels)

    monkeypatch.setattr(QuantilesMechanism, "draw", spy)
    tenths = planned("quantiles", levels=[0.1, 0.9], bounds=(1, 2), step=0.1, epsilon=1.0)
    assert released(tenths, [1.04, 1.26]).value == [2.0, 2.0]
    line = planned("quantiles", levels=[0.1], bounds=(1, 2), continuous=True, epsilon=1.0)
    assert released(line, [1.04]).value == [2.0]
    assert [values for _, values in seen] == [[1.04, 1.26], [1.04]]
    assert [(mechanism.bounds, mechanism.step) for mechanism, _ in seen] == [((1.0, 2.0), 0.1), ((1.0, 2.0), None)]


def test_values_of_another_question_are_refused() -> None:
    task = planned("quantiles", levels=[0.5], **AGES, epsilon=1.0)
    others: list[dict[str, Any]] = [{"most": 2}, {"bounds": (0, 100), "step": 1}]
    for options in others:
        with pytest.raises(InvalidParameterError) as caught:
            released(task, [37.0], **options)
        assert "37" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("levels", [0.5, 0.5]), ("levels", 0.5), ("epsilon", 0.0), ("max_rows_per_unit", 0), ("method", "both")],
)
def test_bad_arguments_are_refused_before_the_file_is_read(name: str, value: Any) -> None:
    given: dict[str, Any] = {"levels": [0.5], "bounds": (0, 120), "step": 1, "epsilon": 1.0, name: value}
    people = dpselect.Dataset(ADULT, unit="person_id")
    with pytest.raises(InvalidParameterError) as caught:
        people.quantiles("age", **given)
    assert caught.value.name == name


def test_quartiles_of_ages() -> None:
    people = dpselect.Dataset(ADULT, unit="person_id")
    for method in ("joint", "halving"):
        release = people.quantiles("age", [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=4.0, method=method)
        assert release.value == [28.0, 37.0, 48.0]
