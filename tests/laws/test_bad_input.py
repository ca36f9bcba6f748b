"""Bad input, for every mechanism and every way of calling it: the right error, no data in it, and nothing drawn."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError
from tests.laws.subjects import KINDS, every_kind

Kind = Callable[..., Any]

SECRET = 7919.125
SECRET_INTEGER = 2**53 + 7919
SECRETS = ["7919", str(SECRET_INTEGER), "Ann"]

BAD_SCORES: dict[str, Any] = {
    "no scores": [],
    "empty array": np.array([], dtype=np.float64),
    "empty integers": np.array([], dtype=np.int32),
    "empty arrow": pa.array([], pa.float64()),
    "empty polars": pl.Series([], dtype=pl.Float64),
    "NaN": np.array([SECRET, np.nan]),
    "NaN in a list": [SECRET, float("nan")],
    "NaN in float32": np.array([SECRET, np.nan], dtype=np.float32),
    "NaN in float16": np.array([79, np.nan], dtype=np.float16),
    "NaN in arrow": pa.array([SECRET, float("nan")]),
    "infinity": np.array([SECRET, np.inf]),
    "minus infinity": np.array([SECRET, -np.inf]),
    "infinity far in": np.r_[np.full(5000, SECRET), np.inf],
    "NaN behind a million": np.r_[np.full(1_100_000, SECRET), np.nan],
    "two dimensions": np.full((2, 2), SECRET),
    "a column": np.full((2, 1), SECRET),
    "no dimension": np.array(SECRET),
    "nested list": [[SECRET, 1.0], [2.0, 3.0]],
    "a frame": pd.DataFrame({"Ann": [SECRET, 1.0]}),
    "a polars frame": pl.DataFrame({"Ann": [SECRET, 1.0]}),
    "a table": pa.table({"Ann": [SECRET, 1.0]}),
    "strings": np.array(["Ann", "7919"]),
    "list of strings": ["Ann", "7919"],
    "arrow strings": pa.array(["Ann", "7919"]),
    "pandas objects": pd.Series([SECRET, "Ann"]),
    "pandas text": pd.DataFrame({"a": [1, "Ann"]}),
    "a string": "7919",
    "bytes": b"7919",
    "objects": np.array([SECRET, None], dtype=object),
    "None among them": [SECRET, None],
    "None": None,
    "booleans": np.array([True, False]),
    "a boolean among them": [SECRET, True],
    "arrow booleans": pa.array([True, False]),
    "complex": np.array([SECRET + 1j]),
    "dates": np.array(["1919-07-09"], dtype="M8[D]"),
    "durations": np.array([7919], dtype="m8[D]"),
    "records": np.array([(1, SECRET)], dtype=[("Ann", "i8"), ("x", "f8")]),
    "long double": np.array([SECRET], dtype=np.longdouble),
    "long double in a list": [np.longdouble(SECRET)],
    "a number": SECRET,
    "a NumPy number": np.float64(SECRET),
    "a set": {SECRET, 1.0},
    "a mapping": {"Ann": SECRET},
    "a generator": (score for score in [SECRET, 1.0]),
    "a function": lambda: SECRET,
    "masked": np.ma.array([SECRET, 1.0], mask=[False, True]),
    "arrow nulls": pa.array([SECRET, None]),
    "polars nulls": pl.Series([SECRET, None]),
    "pandas nulls": pd.Series([7919, None], dtype="Int64"),
    "large integer beside a float": [SECRET_INTEGER, 0.5],
    "integer beyond 64 bits": [2**64 + 7919, 1],
    "integers without a common type": [2**63 + 7919, -1],
}


def candidates_for(scores: Any) -> range:
    """Candidates with which nothing is wrong, as far as one can tell."""
    return range(len(scores) if hasattr(scores, "__len__") and np.ndim(scores) else 2)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "select": lambda mechanism, scores: mechanism.select(scores),
    "select from candidates": lambda mechanism, scores: mechanism.select(scores, candidates_for(scores)),
    "select_many": lambda mechanism, scores: mechanism.select_many(scores, 3),
    "peel": lambda mechanism, scores: mechanism.peel(scores, 1),
    "pmf": lambda mechanism, scores: mechanism.pmf(scores),
    "expected_error": lambda mechanism, scores: mechanism.expected_error(scores),
}


def assert_says_nothing(error: BaseException) -> None:
    """No text of the error, of its arguments, or of an error it was raised from, shows data."""
    texts = [str(error), repr(error), repr(error.args), "".join(traceback.format_exception_only(error))]
    assert not any(secret in text for secret in SECRETS for text in texts)
    assert error.__cause__ is None
    assert error.__context__ is None or not any(secret in repr(error.__context__) for secret in SECRETS)


@every_kind
@pytest.mark.parametrize("scores", BAD_SCORES.values(), ids=BAD_SCORES)
def test_bad_scores(kind: Kind, scores: Any) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    for name, call in CALLS.items():
        with pytest.raises(InvalidScoresError) as caught:
            call(mechanism, scores)
        assert isinstance(caught.value, ValueError), name
        assert isinstance(caught.value, dps.SelectionError), name
        assert caught.value.name == "scores", name
        assert_says_nothing(caught.value)


@pytest.mark.parametrize("scores", BAD_SCORES.values(), ids=BAD_SCORES)
def test_bad_scores_of_the_functions(scores: Any) -> None:
    for call in (
        lambda: dps.select(scores, epsilon=1.0, sensitivity=1.0),
        lambda: dps.top_k(scores, 1, epsilon=1.0, sensitivity=1.0),
        lambda: dps.top_k(scores, 1, epsilon=1.0, sensitivity=1.0, delta=1e-6, candidates=candidates_for(scores)),
    ):
        with pytest.raises(InvalidScoresError) as caught:
            call()
        assert_says_nothing(caught.value)


@pytest.mark.parametrize("name", ["no scores", "empty arrow", "NaN", "infinity far in", "two dimensions", "strings"])
def test_drawing_and_planning_refuse_in_the_same_words(name: str) -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    texts: set[str] = set()
    for call in CALLS.values():
        with pytest.raises(InvalidScoresError) as caught:
            call(mechanism, BAD_SCORES[name])
        texts.add(str(caught.value))
    assert len(texts) == 1


class NothingIsDrawn:
    """Stands in for the core's sampler and fails the test when it is asked for anything."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called")


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def undrawn(request: pytest.FixtureRequest) -> Any:
    mechanism = request.param(epsilon=1.0, sensitivity=1.0)
    object.__setattr__(mechanism, "_sampler", NothingIsDrawn())
    return mechanism


