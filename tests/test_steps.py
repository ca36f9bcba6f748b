"""Repeated values: no answer is drawn among all numbers between the bounds unless the caller asked for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.cli import main

ZEROS = {"who": list(range(1000)), "gain": [0] * 920 + list(range(100, 8100, 100))}
QUESTIONS: dict[str, Any] = {
    "median": lambda data, **given: data.median("gain", **given),
    "quantile": lambda data, **given: data.quantile("gain", 0.75, **given),
    "quantiles": lambda data, **given: data.quantiles("gain", [0.25, 0.5, 0.75], **given),
}


@pytest.fixture
def untyped(tmp_path: Path) -> dps.Dataset:
    pd.DataFrame(ZEROS).to_csv(tmp_path / "zeros.csv", index=False)
    return dps.Dataset(tmp_path / "zeros.csv", unit="who")


def typed(kind: Any, **options: Any) -> dps.Dataset:
    return dps.Dataset(pa.table({**ZEROS, "gain": pa.array(ZEROS["gain"], kind)}), unit="who", **options)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", ["csv", pa.float64(), pa.decimal128(9, 2)], ids=str)
def test_a_step_is_needed_where_no_type_says_it(name: str, kind: Any, untyped: dps.Dataset) -> None:
    data = untyped if kind == "csv" else typed(kind)
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None: expected .* or continuous=True") as caught:
        QUESTIONS[name](data, bounds=(0, 100_000), epsilon=1.0)
    assert "920" not in str(caught.value)


def test_nothing_is_charged_without_a_step(tmp_path: Path) -> None:
    with dps.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("gains", epsilon=1)
        data = typed(pa.float64(), ledger=ledger, account="gains")
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None"):
            data.median("gain", bounds=(0, 100_000), epsilon=1.0)
        assert ledger.account("gains").entries == 1


@pytest.mark.parametrize("name", ["median", "quantile"])
def test_of_zeros_the_answer_is_zero(name: str, untyped: dps.Dataset) -> None:
    """Among all numbers between the bounds it would be any number below the highest: the control."""
    for data in (untyped, typed(pa.float64())):
        assert QUESTIONS[name](data, bounds=(0, 100_000), step=1, epsilon=1.0).value == 0
        assert QUESTIONS[name](data, bounds=(0, 100_000), continuous=True, epsilon=1.0).value > 0


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
def test_an_integer_type_says_that_the_step_is_1(name: str, kind: pa.DataType) -> None:
    table = {**ZEROS, "gain": pa.array([0] * 920 + list(range(40, 120)), kind)}
    data = dps.Dataset(pa.table(table), unit="who")
    release = QUESTIONS[name](data, bounds=(0, 120), epsilon=5.0)
    assert all(float(value).is_integer() for value in ([*release.value] if name == "quantiles" else [release.value]))
    same = QUESTIONS[name](data, bounds=(0, 120), step=1, epsilon=5.0)
    assert (release.candidates, release.error_bound) == (same.candidates, same.error_bound)
    continuous = QUESTIONS[name](data, bounds=(0, 120), continuous=True, epsilon=5.0)
    assert continuous.candidates == {"source": "bounds", "lower": 0.0, "upper": 120.0}
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None"):
        QUESTIONS[name](data, bounds=(0.5, 120), epsilon=5.0)


def test_whole_numbers_of_any_width_have_a_step_of_1(tmp_path: Path) -> None:
    wide = pa.table({**ZEROS, "gain": pa.array(ZEROS["gain"], pa.int64()).cast(pa.decimal128(38, 0))})
    pq.write_table(wide, tmp_path / "wide.parquet")
    with duckdb.connect() as connection:
        connection.register("zeros", pa.table(ZEROS))
        relation = connection.sql("SELECT who, gain::HUGEINT AS gain FROM zeros")
        frame = pl.DataFrame(ZEROS).with_columns(pl.col("gain").cast(pl.Decimal(38, 0)))
        lazy = frame.lazy()
        for source in (wide, tmp_path / "wide.parquet", relation, frame, lazy):
            assert dps.Dataset(source, unit="who").median("gain", bounds=(0, 100_000), epsilon=1.0).value == 0
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None"):
        dps.Dataset(frame, unit="who").median("gain", bounds=(0, 2**54), epsilon=1.0)


def test_all_kinds_of_tables_say_their_types(tmp_path: Path) -> None:
    pq.write_table(pa.table(ZEROS), tmp_path / "zeros.parquet")
    (tmp_path / "zeros.jsonl").write_text("".join(json.dumps({"who": who, "gain": 0}) + "\n" for who in range(1000)))
    for source in (tmp_path / "zeros.parquet", pd.DataFrame(ZEROS), pl.DataFrame(ZEROS), pl.LazyFrame(ZEROS)):
        assert dps.Dataset(source, unit="who").median("gain", bounds=(0, 100_000), epsilon=1.0).value == 0
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^step=None"):
        dps.Dataset(tmp_path / "zeros.jsonl", unit="who").median("gain", bounds=(0, 100_000), epsilon=1.0)


def test_contradictions_are_refused(untyped: dps.Dataset) -> None:
    for ask in QUESTIONS.values():
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^continuous=True: .* because a step is given"):
            ask(untyped, bounds=(0, 10), step=1, continuous=True, epsilon=1.0)
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^continuous=<str>: expected True or False"):
            ask(untyped, bounds=(0, 10), continuous="yes", epsilon=1.0)
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^bounds="):
            ask(untyped, bounds=(10, 0), epsilon=1.0)


def test_the_command_line_says_so_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame(ZEROS).to_csv(tmp_path / "zeros.csv", index=False)
    pq.write_table(pa.table(ZEROS), tmp_path / "zeros.parquet")
    asked = ["gain", "--unit", "who", "--bounds", "0", "100000", "--epsilon", "1", "--quiet"]
    assert main(["median", str(tmp_path / "zeros.csv"), *asked]) == 2
    assert "--step is missing" in capsys.readouterr().err
    assert main(["median", str(tmp_path / "zeros.parquet"), *asked]) == 0
    assert capsys.readouterr().out == "0\n"
    assert main(["median", str(tmp_path / "zeros.csv"), *asked, "--continuous"]) == 0
    assert float(capsys.readouterr().out) > 0
