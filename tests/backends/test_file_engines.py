"""Files through each engine that can read them: the same rows, of the files that are named and of no others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.backends.opening import ENGINES, open_table
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.summaries import PublicCandidates
from tests.backends.engines import spark

TEXTS = pa.Array.from_buffers(pa.string(), 4, pa.array([b"x", b"\xffSENTINEL", b"y", b"x"]).buffers())


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "spark":
        spark()
    return request.param


def counts(path: Path, engine: str, column: str, candidates: Sequence[Any], unit: str = "unit") -> list[int]:
    table = open_table(path, engine=engine)
    asked = PublicCandidates.given(candidates)
    (found,) = table.count(unit=table.unit(unit), column=table.column(column), candidates=asked)
    return found.counts.tolist()


@pytest.mark.parametrize("options", [{}, {"write_statistics": False, "use_dictionary": False}])
def test_text_that_is_not_utf8_is_left_out(tmp_path: Path, engine: str, options: dict[str, Any]) -> None:
    rows = pa.table({"unit": [1, 2, 3, 4], "value": TEXTS, "number": [1.5, 2.5, 1.5, 1.5]})
    pq.write_table(rows, tmp_path / "t.parquet", **options)
    assert counts(tmp_path / "t.parquet", engine, "value", ["x", "y"]) == [2, 1]
    assert counts(tmp_path / "t.parquet", engine, "number", [1.5, 2.5], unit="value") == [2, 0]
    assert counts(tmp_path / "t.parquet", engine, "number", [1.5, 2.5]) == [3, 1]


def test_a_name_with_meaning_names_itself_only(tmp_path: Path, engine: str) -> None:
    for i, name in enumerate(["v*", "v2", "w[1]", "w1", "{a,b}", "a", "b", "?", "c d%20e", "é"]):
        pq.write_table(pa.table({"unit": range(i + 1), "value": ["x"] * (i + 1)}), tmp_path / f"{name}.parquet")
    for i, name in ((0, "v*"), (2, "w[1]"), (4, "{a,b}"), (7, "?"), (8, "c d%20e"), (9, "é")):
        assert counts(tmp_path / f"{name}.parquet", engine, "value", ["x"]) == [i + 1]
    assert counts(tmp_path / "[vw]?.parquet", engine, "value", ["x"]) == [4]


@pytest.mark.parametrize("name", ["_t", ".t", "t:1", "t\\1", "city=Oslo/t"])
def test_names_that_spark_cannot_reach(tmp_path: Path, engine: str, name: str) -> None:
    path = tmp_path / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"unit": [1], "city": ["Rome"]}), path)
    if engine == "spark" and "=" not in name:
        with pytest.raises(InvalidParameterError, match="engine that can read these files"):
            open_table(path, engine=engine)
    else:
        assert counts(path, engine, "city", ["Rome", "Oslo"]) == [1, 0]


def test_columns_that_nobody_asks_about_do_not_matter(tmp_path: Path, engine: str) -> None:
    frame = pd.DataFrame({"unit": ["a", "b"], "value": ["x", "y"], "none": [None, None], "list": [[1], [2]]})
    frame["time"] = pd.to_datetime(["2026-11-22", "2026-11-23"]).astype("datetime64[ns]")
    frame.to_parquet(tmp_path / "t.parquet")
    assert "[ns]" in str(pq.read_schema(tmp_path / "t.parquet").field("time").type)
    assert counts(tmp_path / "t.parquet", engine, "value", ["x", "y"]) == [1, 1]
    assert counts(tmp_path / "t.parquet", engine, "none", ["x"]) == [0]
    for name in ("time", "list"):
        with pytest.raises(InvalidDataError, match="This one holds"):
            counts(tmp_path / "t.parquet", engine, name, ["x"])


def test_decimals_of_many_digits_that_nobody_asks_about_do_not_matter(tmp_path: Path, engine: str) -> None:
    long = pa.array([Decimal("1.50"), Decimal(10**50)], pa.decimal256(60, 2))
    rows = pa.table({"unit": ["a", "b"], "value": ["x", "y"], "number": [1, 2], "long": long})
    pq.write_table(rows, tmp_path / "t.parquet")
    assert counts(tmp_path / "t.parquet", engine, "value", ["x", "y"]) == [1, 1]
    assert counts(tmp_path / "t.parquet", engine, "number", [1, 2], unit="value") == [1, 1]
    if engine == "duckdb":
        assert counts(tmp_path / "t.parquet", engine, "long", [1.5]) == [1]
    else:
        for asked in ({"column": "long"}, {"column": "number", "unit": "long"}):
            with pytest.raises(InvalidDataError, match="This one holds decimal numbers of a width that this engine"):
                counts(tmp_path / "t.parquet", engine, candidates=[1], **asked)


def test_wide_decimals_of_few_digits_are_read(tmp_path: Path, engine: str) -> None:
    """Beside some of many digits, inside of other values."""
    few = pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal256(30, 2))
    inside = pa.array([[Decimal(10**50)]] * 3, pa.list_(pa.decimal256(60, 2)))
    rows = pa.table({"unit": ["a", "b", "a"], "value": [1, 2, 1], "few": few, "inside": inside})
    pq.write_table(rows, tmp_path / "t.parquet")
    assert counts(tmp_path / "t.parquet", engine, "few", [1.5, 2.0]) == [1, 1]
    assert counts(tmp_path / "t.parquet", engine, "value", [1, 2], unit="few") == [1, 1]
    with pytest.raises(InvalidDataError, match="This one holds nested values"):
        counts(tmp_path / "t.parquet", engine, "inside", [1])


def test_a_damaged_file_is_named(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"unit": range(1000), "value": range(1000)}), path, use_dictionary=False)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 100 + content[104:])  # the header of the first page
    with pytest.raises(
        InvalidDataError, match=r"^source='[^']*t\.parquet': expected a (file|table) that can be read to its end"
    ):
        counts(path, engine, "value", [1, 2])
    assert repr(dps.Dataset(path, unit="unit", engine=engine)).startswith(f"Dataset({str(path)!r}")


TYPES = [
    (pa.int8(), [1, -1]),
    (pa.uint32(), [2**32 - 1, 1]),
    (pa.uint64(), [2**64 - 1, 1]),
    (pa.float32(), [1, 2]),
    (pa.decimal128(5, 2), [Decimal("1.00"), Decimal("1.50")]),
    (pa.bool_(), [True, False]),
]


@pytest.mark.parametrize(("type_", "values"), TYPES, ids=str)
def test_types(tmp_path: Path, engine: str, type_: pa.DataType, values: list[Any]) -> None:
    pq.write_table(pa.table({"unit": [1, 2], "value": pa.array(values, type_)}), tmp_path / "t.parquet")
    candidates: list[Any] = [True, False] if pa.types.is_boolean(type_) else [1, 7]
    assert counts(tmp_path / "t.parquet", engine, "value", candidates) == [1, int(candidates[1] is False)]


@pytest.mark.parametrize("types", [(pa.int32(), pa.int64()), (pa.decimal128(5, 2), pa.decimal128(9, 4))], ids=str)
def test_files_with_narrow_and_wide_numbers_in_spark(tmp_path: Path, types: tuple[pa.DataType, pa.DataType]) -> None:
    spark()
    for name, type_, units in zip("ab", types, ([1, 2], [1, 30000]), strict=True):
        pq.write_table(pa.table({"unit": pa.array(units, type_), "value": ["x"] * 2}), tmp_path / f"{name}.parquet")
    assert counts(tmp_path / "*.parquet", "spark", "value", ["x"]) == [3]


TWO_COMMANDS = """
import sys
from dpselect.cli import main

for candidates in ("7,8", "1..1000001"):  # fetched, and drawn in Spark
    sys.argv = [*sys.argv[:5], "--candidates", candidates, "--epsilon", "99", "--quiet", "--engine", "spark"]
    main()
"""


@pytest.mark.slow  # a Java of its own
def test_commands_with_spark_are_quiet_and_need_no_setting(tmp_path: Path) -> None:
    """In one process, for the sake of its Java."""
    pq.write_table(pa.table({"unit": [1, 2], "value": [7, 7]}), tmp_path / "t.parquet")
    settings = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    settings["PATH"] = os.pathsep.join(  # where the Python that is found first does not know this package
        part for part in settings["PATH"].split(os.pathsep) if part != os.path.dirname(sys.executable)
    )
    question = ["most-common", str(tmp_path / "t.parquet"), "value", "--unit=unit"]
    found = subprocess.run(
        [sys.executable, "-c", TWO_COMMANDS, *question],
        env={**settings, "PYSPARK_SUBMIT_ARGS": "--conf spark.ui.enabled=false pyspark-shell"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "7\n7\n", "")
