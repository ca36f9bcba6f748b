"""Counts of units with a number in each bin between public edges."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import SelectionError
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.drawn_answers import planned

SURE = 1e3
"""An epsilon at which there is no noise."""

AGES = [-1.0, 0.0, 17.0, 17.999, 18.0, 40.0, 64.0, 65.0, 66.0, 1e300, None]
PEOPLE = pa.table({"who": range(len(AGES)), "age": pa.array(AGES, pa.float64()), "team": [*"aabbabababa"]})


def asked(bins: object = (0, 18, 65), **more: Any) -> Any:
    return dps.Dataset(PEOPLE, unit="who").histogram("age", bins=bins, epsilon=SURE, **more)


@pytest.mark.parametrize(
    "bins",
    [[0, 18, 65], (0.0, 18.0, 65.0), np.array([0, 18, 65]), [Fraction(0), 18, 65], pa.array([0, 18, 65]).to_pylist()],
)
def test_a_bin_holds_where_it_begins_and_the_last_one_its_end(bins: object) -> None:
    release = asked(bins)
    assert release.value == [3, 4]
    assert [row[:2] for row in release.table()[1]] == [("0 to 18", "3"), ("18 to 65", "4")]
    assert release.table()[0][:2] == ["age", "units (who)"]
    assert release.usable.count == 7
    assert release.question == asked().question


def test_a_range_is_a_list_of_edges() -> None:
    assert asked(range(0, 100, 20)).value == [4, 0, 1, 3]


def test_groups_have_bins_of_their_own() -> None:
    release = (
        dps.Dataset(PEOPLE, unit="who").by("team", groups=["b", "a"]).histogram("age", bins=[0, 18, 65], epsilon=SURE)
    )
    assert release.value == {"b": [2, 2], "a": [1, 2]}
    assert [row[:2] for row in release.table()[1]] == [(team, age) for team in "ba" for age in ("0 to 18", "18 to 65")]


def test_a_unit_with_several_rows_counts_once() -> None:
    rows = {"who": [1] * 1000 + [2], "age": [5.0] * 500 + [30.0] * 500 + [5.0]}
    counts = {
        tuple(dps.Dataset(rows, unit="who").histogram("age", bins=[0, 18, 65], epsilon=SURE).value) for _ in range(60)
    }
    assert counts == {(2, 0), (1, 1)}


@pytest.mark.parametrize("written", ["1e15", "9007199254740993", "0.1"])
def test_edges_are_compared_as_doubles(written: str) -> None:
    edges = planned("histogram", bins=[0, float(written)], epsilon=1.0).bins
    values = np.nextafter(float(written), [-np.inf, float(written), np.inf])
    assert edges.tally(values).tolist() == [2]


@pytest.mark.parametrize(
    "edges", [(np.nextafter(1.0, 0.0), 1.0), (1.0, np.nextafter(1.0, 2.0)), (-5e-324, 0.0), (0.0, 1e16)]
)
def test_values_beyond_the_edges_are_in_no_bin_however_close_these_are(edges: tuple[float, float]) -> None:
    ages = [np.nextafter(edges[0], -np.inf), *edges, np.nextafter(edges[1], np.inf)]
    release = dps.Dataset({"who": range(4), "age": np.array(ages)}, unit="who").histogram(
        "age", bins=edges, epsilon=SURE
    )
    assert release.value == [2]


def test_the_noise_is_made_for_one_change_and_under_replace_one_for_two() -> None:
    for relation, factor in (("add_remove", 1), ("replace_one", 2)):
        one = dps.DryRun(unit="who", neighbours=relation).histogram("age", bins=[0, 18, 65], epsilon=0.5)  # type: ignore[arg-type]
        assert one.event == dps.accounting.PureEvent(epsilon=0.5)
        noise = dps.GeometricMechanism(epsilon=0.5, sensitivity=factor)
        assert one.error_bound == noise.error_bound(size=2)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"bins": [18]}, "bins="),
        ({"bins": [18, 0]}, "bins="),
        ({"bins": [0, 0]}, "bins="),
        ({"bins": [1, 1 + 1e-17]}, "bins="),
        ({"bins": [0, float("inf")]}, "bins="),
        ({"bins": [0, float("nan")]}, "bins="),
        ({"bins": "0,18"}, "bins="),
        ({"bins": 12}, "bins="),
        ({"bins": [0, "18"]}, "bins="),
        ({"bins": [0, None, 5]}, "bins="),
        ({"bins": range(10**6)}, "bins="),
        ({"bins": [0, 5], "candidates": [1, 2]}, "candidates="),
        ({"bins": [0, 5], "max_values_per_unit": 2}, "max_values_per_unit=2"),
        ({"bins": [0, 5], "delta": 1e-6}, "delta="),
        ({"bins": [0, 5], "usable_epsilon": 0.1}, "usable_epsilon="),
        ({"bins": None}, "candidates=None"),
        ({"bins": [0, 5], "column": "team"}, "column='team'"),
    ],
)
def test_bad_input_charges_nothing(given: dict[str, Any], named: str, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="who")
    data: Any = dps.Dataset(PEOPLE, unit="who", ledger=ledger, account="people")
    with pytest.raises(SelectionError) as refused:
        data.histogram(**{"column": "age", "epsilon": 1.0, **given})
    assert isinstance(refused.value, (InvalidParameterError, InvalidDataError))
    assert str(refused.value).startswith(named)
    assert "\n" not in str(refused.value)
    assert ledger.remaining("people") == 3.0


@pytest.mark.parametrize("edit", ["value", "usable", "bins", "lower"])
def test_an_edited_certificate_contradicts_itself(edit: str) -> None:
    text = dps.Dataset(PEOPLE, unit="who").histogram("age", bins=[0, 18, 65], epsilon=SURE).to_json()
    assert dps.verify(text).error_bound
    changed = {
        "value": text.replace('"value": [3, 4]', '"value": [3, 5]'),
        "usable": text.replace('"count": 7', '"count": 8'),
        "bins": text.replace('"bins": [0, 18, 65]', '"bins": [0, 19, 65]'),
        "lower": text.replace('"lower": 0.0', '"lower": 1.0'),
    }[edit]
    assert changed != text
    with pytest.raises(dps.errors.InvalidCertificateError):
        dps.verify(changed)
