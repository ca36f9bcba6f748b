"""A release on standard output: a table for people, plain columns for pipes, the certificate for programs."""

from __future__ import annotations

import sys

from dpselect.answers import answer_to, as_text
from dpselect.release import Release


def show(release: Release, *, as_json: bool) -> None:
    """Print the release; nothing else ever goes to standard output."""
    if as_json:
        print(release.to_json())
        return
    label, rows = release.rows()
    lines = [(_printable(key), _printable(as_text(value))) for key, value in rows]
    label = _printable(label)
    if sys.stdout.isatty():
        _show_table(label, release.column, lines)
    else:
        width = max(len(label), *(len(key) for key, _ in lines))
        for key, value in [(label, _printable(release.column)), *lines]:
            print(f"{key:>{width}}  {value}")
    print()
    for sentence in (release.promise, release.accuracy, _provenance(release)):
        print(sentence)


def _show_table(label: str, column: str, lines: list[tuple[str, str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(label), justify="right", style="dim")
    table.add_column(Text(_printable(column)), style="bold", overflow="fold")
    for key, value in lines:
        table.add_row(Text(key), Text(value))
    Console().print(table)


def _provenance(release: Release) -> str:
    drawn = release.mechanism + (f", {release.rounds} rounds" if release.rounds > 1 else "")
    origin = answer_to(release.task).provenance(release)
    charge = "Nothing was charged to a ledger: releases on the same data add up."
    if release.receipt is not None:
        charge = f"Charged to account {release.receipt['account']}, entry {release.receipt['sequence']}."
    return f"Drawn by {drawn}, {origin}. {charge}"


def _printable(text: str) -> str:
    """`text`, unless it would move the cursor or worse."""
    return text if text.isprintable() else repr(text)
