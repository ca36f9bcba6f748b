"""Small files that a check looks at, what it says of them, and the format that it says to try."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dpselect as dps
from dpselect.session.check import Check


def file(folder: Path, values: Sequence[object], *, units: Sequence[object] = (), encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    rows = [f'{who},"{value}"\n' for who, value in zip(units or range(len(values)), values, strict=True)]
    path.write_text("who,value\n" + "".join(rows), encoding)
    return path


def said(folder: Path, values: Sequence[object], **given: Any) -> tuple[str, ...]:
    """As the command line says it."""
    return dps.check(file(folder, values), "value", unit="who", **given).as_options().problems


def read_with(folder: Path, values: Sequence[object], **given: Any) -> int:
    """How many values count in the format that is suggested."""
    path = file(folder, values)
    words = suggested(dps.check(path, "value", unit="who", **given))
    return dps.check(path, "value", unit="who", **given, format=dps.Format(**words)).usable_rows


def suggested(found: Check) -> Any:
    """The words of a format that a check says to try."""
    calls = [call for each in found.problems for call in re.findall(r"Try Format\((.*?)\):", each)]
    return {name: value for call in calls for name, value in eval(f"dict({call})").items()}
