"""``dpselect audit``: a module of the folder one is in, a report or JSON, and the exit status."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpselect.cli import main

MODULE = """
import random

drawn = random.Random(1)
neighbours = [(0, 1)]
alike = (0, 0)


def telling(count):
    return count + drawn.choice([0, 0, 5])
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with the module, and one that cannot be imported."""
    (tmp_path / "audited_mine.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "audited_broken.py").write_text("raise RuntimeError('41, ann')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("audited_mine", None)


def audit(*more: str) -> int:
    return main(["audit", "audited_mine:telling", "--claimed-epsilon", "1", "--draws", "2000", *more])


def test_a_claim_that_is_refuted_ends_with_status_one(capsys: Captured) -> None:
    assert audit() == 1
    out, err = capsys.readouterr()
    assert out.startswith(
        "Broken: claimed are epsilon = 1 and delta = 0, and with 99.9% confidence epsilon is at least "
    )
    assert err == ""


def test_a_claim_that_is_not_refuted_ends_with_status_zero(capsys: Captured) -> None:
    assert audit("--neighbours", "alike", "--confidence", "0.9999999") == 0
    assert capsys.readouterr().out.startswith("Not refuted, which says nothing of other neighbours")


def test_json_has_what_the_report_has(capsys: Captured) -> None:
    assert audit("--json", "--claimed-delta", "0.1", "--confidence", "0.99") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["broken"] is True
    assert (found["claimed_delta"], found["confidence"]) == (0.1, 0.99)
    assert found["looks"][-1][1] == found["lower_bound"] > 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["audited_mine"], "SAMPLER='': expected MODULE:FUNCTION, a name in the module."),
        (
            ["audited_mine:tellin"],
            "SAMPLER='tellin': expected MODULE:FUNCTION, a name in the module. Did you mean 'telling'?",
        ),
        (["audited_mine:telling", "--neighbours", "alik"], "--neighbours='alik': expected a name in the module."),
        (["nowhere:telling"], "SAMPLER=<ModuleNotFoundError while 'nowhere' was imported>"),
        (["audited_broken:f"], "SAMPLER=<RuntimeError while 'audited_broken' was imported>"),
        ([":f"], "SAMPLER=<ValueError while '' was imported>"),
        (["audited_mine:neighbours"], "SAMPLER=<list>: expected a function"),
        (["audited_mine:telling", "--draws", "10"], "--draws=10: expected at least about 200"),
    ],
)
def test_bad_input_is_one_line_and_status_two(given: list[str], said: str, capsys: Captured) -> None:
    draws = [] if "--draws" in given else ["--draws", "2000"]
    assert main(["audit", *given, "--claimed-epsilon", "1", *draws]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"dpselect: {said}")
    assert err.count("\n") == 1
    assert "41" not in err
