"""The page that shows every figure with what the paper says of it and what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from examples.paper.compact import compact
from examples.paper.figure import Figure

from dpselect.charts import save

PAGE = "README.md"
VERDICTS = {True: "holds", False: "**not as stated**"}

INTRODUCTION = """\
# The permute-and-flip paper, recomputed

Ryan McKenna and Daniel Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection*, NeurIPS 2020,
compares their mechanism with the exponential mechanism in figures 1 to 7. This folder holds each of them, made anew
with this library alone, with its numbers beside it as a CSV file. `make paper` in the root of the repository writes all
of it, this page included. What was found, and whether a claim holds, is read off the numbers by the run; where the
paper says "about", "near" or "most", a tolerance in the code beside this page decides.

The histograms are those of the DPBench study, 4096 bins summed to 1024; [dpbench.py](dpbench.py) says from where.
Expected errors are computed from exact probabilities, not by drawing; the files give ten digits.

**Units.** For the *mode* the paper gives a bin of x records the score 2x. This library gives it the score x and halves
the noise, because adding or removing a record moves all counts in the same direction. That is the same law, with errors
half as large. Pictures and claims about the mode are in the paper's unit, *twice the count*: an error of 50 means a bin
with 25 records fewer than the fullest. Errors of the *median* are in records.

**What is different here.**

- The paper computes permute-and-flip's probabilities by a sum with alternating signs, which breaks down in doubles at
  small epsilon (see [figure 3(a)](#figure-3a)); here they are an integral of positive terms
  ([proof](../../proofs/permute_and_flip.md), claims 1 and 4).
- The paper leaves open whether the ratio of the errors can exceed two. It cannot, whatever the scores
  ([proof](../../proofs/permute_and_flip.md), claim 3).
"""


def write(figure: Figure, folder: Path) -> None:
    """Write the picture and the numbers of one figure."""
    (folder / figure.table_name).write_bytes(figure.table.csv().encode())
    picture = folder / figure.picture_name
    save(figure.draw(), picture)
    picture.write_bytes(compact(picture.read_text(encoding="utf-8")).encode())


def page(figures: Sequence[Figure], *, seconds: float, processors: int) -> str:
    """The text of the page."""
    held = sum(finding.holds for figure in figures for finding in figure.findings)
    count = sum(len(figure.findings) for figure in figures)
    overview = [
        "## Overview",
        "",
        f"Of {count} claims {held} hold as stated{_exceptions(figures)}. The first of each figure:",
        "",
        *_table(("figure", "what the paper says", "what was found", ""), map(_headline, figures)),
        "",
        f"The last run took {seconds:.0f} seconds on {processors} processors.",
    ]
    return "\n\n".join(["\n".join([INTRODUCTION, *overview]), *map(section, figures)]) + "\n"


def section(figure: Figure) -> str:
    """What the page says of one figure."""
    rows = ((each.claim, each.found, VERDICTS[each.holds]) for each in figure.findings)
    parts = [
        f"## Figure {figure.label}",
        f"![{figure.title}]({figure.picture_name})",
        f"{figure.setting} Numbers: [{figure.table_name}]({figure.table_name}).",
        "\n".join(_table(("what the paper says", "what was found", ""), rows)),
        figure.beyond,
    ]
    return _plain("\n\n".join(filter(None, parts)))


def _exceptions(figures: Sequence[Figure]) -> str:
    refuted = [
        f'"{finding.claim}" ([figure {figure.label}](#figure-{figure.name}))'
        for figure in figures
        for finding in figure.findings
        if not finding.holds
    ]
    return f"; not so: {'; '.join(refuted)}" if refuted else ""


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
