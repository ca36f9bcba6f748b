"""A plan on standard output: a table for people, plain columns for pipes, one object for programs."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence

from dpselect.cli.plan.findings import Findings
from dpselect.cli.plan.text import PaddedColumn, columns, conclusions, introduction

_WIDEST = 100
"""Width of a paragraph, however wide the window is."""


def show_plan(findings: Findings, *, as_json: bool) -> None:
    """Print the plan; nothing else is written to standard output."""
    if as_json:
        print(json.dumps(findings.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False))
        return
    before, table, after = list(introduction(findings.setup)), columns(findings), list(conclusions(findings))
    for sentence in before:
        print(_wrapped(sentence))
    if sys.stdout.isatty():
        _show_table(table)
    else:
        lines = zip(*([*column.heads, *column.cells] for column in table), strict=True)
        print("", *("   ".join(line).rstrip() for line in lines), "", sep="\n")
    for sentence in after:
        print(_wrapped(sentence))


def _wrapped(sentence: str) -> str:
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    kept_together = sentence.replace(" = ", "\xa0=\xa0").replace(" %", "\xa0%")
    lines = textwrap.fill(kept_together, max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines.replace("\xa0", " ")


def _show_table(table: Sequence[PaddedColumn]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(table):
        shown.add_column(Text("\n".join(column.heads)), no_wrap=True, style="dim" if number == 0 else "")
    for cells in zip(*(column.cells for column in table), strict=True):
        shown.add_row(*map(Text, cells))
    console = Console()
    # A narrow window wraps the lines itself; figures that are cut off would be missing.
    needed = sum(len(column.heads[0]) + 3 for column in table)
    Console(width=max(console.width, needed)).print(shown)
