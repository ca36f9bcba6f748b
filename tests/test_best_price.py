"""The best price of a table: which rows are offers, at which price each buys, and what is refused before reading."""

from __future__ import annotations

import decimal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.mechanisms import PriceListMechanism
from tests.rows.tables import gather, write_csv, write_parquet
from tests.views import day_of
from tests.watched import forbid_reading

ADULT = Path(__file__).parents[1] / "examples" / "data" / "adult.csv"


@pytest.fixture(scope="module")
def adult() -> dps.Dataset:
    return dps.Dataset(ADULT, unit="person_id")


@pytest.fixture
def drawn_from(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """How many buy at each price, whenever something is drawn; the answer is always the first price."""
    calls: list[list[int]] = []

    def spy(mechanism: PriceListMechanism, offers: Any) -> Any:
        thresholds = [float(price) for price in mechanism.prices]
        multiples = mechanism._multiples
        calls.append([int(each) for each in mechanism._revenues(offers) // multiples])
        assert calls[-1] == [int((np.asarray(offers) >= threshold).sum()) for threshold in thresholds]
        return next(iter(mechanism.prices))

    monkeypatch.setattr(PriceListMechanism, "draw", spy)
    return calls


def ask(path: Path, prices: Any, **options: Any) -> dps.Release:
    return dps.Dataset(path, unit="unit").best_price("value", prices=prices, epsilon=1.0, **options)


def test_what_the_prices_of_the_example_earn() -> None:
    gains = np.array(gather(ADULT, unit="person_id", column="capital_gain"))
    earned = sorted(((int(price * (gains >= price).sum()), price) for price in range(500, 10_001, 500)), reverse=True)
    assert len(gains) == 32_561
    assert earned[:2] == [(9_793_000, 7000), (9_347_000, 6500)]


def test_a_released_price(adult: dps.Dataset) -> None:
    before = datetime.now(UTC)
    # 7000 leads by 446,000, which is 46 scales: another answer has probability below 20 e^-46.
    release = adult.best_price("capital_gain", prices=range(500, 10_001, 500), epsilon=1.0)
    assert release.value == 7000
    assert type(release.value) is int
    assert (release.unit, release.column, release.task) == ("person_id", "capital_gain", "best_price")
    assert release.time in {day_of(before), day_of(datetime.now(UTC))}
    # 159 people have 99,999, where the census cut gains off: as a stake it would earn most of all.
    dear = adult.best_price("capital_gain", prices=[7000, 14_000, 99_999], epsilon=10.0)
    assert dear.value == 99_999


def test_rows_are_read_by_the_rules_of_numbers(tmp_path: Path, drawn_from: list[list[int]]) -> None:
    cells = ["0.1", "0.10", " +1e-1 ", ".3", "0.7", "", "free", "1,5", "$7", "nan", "inf", "-4", "1e999", "0.09999"]
    lines = [f'{unit},"{cell}"'.encode() for unit, cell in enumerate(cells)]
    lines += [b"NA,9", b",9", b"a,9,9"]  # nobody, nobody, and no row
    ask(write_csv(tmp_path / "t.csv", lines), [0.1, 0.3, 0.7, 9])
    assert drawn_from == [[6, 3, 2, 1]]


def test_typed_columns_meet_the_price_that_is_written(tmp_path: Path, drawn_from: list[list[int]]) -> None:
    written = ["0.1", "0.3", "0.7"]
    columns: list[tuple[Any, list[Any]]] = [
        (pa.float64(), [0.1, 0.3, 0.7, float("nan"), None, float("inf")]),
        (pa.decimal128(9, 4), [*map(decimal.Decimal, written), None, decimal.Decimal(-1), decimal.Decimal(8)]),
    ]
    for held, values in columns:
        rows = list(enumerate(values))
        ask(write_parquet(tmp_path / "t.parquet", rows, types=(pa.int64(), held)), [0.7, 0.1, 0.3])
    assert drawn_from == [[2, 4, 3]] * 2
    rows = list(enumerate([1, 2, 3, 3, -7, None]))
    ask(write_parquet(tmp_path / "t.parquet", rows, types=(pa.int64(), pa.int32())), [3, 1, 10])
    assert drawn_from[-1] == [2, 4, 0]


def test_a_unit_has_as_many_offers_as_allowed(tmp_path: Path, drawn_from: list[list[int]]) -> None:
    path = write_csv(tmp_path / "t.csv", [b"busy,5"] * 500 + [f"{i},1".encode() for i in range(9)])
    assert ask(path, [5, 1]).sensitivity == 5.0
    assert ask(path, [5, 1], max_rows_per_unit=3).sensitivity == 15.0
    assert ask(path, [5, 1], max_rows_per_unit=10**9).sensitivity == 5e9
    assert drawn_from == [[1, 10], [3, 12], [500, 509]]


def test_nobody_at_all(tmp_path: Path) -> None:
    empty = write_csv(tmp_path / "t.csv", [])
    assert {ask(empty, [5, 1]).value for _ in range(60)} == {5, 1}  # one is missed with probability 2^-59


def test_a_high_price_few_pay_beats_a_low_one(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [f"{i},{100 if i < 300 else 10}".encode() for i in range(1000)])
    assert ask(path, [10, 100]).value == 100  # 30,000 against 10,000, at a scale of 90


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"prices": None}, dps.errors.InvalidCandidatesError, "prices=None: expected a public list of prices"),
    ({"prices": []}, dps.errors.InvalidCandidatesError, "at least one price"),
    ({"prices": [0, 1]}, dps.errors.InvalidCandidatesError, "finite numbers > 0"),
    ({"prices": [1, float("nan")]}, dps.errors.InvalidCandidatesError, "finite numbers > 0"),
    ({"prices": [1, 1]}, dps.errors.InvalidCandidatesError, "different prices"),
    ({"epsilon": 0.0}, dps.errors.InvalidParameterError, "epsilon=0.0"),
    ({"max_rows_per_unit": 0}, dps.errors.InvalidParameterError, "max_rows_per_unit=0"),
    ({"column": "capital_gains"}, dps.errors.InvalidDataError, "The first line has to hold the names of the columns"),
    ({"column": "person_id"}, dps.errors.InvalidDataError, "another column than the unit"),
    ({"column": 3}, dps.errors.InvalidDataError, "the name of a column"),
]


@pytest.mark.parametrize(("changes", "kind", "reason"), REFUSED)
def test_bad_questions_read_nothing(
    adult: dps.Dataset, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], kind: type[Exception], reason: str
) -> None:
    forbid_reading(monkeypatch)
    with pytest.raises(kind) as caught:
        adult.best_price(**{"column": "capital_gain", "prices": [1, 2], "epsilon": 1.0, **changes})
    assert reason in str(caught.value)


def test_a_column_of_text_is_refused_by_its_type(tmp_path: Path) -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=r"This one holds text\. Convert it to numbers first"):
        ask(write_parquet(tmp_path / "t.parquet", [(1, "a")]), [1])


def test_prices_and_epsilon_have_no_default(adult: dps.Dataset) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError, match="prices"):
        adult.best_price("capital_gain", epsilon=1.0)
    with pytest.raises(TypeError, match="epsilon"):
        adult.best_price("capital_gain", prices=[1])  # type: ignore[call-arg]
