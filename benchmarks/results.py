"""What was measured, and on what: ``results.json``."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.line import Line

PATH = Path(__file__).with_name("results.json")
MEASURED_WITH = ("dpselect", "numpy", "opendp", "diffprivlib", "scikit-learn", "polars", "pipeline-dp")


def machine() -> dict[str, str]:
    """What the numbers depend on, without saying whose machine it is."""
    return {
        "day": datetime.now(tz=UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in MEASURED_WITH},
    }


def _processor() -> str:
    """Its model and the widest vectors it has, where the system says so."""
    described = Path("/proc/cpuinfo")
    if not described.exists():
        return platform.processor() or "unknown"
    fields: dict[str, str] = {}
    for line in described.read_text().splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    return ", ".join(filter(None, (fields.get("model name", "unknown"), widest)))


def write(lines: Iterable[Line], measured_on: dict[str, str], path: Path = PATH) -> None:
    """Replace the file."""
    held = {"machine": measured_on, "lines": [line.as_json() for line in lines]}
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def renewed(before: Iterable[Line], measured: Iterable[Line]) -> list[Line]:
    """The lines of a run of before, with those of the same tables measured anew in their places."""
    tables: dict[str, list[Line]] = {}
    anew: dict[str, list[Line]] = {}
    for lines, of in ((before, tables), (measured, anew)):
        for line in lines:
            of.setdefault(line.what, []).append(line)
    return [line for lines in (tables | anew).values() for line in lines]


def read(path: Path = PATH) -> tuple[list[Line], dict[str, str]]:
    """The lines and the machine of the last run."""
    held = json.loads(path.read_text(encoding="utf-8"))
    return [Line.from_json(each) for each in held["lines"]], held["machine"]
