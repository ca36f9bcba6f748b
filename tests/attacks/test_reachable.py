"""Attack: read a row from what hangs on an error: the engine's own words, batches that a frame still held."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect import SelectionError
from dpselect.errors import InvalidDataError
from dpselect.rows.columns import TranslatedErrors
from dpselect.session import answering
from tests.attacks.reachable import reachable
from tests.rows import engines
from tests.rows.tables import opened

SECRET = "SENTINEL"
ROWS = pa.table({"unit": ["ann", "SENTINEL", "bob"], "value": ["1", "2", "SENTINEL"]})


class Stream:
    """Breaks off after its first batch."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        def batches() -> Any:
            yield ROWS.to_batches()[0]
            raise ValueError(SECRET)

        return pa.RecordBatchReader.from_batches(ROWS.schema, batches()).__arrow_c_stream__()


def damaged_parquet(folder: Path) -> Path:
    """Many secrets, and after them a page that is none."""
    path, rows = folder / "t.parquet", 300_000
    units = pa.array([f"{SECRET}{i}" for i in range(rows)])
    pq.write_table(pa.table({"unit": units, "value": units}), path, row_group_size=100_000)
    content = bytearray(path.read_bytes())
    page = pq.read_metadata(path).row_group(2).column(1).data_page_offset
    content[page : page + 40] = b"\xff" * 40
    path.write_bytes(content)
    return path


def polars_failing(_: Path) -> Any:
    return pl.DataFrame(ROWS).lazy().with_columns(value=pl.col("value").cast(pl.Int64))


def polars_panicking(_: Path) -> Any:
    def panic(column: pl.Series) -> pl.Series:
        raise pl.exceptions.PanicException(SECRET)

    return pl.DataFrame(ROWS).lazy().with_columns(value=pl.col("value").map_batches(panic, pl.Int64))


def duckdb_failing(_: Path) -> Any:
    connection = duckdb.connect()
    connection.register("given", ROWS)
    connection.execute("CREATE TABLE filled AS SELECT * FROM given")
    return connection.sql("SELECT unit, value::INT AS value FROM filled")


def spark_failing(_: Path) -> Any:
    return engines.spark_frame(ROWS).selectExpr("unit", "CAST(value AS INT) AS value")


def streamed(_: Path) -> Any:
    return Stream()


def asked(source: Any, **options: Any) -> SelectionError:
    """What asking `source` raises, in the way a caller would ask."""
    text = source.__class__ in (Stream, type(Path()))
    people = dps.Dataset(source, unit="unit", **options)
    candidates = ["1", "2"] if text else [1, 2]
    with pytest.raises(SelectionError) as caught:
        people.most_common("value", candidates=candidates, epsilon=1.0)
    return caught.value


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "source", [damaged_parquet, polars_failing, polars_panicking, duckdb_failing, spark_failing, streamed]
)
def test_nothing_hangs_on_an_error(tmp_path: Path, source: Callable[[Path], Any]) -> None:
    error = asked(source(tmp_path))
    assert isinstance(error, InvalidDataError)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert SECRET not in reachable(error)


def test_nothing_hangs_on_an_error_of_a_server(postgres: sa.Engine) -> None:
    url, name = engines.postgres_table(ROWS, postgres)
    with postgres.begin() as connection:
        connection.execute(
            sa.text(f"CREATE OR REPLACE VIEW failing AS SELECT unit, CAST(value AS int) AS value FROM {name}")
        )
    error = asked(url, table="failing")
    assert isinstance(error, InvalidDataError)
    assert error.__context__ is None
    assert SECRET not in reachable(error)
    with pytest.raises(dps.errors.TableUnavailableError) as caught:
        opened("postgresql://SENTINEL:x@127.0.0.1:1/SENTINEL".replace("SENTINEL:", "ann:SENTINEL"), table="t")
    assert caught.value.__context__ is None


def test_ctrl_c_takes_no_rows_along() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        _interrupted(ROWS.to_pylist())
    assert caught.value.__context__ is None
    assert SECRET not in reachable(caught.value)


def _interrupted(rows: object) -> None:
    with TranslatedErrors(lambda error: SelectionError(str(error))):
        try:
            raise ValueError(SECRET)
        except ValueError:
            raise KeyboardInterrupt from None


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_first_line_that_is_a_row_is_not_reached(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("SENTINEL,influenza\nbob,cold\n" if name == "t.csv" else '{"SENTINEL": 1, "influenza": 2}\n')
    for guess in ("sentinel", "SENTINEI", "SENTINEL ", "influensa"):
        with pytest.raises(InvalidDataError) as caught:
            dps.Dataset(path, unit=guess)
        said = reachable(caught.value).replace(guess, "")
        assert SECRET not in said
        assert "influenza" not in said


@pytest.mark.parametrize(
    "first", [b"SENTINEL", b"SENTINEL\xff,1", b"SENTINEL,SENTINEL", b'"SENTINEL,1', b"SENTINEL\r,"]
)
def test_a_first_line_that_is_refused_is_not_reached(tmp_path: Path, first: bytes) -> None:
    for name in ("t.csv", "t.jsonl"):
        (tmp_path / name).write_bytes(first + b"\nbob,cold\n")
        with pytest.raises(InvalidDataError) as caught:
            dps.Dataset(tmp_path / name, unit="unit")  # what is one name may be the only column
        assert SECRET not in reachable(caught.value)


def test_a_dataset_is_not_pickled_with_its_rows() -> None:
    people = dps.Dataset(ROWS, unit="unit")
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="may hold rows"):
            copied(people)


def test_this_attack_finds_what_is_merely_hidden() -> None:
    """Control: a context that is not displayed, and a variable of a frame."""
    assert SECRET in reachable(_hidden())


def _hidden() -> BaseException:
    try:
        try:
            raise ValueError(SECRET)
        except ValueError:
            raise SelectionError("our words") from None
    except SelectionError as error:
        return error


def test_this_attack_finds_variables_of_frames() -> None:
    table = opened(ROWS)
    with pytest.raises(InvalidDataError) as caught:
        table.column(SECRET)
    assert SECRET in reachable(caught.value)


def test_no_repr_of_what_is_about_to_be_released_shows_it() -> None:
    draft: Any = answering._Draft(asked=None, found=[[SECRET]], undrawn=None, certificate="")  # type: ignore[arg-type]
    assert SECRET not in repr(draft)
