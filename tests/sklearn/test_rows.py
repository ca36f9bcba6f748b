"""How rows are read: each value alone, refusals by type and shape only, scores as the exact model has them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import dpselect as dps
from dpselect.mechanisms import TopKPlan
from dpselect.sklearn import PrivateSelectKBest
from tests.attacks.test_messages import everything_said
from tests.reference import feature_scores
from tests.sklearn.read_rows import numbers, positions, scores

SECRET = "SENTINEL"


def selector(k: int = 1, **changed: Any) -> PrivateSelectKBest:
    return PrivateSelectKBest(k, **{"epsilon": 1.0, "classes": [0, 1], "bounds": (0, 4)} | changed)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[TopKPlan, list[int]]]:
    """What reaches the draw: the plan and the scores."""
    reached: list[tuple[TopKPlan, list[int]]] = []
    draw = TopKPlan.select

    def select(plan: TopKPlan, scores: Any, candidates: object = None) -> list[Any]:
        reached.append((plan, scores.tolist()))
        return draw(plan, scores, candidates)

    monkeypatch.setattr(TopKPlan, "select", select)
    return reached


cells = st.one_of(st.none(), st.integers(-3, 13), st.integers(-12, 52).map(lambda quarter: Fraction(quarter, 4)))
tables = st.lists(st.tuples(st.tuples(cells, cells), st.sampled_from([None, 0, 1, 2])), max_size=12)


@settings(max_examples=100)
@given(tables, st.tuples(*[st.integers(1, 5)] * 3), st.tuples(*[st.integers(1, 4)] * 2))
def test_tallies_are_the_scores_of_the_model(
    rows: list[tuple[tuple[Any, Any], int | None]], weights: tuple[int, ...], counts: tuple[int, int]
) -> None:
    ends = {"lower": Fraction(0), "upper": Fraction(10)}
    held = [
        (tuple(feature_scores.place(v, count=many, **ends) for v, many in zip(values, counts, strict=True)), label)
        for values, label in rows
    ]
    expected = feature_scores.scores(held, cells=5, features=2, weights=weights)
    values = np.array([[np.nan if v is None else float(v) for v in row] for row, _ in rows]).reshape(-1, 2)
    classes = np.array([-1 if label is None else label for _, label in rows], dtype=np.int64)
    assert tuple(scores(values.T, classes, bounds=(0, 10), bins=counts, weights=weights)) == expected


@pytest.mark.parametrize(
    ("neighbours", "weights", "sensitivity", "scale"),
    [
        ("add_remove", None, 1, 1),
        ("replace_one", None, 1, 2),
        ("add_remove", [1, 7], 7, 7),
        ("replace_one", [7, 2], 7, 14),
    ],
)
def test_the_draw_has_the_scale_that_is_proved(
    seen: list[tuple[TopKPlan, list[int]]], neighbours: str, weights: list[int] | None, sensitivity: int, scale: float
) -> None:
    fitted = selector(2, neighbours=neighbours, class_weights=weights).fit([[1, 2], [3, 2], [1, 2]], [0, 1, 5])
    ((plan, scores),) = seen
    assert scores == ([2, 1] if weights is None else [sum(weights), max(weights)])
    assert plan.mechanism.scale == scale  # one round: the other feature is the only one left
    assert plan.mechanism.monotonic is (neighbours == "add_remove")
    assert fitted.release_.sensitivity == sensitivity
    assert str(fitted.release_.neighbours) == neighbours


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_loss_between_all_neighbours_of_two_rows(neighbours: str) -> None:
    """What the selector draws from, at the price it says, for every pair of small tables."""
    rows = [(values, label) for values in product([0.0, 1.0, np.nan], repeat=2) for label in (-1, 0, 1)]

    def law(table: list[Any], monotonic: bool) -> np.ndarray:
        values = np.array([each for each, _ in table]).reshape(-1, 2)
        right = scores(values.T, np.array([label for _, label in table], dtype=np.int64), bounds=(0, 2), bins=(2, 2))
        mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1, monotonic=monotonic)
        return np.log(mechanism.pmf(right))

    def worst(monotonic: bool) -> float:
        pairs = (
            ([first, second], [first, third] if neighbours == "replace_one" else [first])
            for first, second, third in product(rows, repeat=3)
        )
        found = {}
        for one, other in pairs:
            if repr((one, other)) not in found:
                found[repr((one, other))] = np.abs(law(one, monotonic) - law(other, monotonic)).max()
        return max(found.values())

    if neighbours == "replace_one":  # many more pairs
        rows = [(values, label) for values, label in rows if label >= 0 and not np.isnan(values).any()]
    assert worst(neighbours == "add_remove") <= 1.0 + 1e-9
    if neighbours == "replace_one":
        assert worst(True) > 1.0 + 1e-9


ODD_CELLS = [None, np.nan, pd.NA, "SENTINEL", b"SENTINEL", {"SENTINEL": 1}, [1], 1j, Decimal("sNaN"), object()]


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_what_is_no_number_is_missing_and_changes_no_other_value(cell: object) -> None:
    table = np.array([[1, 2.5], [Decimal("1.5"), np.float32(0.5)]], dtype=object)
    table = np.vstack([table, np.empty((1, 2), dtype=object)])
    table[2, 0], table[2, 1] = cell, 10**400
    first, second = numbers(table)
    assert first[:2].tolist() == [1.0, 1.5]
    assert np.isnan(first[2])
    assert second[:2].tolist() == [2.5, 0.5]
    assert np.isnan(second[2])
    assert selector().fit(table, [0, 1, 1]).release_.value in ([0], [1])


@pytest.mark.parametrize("label", [None, np.nan, pd.NA, "SENTINEL", 7, -1, 0.5, 10**30, {"SENTINEL": 1}, [0]])
def test_unknown_labels_are_left_out_and_no_error(label: object, seen: list[tuple[TopKPlan, list[int]]]) -> None:
    labels = np.empty(4, dtype=object)
    labels[:] = [0, 1, 1, 0]
    labels[3] = label
    assert positions(labels, (0, 1), rows=4) == [0, 1, 1, -1]
    selector().fit([[0, 3], [3, 3], [3, 3], [0, 0]], labels)
    assert seen[0][1] == [3, 2]


def test_all_containers_read_alike(seen: list[tuple[TopKPlan, list[int]]]) -> None:
    X, y = [[0, 3], [3, 3], [3, 0]], [0, 1, 1]
    arrays = [np.array(X, dtype=kind) for kind in (np.int8, np.uint64, np.float16, np.float32, object)]
    frames = [
        pd.DataFrame(X, columns=["a", "b"]),
        pd.DataFrame(X, columns=["a", "b"], dtype="Int64"),
        pl.DataFrame(X, orient="row"),
    ]
    for table in (X, *arrays, *frames):
        for labels in (y, np.array(y, dtype=float), np.array(y, dtype=bool), pd.Series(y), np.array(y).reshape(-1, 1)):
            selector().fit(table, labels)
    assert {tuple(scores) for _, scores in seen} == {(3, 2)}


def test_text_labels(seen: list[tuple[TopKPlan, list[int]]]) -> None:
    for y in (["a", "b", "b"], np.array(["a", "b", "b"]), pd.Series(["a", "b", "b"])):
        selector(classes=["a", "b"]).fit([[0, 3], [3, 3], [3, 0]], y)
    assert {tuple(scores) for _, scores in seen} == {(3, 2)}


def test_what_is_masked_is_missing(seen: list[tuple[TopKPlan, list[int]]]) -> None:
    table = np.ma.array([[0, 3], [3, 3], [0, 0], [3, 0]], mask=[[0, 0], [0, 0], [1, 0], [1, 0]])
    labels = np.ma.array([0, 1, 1, 1], mask=[0, 0, 0, 1])
    selector().fit(table, labels)
    assert seen[0][1] == [3, 2]


def test_no_rows_are_as_good_as_many(seen: list[tuple[TopKPlan, list[int]]]) -> None:
    kept = {selector().fit(np.zeros((0, 2)), np.zeros(0)).release_.value[0] for _ in range(40)}
    assert kept == {0, 1}  # one of them is missed with probability 2^-39
    assert {tuple(scores) for _, scores in seen} == {(0, 0)}


def test_constant_features_and_infinities_are_features(seen: list[tuple[TopKPlan, list[int]]]) -> None:
    selector().fit([[np.inf, 7, np.nan], [-np.inf, 7, np.nan], [np.inf, 7, np.nan]], [1, 0, 1])
    assert seen[0][1] == [3, 2, 2]


X, Y = np.array([[0, 3], [3, 3], [3, 0]]), np.array([0, 1, 1])
REFUSED: list[tuple[dict[str, Any], Any, Any, str]] = [
    ({}, sparse.csr_array(X), Y, "dense"),
    ({}, X[:, 0], Y, "two: rows and features"),
    ({}, X[:, :0], Y, "at least one feature"),
    ({}, X.astype(complex), Y, "real numbers"),
    ({}, X.astype(str), Y, "numbers"),
    ({}, X.astype("datetime64[D]"), Y, "numbers"),
    ({}, "SENTINEL", Y, "a list of rows"),
    ({}, [1, 2], Y, "two: rows"),
    ({}, [], Y, "two: rows"),
    ({}, X, None, "the class of each row"),
    ({}, X, Y[:2], "one label for each row"),
    ({}, X, np.stack([Y, Y], axis=1), "one label for each row"),
    ({}, X, Y.astype(str), "labels like the classes"),
    ({"classes": ["a", "b"]}, X, Y, "labels like the classes"),
    ({}, X, Y.astype(complex), "numbers or text"),
    *(
        ({"classes": classes}, X, Y, "at least two different labels")
        for classes in (None, [], [1], [1, 1], [1, True], [1, "a"], "ab", {"a": 1}, [1, None], [1, np.nan], [[1], [2]])
    ),
    ({"k": 3}, X, Y, "at most 2"),
    ({"k": 0}, X, Y, "a whole number >= 1"),
    ({"k": 1.0}, X, Y, "a whole number"),
    ({"epsilon": 0}, X, Y, "> 0"),
    ({"epsilon": None}, X, Y, "> 0"),
    ({"delta": 1.0}, X, Y, "below 1"),
    ({"neighbours": "both"}, X, Y, "add_remove"),
    ({"bounds": (1, 1)}, X, Y, "lower < upper"),
    ({"bounds": None, "bins": 1001}, X, Y, "at most 1000"),
    ({"bounds": [None, (1, 0)]}, X, Y, "lower < upper"),
    ({"bounds": [(0, 1)]}, X, Y, "one for each feature"),
    ({"bounds": [(0, 1)] * 3}, X, Y, "one for each feature"),
    ({"bounds": [(0, 1), 1]}, X, Y, "lower < upper"),
    ({"bounds": {"a": (0, 1)}}, X, Y, "an entry for each of the 2 features. Missing: 0, 1. No feature: 'a'."),
    ({"bounds": {"a": (0, 1)}}, pd.DataFrame(X, columns=["a", "b"]), Y, "Missing: 'b'."),
    ({"bins": 0}, X, Y, "a whole number >= 1"),
    ({"bins": [2]}, X, Y, "one for each feature"),
    ({"bins": 1 << 13, "classes": list(range(1 << 11))}, X, Y, "with so many classes"),
    ({"class_weights": [1]}, X, Y, "a weight for each class"),
    ({"class_weights": [1, 0]}, X, Y, "a whole number >= 1"),
    ({"class_weights": [1, 0.5]}, X, Y, "a whole number >= 1"),
    ({"class_weights": [1, 1 << 21]}, X, Y, "at most"),
    ({"class_weights": "balanced"}, X, Y, "a weight for each class"),
    ({"request": "r1"}, X, Y, "a ledger and an account"),
    ({"account": "a"}, X, Y, "a ledger together"),
    ({"ledger": "postgresql://ann:SENTINEL@host/db", "account": "a"}, X, Y, "a URL without one"),
    ({"ledger": "postgresql://host/db?password=SENTINEL", "account": "a"}, X, Y, "a URL without one"),
    ({"ledger": "postgresql://ann:2026#SENTINEL@host/db", "account": "a"}, X, Y, "a URL without one"),
]


@pytest.mark.parametrize(("changed", "table", "labels", "expected"), REFUSED)
def test_refusals(
    changed: dict[str, Any], table: Any, labels: Any, expected: str, seen: list[tuple[TopKPlan, list[int]]]
) -> None:
    asked = selector(**changed)
    with pytest.raises(dps.errors.InvalidParameterError) as caught:
        asked.fit(table, labels)
    assert expected in str(caught.value)
    assert SECRET not in everything_said(caught.value).replace(repr(changed), "")
    assert seen == []


def test_errors_do_not_tell_how_long_a_text_is() -> None:
    said = set[str]()
    for text in ("a", "a" * 77):
        for X, y in (([[text]], [0]), ([[0]], [text.encode()])):
            with pytest.raises(dps.errors.InvalidDataError) as caught:
                selector().fit(np.array(X), np.array(y))
            said.add(str(caught.value))
    assert len(said) == 2


@pytest.mark.parametrize(
    "table", [[["SENTINEL", 1]], [[{"SENTINEL": 1}, "SENTINEL"]], np.array([["SENTINEL"]]), ["SENTINEL"]]
)
def test_cells_are_never_quoted(table: Any) -> None:
    for labels in (["SENTINEL"], [0], ["SENTINEL"] * 9, np.array(["SENTINEL"]), [["SENTINEL", 1]]):
        try:
            said = repr(selector().fit(table, labels))
        except dps.SelectionError as error:
            said = everything_said(error)
        assert SECRET not in said


@pytest.mark.parametrize("others", [[], [0]])
def test_sparse_labels_whose_type_depends_on_rows_are_refused(others: list[int]) -> None:
    """Large unsigned numbers and the zero that is left out would make floats of all, and of large ones one."""
    large = 2**63 + 1
    labels = pd.arrays.SparseArray(np.array([large, large + 1, *others], np.uint64), dtype=pd.SparseDtype("uint64", 0))
    with pytest.raises(
        dps.errors.InvalidDataError, match=r"Convert it first: frame\['y'\] = frame\['y'\]\.sparse\.to_dense"
    ):
        positions(pd.Series(labels), [large, large + 1], rows=2 + len(others))
    found = positions(pd.Series(labels).sparse.to_dense(), [large, large + 1], rows=2 + len(others))
    assert found == [0, 1, *(-1 for _ in others)]
