"""``dpselect plan`` in this process: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpselect.cli import main

ROOT = Path(__file__).parents[3]

Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(["plan", *arguments])
    return status, *capsys.readouterr()


def planned(capsys: Captured, *arguments: str) -> str:
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    return out


def as_json(capsys: Captured, *arguments: str) -> Any:
    out = planned(capsys, *arguments, "--json")
    assert out.count("\n") == 1
    return json.loads(out)
