"""Accounts and entries on standard output: tables for people, plain columns for pipes, objects for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect.ledger import Account, Entry, Head, Verified

Rows = Sequence[Sequence[str]]

_HISTORY = ["entry", "time", "kind", "what", "epsilon", "request", "note"]
_PAGE = 1000


def show_accounts(found: Sequence[Account], *, as_json: bool, quiet: bool = False) -> None:
    """What was promised, and what is left; with `quiet` no table."""
    if as_json:
        return _objects([account.to_dict() for account in found])
    if quiet:
        return None
    names = ["epsilon", "spent", "left", "delta"]
    if any(account.set_aside for account in found):  # of delta, for questions that have a delta of their own
        names += ["set_aside", "set_aside_left"]
    heads = ["account", "unit", *(name.replace("_", " ") for name in names), "entries"]
    rows: list[list[str]] = []
    for account in found:
        held = account.to_dict()
        numbers = [_number(held[name]) for name in names]
        state = str(account.entries) if account.is_open else f"{account.entries}, closed"
        rows.append([account.name, account.unit or "", *numbers, state])
    _table(heads, rows)
    return None


def show_history(found: Iterator[Entry], *, as_json: bool) -> None:
    """What was charged, in order; a long history one page at a time, so that it need not fit into memory."""
    if as_json:
        return _objects(entry.to_dict() for entry in found)
    widths: list[int] = []
    page = [_line(entry) for entry in islice(found, _PAGE)]
    while page:
        widths = _table(_HISTORY, page, widths)
        page = [_line(entry) for entry in islice(found, _PAGE)]
    return None


def _line(entry: Entry) -> list[str]:
    return [
        str(entry.sequence),
        entry.time.partition(".")[0].replace("T", " "),
        entry.kind,
        entry.what,
        "" if entry.kind == "close" else _number(entry.epsilon),
        entry.request or "",
        entry.note,
    ]


def show_verified(found: Sequence[Verified], *, as_json: bool) -> None:
    """What was found intact."""
    if as_json:
        return _objects([account.to_dict() for account in found])
    _table(["account", "entries", "intact up to"], [[each.account, str(each.entries), each.head] for each in found])
    return None


def show_heads(heads: Sequence[Head], *, as_json: bool) -> None:
    """What the anchor recorded."""
    if as_json:
        return _objects([{"account": each.account, "sequence": each.sequence, "hash": each.hash} for each in heads])
    _table(["account", "noted up to entry", "hash"], [[each.account, str(each.sequence), each.hash] for each in heads])
    return None


def _objects(held: Iterable[Mapping[str, Any]]) -> None:
    for each in held:
        print(json.dumps(each, sort_keys=True, allow_nan=False, ensure_ascii=False))


def _table(heads: Sequence[str], rows: Rows, widths: Sequence[int] | None = None) -> list[int]:
    """Print the rows below their heads, and return the widths of the columns, for rows that follow without heads."""
    rows = [[_printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for head in heads:
            table.add_column(head, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        Console().print(table)
        return []
    needed = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    wide = [max(pair) for pair in zip(needed, widths or needed, strict=True)]
    for row in rows if widths else [heads, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip())
    return wide


def _printable(cell: str) -> str:
    """`cell` without control characters, which could make one line look like two, or change what the screen shows."""
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in cell)


def _number(value: float) -> str:
    """For people: without the last digits of a sum of doubles, which JSON keeps."""
    return f"{value:.12g}"
