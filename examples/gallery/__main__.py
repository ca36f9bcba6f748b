"""Run every cell and write the table, the picture and the page: ``python -m examples.gallery``.

One process for each library. If a cell ends its process, that is the cell, and the others run in a new one.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from examples.gallery.attacks import ATTACKS, LIBRARIES
from examples.gallery.page import FIELDS, Cell, write

import dpselect as dps
from dpselect.errors import MissingExtraError

FOLDER = Path(__file__).parent
INSTALL = "The peers are not installed: make .venv-bench/.bench, or pip install -r benchmarks/requirements.txt"


def cells(library: str, names: Sequence[str]) -> Iterator[Cell]:
    """A run of each of these attacks on a library, in this process; no cell where it has no such question."""
    module, distribution = LIBRARIES[library]
    samplers = import_module(module).SAMPLERS
    for name in names:
        if name not in samplers:
            continue
        attack = ATTACKS[name]
        report = dps.audit(
            samplers[name], attack.pairs, claimed_epsilon=1.0, claimed_delta=attack.delta, draws=attack.draws
        )
        yield {
            "attack": name,
            "library": library,
            "version": version(distribution) if distribution else "",
            "verdict": "broken" if report.broken else "not broken",
            "lower_bound": f"{report.lower_bound:.3g}",
            "draws": str(report.looks[-1][0]),
            "event": report.event,
        }


def column(library: str) -> list[Cell]:
    """All cells of a library, each run in another process than this one."""
    found: list[Cell] = []
    left = list(ATTACKS)
    while left:
        begin = time.perf_counter()
        command = [sys.executable, "-m", __spec__.name, library, *left]
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        found += (lines := [json.loads(line) for line in process.stdout.splitlines()])
        print(f"{library}: {len(lines)} cells in {time.perf_counter() - begin:.0f} s", flush=True)
        if process.returncode == 0:
            break
        done = {cell["attack"] for cell in found}
        ended, *left = [name for name in left if name not in done]
        found.append(_ended(library, ended, process.returncode))
    return found


def _ended(library: str, name: str, status: int) -> Cell:
    told = {"verdict": "process ended", "lower_bound": "", "draws": "", "event": f"exit status {status}"}
    return {"attack": name, "library": library, "version": "", **told}


def main(arguments: Sequence[str]) -> None:
    """All of it; the page alone (``page``); or these attacks on a library, as lines of JSON."""
    if list(arguments) == ["page"]:
        write(FOLDER)
        return
    if arguments:
        for cell in cells(arguments[0], arguments[1:]):
            print(json.dumps(cell), flush=True)
        return
    try:
        [version(distribution) for _, distribution in LIBRARIES.values() if distribution]
    except PackageNotFoundError:
        sys.exit(INSTALL)
    with ThreadPoolExecutor(2) as pool:
        found = [cell for each in pool.map(column, LIBRARIES) for cell in each]
    table = io.StringIO()
    writer = csv.DictWriter(table, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    (FOLDER / "gallery.csv").write_text(table.getvalue(), encoding="utf-8")
    try:
        write(FOLDER)
    except MissingExtraError:
        print("The numbers are written. With the extra plots, python -m examples.gallery page writes the page.")


if __name__ == "__main__":
    main(sys.argv[1:])
