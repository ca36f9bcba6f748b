"""One unit has one name, however a program wrote it: numbers, accents and blanks, in every engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

from dpselect.rows import spark
from tests.rows import engines
from tests.rows.engines import Source
from tests.rows.model import unit_of
from tests.rows.tables import Opened, count, opened

pytestmark = engines.deprecations

FAR = 2**53 + 1
SPELLINGS: list[list[str]] = [
    ["7", "7.0", "7.", " 7.00\t", "\u00a07.0\u202f"],
    ["07", "07.0"],
    ["+7"],
    ["-7", "-7.0"],
    ["0", "-0", "0.0", "-0.0", " -0. "],
    ["00", "00.0"],
    ["-00"],
    ["+0", "+0.0"],
    ["7.5"],
    ["7e0"],
    ["7.0.0"],
    [".0"],
    ["7,0"],
    ["7.0 0"],
    ["7.0\u2028"],
    [str(FAR), f"{FAR}.0"],
    [str(FAR - 1), f"{FAR - 1}."],
    ["1" * 40, "1" * 40 + ".00"],
    ["1" * 39 + "2"],
    ["Zo\u00eb", "Zoe\u0308"],
    ["Zoe"],
    ["zo\u00eb"],
    ["\u00c5", "A\u030a", "\u212b"],
    ["\uac00", "\u1100\u1161"],
    ["q\u0307\u0323", "q\u0323\u0307"],
    ["\ufb01"],
    ["fi"],
    ["a\u200db"],
    ["ab"],
    ["Ann Lee", "Ann\u00a0Lee", "\u2007Ann\u202fLee\u00a0", " Ann\u2007Lee "],
    ["Ann  Lee"],
    ["AnnLee"],
    ["\U0001f600"],
]
"""The ways to write each unit. No two units are the same."""

NOBODY = ["\u00a0", "\u2007 \u202f", "NA\u00a0", "\u202fnull"]


def asked(spellings: list[list[str]]) -> pa.Table:
    """A row for each spelling; the place of its unit is its page."""
    cells = [(cell, place) for place, unit in enumerate(spellings) for cell in unit]
    rows = [*cells, *((cell, 0) for cell in NOBODY)]
    return pa.table({"who": [cell for cell, _ in rows], "page": pa.array([page for _, page in rows], pa.int64())})


def units(table: Opened, pages: int) -> tuple[list[int], int]:
    """How many units have each page, and how many there are."""
    (together,) = table.units(unit="who")
    return count(table, range(pages), unit="who", column="page"), together


def test_a_unit_is_one_however_it_is_written(place: Callable[[pa.Table], Source]) -> None:
    assert units(place(asked(SPELLINGS)).opened(), len(SPELLINGS)) == ([1] * len(SPELLINGS), len(SPELLINGS))


def test_the_model_has_the_same_units() -> None:
    named = [{unit_of(cell) for cell in cells} for cells in SPELLINGS]
    assert [len(names) for names in named] == [1] * len(SPELLINGS)
    assert len(set().union(*named)) == len(SPELLINGS)


def test_numbers_of_json_lines_and_of_objects(tmp_path: Path) -> None:
    """1 and 1.0 are numbers there, and "1" is a text; one person has written all of them, another one 2.0."""
    lines = ['{"who": 1, "page": 0}', '{"who": 1.0, "page": 0}', '{"who": "1", "page": 0}', '{"who": 2.0, "page": 0}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n")
    assert units(opened(tmp_path / "t.jsonl"), 1) == ([2], 2)
    objects = pd.DataFrame({"who": pd.Series([1, 1.0, "1", "1.0", 2.0], dtype=object), "page": [0] * 5})
    assert units(opened(objects), 1) == ([2], 2)
    doubles = pd.DataFrame({"who": [1, 1.0, 2.0, None], "page": [0] * 4})
    assert units(opened(doubles), 1) == ([2], 2)


def test_values_are_compared_as_before(tmp_path: Path) -> None:
    """Only units have several spellings: a candidate is what the list says, letter by letter."""
    values = ["7", "7.0", "Zo\u00eb", "Zoe\u0308", "x\u00a0"]
    rows = [json.dumps({"who": place, "page": value}) for place, value in enumerate(values)]
    (tmp_path / "t.jsonl").write_text("\n".join(rows) + "\n")
    assert count(tmp_path / "t.jsonl", values, unit="who", column="page") == [1] * 5


def test_what_a_server_cannot_normalize_is_compared_as_it_is(postgres: sa.Engine) -> None:
    url = postgres.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE spelled_at_length (who text, page bigint)")
        for cell in ("e\u0301", "\u00e9"):
            connection.execute("INSERT INTO spelled_at_length VALUES (%s, 0), (repeat(%s, 600000), 1)", [cell, cell])
    assert units(opened(url, table="spelled_at_length"), 2) == ([1, 2], 3)


def test_a_spark_that_may_not_call_java_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = engines.spark_frame(asked([["7", "7.0\u00a0"], ["Zo\u00eb"], ["Zoe\u0308"]]))
    monkeypatch.setattr(spark, "_NORMAL_FORM", "TRY_REFLECT('nobody.knows.Normalizer', 'compose', {}, false)")
    assert units(opened(frame), 3) == ([1, 1, 1], 3)
