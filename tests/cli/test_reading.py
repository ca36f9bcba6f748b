"""What is typed is read in one way: as each kind of argument is written, in any order, exactly."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpselect import Neighbours, SelectionError
from dpselect.arguments import REQUIRED, Argument, CandidateKind, decimal, explanations
from dpselect.cli.commands import NAMES, Command, called, command, option_name, read
from dpselect.public import conditions, listed

ROOT = Path(__file__).parents[2]
WRITTEN: dict[str, list[tuple[list[str], Any]]] = {
    "text": [(["who"], "who"), (["a b"], "a b"), (["-1"], "-1")],
    "any text": [(["1..4"], "1..4"), (["$%"], "$%"), (["-"], "-"), ([""], "")],
    "whole": [(["3"], 3), (["1e3"], 1000), (["007"], 7), (["-2"], -2)],
    "number": [(["0.5"], 0.5), ([".25"], 0.25), (["inf"], float("inf")), (["-1e3"], -1000.0)],
    "exact": [(["1/3"], Fraction(1, 3)), (["0.1"], 0.1), (["-5"], -5.0)],
    "flag": [([], True)],
    "json": [([], True)],
    "bounds": [(["0", "120"], (0.0, 120.0)), (["-1/3", "0.5"], (Fraction(-1, 3), 0.5))],
    "ends": [(["2026-12-01", "2026-12-31"], ("2026-12-01", "2026-12-31"))],
    "numbers or dates": [(["0", "120"], (0.0, 120.0)), (["2026-12-01", "2026-12-31"], ("2026-12-01", "2026-12-31"))],
    "levels": [(["0.25,0.5"], [0.25, 0.5]), (["0.5"], [0.5])],
    "prices": [(["1..4"], "1..4")],
    "dates": [(["2026-12-01,2026-12-02"], "2026-12-01,2026-12-02")],
    "values": [(["Oslo,Rome"], "Oslo,Rome")],
    "list": [(["-1..4"], "-1..4"), (["red,blue"], "red,blue"), (["@codes.csv:column"], "@codes.csv:column")],
    "where": [(["age=18.."], ["age=18.."]), (["region=north,south"], ["region=north,south"])],
}
"""Ways to write a value of each kind, and what it means."""


def written(option: Argument, turn: int) -> tuple[list[str], Any]:
    if isinstance(option.kind, str):
        ways = WRITTEN[option.kind]
        return ways[turn % len(ways)]
    words = [
        each if isinstance(each, str) and isinstance(option.kind, tuple) else each.name.lower() for each in option.kind
    ]
    values = list(option.kind)
    return [words[turn % len(words)].replace("_", "-")], values[turn % len(values)]


def typed(about: Command, turn: int) -> tuple[list[str], dict[str, Any]]:
    """A command with its required options and every second or third other one, in another order at each turn."""
    options = about.options
    chosen = [each for at, each in enumerate(options) if each.default is REQUIRED or (at + turn) % (2 + turn % 2) == 0]
    turned = turn % max(len(chosen), 1)
    chosen = [*chosen[turned:], *chosen[:turned]]
    expected = {each.name: each.default for each in (*about.positional, *options)}
    parts: list[list[str]] = []
    for each in chosen:
        words, expected[each.name] = written(each, turn)
        parts.append(
            [f"{option_name(each)}={words[0]}"] if turn % 3 == 0 and len(words) == 1 else [option_name(each), *words]
        )
    free: list[str] = []
    for each in about.positional:
        if each.default is REQUIRED or turn % 2:
            words, expected[each.name] = written(each, turn)
            free += words
    place = turn % (len(parts) + 1)
    return [word for part in [*parts[:place], free, *parts[place:]] for word in part], expected


@pytest.mark.parametrize("name", NAMES)
def test_every_command_reads_its_arguments_in_any_order(name: str) -> None:
    about = command(name)
    for turn in range(12):
        words, expected = typed(about, turn)
        found = read(about, words)
        shown = {each: (type(value), value) for each, value in found.items()}
        assert shown == {each: (type(value), value) for each, value in expected.items()}, words


def test_conditions_may_be_given_several_times() -> None:
    about = command("count")
    found = read(about, ["t.csv", "--where", "a=1..", "--unit", "who", "--where=b=x", "--epsilon", "1"])
    assert (found["where"], found["column"]) == (["a=1..", "b=x"], None)
    assert found["neighbours"] is Neighbours.ADD_REMOVE


def test_after_two_dashes_nothing_is_an_option() -> None:
    found = read(command("count"), ["--unit", "who", "--epsilon", "1", "--between", "-3", "-1", "--", "t.csv", "--age"])
    assert (found["source"], found["column"], found["between"]) == ("t.csv", "--age", (-3.0, -1.0))


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (["--unit", "again"], "--unit may be given once."),
        (["--table", "--quiet"], "--table needs a value."),
        (["--table"], "--table needs a value."),
        (["--quiet=true"], "--quiet takes no value."),
        (["--no-quiet"], "Unknown option: --no-quiet."),
        (["--eps", "1"], "Unknown option: --eps. Did you mean --epsilon?"),
        (["first", "second"], "Not understood: 'second'."),
        (["--neighbours", "ADD-REMOVE"], "expected one of add-remove, replace-one"),
        (["--max-groups-per-unit", "2.7"], "expected a whole number"),
        (["--between=1"], "--between takes two numbers such as 0 120, not one."),
    ],
)
def test_what_is_typed_wrongly_is_said(added: list[str], said: str) -> None:
    rest = ["count", "adult.csv", "--unit", "who", "--epsilon", "1"]
    with pytest.raises(SelectionError) as refusal:
        read(command(called(rest)), [*rest[1:], *added])
    assert said in str(refusal.value)


@pytest.mark.parametrize("words", [["best_price"], ["Median"], ["ledger"], ["ledger", "--json"], ["open"], [""]])
def test_other_words_call_no_command(words: list[str]) -> None:
    with pytest.raises(SelectionError, match=r"^(There is no command|Not understood)"):
        called(words)


def test_an_answer_needs_no_ledger_and_no_other_engine() -> None:
    program = (
        "import sys; from dpselect.cli import main; status = main(sys.argv[1:]); "
        "print(status, [each for each in ('rich', 'sqlalchemy', 'scipy', 'narwhals', 'pandas', "
        "'pyarrow.compute', 'pyarrow.parquet') if each in sys.modules])"
    )
    question = ["count", "examples/data/adult.csv", "--unit", "person_id", "--epsilon", "0.5", "--quiet"]
    run = [sys.executable, "-c", program, *question]
    shown = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120).stdout
    assert shown.splitlines()[1] == "0 []"


def test_numbers_mean_the_decimal_that_is_typed() -> None:
    assert decimal("0.1") == 0.1
    assert decimal("1/3") == Fraction(1, 3)
    assert decimal("0.12345678901234567890") == Fraction(1234567890123456789, 10**19)
    assert decimal("1152921504606847000") != 2.0**60  # whose shortest decimal this is


def test_lists_are_read_as_what_they_look_like() -> None:
    numbers = (CandidateKind.INTEGER, CandidateKind.NUMBER)
    assert listed("1..41270", private="people.csv") == range(1, 41271)
    assert listed("1,2,3", private="people.csv") == [1, 2, 3]
    assert listed("1,2,3", kind=CandidateKind.TEXT, private="people.csv") == ["1", "2", "3"]
    assert listed("01067,80331", private="people.csv") == ["01067", "80331"]
    assert listed("1.5,2", fitting=numbers, private="people.csv") == [1.5, 2.0]
    assert listed("5, 9.99", "prices", private="offers.csv") == [5, 9.99]
    assert listed("2026-12-01,2026-12-08", "dates", private="free.csv") == ["2026-12-01", "2026-12-08"]


def test_conditions_are_intervals_or_lists() -> None:
    found = conditions(["age=18..", "pay=0.5..1.5", "region=north,south"], lambda column: (), private="people.csv")
    assert found == {"age": (18, None), "pay": (Decimal("0.5"), Decimal("1.5")), "region": ["north", "south"]}


def test_explanations_go_on_in_lines_that_are_indented_further() -> None:
    found = explanations("Args:\n  k: How many,\n    at most.\n  level: A share.")
    assert found == {"k": "How many, at most.", "level": "A share."}
