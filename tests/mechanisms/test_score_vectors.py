"""Scores in any container: read as they are, converted exactly, never rounded."""

from __future__ import annotations

import array
import subprocess
import sys
from collections import deque
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidScoresError
from dpselect.mechanisms.scores import finite_scores, native_scores, score_count

NATIVE = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


@pytest.mark.parametrize("dtype", NATIVE)
def test_native_arrays_are_passed_on_and_not_copied(dtype: str) -> None:
    scores = np.arange(6).astype(dtype)
    assert native_scores(scores) is scores
    view = scores[::-2]
    assert native_scores(view) is view
    assert finite_scores(scores).tolist() == list(range(6))


@pytest.mark.parametrize("dtype", NATIVE)
def test_one_chunk_of_arrow_is_not_copied(dtype: str) -> None:
    array = pa.array(np.arange(6).astype(dtype))
    native = native_scores(array.slice(2))
    assert native.ctypes.data == array.buffers()[1].address + 2 * np.dtype(dtype).itemsize
    assert native.dtype == dtype
    series = pl.Series(np.arange(6).astype(dtype))
    assert native_scores(series).ctypes.data == series.to_numpy(allow_copy=False).ctypes.data
    assert native_scores(series).tolist() == list(range(6))


def test_formulas_get_doubles_or_wide_integers() -> None:
    expected = {"f": np.float64, "i": np.int64, "u": np.uint64}
    for dtype in (*NATIVE, "f2", ">f4", ">i2"):
        assert finite_scores(np.zeros(3, dtype)).dtype == expected[np.dtype(dtype).kind]


@given(
    hnp.arrays(
        st.sampled_from(["f8", "f4", "f2", ">f8", ">f4", ">i8", ">u8", ">i4", ">u2", "i1", "u1"]),
        st.integers(1, 5),
        elements=st.integers(0, 100),
    )
)
def test_other_byte_orders_and_half_floats_keep_their_values(scores: np.ndarray) -> None:
    native = native_scores(scores)
    assert isinstance(native, np.ndarray)
    assert native.dtype.isnative
    assert native.dtype.str[1:] in NATIVE
    assert native.tolist() == scores.tolist()


integers_of_64_bits = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.lists(st.integers(0, 2**64 - 1), min_size=1)
)


@given(integers_of_64_bits)
def test_lists_of_integers_are_exact(scores: list[int]) -> None:
    assert finite_scores(scores).tolist() == scores


@given(integers_of_64_bits)
def test_numpy_integers_in_a_list_are_exact_too(scores: list[int]) -> None:
    numpy_scores: list[Any] = [np.int64(score) if score < 2**63 else np.uint64(score) for score in scores]
    assert finite_scores(numpy_scores).tolist() == scores


def test_numpy_integers_without_a_common_type_do_not_wrap_around() -> None:
    """NumPy itself would turn the second one into -1, a tie."""
    with pytest.raises(InvalidScoresError, match="all signed or all unsigned"):
        finite_scores([np.int64(-1), np.uint64(2**64 - 1)])


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1))
def test_integers_are_exact_or_refused(scores: list[int]) -> None:
    try:
        assert finite_scores(scores).tolist() == scores
    except InvalidScoresError:
        assert min(scores) < -(2**63) or max(scores) >= 2**64 or (min(scores) < 0 and max(scores) >= 2**63)


