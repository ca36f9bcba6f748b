"""What a question would cost, said without touching a table; and answers for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect import Dataset, DryRun
from dpselect.cli import main

Captured = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[2] / "examples" / "data"
ADULT = str(DATA / "adult.csv")
WHO = ["--unit", "person_id", "--epsilon", "0.5"]
AGES = ["--bounds", "0", "120", "--step", "1"]
YEARS = ["--candidates", "1..16"]

COMMANDS: dict[str, list[str]] = {
    "most-common": ["education_num", *YEARS],
    "least-common": ["education_num", *YEARS],
    "top-k": ["education_num", "3", *YEARS],
    "best-by": ["education_num", "capital_gain", *YEARS, "--clip", "0", "10000"],
    "quantile": ["age", "0.9", *AGES],
    "median": ["age", *AGES],
    "quantiles": ["age", "0.25,0.5", *AGES],
    "best-price": ["capital_gain", "--prices", "500,7000"],
    "density": ["age", "--bounds", "0", "120", "--bins", "4"],
    "best-date": ["free_on", "--dates", "2026-12-01,2026-12-08"],
    "mean": ["age", *AGES],
    "variance": ["age", "--bounds", "0", "120"],
}


NO_FILE = "dpselect: there is no such file: computed from the arguments alone, no column is checked.\n"


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    return status, *capsys.readouterr()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_is_needed(command: str, capsys: Captured) -> None:
    status, out, err = run(capsys, command, "nowhere.csv", *COMMANDS[command], *WHO, "--dry-run", "--json")
    assert (status, err) == (0, NO_FILE)
    said = json.loads(out)
    assert said["question"]["ask"] == command.replace("-", "_")
    assert said["guarantee"]["epsilon"] == 0.5


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "best-date"])
def test_a_dry_run_says_what_the_certificate_then_says(command: str, capsys: Captured) -> None:
    arguments = [command, ADULT, *COMMANDS[command], *WHO, "--json"]
    status, out, _ = run(capsys, *arguments)
    certificate = json.loads(out)
    said = json.loads(run(capsys, *arguments, "--dry-run")[1])
    assert status == 0
    for field in ("question", "guarantee", "event", "candidates"):
        assert said[field] == certificate[field], field
    assert said["arguments"] == certificate.get("arguments", {})
    assert said["error_bound"] == certificate["error_bound"]
    assert said["mechanism"] == certificate["mechanism"]


def test_for_people_a_dry_run_is_four_sentences(capsys: Captured) -> None:
    status, out, err = run(capsys, "median", ADULT, "age", *WHO, *AGES, "--dry-run")
    assert (status, err) == (0, "")
    # Without the file it is the same, and said to be less.
    assert run(capsys, "median", "nowhere.csv", "age", *WHO, *AGES, "--dry-run") == (0, out, NO_FILE)
    assert out.splitlines() == [
        "Differentially private: epsilon = 0.5, when one person_id is added or removed.",
        "With 99% confidence the released age is within 19 ranks of the true median, "
        "values rounded to steps of 1, counting at most 1 row of each person_id.",
        "How many units (person_id) had usable rows would not be released: --usable-epsilon 0.05 would tell.",
        "To be drawn by QuantileMechanism, out of the 121 numbers from 0 to 120, from at most 1 row of each person_id. "
        "Nothing would be charged to a ledger; the costs of releases on the same data add up.",
    ]


@pytest.fixture
def typed(tmp_path: Path) -> str:
    """A Parquet file of which nothing but the footer can be read."""
    path = tmp_path / "typed.parquet"
    columns = {"who": range(60), "age": range(60), "city": ["Bern"] * 60, "part": [0.5] * 60}
    pq.write_table(pa.table(columns), path, compression="none")
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:4] + b"\0" * (footer - 4) + content[footer:])
    return str(path)


def test_of_a_file_that_is_there_no_row_is_read(typed: str, capsys: Captured) -> None:
    question = ["median", typed, "age", "--unit", "who", "--epsilon", "1", *AGES]
    status, out, err = run(capsys, *question, "--dry-run")
    assert (status, err) == (0, "")
    assert "out of the 121 numbers from 0 to 120" in out
    status, _, err = run(capsys, *question)  # the control: its rows cannot be read
    assert status == 2, err


CHECKED: list[tuple[list[str], str]] = [
    (["median", "age", "--unit", "whom", *AGES], "--unit='whom': expected a column of the data"),
    (["median", "ages", "--unit", "who", *AGES], "COLUMN='ages': expected a column of the data"),
    (["median", "who", "--unit", "who", *AGES], "expected another column than the unit"),
    (["median", "city", "--unit", "who", *AGES], "COLUMN='city': expected a column of numbers"),
    (["median", "age", "--unit", "who", *AGES, "--by", "town", "--groups", "1..3"], "--by='town'"),
    (["median", "age", "--unit", "who", *AGES, "--by", "city", "--groups", "1..3"], "--groups='1..3'"),
    (["median", "age", "--unit", "who", *AGES, "--by", "part", "--groups", "1.5,x"], "--groups="),
    (["most-common", "city", "--unit", "who", "--candidates", "1..3"], "--candidates='1..3'"),
    (["most-common", "age", "--unit", "who", "--candidates", "a,b"], "--candidates="),
    (["best-by", "age", "parts", "--unit", "who", *YEARS, "--clip", "0", "1"], "SUM='parts': expected a column"),
    (["best-by", "age", "city", "--unit", "who", *YEARS, "--clip", "0", "1"], "SUM='city': expected a column of"),
    (["best-by", "age", "who", "--unit", "who", *YEARS, "--clip", "0", "1"], "SUM='who': expected another column"),
    (["best-date", "age", "--unit", "who", "--dates", "2026-12-01,2026-12-08"], "expected a column of dates"),
    (["median", "part", "--unit", "who", "--bounds", "0", "1"], "--step is missing"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("question", "said"), CHECKED)
def test_columns_are_checked_as_for_an_answer(typed: str, capsys: Captured, question: list[str], said: str) -> None:
    asked = [question[0], typed, *question[1:], "--epsilon", "1"]
    refused = run(capsys, *asked, "--dry-run")
    assert refused == run(capsys, *asked)  # before a row is read
    assert refused[:2] == (2, "")
    assert said in refused[2]


def test_columns_of_a_text_file_are_checked_as_well(capsys: Captured) -> None:
    for question in (["median", ADULT, "ages", *WHO, *AGES], ["median", ADULT, "age", *WHO[2:], "--unit", "x", *AGES]):
        assert run(capsys, *question, "--dry-run") == run(capsys, *question)
        assert run(capsys, *question)[0] == 2


def test_a_step_that_a_type_says_holds_in_a_dry_run(typed: str, capsys: Captured) -> None:
    dry = ["median", typed, "age", "--unit", "who", "--epsilon", "1", "--bounds", "0", "120", "--dry-run"]
    assert run(capsys, *dry) == run(capsys, *dry, "--step", "1")
    assert run(capsys, *dry)[0] == 0
    dry[1] = "nowhere.parquet"
    assert run(capsys, *dry)[:2] == (2, "")  # no type says it


def test_a_server_is_not_asked(capsys: Captured) -> None:
    dry = ["median", "postgresql://ann:secret@db.example.org/shop", "age", "--table", "t", *WHO, *AGES, "--dry-run"]
    status, out, err = run(capsys, *dry)
    assert status == 0
    assert err == "dpselect: no server is asked: computed from the arguments alone, no column is checked.\n"
    assert "secret" not in out


def test_a_file_that_is_not_what_its_name_says_is_refused(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "table.parquet").write_bytes(b"who,age\n1,2\n")
    for name in ("table.parquet", "*.parquet", "."):
        question = ["median", str(tmp_path / name), "age", *WHO, *AGES]
        assert run(capsys, *question, "--dry-run") == run(capsys, *question)
        assert run(capsys, *question)[0] == 2


def test_a_dry_run_in_python_checks_what_it_is_given(typed: str) -> None:
    given: dict[str, Any] = {"bounds": (0, 120), "epsilon": 1.0}
    frame = pa.table({"who": [1, 2], "age": [30, 40]})
    for source in (typed, frame):
        dry = DryRun(unit="who", source=source)
        assert dry.unchecked == ""
        assert dry.median("age", **given).candidates["step"] == 1
        for data in (dry, Dataset(frame, unit="who")):
            with pytest.raises(dps.errors.InvalidDataError, match="holds whole numbers: give whole numbers"):
                data.most_common("age", candidates=["30"], epsilon=1.0)
        with pytest.raises(dps.errors.InvalidDataError, match="ages"):
            dry.median("ages", **given)
        with pytest.raises(dps.errors.InvalidDataError, match="whom"):
            DryRun(unit="whom", source=source)
    assert DryRun(unit="whom").unchecked == "no source is given"
    assert DryRun(unit="whom", source="nowhere.csv").unchecked == "there is no such file"


def test_a_dry_run_asks_the_account_and_charges_nothing(capsys: Captured, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=0.75, unit="person_id")
    where = ["--ledger", f"sqlite:///{tmp_path}/budget.db", "--account", "people"]
    question = ["median", ADULT, "age", *WHO, *AGES, *where]
    assert "would accept it: it has epsilon = 0.75 left" in run(capsys, *question, "--dry-run")[1]
    assert ledger.account("people").entries == 1
    assert run(capsys, *question)[0] == 0
    status, out, _ = run(capsys, *question, "--dry-run")
    assert (status, ledger.account("people").entries) == (2, 2)  # the status of the question itself
    assert "Refused: account 'people' has epsilon=0.25 left of 0.75; this would cost 0.5." in out
    wrong = [*question, "--dry-run", "--neighbours", "replace-one"]
    status, _, err = run(capsys, *wrong)  # an account that protects against something else is an error here, too
    said = "--neighbours='replace-one': expected 'add-remove', which account 'people' protects against."
    assert (status, said in err) == (2, True)


def test_what_was_answered_under_a_request_would_cost_nothing(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=0.5, unit="person_id")
    who: dict[str, Any] = {"unit": "person_id", "ledger": ledger, "account": "people"}
    question: dict[str, Any] = {"bounds": (0, 120), "step": 1, "epsilon": 0.5, "request": "november"}
    dry = DryRun(source=ADULT, **who)
    assert dry.median("age", **question).is_answered is False
    Dataset(ADULT, **who).median("age", **question)
    forecast = dry.median("age", **question)
    assert (forecast.is_answered, forecast.fits) == (True, True)
    assert "would be charged nothing" in str(forecast)
    with pytest.raises(dps.errors.InvalidParameterError, match="source=None"):
        DryRun(**who).median("age", **question)


def test_a_command_knows_its_request_again_before_it_is_asked(capsys: Captured, tmp_path: Path) -> None:
    dps.Ledger(tmp_path / "budget.db").open_account("people", epsilon=0.5, unit="person_id")
    where = ["--ledger", f"sqlite:///{tmp_path}/budget.db", "--account", "people", "--request", "november"]
    question = ["median", ADULT, "age", *WHO, *AGES, *where]
    assert "would accept it" in run(capsys, *question, "--dry-run")[1]
    assert run(capsys, *question)[0] == 0
    assert "would be charged nothing" in run(capsys, *question, "--dry-run")[1]


def test_the_request_of_a_table_on_a_server_is_known_without_the_server(tmp_path: Path) -> None:
    url = "postgresql://ann:secret@db.example.org/shop"
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=0.5, unit="person_id")
    dry = DryRun(source=url, table="visits", unit="person_id", ledger=ledger, account="people")
    forecast = dry.median("age", bounds=(0, 120), step=1, epsilon=0.5, request="november")
    assert (forecast.is_answered, forecast.fits) == (False, True)
    assert "secret" not in str(forecast)


def test_bad_input_of_a_dry_run_is_refused_as_ever(capsys: Captured) -> None:
    status, out, err = run(
        capsys, "median", "x.csv", "age", "--unit", "person_id", "--epsilon", "-1", *AGES, "--dry-run"
    )
    assert (status, out) == (2, "")
    assert "epsilon=-1.0" in err


@pytest.mark.parametrize(
    ("command", "answer"), [("median", "37"), ("top-k", "9\n10\n13"), ("least-common", "1"), ("best-by", "13")]
)
def test_a_quiet_answer_is_the_answer_only(command: str, answer: str, capsys: Captured) -> None:
    arguments = [command, ADULT, *COMMANDS[command], "--unit", "person_id", "--epsilon", "8", "--quiet"]
    assert run(capsys, *arguments) == (0, answer + "\n", "")


def test_a_quiet_answer_by_groups_names_them(capsys: Captured) -> None:
    groups = ["--by", "education_num", "--groups", "9,13"]
    status, out, _ = run(
        capsys, "median", ADULT, "age", "--unit", "person_id", "--epsilon", "8", *AGES, *groups, "--quiet"
    )
    assert (status, out) == (0, "9  37\n13  37\n")


def test_values_of_a_group_stand_each_on_a_line(capsys: Captured, tmp_path: Path) -> None:
    path, table = tmp_path / "t.parquet", {"who": range(60), "city": ["Paris, Texas"] * 40 + ["Bern"] * 20}
    pq.write_table(pa.table({**table, "ok": [True] * 60}), path)
    asked = ["--unit", "who", "--candidates", 'Bern,"Paris, Texas"', "--by", "ok", "--groups", "true"]
    _, out, _ = run(capsys, "top-k", str(path), "city", "2", *asked, "--epsilon", "50", "--quiet")
    assert out == "True  Paris, Texas\nTrue  Bern\n"
