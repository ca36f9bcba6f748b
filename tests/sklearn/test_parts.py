"""What runs of a private search get, and what one row can change of a score: at most 1, and never an error."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

import dpselect as dps
from dpselect.sklearn import PrivateSearchCV
from dpselect.sklearn.parts import checked_labels, checked_rows, rows_right, sum_of_scores, taken
from tests.sklearn.test_one_row_apart import objects

ROWS = 40
LARGE = 1e6
"""An epsilon so large that a score is what it would be without noise."""


class Zeros(ClassifierMixin, BaseEstimator):
    """Predicts zeros of the shape of the labels."""

    def __init__(self, epsilon: float = 1.0, to: Any = 0) -> None:
        self.epsilon = epsilon
        self.to = to

    def fit(self, X: Any, y: Any) -> Zeros:
        self.classes_, self.shape_ = np.array([0, 1]), getattr(y, "shape", (0,))[1:]
        return self

    def predict(self, X: Any) -> Any:
        return np.full((len(X), *self.shape_), self.to)


def score_of(y: Any, estimator: Any = None, **changed: Any) -> float:
    """Of the whole scoring part; every row is in it but for a fair coin each."""
    search = PrivateSearchCV(
        estimator or Zeros(), {"epsilon": [1.0]}, estimator_epsilon=1.0, score_epsilon=LARGE, expected_runs=2, **changed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return search.fit(np.zeros((len(y), 2)), y).best_score_


@pytest.mark.parametrize(
    "y",
    [
        np.zeros((ROWS, 5), int),
        np.zeros((ROWS, 0), int),
        np.zeros((ROWS, 1, 1), int),
        pd.DataFrame({"a": [0] * ROWS, "b": [0] * ROWS}),
        pl.DataFrame({"a": [0] * ROWS, "b": [0] * ROWS}),
        csr_array(np.zeros((ROWS, 1))),
        dict.fromkeys(range(ROWS), 0),
    ],
)
def test_labels_that_are_not_one_per_row_are_refused(y: Any, tmp_path: Any) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3e7, unit="row")
    search = PrivateSearchCV(
        Zeros(),
        {"epsilon": [1.0]},
        estimator_epsilon=1.0,
        score_epsilon=1.0,
        expected_runs=2,
        ledger=ledger,
        account="people",
    )
    with pytest.raises(dps.errors.InvalidDataError, match=r"^y=.*: expected one label for each row"):
        search.fit(np.zeros((ROWS, 2)), y)
    assert ledger.remaining("people") == 3e7
    ledger.disconnect()


@pytest.mark.parametrize(
    ("predicted", "right"),
    [
        (np.zeros(4), 4),
        ([0, 0.0, False, 7], 3),
        (pd.Series([0, 0, 1, 1]), 2),
        (np.zeros((4, 5)), 0),
        (np.zeros((1, 4)), 0),
        (np.zeros(20), 0),
        ([0] * 5, 0),
        (0, 0),
        (None, 0),
    ],
)
def test_a_row_counts_once_whatever_predict_returns(predicted: Any, right: int) -> None:
    assert rows_right(predicted, np.zeros(4)) == right


class Rude:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("SENTINEL")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", "a", pd.NA, "a"], dtype="string"),
        pd.Series([True, True, pd.NA, True], dtype="boolean"),
        pd.Series([True, True, pd.NA, True], dtype=object),
        pd.Series([1, 1, None, 1], dtype="Int64").array,
        np.ma.array([1, 1, 1, 1], mask=[0, 0, 1, 0]),
        objects([1, 1, np.array([1, 1]), 1]),
        objects([1, 1, Rude(), 1]),
        objects([1, 1, threading.Lock(), 1]),
        [1, 1, [1, 1], 1],
        ["a", "a", 1, "a"],
        [1, True, "x", np.float32(1)],
        pa.array([1, 1, None, 1]),
        pl.Series([1, 1, None, 1]),
    ],
)
def test_one_label_never_makes_a_score_fail(y: Any) -> None:
    """It counts as wrong, and the others as before."""
    labels = checked_labels(y, rows=4)
    to: Any = "a" if labels[0] == "a" else 1
    part = taken(labels, np.arange(4))
    assert rows_right(np.full(4, to), part) == rows_right([to] * 4, part) == 3
    assert rows_right(np.full(3, to), taken(labels, np.array([0, 1, 3]))) == 3


def test_one_label_changes_a_score_of_a_search_by_one_at_most() -> None:
    plain, other = [0] * 400, [*[0] * 399, "x"]
    strange = [*[0] * 399, [0, 0]]
    for y in (plain, other, strange, objects(strange), pd.Series(strange, dtype=object)):
        assert score_of(y, scoring_share=0.5) > 100  # 200 on average
    strings = pd.Series(["0"] * 399 + [pd.NA], dtype="string")
    assert score_of(strings, Zeros(to="0"), scoring_share=0.5) > 100


def test_scores_of_rows_are_read_one_by_one() -> None:
    for found in ([1.0, 7, None, "x"], objects([1, 7, pd.NA, [1]]), pd.Series([1, 7, None, 0.0])):
        assert sum_of_scores(found, rows=4, steps=1024) == 2048
    assert sum_of_scores(np.ma.array([1.0, 1.0], mask=[0, 1]), rows=2, steps=4) == 4
    for wrong in (1.0, [1.0], np.ones((2, 1)), None):
        with pytest.raises(ValueError, match=r"^$"):
            sum_of_scores(wrong, rows=2, steps=4)


def test_lists_in_one_column_and_columns_are_one_label_each() -> None:
    assert checked_labels([[1], ["x"], (2,), [1, 2]], rows=4) == [1, "x", 2, [1, 2]]
    for column in (np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]}), np.ma.array([[1], [2]], mask=[[0], [0]])):
        with pytest.warns(UserWarning, match="column-vector"):
            assert list(checked_labels(column, rows=2)) == [1, 2]


def cells_of(kind: str) -> Any:
    cells = [[1], [2], threading.Lock()]
    if kind == "list":
        return [[cell] for cell in cells]
    if kind == "index":
        return pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(objects(cells)))
    array = objects(cells).reshape(3, 1)
    makers: dict[str, Any] = {
        "array": lambda: array,
        "masked": lambda: np.ma.array(array, mask=[[0], [1], [0]]),
        "frame": lambda: pd.DataFrame({"a": [1, 2, 3], "b": array[:, 0]}).set_axis(["a", "a"], axis=1),
        "series": lambda: pd.Series(array[:, 0]),
    }
    return makers[kind]()


def first_cell(kind: str, table: Any) -> Any:
    if kind == "index":
        return table.index[0]
    return {"list": lambda: table[0][0], "frame": lambda: table.iloc[0, 1], "series": lambda: table.iloc[0]}.get(
        kind, lambda: table[0, 0]
    )()


@pytest.mark.parametrize("kind", ["list", "array", "masked", "frame", "series", "index"])
def test_objects_in_cells_are_not_shared(kind: str) -> None:
    """And one that cannot be copied stops nothing."""
    given = cells_of(kind)
    for _ in range(2):
        got = taken(given, np.arange(3))
        assert type(got) is type(given)
        cell = first_cell(kind, got)
        assert cell == (0 if kind == "index" else [1])  # an index is left out
        if kind != "index":
            cell.append("seen")
    assert first_cell(kind, given) == [1]


def test_frames_of_objects_keep_their_types() -> None:
    """A copy that guessed them anew would let one row decide the type of a column."""
    days = [pd.Timestamp(0), None]
    frame = pd.DataFrame({"a": objects([1, 2]), "b": pd.Series(objects(days), dtype=object), "c": [0.5, 1.5]})
    assert taken(frame, np.arange(2)).dtypes.tolist() == frame.dtypes.tolist()
    assert taken(frame["b"], np.array([0])).dtype == object


@pytest.mark.parametrize(
    "X",
    [
        np.zeros(3, [("a", object)]),
        pl.DataFrame({"a": pl.Series([object()] * 3, dtype=pl.Object)}),
        pa.table({"a": [1, 2, 3]}),
        5,
        "abc",
        [],
    ],
)
def test_what_cannot_be_taken_by_rows_is_refused(X: Any) -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=r"^X=.*: expected rows"):
        checked_rows(X, sparse=False)
