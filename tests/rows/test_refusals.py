"""Questions that fit no table, on every engine: refused by types and names; nothing is charged, drawn or shown."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import dpselect as dps
from tests.rows import engines
from tests.rows.engines import Source
from tests.watched import forbid_drawing

pytestmark = engines.deprecations

SECRET = "SENTINEL"
ROWS = pa.table(
    {
        "who": [f"{SECRET}-{place}" for place in range(6)],
        "name": [f"{SECRET}-{place % 2}" for place in range(6)],
        "page": pa.array([271828 + place % 3 for place in range(6)], pa.int64()),
        "paid": [31415.5 + place for place in range(6)],
        "day": [date(1912, 6, 23)] * 6,
        "flag": [True, False] * 3,
    }
)
HIDDEN = (SECRET, "27182", "31415", "1912", "datetime.date")

Ask = Callable[[dps.Dataset], Any]

ANYWHERE: dict[str, tuple[Ask, type[Exception], str]] = {
    "no such column": (
        lambda data: data.most_common("pages", candidates=[1], epsilon=1.0),
        dps.errors.InvalidDataError,
        r"^column='pages': expected a column of the data\. (Did you mean 'page'\?|The first line)",
    ),
    "no such column of numbers": (
        lambda data: data.median("Paid", bounds=(0, 9), continuous=True, epsilon=1.0),
        dps.errors.InvalidDataError,
        r"Did you mean 'paid'\?|The first line",
    ),
    "no such column to add up": (
        lambda data: data.best_by("page", sum="pay", clip=(0, 1), candidates=[1], epsilon=1.0),
        dps.errors.InvalidDataError,
        r"^sum='pay'",
    ),
    "no such groups": (
        lambda data: data.by("town", groups=["x"]).most_common("page", candidates=[1], epsilon=1.0),
        dps.errors.InvalidDataError,
        r"^by='town'",
    ),
    "the unit's own": (
        lambda data: data.most_common("who", candidates=["x"], epsilon=1.0),
        dps.errors.InvalidDataError,
        "another column than the unit",
    ),
    "no text": (
        lambda data: data.most_common(3, candidates=[1], epsilon=1.0),  # type: ignore[arg-type]
        dps.errors.InvalidDataError,
        "the name of a column, as text",
    ),
    "a zero too many": (
        lambda data: data.most_common("page", candidates=range(10**9), epsilon=1.0),
        dps.errors.InvalidCandidatesError,
        r"^candidates=<range>: expected at most 100,000,000 candidates\.$",
    ),
    "a zero too many groups": (
        lambda data: data.by("name", groups=range(10**8)).most_common("page", candidates=[1], epsilon=1.0),
        dps.errors.InvalidParameterError,
        r"^groups=<100,000,000 groups>: expected at most [0-9,]+\.$",
    ),
    "text and numbers": (
        lambda data: data.top_k("page", 1, candidates=[1, "1"], epsilon=1.0),
        dps.errors.InvalidCandidatesError,
        "all of one kind",
    ),
}

TYPED: dict[str, tuple[Ask, str]] = {
    "text of whole numbers": (
        lambda data: data.most_common("page", candidates=["271828"], epsilon=1.0),
        r"^candidates=<text>.*Column 'page' holds whole numbers: give whole numbers",
    ),
    "whole numbers of text": (
        lambda data: data.least_common("name", candidates=range(9), epsilon=1.0),
        r"^candidates=<whole numbers>.*Column 'name' holds text: give text",
    ),
    "numbers of whole numbers": (
        lambda data: data.top_k("page", 1, candidates=[271828.0, 1.5], epsilon=1.0),
        "give whole numbers",
    ),
    "text of numbers": (lambda data: data.most_common("paid", candidates=["x"], epsilon=1.0), "numbers"),
    "text of dates": (lambda data: data.most_common("day", candidates=["1912-06-23"], epsilon=1.0), "give dates"),
    "dates of text": (lambda data: data.best_date("name", dates=["2026-12-01"], epsilon=1.0), "This one holds text"),
    "whole numbers of booleans": (
        lambda data: data.most_common("flag", candidates=[0, 1], epsilon=1.0),
        "give booleans",
    ),
    "a median of text": (
        lambda data: data.median("name", bounds=(0, 9), continuous=True, epsilon=1.0),
        "a column of numbers",
    ),
    "a mean of dates": (lambda data: data.mean("day", bounds=(0, 9), step=1, epsilon=1.0), "a column of numbers"),
    "a price of booleans": (lambda data: data.best_price("flag", prices=[1], epsilon=1.0), "column of numbers"),
    "bins of text": (lambda data: data.density("name", bounds=(0, 9), bins=3, epsilon=1.0), "of numbers"),
    "a sum of text": (
        lambda data: data.best_by("page", sum="name", clip=(0, 9), candidates=[1], epsilon=1.0),
        r"^sum='name': expected a column of numbers",
    ),
    "groups of text by whole numbers": (
        lambda data: data.by("page", groups=["x"]).most_common("name", candidates=["x"], epsilon=1.0),
        r"^groups=<text>: expected groups of the column's type",
    ),
}

UNTYPED = ("csv", "csv-glob", "json", "json-glob")
"""Where columns have no type, and the candidates decide how they are read: rows that do not fit count for nobody."""


@pytest.fixture(scope="module")
def source(place: Callable[[pa.Table], Source]) -> Source:
    return place(ROWS)


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1000, unit="who")
    return ledger


@pytest.fixture
def data(source: Source, ledger: dps.Ledger) -> dps.Dataset:
    return source.asked("who", ledger=ledger, account="people")


@pytest.fixture
def nothing_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[[BaseException], None]]:
    """Nothing is drawn meanwhile, and neither logs nor what is printed show a value; nor does an error given to it."""
    caplog.set_level(logging.DEBUG)
    forbid_drawing(monkeypatch)

    def check(error: BaseException) -> None:
        assert error.__cause__ is None
        assert error.__context__ is None
        said = str(error) + repr(error) + repr(error.args)
        assert not any(each in said for each in HIDDEN), said

    yield check
    said = caplog.text + "".join(capfd.readouterr())
    assert not any(each in said for each in HIDDEN), said


@pytest.mark.sampled(5)
def test_what_no_table_can_be_asked(
    data: dps.Dataset, ledger: dps.Ledger, nothing_said: Callable[[BaseException], None]
) -> None:
    for ask, kind, reason in ANYWHERE.values():
        with pytest.raises(kind, match=reason) as caught:
            ask(data)
        nothing_said(caught.value)
    assert ledger.account("people").entries == 1


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", [each for each in engines.ALL if each not in UNTYPED], indirect=True)
def test_what_does_not_fit_a_type_is_refused_and_never_cast(
    data: dps.Dataset, ledger: dps.Ledger, nothing_said: Callable[[BaseException], None]
) -> None:
    for ask, reason in TYPED.values():
        with pytest.raises(dps.errors.InvalidDataError, match=reason) as caught:
            ask(data)
        nothing_said(caught.value)
    assert ledger.account("people").entries == 1


@pytest.mark.parametrize("engine", UNTYPED, indirect=True)
def test_what_has_no_type_is_read_as_it_is_asked(data: dps.Dataset) -> None:
    for ask, _ in TYPED.values():
        assert ask(data).epsilon == 1.0


def test_no_such_unit(source: Source, nothing_said: Callable[[BaseException], None]) -> None:
    for unit, reason in (("whoo", r"^unit='whoo'.*(Did you mean 'who'\?|The first line)"), (3, r"^unit=3")):
        with pytest.raises(dps.errors.InvalidDataError, match=reason) as caught:
            source.asked(unit)  # type: ignore[arg-type]
        nothing_said(caught.value)


@pytest.mark.sampled(5)
def test_nothing_is_shown_of_a_table(source: Source, data: dps.Dataset) -> None:
    release = data.most_common("page", candidates=range(3), epsilon=1.0)
    held = {name: field for name, field in release.to_dict().items() if name != "time"}
    said = repr(data) + repr(release) + repr(held) + repr(source.opened().table)
    # Digits that are nobody's: of the place where the test put the table, of addresses in memory, of hashes.
    for digits in (re.escape(str(Path(str(source.given)).parent)), "0x[0-9a-f]+", "[0-9a-f]{64}"):
        said = re.sub(digits, "", said)
    assert not any(each in said for each in HIDDEN)


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("type_", ["BIGNUM", "BIT", "TIME_NS[]", "STRUCT(x INTEGER)"])
def test_odd_types_of_a_relation_are_refused_whatever_is_in_them_bignum_too(type_: str, rows: int) -> None:
    relation = duckdb.connect().sql(f"SELECT NULL::{type_} AS odd, range AS unit, 1 AS other FROM range({rows})")
    with pytest.raises(dps.errors.InvalidDataError, match=r"a column of identifiers.*Convert it first"):
        dps.Dataset(relation, unit="odd").most_common("unit", candidates=[1, 2], epsilon=1.0)
    data = dps.Dataset(relation, unit="unit")
    assert data.median("other", bounds=(0, 9), step=1, epsilon=1.0).value in range(10)
    with pytest.raises(dps.errors.InvalidDataError, match="Convert it first, for example to numbers or text"):
        data.most_common("odd", candidates=[1, 2], epsilon=1.0)
    with pytest.raises(dps.errors.InvalidDataError, match="a column of numbers"):
        data.median("odd", bounds=(0, 9), step=1, epsilon=1.0)
