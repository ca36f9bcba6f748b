"""Commands in-process: what stands on standard output, what on standard error, and the exit status."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect
from dpselect.cli import main, process
from tests.rows.tables import write_csv, write_parquet

CLICKS = str(Path(__file__).parents[2] / "examples" / "data" / "clicks.parquet")
ADULT = str(Path(CLICKS).with_name("adult.csv"))
AGE = [ADULT, "age", "0.5", "--unit", "person_id", "--epsilon", "1"]
AGES = [*AGE[:2], *AGE[3:]]
GAIN = [ADULT, "capital_gain", "--unit", "person_id", "--epsilon", "1"]
BOUNDS = ["--bounds", "0", "120"]
COMMON = ["--unit", "session", "--candidates", "1..41270", "--epsilon", "4"]

Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    return status, *capsys.readouterr()


def test_most_common_for_people(capsys: Captured) -> None:
    status, out, err = run(capsys, "most-common", CLICKS, "page", *COMMON)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "rank  page",
        "   1  6",
        "",
        "Differentially private: epsilon = 4, when one session is added or removed.",
        "With 99% confidence the count of the released page is within 3 of the best.",
        "How many units (session) had usable rows was not released: --usable-epsilon 0.05 would tell.",
        "Drawn by PermuteAndFlip, out of 41,270 candidates given by the caller. "
        "Nothing was charged to a ledger; the costs of releases on the same data add up.",
    ]


def test_top_k_for_people(capsys: Captured) -> None:
    status, out, err = run(capsys, "top-k", CLICKS, "page", "4", *COMMON)
    assert (status, err) == (0, "")
    assert out.startswith("rank  page\n   1  6\n   2  3\n   3  11\n   4  1\n\n")
    assert "Drawn by ExponentialNoiseTopK, out of" in out


def test_a_quantile_for_people(capsys: Captured) -> None:
    status, out, err = run(capsys, "quantile", *AGE, *BOUNDS, "--step", "1", "--max-rows-per-unit", "2")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "level  age",
        "  0.5  37",
        "",
        "Differentially private: epsilon = 1, when one person_id is added or removed.",
        "With 99% confidence the released age is within 19 ranks of the true median, "
        "values rounded to steps of 1, counting at most 2 rows of each person_id.",
        "How many units (person_id) had usable rows was not released: --usable-epsilon 0.05 would tell.",
        "Drawn by QuantileMechanism, out of the 121 numbers from 0 to 120, from at most 2 rows of each person_id. "
        "Nothing was charged to a ledger; the costs of releases on the same data add up.",
    ]


def test_a_quantile_without_a_grid(capsys: Captured) -> None:
    status, out, err = run(capsys, "quantile", *AGE, "--bounds", "-1e3", "120", "--continuous")
    assert (status, err) == (0, "")
    assert re.match(r"level  age\n  0\.5  37\.[0-9]+\n", out)
    assert "No bound on the error holds for all data; with a step there is one.\n" in out
    assert "out of all numbers from -1000 to 120, from at most 1 row of each person_id." in out


def test_json_of_a_quantile(capsys: Captured) -> None:
    status, out, err = run(capsys, "quantile", *AGE, *BOUNDS, "--step", "0.5", "--json")
    assert (status, err) == (0, "")
    certificate = json.loads(out)
    assert certificate["value"] == 37.0
    assert certificate["candidates"]["count"] == 241
    assert certificate["arguments"] == {"level": 0.5, "max_rows_per_unit": 1}
    _, out, _ = run(capsys, "quantile", *AGE, *BOUNDS, "--continuous", "--json")
    assert json.loads(out)["error_bound"] is None


def test_a_price_for_people(capsys: Captured) -> None:
    status, out, err = run(capsys, "best-price", *GAIN, "--prices", "5000,7000,8000.5")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "capital_gain",
        "7000",
        "",
        "Differentially private: epsilon = 1, when one person_id is added or removed.",
        "With 99% confidence the revenue of the released price is within 32,212.5 of the best, "
        "counting at most 1 row of each person_id.",
        "How many units (person_id) had usable rows was not released: --usable-epsilon 0.05 would tell.",
        "Drawn by PriceListMechanism, out of 3 prices from 5000 to 8000.5, from at most 1 row of each person_id. "
        "Nothing was charged to a ledger; the costs of releases on the same data add up.",
    ]


def test_json_of_a_price(capsys: Captured, tmp_path: Path) -> None:
    names = tmp_path / "prices.txt"
    names.write_text("7000\n500.5\n")
    status, out, err = run(capsys, "best-price", *GAIN, "--prices", f"@{names}", "--max-rows-per-unit", "2", "--json")
    assert (status, err) == (0, "")
    certificate = json.loads(out)
    assert certificate["value"] == 7000
    assert certificate["question"]["ask"] == "best_price"
    assert certificate["candidates"]["lowest"] == 500.5
    assert certificate["error_bound"]["unit"] == "revenue"
    assert certificate["arguments"] == {"max_rows_per_unit": 2}


def test_several_quantiles_for_people(capsys: Captured) -> None:
    levels = ("0.5,0.25" if each == "0.5" else each for each in AGE)
    status, out, err = run(capsys, "quantiles", *levels, *BOUNDS, "--step", "1", "--method", "halving")
    assert (status, err) == (0, "")
    assert out.startswith("level  age\n  0.5  37\n 0.25  28\n\n")
    assert "Drawn by QuantilesMechanism, 2 rounds, out of the 121 numbers from 0 to 120" in out
    status, out, err = run(capsys, "quantiles", *("0.5;x" if each == "0.5" else each for each in AGE), *BOUNDS)
    assert (status, out) == (2, "")
    assert "numbers separated by commas" in err


def test_a_density_for_people(capsys: Captured) -> None:
    narrow = [*AGES[:-1], "1000"]
    status, out, err = run(capsys, "density", *narrow, *BOUNDS, "--bins", "3")
    assert (status, err) == (0, "")
    # The noise of 3 counts at epsilon 1000 is 0.
    assert out.splitlines() == [
        "age        share of the units",
        "0 to 40    0.5628",
        "40 to 80   0.4335",
        "80 to 120  0.0037",
        "",
        "Differentially private: epsilon = 1000, when one person_id is added or removed. "
        "This is hardly any protection.",
        "With 99% confidence the noisy count of each bin is within 0 of the truth, "
        "counting at most 1 row of each person_id.",
        "About 32,561 units (person_id) counted, within 0 with 99% confidence.",
        "Drawn by GeometricMechanism, out of 3 bins from 0 to 120, from at most 1 row of each person_id. "
        "Nothing was charged to a ledger; the costs of releases on the same data add up.",
    ]


def test_json_is_exactly_the_certificate(capsys: Captured) -> None:
    status, out, err = run(capsys, "top-k", CLICKS, "page", "2", *COMMON, "--delta", "1e-9", "--json")
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    certificate = json.loads(out)
    assert certificate["value"] == [6, 3]
    assert certificate["guarantee"] == {"epsilon": 4.0, "delta": 0.0, "neighbours": "add_remove", "unit": "session"}
    assert certificate["receipt"] is None
    assert json.loads(run(capsys, "most-common", CLICKS, "page", *COMMON, "--json")[1])["value"] == 6


def test_a_table_for_a_terminal_is_that_for_a_pipe(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, _ = run(capsys, "top-k", CLICKS, "page", "2", *COMMON)
    assert (status, out.splitlines()[:4]) == (0, ["rank  page", "   1  6", "   2  3", ""])


def ask(path: Path, *more: str, epsilon: str = "9") -> list[str]:
    return ["most-common", str(path), "value", "--unit", "unit", "--epsilon", epsilon, "--json", *more]


def test_candidates_take_the_columns_type(capsys: Captured, tmp_path: Path) -> None:
    def value(*arguments: str) -> Any:
        status, out, err = run(capsys, *arguments)
        assert (status, err) == (0, "")
        return json.loads(out)["value"]

    texts = write_parquet(tmp_path / "t.parquet", [(i, "7") for i in range(50)])
    assert value(*ask(texts, "--candidates", "6,7,8")) == "7"
    assert value(*ask(texts, "--candidates", "6..8", "--candidates-as", "text")) == "7"
    assert main(ask(texts, "--candidates", "6..8")) == 2
    assert (
        "--candidates='6..8': expected candidates of the column's type. The column holds text"
        in capsys.readouterr().err
    )
    halves = write_parquet(tmp_path / "h.parquet", [(i, 1.5) for i in range(50)])
    assert value(*ask(halves, "--candidates", "1.5,2")) == 1.5
    assert value(*ask(halves, "--candidates", "1,2")) in (1, 2)
    assert main(ask(halves, "--candidates", "1.5,x")) == 2
    assert "State their type with --candidates-as" in capsys.readouterr().err
    short = write_parquet(tmp_path / "s.parquet", [(i, 1.5) for i in range(50)], types=(None, pa.float32()))
    assert main(ask(short, "--candidates", "1.5,2")) == 2
    assert "holds 32-bit floating-point numbers: give whole numbers. In it 0.7 is" in capsys.readouterr().err
    lines = write_csv(tmp_path / "t.csv", [f"{i},07".encode() for i in range(50)])
    assert value(*ask(lines, "--candidates", "-1..8")) == 7
    assert value(*ask(lines, "--candidates", "06,07")) == "07"  # codes
    assert value(*ask(lines, "--candidates", "06,07", "--candidates-as", "integer")) == 7
    names = tmp_path / "names.txt"
    names.write_text("6\n\n7\n")
    assert value(*ask(lines, "--candidates", f"@{names}")) == 7


def test_values_that_would_move_the_cursor_are_shown_escaped(capsys: Captured, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(i, "a\x1b[2J") for i in range(50)])
    names = tmp_path / "names.txt"
    names.write_text("a\x1b[2J\nb\n")
    arguments = [each for each in ask(path, "--candidates", f"@{names}") if each != "--json"]
    _, out, _ = run(capsys, *arguments)
    assert "\x1b" not in out
    assert r"a\x1b[2J" in out


@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_names_of_columns_cannot_move_the_cursor(tmp_path: Path, capsys: Captured, options: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"\x1b[31munit","\x07value"\n1,x\n')
    question = ["most-common", str(path), "\x07value", "--unit", "\x1b[31munit", "--candidates", "x,y"]
    status, out, _ = run(capsys, *question, "--epsilon", "1", *options)
    assert status == 0
    assert r"\x1b[31munit" in out
    assert r"\x07value" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_help_and_version(capsys: Captured) -> None:
    assert run(capsys, "--version") == (0, f"{dpselect.__version__}\n", "")
    status, out, err = run(capsys, "--help")
    assert (status, err) == (0, "")
    assert "most-common" in out
    assert "dpselect top-k clicks.parquet page 10" in out
    for command in ("most-common", "top-k"):
        status, out, err = run(capsys, command, "--help-all")
        assert (status, err) == (0, "")
        assert f"dpselect {command} clicks.parquet page" in out
        for option in ("--unit", "--candidates", "--epsilon", "--json"):
            assert option in out


def test_help_of_a_price(capsys: Captured) -> None:
    status, out, err = run(capsys, "best-price", "--help-all")
    assert (status, err) == (0, "")
    assert "dpselect best-price adult.csv capital_gain" in out
    for option in ("--unit", "--prices", "--epsilon", "--max-rows-per-unit", "--json"):
        assert option in out


def test_the_unforeseen_is_one_line_without_its_text(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("SENTINEL row of ann")

    monkeypatch.setattr("dpselect.rows.table.Rows.answers", fail)
    status, out, err = run(capsys, "most-common", CLICKS, "page", *COMMON)
    assert (status, out) == (1, "")
    assert err == "dpselect: unexpected RuntimeError; nothing was shown. Please report it.\n"


@pytest.mark.parametrize("said", [(), ("a row",), (15,)])
def test_an_interrupt_says_that_nothing_was_charged(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, said: tuple[object, ...]
) -> None:
    """Whatever a library says in it."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt(*said)

    monkeypatch.setattr("dpselect.rows.table.Rows.answers", interrupt)
    told = "dpselect: interrupted; nothing was charged.\n"
    assert run(capsys, "most-common", CLICKS, "page", *COMMON) == (130, "", told)