BAD_CANDIDATES: dict[str, Any] = {
    "too few": ["Ann", "Bob"],
    "too many": ["Ann", "Bob", "Cid", "Dan"],
    "none": [],
    "twice the same": ["Ann", "Bob", "Ann"],
    "equal numbers": [7919, 1, 7919.0],
    "equal lists": [["Ann"], ["Bob"], ["Ann"]],
    "array with duplicates": np.array([7919, 1, 7919]),
    "array of text with duplicates": np.array(["Ann", "Bob", "Ann"]),
    "array of objects with duplicates": np.array(["Ann", 1, "Ann"], dtype=object),
    "arrow with duplicates": pa.array(["Ann", "Bob", "Ann"]),
    "polars with duplicates": pl.Series(["Ann", "Bob", "Ann"]),
    "pandas with duplicates": pd.Series(["Ann", "Bob", "Ann"]),
    "a short range": range(2),
    "two dimensions": np.array([["Ann"], ["Bob"], ["Cid"]]),
    "a string": "Ann",
    "bytes": b"Ann",
    "a set": {"Ann", "Bob", "Cid"},
    "a mapping": {"Ann": 1, "Bob": 2, "Cid": 3},
    "a number": 7919,
    "a generator": (name for name in ["Ann", "Bob", "Cid"]),
    "not to be compared": [np.array([7919, 1]), np.array([7919, 2]), np.array([7919, 3])],
}


