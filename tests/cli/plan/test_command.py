"""``dpselect plan``: its figures are the library's, it refuses in one line, and it never looks at a table."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect import planning
from dpselect.cli import main
from tests.cli.plan.commands import ROOT, Captured, as_json, planned, run

KINDS = [dps.PermuteAndFlip, dps.ExponentialMechanism, dps.ReportNoisyMax]
NAMES = [kind.__name__ for kind in KINDS]
DEFAULT = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]


def table(out: str) -> list[list[float]]:
    """The numbers of a printed plan: for each epsilon, itself and the errors of each mechanism."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    found: dict[float, list[float]] = {}
    for line in plain.splitlines():
        cells = line.split(maxsplit=3)
        if len(cells) == 4 and all(re.fullmatch(r"[\d.,e+-]*\d|inf", cell) for cell in cells[:3]):
            epsilon, *errors = (float(cell.replace(",", "")) for cell in cells[:3])
            found.setdefault(epsilon, []).extend(errors)
    return [[epsilon, *errors] for epsilon, errors in found.items()]


def unwrapped(out: str) -> str:
    return " ".join(out.split())


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 41270, 10**9, sys.maxsize])
@pytest.mark.parametrize("monotonic", [False, True])
def test_worst_cases_are_the_librarys(capsys: Captured, n: int, monotonic: bool) -> None:
    flags = ["--monotonic"] if monotonic else []
    plan = as_json(capsys, "--candidates-count", str(n), *flags, "--sensitivity", "2.5", "--confidence", "0.9")
    assert [row["epsilon"] for row in plan["table"]] == DEFAULT
    for row in plan["table"]:
        for kind in KINDS:
            epsilon = row["epsilon"]
            mechanism = kind(epsilon=epsilon, sensitivity=2.5, monotonic=monotonic)
            worst = planning.worst_case_error(kind, n, epsilon=epsilon, sensitivity=2.5, monotonic=monotonic)
            assert row[kind.__name__] == {"expected_error": worst, "error_bound": mechanism.error_bound(n, 0.9)}


def test_monotonic_halves_worst_cases(capsys: Captured) -> None:
    once, twice = (as_json(capsys, "--candidates-count", "99", *flag) for flag in (["--monotonic"], []))
    for half, whole in zip(once["table"], twice["table"], strict=True):
        for name in NAMES:
            assert half[name]["expected_error"] == pytest.approx(whole[name]["expected_error"] / 2)


def test_json_says_all_that_was_asked(capsys: Captured) -> None:
    plan = as_json(capsys, "--candidates-count", "60", "--expected-error", "9", "--within", "20")
    inputs = {key: value for key, value in plan.items() if key not in ("table", "targets")}
    assert inputs == {
        "candidates_count": 60,
        "sensitivity": 1.0,
        "monotonic": False,
        "confidence": 0.99,
        "version": dps.__version__,
    }
    assert [sorted(target) for target in plan["targets"]] == [
        ["epsilon", "expected_error"],
        ["confidence", "epsilon", "within"],
    ]
    assert plan["targets"][0]["expected_error"] == 9.0
    assert (plan["targets"][1]["within"], plan["targets"][1]["confidence"]) == (20.0, 0.99)


def test_errors_no_double_holds_are_null(capsys: Captured) -> None:
    question = ["--candidates-count", "5", "--sensitivity", "1e300", "--epsilon", "1e-200"]
    (row,) = as_json(capsys, *question)["table"]
    assert row["PermuteAndFlip"]["expected_error"] is None
    assert row["PermuteAndFlip"]["error_bound"] is None
    assert table(planned(capsys, *question)) == [[1e-200] + [math.inf] * 6]


# --- for people -------------------------------------------------------------------------------------------------------

