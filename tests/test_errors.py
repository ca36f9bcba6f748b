"""Errors: of one family, picklable, and silent about anything that might be data."""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.checks import OTHER_WORDS, did_you_mean, words_meant
from dpselect.cli.commands import NAMES
from dpselect.errors import InvalidParameterError, SelectionError, Shown, describe, typed
from dpselect.questions.question import BY_NAME
from dpselect.session.dataset import arguments_of

KINDS = [
    dps.errors.InvalidParameterError,
    dps.errors.InvalidScoresError,
    dps.errors.InvalidCandidatesError,
    dps.errors.InvalidDataError,
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
        (10**400, "<int of 1329 bits>"),
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


def test_words_of_the_caller_are_shown_while_they_are_short() -> None:
    assert [typed(each) for each in ("dask", "x" * 99, [41, 3])] == ["'dask'", "<99 characters>", "<list>"]


@pytest.mark.parametrize("text", ["postgresql://u:SECRET@h/x", "host=h password=SECRET", "u:SECRET@h/x"])
def test_no_address_with_a_password_is_quoted(text: str) -> None:
    """Wherever it was given: as a unit, a column, a table, a kind of noise."""
    visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
    acts: list[Callable[[], object]] = [
        lambda: dps.Dataset("examples/data/adult.csv", unit=text).most_common("age", candidates=[1, 2], epsilon=1),
        lambda: visits.most_common(text, candidates=[1, 2], epsilon=1),
        lambda: dps.Dataset("examples/data/clicks.parquet", unit="session", table=text),
        lambda: dps.Dataset(text, unit="session"),
        lambda: dps.ReportNoisyMax(epsilon=1, sensitivity=1, noise=text),  # type: ignore[arg-type]
    ]
    for act in acts:
        with pytest.raises(InvalidParameterError) as failed:
            act()
        assert "SECRET" not in f"{failed.value} {failed.value!r} {failed.value.args}"


@pytest.mark.parametrize(
    ("given", "known", "meant"),
    [
        ("epsilom", ["delta", "epsilon"], ["epsilon"]),
        ("Max-Rows Per_Unit", ["max_rows_per_unit"], ["max_rows_per_unit"]),
        ("groupby", ["by", "bounds"], ["by"]),
        ("clip", ["bounds", "between"], ["bounds", "between"]),
        ("where", ["between", "values", "epsilon"], ["between", "values"]),
        ("stddev", ["mean", "std"], ["std"]),
        ("avg", ["mean"], ["mean"]),
        ("user", ["unit"], ["unit"]),
        ("value_counts", ["histogram"], ["histogram"]),
        ("avg", ["sum"], []),
        ("page", ["page", 5, None], []),
        (5, ["page"], []),
        ("x" * 10**7, ["x" * 100], []),
        ("x" * 99, ["x" * 10**7], []),
    ],
)
def test_what_an_unknown_word_may_stand_for(given: object, known: list[object], meant: list[str]) -> None:
    assert words_meant(given, known, said=OTHER_WORDS) == meant
    said = did_you_mean(given, known, said=OTHER_WORDS)
    assert said == (f"Did you mean {' or '.join(map(repr, meant))}?" if meant else "")


def test_other_words_are_for_names_that_there_are() -> None:
    """And no name is another word for itself."""
    arguments = {name for each in BY_NAME for name in arguments_of(each)} | {*inspect.signature(dps.Dataset).parameters}
    commands = {word for each in NAMES if each.startswith("ledger ") for word in each.split()}
    assert {*OTHER_WORDS} <= arguments | {*BY_NAME} | commands
    for name, said in OTHER_WORDS.items():
        assert name not in said.split()
        assert len({*said.split()}) == len(said.split())


def test_an_unknown_question_is_answered_with_one_that_there_is() -> None:
    people = dps.Dataset({"who": [1], "age": [9]}, unit="who")
    for table, kind in ((people, "Dataset"), (dps.DryRun(unit="who"), "DryRun")):
        for given, hint in (("stddev", " Did you mean 'std'?"), ("medain", " Did you mean 'median'?"), ("zzz", "")):
            with pytest.raises(AttributeError) as refused:
                getattr(table, given)
            assert str(refused.value) == f"'{kind}' object has no attribute '{given}'{'.' * bool(hint)}{hint}"
            shown = "".join(traceback.format_exception_only(refused.value))
            assert shown.count("Did you mean") == bool(hint)
    assert not hasattr(people, "_eps")
    with pytest.raises(InvalidParameterError, match=r"^questions\[0\]\.eps=<unknown key>: .* Did you mean 'epsilon'\?"):
        people.ask([{"ask": "count", "eps": 1.0}])
    with pytest.raises(InvalidParameterError, match=r"^questions\[0\]\.ask='avg': .* Did you mean 'mean'\?"):
        people.ask([{"ask": "avg"}])