def test_the_bar_waits_for_patience_and_a_terminal(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    with process.scan_progress() as advance:
        assert advance is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with process.scan_progress() as advance:
        assert advance is not None
        advance(0.5)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 0.0)
    with process.scan_progress() as advance:
        assert advance is not None
        advance(0.25)
        advance(1.0)
    out, err = capsys.readouterr()
    assert out == ""
    quarter, whole, gone = err.split("\r")[1:4]
    assert (quarter, whole) == (f"reading {'#' * 10}{'-' * 30}  25%", f"reading {'#' * 40} 100%")
    assert gone == " " * len(whole)


@pytest.mark.parametrize("command", [["most-common", CLICKS, "page"], ["top-k", CLICKS, "page", "3"]])
def test_a_range_with_a_zero_too_many_is_refused(command: list[str], capsys: Captured, tmp_path: Path) -> None:
    ledger = dpselect.Ledger(tmp_path / "budget.db")
    ledger.open_account("clicks", epsilon=9, unit="session")
    asked = [*command, "--unit", "session", "--epsilon", "1"]
    asked += ["--ledger", str(tmp_path / "budget.db"), "--account", "clicks"]
    for dry in (["--dry-run"], []):
        status, out, err = run(capsys, *asked, "--candidates", "1..1000000000", *dry)
        assert (status, out) == (2, "")
        assert err == "dpselect: --candidates=<range>: expected at most 100,000,000 candidates.\n"
    assert ledger.account("clicks").entries == 1
    status, out, err = run(capsys, *asked, "--candidates", "1..100000000", "--dry-run")
    assert (status, err) == (0, "")
    assert "out of 100,000,000 candidates" in out