QUESTIONS = [
    ["--candidates-count", "41270", "--monotonic"],
    ["--candidates-count", "3", "--confidence", "0.9999999", "--epsilon", "1e-9,1e9"],
    ["--candidates-count", "60"],
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_table_is_the_json_in_three_digits(capsys: Captured, question: list[str]) -> None:
    rows, full = table(planned(capsys, *question)), as_json(capsys, *question)["table"]
    assert len(rows) == len(full)
    for row, figures in zip(rows, full, strict=True):
        assert row[0] == figures["epsilon"]
        for (shown, bound), name in zip(zip(row[1::2], row[2::2], strict=True), NAMES, strict=True):
            for number, true in ((shown, figures[name]["expected_error"]), (bound, figures[name]["error_bound"])):
                assert true <= number <= true * 1.01


def test_plain_columns(capsys: Captured) -> None:
    lines = planned(capsys, "--candidates-count", "41270", "--monotonic").splitlines()
    assert lines[0] == "One selection among 41,270 candidates, in the worst case over all scores."
    start = lines.index("") + 1
    assert lines[start].split() == ["epsilon", "expected", "99", "%", "bound", "mechanism"]
    assert lines[start + 1] == "   0.01       750       1,460  permute-and-flip"
    assert max(map(len, lines[start : start + 22])) <= 80
    assert lines[-1] == "Planned from public arguments only; nothing was spent."


def test_a_terminal_shows_the_same(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    for question in QUESTIONS:
        plain = planned(capsys, *question)
        with monkeypatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda: True)
            assert table(planned(capsys, *question)) == table(plain) != []


# --- advice -----------------------------------------------------------------------------------------------------------


def test_one_selection_goes_to_permute_and_flip(capsys: Captured) -> None:
    said = "At the same epsilon permute-and-flip never errs more than the exponential mechanism, whatever the scores."
    for question in QUESTIONS:
        assert said in unwrapped(planned(capsys, *question))
        for row in as_json(capsys, *question)["table"]:
            flip, exponential = row["PermuteAndFlip"], row["ExponentialMechanism"]
            assert all(flip[each] <= exponential[each] * (1 + 1e-9) for each in ("expected_error", "error_bound"))


@pytest.mark.parametrize("wanted", [[], ["--within", "20"], ["--expected-error", "20"]])
def test_no_sentence_names_an_epsilon_that_nobody_asked_for(capsys: Captured, wanted: list[str]) -> None:
    question = ["--candidates-count", "60", *wanted]
    asked = {price for target in as_json(capsys, *question)["targets"] for price in target["epsilon"].values()}
    out = unwrapped(planned(capsys, *question))
    named = [float(each) for each in re.findall(r"(?:epsilon = |, )([\d.]+) \(", out)]
    assert len(named) == len(asked)
    assert all(one == pytest.approx(other, rel=0.01) for one, other in zip(sorted(named), sorted(asked), strict=True))
    assert out.count("epsilon = ") == bool(wanted)


def test_one_candidate_needs_no_advice(capsys: Captured) -> None:
    assert "no mechanism can err" in planned(capsys, "--candidates-count", "1")


def test_wanted_errors_have_their_price(capsys: Captured) -> None:
    question = [
        "--candidates-count",
        "60",
        "--monotonic",
        "--expected-error",
        "5",
        "--within",
        "20",
        "--confidence",
        "0.9",
    ]
    expected, within = as_json(capsys, *question)["targets"]
    for kind in KINDS:
        setting: Any = {"n": 60, "sensitivity": 1, "monotonic": True}
        price = planning.epsilon_for(kind, expected_error=5, **setting)
        assert expected["epsilon"][kind.__name__] == pytest.approx(price, rel=1e-12)
        price = planning.epsilon_for(kind, within=20, confidence=0.9, **setting)
        assert within["epsilon"][kind.__name__] == pytest.approx(price, rel=1e-12)
    out = unwrapped(planned(capsys, *question))
    assert "An expected error of at most 5 takes epsilon = " in out
    assert "Staying within 20 of the best with 90 % confidence takes epsilon = " in out


def test_whole_numbers_may_have_an_exponent(capsys: Captured) -> None:
    assert as_json(capsys, "--candidates-count", "1e9")["candidates_count"] == 10**9
    assert as_json(capsys, "--candidates-count", "30.0")["candidates_count"] == 30


# --- what it stays away from ------------------------------------------------------------------------------------------


def test_planning_loads_nothing_that_could_read_a_table(tmp_path: Path) -> None:
    def loaded(*arguments: str) -> str:
        program = (
            f"import sys; from dpselect.cli import main; status = main({list(arguments)!r}); "
            "readers = {'duckdb', 'dpselect.session', 'dpselect.rows'} & set(sys.modules); "
            "print(status, sorted(readers), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stderr

    assert loaded("plan", "--candidates-count", "60") == "0 []\n"
    people = str(tmp_path / "people.csv")
    Path(people).write_text("who,age\n1,2\n")
    assert "duckdb" in loaded("count", people, "--unit", "who", "--epsilon", "1")  # the test above can fail


def test_help(capsys: Captured) -> None:
    status, out, err = run(capsys, "--help")
    assert (status, err) == (0, "")
    for option in ("--candidates-count", "--epsilon", "--within", "--expected-error", "--json"):
        assert option in out
    assert "Never plan with private scores" in out
    assert main(["--help"]) == 0
    assert "dpselect plan --candidates-count 41270 --monotonic" in capsys.readouterr().out
