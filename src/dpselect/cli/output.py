"""A release on standard output: a table for people, plain columns for pipes, the certificate for programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dpselect.cli.streams import printable
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text

if TYPE_CHECKING:
    from dpselect.certificates.release import Release
    from dpselect.session.forecast import Forecast

_TO_COUNT_UNITS = "--usable-epsilon 0.05"
"""`wording.TO_COUNT_UNITS` as it is typed."""


def shown(release: Release, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed of the release; nothing else is written to standard output."""
    if as_json:
        return release.to_json()
    _, rows = release.rows()
    lines: list[tuple[str, ...]] = [(printable(key), printable(as_text(value))) for key, value in rows]
    heads = [printable(head) for head in wording.heads(QUESTIONS[release.task], release)]
    tallies = wording.tallies(release)
    if tallies is not None:
        heads.append(printable(wording.tally_head(release)))
        lines = [(*line, tally) for line, tally in zip(lines, tallies, strict=True)]
    if quiet:
        is_labelled = release.groups is not None or QUESTIONS[release.task].label == "value"
        return "\n".join("  ".join(line if is_labelled else line[1:]) for line in lines)
    table = _for_terminals(heads, lines) if sys.stdout.isatty() else _for_pipes([tuple(heads), *lines])
    missing = release.basis_missing.replace(wording.TO_COUNT_UNITS, _TO_COUNT_UNITS)
    sentences = release.promise, *release.sentences, missing, _provenance(release)
    return "\n".join([table, "", *map(escaped, filter(None, sentences))])


def warning(release: Release) -> str:
    """A sentence for standard error if the answer alone is printed and may mislead; else an empty text."""
    if release.seeded:
        return f"dpselect: {release.promise}"
    return f"dpselect: {escaped(release.basis)}" if wording.LOUD in release.basis else ""


def forecast_shown(forecast: Forecast, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed for a question that was only planned."""
    if as_json:
        return forecast.to_json()
    if quiet:
        return as_text(forecast.guarantee.epsilon)
    text = str(forecast).replace(wording.TO_COUNT_UNITS, _TO_COUNT_UNITS)
    for name in (forecast.unit, forecast.column):
        text = text.replace(name, escaped(name))
    return "\n".join(map(escaped, text.split("\n")))


def _for_pipes(lines: list[tuple[str, ...]]) -> str:
    """The first column to the right, the last one as it is, those between to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        [line[0].rjust(widths[0]), *(cell.ljust(width) for cell, width in zip(line[1:-1], widths[1:-1], strict=True))]
        for line in lines
    ]
    return "\n".join("  ".join([*cells, line[-1]]) for cells, line in zip(shown, lines, strict=True))


def _for_terminals(heads: list[str], lines: list[tuple[str, ...]]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(heads[0]), justify="right", style="dim")
    table.add_column(Text(heads[1]), style="bold", overflow="fold")
    for head in heads[2:]:
        table.add_column(Text(head), justify="right")
    for line in lines:
        table.add_row(*map(Text, line))
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get().removesuffix("\n")


def _provenance(release: Release) -> str:
    drawn = release.mechanism + (f", {release.rounds} rounds" if release.rounds > 1 else "")
    origin = wording.provenance(QUESTIONS[release.task], release)
    charge = "Nothing was charged to a ledger; the costs of releases on the same data add up."
    if release.receipt is not None:
        charge = f"Charged to account {release.receipt['account']}, entry {release.receipt['sequence']}."
    return f"Drawn by {drawn}, {origin}. {charge}"


def escaped(sentence: str) -> str:
    """`sentence`, with anything that would move the cursor, or worse, written as Python writes it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in sentence)
