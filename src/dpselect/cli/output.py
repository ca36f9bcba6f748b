"""A release on standard output: a table for people, plain columns for pipes, the certificate for programs."""

from __future__ import annotations

import sys

from dpselect.release import Release


def show(release: Release, *, as_json: bool) -> None:
    """Print the release; nothing else ever goes to standard output."""
    if as_json:
        print(release.to_json())
        return
    values = release.value if isinstance(release.value, list) else [release.value]
    lines = [(str(rank), _printable(str(value))) for rank, value in enumerate(values, 1)]
    if sys.stdout.isatty():
        _show_table(release.column, lines)
    else:
        width = max(len("rank"), len(lines[-1][0]))
        for rank, value in [("rank", _printable(release.column)), *lines]:
            print(f"{rank:>{width}}  {value}")
    print()
    for sentence in (release.promise, release.accuracy, _provenance(release)):
        print(sentence)


def _show_table(column: str, lines: list[tuple[str, str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right", style="dim")
    table.add_column(Text(_printable(column)), style="bold", overflow="fold")
    for rank, value in lines:
        table.add_row(rank, Text(value))
    Console().print(table)


def _provenance(release: Release) -> str:
    drawn = release.mechanism + (f", {release.rounds} rounds" if release.rounds > 1 else "")
    return (
        f"Drawn by {drawn}, out of {release.candidates['count']:,} candidates given by the caller. "
        "Nothing was charged to a ledger: releases on the same data add up."
    )


def _printable(text: str) -> str:
    """`text`, unless it would move the cursor or worse."""
    return text if text.isprintable() else repr(text)
