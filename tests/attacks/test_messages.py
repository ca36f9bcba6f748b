"""Attack: make an error, a log, a warning or a ``repr`` say what stands in the data."""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.cli import main
from dpselect.rows import row_rules
from tests.attacks.reachable import reachable
from tests.rows.tables import write_csv, write_parquet
from tests.slow import SLOW

SECRET = "SENTINEL"
HOSTILE_CELLS = [
    b"SENTINEL",
    b'"SENTINEL',
    b"SENTINEL\xff\xfe",
    b"SENTINEL\0",
    b"SENTINEL,SENTINEL,SENTINEL",
    b"9" * 400 + b"SENTINEL",
    b"1e999999999SENTINEL",
    b"SENTINEL" * 200_000,
    b"\r\rSENTINEL",
    "SENTINEL\u202e\0".encode(),
]


COMMANDS = [
    "most-common --candidates 1..9",
    "quantile 0.5 --bounds 0 9 --step 1",
    "price --prices 1..9",
    "price --bounds 0 9 --step 1",
    "density --bounds 0 9 --bins 3",
]


def everything_said(error: BaseException) -> str:
    """The whole traceback with causes and contexts, and all arguments."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)


def questions(path: Path) -> list[Callable[[], Any]]:
    """Right and wrong ones, through every door."""
    return [
        lambda: dps.Dataset(path, unit="unit").most_common("value", candidates=range(9), epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").most_common("value", candidates=["a", "b"], epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").top_k("value", 2, candidates=[1.5, 2.5], epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").most_common("value", epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").median("value", bounds=(0, 9), continuous=True, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").quantile("value", 0.1, bounds=(0, 9), step=1, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").median("value", bounds=(9, 0), continuous=True, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").median("values", bounds=(0, 9), continuous=True, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").best_price("value", prices=[1, 2.5], epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").best_price("value", prices=[0], epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").best_price("values", prices=[1], epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").best_price("value", epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").density("value", bounds=(0, 9), bins=3, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").density("value", bounds=(0, 9), bins=0, epsilon=1.0),
        lambda: dps.Dataset(path, unit="unit").most_common("values", candidates=[1], epsilon=1.0),
        lambda: dps.Dataset(path, unit="who").most_common("value", candidates=[1], epsilon=1.0),
        lambda: dps.Dataset(path.parent / "*", unit="unit").most_common("value", candidates=[1], epsilon=1.0),
    ]


def assert_silent(
    path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], *, turn: int = 0
) -> None:
    """By day each third question, the next ones in the next turn."""
    caplog.set_level(logging.DEBUG)
    turns = 1 if SLOW else 3
    for ask in questions(path)[turn % turns :: turns]:
        try:
            said = repr(ask())
        except dps.SelectionError as error:
            said = everything_said(error) + reachable(error)
        assert SECRET not in said
    for command in COMMANDS[turn % turns :: turns]:
        name, *options = command.split()
        assert main([name, str(path), "value", *options, "--unit", "unit", "--epsilon", "1"]) in (0, 2)
    assert SECRET not in "".join(capsys.readouterr()) + caplog.text


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("turn", "cell"), [*enumerate(HOSTILE_CELLS)])
def test_csv_rows_are_never_quoted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], turn: int, cell: bytes
) -> None:
    assert_silent(write_csv(tmp_path / "t.csv", [b"1," + cell, cell + b",2", b"3,1"]), caplog, capsys, turn=turn)


def test_a_csv_without_a_header_does_not_show_its_first_person(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = (b"SENTINEL,1", b"SENTINEL,SENTINEL", b"SENTINEL", b'"SENTINEL,1', b"SENTINEL\xff,1", b"SENTINEL\0,1")
    for turn, first in enumerate(headers):
        path = write_csv(tmp_path / "t.csv", [b"2,3"], header=first + b"\n")
        assert_silent(path, caplog, capsys, turn=turn)


def test_parquet_values_are_never_quoted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_silent(write_parquet(tmp_path / "t.parquet", [("SENTINEL", "SENTINEL")]), caplog, capsys)
    assert_silent(not_utf8(tmp_path / "t.parquet"), caplog, capsys)


def not_utf8(path: Path) -> Path:
    """A text column with one value that is not UTF-8, as another program may write it."""
    raw = pa.array([b"ann", b"SENTINEL\xff", b"bob"])
    text = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    pq.write_table(pa.table({"unit": text, "value": text}), path)
    return path


def test_one_bad_text_costs_nobody_else_their_vote(tmp_path: Path) -> None:
    """DuckDB's own Parquet reader fails on this file, and its message quotes the value."""
    import duckdb

    path = not_utf8(tmp_path / "t.parquet")
    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match="SENTINEL"):
        connection.execute(f"SELECT * FROM '{path}'").fetchall()
    release = dps.Dataset(path, unit="unit").top_k("value", 2, candidates=["ann", "bob", "cid"], epsilon=99.0)
    assert set(release.value) == {"ann", "bob"}


