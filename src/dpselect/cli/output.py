"""A release on standard output: a table for people, plain columns for pipes, the certificate for programs."""

from __future__ import annotations

import codecs
import json
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from dpselect.certificates.release import Release
from dpselect.questions import QUESTIONS, wording
from dpselect.questions.wording import as_text

if TYPE_CHECKING:
    from dpselect.session import Forecast


def encode_anything(stream: TextIO) -> None:
    """Write characters that the stream's encoding lacks as JSON escapes, so that no answer that was charged is lost."""
    codecs.register_error("dpselect.json", _as_in_json)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="dpselect.json")


def _as_in_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def shown(release: Release, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed of the release; nothing else is written to standard output."""
    if as_json:
        return release.to_json()
    label, rows = release.rows()
    lines = [(printable(key), printable(as_text(value))) for key, value in rows]
    label = printable(label)
    if quiet:
        return "\n".join(value if release.groups is None else f"{key}  {value}" for key, value in lines)
    if sys.stdout.isatty():
        table = _for_terminals(label, release.column, lines)
    else:
        width = max(len(label), *(len(key) for key, _ in lines))
        table = "\n".join(f"{key:>{width}}  {value}" for key, value in [(label, printable(release.column)), *lines])
    sentences = release.promise, release.accuracy, release.basis, _provenance(release)
    return "\n".join([table, "", *map(_escaped, filter(None, sentences))])


def warning(release: Release) -> str:
    """A sentence for standard error if the answer alone is printed and may mislead; else an empty text."""
    if release.seeded:
        return f"dpselect: {release.promise}"
    return f"dpselect: {_escaped(release.basis)}" if wording.LOUD in release.basis else ""


def forecast_shown(forecast: Forecast, *, as_json: bool, quiet: bool = False) -> str:
    """What is printed for a question that was only planned."""
    if as_json:
        return forecast.to_json()
    if quiet:
        return as_text(forecast.guarantee.epsilon)
    text = str(forecast)
    for name in (forecast.unit, forecast.column):
        text = text.replace(name, _escaped(name))
    return "\n".join(map(_escaped, text.split("\n")))


def _for_terminals(label: str, column: str, lines: list[tuple[str, str]]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(label), justify="right", style="dim")
    table.add_column(Text(printable(column)), style="bold", overflow="fold")
    for key, value in lines:
        table.add_row(Text(key), Text(value))
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


def _escaped(sentence: str) -> str:
    """`sentence`, with anything that would move the cursor, or worse, written as Python writes it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in sentence)


def printable(text: str) -> str:
    """`text`, unless it would move the cursor, or worse; then as Python writes it."""
    return text if text.isprintable() else repr(text)
