"""``dpselect plan``: its figures are the library's, it refuses in one line, and it never looks at a table."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import accounting, planning
from dpselect.cli import main
from tests.cli.plan.commands import PUBLIC, ROOT, Captured, as_json, planned, run

KINDS = [dps.PermuteAndFlip, dps.ExponentialMechanism, dps.ReportNoisyMax]
NAMES = [kind.__name__ for kind in KINDS]
DEFAULT = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]


@pytest.fixture(autouse=True)
def _one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")


def table(out: str) -> list[list[float]]:
    """The rows of numbers in a printed plan."""
    rows = (re.sub(r"\x1b\[[0-9;]*m", "", line).split() for line in out.splitlines())
    return [
        [float(cell.replace(",", "")) for cell in row]
        for row in rows
        if len(row) == 7 and all(re.fullmatch(r"[\d.,e+-]*\d|inf", cell) for cell in row)
    ]


def unwrapped(out: str) -> str:
    return " ".join(out.split())


def public() -> list[int]:
    return [int(line) for line in Path(PUBLIC).read_text().splitlines() if line and not line.startswith("#")]


def bound_on(mechanism: Any, scores: list[int], confidence: float) -> float:
    """The distance not exceeded, straight from the probabilities."""
    gaps, chances = max(scores) - np.array(scores), mechanism.pmf(scores)
    return min(gap for gap in gaps.tolist() if chances[gaps > gap].sum() <= 1 - confidence)


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
            assert row[kind.__name__] == {
                "epsilon_of_each_selection": epsilon,
                "expected_error": worst,
                "error_bound": mechanism.error_bound(n, 0.9),
            }


def test_errors_on_scores_are_the_librarys(capsys: Captured) -> None:
    plan = as_json(capsys, "--scores", PUBLIC, "--monotonic", "--epsilon", "0.3", "--epsilon", "0.03")
    assert plan["candidates_count"] == len(public())
    assert [row["epsilon"] for row in plan["table"]] == [0.03, 0.3]
    for row in plan["table"]:
        for kind in KINDS:
            mechanism = kind(epsilon=row["epsilon"], sensitivity=1, monotonic=True)
            assert row[kind.__name__]["expected_error"] == pytest.approx(mechanism.expected_error(public()), rel=1e-12)
            assert row[kind.__name__]["error_bound"] == bound_on(mechanism, public(), 0.99)


def test_monotonic_halves_worst_cases(capsys: Captured) -> None:
    once, twice = (as_json(capsys, "--candidates-count", "99", *flag) for flag in (["--monotonic"], []))
    for half, whole in zip(once["table"], twice["table"], strict=True):
        for name in NAMES:
            assert half[name]["expected_error"] == pytest.approx(whole[name]["expected_error"] / 2)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_each_selection_gets_its_mechanisms_share(capsys: Captured, delta: str) -> None:
    question = ["--candidates-count", "50", "--selections", "10", "--delta", delta, "--epsilon", "1", "--epsilon", "3"]
    plan = as_json(capsys, *question)
    for row in plan["table"]:
        for kind in KINDS:
            of_mechanism = row[kind.__name__]
            share = of_mechanism["epsilon_of_each_selection"]
            total = (
                accounting.rounds_epsilon if kind is dps.ExponentialMechanism else accounting.laplace_profile_epsilon
            )
            assert total(share, count=10, delta=float(delta)) <= row["epsilon"]
            assert (
                total(share * (1.002 if kind is dps.ExponentialMechanism else 1.0001), count=10, delta=float(delta))
                > row["epsilon"]
            )
            assert of_mechanism["error_bound"] == kind(epsilon=share, sensitivity=1).error_bound(50, 0.99)
    flip, exponential, laplace = (plan["table"][0][name]["epsilon_of_each_selection"] for name in NAMES)
    assert flip == laplace == pytest.approx(0.1, rel=0.01)
    assert exponential == flip if delta == "0" else exponential > 1.4 * flip


def test_json_says_all_that_was_asked(capsys: Captured) -> None:
    plan = as_json(
        capsys, "--scores", PUBLIC, "--selections", "3", "--delta", "1e-9", "--expected-error", "9", "--within", "20"
    )
    inputs = {key: value for key, value in plan.items() if key not in ("table", "recommendations", "targets")}
    assert inputs == {
        "candidates_count": 60,
        "scores": PUBLIC,
        "sensitivity": 1.0,
        "monotonic": False,
        "confidence": 0.99,
        "selections": 3,
        "delta": 1e-9,
        "version": dps.__version__,
    }
    assert [sorted(target) for target in plan["targets"]] == [
        ["epsilon", "expected_error"],
        ["confidence", "epsilon", "within"],
    ]
    assert plan["targets"][0]["expected_error"] == 9.0
    assert (plan["targets"][1]["within"], plan["targets"][1]["confidence"]) == (20.0, 0.99)
    assert as_json(capsys, "--candidates-count", "5")["scores"] is None


def test_errors_no_double_holds_are_null(capsys: Captured) -> None:
    question = ["--candidates-count", "5", "--sensitivity", "1e300", "--epsilon", "1e-200"]
    (row,) = as_json(capsys, *question)["table"]
    assert row["PermuteAndFlip"]["expected_error"] is None
    assert row["PermuteAndFlip"]["error_bound"] is None
    assert table(planned(capsys, *question)) == [[1e-200] + [math.inf] * 6]


# --- for people -------------------------------------------------------------------------------------------------------

QUESTIONS = [
    ["--candidates-count", "41270", "--monotonic"],
    ["--candidates-count", "3", "--confidence", "0.9999999", "--epsilon", "1e-9", "--epsilon", "1e9"],
    ["--scores", PUBLIC, "--selections", "10", "--delta", "1e-6"],
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_table_is_the_json_in_three_digits(capsys: Captured, question: list[str]) -> None:
    rows, full = table(planned(capsys, *question)), as_json(capsys, *question)["table"]
    assert len(rows) == len(full)
    for row, figures in zip(rows, full, strict=True):
        assert row[0] == figures["epsilon"]
        for (shown, bound), name in zip(zip(row[1::2], row[2::2], strict=True), NAMES, strict=True):
            assert shown == pytest.approx(figures[name]["expected_error"], rel=0.005)
            true = figures[name]["error_bound"]
            assert true <= bound <= true * 1.01


def test_plain_columns(capsys: Captured) -> None:
    lines = planned(capsys, "--candidates-count", "41270", "--monotonic").splitlines()
    assert lines[0] == "One selection among 41,270 candidates, in the worst case over all scores."
    start = lines.index("") + 1
    assert lines[start].split("   ")[-1] == "Laplace noisy max"
    assert lines[start + 1].split() == ["epsilon", *["expected", "99", "%", "bound"] * 3]
    assert max(map(len, lines[start : start + 9])) <= 80
    assert lines[-1] == "Planned from public arguments only; nothing was spent."


def test_a_terminal_shows_the_same(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    for question in QUESTIONS:
        plain = planned(capsys, *question)
        with monkeypatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda: True)
            assert planned(capsys, *question) == plain


def test_sentences_fit_the_window(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = planned(capsys, "--candidates-count", "41270").splitlines()
    sentences = [line for line in lines if not table(line) and "expected  " not in line and "noisy max" not in line]
    assert max(map(len, sentences)) <= 50
    assert not any(line.endswith(("=", "epsilon")) or line.startswith("%") for line in sentences)


def test_several_selections_are_said_to_be(capsys: Captured) -> None:
    out = unwrapped(planned(capsys, "--candidates-count", "50", "--selections", "10", "--delta", "1e-6"))
    assert "10 selections among 50 candidates" in out
    assert "each error is that of a single one" in out
    assert "total permute-and-flip" in out
    assert "total" not in unwrapped(planned(capsys, "--candidates-count", "50"))
    assert "delta = 1e-06" in unwrapped(planned(capsys, "--candidates-count", "50", "--delta", "1e-6"))


def test_file_names_that_would_move_the_cursor_are_shown_escaped(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.txt"
    path.write_text("1\n2\n")
    out = planned(capsys, "--scores", str(path))
    assert "\x1b" not in out
    assert r"a\x1b[2J.txt'" in unwrapped(out)


# --- advice -----------------------------------------------------------------------------------------------------------


def test_one_selection_goes_to_permute_and_flip(capsys: Captured) -> None:
    out = unwrapped(planned(capsys, "--candidates-count", "41270"))
    reason = "At the same epsilon it never errs more than the exponential mechanism, whatever the scores."
    assert f"Use permute-and-flip. {reason}" in out
    (advice,) = as_json(capsys, "--candidates-count", "41270")["recommendations"]
    assert advice == {"epsilons": DEFAULT, "mechanism": "PermuteAndFlip", "reason": reason}


def test_advice_that_changes_with_epsilon_is_given_for_each(capsys: Captured) -> None:
    question = ["--candidates-count", "50", "--selections", "3", "--delta", "1e-6"]
    advised = {epsilon: planning.recommend(3, 1e-6, epsilon=epsilon, n=50).__name__ for epsilon in DEFAULT}
    assert len(set(advised.values())) == 2  # or there is nothing to see here
    found = as_json(capsys, *question)["recommendations"]
    assert {epsilon: each["mechanism"] for each in found for epsilon in each["epsilons"]} == advised
    assert all(one["mechanism"] != other["mechanism"] for one, other in pairwise(found))
    out = unwrapped(planned(capsys, *question))
    for each in found:
        listed = ", ".join(f"{epsilon:g}" for epsilon in each["epsilons"])
        name = "permute-and-flip" if each["mechanism"] == "PermuteAndFlip" else "the exponential mechanism"
        assert f"In the table use {name} at epsilon = {listed}. {each['reason']}" in out


def test_the_reason_is_about_all_epsilons_of_the_advice(capsys: Captured) -> None:
    question = ["--candidates-count", "50", "--selections", "3", "--delta", "1e-6"]
    for advice in as_json(capsys, *question)["recommendations"]:
        found = [planning.recommendation(3, 1e-6, epsilon=epsilon, n=50) for epsilon in advice["epsilons"]]
        low, high = (f"{end([each.advantage for each in found]):.2f}" for end in (min, max))
        assert f"each of 3 selections may spend {low} to {high} times as much epsilon" in advice["reason"]
        assert f"It needs {found[0].break_even:.2f} times as much for the same 99 % bound." in advice["reason"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "question",
    [
        ["--candidates-count", "41270"],
        ["--candidates-count", "41270", "--selections", "10"],
        ["--candidates-count", "41270", "--selections", "10", "--delta", "1e-6"],
        ["--candidates-count", "41270", "--delta", "1e-6"],
        ["--candidates-count", "3", "--confidence", "0.2", "--selections", "10", "--delta", "1e-6"],
        ["--candidates-count", "41270", "--within", "20"],
        ["--candidates-count", "41270", "--expected-error", "20"],
        ["--scores", PUBLIC, "--within", "20"],
    ],
)
def test_no_sentence_names_an_epsilon_that_nobody_asked_for(capsys: Captured, question: list[str]) -> None:
    """Apart from what a wanted error takes, and from the rows of the table that a sentence is about."""
    plan = as_json(capsys, *question)
    asked = {price for target in plan["targets"] for price in target["epsilon"].values()}
    out = unwrapped(planned(capsys, *question))
    assert not any("epsilon =" in each["reason"] for each in plan["recommendations"])
    for sentence in re.split(r"\. ", out):
        for named in map(float, re.findall(r"epsilon = ([\d.e-]*\d)", sentence)):
            wanted = any(named == pytest.approx(each, rel=0.01) for each in asked)
            assert wanted or "in the table" in sentence.lower(), sentence


def test_a_table_that_contradicts_the_advice_is_pointed_out(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("0\n-5\n")
    question = ["--scores", str(path), "--selections", "8", "--delta", "1e-6", "--epsilon", "1", "--epsilon", "100"]
    plan = as_json(capsys, *question)
    assert plan["recommendations"][0]["mechanism"] == "ExponentialMechanism"
    row = plan["table"][0]
    assert row["PermuteAndFlip"]["expected_error"] < row["ExponentialMechanism"]["expected_error"]
    sentence = "The expected error in the table is lower with permute-and-flip at epsilon = 1."
    assert sentence in unwrapped(planned(capsys, *question))
    assert "is lower with" not in unwrapped(planned(capsys, "--scores", PUBLIC))


def test_one_candidate_needs_no_advice(capsys: Captured) -> None:
    assert as_json(capsys, "--candidates-count", "1")["recommendations"] == []
    assert "no mechanism can err" in planned(capsys, "--candidates-count", "1")


@pytest.mark.parametrize("source", [["--candidates-count", "60"], ["--scores", PUBLIC]])
def test_wanted_errors_have_their_price(capsys: Captured, source: list[str]) -> None:
    question = [*source, "--monotonic", "--expected-error", "5", "--within", "20", "--confidence", "0.9"]
    expected, within = as_json(capsys, *question)["targets"]
    given: Any = {"n": 60} if source[0] == "--candidates-count" else {"scores": public()}
    for kind in KINDS:
        setting: Any = {**given, "sensitivity": 1, "monotonic": True}
        price = planning.epsilon_for(kind, expected_error=5, **setting)
        assert expected["epsilon"][kind.__name__] == pytest.approx(price, rel=1e-12)
        price = planning.epsilon_for(kind, within=20, confidence=0.9, **setting)
        assert within["epsilon"][kind.__name__] == pytest.approx(price, rel=1e-12)
    out = unwrapped(planned(capsys, *question))
    assert "An expected error of at most 5 takes epsilon = " in out
    assert "Staying within 20 of the best with 90 % confidence takes epsilon = " in out


def test_several_selections_pay_in_total(capsys: Captured) -> None:
    question = ["--candidates-count", "60", "--selections", "10", "--delta", "1e-6", "--expected-error", "5"]
    (target,) = as_json(capsys, *question)["targets"]
    for name, total in target["epsilon"].items():
        (row,) = as_json(capsys, *question[:-2], "--epsilon", repr(total))["table"]
        # Rounds planned exactly leave up to a thousandth of the total free.
        room = 2e-3 if name == "ExponentialMechanism" else 1e-6
        assert row[name]["expected_error"] == pytest.approx(5.0, rel=room)
    assert "in each selection takes the total epsilon = " in unwrapped(planned(capsys, *question))


# --- charts -----------------------------------------------------------------------------------------------------------


def drawn(capsys: Captured, folder: Path, *question: str) -> Any:
    path = folder / "out.json"
    assert planned(capsys, *question, "--plot", str(path)) == planned(capsys, *question)
    return json.loads(path.read_text())


@pytest.mark.parametrize("source", [["--candidates-count", "60"], ["--scores", PUBLIC]])
def test_a_chart_shows_the_bounds_of_the_table(capsys: Captured, tmp_path: Path, source: list[str]) -> None:
    question = [*source, "--monotonic", "--epsilon", "0.02", "--epsilon", "0.05", "--confidence", "0.9"]
    spec = drawn(capsys, tmp_path, *question)
    rows = list(_rows(spec))
    assert min(row["x"] for row in rows) == pytest.approx(0.02)
    assert max(row["x"] for row in rows) == pytest.approx(0.05)
    assert "60 candidates" in json.dumps(spec["title"])
    table = as_json(capsys, *question)["table"]
    for at in (table[0], table[-1]):
        for kind, name in (("PermuteAndFlip", "permute-and-flip"), ("ReportNoisyMax", "Laplace noisy max")):
            near = [row["y"] for row in rows if row["series"] == name and row["x"] == pytest.approx(at["epsilon"])]
            assert near == [pytest.approx(at[kind]["error_bound"])]


def _rows(spec: Any) -> Iterator[dict[str, Any]]:
    """Every point of a line, wherever the specification keeps it."""
    return (part for part in _parts(spec) if {"series", "x", "y"} <= part.keys())


def _parts(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        yield spec
        spec = list(spec.values())
    for part in spec if isinstance(spec, list) else []:
        yield from _parts(part)


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<svg"), ("PNG", b"\x89PNG")])
def test_pictures(capsys: Captured, tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"out.{suffix}"
    planned(capsys, "--candidates-count", "60", "--epsilon", "1", "--plot", str(path))
    assert path.read_bytes().startswith(start)


def test_epsilons_at_the_ends_of_the_doubles_are_drawn(capsys: Captured, tmp_path: Path) -> None:
    for epsilon in ("5e-324", "1.7e308"):
        planned(capsys, "--candidates-count", "60", "--epsilon", epsilon, "--plot", str(tmp_path / "out.json"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "suffix", "refused"),
    [("altair", "svg", True), ("altair", "json", True), ("vl_convert", "svg", True), ("vl_convert", "json", False)],
)
def test_without_the_extra(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str, suffix: str, refused: bool
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    path = tmp_path / f"out.{suffix}"
    # The scores are not even opened: a missing extra shows at once.
    status, out, err = run(capsys, "--scores", PUBLIC if not refused else "gone.txt", "--plot", str(path))
    if refused:
        assert (status, out) == (2, "")
        assert (
            err == "dpselect: plots: this needs the extra 'plots'; in a checkout of dpselect: pip install '.[plots]'\n"
        )
    else:
        assert (status, err) == (0, "")
    assert path.exists() is not refused
    assert run(capsys, "--candidates-count", "5")[0] == 0


def test_a_refused_plan_leaves_no_file(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    status, out, _ = run(capsys, "--scores", PUBLIC, "--expected-error", "1e9", "--plot", str(path))
    assert (status, out, path.exists()) == (2, "", False)


def test_whole_numbers_may_have_an_exponent(capsys: Captured) -> None:
    assert as_json(capsys, "--candidates-count", "1e9")["candidates_count"] == 10**9
    assert as_json(capsys, "--candidates-count", "30.0", "--selections", "2")["candidates_count"] == 30


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

    assert loaded("plan", "--scores", PUBLIC) == "0 []\n"
    people = str(tmp_path / "people.csv")
    Path(people).write_text("who,age\n1,2\n")
    assert "duckdb" in loaded("count", people, "--unit", "who", "--epsilon", "1")  # the test above can fail


def test_help(capsys: Captured) -> None:
    status, out, err = run(capsys, "--help")
    assert (status, err) == (0, "")
    for option in ("--candidates-count", "--scores", "--epsilon", "--within", "--expected-error", "--plot", "--json"):
        assert option in out
    assert "Never plan with private scores" in out
    assert main(["--help"]) == 0
    assert "dpselect plan --candidates-count 41270 --monotonic" in capsys.readouterr().out
