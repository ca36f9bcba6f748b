"""A page that shows every figure with the claims about it and what was found, and the files of numbers and pictures."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.figures.compact import compact
from examples.figures.figure import Figure

from dpselect.charts import save

PAGE = "README.md"
VERDICTS = {True: "holds", False: "**not as stated**"}


@dataclass(frozen=True, kw_only=True)
class Page:
    """A study: how its page begins, and whose claims it tests.

    Args:
        introduction: the text before the overview, heading included.
        claimant: the heading of the column of claims, such as "what the paper says".
    """

    introduction: str
    claimant: str

    def text(self, figures: Sequence[Figure], *, seconds: float | None, processors: int) -> str:
        """The text of the page; without `seconds` it does not say how long a run takes."""
        held = sum(finding.holds for figure in figures for finding in figure.findings)
        count = sum(len(figure.findings) for figure in figures)
        overview = [
            "## Overview",
            "",
            f"Of {count} claims {held} hold as stated{_exceptions(figures)}. The first of each figure:",
            "",
            *_table(("figure", self.claimant, "what was found", ""), map(_headline, figures)),
        ]
        if seconds is not None:
            overview += ["", f"The last run took {seconds:.0f} seconds on {processors} processors."]
        return "\n\n".join(["\n".join([self.introduction, *overview]), *map(self.section, figures)]) + "\n"

    def section(self, figure: Figure) -> str:
        """The section of the page about one figure."""
        rows = ((each.claim, each.found, VERDICTS[each.holds]) for each in figure.findings)
        parts = [
            f"## Figure {figure.label}",
            f"![{figure.title}]({figure.picture_name})",
            f"{figure.setting} Numbers: [{figure.table_name}]({figure.table_name}).",
            "\n".join(_table((self.claimant, "what was found", ""), rows)),
            figure.beyond,
        ]
        return _plain("\n\n".join(filter(None, parts)))

    def run(self, makers: Sequence[Callable[[], Figure]], folder: Path) -> None:
        """Make every figure and write all of it into `folder`, with a line on each figure."""
        begin = time.perf_counter()
        figures: list[Figure] = []
        for make in makers:
            start = time.perf_counter()
            figure = make()
            write(figure, folder)
            figures.append(figure)
            held = f"{sum(each.holds for each in figure.findings)} of {len(figure.findings)} claims hold"
            print(f"figure {figure.label:5} {time.perf_counter() - start:6.1f} s  {held}  {figure.title}", flush=True)
        seconds = time.perf_counter() - begin
        text = self.text(figures, seconds=seconds, processors=os.cpu_count() or 1)
        (folder / PAGE).write_text(text, encoding="utf-8", newline="\n")
        print(f"{len(figures)} figures in {seconds:.0f} s: {folder / PAGE}")


def write(figure: Figure, folder: Path) -> None:
    """Write the picture and the numbers of one figure."""
    (folder / figure.table_name).write_bytes(figure.table.csv().encode())
    picture = folder / figure.picture_name
    save(figure.draw(), picture)
    picture.write_bytes(compact(picture.read_text(encoding="utf-8")).encode())


def _exceptions(figures: Sequence[Figure]) -> str:
    refuted = [
        f'"{finding.claim}" ([figure {figure.label}](#figure-{figure.name}))'
        for figure in figures
        for finding in figure.findings
        if not finding.holds
    ]
    return f". Those that do not hold: {'; '.join(refuted)}" if refuted else ""


def _headline(figure: Figure) -> tuple[str, ...]:
    anchor = f"#figure-{figure.name}"
    first = figure.findings[0]
    return f"[{figure.label}]({anchor})", first.claim, _plain(first.found), VERDICTS[first.holds]


def _plain(text: str) -> str:
    """Exponents as people write them.

    >>> _plain("p = 1e-06, sum -5.5e+270")
    'p = 1e-6, sum -5.5e270'
    """
    return re.sub(r"(?<=\d)e(?:\+|(-))0*(?=\d)", lambda found: f"e{found.group(1) or ''}", text)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(row)} |" for row in cells]
