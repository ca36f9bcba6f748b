"""Accounts and entries on standard output: tables for people, plain columns for pipes, objects for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect.ledger import Account, Entry, Head, Verified

Rows = Sequence[Sequence[str]]


def show_accounts(found: Sequence[Account], *, as_json: bool, quiet: bool = False) -> None:
    """What was promised, and what is left; with `quiet` no table."""
    if as_json:
        return _objects([account.to_dict() for account in found])
    if quiet:
        return None
    heads = ["account", "unit", "epsilon", "spent", "left", "delta", "entries"]
    rows: list[list[str]] = []
    for account in found:
        held = account.to_dict()
        numbers = [_number(held[name]) for name in ("epsilon", "spent", "left", "delta")]
        state = str(account.entries) if account.is_open else f"{account.entries}, closed"
        rows.append([account.name, account.unit or "", *numbers, state])
    return _table(heads, rows)


def show_history(found: Sequence[Entry], *, as_json: bool) -> None:
    """What was charged, in order."""
    if as_json:
        return _objects([entry.to_dict() for entry in found])
    heads = ["entry", "time", "kind", "what", "epsilon", "request", "note"]
    rows = [
        [
            str(entry.sequence),
            entry.time.partition(".")[0].replace("T", " "),
            entry.kind,
            entry.what,
            "" if entry.kind in ("close", "written-off") else _number(entry.epsilon),
            entry.request or "",
            entry.note,
        ]
        for entry in found
    ]
    return _table(heads, rows)


def show_verified(found: Sequence[Verified], *, as_json: bool) -> None:
    """What was found intact."""
    if as_json:
        return _objects([account.to_dict() for account in found])
    return _table(
        ["account", "entries", "intact up to"], [[each.account, str(each.entries), each.head] for each in found]
    )


def show_heads(heads: Sequence[Head], *, as_json: bool) -> None:
    """What was noted."""
    if as_json:
        return _objects([{"account": each.account, "sequence": each.sequence, "hash": each.hash} for each in heads])
    return _table(
        ["account", "noted up to entry", "hash"], [[each.account, str(each.sequence), each.hash] for each in heads]
    )


def _objects(held: Sequence[Mapping[str, Any]]) -> None:
    for each in held:
        print(json.dumps(each, sort_keys=True, allow_nan=False, ensure_ascii=False))


def _table(heads: Sequence[str], rows: Rows) -> None:
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
        return
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in [heads, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")
