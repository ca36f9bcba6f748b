"""Errors on the command line speak of options, and of what was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpselect as dps
from dpselect.accounting import PureEvent
from dpselect.checks import OTHER_WORDS
from dpselect.cli import main
from dpselect.cli.commands import command, in_words, without_passwords
from dpselect.errors import InvalidParameterError
from dpselect.questions.question import BY_NAME
from tests.cli.test_commands import ADULT, AGES, BOUNDS, CLICKS, COMMON, run

Captured = pytest.CaptureFixture[str]
STEP = [*BOUNDS, "--step", "1"]
SUMS = ["best-by", ADULT, "education_num", "capital_gain", "--unit", "person_id", "--candidates", "1..16"]
SAID: list[tuple[list[str], str]] = [
    (
        ["most-common", CLICKS, "page", *COMMON[:2], "--candidates", "1..1000000000", "--epsilon", "1"],
        "--candidates=<range>: expected at most 100,000,000 candidates.\n",
    ),
    (["median", *AGES, *BOUNDS, "--step", "7"], "one third, for example, is the fraction 1/3."),
    (["median", *AGES, *BOUNDS, "--step", "a/b"], "--step='a/b': expected a number such as 5, 0.25 or 1/3."),
    (["median", *AGES, *BOUNDS, "--step", "1/0"], "--step='1/0': expected a number"),
    (["median", *AGES, "--bounds", "0", "1e-999999999"], "--bounds='1e-999999999': expected two numbers"),
    (
        ["median", *AGES, *BOUNDS, "--step", "1", "--continuous"],
        "--continuous: expected nothing, because a --step is given.",
    ),
    (
        [*SUMS, "--clip", "300", "--epsilon", "1"],
        "--clip takes two numbers such as 0 120, not one. Smallest and largest amount that",
    ),
    ([*SUMS, "--clip=300", "--epsilon", "1"], "--clip takes two numbers such as 0 120, not one."),
    (
        ["median", *AGES[:2], "--bounds", "0", *AGES[2:]],
        "--bounds takes two numbers such as 0 120, not one. Smallest and",
    ),
    (["median", *AGES, "--bounds"], "Without them, --lower is the smallest"),
    (
        ["count", *AGES[:2], "--between", "65", *AGES[2:]],
        "--between takes two numbers such as 0 120, not one. Count units with a",
    ),
    (["count", *AGES, "--between"], "--between takes two numbers such as 0 120, not none."),
    (
        ["check", *AGES[:2], "--between", "65", *AGES[2:]],
        "--between takes two numbers such as 0 120, not one. Count units",
    ),
    (
        ["best-date", *AGES, "--bounds", "2026-12-01"],
        "--bounds takes two dates such as 2026-12-01 2026-12-31, not one. First and last date",
    ),
    (["median", *AGES, *STEP, "--by", "education_num"], "such as --groups 1..100;"),
    (
        ["median", *AGES, *STEP, "--by", "education_num", "--groups", "1..9", "--neighbours", "replace-one"],
        "--by='education_num': expected --neighbours add-remove with groups.",
    ),
    (["median", *AGES, *STEP, "--max-groups-per-unit", "3"], "--by is missing: expected the name of the column"),
    (["median", *AGES, *STEP, "--account", "people"], "--ledger is missing: expected a ledger together with"),
    (["median", *AGES, *STEP, "--memory-limit", "lots"], "--memory-limit='lots': expected text such as"),
    (
        ["median", "postgresql:///", *AGES[1:], *STEP, "--table", "t", "--memory-limit", "1GiB"],
        "--memory-limit=<1073741824 bytes>: expected nothing",
    ),
    (
        ["median", *AGES, *STEP, "--table", "people"],
        "--table='people': expected nothing, because the source is a table",
    ),
    (["quantiles", AGES[0], "age", "a;b", *AGES[2:], *STEP], "LEVELS='a;b': expected numbers separated by commas"),
    (
        ["median", *AGES[:2], "--epsilon", "1", *STEP],
        "--unit is required. Column that identifies whom a row belongs to",
    ),
    (["median", *AGES, *BOUNDS, "--steps", "1"], "Unknown option: --steps. Did you mean --step?"),
    (["median", *AGES[:2], "--unit", "person_id", "-e", "1", *BOUNDS], "Unknown option: -e. See --help."),
    (
        ["median", *AGES[:2], "--uni", "person_id", "--epsilon", "1", *BOUNDS],
        "Unknown option: --uni. Did you mean --unit?",
    ),
    (["median", *AGES[:2], "--unit", "person_id", "--eps", "1", *STEP], "--eps. Did you mean --epsilon?"),
    (["median", *AGES, *STEP, "--eps", "1"], "Unknown option: --eps. Did you mean --epsilon?"),
    (["median", *AGES, *STEP, "--max", "1"], "Did you mean --max-rows-per-unit or --max-groups-per-unit?"),
    ([*SUMS, "--clip", "0", "9", "--sum", "age"], "Unknown option: --sum. See --help."),
    ([*SUMS, "--clip", "0", "9", "--epsilon", "1", "--sum", "age"], "Unknown option: --sum. See --help."),
    (["median", *AGES[:2], "more", *AGES[2:], *BOUNDS], "Not understood: 'more'. Put file patterns"),
    (["quantile", *AGES[:2], "50%", *AGES[2:], *BOUNDS], "LEVEL='50%': expected a decimal number such as 0.5."),
    (["top-k", CLICKS, "page", "two", *COMMON], "K='two': expected a whole number."),
    (["top-k", CLICKS, "page", "--k", "3", *COMMON], "Unknown option: --k."),
    (
        ["median", *AGES, *STEP, "--by", "educatoin", "--groups", "1..3"],
        "--by='educatoin': expected a column of the data.",
    ),
    (["median", *AGES, *STEP, "--groups-as", "text"], "--groups-as='text': expected --groups together with it."),
    (
        ["median", *AGES, *STEP, "--by", "education_num", "--groups", "0.5,1"],
        "--groups-as text to compare them as text, or number",
    ),
    (["values", *AGES, "--delta", "0"], "--delta=0.0: expected a number strictly between 0 and 1"),
    (["top-k", ADULT, "age", "3", *AGES[2:], "--delta", "0"], "to choose from, or a --delta above 0."),
    (["count", *AGES], "--candidates is missing: expected values of the column, or two numbers (--between)."),
    (
        ["count", *AGES, "--between", "1", "2", "--candidates", "1,2"],
        "expected nothing, because --candidates are given",
    ),
    (["histogram", *AGES, "--candidates", "1", "--candidates", "2"], "--candidates may be given once. Several values"),
    (["median", *AGES, *STEP, "--groups", "a", "--groups", "b"], "separated by commas without blanks, or @file"),
    (["mean", *AGES, *STEP, "--step", "2"], "--step may be given once. See --help."),
    (
        ["median", *AGES, "--bounds", "2024-01-01", "x"],
        "--bounds='x': expected two numbers such as 0 120, or two dates such as 2026-12-01 2026-12-31.",
    ),
    (
        ["median", *AGES, "--bounds", "x", "2024-01-01"],
        "--bounds='x': expected two numbers such as 0 120, or two dates such as 2026-12-01 2026-12-31.",
    ),
    (["top-k", ADULT, "age", "3", *AGES[2:]], "--candidates is missing: expected the public list"),
    (["sum", *AGES, "--clip", "0", "9e18"], "with a smaller scale: --scale 0.0000000001."),
    (["sum", *AGES, "--clip", "0", "9000000000000001024"], "--scale 0.001 for thousands."),
    (
        ["median", CLICKS, "page", *COMMON[:2], *BOUNDS, "--step", "1", "--epsilon", "1", "--thousands", ","],
        "They take --ignore-case, --trim, --as-date.",
    ),
    (["columns", AGES[0], "--foo"], "Unknown option: --foo."),
    (["ledger", "show", "sqlite://budget.db"], "A file's URL has three slashes, a server's has two."),
    (["ledger", "show", "sqlite:budget.db"], "A file's URL has three slashes, a server's has two."),
    (
        ["median", *AGES, *STEP, "--where", "age="],
        "--where='age=': expected a column and what it has to be: age=18..65.",
    ),
    ([*SUMS, "--clip", "9000", "0", "--epsilon", "1"], "--clip 9000 0: expected two finite numbers, lower < upper."),
    ([*SUMS, "--clip", "9000", "0", "--epsilon", "1"], "such as --clip 0 80."),
    (
        ["histogram", *AGES, "--bins", "5"],
        "--bins=<list of 1>: expected 2 to 10,001 different finite numbers in ascending",
    ),
    (["histogram", *AGES, "--bins", "5"], "such as --bins 0,18,65."),
    (["histogram", *AGES], "Without them, values and top-k, with a --delta, name what enough units have."),
    (["best-date", *AGES], "expected either a public list of dates, or --bounds: the first and the last date."),
    (["ledger", "list", "sqlite:///x.db"], "There is no command ledger list. Did you mean ledger show?"),
    (["ledger", "create", "sqlite:///x.db"], "There is no command ledger create. Did you mean ledger open?"),
    (["ledger", "open", "sqlite:////nowhere/x.db", "a", "--epsilon", "x"], "--epsilon='x': expected a number such as"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("arguments", "said"), SAID)
def test_an_error_names_what_is_typed(capsys: Captured, arguments: list[str], said: str) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_a_step_may_be_a_fraction(capsys: Captured) -> None:
    dry = ["median", "nowhere.csv", "age", "--unit", "person_id", "--epsilon", "1", "--dry-run"]
    status, out, _ = run(capsys, *dry, "--bounds", "0", "1", "--step", "1/3")
    assert (status, "out of the 4 numbers from 0 to 1" in out) == (0, True)
    # More digits than a double has.
    status, out, _ = run(capsys, *dry, "--bounds", "0", "1.000000000000000002", "--step", "0.500000000000000001")
    assert (status, "out of the 3 numbers" in out) == (0, True)


def test_arguments_in_sentences_are_named_as_they_are_typed() -> None:
    said = "`neighbours='replace_one'`, `prices=range(1, 101)`, `prices=[4.5, 5]`, `as_json=True`, `decimal=','`"
    said += "; no `other=None` in `source`"
    error = InvalidParameterError("as_json", None, said, "None of it.")
    assert in_words(error, command("best-price")) == (
        "--json is missing: expected --neighbours replace-one, --prices 1..100, --prices 4.5,5, --json, --decimal ','; "
        "no other=None in SOURCE. None of it."
    )
    assert str(error).startswith("as_json=None: expected neighbours='replace_one', prices=range(1, 101), prices=[4.5")


def test_an_error_of_something_else_stays_as_it_is(capsys: Captured) -> None:
    assert main(["verify", "nowhere.json"]) == 2
    assert "CERTIFICATE='nowhere.json'" in capsys.readouterr().err
    assert in_words(dps.SelectionError("as it is"), None) == "as it is"


COMMANDS = {*BY_NAME, "ledger"} & {*OTHER_WORDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_other_words_lead_to_the_command_that_there_is(name: str, capsys: Captured) -> None:
    for word in OTHER_WORDS[name].split():
        status, out, err = run(capsys, word.upper(), ADULT, "age", "--unit", "person_id")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"dpselect: There is no command {word.upper()}. Did you mean ")
        assert name.replace("_", "-") in err.replace("?", " ").split()


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("mode", "most-common"),
        ("average", "mean"),
        ("counts", "histogram"),
        ("total", "sum"),
        ("stddev", "std"),
        ("frequencies", "histogram"),
        ("min", "quantile"),
        ("budget", "ledger"),
    ],
)
def test_the_commonest_words(word: str, command: str, capsys: Captured) -> None:
    assert f"Did you mean {command}?" in run(capsys, word)[2]


def test_a_word_in_another_place_is_none_of_them(capsys: Captured) -> None:
    assert "There is no command" not in run(capsys, "ledger", "mode")[2]
    assert "There is no command" not in run(capsys, "fraction")[2]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "values {} education",
            "--delta is required. Probability with which the guarantee may fail. Choose it far below",
        ),
        ("top-k {} education", "K is required. Number of values to select."),
        ("quantile {} age", "LEVEL is required. Share of the values below the quantile, from 0 to 1."),
        ("quantiles {} age", "LEVELS is required. Different shares of the values, from 0 to 1, separated by commas."),
        ("best-by {} education", "SUM is required. Column of numbers to add up."),
        ("sum {} age", "If none is known, ask for an upper bound first."),
        ("density {} age", "If no end is known, ask for an upper bound first."),
    ],
)
def test_what_is_missing_is_explained(capsys: pytest.CaptureFixture[str], command: str, expected: str) -> None:
    arguments = [word.format("people.csv") for word in command.split()]
    assert main([*arguments, "--unit", "person_id", "--epsilon", "1"]) == 2
    assert expected in capsys.readouterr().err


def test_a_message_shows_no_password_whether_it_was_typed_or_comes_from_elsewhere() -> None:
    typed = "Not understood: 'host=db password=a b'. See --help."
    assert without_passwords(typed, ["host=db password=a b"]).count("<text that may hold a password>") == 1
    said = without_passwords("ledger postgresql://ann@db/shop: it is gone; nobody:secret@db", [])
    assert said == "ledger postgresql://ann@db/shop: it is gone; <text that may hold a password>"


def test_people_read_rounded_numbers_and_programs_all_digits(capsys: Captured, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    with dps.Ledger(url) as ledger:
        ledger.open_account("people", epsilon=1)
        for part in (0.1, 0.2):
            ledger.charge("people", PureEvent(epsilon=part))
        ledger.charge("people", PureEvent(epsilon=0.1 + 0.2))
    _, out, _ = run(capsys, "ledger", "history", url, "people")
    assert out.splitlines()[-1].split()[-1] == "0.3"
    _, out, _ = run(capsys, "ledger", "history", url, "people", "--json")
    assert '"epsilon": 0.30000000000000004' in out
    _, out, _ = run(capsys, "mean", *AGES, *STEP)
    shown = out.splitlines()[1].split()[-1]
    assert shown.startswith("38.")
    assert len(shown) <= len("38.") + 8
