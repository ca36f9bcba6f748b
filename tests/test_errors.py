"""Errors: of one family, picklable, and silent about anything that might be data."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, SelectionError, Shown, describe

KINDS = [
    dps.InvalidParameterError,
    dps.InvalidScoresError,
    dps.InvalidCandidatesError,
    dps.InvalidDataError,
]


@pytest.mark.parametrize("kind", KINDS)
def test_one_family(kind: type[InvalidParameterError]) -> None:
    error = kind("scores", None, "numbers", "Give some.")
    assert isinstance(error, SelectionError)
    assert isinstance(error, ValueError)
    assert isinstance(error, InvalidParameterError)
    assert str(error) == "scores=None: expected numbers. Give some."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("got", [1.5, None, [7919], "Ann", Shown("<three rows>")])
def test_errors_survive_pickling(kind: type[InvalidParameterError], got: Any) -> None:
    error = kind("scores", got, "numbers", "Give some.")
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is kind
    assert str(twin) == str(error)
    assert (twin.name, twin.got, twin.expected, twin.hint) == (error.name, error.got, error.expected, error.hint)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (np.float64(0.5), "0.5"),
        (float("nan"), "nan"),
        (7, "7"),
        (np.int32(7), "7"),
        (None, "None"),
        (True, "True"),
        (2**64 - 1, "18446744073709551615"),
        (2**64, "<int of 65 bits>"),
    ],
)
def test_public_numbers_are_shown(value: Any, text: str) -> None:
    assert describe(value) == text


@pytest.mark.parametrize(
    "value",
    ["Ann 7919", b"Ann 7919", ["Ann", 7919], {"Ann": 7919}, np.array([7919.0]), Fraction(7919, 2), (7919,), {7919}],
)
def test_anything_else_is_shown_as_its_type(value: Any) -> None:
    error = InvalidParameterError("k", value, "a whole number")
    for text in (str(error), repr(error), repr(error.args), describe(value)):
        assert "7919" not in text
        assert "Ann" not in text
    assert f"<{type(value).__name__}>" in str(error)
    assert b"7919" not in pickle.dumps(error)


def test_public_texts_are_shown_as_they_are() -> None:
    assert str(InvalidParameterError("column", Shown("'pgae'"), "a column", "Did you mean 'page'?")) == (
        "column='pgae': expected a column. Did you mean 'page'?"
    )


@pytest.mark.parametrize("text", ["postgresql://u:SECRET@h/x", "host=h password=SECRET", "u:SECRET@h/x"])
def test_no_address_with_a_password_is_quoted(text: str) -> None:
    """Wherever it was given: as a unit, a column, a table, an engine, a kind of noise."""
    visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
    acts: list[Callable[[], object]] = [
        lambda: dps.Dataset("examples/data/adult.csv", unit=text).most_common("age", candidates=[1, 2], epsilon=1),
        lambda: visits.most_common(text, candidates=[1, 2], epsilon=1),
        lambda: dps.Dataset("examples/data/clicks.parquet", unit="session", table=text),
        lambda: dps.Dataset("examples/data/clicks.parquet", unit="session", engine=text),  # type: ignore[arg-type]
        lambda: dps.Dataset(text, unit="session"),
        lambda: dps.ReportNoisyMax(epsilon=1, sensitivity=1, noise=text),  # type: ignore[arg-type]
    ]
    for act in acts:
        with pytest.raises(InvalidParameterError) as failed:
            act()
        assert "SECRET" not in f"{failed.value} {failed.value!r} {failed.value.args}"