@pytest.mark.parametrize("candidates", BAD_CANDIDATES.values(), ids=BAD_CANDIDATES)
def test_bad_candidates(undrawn: Any, candidates: Any) -> None:
    with pytest.raises(InvalidCandidatesError) as caught:
        undrawn.select(np.array([SECRET, 1.0, 2.0]), candidates)
    assert caught.value.name == "candidates"
    assert_says_nothing(caught.value)


@pytest.mark.parametrize("candidates", BAD_CANDIDATES.values(), ids=BAD_CANDIDATES)
def test_bad_candidates_of_the_functions(candidates: Any) -> None:
    scores = [SECRET, 1.0, 2.0]
    with pytest.raises(InvalidCandidatesError):
        dps.select(scores, epsilon=1.0, sensitivity=1.0, candidates=candidates)
    with pytest.raises(InvalidCandidatesError):
        dps.top_k(scores, 2, epsilon=1.0, sensitivity=1.0, candidates=candidates)


@pytest.mark.parametrize("k", [0, -1, 4, 2.0, True, None, "2", 10**30])
def test_bad_k(undrawn: Any, k: Any) -> None:
    scores = [SECRET, 1.0, 2.0]
    with pytest.raises(InvalidParameterError) as caught:
        undrawn.peel(scores, k)
    assert caught.value.name == "k"
    with pytest.raises(InvalidParameterError) as caught:
        dps.top_k(scores, k, epsilon=1.0, sensitivity=1.0)
    assert caught.value.name == "k"
    assert_says_nothing(caught.value)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, None, "2", 10**30])
def test_bad_size(undrawn: Any, size: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        undrawn.select_many([SECRET, 1.0], size)
    assert caught.value.name == "size"


@pytest.mark.parametrize("count", [0, -3, 1.0, True, None, 10**30])
def test_bad_count(undrawn: Any, count: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        undrawn.error_bound(count)
    assert caught.value.name == "n_candidates"


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan"), True, None, "0.9"])
def test_bad_confidence(undrawn: Any, confidence: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        undrawn.error_bound(10, confidence)
    assert caught.value.name == "confidence"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0),
        ("epsilon", float("nan")),
        ("sensitivity", -1.0),
        ("sensitivity", float("inf")),
        ("neighbours", "swap"),
        ("neighbours", None),
        ("monotonic", "yes"),
        ("delta", 1.0),
        ("delta", -1e-9),
        ("delta", float("nan")),
        ("delta", True),
    ],
)
def test_bad_arguments_of_the_functions(name: str, value: Any) -> None:
    arguments: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0, name: value}
    with pytest.raises(InvalidParameterError) as caught:
        dps.top_k([SECRET, 1.0], 1, **arguments)
    assert caught.value.name == name
    assert_says_nothing(caught.value)
    if name != "delta":
        with pytest.raises(InvalidParameterError) as caught:
            dps.select([SECRET, 1.0], **arguments)
        assert caught.value.name == name


def test_monotonic_with_replace_one() -> None:
    arguments: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0, "monotonic": True, "neighbours": "replace_one"}
    with pytest.raises(InvalidParameterError, match="replace_one"):
        dps.select([1, 2], **arguments)
    with pytest.raises(InvalidParameterError, match="replace_one"):
        dps.top_k([1, 2], 1, **arguments)


def test_scores_in_the_place_of_an_argument_are_not_quoted() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.PermuteAndFlip(epsilon=[SECRET], sensitivity=1.0)  # type: ignore[arg-type]
    assert_says_nothing(caught.value)
    with pytest.raises(InvalidParameterError) as caught:
        dps.top_k([1.0], np.array([SECRET]), epsilon=1.0, sensitivity=1.0)  # type: ignore[arg-type]
    assert_says_nothing(caught.value)


def test_the_search_for_data_in_errors_can_fail() -> None:
    with pytest.raises(AssertionError):
        assert_says_nothing(ValueError(f"could not convert {SECRET}"))
