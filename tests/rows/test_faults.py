"""Faults in our own code while rows are read: said to be ours, where they are, and not a word of what they quote.

Were they put down to the engine, people would look for something wrong in their data, and nobody would report them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.cli import main
from dpselect.errors import FaultError, InvalidDataError
from tests.attacks.test_messages import SECRET, everything_said
from tests.rows import engines
from tests.rows.engines import Source
from tests.rows.placed import Stranger

pytestmark = engines.deprecations

ROWS = pa.table({"unit": [f"{SECRET}{row}" for row in range(9)], "value": [row % 3 * 1.0 for row in range(9)]})

BROKEN = {
    "csv": "lines._field",
    "csv-glob": "lines._fields_of_lines",
    "json": "json_lines._easy_cells",
    "json-glob": "json_lines._easy_cells",
    "parquet": "library_files._parquet",
    "parquet-glob": "library_files.plain_batches",
    "delta": "frame._width",
    "iceberg": "frame.first_of",
    "arrow": "frame.first_of",
    "batch": "frame.first_of",
    "stranger": "frame.first_of",
    "eager-polars": "frame._batches",
    "pandas": "frame._batches",
    "arrow-in-pandas": "frame._arrow",
    "polars": "frame._batches",
    "duckdb": "frame._short",
    "ibis": "frame.first_of",
    "postgres": "postgres.check_unchanged",
    "spark": "spark._may_reflect",
}
"""What each engine needs to answer, of our own code."""

EVERYWHERE = {
    "what is handed to the engine": ("duckdb.scan.short_units", "arrow"),
    "what is asked of the engine": ("statements.unit_rule", "arrow"),
    "what came back from the engine": ("statements.np", "arrow"),
    "what is asked of a server": ("statements.unit_rule", "postgres"),
    "a server's answers": ("postgres.array", "postgres"),
    "a server's rows": ("postgres.quoted", "postgres"),
}
"""Other steps, and an engine that takes them."""


def _fails(*given: Any, **named: Any) -> Any:
    raise TypeError(f"{given} {named}")


def _misses(*given: Any, **named: Any) -> Any:
    return given.missing  # type: ignore[attr-defined]


def in_place_of(module: Any, wrong: Callable[..., Any]) -> Any:
    """The function `wrong` as one of `module`."""
    return FunctionType(wrong.__code__, vars(module))


WAYS: dict[str, Callable[[pytest.MonkeyPatch, Any, str], None]] = {
    "TypeError": lambda patch, module, name: patch.setattr(module, name, in_place_of(module, _fails)),
    "AttributeError": lambda patch, module, name: patch.setattr(module, name, in_place_of(module, _misses)),
    "NameError": lambda patch, module, name: patch.delattr(module, name),
}


def breaks(patch: pytest.MonkeyPatch, path: str, way: str) -> None:
    module, _, name = f"dpselect.rows.{path}".rpartition(".")
    WAYS[way](patch, import_module(module), name)


@pytest.fixture
def ledger(tmp_path_factory: pytest.TempPathFactory) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
    ledger.open_account("people", epsilon=9, unit="unit")
    return ledger


def check(source: Source, ledger: dps.Ledger, kind: str, patch: Callable[[], None]) -> None:
    """What is said once something of ours is wrong."""
    asked = source.asked("unit", ledger=ledger, account="people")
    patch()
    with pytest.raises(FaultError) as raised:
        asked.median("value", bounds=(0, 9), continuous=True, epsilon=1.0)
    said = f"this is a bug in dpselect, please report it: {kind} in dpselect\\.rows\\.[a-z_.]+, line [0-9]+"
    assert re.fullmatch(said, str(raised.value))
    assert SECRET not in everything_said(raised.value)
    assert ledger.account("people").entries == 1  # its opening


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", WAYS)
def test_a_fault_in_reading_is_said_to_be_ours(
    engine: str, place: Callable[[pa.Table], Source], way: str, ledger: dps.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(place(ROWS), ledger, way, lambda: breaks(monkeypatch, BROKEN[engine], way))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("step", EVERYWHERE)
def test_a_fault_in_another_step_is_said_to_be_ours(
    step: str, tmp_path: Path, ledger: dps.Ledger, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, engine = EVERYWHERE[step]
    if engine == "postgres":
        source = engines.on_server(request.getfixturevalue("postgres"), ROWS)
    else:
        source = engines.PLACERS[engine](ROWS, tmp_path)
    check(source, ledger, "(Attribute|Type)Error", lambda: breaks(monkeypatch, path, "TypeError"))


@pytest.mark.parametrize("way", WAYS)
def test_a_fault_while_a_table_is_opened_is_said_to_be_ours(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = engines.PLACERS["parquet"](ROWS, tmp_path)
    breaks(monkeypatch, "files._matching_files", way)
    with pytest.raises(FaultError, match=f"{way} in dpselect.rows.files"):
        source.opened()
    breaks(monkeypatch, "frame.check_names", way)
    with pytest.raises(FaultError, match=f"{way} in dpselect.rows.frame"):
        engines.PLACERS["duckdb"](ROWS, tmp_path).opened()


def test_the_command_line_ends_with_the_status_of_the_unforeseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = engines.PLACERS["csv"](ROWS, tmp_path)
    breaks(monkeypatch, "lines._field", "TypeError")
    arguments = [
        "median",
        source.given,
        "value",
        "--unit",
        "unit",
        "--bounds",
        "0",
        "9",
        "--step",
        "1",
        "--epsilon",
        "1",
    ]
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dpselect: this is a bug in dpselect, please report it: TypeError in dpselect.rows.")
    assert SECRET not in err


class Breaking(Stranger):
    """Somebody else's frame, in which something is wrong once it is asked."""

    error: Exception | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self.error is not None:
            raise self.error
        return super().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("error", [TypeError(SECRET), AttributeError(SECRET), pa.ArrowTypeError(SECRET)], ids=repr)
def test_what_others_do_wrong_is_not_said_to_be_ours(error: Exception) -> None:
    def wrong(_: Any) -> Any:
        raise error

    stranger = Breaking(ROWS)
    frame = pl.DataFrame(ROWS).lazy().with_columns(pl.col("value").map_batches(wrong, pl.Float64))
    both = [dps.Dataset(each, unit="unit") for each in (stranger, frame)]
    stranger.error = error
    for asked in both:
        with pytest.raises(InvalidDataError, match="a table that can be read to its end") as raised:
            asked.median("value", bounds=(0, 9), continuous=True, epsilon=1.0)
        assert SECRET not in everything_said(raised.value)


def test_errors_that_engines_derive_from_pythons_own_are_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as Arrow's for a value that it cannot convert, which is about a row."""
    source = engines.Source(ROWS)
    asked = source.asked("unit")

    def convert(*_: Any) -> Any:
        raise pa.ArrowTypeError(SECRET)

    monkeypatch.setattr("dpselect.rows.arrow.plain_batches", convert)
    with pytest.raises(InvalidDataError, match="a table that can be read to its end"):
        asked.median("value", bounds=(0, 9), continuous=True, epsilon=1.0)