@given(st.lists(st.one_of(st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_mixed_lists_are_exact_or_refused(scores: list[float]) -> None:
    try:
        assert finite_scores(scores).tolist() == scores
    except InvalidScoresError:
        assert any(isinstance(score, int) and abs(score) > 2**53 for score in scores)


@pytest.mark.parametrize(
    "scores",
    [
        [1, 2.0, np.float32(3.0)],
        (np.float16(1.0), 2, np.float64(3.0)),
        range(1, 4),
        deque([1.0, 2.0, 3.0]),
        array.array("d", [1, 2, 3]),
        array.array("h", [1, 2, 3]),
        memoryview(np.array([1.0, 2.0, 3.0])),
        memoryview(b"\x01\x02\x03"),
        pd.Series([1, 2, 3], index=[9, 8, 7]),
        pd.Series([1.0, 2.0, 3.0], dtype="float64[pyarrow]"),
        pd.Series([1, 2, 3], dtype="Int8"),
        pd.Index([1, 2, 3]),
        pa.chunked_array([[1.0], [2.0, 3.0]]),
        pa.chunked_array([pa.array([], pa.int8()), pa.array([1, 2, 3], pa.int8())]),
        pl.Series([0, 1, 2, 3], dtype=pl.UInt16).slice(1),
        np.ma.array([1.0, 2.0, 3.0]),
        np.array([1.0, 2.0, 3.0]).view(np.recarray),
        pd.Categorical([1, 2, 3]),
    ],
    ids=lambda scores: type(scores).__module__ + "." + type(scores).__name__,
)
def test_one_dimensional_numbers_of_any_kind(scores: Any) -> None:
    assert score_count(native_scores(scores)) == 3
    assert finite_scores(scores).tolist() == [1, 2, 3]


def test_an_unaligned_column_of_a_record_array() -> None:
    records = np.array([(1, 1.5), (2, 2.5)], dtype=[("flag", "u1"), ("score", "f8")])
    assert not records["score"].flags.aligned
    native = native_scores(records["score"])
    assert isinstance(native, np.ndarray)
    assert native.flags.aligned
    assert native.tolist() == [1.5, 2.5]


class OnlyConverts:
    """A vector of a library unknown here, through NumPy's protocol."""

    def __len__(self) -> int:
        return 2

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array([1.5, 2.5])


class CannotConvert(OnlyConverts):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("the value 7919 lives on another device")


def test_numpys_protocol() -> None:
    assert finite_scores(OnlyConverts()).tolist() == [1.5, 2.5]
    with pytest.raises(InvalidScoresError) as caught:
        finite_scores(CannotConvert())
    assert "7919" not in str(caught.value)
    assert caught.value.__context__ is None


class OnlyExports:
    """Arrow data of a library that has nothing else, not even a length."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self._array.__arrow_c_array__(requested_schema)


def test_arrow_data_of_any_library_behaves_as_numpy_does() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    scores = OnlyExports(pa.array([1.0, 2.0]))
    assert mechanism.select(scores) in (0, 1)
    assert mechanism.select(scores, ["a", "b"]) in ("a", "b")
    assert mechanism.pmf(scores).tolist() == mechanism.pmf([1.0, 2.0]).tolist()
    assert finite_scores(pa.array(np.array([1.5, 2.5], np.float16))).tolist() == [1.5, 2.5]
    for empty in (pa.array([], pa.int8()), pa.chunked_array([], pa.int8())):
        with pytest.raises(InvalidScoresError, match="empty"):
            mechanism.select(empty)


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (pa.array(["7919"]), "string"),
        (pa.array([True]), "bool"),
        (pa.array([None]), "null"),
        (pa.array([7919]).cast(pa.timestamp("s")), "timestamp"),
        (pa.array([7919]).cast(pa.decimal128(38, 2)), "decimal"),
        (pa.array([[7919]]), "nested values"),
        (pa.array([{"Ann": 1}]), "nested values"),
        (pa.array([7919]).dictionary_encode(), "nested values"),
        (pa.array([7919, None]), "with nulls"),
        (pa.chunked_array([[7919], [None]]), "with nulls"),
    ],
)
def test_arrow_data_that_are_no_scores_are_refused_in_public_terms(array: Any, shown: str) -> None:
    with pytest.raises(InvalidScoresError, match=shown) as caught:
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select(array)
    assert not {"7919", "Ann"} & set(str(caught.value).replace("<", " ").replace(">", " ").split())


def test_errors_say_what_came_in_public_terms() -> None:
    def text(scores: Any) -> str:
        with pytest.raises(InvalidScoresError) as caught:
            finite_scores(scores)
        return str(caught.value)

    assert "<ndarray of shape (2, 3)>" in text(np.zeros((2, 3)))
    assert "<ndarray of str_>" in text(np.array(["seven", "letters"]))
    assert "<list whose members are not all numbers>" in text([1, "2"])
    assert "2^53" in text([2**60 + 1, 0.5])
    assert "public rule" in text([np.nan])


def test_draws_load_no_module_late():
    """A module that one thread is loading during a fork leaves the child a lock that nobody holds."""
    program = (
        "import sys, numpy as np, dpselect as dps\n"
        "mechanisms = [dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0), dps.ExponentialMechanism(epsilon=1.0, "
        "sensitivity=1.0), dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0)]\n"
        "before = set(sys.modules)\n"
        "for mechanism in mechanisms:\n"
        "    for scores in (np.arange(5.0), [1, 2, 3, 4, 5], np.arange(5, dtype='f2')):\n"
        "        mechanism.select(scores); mechanism.select(scores, candidates=list('abcde')); "
        "mechanism.select_many(scores, 2); mechanism.peel(scores, 2)\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("method", ["__arrow_c_array__", "__arrow_c_stream__"])
@pytest.mark.parametrize("outcome", ["raise", "pair of numbers", "number"])
def test_what_a_foreign_export_says_is_not_passed_on(method: str, outcome: str):
    def export(self: object, requested_schema: object = None) -> object:
        if outcome == "raise":
            raise RuntimeError("7919.125")
        return (7919, 7919) if outcome == "pair of numbers" else 7919

    foreign = type("Foreign", (), {method: export, "__len__": lambda self: 3})()
    with pytest.raises(dps.errors.InvalidScoresError) as caught:
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select(foreign)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "7919" not in str(error) + repr(error.args)


def test_lack_of_memory_is_an_error_of_the_package():
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    with pytest.raises(dps.SelectionError):
        mechanism.select_many(np.arange(3.0), 10**17)
    endless = np.broadcast_to(np.float64(1.0), 2**59)
    with pytest.raises(MemoryError):
        mechanism.select(endless)
