"""``dpselect check``: to the terminal of the holder, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect.cli import main

PIPE = "dpselect: the output is not a terminal. It holds exact numbers and cells of the table: keep it to yourself.\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "sales.csv"
    rows = [f'{number % 40},"{1000 + number:,}",oslo' for number in range(98)] + ["41,900,Oslo", "42,950,Oslo"]
    path.write_text("customer,paid,city\n" + "\n".join(rows) + "\n")
    return str(path)


def test_it_says_what_would_be_read(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", table, "paid", "--unit", "customer", "--bounds", "0", "2000", "--step", "1"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert err == PIPE
    head, blank, *rest = out.splitlines()
    assert head.startswith("For the holder of the data only")
    assert [blank, *rest] == [
        "",
        "paid, for numbers: 2 of 100 rows count.",
        "customer: 2 of 42 units take part.",
        "",
        "- Only 2 units will take part: the answer may be mostly noise.",
        "- 98 of 100 rows (98.0%): no number as it is written here, such as '1,000' (line 2), '1,001' (line 3),"
        " '1,002' (line 4).",
        "- Try --thousands ',': with it 98 more rows can count, and the others are read as before. Or --decimal ',':"
        " the cells fit each.",
    ]


def test_candidates_and_groups_are_looked_for(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", table, "city", "--unit", "customer", "--candidates", "Oslo,Rome"]) == 0
    assert (
        "- Try --ignore-case: with it 98 more rows can count, and the others are read as before."
        in capsys.readouterr().out
    )
    assert (
        main(["check", table, "city", "--unit", "customer", "--candidates", "Oslo,oslo", "--where", "city=Oslo"]) == 0
    )
    assert "city, for 2 values: 2 of 2 rows count." in capsys.readouterr().out
    assert main(["check", table, "paid", "--unit", "customer", "--by", "city", "--groups", "Oslo,Rome"]) == 0
    assert "city: 98 of 100 rows (98.0%): a value that is not listed" in capsys.readouterr().out


def test_a_terminal_needs_no_warning(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["check", table, "paid", "--unit", "customer", "--quiet"]
    assert main(asked) == 0
    assert capsys.readouterr().err.startswith(PIPE)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(asked) == 0
    assert PIPE not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["check", "nowhere.csv", "paid", "--unit", "customer"], "an existing file"),
        (["check", "TABLE", "price", "--unit", "customer"], "a column of the data"),
        (["check", "TABLE", "paid"], "--unit"),
        (["check", "TABLE", "paid", "--unit", "customer", "--bounds", "5", "1"], "--bounds"),
        (["check", "TABLE", "paid", "--unit", "customer", "--by", "city"], "--groups"),
    ],
)
def test_bad_input_is_one_line(asked: list[str], said: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([table if each == "TABLE" else each for each in asked]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_options_of_counts_and_sums_are_understood(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", table, "city", "--unit", "customer", "--candidates", "oslo"]
    assert main(asked) == 0
    assert "city, for 1 value: 98 of 100 rows count." in capsys.readouterr().out
    asked = ["check", table, "paid", "--unit", "customer", "--thousands", ","]
    assert main([*asked, "--between", "1000", "1000"]) == 0
    assert "paid, for numbers: 1 of 100 rows count." in capsys.readouterr().out
    assert main([*asked, "--clip", "0", "1000"]) == 0
    assert "are above the upper end of the clip" in capsys.readouterr().out


def test_options_that_change_no_row_are_answered_in_a_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", table, "paid", "--unit", "customer", "--bounds", "0", "2000", "--step", "1"]
    assert main(asked) == 0
    without = capsys.readouterr().out
    assert main([*asked, "--epsilon", "0.5", "--ledger", "sqlite:///l.db", "--account", "a", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out == without
    said = "dpselect: check draws and charges nothing: --epsilon, --ledger, --account, --quiet made no difference.\n"
    assert err == PIPE + said


@pytest.mark.parametrize("command", ["check", "median"])
def test_bounds_may_be_dates(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("who,born\n" + "".join(f"{who},2000-01-{1 + who % 9:02}\n" for who in range(90)))
    asked = [command, str(path), "born", "--unit", "who", "--bounds", "2000-01-01", "2000-02-01"]
    assert main([*asked, *([] if command == "check" else ["--epsilon", "30"])]) == 0
    assert {"check": "90 of 90 rows count", "median": "2000-01-05"}[command] in capsys.readouterr().out
