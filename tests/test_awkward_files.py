"""Nobody is answered about nothing: what comes of a question to each file of `tests.awkward_files`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpselect as dps
from dpselect.cli import main
from tests.awkward_files import ANSWERS, CASES, Case
from tests.slow import SLOW
from tests.views import ask, seen


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(list(arguments))
    out, err = capsys.readouterr()
    assert (status, err.count("\n")) in ((0, 0), (2, 1)), err
    return status, out + err


def looked_at(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the check says, or why it refuses."""
    status = main(list(arguments))
    out, err = capsys.readouterr()
    assert (status, err.count("\n")) in ((0, 1), (2, 1)), err
    return out if status == 0 else err


def asked(case: Case, path: Path, *options: str) -> list[str]:
    question, column, *more = case.asked
    return [question, str(path), column, "--unit", "who", *more, "--epsilon", "1000", "--quiet", *options]


def checked(case: Case, path: Path, *options: str) -> list[str]:
    _, column, *more = case.asked
    return ["check", str(path), column, "--unit", "who", *more, *options]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES if SLOW else CASES[::2], ids=lambda case: case.name)
def test_nobody_is_answered_about_nothing(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.content)
    answers = case.answers or ANSWERS.get(case.asked, ())
    status, said = run(capsys, *asked(case, path))
    found = looked_at(capsys, *checked(case, path))
    if case.outcome == "answered":
        assert status == 0
        assert said.strip() in answers
        assert "Nothing looks wrong." in found
        return
    if case.outcome == "refused":
        assert status == 2
        assert case.said in said
        told = said
    else:
        assert status == 0
        assert case.said in found
        told = found
    for each in case.option.split(" --"):
        named = each.removeprefix("--")
        assert (named.split()[0] if named.startswith("sheet ") else named) in told  # only a person knows which sheet
    if case.option:
        options = shlex.split(case.option)
        status, said = run(capsys, *asked(case, path, *options))
        assert (status, said.strip().startswith(answers)) == (0, True), said
        found = looked_at(capsys, *checked(case, path, *options))
        assert case.after in found
        assert case.said not in found
        assert status == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("is_forecast", [False, True], ids=["answered", "planned"])
def test_no_file_is_answered_about_nothing_without_a_word(
    case: Case, is_forecast: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked with what the question requires and nothing else, with an epsilon that hides people."""
    path = tmp_path / case.file
    path.write_bytes(case.content)
    question, column, *more = case.asked
    planning = ["--dry-run"] if is_forecast else []
    status, said = run(capsys, question, str(path), column, "--unit", "who", *more, "--epsilon", "1", *planning)
    if case.outcome == "refused":
        assert status == 2
        return
    assert status == 0
    assert "How many units (who) had usable rows w" in said
    assert "--usable-epsilon 0.05 would tell." in said
    status, said = run(capsys, *asked(case, path)[:-3], "--epsilon", "1", "--usable-epsilon", "40", *planning)
    assert status == 0
    assert "would tell" not in said
    if not is_forecast and case.taking_part is not None and case.taking_part < 5:  # without noise, few
        assert "WARNING" in said


@pytest.mark.sampled(7)
@pytest.mark.parametrize("case", [case for case in CASES if case.taking_part is not None], ids=lambda case: case.name)
def test_how_many_take_part_is_seen_without_a_check(case: Case, tmp_path: Path) -> None:
    """In the release itself, as a noisy number; here with so much epsilon that it is the number of the check."""
    path = tmp_path / case.file
    path.write_bytes(case.content)
    question, column, *more = case.asked
    given = arguments(question, more)
    view = {name: given[name] for name in ("by", "groups") if name in given}
    others = {name: each for name, each in given.items() if name not in view}
    assert dps.check(seen(dps.Dataset(path, unit="who"), **view), column, **others).usable_units == case.taking_part
    asked = {**given, "epsilon": 100.0, "usable_epsilon": 100.0}
    usable = ask(dps.Dataset(path, unit="who"), question.replace("-", "_"), column, **asked).usable
    count = sum(usable.count.values()) if isinstance(usable.count, dict) else usable.count
    assert count == case.taking_part


def arguments(question: str, options: list[str]) -> dict[str, Any]:
    """The options of a question as arguments of `dpselect.check`."""
    given = " ".join(options)
    if question == "median":
        bounds: dict[str, Any] = {"bounds": (float(options[1]), float(options[2])), "step": 10}
        return bounds | ({"by": "city", "groups": ["Oslo", "Paris"]} if "--by" in given else {})
    if question == "best-date":
        return {"bounds": (options[1], options[2])}
    listed: list[object] = list(options[options.index("--candidates") + 1].split(","))
    if "boolean" in given:
        listed = [True, False]
    elif listed == ["23", "24"] and "text" not in given:
        listed = [23, 24]
    return {"candidates": listed} | ({"sum": "value", "clip": (0, 5000)} if question == "best-by" else {})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([1.5, 2.5], object), "its dtype is object"),
        (np.array(["2026-12-24", "2026-12-25"], "datetime64[ns]"), "holds times"),
        (np.array([True, False]), "holds booleans"),
    ],
    ids=["objects", "times", "booleans"],
)
def test_columns_of_the_wrong_type_are_refused_by_their_type(values: object, said: str) -> None:
    frame = pd.DataFrame({"who": [1, 2], "value": values})
    with pytest.raises(dps.errors.InvalidDataError, match=f"(?i)a column of numbers.*{said}"):
        dps.Dataset(frame, unit="who").median("value", bounds=(0, 10), epsilon=1.0)
    with pytest.raises(dps.errors.InvalidDataError, match=f"(?i)a column of numbers.*{said}"):
        dps.check(frame, "value", unit="who", bounds=(0, 10))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)