def test_an_account_is_opened_changed_and_closed(capsys: Captured, tmp_path: Path) -> None:
    ledger = f"sqlite:///{tmp_path}/budget.db"
    for words in (["open", ledger, "a", "--epsilon", "1"], ["limit", ledger, "a", "--epsilon", "2"]):
        assert run(capsys, "ledger", *words)[0] == 0
    status, out, err = run(capsys, "ledger", "close", ledger, "a", "--json")
    assert (status, json.loads(out)["epsilon"], err) == (0, 2.0, "")


def test_a_histogram_is_headed_by_its_column_and_its_units(capsys: Captured) -> None:
    who = ["--unit", "person_id", "--epsilon", "9"]
    asked = [ADULT, "education_num", "--candidates", "9,10", *who]
    heads = run(capsys, "histogram", *asked)[1].splitlines()[0]
    assert heads == "education_num  units (person_id)  99% interval"
    grouped = run(capsys, "histogram", *asked, "--by", "age", "--groups", "30,40")[1].splitlines()[0]
    assert grouped == "age  education_num  units (person_id)  99% interval"
    assert run(capsys, "count", ADULT, *who)[1].splitlines()[0] == "units (person_id)  99% interval"
    html = dpselect.Dataset(ADULT, unit="person_id").histogram("age", candidates=[30, 40], epsilon=9)._repr_html_()
    assert html.startswith("<table><tr><th>age</th><th>units (person_id)</th><th>99% interval</th></tr>")
