"""One draw for each row: the laws of the rows, what is read in place, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidScoresError
from dpselect.mechanisms.scores import native_scores
from dpselect.testing import seeded
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.subjects import every_kind
from tests.mechanisms.test_score_vectors import NATIVE

native_rows = partial(native_scores, dimensions=2)

Kind = Callable[..., Any]
SECRET = 7919.125
ROWS = np.array([[3.0, -2.0, 0.5, 3.0], [1.0, 6.0, 2.0, 5.0], [0.0, 0.0, 0.0, 0.0]])


class Tensor:
    """An array of another library: NumPy can look at it, and that is all."""

    def __init__(self, array: np.ndarray, *, fails: bool = False) -> None:
        self._array, self._fails = array, fails

    def __len__(self) -> int:
        return len(self._array)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        if self._fails:
            raise RuntimeError(f"on another device: {self._array}")
        return self._array


@every_kind
@pytest.mark.parametrize("lying", ["rows", "columns", "backwards"])
def test_each_row_has_its_own_law(kind: Kind, lying: str) -> None:
    mechanism, wrong = kind(epsilon=1.0, sensitivity=1.0), kind(epsilon=2.0, sensitivity=1.0)
    matrix = np.tile(ROWS, (8000, 1))
    if lying != "rows":
        matrix = np.asfortranarray(matrix) if lying == "columns" else matrix[::-1, ::-1]
    draws = mechanism.select_rows(matrix)
    assert (draws.dtype, draws.shape) == (np.dtype(np.int64), (24_000,))
    for place in range(3):
        counts, scores = np.bincount(draws[place::3], minlength=4), matrix[place]
        assert p_value(counts, mechanism.pmf(scores)) >= NEVER
        if np.ptp(scores):
            assert p_value(counts, wrong.pmf(scores)) < NEVER


@every_kind
def test_rows_are_independent_of_each_other(kind: Kind) -> None:
    draws = kind(epsilon=1.0, sensitivity=1.0).select_rows(np.zeros((40_000, 2)))
    pairs = np.bincount(draws[:-1] * 2 + draws[1:], minlength=4)
    assert p_value(pairs, np.full(4, 0.25)) >= NEVER
    assert p_value(np.bincount(draws * 3, minlength=4), np.full(4, 0.25)) < NEVER  # control: each the same as the next


@pytest.mark.parametrize("dtype", [*NATIVE, "f2", ">f4", ">i8"])
def test_every_type_of_scores_in_every_container(dtype: str) -> None:
    mechanism = dps.PermuteAndFlip(epsilon=100.0, sensitivity=1.0)
    best = np.arange(50) % 7
    matrix = np.zeros((50, 7), dtype)
    matrix[np.arange(50), best] = 100
    native = np.dtype(dtype).isnative
    containers: list[Any] = [matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=0)[::2], matrix.tolist()]
    containers += [pd.DataFrame(matrix)] if dtype not in ("f2", ">f4", ">i8") else []
    if native:
        containers += [Tensor(matrix), [*matrix]]
    for given in containers:
        assert mechanism.select_rows(given).tolist() == best.tolist()


@pytest.mark.parametrize("dtype", NATIVE)
def test_matrices_and_tensors_are_not_copied(dtype: str) -> None:
    matrix = np.arange(60).reshape(12, 5).astype(dtype)
    for given in (matrix, matrix[::-2], matrix.T, np.asfortranarray(matrix)):
        assert native_rows(given) is given or np.shares_memory(native_rows(given), given)
        assert np.shares_memory(native_rows(Tensor(given)), given)
    series = pl.Series(matrix.tolist(), dtype=pl.Array(pl.Series(matrix[0]).dtype, 5))
    assert native_rows(series).tolist() == matrix.tolist()


def test_integers_in_lists_are_exact_and_rows_may_be_vectors() -> None:
    big = 2**63 + 1
    assert native_rows([[big, 1], [2, 3]]).tolist() == [[big, 1], [2, 3]]
    assert native_rows([pa.array([1.5, 2]), pd.Series([3, 4])]).tolist() == [[1.5, 2.0], [3.0, 4.0]]
    for unlike in ([[2**53 + 1, 1], [0.5, 1.0]], [[2**64, 1], [0, 1]]):
        with pytest.raises(InvalidScoresError, match="matrix="):
            dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select_rows(unlike)


BAD: dict[str, Any] = {
    "no rows": np.zeros((0, 4)),
    "no columns": np.zeros((4, 0)),
    "empty list": [],
    "rows without scores": [[], []],
    "no Arrow lists": pa.array([], pa.list_(pa.float64(), 3)),
    "one dimension": np.full(3, SECRET),
    "three dimensions": np.full((2, 2, 2), SECRET),
    "a plain list": [SECRET, 1.0],
    "rows of different lengths": [[SECRET, 1.0], [2.0]],
    "NaN in the last row": np.r_[np.full((5000, 40), SECRET), np.full((1, 40), np.nan)],
    "NaN far in": np.array([np.r_[np.full(300_000, SECRET), np.nan]]),
    "infinity": np.array([[1.0, SECRET], [np.inf, 0.0]], dtype=np.float32),
    "NaN in columns": np.asfortranarray([[1.0, SECRET], [np.nan, 0.0]]),
    "NaN in a list": [[SECRET, 1.0], [float("nan"), 1.0]],
    "booleans": np.array([[True, False]]),
    "complex": np.array([[SECRET + 1j]]),
    "text": np.array([["Ann", "7919"]]),
    "text in lists": [["Ann", "7919"]],
    "objects": np.array([[SECRET, None]], dtype=object),
    "dates": np.array([["2026-01-01"]], dtype="M8[D]"),
    "masked": np.ma.masked_equal([[SECRET, 1.0]], 1.0),
    "a mapping": {"Ann": [SECRET, 1.0]},
    "a string": "7919",
    "None": None,
    "a number": SECRET,
    "Arrow nulls": pa.array([[SECRET, None]], pa.list_(pa.float64(), 2)),
    "an Arrow null": pa.array([[SECRET, 1.0], None], pa.list_(pa.float64(), 2)),
    "Arrow texts": pa.array([["Ann"]], pa.list_(pa.string(), 1)),
    "Arrow lists of any size": pa.array([[SECRET], [1.0]]),
    "a table": pa.table({"Ann": ["7919", "x"]}),
    "a frame of text": pd.DataFrame({"Ann": ["7919", "x"]}),
    "a tensor elsewhere": Tensor(np.full((2, 2), SECRET), fails=True),
    "a tensor of one dimension": Tensor(np.full(2, SECRET)),
}


@pytest.mark.parametrize("given", [[1, 2, 3], (1.5, 2), [Fraction(1, 3)], np.array([1.0, 2.0])])
def test_one_row_is_no_matrix(given: Any) -> None:
    with pytest.raises(InvalidScoresError, match=r"two-dimensional array.* use select\.") as caught:
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select_rows(given)
    assert "one-dimensional" not in str(caught.value)


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_matrices_are_refused_without_a_word_of_them(given: Any) -> None:
    for mechanism in (
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0),
        dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0),
        dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0),
    ):
        with pytest.raises(InvalidScoresError) as caught:
            mechanism.select_rows(given)
        text = str(caught.value)
        assert text.startswith("matrix=")
        assert "7919" not in text
        assert "Ann" not in text
        assert caught.value.__cause__ is None


def test_in_a_seeded_block_rows_are_repeated() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=0.01, sensitivity=1.0)
    matrix = np.zeros((3000, 400))

    def draws() -> list[int]:
        with seeded(7):
            return mechanism.select_rows(matrix).tolist()

    assert draws() == draws()
    assert draws() != mechanism.select_rows(matrix).tolist()
