"""Certificates name the table and the declared format, and nothing of where the table is."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Format
from dpselect import verify as check
from dpselect.cli import main
from dpselect.errors import InvalidCertificateError, InvalidParameterError, RequestReusedError
from tests.edited_certificates import canonical_json, digest
from tests.formats.reading import written
from tests.views import ask

DATA = Path(__file__).parents[2] / "examples" / "data"
CLICKS = DATA / "clicks.parquet"
ROWS = [(at, str(at % 5)) for at in range(40)]


def asked(source: Any, unit: str = "unit", column: str = "value", **how: Any) -> dps.Release:
    return dps.Dataset(source, unit=unit, **how).most_common(column, candidates=range(5), epsilon=1.0)


def hash_of(*columns: tuple[str, str]) -> str:
    return sha256(json.dumps(list(map(list, columns)), separators=(",", ":")).encode()).hexdigest()


TEXT_COLUMNS = hash_of(("unit", "anything"), ("value", "anything"))
FRAME_COLUMNS = hash_of(("unit", "integers"), ("value", "integers"))
FRAME = {"unit": [1, 2], "value": [3, 4]}


@pytest.mark.parametrize("given", [str, Path])
def test_the_name_of_a_file_without_its_folder(given: Any, tmp_path: Path) -> None:
    release = asked(given(written(tmp_path / "visits of May.csv", ROWS, Format())))
    assert release.source == {"files": ["visits of May.csv"], "schema": TEXT_COLUMNS}
    assert str(tmp_path) not in release.to_json()


def test_of_a_glob_the_pattern_and_no_name_that_only_it_found(tmp_path: Path) -> None:
    for name in ("ann.csv", "bob.csv"):
        written(tmp_path / name, ROWS, Format())
    release = asked(str(tmp_path / "*.csv"))
    assert release.source == {"files": ["*.csv"], "schema": TEXT_COLUMNS}
    assert "ann" not in release.to_json()


def test_the_keys_of_the_first_person_s_line_are_not_hashed(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"unit": 1, "value": 2, "secret": 3}\n')
    assert asked(tmp_path / "t.jsonl").source == {"files": ["t.jsonl"]}


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pd.DataFrame(FRAME), "pandas DataFrame"),
        (pl.DataFrame(FRAME), "polars DataFrame"),
        (pl.DataFrame(FRAME).lazy(), "polars LazyFrame"),
        (pa.table(FRAME), "pyarrow Table"),
    ],
)
def test_the_kind_of_a_frame(frame: Any, kind: str) -> None:
    assert asked(frame).source == {"frame": kind, "schema": FRAME_COLUMNS}


def test_the_hash_tells_other_columns_and_types_apart() -> None:
    others = [{"unit": [1], "value": [3.0]}, {"unit": [1], "value": [3], "more": [1]}, {"value": [3], "unit": [1]}]
    hashes = {(asked(pl.DataFrame(each)).source or {})["schema"] for each in (FRAME, *others)}
    assert len(hashes) == 4


def test_what_was_opened_is_the_same_whatever_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for frame, rows in ((FRAME, ROWS), ({"unit": [9, 9, 9], "value": [0, 0, 0]}, [("x", "secret")])):
        files, frames = asked(written(path, rows, Format())), asked(pl.DataFrame(frame))
        assert files.source == {"files": ["t.csv"], "schema": TEXT_COLUMNS}
        assert frames.source == {"frame": "polars DataFrame", "schema": FRAME_COLUMNS}


def test_the_name_that_the_caller_gives() -> None:
    release = asked(pl.DataFrame(FRAME), source_name="May, second try")
    assert release.source == {"frame": "polars DataFrame", "schema": FRAME_COLUMNS, "name": "May, second try"}
    for name in ("", "a\nb", "x" * 201, 7, "postgresql://ann:secret@db/shop"):
        with pytest.raises(InvalidParameterError, match="source_name"):
            asked(pl.DataFrame(FRAME), source_name=name)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names of files")
def test_a_name_that_utf_8_cannot_hold(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"v\xff.csv")
    with open(path, "wb") as file:
        file.write(b"unit,value\n1,2\n")
    assert asked(os.fsdecode(path)).source == {"files": ["v?.csv"], "schema": TEXT_COLUMNS}


def test_the_declared_words_and_no_others(tmp_path: Path) -> None:
    format = Format(delimiter="tab", strip="$")
    path = written(tmp_path / "t.csv", ROWS, format)
    assert asked(path, format=format).to_dict()["format"] == {"delimiter": "\t", "strip": "$"}
    path = written(tmp_path / "t.csv", ROWS, Format())
    assert "format" not in asked(path, format=Format()).to_dict()
    assert "format" not in asked(path).to_dict()


def test_such_certificates_pass_and_their_edits_do_not(tmp_path: Path) -> None:
    format = Format(delimiter=";", thousands=".", decimal=",", trim=True)
    path = written(tmp_path / "t.csv", ROWS, format)
    text = asked(path, format=format, source_name="May").to_json()
    assert check(text).release.to_json() == text
    held = json.loads(text)
    edits: list[tuple[str, Any]] = [
        ("format", {"delimiter": ";", "decimal": ","}),
        ("format", {}),
        ("format", {"decimal": ".", "trim": True}),
        ("format", {"quoted": True}),
        ("format", None),
        ("source", {"files": ["data/t.csv"]}),
        ("source", {"files": []}),
        ("source", {"files": ["t.csv"], "table": "t"}),
        ("source", {"name": "May"}),
        ("source", {"files": ["t.csv"], "schema": "short"}),
        ("source", None),
    ]
    for field, other in edits:
        edited = {**held, field: other}
        assert edited != held
        if field == "format" and other == edits[0][1]:  # a format like any other: only the digest shows it
            edited["digest"] = held["digest"]
        else:
            edited["digest"] = digest(edited)
        with pytest.raises(InvalidCertificateError):
            check(canonical_json(edited))


def test_a_ledger_tells_formats_apart_and_holds_what_was_asked(tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.open_account("people", epsilon=100.0)
    path = written(tmp_path / "t.csv", ROWS, Format())
    paying: dict[str, Any] = {"unit": "unit", "ledger": ledger, "account": "people"}
    question: dict[str, Any] = {"candidates": range(5), "epsilon": 1.0, "request": "first"}
    release = dps.Dataset(path, format=Format(strip="$"), **paying).most_common("value", **question)
    again = dps.Dataset(path, format=Format(strip="$"), source_name="other", **paying).most_common("value", **question)
    assert again.to_json() == release.to_json()
    for format in (None, Format(strip="%"), Format(trim=True)):
        with pytest.raises(RequestReusedError):
            dps.Dataset(path, format=format, **paying).most_common("value", **question)
    assert ledger.remaining("people") == 99.0
    checked = check(release.to_json(), ledger=ledger)
    assert checked.charged
    assert checked.question
    assert checked.value
    del question["request"]  # whose stored answer would be compared first
    bound = dps.Dataset(path, format=Format(strip="$"), **paying).most_common("value", **question)
    assert check(bound.to_json(), ledger=ledger).question
    for field in ("format", "source"):
        held = {name: value for name, value in json.loads(bound.to_json()).items() if name != field}
        with pytest.raises(InvalidCertificateError, match="question"):
            check(canonical_json(held | {"digest": digest(held)}), ledger=ledger)


def test_a_dry_run_knows_the_format(tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.open_account("people", epsilon=100.0)
    path = written(tmp_path / "t.csv", ROWS, Format())
    paying: dict[str, Any] = {"unit": "unit", "ledger": ledger, "account": "people"}
    question: dict[str, Any] = {"candidates": range(5), "epsilon": 1.0, "request": "first"}
    dps.Dataset(path, format=Format(strip="$"), **paying).most_common("value", **question)
    dry = dps.DryRun(source=path, format=Format(strip="$"), **paying).most_common("value", **question)
    assert dry.is_answered
    with pytest.raises(RequestReusedError):
        dps.DryRun(source=path, **paying).most_common("value", **question)
    with pytest.raises(dps.errors.InvalidCandidatesError, match="the same after ignore_case"):
        dps.DryRun(unit="unit", format=Format(ignore_case=True)).most_common("v", candidates=["a", "A"], epsilon=1.0)


@pytest.mark.parametrize("argument", ["candidates", "groups"])
def test_what_becomes_the_same_is_refused_before_anything_is_charged(argument: str, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/ledger.db")
    ledger.open_account("people", epsilon=1.0)
    path = written(tmp_path / "t.csv", [(1, "a")], Format())
    data = dps.Dataset(path, unit="unit", ledger=ledger, account="people", format=Format(ignore_case=True))
    groups = {"by": "value", "groups": ["a", "A"] if argument == "groups" else ["a"]}
    with pytest.raises(dps.errors.InvalidCandidatesError) as refused:
        ask(
            data,
            "most_common",
            "value",
            candidates=["A", "a"] if argument == "candidates" else ["a"],
            epsilon=1.0,
            **groups,
        )
    assert refused.value.name == argument
    assert ledger.remaining("people") == 1.0


def test_verify_says_what_was_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    format = Format(delimiter=";", decimal=",")
    path = written(tmp_path / "t.csv", ROWS, format)
    release = asked(path, format=format, source_name="May")
    (tmp_path / "release.json").write_text(release.to_json())
    assert main(["verify", str(tmp_path / "release.json")]) == 0
    said = capsys.readouterr().out
    assert f"Asked of May (t.csv). Hash of its columns' names and types: {TEXT_COLUMNS}." in said
    assert "Declared format: decimal = ',', delimiter = ';'." in said
