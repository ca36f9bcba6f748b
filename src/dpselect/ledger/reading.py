"""Entries and receipts from database rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from dpselect.accounting.events import Run, from_json
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.ledger.chain import FIRST, canonical
from dpselect.ledger.costs import fraction_of
from dpselect.ledger.damage import readable
from dpselect.ledger.records import Entry, Receipt


def entry_of(row: Mapping[Any, Any], account: str, *, ledger: str) -> Entry:
    """The entry of a row of the entries.

    Raises:
        LedgerDamagedError: no ledger wrote such a row.
    """
    with readable(ledger, account, row["sequence"]):
        return _entry_of(row)


def _entry_of(row: Mapping[Any, Any]) -> Entry:
    body = _body(row)
    epsilon, delta, what = 0.0, 0.0, ""
    kind = "begin" if "begins" in body else _text(body["kind"])
    if kind == "charge":
        run = from_json(body["event"])
        event = run.event if isinstance(run, Run) else run
        epsilon, delta = event.epsilon, event.delta
        what = run.mechanism if isinstance(run, Run) else type(event).__name__
    elif kind in ("open", "limit"):
        epsilon = fraction_down(fraction_of(body["epsilon"]))
    elif kind == "begin":
        what = f"the draw for entry {int(body['begins'])}"
    if kind == "open":
        delta = fraction_up(fraction_of(json.loads(body["terms"])["delta"]))
    return Entry(
        sequence=row["sequence"],
        kind=kind,
        time=_text(body["time"]),
        epsilon=epsilon,
        delta=delta,
        what=what,
        request=row["request"],
        note=_text(body.get("note", "")),
        hash=row["hash"],
        body=body,
        release=row["release"],
        receipt=_receipt(row, body) if kind == "charge" else None,
    )


def receipt_of(row: Mapping[Any, Any]) -> Receipt:
    """The receipt of a charge, with its stored release if there is one."""
    return replace(_receipt(row, _body(row)), release=row["release"])


def _receipt(row: Mapping[Any, Any], body: Mapping[str, Any]) -> Receipt:
    """The receipt given for the charge."""
    question = body.get("question")
    return Receipt(
        account=_text(body["account"]),
        sequence=row["sequence"],
        hash=row["hash"],
        time=_text(body["public_time"]),
        request=row["request"],
        question=None if question is None else _text(question),
        ledger=_text(body["ledger"]),
    )


def question_of(row: Mapping[Any, Any]) -> str:
    """The hash of the question under a charge's request id."""
    return _text(_body(row)["asked"])


def exported(rows: Iterable[Mapping[Any, Any]], account: str, *, ledger: str) -> Iterator[str]:
    """An account's entries as JSON, with all that each hash covers."""
    previous = FIRST
    for row in rows:
        with readable(ledger, account, row["sequence"]):
            held = {"entry": _body(row), "previous": previous, "hash": row["hash"]}
            line = canonical(held if row["release"] is None else held | {"release": row["release"]})
        yield line
        previous = row["hash"]


def _body(row: Mapping[Any, Any]) -> dict[str, Any]:
    body = json.loads(row["body"])
    if not isinstance(body, dict):
        raise TypeError("not an entry")
    return cast(dict[str, Any], body)


def _text(held: object) -> str:
    if not isinstance(held, str):
        raise TypeError("not text")
    return held