def test_file_names_that_only_a_glob_found_are_not_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "a.csv", [b"1,2"])
    (tmp_path / "SENTINEL.csv").write_bytes(b"")
    assert_silent(tmp_path / "*.csv", caplog, capsys)
    (tmp_path / "SENTINEL.csv").write_bytes(b"other,columns\n")
    assert_silent(tmp_path / "*.csv", caplog, capsys)


def test_a_private_column_given_as_candidates_is_not_repeated(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", []), unit="unit")
    for column in (
        ["SENTINEL", "SENTINEL"],
        ["SENTINEL", None],
        ["SENTINEL", 1],
        {"SENTINEL": 3},
        "SENTINEL",
        [["SENTINEL"]],
    ):
        with pytest.raises(dps.errors.InvalidCandidatesError) as caught:
            data.most_common("value", candidates=column, epsilon=1.0)
        assert SECRET not in everything_said(caught.value)


def test_engine_errors_leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_rules, "_read", lambda *_: "error('SENTINEL ' || value)")
    path = write_csv(tmp_path / "t.csv", [b"1,SENTINEL"])
    with pytest.raises(dps.SelectionError) as caught:
        dps.Dataset(path, unit="unit").most_common("value", candidates=[1], epsilon=1.0)
    assert SECRET not in everything_said(caught.value)
    with pytest.raises(dps.SelectionError) as caught:
        dps.Dataset(path, unit="unit").median("value", bounds=(0, 1), continuous=True, epsilon=1.0)
    assert SECRET not in everything_said(caught.value)


def test_a_column_given_as_bounds_is_not_repeated(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", []), unit="unit")
    columns: list[Any] = [
        ["SENTINEL", "SENTINEL"],
        ("SENTINEL", 3),
        {"SENTINEL": 3, 4: 5},
        "SENTINEL",
        ["SENTINEL"] * 3,
    ]
    for column in columns:
        with pytest.raises(dps.errors.InvalidParameterError) as caught:
            data.median("value", bounds=column, continuous=True, epsilon=1.0)
        assert SECRET not in str(caught.value) + repr(caught.value) + repr(caught.value.args)


def test_offers_given_as_prices_are_not_repeated(tmp_path: Path) -> None:
    data = dps.Dataset(write_csv(tmp_path / "t.csv", []), unit="unit")
    columns: list[Any] = ["SENTINEL", ["SENTINEL"], {"SENTINEL": 3}, [1, "SENTINEL"], [["SENTINEL"]]]
    for column in columns:
        with pytest.raises(dps.errors.InvalidCandidatesError) as caught:
            data.best_price("value", prices=column, epsilon=1.0)
        assert SECRET not in everything_said(caught.value)
    for offers in ([31415.5, 31415.5], [31415.5, -1], [31415.5, None], [31415.5, 2.0**-60]):
        with pytest.raises(dps.errors.InvalidCandidatesError) as caught:
            data.best_price("value", prices=offers, epsilon=1.0)
        assert "31415" not in str(caught.value) + repr(caught.value) + repr(caught.value.args)


def test_counts_are_reachable_from_no_release(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, 1) for i in range(4321)])
    release = dps.Dataset(path, unit="unit").most_common("value", candidates=[1, 2], epsilon=1.0)
    assert "4321" not in release.to_json() + repr(release) + str(release) + release._repr_html_()
    assert_not_reachable(4321, release)


@pytest.mark.parametrize("step", [None, 1])
def test_values_are_reachable_from_no_release(tmp_path: Path, step: float | None) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, 31415.5) for i in range(4321)])
    release = dps.Dataset(path, unit="unit").median(
        "value", bounds=(0, 10), step=step, continuous=step is None, epsilon=1.0
    )
    for private in (4321, 4321.0, 31415.5, 31415):
        assert_not_reachable(private, release)


def test_offers_and_revenues_are_reachable_from_no_release(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, 31415.5) for i in range(4321)])
    release = dps.Dataset(path, unit="unit").best_price("value", prices=[2, 31415], epsilon=1.0)
    assert release.value == 31415
    for private in (4321, 4321.0, 31415.5, 2 * 4321, 31415 * 4321, float(31415 * 4321)):
        assert_not_reachable(private, release)


def assert_not_reachable(number: float, release: dps.Release) -> None:
    """That neither `number`, as an object of its own type, nor any array hangs on the release."""
    reachable, waiting = set[int](), list[Any]([release])
    while waiting:
        each = waiting.pop()
        if id(each) in reachable or isinstance(each, type) or callable(each):
            continue
        reachable.add(id(each))
        assert not isinstance(each, np.ndarray)
        assert not (type(each) is type(number) and each == number)
        waiting.extend(gc.get_referents(each))
