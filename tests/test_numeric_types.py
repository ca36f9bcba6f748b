"""Every numeric argument of every question, in every type of number: refused in one line, or answered for good.

What is answered can be written down, read back, and asked again under its request for nothing; what is refused is
neither read nor charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Release, SelectionError
from dpselect import verify as check
from dpselect.ledger import sqlite
from tests.slow import SLOW
from tests.views import ask
from tests.watched import around_reading

ROWS = pa.table(
    {
        "person": [1, 2, 3, 4, 5, 6],
        "pet": ["cat", "cat", "cat", "dog", "dog", "emu"],
        "day": pa.array([0, 1, 1, 2, 2, 2], pa.int32()).cast(pa.date32()),
        "age": [30, 40, 50, 60, 70, 80],
        "city": ["Oslo", "Rome"] * 3,
    }
)
PETS = ["cat", "dog", "emu"]
GROUPS: dict[str, Any] = {"by": "city", "groups": ["Oslo", "Rome"]}
FINE: dict[str, Any] = {"bounds": (0, 64), "step": 2}

Query = dict[str, Any]
QUESTIONS: dict[str, tuple[str, Query]] = {
    "most_common": ("pet", {"candidates": PETS}),
    "most_common of numbers": ("age", {"candidates": [30, 40]}),
    "least_common": ("pet", {"candidates": PETS}),
    "best_date": ("day", {"bounds": ("1970-01-01", "1970-01-09"), "step": 2}),
    "top_k": ("pet", {"k": 2, "candidates": PETS}),
    "top_k with delta": ("pet", {"k": 2, "candidates": PETS, "delta": 0.125}),
    "best_by": ("pet", {"sum": "age", "clip": (0, 64), "scale": 2, "candidates": PETS}),
    "quantile": ("age", {"level": 1, "max_rows_per_unit": 2, **FINE}),
    "median": ("age", {"bounds": (0, 64), "max_rows_per_unit": 2}),
    "quantiles": ("age", {"levels": [0, 1], "max_rows_per_unit": 2, **FINE}),
    "quantiles by halving": ("age", {"levels": [0, 1], "bounds": (0, 64), "method": "halving"}),
    "quantile without bounds": ("age", {"level": 1, "lower": 2, "step": 2, "max_rows_per_unit": 2}),
    "median without bounds": ("age", {"lower": 2, "step": 2, "max_rows_per_unit": 2}),
    "upper_bound": ("age", {"lower": 2, "step": 2, "max_rows_per_unit": 2}),
    "best_price": ("age", {"prices": [32, 64], "max_rows_per_unit": 2}),
    "density": ("age", {"bounds": (0, 64), "bins": 4}),
    "mean": ("age", FINE),
}
"""Numbers that every type below holds, so that only the type can be wrong."""

Type = Callable[[Any], Any]
TYPES: dict[str, Type] = {
    "int": int,
    "float": float,
    "Fraction": Fraction,
    "Decimal": Decimal,
    "bool": bool,
    "text": str,
    "complex": complex,
    "array": np.array,
    **{kind.__name__: kind for kind in (np.float16, np.float32, np.float64, np.longdouble, np.bool_)},
    **{kind.__name__: kind for kind in (np.int8, np.int16, np.int32, np.int64)},
    **{kind.__name__: kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64)},
}
NEVER = {"bool", "bool_", "text", "complex"}
"""No numbers, whatever they say."""
ALWAYS = {"int"}
OF_EPSILON = {*TYPES} - NEVER - {"Decimal"}
"""What an epsilon may be."""


def numeric(asked: Query) -> Iterator[str]:
    """The arguments that are numbers, or several."""
    for name, value in asked.items():
        members = value if isinstance(value, (list, tuple)) else [value]
        if all(isinstance(each, (int, float)) for each in members):
            yield name


def types_for(question: str, argument: str, *, by: bool) -> list[str]:
    """All of them; by day a sixth in turn, in groups less, as the same arguments are read by the same code."""
    if SLOW:
        return [*TYPES]
    parts = 18 if by and argument != "max_groups_per_unit" else 6
    turn = [*QUESTIONS].index(question) + [*asked(question, by=by)[1]].index(argument)
    return [name for i, name in enumerate(TYPES) if name in ALWAYS or (i + turn) % parts == 0]


def converted(value: Any, kind: Type) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(kind(each) for each in value)
    return kind(value)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dps.Ledger]:
    """One that does not wait for the disk: nothing crashes here; each case has an account of its own."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_SETTINGS", ("PRAGMA synchronous=OFF",))
        with dps.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db") as ledger:
            yield ledger


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is read of the same table once: what is tested here is what comes before and after it."""
    known = dict[str, Any]()

    def remembered(read: Callable[[], Any], asked: Any, _: Any) -> Any:
        key = repr(asked)
        if key not in known:
            known[key] = read()
        return known[key]

    around_reading(monkeypatch, remembered)


def asked(question: str, *, by: bool) -> tuple[str, Query]:
    column, arguments = QUESTIONS[question]
    groups = {**GROUPS, "max_groups_per_unit": 2} if by else {}
    return column, {"epsilon": 1, **arguments, **groups}


def cases() -> Iterator[Any]:
    for question in QUESTIONS:
        for by in (False, True):
            for argument in numeric(asked(question, by=by)[1]):
                yield pytest.param(question, by, argument, id=f"{question}{' by' * by}: {argument}")


@pytest.mark.sampled(9)
@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(("question", "by", "argument"), [*cases()])
def test_every_type_of_number_is_refused_or_answered_for_good(
    ledger: dps.Ledger, question: str, by: bool, argument: str
) -> None:
    column, arguments = asked(question, by=by)
    account = f"{question}, {by}, {argument}"
    ledger.open_account(account, epsilon=10_000, unit="person")
    data = dps.Dataset(ROWS, unit="person", ledger=ledger, account=account)
    plain = dps.Dataset(ROWS, unit="person")
    answered: set[str] = set()
    entries = ledger.account(account).entries
    for name in types_for(question, argument, by=by):
        changed = arguments | {argument: converted(arguments[argument], TYPES[name])}
        refused: SelectionError | None = None
        try:
            release = answer(data, question, column, changed | {"request": name})
        except SelectionError as error:
            refused = error
        if refused is not None:
            assert isinstance(refused, ValueError)
            assert "\n" not in str(refused)
            assert ledger.account(account).entries == entries
            with pytest.raises(type(refused)):
                answer(plain, question, column, changed)
            continue
        answered.add(name)
        again = answer(data, question, column, changed | {"request": name})
        assert again.to_json() == release.to_json()
        entries += 1
        assert ledger.account(account).entries == entries
        checked = check(release.to_json(), ledger=ledger)
        assert (checked.question, checked.value) == (True, True)
        alone = answer(plain, question, column, changed)
        assert dps.verify(alone.to_json()).release.to_json() == alone.to_json()
        assert type(alone.epsilon) is type(alone.delta) is float
        assert alone.epsilon == 1.0
    assert answered >= ALWAYS
    if argument != "candidates":
        assert not answered & NEVER
    if argument == "epsilon":
        assert answered == OF_EPSILON & {*types_for(question, argument, by=by)}


def answer(data: dps.Dataset, question: str, column: str, arguments: Query) -> Release:
    release: Release = ask(data, question.split(" ")[0], column, **arguments)
    return release
