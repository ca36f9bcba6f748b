"""The tables of the documents, from ``results.json``: no number in them is typed by hand.

``python -m benchmarks.report`` prints the worst of each requirement and every line; ``--summary``, eight of the former.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TypeVar

from benchmarks.line import Line, readable
from benchmarks.results import read

Key = TypeVar("Key")

SUMMARY = (
    "EM and PF `select` / `np.argmax`, n = 10^6",
    "EM and PF `select` / reading the scores once, two threads each",
    "whole Python call at n = 1000",
    "OpenDP 0.16 `make_noisy_max` / PF `select`",
    "diffprivlib 0.6.6 / ours, PF",
    "ten counting questions in one pass / one by one",
    "top 10 by distinct units in Parquet / DuckDB without privacy",
    "median in Parquet, one row per unit / DuckDB's one value per unit and `np.median`",
)
"""What the README shows: scores in memory, peers, and tables."""

VERDICTS = {True: "reached", False: "**short**", None: ""}


def main() -> None:
    """Print the table of the last run as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("--summary", action="store_true", help="the eight requirements that the README shows")
    lines, machine = read()
    print(summary(lines, machine) if parser.parse_args().summary else every_line(lines, machine))


def summary(lines: Iterable[Line], machine: dict[str, str]) -> str:
    """The worst and the best case of each of `SUMMARY`."""
    shown = sorted((line for line in lines if line.what in SUMMARY), key=lambda line: SUMMARY.index(line.what))
    return f"{requirements(shown)}\n\n{_measured_on(machine)}"


def requirements(lines: Iterable[Line]) -> str:
    """One row for each thing and what it had to reach: its worst case and its best."""
    rows = [("what", "must reach", "worst case", "best case", "")]
    required_lines = [line for line in lines if line.reached is not None]
    for (what, must_reach), required in _grouped(required_lines, by=attrgetter("what", "required")).items():
        ordered = sorted(required, key=_slack)
        worst, best = ordered[0], ordered[-1]
        short = sum(line.reached is False for line in required)
        verdict = "reached" if not short else f"**short** in {short} of {len(required)}"
        of = ", ".join(filter(None, (worst.case, f"n = {power(worst.n)}", worst.dtype)))
        shown = f"{readable(worst.value, worst.unit)} ({of})"
        rows.append((what, must_reach, shown, readable(best.value, best.unit), verdict))
    return _markdown(rows)


def every_line(lines: Iterable[Line], machine: dict[str, str]) -> str:
    """One row for each requirement, then one for each measurement."""
    lines = list(lines)
    parts = [_measured_on(machine), _falling_short(lines), f"### All requirements\n\n{requirements(lines)}"]
    for what, group in _grouped(lines, by=attrgetter("what")).items():
        header = ("case", "n", "scores", "median", "quartiles", "runs", "must reach", "")
        parts.append(f"### {what}\n\n{_markdown([header, *(row_of(line)[1:] for line in group)])}")
    return "\n\n".join(parts)


def _falling_short(lines: list[Line]) -> str:
    required = [line for line in lines if line.reached is not None]
    short = [line for line in required if not line.reached]
    if not short:
        return f"All {len(required)} lines with a requirement reach it."
    rows = [("what falls short", "case", "n", "scores", "median", "must reach")]
    for line in short:
        what, case, n, dtype, median, _, _, must_reach, _ = row_of(line)
        rows.append((what, case, n, dtype, median, must_reach))
    return f"{len(short)} of {len(required)} lines with a requirement fall short of it:\n\n{_markdown(rows)}"


def row_of(line: Line) -> tuple[str, ...]:
    """The cells of one line, its `what` first."""
    if line.low is None or line.high is None or line.runs < 2:
        quartiles = ""
    else:
        quartiles = f"{readable(line.low, line.unit)} to {readable(line.high, line.unit)}"
    median = readable(line.value, line.unit)
    verdict = VERDICTS[line.reached]
    return (line.what, line.case, power(line.n), line.dtype, median, quartiles, str(line.runs), line.required, verdict)


def power(n: int) -> str:
    """A count the way people say it.

    >>> power(10**6), power(3 * 10**7), power(1000), power(200)
    ('10^6', '3·10^7', '10^3', '200')
    """
    digits = str(n).rstrip("0")
    zeros = len(str(n)) - len(digits)
    if zeros < 3 or len(digits) > 1:
        return str(n)
    return f"10^{zeros}" if digits == "1" else f"{digits}·10^{zeros}"


def _grouped(lines: Iterable[Line], *, by: Callable[[Line], Key]) -> dict[Key, list[Line]]:
    groups: dict[Key, list[Line]] = {}
    for line in lines:
        groups.setdefault(by(line), []).append(line)
    return groups


def _slack(line: Line) -> float:
    """How far beyond the requirement a line is: below one falls short."""
    if line.at_least is not None:
        return line.value / line.at_least
    if line.at_most is None:
        raise ValueError(f"{line.what} has no requirement to compare with")
    return line.at_most / line.value if line.value > 0 else float("inf")


def _markdown(rows: list[tuple[str, ...]]) -> str:
    header, *body = ("| " + " | ".join(cells) + " |" for cells in rows)
    return "\n".join([header, "|" + "---|" * len(rows[0]), *body])


def _measured_on(machine: dict[str, str]) -> str:
    facts = dict(machine)
    day, processor, cores, system = (facts.pop(name) for name in ("day", "processor", "cores", "system"))
    versions = ", ".join(f"{name} {number}" for name, number in facts.items())
    return f"Measured {day} on {processor}, {cores} cores, {system}; {versions}."


if __name__ == "__main__":
    main()
